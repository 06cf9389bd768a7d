//! Files that the program holds compressed (Brotli): they are sent as they are, or unpacked for clients that take none.

use cms_core::error::status;
use cms_core::model::{Payload, Reply};
use std::io::Read as _;
use std::sync::OnceLock;

/// A file that the program holds compressed.
pub(super) struct PackedAsset {
    pub name: &'static str,
    media_type: &'static str,
    /// The value of `Cache-Control`.
    caching: &'static str,
    packed: &'static [u8],
    /// For clients that take no compressed files.
    plain: OnceLock<Vec<u8>>,
}

/// How long files are stored whose names stay when their contents change.
const A_DAY: &str = "public, max-age=86400";

/// How long files are stored whose names follow from their contents.
const FOR_GOOD: &str = "public, max-age=31536000, immutable";

impl PackedAsset {
    /// A file whose name stays when its contents change.
    pub const fn new(name: &'static str, media_type: &'static str, packed: &'static [u8]) -> PackedAsset {
        PackedAsset { name, media_type, caching: A_DAY, packed, plain: OnceLock::new() }
    }

    /// Its name follows from its contents.
    pub const fn immutable(mut self) -> PackedAsset {
        self.caching = FOR_GOOD;
        self
    }

    /// The file, compressed for clients that accept it so.
    pub fn reply(&self, accepted: Option<&str>) -> Reply {
        let takes = |one: &str| {
            let (name, weight) = one.split_once(';').unwrap_or((one, ""));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
            name.trim() == "br" && weight.is_none_or(|weight| weight > 0.0)
        };
        let compressed = accepted.is_some_and(|list| list.split(',').any(takes));
        let mut headers = vec![
            ("Cache-Control".to_owned(), self.caching.to_owned()),
            ("Vary".to_owned(), "Accept-Encoding".to_owned()),
        ];
        let bytes = match compressed {
            true => {
                headers.push(("Content-Encoding".into(), "br".into()));
                self.packed.to_vec()
            }
            false => self.plain().to_vec(),
        };
        Reply { status: status::OK, headers, payload: Payload::Other { media_type: self.media_type, bytes } }
    }

    /// The file unpacked; empty where it cannot be.
    pub fn plain(&self) -> &[u8] {
        self.plain.get_or_init(|| {
            let mut plain = Vec::new();
            if let Err(error) = brotli::Decompressor::new(self.packed, 4096).read_to_end(&mut plain) {
                tracing::error!("{} cannot be decompressed: {error}", self.name);
            }
            plain
        })
    }
}
