//! Uploaded files over HTTP: conditional, in ranges, streamed, and harmless in a browser.

use crate::files::{Files, FilesError, Stat, kinds};
use crate::http::EdgeConfig;
use crate::request::conditional::{http_date, is_not_modified};
use actix_http::body::{BoxBody, SizedStream};
use actix_http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_http::{HttpMessage as _, Method, Request, Response, StatusCode};
use futures_util::stream;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How much is read at a time.
const CHUNK: u64 = 1 << 19;

/// The policy for a file that is opened by itself: nothing may run in it.
const SANDBOX: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

/// The file's response and the length of its body; `None` when there is no such file.
///
/// # Errors
/// The store cannot be reached.
pub async fn answer(
    http: &Request,
    key: &str,
    files: &Arc<Files>,
    facts: &EdgeConfig,
) -> Result<Option<(Response<BoxBody>, usize)>, FilesError> {
    let Some(stat) = files.stat(key).await? else { return Ok(None) };
    let mut headers = HeaderMap::new();
    let extension = key.rsplit_once('.').map_or("", |(_, end)| end);
    let kind = kinds::by_extension(extension, &facts.media);
    describe(&mut headers, &stat, kind, facts);
    let asked = |name: &str| http.headers().get(name).and_then(|v| v.to_str().ok());
    if is_not_modified(asked, Some(&stat.etag), Some(&http_date(stat.modified))) {
        return Ok(Some(finish(StatusCode::NOT_MODIFIED, headers, BoxBody::new(()), 0)));
    }
    if let Some((mime, _)) = kind
        && let Ok(mime) = HeaderValue::from_str(&with_charset(mime))
    {
        headers.insert(header::CONTENT_TYPE, mime);
    } else {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    }
    let whole = 0..=stat.size.saturating_sub(1);
    let (status, range) = match wanted(http.headers(), &stat) {
        FileRange::Whole => (StatusCode::OK, whole),
        FileRange::Part(part) => {
            let shown = format!("bytes {}-{}/{}", part.start(), part.end(), stat.size);
            if let Ok(shown) = HeaderValue::from_str(&shown) {
                headers.insert(header::CONTENT_RANGE, shown);
            }
            (StatusCode::PARTIAL_CONTENT, part)
        }
        FileRange::Nothing => {
            if let Ok(shown) = HeaderValue::from_str(&format!("bytes */{}", stat.size)) {
                headers.insert(header::CONTENT_RANGE, shown);
            }
            headers.remove(header::CONTENT_TYPE);
            return Ok(Some(finish(StatusCode::RANGE_NOT_SATISFIABLE, headers, BoxBody::new(()), 0)));
        }
    };
    let length = if stat.size == 0 { 0 } else { range.end() - range.start() + 1 };
    if *http.method() == Method::HEAD {
        // Of a HEAD, actix keeps the length and drops the bytes.
        let nothing = SizedStream::new(length, stream::empty::<Result<bytes::Bytes, FilesError>>());
        return Ok(Some(finish(status, headers, BoxBody::new(nothing), 0)));
    }
    let body = body(files, key, range, length).await?;
    Ok(Some(finish(status, headers, body, usize::try_from(length).unwrap_or(usize::MAX))))
}

fn describe(
    headers: &mut HeaderMap,
    stat: &Stat,
    kind: Option<(&str, &cms_declaration::FileType)>,
    facts: &EdgeConfig,
) {
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set(header::ETAG, &stat.etag);
    set(header::LAST_MODIFIED, &http_date(stat.modified));
    set(header::CACHE_CONTROL, &format!("public, max-age={}", facts.media.max_age.seconds()));
    set(header::ACCEPT_RANGES, "bytes");
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if !kind.is_some_and(|(_, declared)| declared.inline) {
        set(header::CONTENT_DISPOSITION, "attachment");
    }
    if kind.is_none_or(|(_, declared)| declared.sandbox) {
        headers.insert(header::CONTENT_SECURITY_POLICY, SANDBOX);
    }
}

fn with_charset(mime: &str) -> String {
    if mime.starts_with("text/") { format!("{mime}; charset=utf-8") } else { mime.to_owned() }
}

fn finish(status: StatusCode, headers: HeaderMap, body: BoxBody, length: usize) -> (Response<BoxBody>, usize) {
    let mut response = Response::with_body(status, body);
    for (name, value) in &headers {
        response.headers_mut().insert(name.clone(), value.clone());
    }
    (response, length)
}

/// A range that fits into one chunk is read before the head is sent; the rest of a longer one follows chunk by chunk.
async fn body(files: &Arc<Files>, key: &str, range: RangeInclusive<u64>, length: u64) -> Result<BoxBody, FilesError> {
    if length == 0 {
        return Ok(BoxBody::new(Vec::new()));
    }
    let (start, end) = (*range.start(), *range.end() + 1);
    if length <= CHUNK {
        return Ok(BoxBody::new(files.read(key, start..end).await?));
    }
    let (files, key) = (Arc::clone(files), key.to_owned());
    let chunks = stream::unfold(start, move |at| {
        let (files, key) = (Arc::clone(&files), key.clone());
        async move {
            if at >= end {
                return None;
            }
            let next = end.min(at + CHUNK);
            match files.read(&key, at..next).await {
                Ok(bytes) => Some((Ok(bytes), next)),
                Err(error) => {
                    tracing::warn!("{key} broke off: {error}");
                    Some((Err(error), end))
                }
            }
        }
    });
    Ok(BoxBody::new(SizedStream::new(length, Box::pin(chunks))))
}

enum FileRange {
    Whole,
    Part(RangeInclusive<u64>),
    /// A range that the file does not have.
    Nothing,
}

/// One range is honoured; several, or what is no range, get the whole file.
fn wanted(headers: &HeaderMap, stat: &Stat) -> FileRange {
    let text = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok());
    let Some(range) = text(header::RANGE) else { return FileRange::Whole };
    if let Some(condition) = text(header::IF_RANGE)
        && condition != stat.etag
        && condition != http_date(stat.modified)
    {
        return FileRange::Whole;
    }
    let Ok(parsed) = http_range_header::parse_range_header(range.trim()) else { return FileRange::Whole };
    if parsed.ranges.len() > 1 {
        return FileRange::Whole;
    }
    match parsed.validate(stat.size) {
        Ok(parts) => parts.into_iter().next().map_or(FileRange::Whole, FileRange::Part),
        Err(_) => FileRange::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name = HeaderName::try_from(*name).expect("a name");
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        headers
    }

    fn stat() -> Stat {
        Stat { size: 100, etag: "\"abc\"".into(), modified: 784_111_777 }
    }

    #[test]
    fn ranges() {
        let check = |pairs: &[(&str, &str)], expected: &str| {
            let found = match wanted(&headers(pairs), &stat()) {
                FileRange::Whole => "whole".to_owned(),
                FileRange::Nothing => "nothing".to_owned(),
                FileRange::Part(part) => format!("{}-{}", part.start(), part.end()),
            };
            assert_eq!(found, expected, "{pairs:?}");
        };
        check(&[], "whole");
        check(&[("range", "bytes=0-9")], "0-9");
        check(&[("range", "bytes=90-")], "90-99");
        check(&[("range", "bytes=-5")], "95-99");
        check(&[("range", "bytes=100-")], "nothing");
        check(&[("range", "bytes=0-1,5-6")], "whole");
        check(&[("range", "lines=1-2")], "whole");
        check(&[("range", "bytes=0-9"), ("if-range", "\"abc\"")], "0-9");
        check(&[("range", "bytes=0-9"), ("if-range", "\"old\"")], "whole");
    }
}
