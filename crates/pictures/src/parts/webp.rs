//! WebP: chunks of name, length and contents, filled up to an even length.

use super::{FileWalk, MOST_METADATA, Parts, Pieces, broken, lossless};
use crate::PictureError;
use std::io::{Read, Seek};

/// Flags of the header for what a decoder does not see: a profile, camera metadata, a description.
const BESIDE: u8 = 0x20 | 0x08 | 0x04;
const ALPHA: u8 = 0x10;

/// Sides of a picture, and what a pixel of it takes.
#[derive(Default)]
struct Bitmap {
    size: (u32, u32),
    alpha: bool,
    lossless: bool,
    /// Bytes that codes of lossless pixels take.
    codes: u64,
}

pub(super) fn read<R: Read + Seek>(walk: &mut FileWalk<R>) -> Result<Parts, PictureError> {
    let [r, i, f1, f2, _, _, _, _, rest @ ..] = walk.need::<12>()?;
    if [r, i, f1, f2] != *b"RIFF" || rest != *b"WEBP" {
        return Err(broken("it does not begin like a WebP"));
    }
    let mut parts = Parts::default();
    let (mut shown, mut clean) = (Pieces::default(), Pieces::default());
    let (mut canvas, mut bitmap) = (None, None);
    let mut alpha = None;
    while let Some(name) = walk.next::<4>()? {
        let start = walk.at - 4;
        let Some(length) = walk.next()? else { break };
        let length = u64::from(u32::from_le_bytes(length));
        // Bytes after the picture may be anything.
        if length > walk.left() && matches!(&name, b"VP8X" | b"VP8 " | b"VP8L" | b"ALPH" | b"ANMF") {
            return Err(broken("it breaks off"));
        }
        let (inside, end) = (walk.at, (walk.at + length + length % 2).min(walk.length));
        walk.count()?;
        let mut kept = true;
        match &name {
            b"VP8X" => {
                canvas = Some(head(walk, &mut shown, &mut clean)?);
                kept = false;
            }
            b"VP8 " | b"VP8L" if bitmap.is_none() && parts.frames == 0 => {
                bitmap = Some(picture(walk, &name, length)?);
                shown.file(start..end);
            }
            b"ALPH" if alpha.is_none() && parts.frames == 0 => {
                alpha = Some((inside, length));
                shown.file(start..end);
            }
            b"ANIM" => shown.file(start..end),
            b"ANMF" => {
                parts.frames += 1;
                if parts.frames == 1 {
                    bitmap = Some(frame(walk, end)?);
                    shown.file(start..end);
                }
            }
            b"ICCP" => parts.icc = walk.take(length)?,
            b"EXIF" => {
                let tiff = walk.take(length)?;
                // Some programs write the mark that JPEG needs.
                let tiff = tiff.map(|tiff| tiff.strip_prefix(b"Exif\0\0").map(<[u8]>::to_vec).unwrap_or(tiff));
                parts.take_exif(tiff);
                kept = false;
            }
            b"XMP " => {
                let text = walk.take(length)?;
                parts.take_text(text.as_deref());
                text.iter().for_each(|xmp| parts.take_xmp(xmp));
                kept = false;
            }
            _ => {}
        }
        if kept && inside <= end {
            clean.file(start..end);
        }
        walk.seek(end)?;
    }
    let bitmap = bitmap.ok_or_else(|| broken("it holds no picture"))?;
    measure(walk, &mut parts, canvas, bitmap, alpha)?;
    parts.shown = riff(shown);
    parts.clean = riff(clean);
    Ok(parts)
}

/// Sides, channels and the memory that decoding takes, from the file's head, its first picture and the place of that
/// one's transparency.
fn measure<R: Read + Seek>(
    walk: &mut FileWalk<R>,
    parts: &mut Parts,
    canvas: Option<(u8, (u32, u32))>,
    mut bitmap: Bitmap,
    alpha: Option<(u64, u64)>,
) -> Result<(), PictureError> {
    if let Some((inside, length)) = alpha {
        walk.seek(inside)?;
        bitmap.codes += transparency(walk, length, bitmap.size)?;
    }
    let size = canvas.map_or(bitmap.size, |(_, size)| size);
    let fits = if parts.frames > 0 { bitmap.size.0 <= size.0 && bitmap.size.1 <= size.1 } else { bitmap.size == size };
    if !fits {
        return Err(broken("its picture is not as large as it says"));
    }
    (parts.width, parts.height) = size;
    let clear = canvas.map_or(bitmap.alpha, |(flags, _)| flags & ALPHA != 0);
    parts.channels = if clear { 4 } else { 3 };
    parts.decoding = decoding(parts, &bitmap);
    Ok(())
}

/// The header of a file with more than pixels: its flags and its sides. Some programs write more than the ten bytes
/// that count.
fn head<R: Read + Seek>(
    walk: &mut FileWalk<R>,
    shown: &mut Pieces,
    clean: &mut Pieces,
) -> Result<(u8, (u32, u32)), PictureError> {
    let [flags, rest @ ..] = walk.need::<10>()?;
    for (pieces, kept) in [(shown, 0), (clean, 0x20)] {
        let own = flags & (!BESIDE | kept);
        pieces.bytes(&[b"VP8X".as_slice(), &10u32.to_le_bytes(), &[own], &rest].concat());
    }
    let [_, _, _, w1, w2, w3, h1, h2, h3] = rest;
    Ok((flags, (1 + u24([w1, w2, w3]), 1 + u24([h1, h2, h3]))))
}

/// Bytes that decoding takes in addition to the pixels that it returns: planes of colours and of transparency, or the
/// lossless pixels with those that they are predicted from. Frames of animations are put on a canvas.
fn decoding(parts: &Parts, bitmap: &Bitmap) -> u64 {
    let frame = u64::from(bitmap.size.0 + 16) * u64::from(bitmap.size.1 + 16);
    let aside = match (bitmap.lossless, parts.channels) {
        (true, 4) => 1,
        (true, _) => 5,
        // Two bytes a pixel for the planes; transparency is decoded as pixels of its own.
        (false, 4) => 7,
        (false, _) => 2,
    };
    let canvas = if parts.frames > 0 { parts.pixels() * 4 + frame * 4 } else { 0 };
    parts.pixels() * parts.channels + frame * aside + canvas + bitmap.codes + 2 * MOST_METADATA as u64
}

/// The chunks with the header that contains their length.
fn riff(chunks: Pieces) -> Pieces {
    let length = u32::try_from(chunks.length() + 4).unwrap_or(u32::MAX);
    let mut whole = Pieces::default();
    whole.bytes(&[b"RIFF".as_slice(), &length.to_le_bytes(), b"WEBP"].concat());
    whole.0.extend(chunks.0);
    whole
}

fn u24([a, b, c]: [u8; 3]) -> u32 {
    u32::from_le_bytes([a, b, c, 0])
}

/// The header of a frame: its place, its size, its duration; then its own chunks.
fn frame<R: Read + Seek>(walk: &mut FileWalk<R>, end: u64) -> Result<Bitmap, PictureError> {
    let [_, _, _, _, _, _, w1, w2, w3, h1, h2, h3, _, _, _, _] = walk.need()?;
    let size = (1 + u24([w1, w2, w3]), 1 + u24([h1, h2, h3]));
    let mut codes = 0;
    for _ in 0..4 {
        if walk.at + 8 > end {
            break;
        }
        let name = walk.need::<4>()?;
        let length = u64::from(u32::from_le_bytes(walk.need()?));
        let next = walk.at + length + length % 2;
        if matches!(&name, b"VP8 " | b"VP8L") {
            let bitmap = picture(walk, &name, length)?;
            return if bitmap.size == size {
                Ok(Bitmap { alpha: true, codes: codes + bitmap.codes, ..bitmap })
            } else {
                Err(broken("its frame is not as large as it says"))
            };
        }
        if &name == b"ALPH" {
            codes += transparency(walk, length, size)?;
        }
        walk.seek(next.min(walk.length))?;
    }
    Err(broken("its frame holds no picture"))
}

/// Bytes that the codes of transparent pixels take: how they are written, then lossless pixels or the plain values.
fn transparency<R: Read + Seek>(walk: &mut FileWalk<R>, length: u64, size: (u32, u32)) -> Result<u64, PictureError> {
    let [how] = walk.need()?;
    Ok(if how & 3 == 1 { lossless::codes(walk, length.saturating_sub(1), size) } else { 0 })
}

/// The sides in the pixels' own header: decoders use them.
fn picture<R: Read + Seek>(walk: &mut FileWalk<R>, name: &[u8; 4], length: u64) -> Result<Bitmap, PictureError> {
    if name == b"VP8L" {
        let [0x2f, bits @ ..] = walk.need::<5>()? else { return Err(broken("its picture has no head")) };
        let bits = u32::from_le_bytes(bits);
        let size = (1 + (bits & 0x3fff), 1 + ((bits >> 14) & 0x3fff));
        let codes = lossless::codes(walk, length.saturating_sub(5), size);
        return Ok(Bitmap { size, alpha: (bits >> 28) & 1 == 1, lossless: true, codes });
    }
    let [_, _, _, 0x9d, 0x01, 0x2a, w1, w2, h1, h2] = walk.need()? else {
        return Err(broken("its picture has no head"));
    };
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Ok(Bitmap { size: (side(w1, w2), side(h1, h2)), alpha: false, lossless: false, codes: 0 })
}
