//! Bodies that contain files: streamed to disk, never held in memory; forms are parsed on the way.
//!
//! The type of a file and whether it is accepted is for the later stages. A file that nobody stores is deleted with the
//! request.

use crate::error::{ApiError, Code, refuse_if};
use crate::files::{Files, names};
use crate::http::receive::BodyReader;
use crate::model::{Upload, UploadFile};
use crate::request;
use actix_http::Payload;
use actix_http::error::PayloadError;
use actix_http::header;
use actix_multipart::{Field, Multipart, MultipartError};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt as _;

/// Bytes a second that a sender has to reach on average, after the first moments.
const SLOWEST: u64 = 16 << 10;

/// Most parts of one form.
const MOST_PARTS: usize = 1_000;

/// Most files of one form; one is stored.
const MOST_FILES: usize = 20;

/// Limits of a body with files.
#[derive(Clone, Copy)]
pub struct UploadBounds {
    /// Bytes of the whole body.
    pub body: u64,
    /// Most bytes of all fields beside the files.
    pub fields: usize,
    /// Nesting of field names.
    pub depth: usize,
    /// Longest pause.
    pub patience: Duration,
}

/// Reads a form of parts. Without `files`, its files are passed over.
///
/// # Errors
/// 413, 408, or 400 for what is no form.
pub async fn form(
    body: &mut BodyReader<'_>,
    payload: Payload,
    bounds: UploadBounds,
    files: Option<&Files>,
) -> Result<Upload, ApiError> {
    let mut parts = Multipart::new(body.headers(), UploadStream::new(payload, bounds));
    let (mut pairs, mut room) = (Vec::new(), bounds.fields);
    let mut upload = Upload { form: true, ..Upload::default() };
    let mut count = 0;
    while let Some(part) = next(&mut parts, bounds).await? {
        let mut part = part.map_err(|error| refusal(&error))?;
        count += 1;
        let own = part.name().unwrap_or_default().to_owned();
        refuse_if(count > MOST_PARTS || upload.files.len() >= MOST_FILES || own.len() > room, Code::PayloadTooLarge)?;
        room -= own.len();
        body.grow(bounds.fields - room).await?;
        // A form's name of a file may contain its former folder.
        let last = |name: String| name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let named = part.headers().get(header::CONTENT_DISPOSITION).and_then(|header| {
            let header = String::from_utf8_lossy(header.as_bytes());
            // A file without a name is none that is stored, but it is no field.
            names::in_disposition(&header).or_else(|| part.content_disposition()?.get_filename().map(str::to_owned))
        });
        let named = named.map(last);
        match (named, files) {
            (Some(name), Some(files)) => upload.files.push(to_disk(&mut part, files, bounds, own, name).await?),
            (Some(_), None) => {
                while let Some(chunk) = next(&mut part, bounds).await? {
                    chunk.map_err(|error| refusal(&error))?;
                }
            }
            (None, _) => {
                let value = field(&mut part, body, bounds, room).await?;
                room -= value.len();
                pairs.push((own, value));
            }
        }
    }
    upload.fields = request::decode_fields(pairs, bounds.depth)?;
    Ok(upload)
}

/// Reads a body that is one file; no file when it is empty.
///
/// # Errors
/// 413, 408, or 400 for a body that breaks off.
pub async fn whole(payload: Payload, bounds: UploadBounds, files: &Files) -> Result<Upload, ApiError> {
    let mut body = UploadStream::new(payload, bounds);
    let file = to_disk(&mut body, files, bounds, String::new(), String::new()).await?;
    let files = if file.size == 0 { Vec::new() } else { vec![file] };
    Ok(Upload { files, ..Upload::default() })
}

/// Writes bytes that are in memory to a file, as if they had been uploaded.
///
/// # Errors
/// The disk does not take them.
pub fn save_bytes(bytes: &[u8], files: &Files) -> Result<Upload, ApiError> {
    let mut file = files.temporary().map_err(|error| unwritten(&error))?;
    std::io::Write::write_all(&mut file, bytes).map_err(|error| unwritten(&error))?;
    let file = Arc::new(file.into_temp_path());
    let incoming = UploadFile { field: String::new(), name: String::new(), size: bytes.len() as u64, file };
    Ok(Upload { files: vec![incoming], ..Upload::default() })
}

async fn to_disk<S, E>(
    chunks: &mut S,
    files: &Files,
    bounds: UploadBounds,
    field: String,
    name: String,
) -> Result<UploadFile, ApiError>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Into<MultipartError>,
{
    let (file, path) = files.temporary().map_err(|error| unwritten(&error))?.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    let mut size = 0;
    while let Some(chunk) = next(chunks, bounds).await? {
        let chunk = chunk.map_err(|error| refusal(&error.into()))?;
        size += chunk.len() as u64;
        file.write_all(&chunk).await.map_err(|error| unwritten(&error))?;
    }
    file.flush().await.map_err(|error| unwritten(&error))?;
    Ok(UploadFile { field, name, size, file: Arc::new(path) })
}

async fn field(
    part: &mut Field,
    body: &mut BodyReader<'_>,
    bounds: UploadBounds,
    room: usize,
) -> Result<String, ApiError> {
    let mut value = Vec::new();
    while let Some(chunk) = next(part, bounds).await? {
        let chunk = chunk.map_err(|error| refusal(&error))?;
        refuse_if(value.len() + chunk.len() > room, Code::PayloadTooLarge)?;
        body.grow(bounds.fields - room + value.len() + chunk.len()).await?;
        value.extend_from_slice(&chunk);
    }
    let unreadable = || ApiError::new(Code::BadRequest).with_message("A field of the form is no UTF-8 text.");
    String::from_utf8(value).map_err(|_| unreadable())
}

async fn next<S: Stream + Unpin>(stream: &mut S, bounds: UploadBounds) -> Result<Option<S::Item>, ApiError> {
    let waited = tokio::time::timeout(bounds.patience, stream.next()).await;
    waited.map_err(|_| ApiError::new(Code::RequestTimeout))
}

fn refusal(error: &MultipartError) -> ApiError {
    match error {
        MultipartError::Payload(PayloadError::Overflow) => ApiError::new(Code::PayloadTooLarge),
        MultipartError::Payload(PayloadError::Io(error)) if error.kind() == std::io::ErrorKind::TimedOut => {
            ApiError::new(Code::RequestTimeout)
        }
        other => ApiError::new(Code::BadRequest).with_message(format!("The form cannot be read: {other}.")),
    }
}

fn unwritten(error: &dyn std::fmt::Display) -> ApiError {
    tracing::error!("an upload cannot be written: {error}");
    ApiError::new(Code::StorageReadOnly)
}

/// A body that ends with an error where it is too large or too slow.
struct UploadStream {
    payload: Payload,
    bounds: UploadBounds,
    since: Instant,
    received: u64,
}

impl UploadStream {
    fn new(payload: Payload, bounds: UploadBounds) -> UploadStream {
        UploadStream { payload, bounds, since: Instant::now(), received: 0 }
    }
}

impl Stream for UploadStream {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = Pin::new(&mut self.payload).poll_next(context);
        let Poll::Ready(Some(Ok(bytes))) = &polled else { return polled };
        self.received += bytes.len() as u64;
        if self.received > self.bounds.body {
            return Poll::Ready(Some(Err(PayloadError::Overflow)));
        }
        let due = self.bounds.patience + Duration::from_secs(self.received / SLOWEST);
        if self.since.elapsed() > due {
            return Poll::Ready(Some(Err(PayloadError::Io(std::io::ErrorKind::TimedOut.into()))));
        }
        polled
    }
}
