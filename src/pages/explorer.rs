//! The explorer: the service's description in a page where requests can be tried. It is Swagger UI 5.35.0 (Apache-2.0),
//! compressed in the program; its licences are in the folder `explorer`.

use super::packed::PackedAsset;
use super::replies::{ALONE, frame_headers};
use super::{HTML, PageContext};
use cms_core::access::sessions::nonce_header;
use cms_core::error::status;
use cms_core::model::{Payload, Reply};
use serde_json::json;

/// Files of the renderer.
pub(super) static PACKED: [PackedAsset; 2] = [
    PackedAsset::new("swagger-ui.js", "text/javascript; charset=UTF-8", include_bytes!("explorer/swagger-ui.js.br")),
    PackedAsset::new("swagger-ui.css", "text/css; charset=UTF-8", include_bytes!("explorer/swagger-ui.css.br")),
];

/// The page may load from this site alone. The renderer sets style attributes and shows its icons as data.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page. With a session, requests that are tried are the user's own.
pub(super) fn show(visit: &PageContext<'_>) -> Reply {
    let registry = &visit.scope.registry;
    let nonce = visit.engine.identity().fresh_nonce(&visit.scope).map(|(_, nonce)| nonce);
    let data = json!({
        "lang": "en",
        "title": "API explorer",
        "site": visit.site_name(),
        "assets": visit.pages.declared.assets,
        "description": format!("{}/openapi.json", registry.site.rest_place()),
        "nonce_header": nonce_header(&registry.site.prefix),
        "nonce": nonce,
    });
    match visit.pages.render("explorer.html", data) {
        Ok(bytes) => {
            let mut headers = frame_headers(POLICY, ALONE);
            headers.push(("Cache-Control".into(), "private, no-store".into()));
            Reply { status: status::OK, headers, payload: Payload::Other { media_type: HTML, bytes } }
        }
        Err(error) => cms_core::engine::error_reply(&visit.scope.internal(&error)),
    }
}
