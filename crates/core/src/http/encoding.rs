//! Encodings of cached responses: chosen by what the client accepts, computed once for all. And of pages that say so: those
//! that are large and shown before anything else.
//!
//! Other responses are sent as they are: encoding one for one reader would cost more than computing it, and responses
//! to credentials are better not compressed together with what the client sends.

use crate::model::{Payload, Reply, SharedText};
use bytes::Bytes;
use std::io::{Read, Write};

/// Shorter texts gain nothing.
const LEAST: usize = 1024;

/// How a text is encoded: its name in `Content-Encoding`, and the encoder.
struct Encoding {
    name: &'static str,
    encode: fn(&[u8]) -> std::io::Result<Vec<u8>>,
}

/// Encodings in the order of our liking; [`SharedText::encoded`] has a place for each.
const ENCODINGS: [Encoding; 3] = [
    Encoding { name: "zstd", encode: |text| zstd::bulk::compress(text, 3) },
    Encoding { name: "br", encode: brotli },
    Encoding { name: "gzip", encode: gzip },
];

/// The text for a client, and the name of its encoding; `None` is the text as it is.
pub fn choose(kept: &SharedText, accepted: Option<&str>) -> (Bytes, Option<&'static str>) {
    let plain = || (kept.text.clone(), None);
    let Some(accepted) = accepted.filter(|_| kept.text.len() >= LEAST) else { return plain() };
    let Some(place) = best(accepted) else { return plain() };
    let encoded = kept.encoded[place].get_or_init(|| match (ENCODINGS[place].encode)(&kept.text) {
        Ok(encoded) if encoded.len() < kept.text.len() && kept.takes(encoded.len()) => encoded.into(),
        _ => Bytes::new(),
    });
    if encoded.is_empty() { plain() } else { (encoded.clone(), Some(ENCODINGS[place].name)) }
}

/// A reply whose page, where it is one, is compressed for the client.
pub fn page(mut reply: Reply, accepted: Option<&str>) -> Reply {
    let Payload::Page { media_type, bytes } = reply.payload else { return reply };
    reply.headers.push(("Vary".into(), "Accept-Encoding".into()));
    let chosen = accepted.filter(|_| bytes.len() >= LEAST).and_then(best).map(|place| &ENCODINGS[place]);
    let encoded = chosen.and_then(|encoding| Some((encoding.name, (encoding.encode)(&bytes).ok()?)));
    let bytes = match encoded {
        Some((name, encoded)) => {
            reply.headers.push(("Content-Encoding".into(), name.into()));
            encoded
        }
        None => bytes,
    };
    Reply { payload: Payload::Other { media_type, bytes }, ..reply }
}

/// The encoding with the highest weight (RFC 9110, section 12.5.3); of equal ones ours counts.
fn best(accepted: &str) -> Option<usize> {
    let weight_of = |name: &str| {
        let entry = |wanted: &str| accepted.split(',').map(weighted).find(|(n, _)| n.eq_ignore_ascii_case(wanted));
        entry(name).or_else(|| entry("*")).map_or(0, |(_, weight)| weight)
    };
    let weights: Vec<u32> = ENCODINGS.iter().map(|encoding| weight_of(encoding.name)).collect();
    let most = *weights.iter().max()?;
    if most == 0 { None } else { weights.iter().position(|weight| *weight == most) }
}

/// A name with its weight in thousandths.
fn weighted(entry: &str) -> (&str, u32) {
    let (name, parameters) = entry.split_once(';').unwrap_or((entry, ""));
    let weight = parameters.split(';').find_map(|p| p.trim().strip_prefix("q=")).map_or(Some(1.0), |q| q.parse().ok());
    let weight: f32 = weight.unwrap_or(0.0);
    (name.trim(), (weight.clamp(0.0, 1.0) * 1000.0) as u32)
}

fn brotli(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoded = Vec::new();
    brotli::CompressorReader::new(text, 4096, 5, 20).read_to_end(&mut encoded)?;
    Ok(encoded)
}

fn gzip(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EncodingBudget;

    #[test]
    fn the_best_welcome_encoding_is_taken() {
        let kept =
            SharedText::new("the same words again and again; ".repeat(100).into_bytes(), EncodingBudget::new(1 << 20));
        let check = |accepted: Option<&str>, expected: Option<&str>| {
            let (bytes, name) = choose(&kept, accepted);
            assert_eq!(name, expected, "{accepted:?}");
            assert_eq!(bytes.len() < kept.text.len(), name.is_some());
        };
        check(None, None);
        check(Some(""), None);
        check(Some("identity"), None);
        check(Some("gzip, deflate, br, zstd"), Some("zstd"));
        check(Some("gzip, deflate, br"), Some("br"));
        check(Some("GZIP"), Some("gzip"));
        check(Some("br;q=0.5, gzip"), Some("gzip"));
        check(Some("*"), Some("zstd"));
        check(Some("zstd;q=0, *;q=0.1"), Some("br"));
        check(Some("gzip;q=0"), None);
        check(Some("gzip;q=much"), None);
    }

    #[test]
    fn encodings_can_be_undone() {
        let text = "the same words again and again; ".repeat(100);
        let gzipped = gzip(text.as_bytes()).expect("memory");
        let mut plain = String::new();
        flate2::read::GzDecoder::new(&*gzipped).read_to_string(&mut plain).expect("gzip");
        assert_eq!(plain, text);
        let mut plain = String::new();
        let encoded = brotli(text.as_bytes()).expect("memory");
        brotli::Decompressor::new(&*encoded, 4096).read_to_string(&mut plain).expect("brotli");
        assert_eq!(plain, text);
        let encoded = (ENCODINGS[0].encode)(text.as_bytes()).expect("memory");
        assert_eq!(zstd::bulk::decompress(&encoded, text.len()).expect("zstd"), text.as_bytes());
    }

    #[test]
    fn encodings_take_no_more_than_their_room() {
        let text = "the same words again and again; ".repeat(100).into_bytes();
        let size = (ENCODINGS[0].encode)(&text).expect("memory").len() as u64;
        let room = EncodingBudget::new(size);
        let first = SharedText::new(text.clone(), room.clone());
        assert_eq!((choose(&first, Some("zstd")).1, room.left()), (Some("zstd"), 0));
        assert_eq!(choose(&SharedText::new(text.clone(), room.clone()), Some("zstd")).1, None);
        drop(first);
        assert_eq!(room.left(), size);
        assert_eq!(choose(&SharedText::new(text, room.clone()), Some("zstd")).1, Some("zstd"));
    }

    #[test]
    fn pages_are_compressed_and_other_replies_are_not() {
        let text = "<p>the same words again and again".repeat(100).into_bytes();
        let reply = |payload| Reply { status: 200, headers: Vec::new(), payload };
        let header = |reply: &Reply, name: &str| reply.headers.iter().find(|(own, _)| own == name).map(|h| h.1.clone());
        let packed = page(reply(Payload::Page { media_type: "text/html", bytes: text.clone() }), Some("gzip, br"));
        assert_eq!(header(&packed, "Content-Encoding").as_deref(), Some("br"));
        assert_eq!(header(&packed, "Vary").as_deref(), Some("Accept-Encoding"));
        let Payload::Other { media_type: "text/html", bytes } = packed.payload else { panic!("another payload") };
        let mut plain = Vec::new();
        brotli::Decompressor::new(&*bytes, 4096).read_to_end(&mut plain).expect("brotli");
        assert_eq!(plain, text);
        let plain = page(reply(Payload::Page { media_type: "text/html", bytes: text.clone() }), None);
        assert_eq!(header(&plain, "Content-Encoding"), None);
        assert!(matches!(plain.payload, Payload::Other { bytes, .. } if bytes == text));
        let other = page(reply(Payload::Other { media_type: "text/html", bytes: text.clone() }), Some("gzip"));
        assert!(other.headers.is_empty() && matches!(other.payload, Payload::Other { bytes, .. } if bytes == text));
    }

    #[test]
    fn short_texts_stay_as_they_are() {
        assert_eq!(choose(&SharedText::new(b"[]".to_vec(), EncodingBudget::new(1 << 20)), Some("gzip")).1, None);
    }
}
