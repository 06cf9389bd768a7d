//! The documents about the authorization server, for programs. They are the same for everybody.

use cms_core::access::authorization_server::AuthorizationServer;
use cms_core::error::status;
use cms_core::model::{Payload, Reply};
use cms_core::registry::Registry;
use std::collections::HashMap;

/// Documents by their paths below the site's address.
pub(super) struct WellKnown(HashMap<String, Vec<u8>>);

impl WellKnown {
    pub(super) fn new(registry: &Registry) -> WellKnown {
        let documents = AuthorizationServer::declared(registry).map(|server| server.documents());
        let documents = documents.into_iter().flatten();
        WellKnown(documents.map(|(path, document)| (path, document.to_string().into_bytes())).collect())
    }

    pub(super) fn serves(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Pages of other sites read them, too.
    pub(super) fn reply(&self, path: &str) -> Option<Reply> {
        let bytes = self.0.get(path)?.clone();
        let headers = [("Access-Control-Allow-Origin", "*"), ("Cache-Control", "public, max-age=300")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Some(Reply { status: status::OK, headers, payload: Payload::Other { media_type: "application/json", bytes } })
    }
}
