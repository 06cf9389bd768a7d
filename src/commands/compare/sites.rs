//! The two sites of a comparison: one that is asked over the network, and this one.

use crate::boot::BootError;
use crate::import::remote::{RemoteAnswer, RemoteSite, text};
use cms_base::pool::wait;
use cms_core::engine::Engine;
use cms_core::error::status;
use cms_core::model::Method;
use cms_core::request::BodyParams;
use cms_core::request::call::Call;
use cms_core::scope::{Principal, Scope};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// A site that is asked, by an anonymous caller.
pub(super) trait ComparedSite {
    fn get(&mut self, path: &str, query: &Map<String, Value>) -> Result<RemoteAnswer, BootError>;
}

impl ComparedSite for RemoteSite {
    fn get(&mut self, path: &str, query: &Map<String, Value>) -> Result<RemoteAnswer, BootError> {
        RemoteSite::get(self, path, query)
    }
}

/// This site, asked without a socket.
pub(super) struct OwnSite {
    engine: Engine,
    scope: Scope,
}

impl OwnSite {
    /// # Errors
    /// The database cannot be read.
    pub(super) fn new(engine: Engine) -> Result<OwnSite, BootError> {
        let scope = engine.scope_of(Principal::default()).map_err(|error| BootError::Other(error.to_string()))?;
        Ok(OwnSite { engine, scope })
    }
}

impl ComparedSite for OwnSite {
    fn get(&mut self, path: &str, query: &Map<String, Value>) -> Result<RemoteAnswer, BootError> {
        // As in an address, every value is a text.
        let query = query.iter().map(|(name, value)| (name.clone(), Value::String(text(value)))).collect();
        let call = Call::internal(Method::Get, path, query, BodyParams::None);
        let part = wait(self.engine.part(&self.scope, &call, false));
        let total = part.headers.iter().find(|(name, _)| name.to_ascii_lowercase().ends_with("-total"));
        let total = total.and_then(|(_, value)| value.parse().ok());
        Ok(RemoteAnswer { status: part.status, total, body: part.body })
    }
}

/// The items of a collection by ascending ids, of which memory holds a page.
pub(super) struct CollectionWalk<'s> {
    site: &'s mut dyn ComparedSite,
    path: &'s str,
    query: Map<String, Value>,
    page: u64,
    items: VecDeque<(i64, Value)>,
    /// Items that were read so far, and how many there are.
    read: u64,
    total: u64,
    /// Items so far whose ids are no numbers.
    pub(super) unnumbered: u64,
    /// Of the first page.
    pub(super) status: u16,
}

impl<'s> CollectionWalk<'s> {
    /// Reads the first page.
    pub(super) fn begin(
        site: &'s mut dyn ComparedSite,
        path: &'s str,
        query: &Map<String, Value>,
    ) -> Result<CollectionWalk<'s>, BootError> {
        let (items, query) = (VecDeque::new(), query.clone());
        let (page, read, total, unnumbered, status) = (0, 0, u64::MAX, 0, 0);
        let mut walk = CollectionWalk { site, path, query, page, items, read, total, unnumbered, status };
        walk.read_page()?;
        Ok(walk)
    }

    fn read_page(&mut self) -> Result<(), BootError> {
        self.page += 1;
        self.query.insert("page".into(), json!(self.page));
        let answer = self.site.get(self.path, &self.query)?;
        if self.page == 1 {
            self.status = answer.status;
        }
        self.total = answer.total.unwrap_or(self.total);
        // A page behind the last one is an error.
        let list = match answer.body {
            Value::Array(list) if answer.status == status::OK && !list.is_empty() => list,
            _ => {
                self.total = 0;
                return Ok(());
            }
        };
        self.read += list.len() as u64;
        for item in list {
            match item["id"].as_i64() {
                Some(id) => self.items.push_back((id, item)),
                None => self.unnumbered += 1,
            }
        }
        Ok(())
    }

    /// The id of the next item.
    pub(super) fn peek(&mut self) -> Result<Option<i64>, BootError> {
        while self.items.is_empty() && self.read < self.total {
            self.read_page()?;
        }
        Ok(self.items.front().map(|(id, _)| *id))
    }

    /// The next item.
    pub(super) fn take(&mut self) -> Value {
        self.items.pop_front().map(|(_, item)| item).unwrap_or_default()
    }
}
