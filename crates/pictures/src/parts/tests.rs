//! Files taken apart: sides, frames, scans, profiles, and what is left of them without metadata.

use super::*;
use proptest::prelude::*;
use std::io::{Cursor, Write as _};
use std::time::Duration;

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn read(bytes: &[u8], format: ImageFormat) -> Result<Parts, PictureError> {
    Parts::read(FileWalk::new(Cursor::new(bytes.to_vec()), bytes.len() as u64, later()), format)
}

fn joined(bytes: &[u8], pieces: &Pieces) -> Vec<u8> {
    let mut out = Vec::new();
    PieceReader::new(Cursor::new(bytes.to_vec()), pieces, later()).read_to_end(&mut out).expect("read");
    out
}

fn chunk(name: &[u8], contents: &[u8]) -> Vec<u8> {
    let mut sum = flate2::Crc::new();
    sum.update(name);
    sum.update(contents);
    [&(contents.len() as u32).to_be_bytes(), name, contents, &sum.sum().to_be_bytes()].concat()
}

fn packed(contents: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(contents).expect("packed");
    encoder.finish().expect("packed")
}

fn png(parts: &[Vec<u8>]) -> Vec<u8> {
    let head = chunk(b"IHDR", &[0, 0, 0, 4, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
    let pixels = chunk(b"IDAT", &packed(&[0; 2 * 13]));
    [b"\x89PNG\r\n\x1a\n".to_vec(), head, parts.concat(), pixels, chunk(b"IEND", b"")].concat()
}

fn part(name: &[u8], contents: &[u8]) -> Vec<u8> {
    let filler = vec![0; contents.len() % 2];
    [name, &(contents.len() as u32).to_le_bytes(), contents, &filler].concat()
}

fn webp(parts: &[Vec<u8>]) -> Vec<u8> {
    [b"RIFF\0\0\0\0WEBP".to_vec(), parts.concat()].concat()
}

/// The header of lossless pixels with these sides.
fn lossless(width: u32, height: u32) -> Vec<u8> {
    part(b"VP8L", &[&[0x2f][..], &((width - 1) | (height - 1) << 14).to_le_bytes(), b"pixels"].concat())
}

fn extended(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let side = |side: u32| (side - 1).to_le_bytes()[..3].to_vec();
    part(b"VP8X", &[vec![flags, 0, 0, 0], side(width), side(height)].concat())
}

fn segment(marker: u8, contents: &[u8]) -> Vec<u8> {
    [&[0xff, marker], &((contents.len() + 2) as u16).to_be_bytes()[..], contents].concat()
}

/// A JPEG of 16 by 8 pixels with these segments before its scans.
fn jpeg(segments: &[Vec<u8>], progressive: bool, scans: usize) -> Vec<u8> {
    let marker = if progressive { 0xc2 } else { 0xc0 };
    let head = segment(marker, &[8, 0, 8, 0, 16, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
    let scan = [segment(0xda, &[3, 1, 0, 2, 0, 3, 0, 0, 63, 0]), b"\x12\xff\x00\xff\xd0\x34".to_vec()].concat();
    [b"\xff\xd8".to_vec(), segments.concat(), head, scan.repeat(scans), b"\xff\xd9".to_vec()].concat()
}

#[test]
fn frames() {
    let counted = |bytes: &[u8], format| read(bytes, format).ok().map(|parts| parts.frames);
    let moving = chunk(b"acTL", &[0, 0, 0, 3, 0, 0, 0, 0]);
    assert_eq!(counted(&png(&[]), ImageFormat::Png), Some(1));
    assert_eq!(counted(&png(&[moving]), ImageFormat::Png), Some(3));
    let frame = part(b"ANMF", &[&[0; 6][..], &[3, 0, 0, 1, 0, 0, 0, 0, 0, 0], &lossless(4, 2)].concat());
    let moving = webp(&[extended(2, 4, 2), part(b"ANIM", &[0; 6]), frame.clone(), frame]);
    assert_eq!(counted(&moving, ImageFormat::WebP), Some(2));
    assert_eq!(counted(&webp(&[lossless(4, 2)]), ImageFormat::WebP), Some(1));
    let gif = b"GIF89a\x02\0\x01\0\x80\0\0\0\0\0\xff\xff\xff";
    let frame = b"!\xf9\x04\0\0\0\0\0,\0\0\0\0\x02\0\x01\0\0\x02\x02\x44\x01\0";
    let moving = [gif.as_slice(), frame, frame, frame, b";"].concat();
    assert_eq!(counted(&moving, ImageFormat::Gif), Some(3));
    for (bytes, format) in [
        (&b""[..], ImageFormat::WebP),
        (b"GIF89a", ImageFormat::Gif),
        (b"anything", ImageFormat::Jpeg),
        (b"\x89PNG\r\n\x1a\n", ImageFormat::Png),
    ] {
        assert_eq!(counted(bytes, format), None);
    }
}

#[test]
fn scans_and_what_they_take() {
    let (once, often) = (read(&jpeg(&[], false, 1), ImageFormat::Jpeg), read(&jpeg(&[], true, 7), ImageFormat::Jpeg));
    let (once, often) = (once.expect("a picture"), often.expect("a picture"));
    assert_eq!((once.width, once.height, once.scans, often.scans), (16, 8, 1, 7));
    // One unit of 16 by 16 pixels with six blocks.
    assert!(often.decoding >= once.decoding + 6 * 128);
    assert!(read(&jpeg(&[], true, 6000), ImageFormat::Jpeg).is_err());
    let twice = [segment(0xc0, &[8, 0, 8, 0, 16, 1, 1, 0x11, 0])];
    assert!(read(&jpeg(&twice, false, 1), ImageFormat::Jpeg).is_err(), "a second frame");
}

#[test]
fn profiles_are_bounded() {
    for (size, kept) in [(MOST_METADATA - 1, true), (MOST_METADATA, true), (MOST_METADATA + 1, false)] {
        let named = |contents: Vec<u8>| [b"icc\0\0".to_vec(), contents].concat();
        let parts = read(&png(&[chunk(b"iCCP", &named(packed(&vec![7; size])))]), ImageFormat::Png).expect("a picture");
        assert_eq!(parts.icc.map(|icc| icc.len()), kept.then_some(size), "PNG, {size}");
        let parts =
            read(&webp(&[extended(0x20, 4, 2), part(b"ICCP", &vec![7; size]), lossless(4, 2)]), ImageFormat::WebP);
        assert_eq!(parts.expect("a picture").icc.map(|icc| icc.len()), kept.then_some(size), "WebP, {size}");
        let pieces = vec![7; size];
        let segments = pieces.chunks(60_000).enumerate();
        let segments: Vec<Vec<u8>> = segments
            .map(|(i, piece)| segment(0xe2, &[b"ICC_PROFILE\0", &[i as u8 + 1, 1][..], piece].concat()))
            .collect();
        let parts = read(&jpeg(&segments, false, 1), ImageFormat::Jpeg).expect("a picture");
        assert_eq!(parts.icc.map(|icc| icc.len()), kept.then_some(size), "JPEG, {size}");
    }
}

#[test]
fn places_are_noticed_and_removed() {
    let located = b"II*\0\x08\0\0\0\x01\0\x25\x88\x04\0\x01\0\0\0\x08\0\0\0\0\0\0\0".to_vec();
    let quiet = b"II*\0\x08\0\0\0\0\0\0\0\0\0".to_vec();
    let tagged = |tiff: &[u8]| segment(0xe1, &[b"Exif\0\0", tiff].concat());
    let check = |bytes: &[u8], format, expected: bool| {
        let parts = read(bytes, format).expect("a picture");
        assert_eq!(parts.tells_place, expected, "{format:?}: {}", String::from_utf8_lossy(bytes));
        if expected {
            let clean = joined(bytes, &parts.clean);
            let after = read(&clean, format).expect("a picture still");
            assert!(!after.tells_place && after.exif.is_none(), "{format:?}");
            assert_eq!((after.width, after.height, after.frames), (parts.width, parts.height, parts.frames));
            assert_eq!(joined(&clean, &after.shown), joined(bytes, &parts.shown), "{format:?}");
        }
    };
    let (jpg, pict, web) = (ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP);
    check(&jpeg(&[tagged(&located)], false, 1), jpg, true);
    check(&jpeg(&[tagged(&quiet)], false, 1), jpg, false);
    check(&jpeg(&[tagged(&quiet), tagged(&located)], true, 2), jpg, true);
    check(&jpeg(&[segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0<x exif:GPSLatitude='1'/>")], false, 1), jpg, true);
    check(&jpeg(&[segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0<x/>")], false, 1), jpg, false);
    check(&[jpeg(&[], false, 1), jpeg(&[tagged(&located)], false, 1)].concat(), jpg, true);
    check(&[jpeg(&[], false, 1), b"\0\0\0\x18\xa9xyz+59.9".to_vec()].concat(), jpg, true);
    check(&png(&[chunk(b"eXIf", &located)]), pict, true);
    check(&png(&[chunk(b"eXIf", b"no TIFF at all")]), pict, true);
    check(&png(&[chunk(b"tEXt", b"Comment\0a tree")]), pict, false);
    check(&png(&[chunk(b"tEXt", b"Raw profile type exif\0\nexif\n 8\n4949")]), pict, true);
    let text = |contents: &[u8]| [b"XML:com.adobe.xmp\0\x01\0\0\0".to_vec(), packed(contents)].concat();
    check(&png(&[chunk(b"iTXt", &text(b"<x exif:GPSLatitude='1'/>"))]), pict, true);
    check(&png(&[chunk(b"iTXt", &text(b"<x/>"))]), pict, false);
    check(&png(&[chunk(b"iTXt", &text(&vec![b' '; MOST_METADATA + 1]))]), pict, true);
    check(&webp(&[extended(8, 4, 2), lossless(4, 2), part(b"EXIF", &located)]), web, true);
    check(&webp(&[extended(4, 4, 2), lossless(4, 2), part(b"XMP ", b"<x GPS/>")]), web, true);
    check(&webp(&[extended(4, 4, 2), lossless(4, 2), part(b"XMP ", b"<x/>")]), web, false);
    let gif = |note: &[u8]| {
        let head = b"GIF89a\x02\0\x01\0\x80\0\0\0\0\0\xff\xff\xff".to_vec();
        [head, note.to_vec(), b",\0\0\0\0\x02\0\x01\0\0\x02\x02\x44\x01\0;".to_vec()].concat()
    };
    check(&gif(b"!\xff\x0bXMP DataXMP\x08<x GPS/>\0"), ImageFormat::Gif, true);
    check(&gif(b"!\xfe\x04tree\0"), ImageFormat::Gif, false);
}

#[test]
fn sides_that_disagree_are_refused() {
    for parts in [
        vec![extended(0, 1, 1), lossless(16000, 16000)],
        vec![
            extended(2, 4, 2),
            part(b"ANIM", &[0; 6]),
            part(b"ANMF", &[&[0; 6][..], &[3, 0, 0, 1, 0, 0, 0, 0, 0, 0], &lossless(16000, 16000)].concat()),
        ],
    ] {
        assert!(read(&webp(&parts), ImageFormat::WebP).is_err());
    }
}

#[test]
fn what_takes_too_long_is_given_up() {
    let mut pieces = Pieces::default();
    pieces.file(0..5);
    let past = Instant::now() - Duration::from_millis(1);
    let failed = PieceReader::new(Cursor::new(b"12345"), &pieces, past).read(&mut [0; 5]).expect_err("too late");
    assert_eq!(failed.kind(), ErrorKind::TimedOut);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_bytes_are_walked_over(
        which in 0usize..4,
        changes in prop::collection::vec((0usize..300, any::<u8>()), 0..8),
        cut in 0usize..100,
    ) {
        let (mut bytes, format) = match which {
            0 => (png(&[chunk(b"tEXt", b"a\0b"), chunk(b"iCCP", b"icc\0\0\x78")]), ImageFormat::Png),
            1 => (jpeg(&[segment(0xe1, b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0")], true, 2), ImageFormat::Jpeg),
            2 => (webp(&[extended(0x2c, 4, 2), lossless(4, 2), part(b"EXIF", b"II*\0")]), ImageFormat::WebP),
            _ => (b"GIF89a\x02\0\x01\0\0\0\0,\0\0\0\0\x02\0\x01\0\0\x02\x02\x44\x01\0;".to_vec(), ImageFormat::Gif),
        };
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.min(bytes.len()));
        if let Ok(parts) = read(&bytes, format) {
            // The rewritten file is never longer than the file, except for a header and an end that are rewritten.
            prop_assert!(parts.shown.length() <= bytes.len() as u64 + 32 && parts.clean.length() <= bytes.len() as u64 + 32);
            joined(&bytes, &parts.shown);
            joined(&bytes, &parts.clean);
        }
    }
}
