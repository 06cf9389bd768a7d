//! What a camera writes into a picture: read for people who show it, and the place where it was taken removed.

use exif::{Exif, In, Reader, Tag, Value};
use image::ImageFormat;
use img_parts::Bytes;
use img_parts::jpeg::{Jpeg, markers};
use img_parts::png::Png;
use img_parts::webp::WebP;
use serde_json::{Value as Json, json};

/// The members of `image_meta`; numbers are texts there.
pub fn describe(raw: Option<&[u8]>) -> Json {
    let exif = raw.and_then(|raw| Reader::new().read_raw(raw.to_vec()).ok());
    let text = |tag| exif.as_ref().and_then(|e| words(e, tag)).unwrap_or_default();
    let number = |tag| exif.as_ref().and_then(|e| figure(e, tag)).map_or_else(|| "0".to_owned(), short);
    let taken = exif.as_ref().and_then(|e| words(e, Tag::DateTimeOriginal)).and_then(|t| seconds(&t)).unwrap_or(0);
    json!({
        "aperture": number(Tag::FNumber),
        "credit": text(Tag::Artist),
        "camera": text(Tag::Model),
        "caption": text(Tag::ImageDescription),
        "created_timestamp": taken.to_string(),
        "copyright": text(Tag::Copyright),
        "focal_length": number(Tag::FocalLength),
        "iso": number(Tag::PhotographicSensitivity),
        "shutter_speed": number(Tag::ExposureTime),
        "title": "",
        "orientation": number(Tag::Orientation),
        "keywords": [],
    })
}

/// Whether the metadata tell where the picture was taken.
pub fn tells_place(exif: Option<&[u8]>, xmp: Option<&[u8]>) -> bool {
    let in_exif = exif.and_then(|raw| Reader::new().read_raw(raw.to_vec()).ok());
    let in_exif = in_exif.is_some_and(|exif| exif.fields().any(|f| f.tag.context() == exif::Context::Gps));
    in_exif || xmp.is_some_and(|xmp| xmp.windows(3).any(|w| w == b"GPS"))
}

/// The file without the segments that hold such metadata, pixels and colours untouched. `None` when its parts cannot be
/// told apart.
pub fn without_metadata(file: Vec<u8>, format: ImageFormat) -> Option<Vec<u8>> {
    let bytes = Bytes::from(file);
    let mut out = Vec::new();
    match format {
        ImageFormat::Jpeg => {
            let mut jpeg = Jpeg::from_bytes(bytes).ok()?;
            jpeg.remove_segments_by_marker(markers::APP1);
            jpeg.remove_segments_by_marker(markers::APP13);
            jpeg.encoder().write_to(&mut out).ok()?;
        }
        ImageFormat::Png => {
            let mut png = Png::from_bytes(bytes).ok()?;
            for kind in [*b"eXIf", *b"iTXt", *b"tEXt", *b"zTXt"] {
                png.remove_chunks_by_type(kind);
            }
            png.encoder().write_to(&mut out).ok()?;
        }
        ImageFormat::WebP => {
            let mut webp = WebP::from_bytes(bytes).ok()?;
            webp.remove_chunks_by_id(*b"EXIF");
            webp.remove_chunks_by_id(*b"XMP ");
            webp.encoder().write_to(&mut out).ok()?;
        }
        _ => return None,
    }
    Some(out)
}

fn words(exif: &Exif, tag: Tag) -> Option<String> {
    match &exif.get_field(tag, In::PRIMARY)?.value {
        Value::Ascii(parts) => {
            let text = parts.first().map(|part| String::from_utf8_lossy(part).into_owned())?;
            Some(text.trim_matches(|c: char| c.is_whitespace() || c.is_control()).to_owned())
        }
        _ => None,
    }
}

fn figure(exif: &Exif, tag: Tag) -> Option<f64> {
    let value = &exif.get_field(tag, In::PRIMARY)?.value;
    match value {
        Value::Rational(list) => list.first().map(exif::Rational::to_f64),
        value => value.get_uint(0).map(f64::from),
    }
    .filter(|n| n.is_finite())
}

/// At most six decimals, without zeros at the end.
fn short(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `2024:05:01 12:00:00`, a wall clock without a zone, as seconds.
fn seconds(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ')?;
    let moment = crate::text::time::parse_datetime(&format!("{}T{time}", date.replace(':', "-")))?;
    Some(moment.wall)
}
