//! The nonce in the address of a preview, and the parameters of the address. It opens nothing, and is no secret: with a wrong one
//! the response is another error.

use super::RequestedAddress;
use crate::error::{ApiError, Code};
use crate::registry::Registry;
use crate::scope::Scope;
use cms_declaration::ParameterKind;
use sha2::{Digest, Sha256};

/// Seconds for which a nonce is made.
const PERIOD: i64 = 12 * 60 * 60;

/// The nonce of a record's preview for the caller. It is good until the period after this one ends.
pub fn of(scope: &Scope, id: i64) -> String {
    in_period(scope, id, scope.now / PERIOD)
}

fn in_period(scope: &Scope, id: i64, period: i64) -> String {
    let digest = Sha256::digest(format!("{id}:{}:{period}", scope.principal.id).as_bytes());
    digest.iter().take(5).map(|b| format!("{b:02x}")).collect()
}

/// Checks the nonce of an address that names a preview.
///
/// # Errors
/// The nonce is not one of the caller for this record.
pub fn check(scope: &Scope, requested: &RequestedAddress) -> Result<(), ApiError> {
    let given = |kind| parameters(&scope.registry, kind).find_map(|name| requested.parameter(name));
    let Some((id, nonce)) = given(ParameterKind::PreviewId).zip(given(ParameterKind::PreviewNonce)) else {
        return Ok(());
    };
    let (id, period) = (id.parse().unwrap_or(0), scope.now / PERIOD);
    match [period, period - 1].iter().any(|period| in_period(scope, id, *period) == nonce) {
        true => Ok(()),
        false => Err(ApiError::new(Code::PreviewNonce)),
    }
}

/// The parameters that make an address that of a preview. Where the address leads elsewhere, they are left out.
pub fn names(registry: &Registry) -> impl Iterator<Item = &str> {
    [ParameterKind::Preview, ParameterKind::PreviewId, ParameterKind::PreviewNonce]
        .into_iter()
        .flat_map(|kind| parameters(registry, kind))
}

fn parameters(registry: &Registry, kind: ParameterKind) -> impl Iterator<Item = &str> {
    let all = registry.declaration.addresses.parameters.iter();
    all.filter(move |(_, parameter)| parameter.by == kind).map(|(name, _)| name.as_str())
}
