//! Pictures: measured before anything is decoded, turned upright, brought to smaller sizes, cut and rotated.
//!
//! Works on files and bytes, in a bounded pool. It knows neither records nor where files live in the end.

mod frames;
pub mod metadata;
pub mod sizes;

use crate::config::declaration::{Media, PictureSize};
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as FilterKind, PngEncoder};
use image::codecs::webp::WebPEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, Rgba, RgbaImage};
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Why a picture is not taken.
#[derive(Debug, PartialEq, Eq)]
pub enum PictureError {
    /// It cannot be decoded: why.
    Broken(String),
    /// Pixels, or frames, beyond the declared limit.
    TooLarge(String),
    /// Nothing would be left of it.
    Empty,
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PictureError::Broken(why) => write!(f, "The picture cannot be read: {why}."),
            PictureError::TooLarge(why) => f.write_str(why),
            PictureError::Empty => f.write_str("Nothing would be left of the picture."),
        }
    }
}

impl From<image::ImageError> for PictureError {
    fn from(error: image::ImageError) -> PictureError {
        match error {
            image::ImageError::Limits(_) => {
                PictureError::TooLarge("The picture is larger than this site takes.".into())
            }
            error => PictureError::Broken(error.to_string()),
        }
    }
}

impl From<std::io::Error> for PictureError {
    fn from(error: std::io::Error) -> PictureError {
        PictureError::Broken(error.to_string())
    }
}

/// A smaller copy.
#[derive(Debug)]
pub struct Made {
    pub name: String,
    pub width: u32,
    pub height: u32,
    pub bytes: Vec<u8>,
}

/// A copy that stands for the picture: upright, or of bearable size.
#[derive(Debug)]
pub struct Standing {
    /// What tells its name from the original's.
    pub mark: &'static str,
    pub bytes: Vec<u8>,
}

/// What becomes of an uploaded picture.
#[derive(Debug)]
pub struct Prepared {
    /// Of what is shown.
    pub width: u32,
    pub height: u32,
    /// Stored in place of what came, which told where the picture was taken.
    pub cleaned: Option<Vec<u8>>,
    /// Shown in place of what came.
    pub standing: Option<Standing>,
    pub made: Vec<Made>,
    /// What the camera wrote.
    pub meta: Value,
}

/// A step of an edit. Rectangles are in hundredths of the picture as it is at that step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Clockwise, in degrees.
    Rotate(f64),
    Flip {
        horizontal: bool,
        vertical: bool,
    },
    Crop {
        left: f64,
        top: f64,
        width: f64,
        height: f64,
    },
}

/// The format of a MIME type, if it is one that is decoded here.
pub fn format_of(mime: &str) -> Option<ImageFormat> {
    match mime {
        "image/jpeg" => Some(ImageFormat::Jpeg),
        "image/png" => Some(ImageFormat::Png),
        "image/gif" => Some(ImageFormat::Gif),
        "image/webp" => Some(ImageFormat::WebP),
        _ => None,
    }
}

/// Makes of an upload what is stored: checks it against the limits, decodes it once, and makes every declared size.
///
/// # Errors
/// See [`PictureError`].
pub fn prepare(file: &Path, format: ImageFormat, rules: &Media) -> Result<Prepared, PictureError> {
    let Opened { mut picture, orientation, exif, xmp, icc } = open(file, format, rules)?;
    let writing = Writing { format, quality: rules.quality, icc: icc.as_deref() };
    let cleaned = if metadata::tells_place(exif.as_deref(), xmp.as_deref()) {
        let bytes = std::fs::read(file)?;
        let cleaned = metadata::without_metadata(bytes, format);
        Some(cleaned.ok_or_else(|| PictureError::Broken("the place cannot be removed from it".into()))?)
    } else {
        None
    };
    let turned = orientation != Orientation::NoTransforms;
    picture.apply_orientation(orientation);
    let most = PictureSize { width: rules.largest, height: rules.largest, crop: false };
    let scaled = sizes::plan((picture.width(), picture.height()), &most).filter(|_| format != ImageFormat::Gif);
    if let Some(plan) = scaled {
        picture = Original::of(&picture).resize(plan)?;
    }
    let standing = match (scaled.is_some(), turned) {
        (true, _) => Some("-scaled"),
        (false, true) => Some("-rotated"),
        (false, false) => None,
    };
    let mut meta = metadata::describe(exif.as_deref());
    if turned {
        // What is shown stands upright.
        meta["orientation"] = "1".into();
    }
    let standing = standing.map(|mark| {
        let bytes = encode(&picture, &writing)?;
        Ok::<_, PictureError>(Standing { mark, bytes })
    });
    Ok(Prepared {
        width: picture.width(),
        height: picture.height(),
        cleaned,
        standing: standing.transpose()?,
        made: make(&picture, &writing, rules, |_| true)?,
        meta,
    })
}

/// Makes those of the declared sizes that `wanted` says yes to, from a picture that is stored already.
///
/// # Errors
/// See [`PictureError`].
pub fn missing(
    file: &Path,
    format: ImageFormat,
    rules: &Media,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Made>, PictureError> {
    let Opened { mut picture, orientation, icc, .. } = open(file, format, rules)?;
    picture.apply_orientation(orientation);
    make(&picture, &Writing { format, quality: rules.quality, icc: icc.as_deref() }, rules, wanted)
}

/// Carries out the steps of an edit and gives the new file.
///
/// # Errors
/// See [`PictureError`]; [`PictureError::Empty`] when a rectangle holds nothing.
pub fn edit(file: &Path, format: ImageFormat, rules: &Media, steps: &[Step]) -> Result<Vec<u8>, PictureError> {
    let Opened { mut picture, orientation, icc, .. } = open(file, format, rules)?;
    picture.apply_orientation(orientation);
    for step in steps {
        picture = match step {
            Step::Rotate(angle) => rotate(&picture, *angle, rules)?,
            Step::Flip { horizontal, vertical } => {
                let picture = if *horizontal { picture.fliph() } else { picture };
                if *vertical { picture.flipv() } else { picture }
            }
            Step::Crop { left, top, width, height } => crop(&picture, (*left, *top), (*width, *height))?,
        };
    }
    encode(&picture, &Writing { format, quality: rules.quality, icc: icc.as_deref() })
}

/// Names of the declared sizes that a picture of this size has a smaller copy for.
pub fn wanted_sizes(size: (u32, u32), rules: &Media) -> impl Iterator<Item = &str> {
    rules.sizes.iter().filter(move |(_, wanted)| sizes::plan(size, wanted).is_some()).map(|(name, _)| name.as_str())
}

struct Opened {
    picture: DynamicImage,
    orientation: Orientation,
    exif: Option<Vec<u8>>,
    xmp: Option<Vec<u8>>,
    /// What the colours mean.
    icc: Option<Vec<u8>>,
}

/// How a picture is written.
struct Writing<'a> {
    format: ImageFormat,
    quality: u8,
    icc: Option<&'a [u8]>,
}

/// Reads the head, judges it, and only then the pixels.
fn open(file: &Path, format: ImageFormat, rules: &Media) -> Result<Opened, PictureError> {
    let most = rules.max_frames;
    if frames::count(file, format, most)? > most {
        return Err(PictureError::TooLarge(format!("The animation has more than {most} frames.")));
    }
    let mut reader = ImageReader::with_format(BufReader::new(File::open(file)?), format);
    let mut limits = image::Limits::no_limits();
    // Four bytes a pixel, and as much again for what a decoder needs beside.
    limits.max_alloc = Some(rules.max_pixels.saturating_mul(8).max(1 << 20));
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > rules.max_pixels {
        let most = rules.max_pixels;
        return Err(PictureError::TooLarge(format!("The picture has {pixels} pixels; at most {most} are taken.")));
    }
    let exif = decoder.exif_metadata().ok().flatten();
    let xmp = decoder.xmp_metadata().ok().flatten();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let icc = decoder.icc_profile().ok().flatten();
    let picture = eight_bits(DynamicImage::from_decoder(decoder)?);
    Ok(Opened { picture, orientation, exif, xmp, icc })
}

fn eight_bits(picture: DynamicImage) -> DynamicImage {
    match picture {
        DynamicImage::ImageLuma8(_)
        | DynamicImage::ImageLumaA8(_)
        | DynamicImage::ImageRgb8(_)
        | DynamicImage::ImageRgba8(_) => picture,
        deep if deep.color().has_alpha() => DynamicImage::ImageRgba8(deep.into_rgba8()),
        deep => DynamicImage::ImageRgb8(deep.into_rgb8()),
    }
}

fn make(
    picture: &DynamicImage,
    writing: &Writing<'_>,
    rules: &Media,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Made>, PictureError> {
    let mut made = Vec::new();
    let original = Original::of(picture);
    for (name, size) in rules.sizes.iter().filter(|(name, _)| wanted(name)) {
        let Some(plan) = sizes::plan((picture.width(), picture.height()), size) else { continue };
        let copy = original.resize(plan)?;
        let bytes = encode(&copy, writing)?;
        made.push(Made { name: name.clone(), width: copy.width(), height: copy.height(), bytes });
    }
    Ok(made)
}

/// A picture as red, green, blue and alpha, from which copies in its own colours are made.
struct Original<'p> {
    picture: &'p DynamicImage,
    rgba: std::borrow::Cow<'p, RgbaImage>,
}

impl<'p> Original<'p> {
    fn of(picture: &'p DynamicImage) -> Original<'p> {
        let rgba = match picture {
            DynamicImage::ImageRgba8(rgba) => std::borrow::Cow::Borrowed(rgba),
            other => std::borrow::Cow::Owned(other.to_rgba8()),
        };
        Original { picture, rgba }
    }

    fn resize(&self, plan: sizes::Plan) -> Result<DynamicImage, PictureError> {
        let broken = |error: &dyn fmt::Display| PictureError::Broken(error.to_string());
        let (rgba, kind) = (&self.rgba, PixelType::U8x4);
        let from = ImageRef::new(rgba.width(), rgba.height(), rgba.as_raw(), kind).map_err(|e| broken(&e))?;
        let (width, height) = plan.to;
        let mut to = Image::new(width, height, kind);
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
            .use_alpha(self.picture.color().has_alpha())
            .crop(f64::from(plan.left), f64::from(plan.top), f64::from(plan.from.0), f64::from(plan.from.1));
        Resizer::new().resize(&from, &mut to, &options).map_err(|e| broken(&e))?;
        let copy = RgbaImage::from_raw(width, height, to.into_vec()).map(DynamicImage::ImageRgba8);
        let copy = copy.ok_or(PictureError::Empty)?;
        Ok(match self.picture {
            DynamicImage::ImageLuma8(_) => DynamicImage::ImageLuma8(copy.into_luma8()),
            DynamicImage::ImageLumaA8(_) => DynamicImage::ImageLumaA8(copy.into_luma_alpha8()),
            DynamicImage::ImageRgb8(_) => DynamicImage::ImageRgb8(copy.into_rgb8()),
            _ => copy,
        })
    }
}

fn encode(picture: &DynamicImage, writing: &Writing<'_>) -> Result<Vec<u8>, PictureError> {
    let mut out = Vec::new();
    let (width, height) = (picture.width(), picture.height());
    match writing.format {
        ImageFormat::Jpeg => {
            let mut encoder = JpegEncoder::new_with_quality(&mut out, writing.quality.clamp(1, 100));
            keep_colours(&mut encoder, picture, writing);
            match picture {
                DynamicImage::ImageLuma8(gray) => {
                    encoder.write_image(gray.as_raw(), width, height, ExtendedColorType::L8)?;
                }
                other => encoder.write_image(&other.to_rgb8(), width, height, ExtendedColorType::Rgb8)?,
            }
        }
        ImageFormat::Gif => {
            let mut encoder = GifEncoder::new(&mut out);
            encoder.encode(&picture.to_rgba8(), width, height, ExtendedColorType::Rgba8)?;
        }
        ImageFormat::WebP => {
            let mut encoder = WebPEncoder::new_lossless(&mut out);
            keep_colours(&mut encoder, picture, writing);
            encoder.write_image(&picture.to_rgba8(), width, height, ExtendedColorType::Rgba8)?;
        }
        _ => {
            let mut encoder = PngEncoder::new_with_quality(&mut out, CompressionType::Default, FilterKind::Adaptive);
            keep_colours(&mut encoder, picture, writing);
            encoder.write_image(picture.as_bytes(), width, height, picture.color().into())?;
        }
    }
    Ok(out)
}

/// Hands the colour profile on where it still tells the truth: a decoder may have made red, green and blue of other
/// colours.
fn keep_colours(encoder: &mut impl ImageEncoder, picture: &DynamicImage, writing: &Writing<'_>) {
    let space = writing.icc.and_then(|icc| icc.get(16..20));
    let fits = match space {
        Some(b"RGB ") => picture.color().has_color(),
        Some(b"GRAY") => !picture.color().has_color(),
        _ => false,
    };
    if let Some(icc) = writing.icc.filter(|_| fits) {
        // A format that holds no profile does without.
        let _ = encoder.set_icc_profile(icc.to_vec());
    }
}

fn rotate(picture: &DynamicImage, angle: f64, rules: &Media) -> Result<DynamicImage, PictureError> {
    let angle = angle.rem_euclid(360.0);
    if angle == 0.0 {
        return Ok(picture.clone());
    }
    for (quarter, turned) in [
        (90.0, DynamicImage::rotate90 as fn(&_) -> _),
        (180.0, DynamicImage::rotate180),
        (270.0, DynamicImage::rotate270),
    ] {
        if angle == quarter {
            return Ok(turned(picture));
        }
    }
    let (sin, cos) = angle.to_radians().sin_cos();
    let (width, height) = (f64::from(picture.width()), f64::from(picture.height()));
    let across = (width * cos.abs() + height * sin.abs()).ceil();
    let down = (width * sin.abs() + height * cos.abs()).ceil();
    if across * down > rules.max_pixels as f64 {
        return Err(PictureError::TooLarge("The picture would become too large.".into()));
    }
    let from = picture.to_rgba8();
    // Each new pixel asks where it comes from; the corners come from nowhere and stay clear.
    let rotated = RgbaImage::from_fn(across as u32, down as u32, |x, y| {
        let (dx, dy) = (f64::from(x) + 0.5 - across / 2.0, f64::from(y) + 0.5 - down / 2.0);
        let (sx, sy) = (dx * cos + dy * sin + width / 2.0 - 0.5, dy * cos - dx * sin + height / 2.0 - 0.5);
        blend(&from, sx, sy)
    });
    let rotated = DynamicImage::ImageRgba8(rotated);
    Ok(if picture.color().has_alpha() { rotated } else { on_white(rotated) })
}

/// The colour between four pixels, each as much as the point is near to it.
fn blend(from: &RgbaImage, x: f64, y: f64) -> Rgba<u8> {
    let (left, top) = (x.floor(), y.floor());
    let mut sum = [0.0; 4];
    for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
        let (px, py) = (left + dx, top + dy);
        if px < 0.0 || py < 0.0 || px >= f64::from(from.width()) || py >= f64::from(from.height()) {
            continue;
        }
        let weight = (1.0 - (x - px).abs()) * (1.0 - (y - py).abs());
        let pixel = from.get_pixel(px as u32, py as u32).0;
        let alpha = f64::from(pixel[3]) * weight;
        for channel in 0..3 {
            sum[channel] += f64::from(pixel[channel]) * alpha;
        }
        sum[3] += alpha;
    }
    if sum[3] <= 0.0 {
        return Rgba([0, 0, 0, 0]);
    }
    let channel = |i: usize| (sum[i] / sum[3]).round().clamp(0.0, 255.0) as u8;
    Rgba([channel(0), channel(1), channel(2), sum[3].round().clamp(0.0, 255.0) as u8])
}

/// A picture that knows no transparency gets a white ground.
fn on_white(picture: DynamicImage) -> DynamicImage {
    let mut ground = RgbaImage::from_pixel(picture.width(), picture.height(), Rgba([255; 4]));
    image::imageops::overlay(&mut ground, &picture, 0, 0);
    DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(ground).into_rgb8())
}

fn crop(picture: &DynamicImage, from: (f64, f64), size: (f64, f64)) -> Result<DynamicImage, PictureError> {
    let (width, height) = (picture.width(), picture.height());
    let part = |share: f64, whole: u32| (f64::from(whole) * share / 100.0).round().clamp(0.0, f64::from(whole)) as u32;
    let (left, top) = (part(from.0, width), part(from.1, height));
    let size = (part(size.0, width).min(width - left), part(size.1, height).min(height - top));
    if size.0 == 0 || size.1 == 0 {
        return Err(PictureError::Empty);
    }
    Ok(picture.crop_imm(left, top, size.0, size.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write as _;

    const FORMATS: [ImageFormat; 4] = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP];

    fn rules() -> Media {
        let mut rules = Media { max_pixels: 1_000_000, max_frames: 2, ..Media::default() };
        rules.sizes.insert("small".into(), PictureSize { width: 10, height: 10, crop: true });
        rules
    }

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        file
    }

    /// Grey steps from left to right, so that every turn can be told from the others.
    fn steps(width: u32, height: u32) -> DynamicImage {
        DynamicImage::ImageRgb8(image::RgbImage::from_fn(width, height, |x, _| {
            image::Rgb([(x * 255 / width) as u8; 3])
        }))
    }

    fn written(picture: &DynamicImage, format: ImageFormat) -> Result<Vec<u8>, PictureError> {
        encode(picture, &Writing { format, quality: 82, icc: None })
    }

    #[test]
    fn copies_keep_what_colours_mean() {
        let mut profile = vec![7u8; 200];
        profile[16..20].copy_from_slice(b"RGB ");
        for (format, space, expected) in [
            (ImageFormat::Jpeg, b"RGB ", true),
            (ImageFormat::Png, b"RGB ", true),
            (ImageFormat::WebP, b"RGB ", true),
            (ImageFormat::Jpeg, b"CMYK", false),
            (ImageFormat::Gif, b"RGB ", false),
        ] {
            profile[16..20].copy_from_slice(space);
            let source =
                encode(&steps(40, 20), &Writing { format, quality: 82, icc: Some(&profile) }).expect("encoded");
            let copy = prepare(file(&source).path(), format, &rules()).expect("prepared").made.remove(0);
            let mut decoder =
                ImageReader::with_format(std::io::Cursor::new(copy.bytes), format).into_decoder().expect("read");
            let found = decoder.icc_profile().expect("read");
            assert_eq!(found.as_deref() == Some(&profile[..]), expected, "{format:?}");
        }
    }

    #[test]
    fn every_format_is_prepared() {
        for format in FORMATS {
            let source = file(&written(&steps(40, 20), format).expect("encoded"));
            let prepared = prepare(source.path(), format, &rules()).unwrap_or_else(|e| panic!("{format:?}: {e}"));
            assert_eq!((prepared.width, prepared.height, prepared.made.len()), (40, 20, 1), "{format:?}");
            assert!(prepared.standing.is_none() && prepared.cleaned.is_none(), "{format:?}");
            let small = &prepared.made[0];
            assert_eq!((small.width, small.height), (10, 10));
            assert_eq!(image::guess_format(&small.bytes).ok(), Some(format));
        }
    }

    #[test]
    fn limits_come_first() {
        let large = file(&written(&steps(1100, 1000), ImageFormat::Png).expect("encoded"));
        let refused = prepare(large.path(), ImageFormat::Png, &rules());
        assert!(matches!(refused, Err(PictureError::TooLarge(_))), "{refused:?}");
        let broken = prepare(file(b"GIF89a").path(), ImageFormat::Gif, &rules());
        assert!(matches!(broken, Err(PictureError::Broken(_))), "{broken:?}");
    }

    #[test]
    fn edits() {
        let source = file(&written(&steps(40, 20), ImageFormat::Png).expect("encoded"));
        let check = |steps: &[Step], size: (u32, u32), corner: std::ops::RangeInclusive<u8>| {
            let bytes = edit(source.path(), ImageFormat::Png, &rules(), steps).expect("edited");
            let picture = image::load_from_memory(&bytes).expect("a picture").to_rgb8();
            assert_eq!(picture.dimensions(), size, "{steps:?}");
            assert!(corner.contains(&picture.get_pixel(0, 0).0[0]), "{steps:?}: {:?}", picture.get_pixel(0, 0));
        };
        check(&[], (40, 20), 0..=0);
        check(&[Step::Rotate(90.0)], (20, 40), 0..=0);
        check(&[Step::Rotate(180.0)], (40, 20), 240..=255);
        check(&[Step::Rotate(-90.0)], (20, 40), 240..=255);
        check(&[Step::Rotate(360.0)], (40, 20), 0..=0);
        check(&[Step::Rotate(45.0)], (43, 43), 255..=255);
        check(&[Step::Flip { horizontal: true, vertical: false }], (40, 20), 240..=255);
        check(&[Step::Flip { horizontal: false, vertical: true }], (40, 20), 0..=0);
        check(&[Step::Crop { left: 50.0, top: 0.0, width: 50.0, height: 50.0 }], (20, 10), 120..=130);
        check(&[Step::Crop { left: 90.0, top: 90.0, width: 100.0, height: 100.0 }], (4, 2), 220..=240);
        let nothing = [Step::Crop { left: 0.0, top: 0.0, width: 0.0, height: 50.0 }];
        assert_eq!(edit(source.path(), ImageFormat::Png, &rules(), &nothing), Err(PictureError::Empty));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn nothing_panics(which in 0usize..4, cut in 0usize..400, changes in prop::collection::vec((0usize..400, any::<u8>()), 0..6)) {
            let format = FORMATS[which];
            let mut bytes = written(&steps(12, 7), format).expect("encoded");
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len().saturating_sub(cut % 40));
            let source = file(&bytes);
            let _ = prepare(source.path(), format, &rules());
        }
    }
}
