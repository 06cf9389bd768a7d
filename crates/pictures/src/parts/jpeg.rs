//! JPEG: segments between markers, then scans. A marker inside a scan is written so that no pixel data look like one.

use super::{FileWalk, MOST_METADATA, Parts, broken};
use crate::PictureError;
use crate::exif::Exif;
use std::io::{BufRead as _, Read, Seek};

/// Segments of one file, those between its scans included; a file with a hundred scans has a few hundred.
const MOST_SEGMENTS: u32 = 5_000;

const EXIF: &[u8] = b"Exif\0\0";
const PROFILE: &[u8] = b"ICC_PROFILE\0";
const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
/// Photoshop's resource that holds what a camera wrote.
const INNER_EXIF: &[u8] = b"8BIM\x04\x22";

const RST: std::ops::RangeInclusive<u8> = 0xd0..=0xd7;
const SOI: u8 = 0xd8;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;

/// The content of the frame's header.
struct Frame {
    progressive: bool,
    components: u32,
    /// Bytes that its coefficients take.
    coefficients: u64,
}

pub(super) fn read<R: Read + Seek>(walk: &mut FileWalk<R>) -> Result<Parts, PictureError> {
    if walk.next()? != Some([0xff, SOI]) {
        return Err(broken("it does not begin like a JPEG"));
    }
    let mut parts = Parts::default();
    parts.shown.file(0..2);
    let mut profile = Profile::default();
    let (mut frame, mut several, mut segments, mut ended) = (None, false, 0, false);
    while let Some(marker) = marker(walk)? {
        let start = walk.at - 2;
        if marker == EOI {
            parts.shown.file(start..walk.at);
            parts.clean.file(start..walk.at);
            ended = true;
            break;
        }
        if marker == 0 || marker == 1 || RST.contains(&marker) || marker == SOI {
            continue;
        }
        segments += 1;
        if segments > MOST_SEGMENTS {
            return Err(broken("it has too many parts"));
        }
        let Some(length) = walk.next()? else { break };
        let length = u64::from(u16::from_be_bytes(length));
        let end = (start + 2 + length.max(2)).min(walk.length);
        match marker {
            0xc0..=0xc2 if frame.is_some() => return Err(broken("it has several frames")),
            0xc0..=0xc2 => frame = Some(head(walk, &mut parts, marker == 0xc2)?),
            0xe1 | 0xe2 | 0xed => metadata(walk, marker, length, &mut parts, &mut profile)?,
            SOS => {
                let count = walk.need::<1>()?[0];
                several |= frame.as_ref().is_some_and(|frame| u32::from(count) < frame.components);
                parts.scans += 1;
            }
            _ => {}
        }
        walk.seek(end)?;
        let end = if marker == SOS { scan(walk)? } else { end };
        keep(&mut parts, marker, start..end);
    }
    let frame = frame.ok_or_else(|| broken("it has no frame"))?;
    // A decoder would make what is missing grey.
    if !ended {
        return Err(broken("it breaks off"));
    }
    parts.tells_place |= walk.tail_has_location()?;
    keep_orientation(&mut parts);
    parts.icc = profile.whole();
    parts.channels = if frame.components == 1 { 1 } else { 3 };
    let buffered = if frame.progressive || several { frame.coefficients } else { 0 };
    // The decoder reads the file whole; beside the pixels it holds a few rows.
    let rows = u64::from(parts.width) * 512;
    parts.decoding = parts.shown.length() + parts.pixels() * parts.channels + buffered + rows;
    Ok(parts)
}

/// Which segments a decoder sees, and which stay in a file without metadata.
fn keep(parts: &mut Parts, marker: u8, range: std::ops::Range<u64>) {
    let metadata = matches!(marker, 0xe1 | 0xed | 0xfe);
    // Of all segments that programs write, only two tell a decoder what the colours are.
    let foreign = (0xe0..=0xef).contains(&marker) && !matches!(marker, 0xe0 | 0xee);
    if !metadata && !foreign {
        parts.shown.file(range.clone());
    }
    if !metadata {
        parts.clean.file(range);
    }
}

/// The beginning of a file without metadata: how the picture has to be turned, where it is not upright.
fn keep_orientation(parts: &mut Parts) {
    let told = parts.exif.as_deref().and_then(|tiff| Exif::read(tiff).orientation()).filter(|turn| *turn != 1);
    let rest = std::mem::take(&mut parts.clean);
    parts.clean.file(0..2);
    if let Some(turn) = told {
        // A directory with one entry: a number of two bytes.
        let tiff = [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[turn, 0, 0, 0, 0, 0, 0, 0]].concat();
        let length = u16::try_from(2 + EXIF.len() + tiff.len()).unwrap_or(2);
        parts.clean.bytes(&[&[0xff, 0xe1], length.to_be_bytes().as_slice(), EXIF, &tiff].concat());
        parts.keeps_orientation = true;
    }
    parts.clean.0.extend(rest.0);
}

/// The next marker's number; bytes that are none are passed over.
fn marker<R: Read + Seek>(walk: &mut FileWalk<R>) -> Result<Option<u8>, PictureError> {
    let mut last = 0;
    while let Some([byte]) = walk.next()? {
        if last == 0xff && byte != 0xff {
            return Ok(Some(byte));
        }
        last = byte;
    }
    Ok(None)
}

/// Skips the data of a scan; where the next marker begins.
fn scan<R: Read + Seek>(walk: &mut FileWalk<R>) -> Result<u64, PictureError> {
    let mut last = 0;
    loop {
        let buffer = walk.reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(walk.at);
        }
        let size = buffer.len() as u64;
        let mut found = None;
        if last == 0xff && !inside(buffer[0]) {
            found = Some(0);
        }
        let pairs = memchr::memchr_iter(0xff, buffer).filter_map(|i| Some((i, *buffer.get(i + 1)?)));
        let found = found.or_else(|| pairs.into_iter().find(|(_, next)| !inside(*next)).map(|(i, _)| i as u64 + 1));
        if let Some(found) = found {
            // Back to the 0xff before it.
            let to = walk.at + found - 1;
            walk.seek(to)?;
            return Ok(to);
        }
        last = buffer[buffer.len() - 1];
        walk.reader.consume(buffer_size(size));
        walk.at += size;
    }
}

fn buffer_size(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// Whether a byte after 0xff continues a scan: a stuffed byte, a restart, another fill byte.
fn inside(byte: u8) -> bool {
    byte == 0 || byte == 0xff || RST.contains(&byte)
}

/// Precision, height, width; for each component its number, its sampling and its table.
fn head<R: Read + Seek>(walk: &mut FileWalk<R>, parts: &mut Parts, progressive: bool) -> Result<Frame, PictureError> {
    let [_, h1, h2, w1, w2, components] = walk.need()?;
    parts.height = u32::from(u16::from_be_bytes([h1, h2]));
    parts.width = u32::from(u16::from_be_bytes([w1, w2]));
    if !(1..=4).contains(&components) {
        return Err(broken("it has no colours"));
    }
    let (mut across, mut down, mut blocks) = (1u64, 1u64, 0u64);
    for _ in 0..components {
        let [_, sampling, _] = walk.need()?;
        let (h, v) = (u64::from(sampling >> 4).clamp(1, 4), u64::from(sampling & 15).clamp(1, 4));
        (across, down, blocks) = (across.max(h), down.max(v), blocks + h * v);
    }
    // Each unit of 8 by 8 pixels, times the finest sampling, has `blocks` of 64 coefficients with two bytes each.
    let units = u64::from(parts.width).div_ceil(8 * across) * u64::from(parts.height).div_ceil(8 * down);
    Ok(Frame { progressive, components: u32::from(components), coefficients: units * blocks * 128 })
}

fn metadata<R: Read + Seek>(
    walk: &mut FileWalk<R>,
    marker: u8,
    length: u64,
    parts: &mut Parts,
    profile: &mut Profile,
) -> Result<(), PictureError> {
    let bytes = walk.take(length.saturating_sub(2))?.unwrap_or_default();
    match (marker, bytes.strip_prefix(EXIF), bytes.strip_prefix(PROFILE)) {
        (0xe1, Some(tiff), _) => parts.take_exif(Some(tiff.to_vec())),
        (0xe2, _, Some(chunk)) => profile.take(chunk),
        (0xe2, ..) => {}
        _ => {
            parts.take_text(Some(&bytes));
            if let (0xe1, Some(xmp)) = (marker, bytes.strip_prefix(XMP)) {
                parts.take_xmp(xmp);
            }
            parts.tells_place |= memchr::memmem::find(&bytes, INNER_EXIF).is_some();
        }
    }
    Ok(())
}

/// A colour profile in pieces, each with its number and how many there are.
#[derive(Default)]
struct Profile {
    pieces: Vec<(u8, Vec<u8>)>,
    size: usize,
}

impl Profile {
    fn take(&mut self, chunk: &[u8]) {
        let [number, _, data @ ..] = chunk else { return };
        self.size += data.len();
        if self.size <= MOST_METADATA {
            self.pieces.push((*number, data.to_vec()));
        }
    }

    fn whole(mut self) -> Option<Vec<u8>> {
        if self.pieces.is_empty() || self.size > MOST_METADATA {
            return None;
        }
        self.pieces.sort_by_key(|(number, _)| *number);
        Some(self.pieces.into_iter().flat_map(|(_, data)| data).collect())
    }
}
