//! Outcomes of requests: status, headers and a body, as JSON or as text that is rendered already.

use crate::cache::documents::DocumentText;
use crate::error::status;
use crate::model::Payload;
use crate::records::Record;
use bytes::Bytes;
use cms_storage::plan::Row;
use serde_json::Value;

/// The outcome of a successful request.
#[derive(Debug, Default)]
pub struct Outcome {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Value,
    /// The body was reduced to the requested fields already.
    pub reduced: bool,
    /// Anything but JSON: media type and bytes.
    pub other: Option<(&'static str, Vec<u8>)>,
    /// Rendered JSON of the body, when it was at hand; `body` is null then.
    pub text: Option<RenderedJson>,
    /// The version of the row that is shown, where it is one row that has versions.
    pub version: Option<i64>,
    /// Seconds since 1970 of the row's last change, where it has one.
    pub modified: Option<i64>,
    /// The collection is sent as lines; the cursor of the page after this one, if there is one.
    pub lines: Option<Option<String>>,
    /// A stream or an export instead of a document: the server makes the body as it sends it.
    pub payload: Option<Payload>,
    /// For this request alone.
    pub private: bool,
    /// The response is made anew for each request.
    pub uncached: bool,
    /// The row that was written, as it is now, and its resource's index.
    pub written: Option<(usize, Row)>,
    /// A row was written: `Allow` lists what the caller may do with it in the edit context.
    pub edited: bool,
}

/// JSON text of a document, or of each in a list.
#[derive(Debug)]
pub enum RenderedJson {
    One(DocumentText),
    List(Vec<DocumentText>),
}

impl RenderedJson {
    /// A body as text.
    pub fn of(body: &Value) -> RenderedJson {
        // Writing a value that is already in memory cannot fail.
        let text = |document: &Value| DocumentText::from(serde_json::to_vec(document).unwrap_or_default());
        match body {
            Value::Array(list) => RenderedJson::List(list.iter().map(text).collect()),
            document => RenderedJson::One(text(document)),
        }
    }

    /// The documents.
    pub fn documents(&self) -> &[DocumentText] {
        match self {
            RenderedJson::One(text) => std::slice::from_ref(text),
            RenderedJson::List(texts) => texts,
        }
    }

    /// All of it as one text; each document is written by `write`.
    pub fn write(&self, mut write: impl FnMut(&DocumentText, &mut Vec<u8>)) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.documents().iter().map(|text| text.len() + 1).sum::<usize>() + 1);
        match self {
            RenderedJson::One(text) => write(text, &mut all),
            RenderedJson::List(texts) => {
                all.push(b'[');
                for (i, text) in texts.iter().enumerate() {
                    if i > 0 {
                        all.push(b',');
                    }
                    write(text, &mut all);
                }
                all.push(b']');
            }
        }
        all
    }

    /// All of it as one text. A single document is not copied.
    pub fn into_text(self) -> Bytes {
        match self {
            RenderedJson::One(text) => Bytes::from_owner(text),
            list => list.write(|text, all| all.extend_from_slice(text)).into(),
        }
    }
}

impl Outcome {
    /// 200 with one row's document, and what identifies the row's state.
    pub fn of_row(body: Value, record: Record<'_>) -> Outcome {
        Outcome { version: record.version(), modified: record.modified(), ..Outcome::ok(body) }
    }

    /// 200 with a body.
    pub fn ok(body: Value) -> Outcome {
        Outcome { status: status::OK, body, ..Outcome::default() }
    }

    /// 200 with a body that is JSON text.
    pub fn of_text(text: Vec<u8>) -> Outcome {
        let text = Some(RenderedJson::One(DocumentText::from(text)));
        Outcome { status: status::OK, body: Value::Null, text, ..Outcome::default() }
    }

    /// 201 with a body and the address of what was made.
    pub fn created(body: Value, location: String) -> Outcome {
        Outcome { status: status::CREATED, headers: vec![("Location".into(), location)], body, ..Outcome::default() }
    }
}
