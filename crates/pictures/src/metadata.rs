//! Metadata of cameras, for people who show pictures: plain text, escaped, bounded.

use super::exif::{self, Exif, ExifValue};
use cms_text::sanitize;
use serde_json::{Value as Json, json};

/// Bytes of a description that still passes for a title.
const LONGEST_TITLE: usize = 80;

/// Characters of a longer one.
const LONGEST_CAPTION: usize = 2000;

/// Characters of a name or a note.
const LONGEST_LINE: usize = 250;

/// The members of `image_meta`; numbers are texts there, texts are HTML that shows the metadata, letter by letter.
/// `alternative` is the text that [`alternative`] returns.
pub fn describe(tiff: Option<&[u8]>, alternative: &str) -> Json {
    let exif = tiff.map(Exif::read).unwrap_or_default();
    let text = |tag, most| match exif.value(tag) {
        Some(ExifValue::Text(bytes)) => line(&String::from_utf8_lossy(bytes), most),
        _ => String::new(),
    };
    let number = |tag| match exif.value(tag) {
        Some(ExifValue::Number(number)) => short(*number),
        _ => "0".to_owned(),
    };
    let caption = text(exif::DESCRIPTION, LONGEST_CAPTION);
    // A few words are a name, too.
    let title = if caption.len() < LONGEST_TITLE { caption.as_str() } else { "" };
    let taken = [exif::TAKEN, exif::DIGITIZED, exif::CHANGED].into_iter();
    let taken = taken.map(|tag| text(tag, LONGEST_LINE)).find_map(|text| seconds(&text)).unwrap_or(0);
    let noted = |tag| shown(&text(tag, LONGEST_LINE));
    json!({
        "aperture": number(exif::APERTURE),
        "credit": noted(exif::ARTIST),
        "camera": noted(exif::MODEL),
        "caption": shown(&caption),
        "created_timestamp": taken.to_string(),
        "copyright": noted(exif::COPYRIGHT),
        "focal_length": number(exif::FOCAL_LENGTH),
        "iso": number(exif::SENSITIVITY),
        "shutter_speed": number(exif::EXPOSURE),
        "title": shown(title),
        "orientation": number(exif::ORIENTATION),
        "keywords": [],
        "alt": shown(alternative),
    })
}

/// The alternative text in a language, as one line; empty when there is none.
pub fn alternative(xmp: Option<&[u8]>, language: &str) -> String {
    let text = xmp.and_then(|xmp| super::xmp::alternative_text(xmp, language));
    line(&text.unwrap_or_default(), LONGEST_CAPTION)
}

/// One line of at most `most` characters, without what steers a terminal or the direction of text.
fn line(text: &str, most: usize) -> String {
    let steers =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let kept: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !steers(*c)).collect();
    let line = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(most).collect::<String>().trim_end().to_owned()
}

/// A text as HTML in which nothing is markup: no tag, no block, no shortcode.
fn shown(text: &str) -> String {
    sanitize::escape(text).replace('[', "&#91;").replace(']', "&#93;")
}

/// At most six decimals, without zeros at the end.
fn short(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `2024:05:01 12:00:00`, a wall clock without a zone, as seconds.
fn seconds(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ')?;
    let moment = cms_text::time::parse_datetime(&format!("{}T{time}", date.replace(':', "-")))?;
    Some(moment.wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of text fields, as cameras write it.
    fn exif(fields: &[(u16, &str)]) -> Vec<u8> {
        let mut directory = (fields.len() as u16).to_le_bytes().to_vec();
        let mut behind = Vec::new();
        let start = 8 + 2 + fields.len() * 12 + 4;
        for (tag, text) in fields {
            let mut bytes = text.as_bytes().to_vec();
            // Shorter values would be in the entry itself.
            bytes.resize(bytes.len().max(4) + 1, 0);
            directory.extend(tag.to_le_bytes());
            directory.extend(2u16.to_le_bytes());
            directory.extend((bytes.len() as u32).to_le_bytes());
            directory.extend(((start + behind.len()) as u32).to_le_bytes());
            behind.extend(bytes);
        }
        directory.extend(0u32.to_le_bytes());
        [b"II*\0\x08\0\0\0".to_vec(), directory, behind].concat()
    }

    #[test]
    fn what_cameras_write() {
        let raw = exif(&[
            (exif::DESCRIPTION, "Pier at dawn"),
            (exif::MODEL, "Box 5"),
            (exif::ARTIST, "Mira"),
            (exif::CHANGED, "2021:03:04 09:15:00"),
        ]);
        let meta = describe(Some(&raw), "");
        assert_eq!((&meta["title"], &meta["caption"]), (&json!("Pier at dawn"), &json!("Pier at dawn")));
        assert_eq!((&meta["camera"], &meta["credit"]), (&json!("Box 5"), &json!("Mira")));
        assert_eq!(meta["created_timestamp"], "1614849300");
        let long = "word ".repeat(30);
        assert_eq!(describe(Some(&exif(&[(exif::DESCRIPTION, &long)])), "")["caption"], long.trim());
        let nothing = describe(None, "");
        assert_eq!((&nothing["aperture"], &nothing["keywords"]), (&json!("0"), &json!([])));
        assert_eq!(describe(Some(b"no exif at all"), ""), nothing);
    }

    #[test]
    fn texts_are_plain_and_bounded() {
        let check = |text: &str, member: &str, expected: &str| {
            assert_eq!(describe(Some(&exif(&[(exif::DESCRIPTION, text)])), "")[member], expected, "{text}");
        };
        check("<img src=x onerror=alert(1)>", "title", "&lt;img src=x onerror=alert(1)&gt;");
        check("[embed]x[/embed]", "title", "&#91;embed&#93;x&#91;/embed&#93;");
        check("a\u{202e}gnp\r\n\tb & 'c'", "title", "agnp b &amp; &#39;c&#39;");
        for (given, kept) in [(LONGEST_CAPTION - 1, LONGEST_CAPTION - 1), (LONGEST_CAPTION, LONGEST_CAPTION)] {
            check(&"x".repeat(given), "caption", &"x".repeat(kept));
        }
        check(&"x".repeat(LONGEST_CAPTION + 1), "caption", &"x".repeat(LONGEST_CAPTION));
        let artist = describe(Some(&exif(&[(exif::ARTIST, &"<".repeat(LONGEST_LINE + 1))])), "");
        assert_eq!(artist["credit"], "&lt;".repeat(LONGEST_LINE));
    }

    #[test]
    fn figures() {
        assert_eq!([short(2.8), short(0.008), short(50.0), short(0.0)], ["2.8", "0.008", "50", "0"]);
    }
}
