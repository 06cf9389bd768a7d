//! Identity providers, and who may still log in without them.

use super::{Linker, extend};
use crate::outbound::is_safe;
use cms_declaration::IdentityProvider;
use url::Url;

impl Linker<'_> {
    /// Providers by which people log in.
    pub(super) fn logins(&mut self) {
        let declared = self.declared;
        for (name, provider) in &declared.login.providers {
            self.identity_provider(name, provider);
        }
        let roles = declared.roles.iter().filter(|(_, role)| !role.password_login);
        let nobody = !declared.pages.enabled || declared.login.providers.is_empty();
        for (role, _) in roles.filter(|_| nobody) {
            let hint = "declare one in [login.providers.NAME], and let pages.enabled be true";
            let message = format!("there is no provider by which the role `{role}` could log in");
            self.problem(&["roles", role, "password_login"], message, Some(hint.into()));
        }
    }

    fn identity_provider(&mut self, name: &str, provider: &IdentityProvider) {
        let place = ["login", "providers", name];
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if name.is_empty() || !name.bytes().all(plain) {
            let hint = "its name is a part of addresses: write letters, digits, `-` and `_`";
            self.problem(&place, format!("`{name}` cannot be the name of a provider"), Some(hint.into()));
        }
        let issuer = Url::parse(&provider.issuer).ok();
        let whole = |url: &Url| is_safe(url) && url.query().is_none() && url.fragment().is_none();
        match issuer.filter(whole) {
            None => {
                let hint = "write https://id.example.org, exactly as the provider writes `issuer` itself";
                let message = format!("`{}` is no encrypted address of a provider", provider.issuer);
                self.problem(&extend(&place, "issuer"), message, Some(hint.into()));
            }
            Some(url) => {
                let port = url.port_or_known_default().unwrap_or_default();
                if !self.declared.outbound.ports.contains(&port) {
                    let message = format!("requests to the port {port} are not allowed");
                    self.problem(&extend(&place, "issuer"), message, Some(format!("add {port} to outbound.ports")));
                }
            }
        }
        if provider.client.is_empty() {
            let hint = "write the id that the provider has given this site";
            self.problem(&extend(&place, "client"), "the provider needs a client", Some(hint.into()));
        }
        if provider.secret.get().is_some() && provider.secret_file.get().is_some() {
            let message = format!("`login.providers.{name}` has a secret and a file of one");
            self.problem_with_secret(&extend(&place, "secret_file"), message, Some("write one of them".into()));
        }
        let roles: Vec<&str> = self.declared.roles.keys().map(String::as_str).collect();
        for (claim, by_value) in &provider.roles {
            for (value, role) in by_value {
                self.known(&[place[0], place[1], place[2], "roles", claim, value], "role", role, &roles);
            }
        }
        if let Some(role) = provider.default_role.get() {
            self.known(&extend(&place, "default_role"), "role", role, &roles);
        }
    }
}
