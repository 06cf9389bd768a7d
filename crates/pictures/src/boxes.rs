//! Files made of boxes (AVIF, MP4, QuickTime): where they contain a location, found without decoding.
//!
//! A location is overwritten in place, so that nothing moves and every offset in the file stays valid. A film
//! that carries a whole track of locations is refused.

use super::parts::{FileWalk, has_location_text};
use super::{PictureBounds, PictureError, exif};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write as _};
use std::path::Path;

/// How deep nested boxes are searched.
const DEEPEST: u32 = 8;

/// Items of a picture that are examined.
const MOST_ITEMS: usize = 2_000;

/// Boxes that contain boxes which may hold a location.
const HOLDERS: [&[u8; 4]; 7] = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"udta", b"ilst"];

/// Kinds of samples that are places: of action cameras, of 360-degree cameras.
const TRACKS: [&[u8; 4]; 2] = [b"gpmd", b"camm"];

/// An empty description by a camera: no offset, then TIFF without entries.
const NO_EXIF: &[u8] = b"\0\0\0\0II*\0\x08\0\0\0\0\0\0\0\0\0";

/// A part of a file that is to be written over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    at: u64,
    length: u64,
    /// The bytes at its start; the rest is `fill`.
    start: &'static [u8],
    fill: u8,
}

/// The parts of a file that contain its location; none of a file that is not made of boxes.
///
/// # Errors
/// It carries a track of locations, or it cannot be read in the time that is allowed.
pub fn location_patches(file: &Path, bounds: PictureBounds<'_>) -> Result<Vec<Patch>, PictureError> {
    let file = File::open(file)?;
    let length = file.metadata()?.len();
    let share = bounds.parsing()?;
    found(FileWalk::new(file, length, share.until))
}

fn found<R: Read + Seek>(mut walk: FileWalk<R>) -> Result<Vec<Patch>, PictureError> {
    let mut search = Search { patches: Vec::new(), room: walk.length() };
    let Some([_, _, _, _, name @ ..]) = walk.next::<8>()? else { return Ok(Vec::new()) };
    if !matches!(&name, b"ftyp" | b"moov" | b"mdat" | b"wide" | b"free" | b"skip" | b"pnot" | b"styp") {
        return Ok(Vec::new());
    }
    walk.seek(0)?;
    let end = walk.length();
    search.boxes(&mut walk, end, 0)?;
    Ok(search.patches)
}

/// Writes over these parts of a file.
///
/// # Errors
/// The file cannot be written.
pub fn write_over(file: &Path, patches: &[Patch]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(file)?;
    for patch in patches {
        file.seek(SeekFrom::Start(patch.at))?;
        let start = patch.start.len().min(usize::try_from(patch.length).unwrap_or(usize::MAX));
        file.write_all(&patch.start[..start])?;
        std::io::copy(&mut std::io::repeat(patch.fill).take(patch.length - start as u64), &mut file)?;
    }
    file.flush()
}

/// A box: its name, where it begins, and its inside.
pub(super) struct MediaBox {
    pub name: [u8; 4],
    start: u64,
    pub inside: u64,
    pub end: u64,
    /// It says that it is longer than what is around it.
    pub cut: bool,
}

struct Search {
    patches: Vec<Patch>,
    /// Bytes that may still be written over: as many as the file has.
    room: u64,
}

/// Parts of a `meta` box other than items, which are examined at once.
#[derive(Default)]
struct MetaBox {
    /// Numbers of the keys that name places.
    keys: Vec<u32>,
    infos: Option<(u64, u64)>,
    locations: Option<(u64, u64)>,
    data: Option<u64>,
}

impl Search {
    fn boxes<R: Read + Seek>(&mut self, walk: &mut FileWalk<R>, end: u64, depth: u32) -> Result<(), PictureError> {
        if depth > DEEPEST {
            return Ok(());
        }
        while let Some(found) = next(walk, end)? {
            match &found.name {
                name if HOLDERS.contains(&name) => self.boxes(walk, found.end, depth + 1)?,
                b"meta" => self.meta(walk, &found, depth)?,
                b"stsd" => samples(walk, &found)?,
                b"gps " => return Err(track()),
                b"\xa9xyz" | b"loci" => self.free(&found)?,
                b"uuid" | b"XMP_" | b"----" => {
                    let text = walk.take(found.end - found.inside)?;
                    if text.is_none_or(|text| has_location_text(&text) || names_location(&text)) {
                        self.free(&found)?;
                    }
                }
                _ => {}
            }
            walk.seek(found.end)?;
        }
        Ok(())
    }

    /// Keys and their values, or items of a picture.
    fn meta<R: Read + Seek>(
        &mut self,
        walk: &mut FileWalk<R>,
        meta: &MediaBox,
        depth: u32,
    ) -> Result<(), PictureError> {
        // In QuickTime the first box follows at once, elsewhere behind a version.
        let quick = walk.next::<8>()?.is_some_and(|[_, _, _, _, name @ ..]| &name == b"hdlr");
        walk.seek(meta.inside + if quick { 0 } else { 4 })?;
        let mut held = MetaBox::default();
        while let Some(found) = next(walk, meta.end)? {
            let range = Some((found.inside, found.end));
            match &found.name {
                b"keys" => held.keys = keys(walk.take(found.end - found.inside)?.as_deref())?,
                b"ilst" => self.values(walk, &found, &held.keys, depth)?,
                b"iinf" => held.infos = range,
                b"iloc" => held.locations = range,
                b"idat" => held.data = Some(found.inside),
                _ => {}
            }
            walk.seek(found.end)?;
        }
        if let (Some(infos), Some(locations)) = (held.infos, held.locations) {
            self.items(walk, infos, locations, held.data)?;
        }
        Ok(())
    }

    /// Values by the number of their key, or by their own name.
    fn values<R: Read + Seek>(
        &mut self,
        walk: &mut FileWalk<R>,
        list: &MediaBox,
        keys: &[u32],
        depth: u32,
    ) -> Result<(), PictureError> {
        while let Some(found) = next(walk, list.end)? {
            if keys.contains(&u32::from_be_bytes(found.name)) {
                self.free(&found)?;
            }
            walk.seek(found.end)?;
        }
        walk.seek(list.inside)?;
        self.boxes(walk, list.end, depth + 1)
    }

    /// The descriptions among the items of a picture.
    fn items<R: Read + Seek>(
        &mut self,
        walk: &mut FileWalk<R>,
        infos: (u64, u64),
        locations: (u64, u64),
        data: Option<u64>,
    ) -> Result<(), PictureError> {
        walk.seek(infos.0)?;
        let infos = walk.take(infos.1 - infos.0)?.ok_or_else(unreadable)?;
        let described = described(&infos).ok_or_else(unreadable)?;
        if described.is_empty() {
            return Ok(());
        }
        walk.seek(locations.0)?;
        let locations = walk.take(locations.1 - locations.0)?.ok_or_else(unreadable)?;
        let located = located(&locations).ok_or_else(unreadable)?;
        for place in located {
            let Some(exif) = described.get(&place.item).copied() else { continue };
            let base = match place.method {
                0 => 0,
                1 => data.ok_or_else(unreadable)?,
                _ => return Err(unreadable()),
            };
            let at = base.checked_add(place.at).filter(|at| *at <= walk.length()).ok_or_else(unreadable)?;
            walk.seek(at)?;
            let length = if place.length == 0 { walk.left() } else { place.length.min(walk.left()) };
            let told = walk.take(length)?;
            let tells = match (&told, exif) {
                (Some(bytes), true) => camera(bytes).is_none_or(exif::has_location),
                (Some(bytes), false) => has_location_text(bytes),
                (None, _) => true,
            };
            if tells {
                let (start, fill) = if exif { (NO_EXIF, 0) } else { (&b""[..], b' ') };
                self.patch(Patch { at, length, start, fill })?;
            }
        }
        Ok(())
    }

    /// Adds a part. Parts that lie over each other could be many times the file.
    fn patch(&mut self, patch: Patch) -> Result<(), PictureError> {
        self.room = self.room.checked_sub(patch.length).ok_or_else(unreadable)?;
        self.patches.push(patch);
        Ok(())
    }

    /// A box that is ignored: its name marks free space, and so it is.
    fn free(&mut self, found: &MediaBox) -> Result<(), PictureError> {
        self.patch(Patch { at: found.start + 4, length: 4, start: b"free", fill: 0 })?;
        self.patch(Patch { at: found.inside, length: found.end - found.inside, start: b"", fill: 0 })
    }
}

fn track() -> PictureError {
    PictureError::Refused("The film carries a track of places; take that out before it is uploaded.".into())
}

fn unreadable() -> PictureError {
    PictureError::Refused("The metadata of the file cannot be read, so they may contain its location.".into())
}

fn names_location(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"location").is_some()
}

/// The head of the next box before `end`; `None` at the end, and where there is no valid one.
pub(super) fn next<R: Read + Seek>(walk: &mut FileWalk<R>, end: u64) -> Result<Option<MediaBox>, PictureError> {
    let start = walk.at();
    if start.saturating_add(8) > end {
        return Ok(None);
    }
    walk.count()?;
    let Some([a, b, c, d, name @ ..]) = walk.next::<8>()? else { return Ok(None) };
    let length = match u32::from_be_bytes([a, b, c, d]) {
        0 => end - start,
        1 => match walk.next()? {
            Some(length) => u64::from_be_bytes(length),
            None => return Ok(None),
        },
        length => u64::from(length),
    };
    let inside = walk.at();
    let sound = start.checked_add(length).filter(|own| (*own).min(end) >= inside);
    Ok(sound.map(|own| MediaBox { name, start, inside, end: own.min(end), cut: own > end }))
}

/// Refuses samples that are places.
fn samples<R: Read + Seek>(walk: &mut FileWalk<R>, table: &MediaBox) -> Result<(), PictureError> {
    let inside = walk.take(table.end - table.inside)?;
    let Some(inside) = inside else { return Ok(()) };
    let places = inside.get(12..16).is_some_and(|kind| TRACKS.iter().any(|track| *track == kind));
    // Apple's samples name what they are by keys.
    let keyed = inside.get(12..16) == Some(b"mebx") && names_location(&inside);
    if places || keyed { Err(track()) } else { Ok(()) }
}

/// Numbers of the keys that name places: version, count; then for each its length, its space and its name.
fn keys(inside: Option<&[u8]>) -> Result<Vec<u32>, PictureError> {
    let mut rest = inside.ok_or_else(unreadable)?.get(8..).unwrap_or_default();
    let mut found = Vec::new();
    let mut number = 0;
    while let Some(length) = rest.first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX).max(8);
        let Some(key) = rest.get(8..length) else { break };
        number += 1;
        if names_location(key) || has_location_text(key) {
            found.push(number);
        }
        rest = &rest[length..];
    }
    Ok(found)
}

/// A description by a camera: how far it is to the TIFF in it, then that.
fn camera(bytes: &[u8]) -> Option<&[u8]> {
    let (offset, rest) = bytes.split_first_chunk()?;
    rest.get(usize::try_from(u32::from_be_bytes(*offset)).ok()?..)
}

// ------------------------------------------------------------------------------------------------ items

/// Numbers read one after the other.
struct NumberReader<'a>(&'a [u8]);

impl NumberReader<'_> {
    /// A number of so many bytes, eight at the most.
    fn next(&mut self, bytes: usize) -> Option<u64> {
        let (own, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        own.iter().try_fold(0u64, |sum, byte| Some(sum.checked_mul(256)? | u64::from(*byte)))
    }
}

/// Numbers of the items that describe the picture, and whether a camera wrote them; `None` when that cannot be read, or
/// an item is described twice.
fn described(infos: &[u8]) -> Option<HashMap<u64, bool>> {
    let mut head = NumberReader(infos);
    let version = head.next(1)?;
    head.next(3)?;
    let count = head.next(if version == 0 { 2 } else { 4 })?;
    let mut rest = head.0;
    let mut found = HashMap::new();
    for _ in 0..count.min(MOST_ITEMS as u64 + 1) {
        let length = usize::try_from(u32::from_be_bytes(*rest.first_chunk()?)).ok()?;
        let own = rest.get(8..length)?;
        rest = &rest[length..];
        let mut own = NumberReader(own);
        let version = own.next(1)?;
        own.next(3)?;
        if version < 2 {
            continue;
        }
        let item = own.next(if version == 2 { 2 } else { 4 })?;
        own.next(2)?;
        let kind = own.0.get(..4)?;
        if (kind == b"Exif" || kind == b"mime") && found.insert(item, kind == b"Exif").is_some() {
            return None;
        }
    }
    (count <= MOST_ITEMS as u64).then_some(found)
}

/// Where a part of an item is.
struct ItemLocation {
    item: u64,
    /// 0: in the file, 1: in the box of data.
    method: u64,
    at: u64,
    length: u64,
}

/// Where items are; `None` when that cannot be read.
fn located(locations: &[u8]) -> Option<Vec<ItemLocation>> {
    let mut numbers = NumberReader(locations);
    let version = numbers.next(1)?;
    numbers.next(3)?;
    let sizes = numbers.next(2)?;
    let [offsets, lengths, bases, indices] = [12, 8, 4, 0].map(|shift| ((sizes >> shift) & 15) as usize);
    if version > 2 || [offsets, lengths, bases, indices].iter().any(|size| *size > 8) {
        return None;
    }
    let count = numbers.next(if version < 2 { 2 } else { 4 })?;
    let mut found = Vec::new();
    for _ in 0..count {
        let item = numbers.next(if version < 2 { 2 } else { 4 })?;
        let method = if version > 0 { numbers.next(2)? & 15 } else { 0 };
        numbers.next(2)?;
        let base = numbers.next(bases)?;
        for _ in 0..numbers.next(2)? {
            if version > 0 {
                numbers.next(indices)?;
            }
            let at = base.checked_add(numbers.next(offsets)?)?;
            let length = numbers.next(lengths)?;
            found.push(ItemLocation { item, method, at, length });
            if found.len() > MOST_ITEMS {
                return None;
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;
    use std::time::{Duration, Instant};

    fn made(name: &[u8; 4], inside: &[u8]) -> Vec<u8> {
        [&((inside.len() + 8) as u32).to_be_bytes(), name.as_slice(), inside].concat()
    }

    fn searched(bytes: &[u8]) -> Result<Vec<Patch>, PictureError> {
        let until = Instant::now() + Duration::from_secs(60);
        found(FileWalk::new(Cursor::new(bytes.to_vec()), bytes.len() as u64, until))
    }

    fn cleaned(bytes: &[u8]) -> Option<Vec<u8>> {
        let patches = searched(bytes).ok()?;
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        write_over(file.path(), &patches).expect("written over");
        let after = std::fs::read(file.path()).expect("read");
        assert_eq!(after.len(), bytes.len(), "nothing moves");
        Some(after)
    }

    fn film(inside: &[u8]) -> Vec<u8> {
        [made(b"ftyp", b"isom\0\0\0\0"), made(b"moov", inside), made(b"mdat", b"+59.9+010.7/ in the picture")].concat()
    }

    fn holds(bytes: &[u8], text: &[u8]) -> bool {
        memchr::memmem::find(bytes, text).is_some()
    }

    #[test]
    fn films() {
        let place = b"\0\x10\x15\xc7+59.9133+010.738/";
        let key = |name: &[u8]| made(b"mdta", name);
        let keys = |names: &[Vec<u8>]| {
            made(b"keys", &[&[0, 0, 0, 0, 0, 0, 0, names.len() as u8], &names.concat()[..]].concat())
        };
        let handler = made(b"hdlr", b"\0\0\0\0\0\0\0\0mdta");
        let values = made(
            b"ilst",
            &[
                made(&[0, 0, 0, 1], &made(b"data", b"\0\0\0\x01\0\0\0\0a camera")),
                made(&[0, 0, 0, 2], &made(b"data", place)),
            ]
            .concat(),
        );
        let named = [key(b"com.apple.quicktime.make"), key(b"com.apple.quicktime.location.ISO6709")];
        for inside in [
            made(b"udta", &made(b"\xa9xyz", place)),
            made(b"trak", &made(b"udta", &made(b"loci", place))),
            made(b"meta", &[handler.clone(), keys(&named), values.clone()].concat()),
            made(
                b"udta",
                &made(b"meta", &[b"\0\0\0\0".to_vec(), handler, made(b"ilst", &made(b"\xa9xyz", place))].concat()),
            ),
            made(b"uuid", &[b"0123456789abcdef exif:GPSLatitude ".as_slice(), place].concat()),
        ] {
            let whole = film(&[made(b"mvhd", b"the head"), inside, made(b"free", b"the end")].concat());
            let clean = cleaned(&whole).expect("a film");
            assert!(holds(&whole, b"+59.9133") && !holds(&clean, b"+59.9133"), "{}", String::from_utf8_lossy(&clean));
            assert!(holds(&clean, b"the head") && holds(&clean, b"the end") && holds(&clean, b"in the picture"));
        }
        let keyed = film(&made(b"meta", &[made(b"hdlr", b""), keys(&named), values].concat()));
        assert!(holds(&cleaned(&keyed).expect("a film"), b"a camera"));
        for refused in [
            made(b"gps ", b"12345678"),
            made(b"trak", &made(b"stsd", &[b"\0\0\0\0\0\0\0\x01".to_vec(), made(b"gpmd", b"")].concat())),
        ] {
            assert!(cleaned(&film(&refused)).is_none());
        }
        let plain = film(&made(b"mvhd", b"nothing to hide"));
        assert_eq!(cleaned(&plain).as_ref(), Some(&plain));
        let other = b"no boxes at all \xa9xyz".to_vec();
        assert_eq!(cleaned(&other).as_ref(), Some(&other));
    }

    /// An AVIF head with one item that is behind it.
    fn still(kind: &[u8], item: &[u8]) -> Vec<u8> {
        let info = made(b"infe", &[b"\x02\0\0\0\0\x07\0\0".as_slice(), kind].concat());
        let infos = made(b"iinf", &[b"\0\0\0\0\0\x01".to_vec(), info].concat());
        let head = |at: u32| {
            let mut place = b"\0\0\0\0\x44\0\0\x01\0\x07\0\0\0\x01".to_vec();
            place.extend(at.to_be_bytes());
            place.extend((item.len() as u32).to_be_bytes());
            let meta =
                [b"\0\0\0\0".to_vec(), made(b"hdlr", b"\0\0\0\0\0\0\0\0pict"), infos.clone(), made(b"iloc", &place)];
            [made(b"ftyp", b"avif\0\0\0\0"), made(b"meta", &meta.concat())].concat()
        };
        let at = head(0).len() as u32 + 8;
        [head(at), made(b"mdat", item)].concat()
    }

    #[test]
    fn stills() {
        let tagged = |tag: u16| {
            let mut tiff = b"\0\0\0\0II*\0\x08\0\0\0\x01\0".to_vec();
            tiff.extend(tag.to_le_bytes());
            tiff.extend(b"\x04\0\x01\0\0\0\x08\0\0\0\0\0\0\0 the secret place");
            tiff
        };
        let telling = still(b"Exif\0", &tagged(0x8825));
        let clean = cleaned(&telling).expect("a picture");
        assert!(holds(&telling, b"secret") && !holds(&clean, b"secret"));
        assert!(holds(&clean, NO_EXIF) && !exif::has_location(&NO_EXIF[4..]));
        let quiet = still(b"Exif\0", &tagged(0x0110));
        assert_eq!(cleaned(&quiet).as_ref(), Some(&quiet));
        let described = still(b"mime\0application/rdf+xml\0", b"<x exif:GPSLatitude='59,54N'/>");
        assert!(!holds(&cleaned(&described).expect("a picture"), b"59,54"));
        // The places of items cannot be read: their contents are unknown.
        let mut broken = telling.clone();
        let at = memchr::memmem::find(&broken, b"iloc").expect("a box") + 4;
        broken[at] = 9;
        assert!(cleaned(&broken).is_none());
    }

    /// A picture with so many descriptions of one item, in so many places of this length, in each of several boxes.
    fn repeated(descriptions: u16, places: u16, length: u32, boxes: usize) -> Vec<u8> {
        let info = made(b"infe", b"\x02\0\0\0\0\x07\0\0Exif\0");
        let infos = [b"\0\0\0\0".as_slice(), &descriptions.to_be_bytes(), &info.repeat(descriptions.into())].concat();
        let place = [40_u32.to_be_bytes(), length.to_be_bytes()].concat();
        let located =
            [b"\0\0\0\0\x44\0\0\x01\0\x07\0\0".as_slice(), &places.to_be_bytes(), &place.repeat(places.into())];
        let meta = [b"\0\0\0\0".to_vec(), made(b"iinf", &infos), made(b"iloc", &located.concat())].concat();
        [made(b"ftyp", b"avif\0\0\0\0"), made(b"meta", &meta).repeat(boxes)].concat()
    }

    #[test]
    fn counts_do_not_multiply() {
        for (descriptions, places, length, boxes) in
            [(2000, 2000, 8, 1), (2, 1, 8, 1), (1, 2000, 0, 1), (1, 2000, 1 << 20, 40), (1, 1, 1000, 20_000)]
        {
            let mut bytes = repeated(descriptions, places, length, boxes);
            bytes.resize(bytes.len() + (4 << 20), 0);
            let start = Instant::now();
            let refused = searched(&bytes).is_err();
            assert!(refused && start.elapsed() < Duration::from_secs(5), "{descriptions} {places} {length} {boxes}");
        }
        assert_eq!(searched(&repeated(1, 3, 8, 1)).map(|patches| patches.len()), Ok(3), "few of them are fine");
        let bytes = repeated(1, 3, 8, 1);
        let late =
            FileWalk::new(Cursor::new(bytes.clone()), bytes.len() as u64, Instant::now() - Duration::from_secs(1));
        assert!(matches!(found(late), Err(PictureError::TooLarge(_))), "the time is over");
    }

    proptest! {
        #[test]
        fn nothing_panics_and_nothing_moves(changes in prop::collection::vec((0usize..400, any::<u8>()), 0..12), cut in 0usize..200) {
            let film = film(&made(b"udta", &made(b"\xa9xyz", b"\0\x10\x15\xc7+59.9133+010.738/")));
            for mut bytes in [film, still(b"Exif\0", b"\0\0\0\0II*\0\x08\0\0\0\0\0\0\0\0\0")] {
                for (at, byte) in &changes {
                    let at = at % bytes.len();
                    bytes[at] = *byte;
                }
                bytes.truncate(bytes.len() - cut.min(bytes.len()));
                let _ = cleaned(&bytes);
            }
        }
    }
}
