//! Pictures of people who may upload files, and what cameras wrote into them.

use super::Judge;
use crate::config::declaration::{Media, PictureSize};
use crate::pictures::{self, exif, metadata};
use crate::pool::Budget;
use image::ImageFormat;
use serde_json::Value;
use std::io::{Seek as _, Write as _};
use std::sync::LazyLock;
use tempfile::NamedTempFile;

pub(super) const PROMISE: &str =
    "a picture within the limits, or a refusal; what told its place does so no more; all in bounded memory";

/// Few pixels are enough: what is asked is what the heads can do.
const MOST_PIXELS: u64 = 64 * 64;

pub(super) fn png(bytes: &[u8], _: Judge) {
    prepared(bytes, ImageFormat::Png);
}

pub(super) fn gif(bytes: &[u8], _: Judge) {
    prepared(bytes, ImageFormat::Gif);
}

pub(super) fn webp(bytes: &[u8], _: Judge) {
    prepared(bytes, ImageFormat::WebP);
}

pub(super) fn jpeg(bytes: &[u8], _: Judge) {
    prepared(bytes, ImageFormat::Jpeg);
}

/// What a camera wrote, as it stands in the file.
pub(super) fn exif(bytes: &[u8], _: Judge) {
    let _ = exif::tells_place(bytes);
    let described = metadata::describe(Some(bytes));
    let texts = described.as_object().expect("members").values().filter_map(Value::as_str);
    // Numbers have up to six decimals; a byte that is no text becomes a mark of three.
    assert!(texts.map(str::len).sum::<usize>() <= bytes.len() * 3 + 4_000, "{described}");
}

fn prepared(bytes: &[u8], format: ImageFormat) {
    static RULES: LazyLock<Media> = LazyLock::new(|| Media {
        max_pixels: MOST_PIXELS,
        max_frames: 8,
        largest: 32,
        sizes: [("small".to_owned(), PictureSize { width: 8, height: 8, crop: true })].into_iter().collect(),
        ..Media::default()
    });
    let file = written(bytes);
    let memory = Budget::default();
    let bounds = pictures::Bounds { rules: &RULES, memory: &memory };
    let Ok(prepared) = pictures::prepare(file.path(), format, bounds) else { return };
    assert!(prepared.width <= RULES.largest.max(64 * 64) && prepared.made.len() <= 1);
    if let Some(cleaned) = prepared.cleaned {
        let file = written(&cleaned);
        let again = pictures::prepare(file.path(), format, bounds);
        assert!(again.is_ok_and(|again| again.cleaned.is_none()), "the place is still told, or the picture is broken");
    }
}

fn written(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).and_then(|()| file.rewind()).expect("is written");
    file
}
