//! The memory and the time of the work on a picture: the most that it needs is computed from its header before anything
//! is decoded, and taken from what all pictures share until the result is stored.

use super::parts::Parts;
use super::{Edit, PictureError, sizes};
use cms_base::pool::{Budget, Reservation};
use cms_declaration::{Media, PictureSize};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of metadata, buffers and tables, whatever the picture; as many suffice for taking a file apart.
const FIXED: u64 = 16 << 20;

/// Allowed passes over the pixels, in multiples of `max_pixels`: they bound the time of a decoder that cannot be
/// interrupted.
const MOST_PASSES: u64 = 10;

/// The bounds of the work on pictures.
#[derive(Clone, Copy)]
pub struct PictureBounds<'b> {
    pub rules: &'b Media,
    /// The memory that all pictures share.
    pub memory: &'b Arc<Budget>,
}

/// One picture's share of it.
pub struct PictureShare<'b> {
    pub rules: &'b Media,
    pub until: Instant,
    bytes: Reservation,
}

/// The result of work on a picture, and the memory that it takes until it is stored. Its holder must not begin with
/// another picture.
#[derive(Debug)]
pub struct PictureResult<T> {
    pub value: T,
    _bytes: Reservation,
}

impl<'b> PictureBounds<'b> {
    /// For taking a file apart. It is given back before the memory for decoding is taken.
    pub(super) fn parsing(self) -> Result<PictureShare<'b>, PictureError> {
        self.share(FIXED)
    }

    /// Waits until so many bytes are free; then time begins to count.
    pub(super) fn share(self, bytes: u64) -> Result<PictureShare<'b>, PictureError> {
        let most = self.rules.max_memory.bytes();
        let taken = self.memory.take(bytes, most).ok_or_else(|| {
            let (needs, most) = (bytes.div_ceil(1 << 20), most >> 20);
            PictureError::TooLarge(format!("The picture needs {needs} MiB of memory; at most {most} are there."))
        })?;
        let until = Instant::now() + self.rules.timeout.std();
        Ok(PictureShare { rules: self.rules, until, bytes: taken })
    }
}

impl PictureShare<'_> {
    /// Between two steps: whether there is time for the next.
    pub fn check_deadline(&self) -> Result<(), PictureError> {
        if Instant::now() > self.until { Err(super::too_slow()) } else { Ok(()) }
    }

    /// The work is done: what it made takes so many bytes.
    pub fn done<T>(mut self, value: T, bytes: usize) -> PictureResult<T> {
        self.bytes.shrink_to(bytes as u64);
        PictureResult { value, _bytes: self.bytes }
    }
}

/// Checks a picture by its header.
///
/// # Errors
/// Too many pixels, frames, or passes over the pixels.
pub fn check(parts: &Parts, rules: &Media) -> Result<(), PictureError> {
    let most = rules.max_frames;
    if parts.frames > most {
        return Err(PictureError::TooLarge(format!("The animation has more than {most} frames.")));
    }
    let (pixels, most) = (parts.pixels(), rules.max_pixels);
    if pixels > most {
        return Err(PictureError::TooLarge(format!("The picture has {pixels} pixels; at most {most} are taken.")));
    }
    let passes = pixels.saturating_mul(u64::from(parts.scans));
    if passes > most.saturating_mul(MOST_PASSES) {
        let scans = parts.scans;
        return Err(PictureError::TooLarge(format!(
            "The picture has {scans} scans, too many for its {pixels} pixels."
        )));
    }
    Ok(())
}

/// Bytes for decoding a picture and making its copies, `file` bytes of a cleaned file included.
pub fn prepare_bytes(parts: &Parts, file: u64, rules: &Media) -> u64 {
    let largest = super::display_size(rules);
    let copies = copies(parts, largest.iter().chain(rules.sizes.values()));
    // Turned upright there are two of it; resizing begins with a copy in four channels, which takes its place.
    let turned = parts.pixels() * (parts.channels + parts.channels.max(4));
    let working = turned.max(parts.pixels() * 4 + copies);
    FIXED + file + parts.decoding.max(working)
}

/// Bytes of the copies in these sizes, and of what resizing needs in addition.
fn copies<'s>(parts: &Parts, wanted: impl Iterator<Item = &'s PictureSize>) -> u64 {
    let (mut made, mut beside) = (0, 0);
    // Each copy holds the profile, too.
    let profile = parts.icc.as_ref().map_or(0, |icc| icc.len() as u64);
    for size in wanted {
        // Either way up.
        for (width, height) in [(parts.width, parts.height), (parts.height, parts.width)] {
            let Some(plan) = sizes::plan((width, height), size) else { continue };
            let pixels = u64::from(plan.to.0) * u64::from(plan.to.1);
            made += pixels * 5 / 2 + profile;
            // Rows that are narrowed already, then the copy in four channels, in its own, and encoded.
            beside = beside.max(u64::from(plan.to.0) * u64::from(plan.from.1) * 4 + pixels * 12 + profile);
        }
    }
    made + beside
}

/// Bytes for an edit: the picture before and after each step.
pub fn edit_bytes(parts: &Parts, steps: &[Edit], rules: &Media) -> u64 {
    let (mut width, mut height) = (f64::from(parts.width), f64::from(parts.height));
    let mut most = parts.pixels() * (parts.channels + parts.channels.max(4));
    for step in steps {
        let before = (width * height).min(rules.max_pixels as f64);
        match step {
            Edit::Rotate(angle) => {
                let (sin, cos) = angle.to_radians().sin_cos();
                let (sin, cos) = (sin.abs(), cos.abs());
                (width, height) = (width * cos + height * sin, width * sin + height * cos);
            }
            Edit::Crop { width: across, height: down, .. } => {
                width *= (across / 100.0).clamp(0.0, 1.0);
                height *= (down / 100.0).clamp(0.0, 1.0);
            }
            Edit::Flip { .. } => {}
        }
        // A result larger than any picture may be is refused before it is made.
        let after = (width * height).min(rules.max_pixels as f64);
        most = most.max((before * 8.0 + after * 11.0) as u64);
    }
    let after = (width * height).min(rules.max_pixels as f64) as u64;
    FIXED + parts.decoding.max(most).max(after * 12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_declaration::units::OptionalSetting;

    /// The header of a picture.
    fn head(side: u32, channels: u64, decoding: u64) -> Parts {
        let mut parts = Parts::default();
        (parts.width, parts.height, parts.channels) = (side, side, channels);
        parts.decoding = parts.pixels() * decoding;
        parts
    }

    #[test]
    fn whatever_has_few_enough_pixels_fits() {
        let declared: toml::Table = toml::from_str(include_str!("../../../routes.toml")).expect("declarations");
        let rules: Media = declared["media"].clone().try_into().expect("rules");
        assert_eq!(rules.max_memory, Media::default().max_memory);
        let side = (rules.max_pixels as f64).sqrt() as u32;
        // The widest pixels: sixteen bits, progressive in four colours, lossy with transparency.
        for (channels, decoding) in [(4, 12), (3, 11), (4, 11), (4, 8)] {
            let need = prepare_bytes(&head(side, channels, decoding), 0, &rules);
            assert!(need <= rules.max_memory.bytes(), "{channels} {decoding}: {need}");
        }
    }

    #[test]
    fn every_copy_holds_the_profile() {
        let rules = Media { max_side: OptionalSetting::OFF, ..Media::default() };
        let sized = |count: usize| {
            let size = PictureSize { width: 10, ..PictureSize::default() };
            Media { sizes: (0..count).map(|n| (n.to_string(), size.clone())).collect(), ..rules.clone() }
        };
        let mut parts = head(100, 3, 3);
        let plain = [1, 5].map(|count| prepare_bytes(&parts, 0, &sized(count)));
        parts.icc = Some(vec![0; 1 << 20]);
        let coloured = [1, 5].map(|count| prepare_bytes(&parts, 0, &sized(count)));
        let more = |n: usize| (coloured[n] - plain[n]) >> 20;
        assert!(more(0) >= 2 && more(1) >= more(0) + 4, "{plain:?} {coloured:?}");
    }

    #[test]
    fn turning_makes_pictures_larger() {
        let rules = Media::default();
        let parts = head(1000, 3, 3);
        let need = |steps: &[Edit]| edit_bytes(&parts, steps, &rules);
        assert!(need(&[Edit::Rotate(45.0)]) > need(&[]));
        assert!(need(&vec![Edit::Rotate(45.0); 50]) <= FIXED + rules.max_pixels * 19 + (1 << 20));
        let cut = Edit::Crop { left: 0.0, top: 0.0, width: 10.0, height: 10.0 };
        assert!(need(&[cut]) < need(&[]), "what is written is smaller");
    }
}
