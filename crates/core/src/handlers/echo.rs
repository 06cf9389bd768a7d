//! `echo`: responds with the sanitised arguments, so that an argument can be tried from `routes.toml` alone.

use super::{Outcome, Work};
use crate::error::ApiError;
use serde_json::json;

/// `{"params": {…}}`.
pub fn echo(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let params = work.allowed.args().clone().into_values();
    Ok(Outcome::ok(json!({"params": params})))
}
