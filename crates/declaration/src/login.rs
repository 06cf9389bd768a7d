//! Login by identity providers (OpenID Connect).

use crate::units::{Duration, OptionalSetting, yes};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who logs people in besides the site itself.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Login {
    /// Identity providers by name, in the order of their buttons. The name is a part of addresses: letters, digits, `-`, `_`.
    pub providers: IndexMap<String, IdentityProvider>,
    /// How far the clock of a provider may differ from the server's.
    pub clock_skew: Duration,
    /// Login of the one account whose password is taken even where its roles have `password_login = false`, for the day on which
    /// no provider can be reached; `false`: there is none.
    pub break_glass: OptionalSetting<String>,
}

impl Default for Login {
    fn default() -> Self {
        Login { providers: IndexMap::new(), clock_skew: Duration::seconds_of(60), break_glass: OptionalSetting::OFF }
    }
}

/// An identity provider. At the provider the site is registered with the address `{site}/login-with/NAME/back`
/// (`pages.provider`), and with `{site}/login` for after the logout.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityProvider {
    /// Name on its button, after "Log in with"; `false`: the one that it is declared by.
    #[serde(default)]
    pub label: OptionalSetting<String>,
    /// Its address, exactly as it writes it itself (`issuer`): `https`, or `http` on this machine. `[outbound]` has to reach it.
    pub issuer: String,
    /// The id by which the provider knows the site.
    pub client: String,
    /// The secret that belongs to it; `false`: it is in `secret_file`, or there is none.
    #[serde(default)]
    pub secret: OptionalSetting<String>,
    /// File whose first line is the secret.
    #[serde(default)]
    pub secret_file: OptionalSetting<String>,
    /// Scopes that are asked for besides `openid`, such as one that brings groups.
    #[serde(default = "scopes")]
    pub scopes: Vec<String>,
    /// Roles by claim and by its value: `roles.groups = { editors = "editor" }`. Somebody has each role whose value is in the claim,
    /// and no other, from the first login on; each further login changes them. A name with full stops that is no claim
    /// leads into claims: `"realm_access.roles"`. Empty: accounts have the roles that they are given here.
    #[serde(default)]
    pub roles: IndexMap<String, IndexMap<String, String>>,
    /// Role of those whose claims give none; `false`: they are refused, and an account that they have loses its roles and its
    /// sessions.
    #[serde(default)]
    pub default_role: OptionalSetting<String>,
    /// Accounts are made at the first login.
    #[serde(default = "yes")]
    pub create: bool,
    /// At the first login, the account with the same e-mail address is taken, where the provider says that it has checked the address.
    /// Whoever runs the provider can then enter every account.
    #[serde(default)]
    pub link_by_email: bool,
    /// A login by the provider asks for the account's second factor as one by password does; otherwise those of the provider suffice, also
    /// where a role requires one (`roles.NAME.second_factor`).
    #[serde(default)]
    pub second_factor: bool,
    /// Logging out here leads to the provider's page to log out there, where it has one.
    #[serde(default = "yes")]
    pub logout: bool,
}

fn scopes() -> Vec<String> {
    ["email", "profile"].map(str::to_owned).to_vec()
}

impl IdentityProvider {
    /// The name for people.
    pub fn title<'a>(&'a self, name: &'a str) -> &'a str {
        self.label.get().map_or(name, String::as_str)
    }
}
