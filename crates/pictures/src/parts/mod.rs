//! The parts of a picture's file: where they are, what its header says, and its metadata. Nothing is decoded.
//!
//! Decoders read only the parts that make the pixels: what an attacker puts beside them (profiles, texts, further
//! frames) costs neither memory nor time there. Each format has a file; what they share is here.

mod gif;
mod jpeg;
mod lossless;
mod png;
mod webp;

use super::{PictureError, exif, too_slow};
use image::ImageFormat;
use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Result as IoResult, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// Bytes of metadata of one kind (a colour profile, the texts) that are read, inflated; what is longer is dropped.
pub const MOST_METADATA: usize = 4 << 20;

/// Parts of one file. Encoders write thousands at the most.
const MOST_PARTS: u32 = 100_000;

/// A piece of a file that is put together from another.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    File(Range<u64>),
    Bytes(Vec<u8>),
}

/// See the module's description.
#[derive(Debug, Default)]
pub struct Parts {
    pub width: u32,
    pub height: u32,
    /// Frames of an animation; 1 for a still picture.
    pub frames: u32,
    /// How often a decoder passes over all pixels.
    pub scans: u32,
    /// Bytes that a decoder takes at the most, the pixels that it gives out included.
    pub decoding: u64,
    /// Bytes of a decoded pixel with eight bits a channel.
    pub channels: u64,
    /// Metadata of the camera, as TIFF.
    pub exif: Option<Vec<u8>>,
    /// Metadata of an editor, as XMP.
    pub xmp: Option<Vec<u8>>,
    /// The colour profile.
    pub icc: Option<Vec<u8>>,
    /// The metadata contain a location, or cannot be read, so that they may.
    pub tells_place: bool,
    /// Without its metadata, the file still says how it has to be turned.
    pub keeps_orientation: bool,
    /// The parts of the file that a decoder needs.
    shown: Pieces,
    /// Everything but metadata and what follows the picture.
    clean: Pieces,
}

impl Parts {
    /// Takes a file apart.
    ///
    /// # Errors
    /// It is none of its format, or that takes too long.
    pub fn of(file: &Path, format: ImageFormat, until: Instant) -> Result<Parts, PictureError> {
        let file = File::open(file)?;
        let length = file.metadata()?.len();
        Parts::read(FileWalk::new(file, length, until), format)
    }

    fn read<R: Read + Seek>(mut walk: FileWalk<R>, format: ImageFormat) -> Result<Parts, PictureError> {
        let mut parts = match format {
            ImageFormat::Jpeg => jpeg::read(&mut walk),
            ImageFormat::Png => png::read(&mut walk),
            ImageFormat::Gif => gif::read(&mut walk),
            ImageFormat::WebP => webp::read(&mut walk),
            _ => return Err(broken("its format is unknown")),
        }?;
        if parts.width == 0 || parts.height == 0 {
            return Err(PictureError::NoPixels);
        }
        parts.frames = parts.frames.max(1);
        parts.scans = parts.scans.max(1);
        Ok(parts)
    }

    /// Pixels of the picture.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The parts of the file that a decoder needs, as a file. Reading fails after the deadline.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn reader(&self, file: &Path, until: Instant) -> Result<BufReader<PieceReader<File>>, PictureError> {
        Ok(BufReader::new(PieceReader::new(File::open(file)?, &self.shown, until)))
    }

    /// The file without metadata, pixels and colours untouched.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn cleaned(&self, file: &Path, until: Instant) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.clean.length()).unwrap_or(0));
        PieceReader::new(File::open(file)?, &self.clean, until).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Records what a camera wrote; of several such parts the first counts.
    fn take_exif(&mut self, tiff: Option<Vec<u8>>) {
        let Some(tiff) = tiff else {
            self.tells_place = true;
            return;
        };
        self.tells_place |= exif::has_location(&tiff);
        self.exif.get_or_insert(tiff);
    }

    /// Records what an editor wrote; of several such parts the first counts.
    fn take_xmp(&mut self, xmp: &[u8]) {
        self.xmp.get_or_insert_with(|| xmp.to_vec());
    }

    /// Records a text or another part that is not parsed further.
    fn take_text(&mut self, text: Option<&[u8]>) {
        self.tells_place |= text.is_none_or(has_location_text);
    }
}

/// Whether a text of metadata names a place of origin.
pub fn has_location_text(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"GPS").is_some()
}

fn broken(why: &str) -> PictureError {
    PictureError::Broken(why.into())
}

// ------------------------------------------------------------------------------------------------ reading on

/// A file that is walked over from its start, until a deadline.
pub struct FileWalk<R> {
    reader: BufReader<R>,
    at: u64,
    length: u64,
    parts: u32,
    /// Bytes that were read as metadata.
    taken: u64,
    until: Instant,
}

impl<R: Read + Seek> FileWalk<R> {
    /// A file of so many bytes, from its start.
    pub fn new(file: R, length: u64, until: Instant) -> FileWalk<R> {
        FileWalk { reader: BufReader::with_capacity(64 << 10, file), at: 0, length, parts: 0, taken: 0, until }
    }

    /// Where it is.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Counts one more part.
    ///
    /// # Errors
    /// There are too many, or the time is over.
    pub fn count(&mut self) -> Result<(), PictureError> {
        self.parts += 1;
        if self.parts > MOST_PARTS { Err(broken("it has too many parts")) } else { self.check_deadline() }
    }

    /// Whether there is time for more.
    fn check_deadline(&self) -> Result<(), PictureError> {
        if Instant::now() > self.until { Err(too_slow()) } else { Ok(()) }
    }

    /// Bytes that follow.
    pub fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    /// The next bytes; `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next<const N: usize>(&mut self) -> Result<Option<[u8; N]>, PictureError> {
        let mut bytes = [0; N];
        if self.left() < N as u64 {
            self.skip(self.left())?;
            return Ok(None);
        }
        self.reader.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(Some(bytes))
    }

    /// The next bytes, which have to be there.
    fn need<const N: usize>(&mut self) -> Result<[u8; N], PictureError> {
        self.next()?.ok_or_else(|| broken("it breaks off"))
    }

    /// So many bytes; `None` for more than are read of metadata, which are passed over.
    ///
    /// # Errors
    /// The file cannot be read. Its parts lie over each other, so that more is read than there is.
    pub fn take(&mut self, length: u64) -> Result<Option<Vec<u8>>, PictureError> {
        self.check_deadline()?;
        let length = length.min(self.left());
        self.taken = self.taken.saturating_add(length);
        // Some parts are read twice.
        if self.taken / 2 > self.length {
            return Err(broken("its parts lie over each other"));
        }
        let Some(size) = usize::try_from(length).ok().filter(|size| *size <= MOST_METADATA) else {
            self.skip(length)?;
            return Ok(None);
        };
        let mut bytes = vec![0; size];
        self.reader.read_exact(&mut bytes)?;
        self.at += length;
        Ok(Some(bytes))
    }

    /// Skips so many bytes, at most to the end of the file.
    fn skip(&mut self, length: u64) -> Result<(), PictureError> {
        let length = length.min(self.left());
        self.reader.seek_relative(i64::try_from(length).unwrap_or(i64::MAX))?;
        self.at += length;
        Ok(())
    }

    /// Continues at a byte of the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn seek(&mut self, to: u64) -> Result<(), PictureError> {
        let by = i64::try_from(to).unwrap_or(i64::MAX) - i64::try_from(self.at).unwrap_or(0);
        self.reader.seek_relative(by)?;
        self.at = to;
        Ok(())
    }

    /// Whether what follows the picture contains a location: cameras append further pictures and films.
    fn tail_has_location(&mut self) -> Result<bool, PictureError> {
        const SIGNS: [&[u8]; 4] = [b"GPS", b"Exif\0\0", b"\xa9xyz", b"loci"];
        const OVERLAP: usize = 8;
        let mut window = vec![0; OVERLAP + (64 << 10)];
        let mut kept = 0;
        loop {
            let size = usize::try_from(self.left()).unwrap_or(usize::MAX).min(window.len() - kept);
            if size == 0 {
                return Ok(false);
            }
            self.reader.read_exact(&mut window[kept..kept + size])?;
            self.at += size as u64;
            let filled = &window[..kept + size];
            if SIGNS.iter().any(|sign| memchr::memmem::find(filled, sign).is_some()) {
                return Ok(true);
            }
            let end = kept + size;
            kept = end.min(OVERLAP);
            window.copy_within(end - kept..end, 0);
        }
    }
}

// ------------------------------------------------------------------------------------------------ putting together

/// Pieces in order.
#[derive(Clone, Debug, Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn file(&mut self, range: Range<u64>) {
        if let Some(Piece::File(last)) = self.0.last_mut()
            && last.end == range.start
        {
            last.end = range.end;
        } else if !range.is_empty() {
            self.0.push(Piece::File(range));
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(Piece::Bytes(bytes.to_vec()));
    }

    fn length(&self) -> u64 {
        self.0.iter().map(Piece::length).sum()
    }
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Piece::File(range) => range.end - range.start,
            Piece::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

/// Pieces of a file, read as if they were one.
pub struct PieceReader<R> {
    file: R,
    /// Each with where it begins.
    pieces: Vec<(u64, Piece)>,
    length: u64,
    at: u64,
    until: Instant,
}

impl<R: Read + Seek> PieceReader<R> {
    fn new(file: R, pieces: &Pieces, until: Instant) -> PieceReader<R> {
        let mut length = 0;
        let placed = pieces.0.iter().map(|piece| {
            let at = length;
            length += piece.length();
            (at, piece.clone())
        });
        let pieces = placed.collect();
        PieceReader { file, pieces, length, at: 0, until }
    }
}

impl<R: Read + Seek> Read for PieceReader<R> {
    fn read(&mut self, into: &mut [u8]) -> IoResult<usize> {
        if Instant::now() > self.until {
            return Err(Error::new(ErrorKind::TimedOut, "the work on it takes too long"));
        }
        if self.at >= self.length || into.is_empty() {
            return Ok(0);
        }
        let index = self.pieces.partition_point(|(start, _)| *start <= self.at).saturating_sub(1);
        let Some((start, piece)) = self.pieces.get(index) else { return Ok(0) };
        let within = self.at - start;
        let size = usize::try_from(piece.length() - within).unwrap_or(usize::MAX).min(into.len());
        let read = match piece {
            Piece::Bytes(bytes) => {
                let within = usize::try_from(within).unwrap_or(bytes.len()).min(bytes.len());
                (&bytes[within..]).read(&mut into[..size])?
            }
            Piece::File(range) => {
                self.file.seek(SeekFrom::Start(range.start + within))?;
                self.file.read(&mut into[..size])?
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl<R: Read + Seek> Seek for PieceReader<R> {
    fn seek(&mut self, to: SeekFrom) -> IoResult<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        self.at = target.ok_or_else(|| Error::from(ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests;
