//! The type of a file: its name compared with its contents and with the declared types.

use super::endings;
use cms_declaration::{FileType, Media};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes of a file that are enough to detect its type.
const HEAD: usize = 8 << 10;

/// A file that is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct FileKind {
    pub mime: String,
    /// The end that its name gets.
    pub extension: String,
}

/// Reads the first bytes of a file.
///
/// # Errors
/// It cannot be read.
pub fn head(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEAD);
    File::open(file)?.take(HEAD as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The declared type that both the file name extension and the contents indicate. A picture with the extension of
/// another kind of picture gets the correct one. `None`: not accepted.
pub fn kind(extension: &str, head: &[u8], rules: &Media) -> Option<FileKind> {
    let (named, declared) = by_extension(extension, rules)?;
    let found = infer::get(head).map(|t| t.mime_type());
    if fits(named, declared, found, head) {
        return Some(FileKind { mime: named.to_owned(), extension: extension.to_owned() });
    }
    let found = found?;
    let (mime, other) = rules.types.iter().find(|(mime, t)| t.enabled && mime.as_str() == found)?;
    let pictures = mime.starts_with("image/") && named.starts_with("image/");
    pictures.then(|| FileKind { mime: mime.clone(), extension: other.extensions.first().cloned().unwrap_or_default() })
}

/// The type that is declared for the end of a name.
pub fn by_extension<'r>(extension: &str, rules: &'r Media) -> Option<(&'r str, &'r FileType)> {
    let taken = rules.types.iter().filter(|(_, t)| t.enabled);
    let mut taken = taken.filter(|(_, t)| t.extensions.iter().any(|e| e.eq_ignore_ascii_case(extension)));
    taken.next().map(|(mime, t)| (mime.as_str(), t))
}

/// The type that a file's name promises: a declared one, whether such files are accepted or not, else the usual one.
pub fn promised<'r>(name: &str, rules: &'r Media) -> &'r str {
    let end = name.rsplit('.').next().unwrap_or_default();
    let declared = rules.types.iter().find(|(_, of)| of.extensions.iter().any(|own| own.eq_ignore_ascii_case(end)));
    declared.map(|(mime, _)| mime.as_str()).or_else(|| endings::usual(end)).unwrap_or("application/octet-stream")
}

fn fits(mime: &str, declared: &FileType, found: Option<&str>, head: &[u8]) -> bool {
    if declared.plain_text {
        // A file with a signature is no plain text, except what is text itself (a script, a page).
        return found.is_none_or(|f| f.starts_with("text/") || f == mime) && is_text(head);
    }
    found.is_some_and(|f| f == mime || declared.sniffed_as.iter().any(|a| a == f))
}

/// No NUL, and UTF-8 or at least nothing that steers a terminal.
fn is_text(head: &[u8]) -> bool {
    let steers = |b: &u8| *b < 32 && !matches!(b, b'\t' | b'\n' | b'\r' | 12);
    !head.iter().any(steers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Media {
        let mut rules = Media::default();
        let mut add = |mime: &str, extensions: &[&str], plain_text: bool, off: bool| {
            let extensions = extensions.iter().map(|e| (*e).to_owned()).collect();
            rules.types.insert(mime.into(), FileType { extensions, plain_text, enabled: !off, ..FileType::default() });
        };
        add("image/png", &["png"], false, false);
        add("image/jpeg", &["jpg", "jpeg"], false, false);
        add("application/pdf", &["pdf"], false, false);
        add("text/plain", &["txt"], true, false);
        add("image/svg+xml", &["svg"], true, true);
        rules
    }

    #[test]
    fn kinds() {
        let check = |extension: &str, head: &[u8], expected: Option<(&str, &str)>| {
            let found = kind(extension, head, &rules());
            let found = found.as_ref().map(|k| (k.mime.as_str(), k.extension.as_str()));
            assert_eq!(found, expected, "{extension}");
        };
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        check("png", png, Some(("image/png", "png")));
        check("jpg", png, Some(("image/png", "png")));
        check("jpeg", b"\xff\xd8\xff\xe0", Some(("image/jpeg", "jpeg")));
        check("txt", png, None);
        check("txt", b"hello", Some(("text/plain", "txt")));
        check("txt", b"a\0b", None);
        check("txt", b"<!DOCTYPE html><p>", Some(("text/plain", "txt")));
        check("pdf", b"hello", None);
        check("pdf", b"%PDF-1.4", Some(("application/pdf", "pdf")));
        check("png", b"not an image", None);
        check("php", b"<?php", None);
        check("svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", None);
        check("", png, None);
    }
}
