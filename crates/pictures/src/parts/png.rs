//! PNG: chunks of length, name, contents and checksum.

use super::{FileWalk, MOST_METADATA, Parts, broken};
use crate::PictureError;
use std::io::{Read, Seek};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

pub(super) fn read<R: Read + Seek>(walk: &mut FileWalk<R>) -> Result<Parts, PictureError> {
    if walk.next()? != Some(SIGNATURE) {
        return Err(broken("it does not begin like a PNG"));
    }
    let mut parts = Parts::default();
    parts.shown.file(0..8);
    parts.clean.file(0..8);
    let (mut head, mut clear, mut coloured) = (None, false, false);
    // Bytes that all texts together may still inflate to.
    let mut room = MOST_METADATA;
    while let Some([a, b, c, d]) = walk.next()? {
        let start = walk.at - 4;
        let length = u64::from(u32::from_be_bytes([a, b, c, d]));
        let Some(name) = walk.next::<4>()? else { break };
        let end = walk.at.saturating_add(length + 4).min(walk.length);
        walk.count()?;
        match &name {
            b"IHDR" => head = Some(dimensions(walk, &mut parts)?),
            b"acTL" if parts.scans == 0 => parts.frames = u32::from_be_bytes(walk.need()?),
            b"IDAT" => parts.scans = 1,
            b"tRNS" => clear = true,
            b"eXIf" => {
                let tiff = walk.take(length)?;
                parts.take_exif(tiff);
            }
            // There is one. A file of many would take long to inflate.
            b"iCCP" if !std::mem::replace(&mut coloured, true) => {
                parts.icc = walk.take(length)?.and_then(|chunk| profile(&chunk));
            }
            b"tEXt" | b"zTXt" | b"iTXt" => {
                let chunk = walk.take(length)?;
                text(&name, chunk.as_deref(), &mut room, &mut parts);
            }
            _ => {}
        }
        walk.seek(end)?;
        if matches!(&name, b"IHDR" | b"PLTE" | b"tRNS" | b"IDAT" | b"IEND") {
            parts.shown.file(start..end);
        }
        if !matches!(&name, b"eXIf" | b"tEXt" | b"zTXt" | b"iTXt") {
            parts.clean.file(start..end);
        }
        if &name == b"IEND" {
            break;
        }
    }
    let (depth, colour) = head.ok_or_else(|| broken("it has no head"))?;
    parts.tells_place |= walk.tail_has_location()?;
    parts.channels = match (colour, clear) {
        (0, false) => 1,
        (0, true) | (4, _) => 2,
        (2 | 3, false) => 3,
        _ => 4,
    };
    let deep = if depth == 16 { 2 } else { 1 };
    // Sixteen bits become eight in a copy. In addition to the pixels, a decoder holds a few rows and what it inflates
    // ahead.
    let copy = if deep == 2 { parts.channels } else { 0 };
    // A header may name more pixels than 64 bits can count the bytes of; it is refused for them later.
    let pixels = parts.pixels().saturating_mul(parts.channels * deep + copy);
    parts.decoding = pixels.saturating_add(u64::from(parts.width) * 32 + 2 * MOST_METADATA as u64);
    Ok(parts)
}

/// Width and height; the depth and the kind of the colours.
fn dimensions<R: Read + Seek>(walk: &mut FileWalk<R>, parts: &mut Parts) -> Result<(u8, u8), PictureError> {
    let [w1, w2, w3, w4, h1, h2, h3, h4, depth, colour] = walk.need()?;
    parts.width = u32::from_be_bytes([w1, w2, w3, w4]);
    parts.height = u32::from_be_bytes([h1, h2, h3, h4]);
    Ok((depth, colour))
}

/// A name, a zero, the method (always 0), and the profile, deflated. `None` for one that is too long or broken.
fn profile(chunk: &[u8]) -> Option<Vec<u8>> {
    let at = memchr::memchr(0, chunk)?;
    inflated(chunk.get(at + 2..)?, MOST_METADATA)
}

/// Examines a text; `room` is what may still be inflated.
fn text(name: &[u8; 4], chunk: Option<&[u8]>, room: &mut usize, parts: &mut Parts) {
    let Some(chunk) = chunk else { return parts.take_text(None) };
    parts.take_text(Some(chunk));
    let Some(end) = memchr::memchr(0, chunk) else { return };
    let (keyword, rest) = (&chunk[..end], &chunk[end + 1..]);
    // Metadata of other formats, written as digits.
    parts.tells_place |= keyword.starts_with(b"Raw profile type") && !keyword.ends_with(b"icc");
    let described = keyword == b"XML:com.adobe.xmp";
    let packed = match (name, rest) {
        (b"iTXt", [0, _, more @ ..]) if described => {
            return more.splitn(3, |byte| *byte == 0).nth(2).into_iter().for_each(|xmp| parts.take_xmp(xmp));
        }
        (b"zTXt", [0, packed @ ..]) => packed,
        // Packed or not, the method, a language and a translated keyword, each with a zero behind.
        (b"iTXt", [1, 0, more @ ..]) => match more.splitn(3, |byte| *byte == 0).nth(2) {
            Some(packed) => packed,
            None => return,
        },
        _ => return,
    };
    let found = inflated(packed, *room);
    *room -= found.as_ref().map_or(*room, Vec::len);
    if let Some(xmp) = found.as_deref().filter(|_| described) {
        parts.take_xmp(xmp);
    }
    parts.take_text(found.as_deref());
}

/// Inflates a zlib stream of at most `most` bytes. They are counted first: a longer stream takes no memory.
fn inflated(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let limit = u64::try_from(most).ok()?;
    let stream = || flate2::read::ZlibDecoder::new(packed).take(limit + 1);
    let length = std::io::copy(&mut stream(), &mut std::io::sink()).ok().filter(|length| *length <= limit)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).ok()?);
    stream().read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
