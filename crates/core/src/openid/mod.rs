//! Login by identity providers (OpenID Connect Core 1.0, by authorization code with PKCE): `[login]`.
//!
//! [`provider`] is what a provider says of itself and is asked for, [`id_token`] what it says of a person, [`pending`] a login
//! that has begun in a browser, and [`account`] who that is here. It knows no page.

pub mod account;
mod id_token;
pub mod pending;
pub mod provider;
