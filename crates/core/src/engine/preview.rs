//! Requests with the token of a preview link: they go on in the name of an anonymous caller to whom one record is shown as it
//! is being edited.

use super::CallOutcome;
use super::routing::RoutedCall;
use crate::access::preview_links::PreviewLink;
use crate::error::{ApiError, Code};
use crate::features::revisions;
use crate::records::Record;
use crate::registry::args::ArgRole;
use crate::scope::{PreviewedRecord, Principal, Scope};
use serde_json::Value;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

impl RoutedCall<'_> {
    /// The scope of a preview, where the call brings a token. One that is not good for what the path names is refused before
    /// anything else is looked at, so that the refusal says nothing of records.
    pub(super) fn preview(&self) -> ControlFlow<CallOutcome, Option<Box<Scope>>> {
        let sources = self.sources();
        let declared = self.endpoint.args.role(ArgRole::Preview);
        let names = declared.into_iter().flat_map(|arg| [&arg.name].into_iter().chain(&arg.also));
        let Some(given) = names.filter_map(|name| sources.get(name)).next() else { return Continue(None) };
        let scope = Scope { principal: Principal::default(), preview: None, ..self.scope.clone() };
        match self.previewed(&scope, given.as_str().unwrap_or_default()) {
            Ok(preview) => Continue(Some(Box::new(Scope { preview: Some(Arc::new(preview)), ..scope }))),
            Err(error) => {
                let (route, preview) = (Some(self.matched.index), Some(Box::new(scope)));
                Break(CallOutcome { route, preview, ..CallOutcome::early(Err(error)) })
            }
        }
    }

    /// The newest state that a token shows: the autosave of the user who made the link, or the record.
    fn previewed(&self, scope: &Scope, token: &str) -> Result<PreviewedRecord, ApiError> {
        let refused = || ApiError::new(Code::PreviewInvalid);
        let resource = self.resource().ok_or_else(refused)?;
        let key = self.matched.captures.get(&*resource.key).and_then(Value::as_str);
        let id = key.and_then(|key| key.parse().ok()).ok_or_else(refused)?;
        let found = self.engine.identity().preview(scope, resource, id, token)?;
        let PreviewLink { row, user } = found.ok_or_else(refused)?;
        let record = Record { resource, row: &row };
        let Some(pending) = revisions::pending(scope, record, user)? else {
            return Ok(PreviewedRecord { id, row, edges: Default::default(), meta: None });
        };
        Ok(PreviewedRecord {
            id,
            row: pending.row(record),
            edges: pending.edges().collect(),
            meta: pending.held_meta(),
        })
    }
}
