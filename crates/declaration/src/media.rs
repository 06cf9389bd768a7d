//! Uploaded files and pictures.

use crate::units::{Duration, OptionalSetting, Size, yes};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Uploaded files: where they are stored, what is accepted, which copies are made of pictures.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Media {
    /// `file:FOLDER`, or `memory:` for tests; absent: a folder beside the database, named after it.
    #[schemars(extend("x-restart" = true))]
    pub url: Option<String>,
    /// Path below the site's address at which files are served.
    pub path: String,
    /// Largest file.
    pub max_upload: Size,
    /// Most pixels of a picture; checked before anything is decoded.
    pub max_pixels: u64,
    /// Most frames of an animation.
    pub max_frames: u32,
    /// Memory that all pictures in progress use together; the need of a picture is computed from its header,
    /// and one that exceeds the whole is refused.
    pub max_memory: Size,
    /// How long the work on one picture may take.
    pub timeout: Duration,
    /// Threads that work on pictures.
    #[schemars(extend("x-restart" = true))]
    pub workers: usize,
    /// Pictures that may wait for them; more are answered 503.
    #[schemars(extend("x-restart" = true))]
    pub queue: usize,
    /// Pictures with a longer side are shown by a copy of this size in pixels; `false`: never.
    pub max_side: OptionalSetting<u32>,
    /// Quality of JPEG files that the server makes, 1 to 100.
    pub quality: u8,
    /// Most bits of a colour channel in copies that clients make.
    pub max_bit_depth: u8,
    /// Capability of callers to whom the root describes in a secure context how pictures are processed; `false`: nobody.
    pub described_to: OptionalSetting<String>,
    /// How long a file may exist without a record before it is deleted.
    #[schemars(extend("x-restart" = true))]
    pub orphan_timeout: Duration,
    /// How long browsers and proxies may show a file without asking; a file that was replaced is seen after that.
    pub max_age: Duration,
    /// Smaller copies that are made of each picture, by name.
    pub sizes: IndexMap<String, PictureSize>,
    /// Accepted files, by MIME type.
    pub types: IndexMap<String, FileType>,
}

impl Default for Media {
    fn default() -> Self {
        Media {
            url: None,
            path: "/files".into(),
            max_upload: Size::mib(64),
            max_pixels: 50_000_000,
            max_frames: 500,
            max_memory: Size::mib(640),
            timeout: Duration::seconds_of(120),
            workers: 2,
            queue: 64,
            max_side: OptionalSetting::on(2560),
            quality: 82,
            max_bit_depth: 16,
            described_to: OptionalSetting::OFF,
            orphan_timeout: Duration::seconds_of(600),
            max_age: Duration::seconds_of(3600),
            sizes: IndexMap::new(),
            types: IndexMap::new(),
        }
    }
}

/// A size that pictures are resized to. A side of 0 follows from the other.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct PictureSize {
    /// Most pixels across; 0: as many as follow from the height.
    pub width: u32,
    /// Most pixels down; 0: as many as follow from the width.
    pub height: u32,
    /// Exactly this size, the excess is cropped; otherwise the picture is fitted into it.
    pub crop: bool,
    /// Quality of copies of this size, 1 to 100; absent: that of their type.
    pub quality: Option<u8>,
}

/// A type of file that is accepted.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileType {
    /// File name extensions; files with another one get the first.
    pub extensions: Vec<String>,
    /// Further MIME types that may be detected in the contents.
    pub sniffed_as: Vec<String>,
    /// The format has no signature: any text is accepted.
    pub plain_text: bool,
    /// Shown in the browser; otherwise offered as a download.
    pub inline: bool,
    /// Shown without scripts and without an origin.
    pub sandbox: bool,
    /// MIME type of the copies that are made of such a picture, and of the picture that is shown; absent: the same.
    pub converted_to: Option<String>,
    /// Quality of pictures of this type, 1 to 100; absent: `media.quality`.
    pub quality: Option<u8>,
    /// Clients that make copies write them progressively; the server's own are not.
    pub progressive: bool,
    /// Names of the sizes in which clients may add pictures of what a file contains that is no picture itself.
    pub previews: Vec<String>,
    /// Accepted by themselves; otherwise only with items of resources whose options name the type (`options.uploads`).
    #[serde(default = "yes")]
    pub alone: bool,
    /// Whether such files are accepted.
    #[serde(default = "yes")]
    pub enabled: bool,
}

impl Default for FileType {
    fn default() -> Self {
        FileType {
            extensions: Vec::new(),
            sniffed_as: Vec::new(),
            plain_text: false,
            inline: false,
            sandbox: false,
            converted_to: None,
            quality: None,
            progressive: false,
            previews: Vec::new(),
            alone: true,
            enabled: true,
        }
    }
}

impl Media {
    /// Quality of pictures of a type.
    pub fn quality_of(&self, mime: &str) -> u8 {
        self.types.get(mime).and_then(|of| of.quality).unwrap_or(self.quality)
    }

    /// The type into which pictures of a type are converted.
    pub fn converted<'m>(&'m self, mime: &str) -> Option<&'m str> {
        self.types.get(mime).and_then(|of| of.converted_to.as_deref()).filter(|to| *to != mime)
    }
}
