//! The documents in which programs read about the authorization server (RFC 8414) and about what its tokens open (RFC 9728), and
//! the scopes.

use crate::registry::Registry;
use crate::registry::vocabulary::HandlerRole;
use crate::scope::CredentialLimits;
use serde_json::{Value, json};
use url::Url;

/// Where the documents are: a path of the resource follows.
const SERVER: &str = "/.well-known/oauth-authorization-server";
const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// The actions that a program asks for, from the least on. The limits of its connection decide which it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrantScope {
    Read,
    Draft,
    Write,
}

impl GrantScope {
    /// The scope of a text; `None`: it has no word that is known. Others are left out.
    pub fn parse(text: &str) -> Option<GrantScope> {
        let word = |word: &str| match word {
            "read" => Some(GrantScope::Read),
            "draft" => Some(GrantScope::Draft),
            "write" => Some(GrantScope::Write),
            _ => None,
        };
        text.split(' ').filter_map(word).max()
    }

    /// The scope of the limits of a connection.
    pub fn of(limits: &CredentialLimits) -> GrantScope {
        match limits {
            CredentialLimits { read_only: true, .. } => GrantScope::Read,
            CredentialLimits { draft: true, .. } => GrantScope::Draft,
            _ => GrantScope::Write,
        }
    }

    /// Its words.
    pub fn text(self) -> &'static str {
        match self {
            GrantScope::Read => "read",
            GrantScope::Draft => "read draft",
            GrantScope::Write => "read write",
        }
    }
}

/// See the module's description. It is only asked where people can connect programs.
pub struct AuthorizationServer<'r>(&'r Registry);

impl<'r> AuthorizationServer<'r> {
    /// That of a registry, where people can connect programs.
    pub fn declared(registry: &'r Registry) -> Option<AuthorizationServer<'r>> {
        registry.oauth().map(|_| AuthorizationServer(registry))
    }

    /// Its name: the address of the site.
    pub fn issuer(&self) -> &'r str {
        &self.0.site.url
    }

    /// The paths below the site's address that its tokens open: the site, its interface, and the Model Context Protocol.
    fn resources(&self) -> impl Iterator<Item = &'r str> {
        let rest = self.0.site.rest_path.as_str();
        ["", rest].into_iter().chain(self.0.declaration.mcp.path.get().map(String::as_str))
    }

    /// Whether a token for this resource (RFC 8707) is one of this server; a program need not name any.
    pub fn opens(&self, resource: &str) -> bool {
        let canonical = |text: &str| {
            let url = Url::parse(text).ok().filter(|url| url.fragment().is_none())?;
            Some(url.as_str().trim_end_matches('/').to_owned())
        };
        let own = || self.resources().filter_map(|path| canonical(&format!("{}{path}", self.issuer())));
        resource.is_empty() || canonical(resource).is_some_and(|wanted| own().any(|own| own == wanted))
    }

    /// Where a program manages its registration.
    pub fn client_address(&self, id: &str) -> String {
        format!("{}/{id}", self.route(HandlerRole::OAuthRegister))
    }

    fn route(&self, role: HandlerRole) -> String {
        let path = self.0.route_with(role).map(|route| route.template.filled(|_| String::new()));
        self.0.rest(&path.unwrap_or_default())
    }

    /// The documents by their paths below the site's address. Where that has a path, they are also found as RFC 8414 wants it,
    /// at the root of the host, if the proxy leads there.
    pub fn documents(&self) -> Vec<(String, Value)> {
        let base = &self.0.site.base;
        let of_server = (SERVER.to_owned(), self.metadata());
        let of_resources = self.resources().map(|path| (format!("{RESOURCE}{path}"), self.resource(path)));
        let own: Vec<(String, Value)> = std::iter::once(of_server).chain(of_resources).collect();
        let below = |(path, document): &(String, Value)| {
            let rest = path.strip_prefix(SERVER).map(|rest| (SERVER, rest));
            let (start, rest) = rest.or_else(|| path.strip_prefix(RESOURCE).map(|rest| (RESOURCE, rest)))?;
            Some((format!("{start}{base}{rest}"), document.clone()))
        };
        let at_root: Vec<_> = if base.is_empty() { Vec::new() } else { own.iter().filter_map(below).collect() };
        own.into_iter().chain(at_root).collect()
    }

    fn metadata(&self) -> Value {
        json!({
            "issuer": self.issuer(),
            "authorization_endpoint": format!("{}{}", self.issuer(), self.0.declaration.pages.connect),
            "token_endpoint": self.route(HandlerRole::OAuthToken),
            "registration_endpoint": self.route(HandlerRole::OAuthRegister),
            "revocation_endpoint": self.route(HandlerRole::OAuthRevoke),
            "scopes_supported": ["read", "draft", "write"],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "client_id_metadata_document_supported": self.0.oauth().is_some_and(|(_, rules)| rules.documents.enabled),
        })
    }

    fn resource(&self, path: &str) -> Value {
        json!({
            "resource": format!("{}{path}", self.issuer()),
            "authorization_servers": [self.issuer()],
            "scopes_supported": ["read", "draft", "write"],
            "bearer_methods_supported": ["header"],
        })
    }

    /// The part of a refusal after the scheme (RFC 6750): where a program finds out how to be connected to what is at a path
    /// below the site's address. `wrong`: the request had a token.
    pub fn challenge(&self, path: &str, wrong: bool) -> String {
        let error = if wrong { "error=\"invalid_token\", " } else { "" };
        format!("{error}resource_metadata=\"{}{RESOURCE}{path}\"", self.issuer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_scope_that_nobody_knows_are_left_out() {
        for (text, scope) in [
            ("read", Some(GrantScope::Read)),
            ("read write", Some(GrantScope::Write)),
            ("draft read", Some(GrantScope::Draft)),
            ("openid write", Some(GrantScope::Write)),
            ("", None),
            ("admin", None),
        ] {
            assert_eq!(GrantScope::parse(text), scope, "{text}");
        }
    }
}
