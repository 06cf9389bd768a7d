//! Documents in which programs describe themselves: a program has the address of its document for its id (draft
//! `ietf-oauth-client-id-metadata-document`).
//!
//! Programs choose these addresses, so a document is read for a person who is logged in, seldom ([`ClientDocumentOptions`]), where
//! `[outbound]` reaches, without redirects. Failures are not kept, as the draft wants it; each counts as a document that was read.

use super::addresses;
use super::attempts::{AttemptLimit, Guesser};
use super::clients::{DocumentSource, Registration};
use super::identity::Identity;
use crate::error::{ApiError, Code, status};
use crate::outbound::{FetchError, Outbound, OutgoingRequest, ReceivedAnswer};
use crate::request::{is_json, media_type};
use crate::scope::Scope;
use cms_declaration::translations::Sentence;
use cms_declaration::{ClientDocumentOptions, OAuthOptions};
use serde_json::Value;
use url::Url;

/// Why a document is not used.
pub enum DocumentRefusal {
    /// It cannot be read, or does not describe a program: a sentence for its makers. Whether a name leads to a private address or
    /// nowhere is not told.
    Unfit(Sentence),
    Failed(ApiError),
}

impl From<ApiError> for DocumentRefusal {
    fn from(error: ApiError) -> DocumentRefusal {
        DocumentRefusal::Failed(error)
    }
}

/// The address that an id of a program is; `None`: it is none, or such documents are not read here.
pub fn address(rules: &OAuthOptions, id: &str) -> Option<Url> {
    if rules.documents.enabled { addresses::document(id) } else { None }
}

/// Reads a document, as often as the caller may have documents read.
///
/// # Errors
/// See [`DocumentRefusal`].
pub async fn read(
    scope: &Scope,
    (identity, outbound): (&Identity, &Outbound),
    rules: &OAuthOptions,
    url: &Url,
) -> Result<Registration, DocumentRefusal> {
    let declared = &rules.documents;
    let limit = AttemptLimit::paused(declared.burst, declared.pause);
    let counted = identity.documents().count_own(Guesser::of(scope), "", limit, scope.now);
    counted.map_err(|wait| ApiError::wait(Code::TooManyRequests, wait))?;
    let accept = ("Accept".to_owned(), "application/json".to_owned());
    let request = OutgoingRequest { method: "GET".into(), headers: vec![accept], body: Vec::new() };
    let most = declared.max_size.bytes();
    let answer = outbound.ask(scope.job_owner()?, url, request, most).await.map_err(|error| match error {
        FetchError::Busy => {
            let why = "Too many requests to other sites are in progress; try again.";
            DocumentRefusal::Failed(ApiError::new(Code::Busy).with_message(why))
        }
        FetchError::TooLarge => DocumentRefusal::Unfit(Sentence::about("It has more than {value} bytes.", most)),
        FetchError::Address(_) | FetchError::Nothing(_) | FetchError::Status(_) => {
            DocumentRefusal::Unfit("Nothing public answers there in time.".into())
        }
    })?;
    let stale = scope.now.saturating_add(lifetime(declared, answer.header("cache-control").unwrap_or_default()));
    registration(rules, url, &answer, stale).map_err(DocumentRefusal::Unfit)
}

/// The program that a document describes.
fn registration(
    rules: &OAuthOptions,
    url: &Url,
    answer: &ReceivedAnswer,
    stale: i64,
) -> Result<Registration, Sentence> {
    if answer.status != status::OK {
        let why = "The answer has the status {value}, not 200; redirects are not followed.";
        return Err(Sentence::about(why, answer.status));
    }
    if !is_json(&media_type(answer.header("content-type").unwrap_or_default())) {
        return Err("Its Content-Type is not application/json.".into());
    }
    let said: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    described(rules, url.as_str(), &said, stale)
}

fn described(rules: &OAuthOptions, address: &str, said: &Value, stale: i64) -> Result<Registration, Sentence> {
    if !said.is_object() {
        return Err("It is no JSON object.".into());
    }
    if said["client_id"] != address {
        return Err("Its client_id is not its address.".into());
    }
    if said["client_name"].as_str().is_none_or(str::is_empty) {
        return Err("It has no client_name.".into());
    }
    let secret = ["client_secret", "client_secret_expires_at"].iter().any(|member| said.get(member).is_some());
    let method = said.get("token_endpoint_auth_method");
    if secret || method.is_some_and(|method| method != "none") {
        return Err("Programs have no secret here: token_endpoint_auth_method has to be none.".into());
    }
    let mut registration = Registration::checked(rules, said).map_err(|(_, why)| why)?;
    registration.document = Some(DocumentSource { address: address.to_owned(), stale });
    Ok(registration)
}

/// Seconds that a document is used, by its `Cache-Control` and within what is declared.
fn lifetime(declared: &ClientDocumentOptions, cache_control: &str) -> i64 {
    let words = || cache_control.split(',').map(|word| word.trim().to_ascii_lowercase());
    let passing = words().any(|word| word == "no-store" || word == "no-cache");
    let age = words().find_map(|word| word.strip_prefix("max-age=")?.trim_matches('"').parse::<i64>().ok());
    let wanted = age.filter(|_| !passing).unwrap_or(0);
    wanted.min(declared.longest.seconds_signed()).max(declared.fresh.seconds_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ADDRESS: &str = "https://app.example/client.json";

    fn rules() -> OAuthOptions {
        serde_json::from_value(json!({
            "code": "60s", "access": "15m", "periods": ["30d"], "most": 5, "clients": 5, "unused": "1d", "idle": "90d",
            "redirects": 2, "documents": {"enabled": true},
        }))
        .expect("rules")
    }

    #[test]
    fn a_document_describes_a_program_without_a_secret() {
        let sound =
            json!({"client_id": ADDRESS, "client_name": "Assistant", "redirect_uris": ["https://app.example/done"]});
        let with = |changes: Value| {
            let mut said = sound.clone();
            for (member, value) in changes.as_object().expect("members") {
                said[member] = value.clone();
            }
            said
        };
        for more in [
            json!({}),
            json!({"token_endpoint_auth_method": "none", "logo_uri": "https://app.example/logo", "scope": "read"}),
            json!({"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"]}),
        ] {
            let made = described(&rules(), ADDRESS, &with(more), 7).expect("a program");
            assert_eq!((made.name.as_str(), made.redirects.len()), ("Assistant", 1));
            assert!(made.document.is_some_and(|source| source.address == ADDRESS && source.stale == 7));
        }
        for wrong in [
            json!({"client_id": "https://app.example/client.json?"}),
            json!({"client_id": "https://app.example/other.json"}),
            json!({"client_id": null}),
            json!({"client_name": ""}),
            json!({"client_name": ["Assistant"]}),
            json!({"redirect_uris": []}),
            json!({"redirect_uris": "https://app.example/done"}),
            json!({"redirect_uris": [1]}),
            json!({"redirect_uris": ["javascript:alert(1)"]}),
            json!({"redirect_uris": ["https://a.example/1", "https://a.example/2", "https://a.example/3"]}),
            json!({"token_endpoint_auth_method": "client_secret_basic"}),
            json!({"token_endpoint_auth_method": "private_key_jwt"}),
            json!({"token_endpoint_auth_method": null}),
            json!({"client_secret": ""}),
            json!({"client_secret_expires_at": 0}),
            json!({"response_types": ["token"]}),
            json!({"grant_types": ["client_credentials"]}),
        ] {
            assert!(described(&rules(), ADDRESS, &with(wrong.clone()), 7).is_err(), "{wrong}");
        }
        for none in [json!(null), json!([sound]), json!("x")] {
            assert!(described(&rules(), ADDRESS, &none, 7).is_err(), "{none}");
        }
    }

    #[test]
    fn a_document_is_used_for_as_long_as_it_says_within_what_is_declared() {
        let declared = ClientDocumentOptions::default();
        for (header, seconds) in [
            ("", 300),
            ("max-age=0", 300),
            ("public, Max-Age=3600", 3600),
            ("max-age=\"3600\"", 3600),
            ("max-age=99999999", 86400),
            ("max-age=99999999999999999999", 300),
            ("max-age=-1", 300),
            ("max-age=x", 300),
            ("no-store, max-age=3600", 300),
        ] {
            assert_eq!(lifetime(&declared, header), seconds, "{header}");
        }
    }
}
