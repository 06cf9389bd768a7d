//! Tokens with which programs log in (`Authorization: Bearer`), where a resource declares them (`options.tokens`).
//!
//! A token is an application password that a login has made and that ends soon: a row of the same table, so it is listed, limited
//! and revoked as those are. It also ends when the password of the account is set. The table has a keyed hash of the whole
//! token; a marker keeps the hashes of tokens and of other secrets apart. Those of connected programs ([`super::grants`]) are
//! recognised here, too.

use super::app_passwords::{self, NewPassword};
use super::credentials::CredentialError;
use super::identity::{Identity, available};
use crate::error::{ApiError, Code, status};
use crate::model::Request;
use crate::records::{columns, eq, ordered};
use crate::registry::columns::app_password as col;
use crate::registry::resource::Resource;
use crate::registry::{Registry, name};
use crate::scope::{BearerHeader, Principal, Scope};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_declaration::TokenOptions;
use cms_storage::plan::{Change, Cond, DbValue, Op, ReadPlan};
use cms_text::browsers;

/// How tokens begin: people and programs that look for leaked secrets know them by it, and no Basic credentials look so.
const MARK: &str = "cms.";

/// Random bytes of a token.
const BYTES: usize = 32;

/// The token in a header; `None`: it has another scheme.
pub fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether a text looks like a token that this server has made.
pub fn is_token(text: &str) -> bool {
    text.starts_with(MARK)
}

/// The resource that declares tokens, if one does.
pub fn declared(registry: &Registry) -> Option<(&Resource, &TokenOptions)> {
    let resource = &registry.resources[registry.tokens?];
    Some((resource, resource.declared.options.tokens.as_ref()?))
}

/// The change that ends every token of an account, those of connected programs included.
pub fn ended(user: &DbValue) -> Change {
    Change::RemoveWhere {
        table: name(col::TABLE),
        filter: Cond::All(vec![eq(col::USER, user.clone()), eq(col::TOKEN, DbValue::Int(1))]),
    }
}

fn is_of_login() -> Cond {
    Cond::All(vec![eq(col::TOKEN, DbValue::Int(1)), eq(col::CONNECTED, DbValue::Int(0))])
}

/// A new token.
pub fn fresh() -> String {
    format!("{MARK}{}", URL_SAFE_NO_PAD.encode(rand::random::<[u8; BYTES]>()))
}

impl Identity {
    /// A new token of an account, and the changes that store it: those that have ended go, and the oldest ones of an account
    /// that has too many.
    pub fn new_token(&self, scope: &Scope, user: i64, rules: &TokenOptions) -> Result<(String, Vec<Change>), ApiError> {
        let token = fresh();
        let past = Cond::Compare(name(col::EXPIRES), Op::Le, DbValue::Int(scope.now));
        let past = Cond::All(vec![is_of_login(), past]);
        let mut changes = vec![Change::RemoveWhere { table: name(col::TABLE), filter: past }];
        let own = Cond::All(vec![eq(col::USER, DbValue::Int(user)), is_of_login()]);
        let own = ordered(columns(col::TABLE, &[col::KEY], own), col::ORDINAL, true);
        let oldest = ReadPlan { offset: rules.most.max(1) - 1, limit: Some(rules.most.max(1)), ..own };
        let oldest = scope.snapshot()?.rows(&oldest)?;
        if !oldest.is_empty() {
            let keys = oldest.into_iter().flat_map(|row| row.into_iter().next()).collect();
            changes.push(Change::RemoveWhere { table: name(col::TABLE), filter: Cond::In(name(col::KEY), keys) });
        }
        let title = format!("{}: {}", scope.phrase("Login"), browsers::describe_user_agent(&scope.agent));
        let expires = scope.now.saturating_add(rules.lifetime.seconds_signed());
        let wanted = NewPassword { user, title: &title, expires, ..NewPassword::default() };
        let (_, put) = app_passwords::stored(&wanted, &self.token_hash(&token), true, scope.now);
        changes.push(Change::Put(put));
        Ok((token, changes))
    }

    /// The stored form of a token.
    pub(super) fn token_hash(&self, token: &str) -> String {
        self.digest(&format!("token|{token}"))
    }

    /// The caller whose token the header has; an anonymous one, with what is wrong about it, unless it is valid.
    ///
    /// # Errors
    /// The database cannot be read; credentials were wrong too often.
    pub(super) async fn token_caller(
        &self,
        scope: &Scope,
        request: &Request,
        token: &str,
    ) -> Result<Principal, ApiError> {
        let anonymous = |bearer| Principal { bearer, ..Principal::default() };
        if token.is_empty() {
            return Ok(anonymous(BearerHeader::Empty));
        }
        let found = match available(&scope.registry, &request.peer) {
            true => self.verify_token(scope, token).await?,
            false => Err(CredentialError::PlainHttp),
        };
        match found {
            Ok(caller) => Ok(Principal { bearer: BearerHeader::Valid, ..caller }),
            Err(reason) => {
                self.count_failure(scope)?;
                tracing::info!(request = %scope.request_id, "a token is refused: {}", reason.text());
                Ok(anonymous(BearerHeader::Wrong))
            }
        }
    }

    /// The caller whom a token names.
    pub async fn verify_token(
        &self,
        scope: &Scope,
        token: &str,
    ) -> Result<Result<Principal, CredentialError>, ApiError> {
        if token.len() > scope.registry.declaration.site.max_password.as_usize() || !is_token(token) {
            return Ok(Err(CredentialError::Unreadable));
        }
        self.recently_verified(scope, &format!("|{token}"), || self.look_up(scope, None, self.token_hash(token))).await
    }
}

/// Why a request is refused for what its header has in place of a token, whatever it requests.
pub fn objection(scope: &Scope) -> Option<ApiError> {
    let code = match scope.principal.bearer {
        BearerHeader::Empty => Code::TokenMalformed,
        BearerHeader::Wrong => Code::TokenInvalid,
        BearerHeader::Absent | BearerHeader::Other | BearerHeader::Valid => return None,
    };
    Some(match declared(&scope.registry) {
        Some((resource, _)) => ApiError::new(resource.code(code)),
        // Connected programs get another token then (RFC 6750).
        None => ApiError::new(code).with_status(status::UNAUTHORIZED),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_header_has_a_token_or_none() {
        for (header, token) in [
            ("Bearer cms.x", Some("cms.x")),
            ("bearer  cms.x ", Some("cms.x")),
            ("Bearer", Some("")),
            ("Bearer ", Some("")),
            ("Basic YTpi", None),
            ("Bearercms.x", None),
            ("", None),
        ] {
            assert_eq!(bearer(header), token, "{header}");
        }
    }

    #[test]
    fn hashes_of_tokens_are_not_those_of_application_passwords() {
        let identity = Identity::new(&[7; 32]);
        assert_ne!(identity.token_hash("cms.abc"), identity.hash("cms.abc"));
        assert_ne!(identity.token_hash("cms.abc"), identity.hash("token|cms.abc"));
        assert_ne!(identity.token_hash("cms.abc"), identity.token_hash("cms.abcx"));
    }
}
