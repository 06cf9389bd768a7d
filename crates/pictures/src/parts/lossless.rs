//! Lossless pixels of WebP, read up to where the pixels begin: how much memory their codes take.
//!
//! A picture may have a set of codes for each of its smallest blocks, 65,536 sets in all; four megabytes of them expand
//! to more than a gigabyte. Only reading them reveals how many there are.

use super::FileWalk;
use std::io::{Read, Seek};

/// Symbols of the five codes of a set: green with lengths, red, blue, alpha, distances.
const ALPHABETS: [usize; 5] = [256 + 24, 256, 256, 256, 40];

/// The order in which the lengths of the code of lengths are written.
const ORDER: [usize; 19] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

const LONGEST_CODE: usize = 15;

/// Bits of a code that decoders look up at once.
const LOOKED_UP: usize = 10;

/// Where counting ends: more than any machine gives.
const ENOUGH: u64 = 1 << 40;

/// Bytes of codes that are read; what encoders write takes a fraction of that.
const MOST_CODES: u64 = 8 << 20;

/// Bytes that a decoder takes for the codes of the pixels that begin at the walk's place: `length` bytes, with these
/// sides. Where they cannot be read, the most that so many bytes can unfold to.
pub(super) fn codes<R: Read + Seek>(walk: &mut FileWalk<R>, length: u64, sides: (u32, u32)) -> u64 {
    let mut bits = Bits { walk, byte: 0, left: 0, to_come: length.min(MOST_CODES) };
    let counted = bits.transforms(sides).and_then(|sides| bits.sets(sides));
    counted.unwrap_or_else(|| length.saturating_mul(400).min(ENOUGH))
}

/// Bits, the lowest of each byte first.
struct Bits<'w, R> {
    walk: &'w mut FileWalk<R>,
    byte: u8,
    left: u32,
    to_come: u64,
}

/// A code as the symbols in order of their lengths, and how many there are of each length.
struct Code {
    counts: [u16; LONGEST_CODE + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn of(lengths: &[u8]) -> Option<Code> {
        let mut counts = [0u16; LONGEST_CODE + 1];
        lengths.iter().for_each(|length| counts[usize::from(*length)] += 1);
        counts[0] = 0;
        let mut places = [0u16; LONGEST_CODE + 2];
        for length in 1..=LONGEST_CODE {
            places[length + 1] = places[length] + counts[length];
        }
        let mut symbols = vec![0; usize::from(places[LONGEST_CODE + 1])];
        for (symbol, length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
            let place = &mut places[usize::from(*length)];
            symbols[usize::from(*place)] = u16::try_from(symbol).ok()?;
            *place += 1;
        }
        (!symbols.is_empty()).then_some(Code { counts, symbols })
    }

    /// Bytes that a decoder takes for it: a table of what is looked up, and a tree of what is longer.
    fn bytes(&self) -> u64 {
        let longest = self.counts.iter().rposition(|count| *count > 0).unwrap_or(0);
        let table = if self.symbols.len() > 1 { 4 << longest.min(LOOKED_UP) } else { 0 };
        let longer: u64 = self.counts[LOOKED_UP + 1..].iter().map(|count| u64::from(*count)).sum();
        table + longer * 64 + 64
    }
}

impl<R: Read + Seek> Bits<'_, R> {
    fn bit(&mut self) -> Option<u32> {
        if self.left == 0 {
            self.to_come = self.to_come.checked_sub(1)?;
            let [byte] = self.walk.next().ok()??;
            (self.byte, self.left) = (byte, 8);
        }
        let bit = u32::from(self.byte & 1);
        (self.byte, self.left) = (self.byte >> 1, self.left - 1);
        Some(bit)
    }

    fn number(&mut self, bits: u32) -> Option<u32> {
        (0..bits).try_fold(0, |number, i| Some(number | self.bit()? << i))
    }

    /// Skips what the pixels are predicted from; their sides, which a table of colours makes smaller.
    fn transforms(&mut self, (mut width, height): (u32, u32)) -> Option<(u32, u32)> {
        let mut seen = [false; 4];
        while self.bit()? == 1 {
            let kind = self.number(2)?;
            if std::mem::replace(&mut seen[kind as usize], true) {
                return None;
            }
            match kind {
                0 | 1 => {
                    let block = 1 << (self.number(3)? + 2);
                    self.image((width.div_ceil(block), height.div_ceil(block)))?;
                }
                3 => {
                    let colours = self.number(8)? + 1;
                    self.image((colours, 1))?;
                    let packed = match colours {
                        0..=2 => 8,
                        3..=4 => 4,
                        5..=16 => 2,
                        _ => 1,
                    };
                    width = width.div_ceil(packed);
                }
                _ => {}
            }
        }
        Some((width, height))
    }

    /// The sets of codes of the picture itself.
    fn sets(&mut self, (width, height): (u32, u32)) -> Option<u64> {
        let cache = self.cache()?;
        let mut sets = 1;
        if self.bit()? == 1 {
            let block = 1 << (self.number(3)? + 2);
            sets = u64::from(self.image((width.div_ceil(block), height.div_ceil(block)))?) + 1;
        }
        let mut bytes = sets * 64;
        for _ in 0..sets {
            for code in self.set(cache)? {
                bytes += code.bytes();
            }
        }
        Some(bytes)
    }

    /// Entries of the cache of colours.
    fn cache(&mut self) -> Option<usize> {
        Some(if self.bit()? == 1 { 1 << self.number(4)? } else { 0 })
    }

    fn set(&mut self, cache: usize) -> Option<[Code; 5]> {
        let mut codes = ALPHABETS.iter().enumerate().map(|(i, size)| self.code(size + if i == 0 { cache } else { 0 }));
        let mut next = || codes.next().flatten();
        Some([next()?, next()?, next()?, next()?, next()?])
    }

    fn code(&mut self, size: usize) -> Option<Code> {
        let mut lengths = vec![0u8; size];
        if self.bit()? == 1 {
            let two = self.bit()? == 1;
            let wide = if self.bit()? == 1 { 8 } else { 1 };
            *lengths.get_mut(self.number(wide)? as usize)? = 1;
            if two {
                *lengths.get_mut(self.number(8)? as usize)? = 1;
            }
            return Code::of(&lengths);
        }
        let mut own = [0u8; 19];
        let count = self.number(4)? as usize + 4;
        for place in ORDER.iter().take(count) {
            own[*place] = self.number(3)? as u8;
        }
        let own = Code::of(&own)?;
        let mut written = size;
        if self.bit()? == 1 {
            let bits = 2 + 2 * self.number(3)?;
            written = 2 + self.number(bits)? as usize;
        }
        let (mut at, mut last) = (0, 8);
        while at < size && written > 0 {
            written -= 1;
            let (length, times) = match self.symbol(&own)? {
                16 => (last, 3 + self.number(2)?),
                17 => (0, 3 + self.number(3)?),
                18 => (0, 11 + self.number(7)?),
                length => (length as u8, 1),
            };
            if times == 1 && length > 0 {
                last = length;
            }
            lengths.get_mut(at..at + times as usize)?.fill(length);
            at += times as usize;
        }
        Code::of(&lengths)
    }

    fn symbol(&mut self, code: &Code) -> Option<u32> {
        if let [only] = code.symbols[..] {
            return Some(u32::from(only));
        }
        let (mut value, mut first, mut place) = (0u32, 0u32, 0u32);
        for count in code.counts.iter().skip(1).map(|count| u32::from(*count)) {
            value |= self.bit()?;
            if value.wrapping_sub(first) < count {
                return code.symbols.get((place + value - first) as usize).map(|symbol| u32::from(*symbol));
            }
            place += count;
            first = (first + count) << 1;
            value <<= 1;
        }
        None
    }

    /// Reads an image of its own; the highest number that red and green of a pixel make. Copies make no new ones.
    fn image(&mut self, (width, height): (u32, u32)) -> Option<u32> {
        let cache = self.cache()?;
        let codes = self.set(cache)?;
        let (mut highest, mut left) = (0, u64::from(width) * u64::from(height));
        while left > 0 {
            let green = self.symbol(&codes[0])?;
            let pixels = match green {
                0..=255 => {
                    let red = self.symbol(&codes[1])?;
                    self.symbol(&codes[2])?;
                    self.symbol(&codes[3])?;
                    highest = highest.max(red << 8 | green);
                    // Where nothing is written for a pixel, all are the same.
                    let same = codes[..4].iter().all(|code| code.symbols.len() == 1);
                    if same { left } else { 1 }
                }
                256..=279 => {
                    let length = self.prefixed(green - 256)?;
                    let distance = self.symbol(&codes[4])?;
                    self.prefixed(distance)?;
                    u64::from(length)
                }
                _ => 1,
            };
            left = left.saturating_sub(pixels);
        }
        Some(highest)
    }

    /// A number of which a symbol gives the highest bits.
    fn prefixed(&mut self, symbol: u32) -> Option<u32> {
        if symbol < 4 {
            return Some(symbol + 1);
        }
        let more = (symbol - 2) >> 1;
        Some(((2 + (symbol & 1)) << more) + self.number(more)? + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::codecs::webp::WebPEncoder;
    use image::{ExtendedColorType, RgbaImage};
    use proptest::prelude::*;
    use std::io::Cursor;

    /// Writes bits as they are read.
    #[derive(Default)]
    struct BitWriter(Vec<u8>, u32);

    impl BitWriter {
        fn put(&mut self, number: u32, bits: u32) {
            for i in 0..bits {
                if self.1.is_multiple_of(8) {
                    self.0.push(0);
                }
                *self.0.last_mut().expect("a byte") |= ((number >> i & 1) as u8) << (self.1 % 8);
                self.1 += 1;
            }
        }

        fn single(&mut self, symbol: u32) {
            for (number, bits) in [(1, 1), (0, 1), (1, 1), (symbol, 8)] {
                self.put(number, bits);
            }
        }
    }

    fn counted(bytes: &[u8], sides: (u32, u32)) -> u64 {
        let mut walk = FileWalk::new(
            Cursor::new(bytes.to_vec()),
            bytes.len() as u64,
            std::time::Instant::now() + std::time::Duration::from_secs(60),
        );
        codes(&mut walk, bytes.len() as u64, sides)
    }

    /// So many sets of codes with one symbol each, for blocks of 4 by 4 pixels.
    fn sets(number: u32) -> Vec<u8> {
        let mut bits = BitWriter::default();
        // No transform, no cache; sets by blocks, whose numbers have no cache either.
        for (number, width) in [(0, 1), (0, 1), (1, 1), (0, 3), (0, 1)] {
            bits.put(number, width);
        }
        let last = number - 1;
        [last & 255, last >> 8, 0, 0, 0].into_iter().for_each(|symbol| bits.single(symbol));
        (0..number * 5).for_each(|_| bits.single(0));
        bits.0
    }

    #[test]
    fn sets_are_counted() {
        assert_eq!(counted(&sets(1), (64, 64)), 64 * 6);
        assert_eq!(counted(&sets(1000), (64, 64)), 1000 * 64 * 6);
        assert_eq!(counted(&[], (64, 64)), 0, "nothing unfolds to nothing");
        assert_eq!(counted(&[0xff; 10], (64, 64)), 4000, "what cannot be read counts as the worst");
    }

    #[test]
    fn pictures_of_encoders_are_read() {
        for (width, height, noise) in [(1u32, 1u32, 0u32), (70, 30, 0), (70, 30, 1), (200, 200, 7)] {
            let picture = RgbaImage::from_fn(width, height, |x, y| {
                let grain = (x * 31 + y * 17).wrapping_mul(noise.wrapping_mul(2_654_435_761u32)) >> 24;
                image::Rgba([x as u8, grain as u8, (x ^ y) as u8, 255])
            });
            let mut bytes = Vec::new();
            let encoder = WebPEncoder::new_lossless(&mut bytes);
            encoder.encode(&picture, width, height, ExtendedColorType::Rgba8).expect("encoded");
            // Behind the heads of the file and of the pixels.
            let pixels = &bytes[25..];
            let found = counted(pixels, (width, height));
            let guessed = pixels.len() as u64 * 400;
            assert!((64 * 6..100_000).contains(&found) && found != guessed, "{width}: {found}");
        }
    }

    proptest! {
        #[test]
        fn any_bits_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..300), width in 1u32..16384, height in 1u32..16384) {
            counted(&bytes, (width, height));
        }
    }
}
