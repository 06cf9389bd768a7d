//! Why credentials are not valid, for the log.

/// Why credentials are not valid. For the log of the operator; the caller learns that they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialError {
    /// Too long, or with a NUL.
    Unreadable,
    /// No such application password: wrong, or revoked.
    Unknown,
    Expired,
    /// The application password belongs to another user.
    OtherUser,
    /// `site.application_passwords_for` leaves the user out.
    UserExcluded,
    /// The request came over plain HTTP.
    PlainHttp,
}

impl CredentialError {
    pub(super) fn text(self) -> &'static str {
        match self {
            CredentialError::Unreadable => "they are too long, or contain a NUL",
            CredentialError::Unknown => "there is no such application password; it is wrong, or revoked",
            CredentialError::Expired => "the application password has expired",
            CredentialError::OtherUser => "the application password belongs to another user",
            CredentialError::UserExcluded => {
                "the user may not use application passwords (site.application_passwords_for)"
            }
            CredentialError::PlainHttp => {
                "the request came over plain HTTP; if a proxy received it by HTTPS, name the proxy in \
                 server.trusted_proxies"
            }
        }
    }
}
