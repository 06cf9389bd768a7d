//! E-mail.

use crate::units::{Duration, OptionalSetting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// E-mail that the server sends: links to set a password, and notices to the owners of accounts.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mail {
    /// Where messages go: `smtp://HOST` (port 25), `smtp://USER:PASSWORD@HOST?starttls` (587), `smtps://USER:PASSWORD@HOST`
    /// (465), with another port if one is given; or `file:FOLDER`, where each becomes a file (`.eml`). Special characters in
    /// user and password are percent-encoded. `false`: the server sends no e-mail.
    pub url: OptionalSetting<String>,
    /// File whose first line is the password of the user in `url`; `false`: the password is in `url`, or there is none.
    pub password_file: OptionalSetting<String>,
    /// Certificates in PEM of the authority that the mail server's certificate comes from; `false`: the public ones.
    pub ca: OptionalSetting<String>,
    /// Address that messages come from, perhaps with a name: `Example <cms@example.org>`.
    pub from: String,
    /// Address for replies; `false`: that of `from`.
    pub reply_to: OptionalSetting<String>,
    /// How long the mail server may take to connect, and for each of its responses.
    pub timeout: Duration,
    /// How long the link to set a new password is valid.
    pub reset_lifetime: Duration,
    /// How long the link of an invitation is valid.
    pub invitation_lifetime: Duration,
    /// Valid links that one account may have at a time; further requests for one send nothing.
    #[schemars(range(min = 1))]
    pub max_links: u64,
    /// Requests for a link in a row, per account and network; further ones are answered 429.
    #[schemars(range(min = 1))]
    pub max_requests: u32,
    /// Wait before the next request for a link is accepted.
    pub retry_after: Duration,
    /// Messages to one address in a row, of all kinds together; then one in the time of `retry_after`. More are
    /// dropped.
    #[schemars(range(min = 1))]
    pub max_messages: u32,
    /// How long the link to confirm a new e-mail address is valid. Until its owner has confirmed it, one message a day goes
    /// there at most, and all others go to the address before.
    pub confirmation_lifetime: Duration,
    /// Requests for a link that may wait in the outbox; more are answered 503. Notices always find a place.
    #[schemars(range(min = 1))]
    pub queue: u64,
    /// How often a message is tried; then it is dropped.
    #[schemars(range(min = 1, max = 100))]
    pub attempts: u32,
    /// Wait after the first failed attempt; it doubles with each further one, up to an hour.
    pub backoff: Duration,
    /// Which notices are sent.
    pub notices: Notices,
}

impl Default for Mail {
    fn default() -> Self {
        Mail {
            url: OptionalSetting::OFF,
            password_file: OptionalSetting::OFF,
            ca: OptionalSetting::OFF,
            from: String::new(),
            reply_to: OptionalSetting::OFF,
            timeout: Duration::seconds_of(30),
            reset_lifetime: Duration::seconds_of(3600),
            invitation_lifetime: Duration::days(3),
            max_links: 5,
            max_requests: 3,
            retry_after: Duration::seconds_of(600),
            max_messages: 20,
            confirmation_lifetime: Duration::days(7),
            queue: 1000,
            attempts: 10,
            backoff: Duration::seconds_of(60),
            notices: Notices::default(),
        }
    }
}

/// Notices to the owner of an account.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notices {
    /// The account has a new password.
    pub password: bool,
    /// The account has a new e-mail address; sent to the old one. The new one gets a message to confirm it in any case.
    pub email: bool,
    /// The account has a new application password.
    pub application_password: bool,
    /// The second factors of the account were changed.
    pub second_factor: bool,
}

impl Default for Notices {
    fn default() -> Self {
        Notices { password: true, email: true, application_password: true, second_factor: true }
    }
}
