//! How large pictures made of boxes are (AVIF, HEIC): found without decoding.
//!
//! Owns the boxes that say so. Such a picture may be put together of tiles and have smaller pictures for lists: the
//! largest extent is its own.

use super::PictureError;
use super::boxes::{MediaBox, next};
use super::parts::FileWalk;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::Instant;

/// The types of pictures that are made of boxes.
const KINDS: [&str; 3] = ["image/avif", "image/heic", "image/heif"];

/// Whether pictures of a type are made of boxes.
pub fn is_boxed(mime: &str) -> bool {
    KINDS.contains(&mime)
}

/// Width and height of a picture, as it is shown; `None` where the file does not say.
///
/// # Errors
/// The file cannot be read in time, it breaks off, or it has no pixels.
pub fn extent(file: &Path, until: Instant) -> Result<Option<(u32, u32)>, PictureError> {
    let file = File::open(file)?;
    let length = file.metadata()?.len();
    let mut walk = FileWalk::new(file, length, until);
    while let Some(found) = next(&mut walk, length)? {
        if found.cut {
            return Err(PictureError::Broken("it breaks off".into()));
        }
        walk.seek(found.end)?;
    }
    walk.seek(0)?;
    let mut found = Extent::default();
    found.search(&mut walk, length, &[b"meta", b"iprp", b"ipco"])?;
    match found.largest {
        Some((0, _) | (_, 0)) => Err(PictureError::NoPixels),
        Some((width, height)) if found.turned => Ok(Some((height, width))),
        other => Ok(other),
    }
}

#[derive(Default)]
struct Extent {
    largest: Option<(u32, u32)>,
    /// Whether it is shown turned by a quarter.
    turned: bool,
}

impl Extent {
    /// Looks into the first of these boxes, one inside the other.
    fn search<R: Read + Seek>(
        &mut self,
        walk: &mut FileWalk<R>,
        end: u64,
        inside: &[&[u8; 4]],
    ) -> Result<(), PictureError> {
        while let Some(found) = next(walk, end)? {
            match inside {
                [] => self.property(walk, &found)?,
                [wanted, rest @ ..] if found.name == **wanted => {
                    // A version is before what is in the outermost.
                    walk.seek(found.inside + if **wanted == *b"meta" { 4 } else { 0 })?;
                    return self.search(walk, found.end, rest);
                }
                _ => {}
            }
            walk.seek(found.end)?;
        }
        Ok(())
    }

    fn property<R: Read + Seek>(&mut self, walk: &mut FileWalk<R>, found: &MediaBox) -> Result<(), PictureError> {
        match &found.name {
            b"ispe" => {
                let (Some(_), Some(width), Some(height)) = (walk.next::<4>()?, walk.next()?, walk.next()?) else {
                    return Ok(());
                };
                let (width, height) = (u32::from_be_bytes(width), u32::from_be_bytes(height));
                let area = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
                if self.largest.is_none_or(|largest| area(largest) < area((width, height))) {
                    self.largest = Some((width, height));
                }
            }
            b"irot" => self.turned |= walk.next::<1>()?.is_some_and(|[turns]| turns % 2 == 1),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn made(name: &[u8; 4], inside: &[u8]) -> Vec<u8> {
        let length = u32::try_from(inside.len() + 8).expect("short");
        [&length.to_be_bytes()[..], name, inside].concat()
    }

    fn size(width: u32, height: u32) -> Vec<u8> {
        made(b"ispe", &[&[0; 4][..], &width.to_be_bytes(), &height.to_be_bytes()].concat())
    }

    fn of(properties: &[Vec<u8>]) -> Result<Option<(u32, u32)>, PictureError> {
        let inside = made(b"iprp", &made(b"ipco", &properties.concat()));
        let meta = made(b"meta", &[&[0; 4][..], &made(b"hdlr", b"x"), &inside].concat());
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&[made(b"ftyp", b"avif\0\0\0\0"), meta].concat()).expect("is written");
        extent(file.path(), Instant::now() + std::time::Duration::from_secs(60))
    }

    #[test]
    fn the_largest_extent_is_the_pictures() {
        assert_eq!(of(&[]).expect("read"), None);
        assert_eq!(of(&[size(64, 32)]).expect("read"), Some((64, 32)));
        assert_eq!(of(&[size(8, 8), size(64, 32), size(9, 9)]).expect("read"), Some((64, 32)));
        assert_eq!(of(&[size(64, 32), made(b"irot", &[1])]).expect("read"), Some((32, 64)));
        assert_eq!(of(&[size(64, 32), made(b"irot", &[2])]).expect("read"), Some((64, 32)));
        assert!(matches!(of(&[size(0, 32)]), Err(PictureError::NoPixels)));
        assert_eq!(of(&[made(b"ispe", &[0; 3])]).expect("read"), None);
    }
}
