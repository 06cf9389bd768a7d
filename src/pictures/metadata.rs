//! What a camera writes into a picture: read for people who show it, and the place where it was taken removed.

use exif::{Exif, In, Reader, Tag, Value};
use image::ImageFormat;
use img_parts::Bytes;
use img_parts::jpeg::{Jpeg, markers};
use img_parts::png::Png;
use img_parts::webp::WebP;
use serde_json::{Value as Json, json};

/// Characters of a description that still passes for a title.
const LONGEST_TITLE: usize = 80;

/// The members of `image_meta`; numbers are texts there.
pub fn describe(raw: Option<&[u8]>) -> Json {
    let exif = raw.and_then(|raw| Reader::new().read_raw(raw.to_vec()).ok());
    let text = |tag| exif.as_ref().and_then(|e| words(e, tag)).unwrap_or_default();
    let number = |tag| exif.as_ref().and_then(|e| figure(e, tag)).map_or_else(|| "0".to_owned(), short);
    // A few words are a name, more are a text.
    let (title, caption) = match text(Tag::ImageDescription) {
        few if few.chars().count() < LONGEST_TITLE => (few, String::new()),
        many => (String::new(), many),
    };
    let taken = [Tag::DateTimeOriginal, Tag::DateTimeDigitized, Tag::DateTime];
    let taken = taken.into_iter().map(text).find_map(|text| seconds(&text)).unwrap_or(0);
    json!({
        "aperture": number(Tag::FNumber),
        "credit": text(Tag::Artist),
        "camera": text(Tag::Model),
        "caption": caption,
        "created_timestamp": taken.to_string(),
        "copyright": text(Tag::Copyright),
        "focal_length": number(Tag::FocalLength),
        "iso": number(Tag::PhotographicSensitivity),
        "shutter_speed": number(Tag::ExposureTime),
        "title": title,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of text fields, as cameras write it.
    fn exif(fields: &[(u16, &str)], place: bool) -> Vec<u8> {
        let count = fields.len() + usize::from(place);
        let mut directory = (count as u16).to_le_bytes().to_vec();
        let mut behind = Vec::new();
        let start = 8 + 2 + count * 12 + 4;
        for (tag, text) in fields {
            let mut bytes = text.as_bytes().to_vec();
            // Shorter values would stand in the entry itself.
            bytes.resize(bytes.len().max(4) + 1, 0);
            directory.extend(tag.to_le_bytes());
            directory.extend(2u16.to_le_bytes());
            directory.extend((bytes.len() as u32).to_le_bytes());
            directory.extend(((start + behind.len()) as u32).to_le_bytes());
            behind.extend(bytes);
        }
        if place {
            directory.extend(0x8825u16.to_le_bytes());
            directory.extend(4u16.to_le_bytes());
            directory.extend(1u32.to_le_bytes());
            directory.extend(((start + behind.len()) as u32).to_le_bytes());
            behind.extend(1u16.to_le_bytes());
            behind.extend([1, 0, 2, 0, 2, 0, 0, 0, b'N', 0, 0, 0]);
            behind.extend(0u32.to_le_bytes());
        }
        directory.extend(0u32.to_le_bytes());
        [b"II*\0\x08\0\0\0".to_vec(), directory, behind].concat()
    }

    #[test]
    fn what_cameras_write() {
        let raw = exif(
            &[(0x010e, "Pier at dawn"), (0x0110, "Box 5"), (0x013b, "Mira"), (0x0132, "2021:03:04 09:15:00")],
            false,
        );
        let meta = describe(Some(&raw));
        assert_eq!((&meta["title"], &meta["caption"]), (&json!("Pier at dawn"), &json!("")));
        assert_eq!((&meta["camera"], &meta["credit"]), (&json!("Box 5"), &json!("Mira")));
        assert_eq!(meta["created_timestamp"], "1614849300");
        let long = "word ".repeat(30);
        assert_eq!(describe(Some(&exif(&[(0x010e, &long)], false)))["caption"], long.trim());
        let nothing = describe(None);
        assert_eq!((&nothing["aperture"], &nothing["keywords"]), (&json!("0"), &json!([])));
        assert_eq!(describe(Some(b"no exif at all")), nothing);
    }

    #[test]
    fn places_are_noticed() {
        assert!(tells_place(Some(&exif(&[], true)), None));
        assert!(!tells_place(Some(&exif(&[(0x0110, "Box 5")], false)), None));
        assert!(tells_place(None, Some(b"<rdf exif:GPSLatitude='1'/>")));
        assert!(!tells_place(None, Some(b"<rdf/>")));
        assert!(!tells_place(None, None));
    }

    #[test]
    fn figures() {
        assert_eq!([short(2.8), short(0.008), short(50.0), short(0.0)], ["2.8", "0.008", "50", "0"]);
    }
}
