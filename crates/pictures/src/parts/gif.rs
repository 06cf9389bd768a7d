//! GIF: a screen, then blocks; each block is a chain of sub-blocks that ends with an empty one.

use super::{FileWalk, Parts, broken};
use crate::PictureError;
use std::io::{Read, Seek};

pub(super) fn read<R: Read + Seek>(walk: &mut FileWalk<R>) -> Result<Parts, PictureError> {
    let [g, i, f, b'8', _, b'a', w1, w2, h1, h2, flags, _, _] = walk.need()? else {
        return Err(broken("it does not begin like a GIF"));
    };
    if [g, i, f] != *b"GIF" {
        return Err(broken("it does not begin like a GIF"));
    }
    let mut parts = Parts { channels: 4, ..Parts::default() };
    parts.width = u32::from(u16::from_le_bytes([w1, w2]));
    parts.height = u32::from(u16::from_le_bytes([h1, h2]));
    walk.skip(table(flags))?;
    parts.shown.file(0..walk.at);
    parts.clean.file(0..walk.at);
    let mut first = 0;
    while let Some([kind]) = walk.next()? {
        let start = walk.at - 1;
        walk.count()?;
        match kind {
            0x2c => {
                let size = frame(walk)?;
                parts.frames += 1;
                if parts.frames == 1 {
                    first = size;
                    parts.shown.file(start..walk.at);
                }
                parts.clean.file(start..walk.at);
            }
            0x21 => extension(walk, start, &mut parts)?,
            // The end.
            0x3b => {
                parts.clean.file(start..walk.at);
                break;
            }
            _ if parts.frames > 0 => break,
            _ => return Err(broken("it holds no blocks")),
        }
    }
    if parts.frames == 0 {
        return Err(broken("it has no frame"));
    }
    parts.shown.bytes(&[0x3b]);
    parts.tells_place |= walk.tail_has_location()?;
    // The first frame is decoded beside the screen that it is drawn on, unless it fits.
    parts.decoding = (parts.pixels() + first) * 4 + (1 << 20);
    Ok(parts)
}

/// Bytes of a table of colours.
fn table(flags: u8) -> u64 {
    if flags & 0x80 != 0 { 3 << ((flags & 7) + 1) } else { 0 }
}

/// Skips a frame; its pixels.
fn frame<R: Read + Seek>(walk: &mut FileWalk<R>) -> Result<u64, PictureError> {
    let [_, _, _, _, w1, w2, h1, h2, flags] = walk.need()?;
    walk.skip(table(flags) + 1)?;
    chain(walk, None)?;
    Ok(u64::from(u16::from_le_bytes([w1, w2])) * u64::from(u16::from_le_bytes([h1, h2])))
}

/// Extensions: delays and loops stay, texts are metadata.
fn extension<R: Read + Seek>(walk: &mut FileWalk<R>, start: u64, parts: &mut Parts) -> Result<(), PictureError> {
    let [label] = walk.need()?;
    let mut text = Vec::new();
    chain(walk, Some(&mut text))?;
    let drawn = label == 0xf9;
    // Behind the first size.
    let program = text.get(1..).unwrap_or_default();
    let kept = drawn || (label == 0xff && (program.starts_with(b"NETSCAPE") || program.starts_with(b"ICCRGBG1")));
    if drawn && parts.frames == 0 {
        parts.shown.file(start..walk.at);
    }
    if kept {
        parts.clean.file(start..walk.at);
    } else {
        parts.take_text(Some(&text));
        if let Some(xmp) = text.get(1..).and_then(|program| program.strip_prefix(b"XMP DataXMP")) {
            parts.take_xmp(xmp);
        }
    }
    Ok(())
}

/// Skips sub-blocks. `text` gets them as they are, sizes and all (the sizes of a description in XML are its
/// own characters), as far as metadata are read.
fn chain<R: Read + Seek>(walk: &mut FileWalk<R>, mut text: Option<&mut Vec<u8>>) -> Result<(), PictureError> {
    while let Some([size]) = walk.next()? {
        if size == 0 {
            return Ok(());
        }
        match &mut text {
            Some(text) if text.len() < super::MOST_METADATA => {
                text.push(size);
                text.extend(walk.take(u64::from(size))?.unwrap_or_default());
            }
            _ => walk.skip(u64::from(size))?,
        }
    }
    Err(broken("it breaks off"))
}
