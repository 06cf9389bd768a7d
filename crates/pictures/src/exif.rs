//! Metadata that a camera writes, as TIFF: directories of tagged values. Only what is shown is read; the rest is
//! skipped.
//!
//! A directory may lead to any other, to itself included, so directories and entries are counted: what is read is
//! bounded by constants, not by what the file says.

/// Directories of one file: the picture's, the thumbnail's, the camera's, and a few more.
const MOST_DIRECTORIES: usize = 8;

/// Entries of all directories.
const MOST_ENTRIES: usize = 4096;

/// Bytes of one text.
const MOST_TEXT: usize = 64 << 10;

pub const DESCRIPTION: u16 = 0x010e;
pub const MODEL: u16 = 0x0110;
pub const ORIENTATION: u16 = 0x0112;
pub const CHANGED: u16 = 0x0132;
pub const ARTIST: u16 = 0x013b;
pub const COPYRIGHT: u16 = 0x8298;
pub const EXPOSURE: u16 = 0x829a;
pub const APERTURE: u16 = 0x829d;
pub const SENSITIVITY: u16 = 0x8827;
pub const TAKEN: u16 = 0x9003;
pub const DIGITIZED: u16 = 0x9004;
pub const FOCAL_LENGTH: u16 = 0x920a;
const CAMERA: u16 = 0x8769;
const PLACE: u16 = 0x8825;

/// A value of a tag.
#[derive(Clone, Debug, PartialEq)]
pub enum ExifValue<'a> {
    Text(&'a [u8]),
    Number(f64),
}

/// The first value of each tag of the picture and of the camera.
#[derive(Debug, Default)]
pub struct Exif<'a> {
    values: Vec<(u16, ExifValue<'a>)>,
    place: bool,
    /// Not everything could be read.
    odd: bool,
}

impl<'a> Exif<'a> {
    /// Reads as much as can be read.
    pub fn read(tiff: &'a [u8]) -> Exif<'a> {
        let mut exif = Exif::default();
        let little = match tiff.get(..4) {
            Some(b"II*\0") => true,
            Some(b"MM\0*") => false,
            _ => return Exif { odd: true, ..exif },
        };
        let bytes = TiffBytes { tiff, little };
        let mut entries = 0;
        // The picture's own directory, then those that it leads to.
        let mut waiting = vec![(bytes.u32(4), true)];
        let mut seen = Vec::new();
        while let Some((offset, shown)) = waiting.pop() {
            let Some(offset) = offset else {
                exif.odd = true;
                continue;
            };
            if offset == 0 || seen.contains(&offset) {
                continue;
            }
            seen.push(offset);
            if seen.len() > MOST_DIRECTORIES {
                exif.odd = true;
                break;
            }
            let Some(count) = bytes.u16(offset) else {
                exif.odd = true;
                continue;
            };
            for i in 0..usize::from(count) {
                entries += 1;
                if entries > MOST_ENTRIES {
                    exif.odd = true;
                    return exif;
                }
                let Some((tag, value)) = bytes.entry(offset + 2 + i * 12) else {
                    exif.odd = true;
                    break;
                };
                match tag {
                    PLACE => exif.place = true,
                    CAMERA => waiting.push((bytes.u32(offset + 2 + i * 12 + 8), shown)),
                    tag if shown && WANTED.contains(&tag) && exif.value(tag).is_none() => {
                        exif.values.extend(value.map(|value| (tag, value)));
                    }
                    _ => {}
                }
            }
            // The next directory is of another picture: a thumbnail.
            waiting.insert(0, (bytes.u32(offset + 2 + usize::from(count) * 12).or(Some(0)), false));
        }
        exif
    }

    /// The value of a tag.
    pub fn value(&self, tag: u16) -> Option<&ExifValue<'a>> {
        self.values.iter().find(|(known, _)| *known == tag).map(|(_, value)| value)
    }

    /// How the picture has to be turned, 1 to 8.
    pub fn orientation(&self) -> Option<u8> {
        match self.value(ORIENTATION) {
            Some(ExifValue::Number(number)) if (1.0..=8.0).contains(number) => Some(*number as u8),
            _ => None,
        }
    }
}

const WANTED: [u16; 12] = [
    DESCRIPTION,
    MODEL,
    ORIENTATION,
    CHANGED,
    ARTIST,
    COPYRIGHT,
    EXPOSURE,
    APERTURE,
    SENSITIVITY,
    TAKEN,
    DIGITIZED,
    FOCAL_LENGTH,
];

/// Whether it contains the location of the picture; what cannot be read may.
pub fn has_location(tiff: &[u8]) -> bool {
    let exif = Exif::read(tiff);
    exif.place || exif.odd || memchr::memmem::find(tiff, b"GPS").is_some()
}

/// Numbers in the file's order of bytes.
struct TiffBytes<'a> {
    tiff: &'a [u8],
    little: bool,
}

impl<'a> TiffBytes<'a> {
    fn u16(&self, at: usize) -> Option<u16> {
        let bytes = self.tiff.get(at..)?.first_chunk()?;
        Some(if self.little { u16::from_le_bytes(*bytes) } else { u16::from_be_bytes(*bytes) })
    }

    fn number(&self, at: usize) -> Option<u32> {
        let bytes = self.tiff.get(at..)?.first_chunk()?;
        Some(if self.little { u32::from_le_bytes(*bytes) } else { u32::from_be_bytes(*bytes) })
    }

    fn u32(&self, at: usize) -> Option<usize> {
        usize::try_from(self.number(at)?).ok()
    }

    /// The tag of an entry and its first value; `None` when it is outside.
    fn entry(&self, at: usize) -> Option<(u16, Option<ExifValue<'a>>)> {
        let (tag, kind, count) = (self.u16(at)?, self.u16(at + 2)?, self.u32(at + 4)?);
        let inline = at + 8;
        self.number(inline)?;
        let far = |size: usize| if size <= 4 { Some(inline) } else { self.u32(inline) };
        let value = match kind {
            1 if count > 0 => self.tiff.get(inline).map(|byte| ExifValue::Number(f64::from(*byte))),
            2 => far(count).and_then(|from| self.tiff.get(from..from.checked_add(count)?)).map(|text| {
                let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
                ExifValue::Text(&text[..text.len().min(MOST_TEXT)])
            }),
            3 if count > 0 => {
                self.u16(if count <= 2 { inline } else { self.u32(inline)? }).map(|n| ExifValue::Number(f64::from(n)))
            }
            4 if count > 0 => self
                .number(if count == 1 { inline } else { self.u32(inline)? })
                .map(|n| ExifValue::Number(f64::from(n))),
            5 if count > 0 => self.u32(inline).and_then(|from| self.ratio(from)).map(ExifValue::Number),
            _ => None,
        };
        Some((tag, value))
    }

    fn ratio(&self, at: usize) -> Option<f64> {
        let ratio = f64::from(self.number(at)?) / f64::from(self.number(at.checked_add(4)?)?);
        ratio.is_finite().then_some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tag: u16, kind: u16, count: u32, value: u32) -> Vec<u8> {
        let mut bytes = tag.to_le_bytes().to_vec();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(value.to_le_bytes());
        bytes
    }

    fn tiff(entries: &[Vec<u8>], next: u32) -> Vec<u8> {
        let mut bytes = b"II*\0\x08\0\0\0".to_vec();
        bytes.extend((entries.len() as u16).to_le_bytes());
        bytes.extend(entries.concat());
        bytes.extend(next.to_le_bytes());
        bytes
    }

    #[test]
    fn values() {
        let bytes = tiff(&[entry(ORIENTATION, 3, 1, 6), entry(DESCRIPTION, 2, 3, u32::from_le_bytes(*b"ab\0\0"))], 0);
        let exif = Exif::read(&bytes);
        assert_eq!((exif.orientation(), exif.value(DESCRIPTION)), (Some(6), Some(&ExifValue::Text(b"ab"))));
        assert!(!has_location(&bytes));
        assert!(has_location(&tiff(&[entry(PLACE, 4, 1, 8)], 0)));
        let far = tiff(&[entry(DESCRIPTION, 2, u32::MAX, u32::MAX), entry(APERTURE, 5, 1, u32::MAX)], 0);
        assert!(Exif::read(&far).values.is_empty());
    }

    #[test]
    fn what_leads_in_circles_ends() {
        // Every entry leads back to the first directory; so does what follows it.
        let circle = tiff(&vec![entry(CAMERA, 4, 1, 8); 5000], 8);
        let exif = Exif::read(&circle);
        assert!(exif.odd && has_location(&circle));
        // Each of many directories leads to the next.
        let mut chain = b"II*\0\x08\0\0\0".to_vec();
        for i in 0..1000u32 {
            chain.extend(1u16.to_le_bytes());
            chain.extend(entry(CAMERA, 4, 1, 8 + (i + 1) * 18));
            chain.extend(0u32.to_le_bytes());
        }
        assert!(Exif::read(&chain).odd);
        for odd in [&b""[..], b"II*\0", b"II*\0\xff\xff\xff\xff", b"no exif at all"] {
            assert!(has_location(odd), "{odd:?}");
        }
    }
}
