//! The explorer: the service's description in a page where requests can be tried. It is Swagger UI 5.35.0 (Apache-2.0),
//! compressed in the program; its licences are in the folder `explorer`.

use super::{HTML, Visit, frame_headers};
use crate::access::sessions::nonce_header;
use crate::model::{Payload, Reply};
use serde_json::json;
use std::io::Read as _;
use std::sync::OnceLock;

/// A file that the program holds compressed.
pub(super) struct PackedAsset {
    pub name: &'static str,
    media_type: &'static str,
    packed: &'static [u8],
    /// For clients that take no compressed files.
    plain: OnceLock<Vec<u8>>,
}

const fn packed(name: &'static str, media_type: &'static str, packed: &'static [u8]) -> PackedAsset {
    PackedAsset { name, media_type, packed, plain: OnceLock::new() }
}

/// Files of the renderer.
pub(super) static PACKED: [PackedAsset; 2] = [
    packed("swagger-ui.js", "text/javascript; charset=UTF-8", include_bytes!("explorer/swagger-ui.js.br")),
    packed("swagger-ui.css", "text/css; charset=UTF-8", include_bytes!("explorer/swagger-ui.css.br")),
];

/// What the page may load: only what is of this site. The renderer sets style attributes and shows its icons as data.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page. With a session, requests that are tried are the user's own.
pub(super) fn show(visit: &Visit<'_>) -> Reply {
    let registry = &visit.scope.registry;
    let nonce = visit.engine.identity().fresh_nonce(&visit.scope).map(|(_, nonce)| nonce);
    let data = json!({
        "lang": "en",
        "title": "API explorer",
        "site": visit.site_name(),
        "assets": visit.pages.declared.assets,
        "description": format!("{}/openapi.json", registry.site.rest_path),
        "nonce_header": nonce_header(&registry.site.prefix),
        "nonce": nonce,
    });
    match visit.pages.render("explorer.html", data) {
        Ok(bytes) => {
            let mut headers = frame_headers(POLICY);
            headers.push(("Cache-Control".into(), "private, no-store".into()));
            Reply { status: 200, headers, payload: Payload::Other { media_type: HTML, bytes } }
        }
        Err(error) => crate::engine::error_reply(&visit.scope.internal(&error)),
    }
}

impl PackedAsset {
    /// The file, compressed for clients that accept it so.
    pub fn reply(&self, accepted: Option<&str>) -> Reply {
        let takes = |one: &str| {
            let (name, weight) = one.split_once(';').unwrap_or((one, ""));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
            name.trim() == "br" && weight.is_none_or(|weight| weight > 0.0)
        };
        let compressed = accepted.is_some_and(|list| list.split(',').any(takes));
        let mut headers = vec![
            ("Cache-Control".to_owned(), "public, max-age=86400".to_owned()),
            ("Vary".to_owned(), "Accept-Encoding".to_owned()),
        ];
        let bytes = match compressed {
            true => {
                headers.push(("Content-Encoding".into(), "br".into()));
                self.packed.to_vec()
            }
            false => self.plain().to_vec(),
        };
        Reply { status: 200, headers, payload: Payload::Other { media_type: self.media_type, bytes } }
    }

    fn plain(&self) -> &[u8] {
        self.plain.get_or_init(|| {
            let mut plain = Vec::new();
            if let Err(error) = brotli::Decompressor::new(self.packed, 4096).read_to_end(&mut plain) {
                tracing::error!("{} cannot be decompressed: {error}", self.name);
            }
            plain
        })
    }
}
