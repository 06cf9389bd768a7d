//! The record password of a call: counted before it is compared, and again when it is known to be right.

use super::Engine;
use crate::access::attempts::AttemptOutcome;
use crate::access::unlock::RecordPassword;
use crate::error::ApiError;
use crate::request::args::ArgSources;
use crate::request::route::RouteMatch;
use crate::scope::Scope;
use serde_json::Value;

/// The password of a record that a call brings.
pub(super) struct PasswordAttempt<'a> {
    pub given: RecordPassword<'a>,
    /// Whose password it is to be.
    about: String,
    taken: AttemptOutcome,
}

impl Engine {
    /// The record password of a call, counted as a guess until [`Engine::tried`] reports the outcome.
    ///
    /// # Errors
    /// The caller has guessed wrong too often.
    pub(super) fn try_password<'a>(
        &self,
        scope: &Scope,
        matched: &RouteMatch<'_>,
        sources: &ArgSources<'a>,
    ) -> Result<Option<PasswordAttempt<'a>>, ApiError> {
        let resource = matched.route.resource.map(|index| &self.registry.resources[index]);
        let locked = resource.filter(|resource| resource.is_content() || resource.is_comments());
        let given = locked.and_then(|resource| RecordPassword::of(resource.is_comments(), sources));
        let Some(given) = given else { return Ok(None) };
        // Another spelling of one record has places of its own, but one caller has few places for all records.
        let of = matched.captures.values().next_back().or_else(|| sources.get("post"));
        let about = format!("{}/{}", resource.map_or("", |r| &*r.name), of.unwrap_or(&Value::Null));
        let taken = self.identity().throttle().guess(scope, &about, given.text)?;
        Ok(Some(PasswordAttempt { given, about, taken }))
    }

    /// Reports the outcome of a password.
    pub(super) fn report_password(&self, scope: &Scope, tried: Option<&PasswordAttempt<'_>>) {
        if let Some(PasswordAttempt { given, about, taken }) = tried {
            self.identity().throttle().report_guess(scope, (about, given.text), *taken, given.outcome());
        }
    }
}
