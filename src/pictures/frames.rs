//! Frames of animations, counted by walking over their parts: nothing is decoded.

use super::PictureError;
use image::ImageFormat;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The number of frames of a file, or something above `most` as soon as it is known to be more. A file that breaks off
/// behind its first frame has those that are there.
///
/// # Errors
/// There is not even one.
pub fn count(file: &Path, format: ImageFormat, most: u32) -> Result<u32, PictureError> {
    let mut reader = BufReader::new(File::open(file)?);
    match format {
        ImageFormat::Gif => gif(reader, most),
        // `RIFF`, the length, `WEBP`; then a part for each frame.
        ImageFormat::WebP => walk(&mut reader, 12, riff, |part| (&part.name == b"ANMF").then_some(1), most),
        // The signature; then what says how many frames there are, before the pixels.
        ImageFormat::Png => {
            let told = |part: &Part| match &part.name {
                b"acTL" => Some(u32::from_be_bytes(part.start)),
                b"IDAT" => Some(0),
                _ => None,
            };
            let mut first = None;
            walk(
                &mut reader,
                8,
                png,
                |part| {
                    first = first.or_else(|| told(part));
                    None
                },
                most,
            )?;
            Ok(first.unwrap_or(0).max(1))
        }
        _ => Ok(1),
    }
}

fn gif(reader: BufReader<File>, most: u32) -> Result<u32, PictureError> {
    let mut options = gif::DecodeOptions::new();
    options.skip_frame_decoding(true);
    let broken = |error: gif::DecodingError| PictureError::Broken(error.to_string());
    let mut decoder = options.read_info(reader).map_err(broken)?;
    let mut frames = 0;
    loop {
        match decoder.next_frame_info() {
            Ok(Some(_)) => frames += 1,
            Ok(None) => return Ok(frames),
            Err(_) if frames > 0 => return Ok(frames),
            Err(error) => return Err(broken(error)),
        }
        if frames > most {
            return Ok(frames);
        }
    }
}

/// A part of a file: its name, and how it begins.
struct Part {
    name: [u8; 4],
    /// The first bytes of its contents; what is not there is zero.
    start: [u8; 4],
}

/// Length, name, contents, checksum.
fn png(head: [u8; 8]) -> ([u8; 4], u64, u64) {
    let [a, b, c, d, name @ ..] = head;
    let length = u64::from(u32::from_be_bytes([a, b, c, d]));
    (name, length, length + 4)
}

/// Name, length, contents, a byte that makes the length even.
fn riff(head: [u8; 8]) -> ([u8; 4], u64, u64) {
    let [a, b, c, d, length @ ..] = head;
    let length = u64::from(u32::from_le_bytes(length));
    ([a, b, c, d], length, length + length % 2)
}

/// Adds up what is said of the parts that follow `skip` bytes; at least 1. `read` gives name, length, and how far it is to
/// the next part.
fn walk(
    reader: &mut BufReader<File>,
    skip: u64,
    read: fn([u8; 8]) -> ([u8; 4], u64, u64),
    mut told: impl FnMut(&Part) -> Option<u32>,
    most: u32,
) -> Result<u32, PictureError> {
    reader.seek(SeekFrom::Start(skip))?;
    let mut frames = 0u32;
    loop {
        let mut head = [0; 8];
        match reader.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(frames.max(1)),
            other => other?,
        }
        let (name, length, mut rest) = read(head);
        let mut start = [0; 4];
        if length >= 4 {
            if reader.read_exact(&mut start).is_err() {
                return Ok(frames.max(1));
            }
            rest -= 4;
        }
        frames = frames.saturating_add(told(&Part { name, start }).unwrap_or(0));
        if frames > most {
            return Ok(frames);
        }
        reader.seek_relative(i64::try_from(rest).unwrap_or(i64::MAX))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn counted(bytes: &[u8], format: ImageFormat) -> Option<u32> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        count(file.path(), format, 5).ok()
    }

    #[test]
    fn frames() {
        let chunk =
            |name: &[u8], contents: &[u8]| [&(contents.len() as u32).to_be_bytes(), name, contents, &[0; 4]].concat();
        let part = |name: &[u8], contents: &[u8]| [name, &(contents.len() as u32).to_le_bytes(), contents].concat();
        let png = |parts: &[Vec<u8>]| [b"\x89PNG\r\n\x1a\n".to_vec(), parts.concat()].concat();
        let webp = |parts: &[Vec<u8>]| [b"RIFF\0\0\0\0WEBP".to_vec(), parts.concat()].concat();
        let (head, data) = (chunk(b"IHDR", &[0; 13]), chunk(b"IDAT", &[1; 9]));
        assert_eq!(counted(&png(&[head.clone(), data.clone()]), ImageFormat::Png), Some(1));
        let moving = chunk(b"acTL", &[0, 0, 0, 3, 0, 0, 0, 0]);
        assert_eq!(counted(&png(&[head.clone(), moving.clone(), data.clone()]), ImageFormat::Png), Some(3));
        assert_eq!(
            counted(&png(&[head, data, moving]), ImageFormat::Png),
            Some(1),
            "behind the pixels it says nothing"
        );
        let frame = part(b"ANMF", &[0; 16]);
        assert_eq!(
            counted(&webp(&[part(b"VP8X", &[0; 10]), frame.clone(), frame.clone()]), ImageFormat::WebP),
            Some(2)
        );
        assert_eq!(counted(&webp(&vec![frame; 9]), ImageFormat::WebP), Some(6));
        assert_eq!(counted(&webp(&[part(b"VP8 ", &[0; 2])]), ImageFormat::WebP), Some(1));
        assert_eq!(counted(b"", ImageFormat::WebP), Some(1));
        assert_eq!(counted(b"GIF89a", ImageFormat::Gif), None);
        assert_eq!(counted(b"anything", ImageFormat::Jpeg), Some(1));
    }
}
