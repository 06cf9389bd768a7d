//! Pictures of people who may upload files, and what cameras wrote into them.

use super::HtmlAuditor;
use cms_declaration::units::{OptionalSetting, Size};
use cms_declaration::{Media, PictureSize};
use cms_pictures::{PictureBounds, PrepareOptions, PreparedPicture, boxes, metadata};
use image::ImageFormat;
use serde_json::Value;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use tempfile::NamedTempFile;

pub(super) const PROMISE: &str =
    "a picture within the limits, or a refusal; what told its place tells it no more and still is a picture";

/// Few pixels are enough: the headers are what is tested.
const MOST_PIXELS: u64 = 64 * 64;

/// Bytes that one picture may take: [`super::PICTURE`] holds the decoder to them.
pub(super) const MOST_MEMORY: usize = 24 << 20;

/// Longest side of what is shown.
const LARGEST: u32 = 32;

static RULES: LazyLock<Media> = LazyLock::new(|| Media {
    max_pixels: MOST_PIXELS,
    max_frames: 8,
    max_memory: Size::bytes_of(MOST_MEMORY as u64),
    max_side: OptionalSetting::on(LARGEST),
    sizes: [("small".to_owned(), PictureSize { width: 8, height: 8, crop: true, quality: None })].into_iter().collect(),
    ..Media::default()
});

pub(super) fn png(bytes: &[u8], _: HtmlAuditor) {
    prepared(bytes, ImageFormat::Png);
}

pub(super) fn gif(bytes: &[u8], _: HtmlAuditor) {
    prepared(bytes, ImageFormat::Gif);
}

pub(super) fn webp(bytes: &[u8], _: HtmlAuditor) {
    prepared(bytes, ImageFormat::WebP);
}

pub(super) fn jpeg(bytes: &[u8], _: HtmlAuditor) {
    prepared(bytes, ImageFormat::Jpeg);
}

/// Metadata of a camera, as they are in the file.
pub(super) fn exif(bytes: &[u8], _: HtmlAuditor) {
    let described = metadata::describe(Some(bytes), "");
    let texts = described.as_object().expect("members").values().filter_map(Value::as_str);
    // Numbers have up to six decimals; a byte that is no text becomes a mark of three.
    assert!(texts.map(str::len).sum::<usize>() <= bytes.len() * 3 + 4_000, "{described}");
}

/// A film, or a picture that is made like one.
pub(super) fn boxed(bytes: &[u8], _: HtmlAuditor) {
    let file = written(bytes);
    let memory = Arc::default();
    let bounds = PictureBounds { rules: &RULES, memory: &memory };
    let Ok(places) = boxes::location_patches(file.path(), bounds) else { return };
    boxes::write_over(file.path(), &places).expect("is written over");
    let length = file.as_file().metadata().expect("a file").len();
    assert_eq!(length, bytes.len() as u64, "nothing moves");
    // A description that is cut short may still count as one with a location; there is nothing left in it.
    let cleaned = std::fs::read(file.path()).expect("a file");
    // A file whose descriptions overlap the boxes that lead to them cannot be read any more.
    let Ok(left) = boxes::location_patches(file.path(), bounds) else { return };
    boxes::write_over(file.path(), &left).expect("is written over");
    assert_eq!(std::fs::read(file.path()).expect("a file"), cleaned, "{left:?} of {places:?}");
}

fn prepared(bytes: &[u8], format: ImageFormat) {
    let file = written(bytes);
    let Ok(prepared) = prepare(file.path(), format) else { return };
    let size = (prepared.width, prepared.height);
    // A pixel more is no other size.
    assert!(format == ImageFormat::Gif || size.0.max(size.1) <= LARGEST + 1, "{size:?}");
    assert!(u64::from(size.0) * u64::from(size.1) <= MOST_PIXELS && prepared.made.len() <= 1);
    if let Some(cleaned) = prepared.cleaned {
        let again = prepare(written(&cleaned).path(), format);
        assert!(again.is_ok_and(|again| again.cleaned.is_none()), "the place is still told, or the picture is broken");
    }
}

fn prepare(file: &Path, format: ImageFormat) -> Result<PreparedPicture, cms_pictures::PictureError> {
    let wanted = PrepareOptions { copies: true, display: true, format, quality: 82, language: "en_US".into() };
    let bounds = PictureBounds { rules: &RULES, memory: &Arc::default() };
    cms_pictures::prepare(file, format, bounds, &wanted).map(|done| done.value)
}

fn written(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).and_then(|()| file.rewind()).expect("is written");
    file
}
