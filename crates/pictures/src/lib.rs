//! Pictures: measured before anything is decoded, turned upright, resized, cropped and rotated.
//!
//! Works on files and bytes, in a bounded pool. It knows neither records nor where files are stored in the end. A
//! picture is checked by its header: its need of memory is computed, and reserved from the shared budget, before it is
//! decoded.

pub mod boxes;
mod exif;
mod extent;
mod memory;
pub mod metadata;
mod parts;
pub mod sizes;
mod xmp;

pub use memory::{PictureBounds, PictureResult};

use cms_declaration::{Media, PictureSize};
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as FilterKind, PngEncoder};
use image::codecs::webp::WebPEncoder;
use image::metadata::Orientation;
use image::{
    ColorType, DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, Rgba, RgbaImage,
};
use memory::PictureShare;
use parts::Parts;
use serde_json::Value;
use std::fmt;
use std::path::Path;

/// Why a picture is not taken.
#[derive(Debug, PartialEq, Eq)]
pub enum PictureError {
    /// It cannot be decoded: why.
    Broken(String),
    /// Pixels, frames, memory or time beyond the declared limit.
    TooLarge(String),
    /// Its header says that it has no width or no height.
    NoPixels,
    /// Nothing would be left of it.
    Empty,
    /// The metadata contain what this site does not publish: what to do.
    Refused(String),
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PictureError::Broken(why) => write!(f, "The picture cannot be read: {why}."),
            PictureError::TooLarge(why) | PictureError::Refused(why) => f.write_str(why),
            PictureError::NoPixels => f.write_str("The picture has no pixels."),
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
            image::ImageError::IoError(error) => error.into(),
            error => PictureError::Broken(error.to_string()),
        }
    }
}

impl From<std::io::Error> for PictureError {
    fn from(error: std::io::Error) -> PictureError {
        match error.kind() {
            std::io::ErrorKind::TimedOut => too_slow(),
            _ => PictureError::Broken(error.to_string()),
        }
    }
}

fn too_slow() -> PictureError {
    PictureError::TooLarge("The work on the picture takes longer than this site allows.".into())
}

/// The size of the copy that is shown instead of a larger picture.
fn display_size(rules: &Media) -> Option<PictureSize> {
    rules.max_side.get().map(|side| PictureSize { width: *side, height: *side, ..PictureSize::default() })
}

/// How an upload is prepared.
#[derive(Clone, Debug)]
pub struct PrepareOptions {
    /// Smaller copies.
    pub copies: bool,
    /// A picture that is shown instead where the upload is too large or not upright.
    pub display: bool,
    /// Format of what is made.
    pub format: ImageFormat,
    /// Its quality, where the size has none of its own.
    pub quality: u8,
    /// The language of texts, such as `en_US`.
    pub language: String,
}

/// A smaller copy.
#[derive(Debug)]
pub struct ResizedCopy {
    pub name: String,
    pub width: u32,
    pub height: u32,
    pub bytes: Vec<u8>,
}

/// A copy that represents the picture: upright, or of acceptable size.
#[derive(Debug)]
pub struct DisplayCopy {
    /// The suffix of its name.
    pub mark: &'static str,
    pub bytes: Vec<u8>,
}

/// An uploaded picture, prepared.
#[derive(Debug)]
pub struct PreparedPicture {
    /// Of what is shown.
    pub width: u32,
    pub height: u32,
    /// Stored in place of the upload, which contained a location.
    pub cleaned: Option<Vec<u8>>,
    /// Shown in place of the upload.
    pub standing: Option<DisplayCopy>,
    pub made: Vec<ResizedCopy>,
    /// Metadata of the camera.
    pub meta: Value,
    /// Alternative text that the picture's metadata contain; empty when there is none.
    pub alternative: String,
}

impl PreparedPicture {
    fn bytes(&self) -> usize {
        let standing = self.standing.as_ref().map(|standing| &standing.bytes);
        let files = self.cleaned.iter().chain(standing).chain(self.made.iter().map(|made| &made.bytes));
        files.map(Vec::capacity).sum()
    }
}

/// A step of an edit. Rectangles are in hundredths of the picture as it is at that step.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
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
pub fn prepare(
    file: &Path,
    format: ImageFormat,
    bounds: PictureBounds<'_>,
    wanted: &PrepareOptions,
) -> Result<PictureResult<PreparedPicture>, PictureError> {
    let rules = bounds.rules;
    let parts = judged(file, format, bounds)?;
    let size = if parts.tells_place { std::fs::metadata(file)?.len() } else { 0 };
    let share = bounds.share(memory::prepare_bytes(&parts, size, rules))?;
    let (mut picture, orientation) = decoded(file, format, &parts, &share)?;
    let writing = EncodeOptions { format: wanted.format, quality: wanted.quality, icc: parts.icc.as_deref() };
    let cleaned = if parts.tells_place { Some(parts.cleaned(file, share.until)?) } else { None };
    // A file without its metadata no longer says how it has to be turned.
    let forgets = cleaned.is_some() && !parts.keeps_orientation;
    let turned = orientation != Orientation::NoTransforms && (wanted.copies || forgets);
    if turned {
        picture.apply_orientation(orientation);
    }
    let scaled = display_size(rules)
        .and_then(|most| sizes::plan((picture.width(), picture.height()), &most))
        .filter(|_| wanted.display && format != ImageFormat::Gif);
    if let Some(plan) = scaled {
        picture = SourcePicture::of(picture).resize(plan)?;
    }
    let standing = match (scaled.is_some(), turned) {
        (true, _) => Some("-scaled"),
        (false, true) if wanted.display || forgets => Some("-rotated"),
        (false, false) if wanted.display && wanted.format != format => Some(""),
        (false, _) => None,
    };
    let alternative = metadata::alternative(parts.xmp.as_deref(), &wanted.language);
    let mut meta = metadata::describe(parts.exif.as_deref(), &alternative);
    if turned && standing.is_some() {
        // The prepared picture is upright.
        meta["orientation"] = "1".into();
    }
    let standing = standing.map(|mark| {
        share.check_deadline()?;
        let bytes = encode(&picture, &writing)?;
        Ok::<_, PictureError>(DisplayCopy { mark, bytes })
    });
    let prepared = PreparedPicture {
        width: picture.width(),
        height: picture.height(),
        cleaned,
        standing: standing.transpose()?,
        made: make(picture, &writing, &share, |_| wanted.copies)?,
        meta,
        alternative,
    };
    let bytes = prepared.bytes();
    Ok(share.done(prepared, bytes))
}

/// A picture without the place where it was taken; `None` when it does not tell one.
pub fn cleaned(
    file: &Path,
    format: ImageFormat,
    bounds: PictureBounds<'_>,
) -> Result<Option<PictureResult<Vec<u8>>>, PictureError> {
    let parts = judged(file, format, bounds)?;
    if !parts.tells_place {
        return Ok(None);
    }
    let share = bounds.share(std::fs::metadata(file)?.len().saturating_mul(2))?;
    let cleaned = parts.cleaned(file, share.until)?;
    let bytes = cleaned.capacity();
    Ok(Some(share.done(cleaned, bytes)))
}

/// Width and height of a picture that is not decoded here; `None` of other files.
///
/// # Errors
/// It has no pixels, it breaks off, or it cannot be read in the time that is allowed.
pub fn extent_of(file: &Path, mime: &str, bounds: PictureBounds<'_>) -> Result<Option<(u32, u32)>, PictureError> {
    if extent::is_boxed(mime) { extent::extent(file, bounds.parsing()?.until) } else { Ok(None) }
}

/// Width and height of a picture that is within the limits, by its header.
pub fn measured(file: &Path, format: ImageFormat, bounds: PictureBounds<'_>) -> Result<(u32, u32), PictureError> {
    let parts = judged(file, format, bounds)?;
    Ok((parts.width, parts.height))
}

/// Makes those of the declared sizes that `wanted` selects, from a picture that is stored already; `None` where there is
/// none to make.
pub fn missing(
    file: &Path,
    format: ImageFormat,
    bounds: PictureBounds<'_>,
    as_wanted: &PrepareOptions,
    wanted: impl Fn(&str) -> bool,
) -> Result<Option<PictureResult<Vec<ResizedCopy>>>, PictureError> {
    let rules = bounds.rules;
    let parts = judged(file, format, bounds)?;
    // Either way up: nothing is decoded for nothing.
    let sides = [(parts.width, parts.height), (parts.height, parts.width)];
    if !sides.iter().any(|sides| wanted_sizes(*sides, rules).any(&wanted)) {
        return Ok(None);
    }
    let share = bounds.share(memory::prepare_bytes(&parts, 0, rules))?;
    let (mut picture, orientation) = decoded(file, format, &parts, &share)?;
    picture.apply_orientation(orientation);
    let writing = EncodeOptions { format: as_wanted.format, quality: as_wanted.quality, icc: parts.icc.as_deref() };
    let made = make(picture, &writing, &share, wanted)?;
    let bytes = made.iter().map(|made| made.bytes.capacity()).sum();
    Ok(Some(share.done(made, bytes)))
}

/// Carries out the steps of an edit and returns the new file.
///
/// # Errors
/// See [`PictureError`]; [`PictureError::Empty`] when a rectangle is empty.
pub fn edit(
    file: &Path,
    format: ImageFormat,
    bounds: PictureBounds<'_>,
    steps: &[Edit],
) -> Result<PictureResult<Vec<u8>>, PictureError> {
    let rules = bounds.rules;
    let parts = judged(file, format, bounds)?;
    let share = bounds.share(memory::edit_bytes(&parts, steps, rules))?;
    let (mut picture, orientation) = decoded(file, format, &parts, &share)?;
    picture.apply_orientation(orientation);
    for step in steps {
        share.check_deadline()?;
        picture = match step {
            Edit::Rotate(angle) => rotate(picture, *angle, rules)?,
            Edit::Flip { horizontal, vertical } => {
                let picture = if *horizontal { picture.fliph() } else { picture };
                if *vertical { picture.flipv() } else { picture }
            }
            Edit::Crop { left, top, width, height } => crop(&picture, (*left, *top), (*width, *height))?,
        };
    }
    share.check_deadline()?;
    let quality = rules.quality_of(format.to_mime_type());
    let edited = encode(&picture, &EncodeOptions { format, quality, icc: parts.icc.as_deref() })?;
    drop(picture);
    let bytes = edited.capacity();
    Ok(share.done(edited, bytes))
}

/// Names of the declared sizes that a picture of this size has a smaller copy for.
pub fn wanted_sizes(size: (u32, u32), rules: &Media) -> impl Iterator<Item = &str> {
    rules.sizes.iter().filter(move |(_, wanted)| sizes::plan(size, wanted).is_some()).map(|(name, _)| name.as_str())
}

/// How a picture is written.
#[derive(Clone, Copy)]
struct EncodeOptions<'a> {
    format: ImageFormat,
    quality: u8,
    icc: Option<&'a [u8]>,
}

/// Parses a file and checks it by its header.
fn judged(file: &Path, format: ImageFormat, bounds: PictureBounds<'_>) -> Result<Parts, PictureError> {
    let parts = Parts::of(file, format, bounds.parsing()?.until)?;
    memory::check(&parts, bounds.rules)?;
    Ok(parts)
}

/// Reads the pixels; and how they have to be turned.
fn decoded(
    file: &Path,
    format: ImageFormat,
    parts: &Parts,
    share: &PictureShare<'_>,
) -> Result<(DynamicImage, Orientation), PictureError> {
    let mut reader = ImageReader::with_format(parts.reader(file, share.until)?, format);
    let mut limits = image::Limits::no_limits();
    limits.max_alloc = Some(parts.decoding);
    reader.limits(limits);
    let decoder = reader.into_decoder()?;
    if decoder.dimensions() != (parts.width, parts.height) {
        return Err(PictureError::Broken("it is not as large as it says".into()));
    }
    let told = parts.exif.as_deref().and_then(|tiff| exif::Exif::read(tiff).orientation());
    let orientation = told.and_then(Orientation::from_exif).unwrap_or(Orientation::NoTransforms);
    Ok((eight_bits(DynamicImage::from_decoder(decoder)?), orientation))
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
    picture: DynamicImage,
    writing: &EncodeOptions<'_>,
    share: &PictureShare<'_>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<ResizedCopy>, PictureError> {
    let mut made = Vec::new();
    let own = (picture.width(), picture.height());
    let original = SourcePicture::of(picture);
    for (name, size) in share.rules.sizes.iter().filter(|(name, _)| wanted(name)) {
        let Some(plan) = sizes::plan(own, size) else { continue };
        share.check_deadline()?;
        let copy = original.resize(plan)?;
        let writing = EncodeOptions { quality: size.quality.unwrap_or(writing.quality), ..*writing };
        let bytes = encode(&copy, &writing)?;
        made.push(ResizedCopy { name: name.clone(), width: copy.width(), height: copy.height(), bytes });
    }
    Ok(made)
}

/// A picture as red, green, blue and alpha, from which copies in its own colours are made. It takes the place of the picture:
/// both together are the most that the work on a photograph needs.
struct SourcePicture {
    colours: ColorType,
    rgba: RgbaImage,
}

impl SourcePicture {
    fn of(picture: DynamicImage) -> SourcePicture {
        SourcePicture { colours: picture.color(), rgba: picture.into_rgba8() }
    }

    fn resize(&self, plan: sizes::Plan) -> Result<DynamicImage, PictureError> {
        let broken = |error: &dyn fmt::Display| PictureError::Broken(error.to_string());
        let (rgba, kind) = (&self.rgba, PixelType::U8x4);
        let from = ImageRef::new(rgba.width(), rgba.height(), rgba.as_raw(), kind).map_err(|e| broken(&e))?;
        let (width, height) = plan.to;
        let mut to = Image::new(width, height, kind);
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
            .use_alpha(self.colours.has_alpha())
            .crop(f64::from(plan.left), f64::from(plan.top), f64::from(plan.from.0), f64::from(plan.from.1));
        Resizer::new().resize(&from, &mut to, &options).map_err(|e| broken(&e))?;
        let copy = RgbaImage::from_raw(width, height, to.into_vec()).map(DynamicImage::ImageRgba8);
        let copy = copy.ok_or(PictureError::Empty)?;
        Ok(match self.colours {
            ColorType::L8 => DynamicImage::ImageLuma8(copy.into_luma8()),
            ColorType::La8 => DynamicImage::ImageLumaA8(copy.into_luma_alpha8()),
            ColorType::Rgb8 => DynamicImage::ImageRgb8(copy.into_rgb8()),
            _ => copy,
        })
    }
}

fn encode(picture: &DynamicImage, writing: &EncodeOptions<'_>) -> Result<Vec<u8>, PictureError> {
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
                DynamicImage::ImageRgb8(rgb) => {
                    encoder.write_image(rgb.as_raw(), width, height, ExtendedColorType::Rgb8)?;
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

/// Passes the colour profile on where it is still valid: a decoder may have converted the colours to red, green and
/// blue.
fn keep_colours(encoder: &mut impl ImageEncoder, picture: &DynamicImage, writing: &EncodeOptions<'_>) {
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

fn rotate(picture: DynamicImage, angle: f64, rules: &Media) -> Result<DynamicImage, PictureError> {
    let angle = angle.rem_euclid(360.0);
    if angle == 0.0 {
        return Ok(picture);
    }
    for (quarter, turned) in [
        (90.0, DynamicImage::rotate90 as fn(&_) -> _),
        (180.0, DynamicImage::rotate180),
        (270.0, DynamicImage::rotate270),
    ] {
        if angle == quarter {
            return Ok(turned(&picture));
        }
    }
    let (sin, cos) = angle.to_radians().sin_cos();
    let (width, height) = (f64::from(picture.width()), f64::from(picture.height()));
    let across = (width * cos.abs() + height * sin.abs()).ceil();
    let down = (width * sin.abs() + height * cos.abs()).ceil();
    if across * down > rules.max_pixels as f64 {
        return Err(PictureError::TooLarge("The picture would become too large.".into()));
    }
    let clear = picture.color().has_alpha();
    let from = picture.into_rgba8();
    // Each new pixel is taken from a source pixel; the corners have none and stay transparent.
    let rotated = RgbaImage::from_fn(across as u32, down as u32, |x, y| {
        let (dx, dy) = (f64::from(x) + 0.5 - across / 2.0, f64::from(y) + 0.5 - down / 2.0);
        let (sx, sy) = (dx * cos + dy * sin + width / 2.0 - 0.5, dy * cos - dx * sin + height / 2.0 - 0.5);
        blend(&from, sx, sy)
    });
    let rotated = DynamicImage::ImageRgba8(rotated);
    drop(from);
    Ok(if clear { rotated } else { on_white(rotated) })
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
    drop(picture);
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
    use std::sync::Arc;

    const FORMATS: [ImageFormat; 4] = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP];

    fn rules() -> Media {
        let mut rules = Media { max_pixels: 1_000_000, max_frames: 2, ..Media::default() };
        rules.sizes.insert("small".into(), PictureSize { width: 10, height: 10, crop: true, quality: None });
        rules
    }

    fn wanted(format: ImageFormat) -> PrepareOptions {
        PrepareOptions { copies: true, display: true, format, quality: 82, language: "en_US".into() }
    }

    /// The work on a picture under rules, with all the memory that they name.
    fn prepared(file: &Path, format: ImageFormat, rules: &Media) -> Result<PreparedPicture, PictureError> {
        prepare(file, format, PictureBounds { rules, memory: &Arc::default() }, &wanted(format)).map(|done| done.value)
    }

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        file
    }

    /// Grey steps from left to right, so that every rotation differs from the others.
    fn steps(width: u32, height: u32) -> DynamicImage {
        DynamicImage::ImageRgb8(image::RgbImage::from_fn(width, height, |x, _| {
            image::Rgb([(x * 255 / width) as u8; 3])
        }))
    }

    fn written(picture: &DynamicImage, format: ImageFormat) -> Result<Vec<u8>, PictureError> {
        encode(picture, &EncodeOptions { format, quality: 82, icc: None })
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
                encode(&steps(40, 20), &EncodeOptions { format, quality: 82, icc: Some(&profile) }).expect("encoded");
            let copy = prepared(file(&source).path(), format, &rules()).expect("prepared").made.remove(0);
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
            let prepared = prepared(source.path(), format, &rules()).unwrap_or_else(|e| panic!("{format:?}: {e}"));
            assert_eq!((prepared.width, prepared.height, prepared.made.len()), (40, 20, 1), "{format:?}");
            assert!(prepared.standing.is_none() && prepared.cleaned.is_none(), "{format:?}");
            let small = &prepared.made[0];
            assert_eq!((small.width, small.height), (10, 10));
            assert_eq!(image::guess_format(&small.bytes).ok(), Some(format));
        }
    }

    #[test]
    fn what_was_made_takes_memory_until_it_is_stored() {
        let source = file(&written(&steps(40, 20), ImageFormat::Png).expect("encoded"));
        let (rules, memory) = (rules(), Arc::default());
        let bounds = PictureBounds { rules: &rules, memory: &memory };
        let prepared = prepare(source.path(), ImageFormat::Png, bounds, &wanted(ImageFormat::Png)).expect("prepared");
        assert_eq!(memory.taken(), prepared.value.made[0].bytes.capacity() as u64);
        drop(prepared);
        assert_eq!(memory.taken(), 0);
        let edited = edit(source.path(), ImageFormat::Png, bounds, &[Edit::Rotate(90.0)]).expect("edited");
        assert_eq!(memory.taken(), edited.value.capacity() as u64);
    }

    #[test]
    fn limits_come_first() {
        let large = file(&written(&steps(1100, 1000), ImageFormat::Png).expect("encoded"));
        let refused = prepared(large.path(), ImageFormat::Png, &rules());
        assert!(matches!(refused, Err(PictureError::TooLarge(_))), "{refused:?}");
        let broken = prepared(file(b"GIF89a").path(), ImageFormat::Gif, &rules());
        assert!(matches!(broken, Err(PictureError::Broken(_))), "{broken:?}");
    }

    #[test]
    fn edits() {
        let source = file(&written(&steps(40, 20), ImageFormat::Png).expect("encoded"));
        let (rules, memory) = (rules(), Arc::default());
        let bounds = PictureBounds { rules: &rules, memory: &memory };
        let edited = |steps: &[Edit]| edit(source.path(), ImageFormat::Png, bounds, steps).map(|done| done.value);
        let check = |steps: &[Edit], size: (u32, u32), corner: std::ops::RangeInclusive<u8>| {
            let bytes = edited(steps).expect("edited");
            let picture = image::load_from_memory(&bytes).expect("a picture").to_rgb8();
            assert_eq!(picture.dimensions(), size, "{steps:?}");
            assert!(corner.contains(&picture.get_pixel(0, 0).0[0]), "{steps:?}: {:?}", picture.get_pixel(0, 0));
        };
        check(&[], (40, 20), 0..=0);
        check(&[Edit::Rotate(90.0)], (20, 40), 0..=0);
        check(&[Edit::Rotate(180.0)], (40, 20), 240..=255);
        check(&[Edit::Rotate(-90.0)], (20, 40), 240..=255);
        check(&[Edit::Rotate(360.0)], (40, 20), 0..=0);
        check(&[Edit::Rotate(45.0)], (43, 43), 255..=255);
        check(&[Edit::Flip { horizontal: true, vertical: false }], (40, 20), 240..=255);
        check(&[Edit::Flip { horizontal: false, vertical: true }], (40, 20), 0..=0);
        check(&[Edit::Crop { left: 50.0, top: 0.0, width: 50.0, height: 50.0 }], (20, 10), 120..=130);
        check(&[Edit::Crop { left: 90.0, top: 90.0, width: 100.0, height: 100.0 }], (4, 2), 220..=240);
        let nothing = [Edit::Crop { left: 0.0, top: 0.0, width: 0.0, height: 50.0 }];
        assert_eq!(edited(&nothing), Err(PictureError::Empty));
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
            let _ = prepared(source.path(), format, &rules());
        }
    }
}
