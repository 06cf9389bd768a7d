//! The checks of a relying party of Web Authentication (level 2, sections 7.1 and 7.2), for passkeys without attestation.
//!
//! Browsers give the public key and the authenticator's data beside the attestation (section 5.2.1.1), so no CBOR is read. A
//! signature is verified by the library that verifies certificates. It knows no accounts and stores nothing.

use crate::registry::Site;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_base::named;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_rustls::rustls::pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use url::{Host, Url};
use webpki::RawPublicKeyEntity;
use webpki::ring::{ECDSA_P256_SHA256, ED25519, RSA_PKCS1_2048_8192_SHA256};

/// Longest text that a browser hands over about a passkey, in bytes.
const LONGEST: usize = 16 * 1024;

/// Longest identifier of a passkey, in bytes (section 4).
const LONGEST_ID: usize = 1023;

/// Longest public key, in bytes: an RSA key of 8192 bits.
const LONGEST_KEY: usize = 1200;

/// Signatures that are taken, by their numbers (RFC 9053): ECDSA on P-256, Ed25519, and RSA for Windows.
const ALGORITHMS: [(i64, &dyn SignatureVerificationAlgorithm); 3] =
    [(-7, ECDSA_P256_SHA256), (-8, ED25519), (-257, RSA_PKCS1_2048_8192_SHA256)];

named! {
    /// Why a passkey is refused.
    pub enum PasskeyFault {
        /// It is not what browsers hand over.
        Malformed = "malformed",
        /// It was made for the other ceremony.
        Ceremony = "ceremony",
        /// This server has not made the challenge for this purpose, or too long ago, or it was used.
        Challenge = "challenge",
        /// A page of another site requested it, or one in a frame of another site.
        Origin = "origin",
        /// It is a passkey for another address.
        RelyingParty = "relying_party",
        /// Nobody has touched the device.
        Presence = "presence",
        /// The device has not checked who holds it.
        Verification = "verification",
        /// There is no such passkey, or not for this account.
        Credential = "credential",
        /// It says that it belongs to another account.
        UserHandle = "user_handle",
        Signature = "signature",
        /// The counter of its signatures went back.
        Counter = "counter",
        /// The key is not of a kind that is taken.
        Key = "key",
        /// It is asked for alone, and the account logs in by an identity provider alone.
        Account = "account",
    }
}

/// The site as passkeys know it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RelyingParty {
    /// The host of the site's address.
    pub id: String,
    origin: String,
}

/// A browser's response when a passkey is made (the JSON of level 3, as far as it is used here).
#[derive(Deserialize)]
pub(super) struct Attestation {
    id: Base64,
    response: AttestationResponse,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttestationResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Base64,
    authenticator_data: Base64,
    public_key: Base64,
}

/// A browser's response when a passkey is used.
#[derive(Deserialize)]
pub(super) struct Assertion {
    pub id: Base64,
    response: AssertionResponse,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssertionResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Base64,
    authenticator_data: Base64,
    signature: Base64,
    user_handle: Option<Base64>,
}

/// Bytes that are written as base64url without padding.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Base64(pub Vec<u8>);

impl TryFrom<String> for Base64 {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Base64, Self::Error> {
        URL_SAFE_NO_PAD.decode(text).map(Base64)
    }
}

/// A passkey that was made.
#[derive(Debug)]
pub(super) struct NewPasskey {
    pub id: Vec<u8>,
    /// The public key (`SubjectPublicKeyInfo`, DER).
    pub key: Vec<u8>,
    pub counter: u32,
}

/// A browser's account of what it did.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    #[serde(rename = "type")]
    ceremony: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
}

/// An authenticator's account of what it did.
struct AuthenticatorData<'a> {
    verified: bool,
    counter: u32,
    /// The identifier of the passkey that was made.
    made: Option<&'a [u8]>,
}

/// Reads what a browser hands over.
pub(super) fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, PasskeyFault> {
    if text.len() > LONGEST {
        return Err(PasskeyFault::Malformed);
    }
    serde_json::from_str(text).map_err(|_| PasskeyFault::Malformed)
}

impl Attestation {
    /// The challenge that it answers.
    pub fn challenge(&self) -> Result<String, PasskeyFault> {
        Ok(ClientData::read(&self.response.client_data)?.challenge)
    }

    /// The passkey, where everything but the challenge is right.
    pub fn check(self, site: &RelyingParty) -> Result<NewPasskey, PasskeyFault> {
        site.check_client_data(&self.response.client_data, "webauthn.create")?;
        let data = site.authenticator_data(&self.response.authenticator_data)?;
        let (id, key) = (self.id.0, self.response.public_key.0);
        if data.made != Some(&*id) || id.is_empty() || id.len() > LONGEST_ID {
            return Err(PasskeyFault::Credential);
        }
        if key.len() > LONGEST_KEY || !is_usable(&key) {
            return Err(PasskeyFault::Key);
        }
        Ok(NewPasskey { id, key, counter: data.counter })
    }
}

impl Assertion {
    /// The challenge that it answers.
    pub fn challenge(&self) -> Result<String, PasskeyFault> {
        Ok(ClientData::read(&self.response.client_data)?.challenge)
    }

    /// Whose it says that it is.
    pub fn user_handle(&self) -> Option<&[u8]> {
        self.response.user_handle.as_ref().map(|handle| &*handle.0)
    }

    /// Checks everything but challenge and account: the new counter of the passkey with this key and counter.
    pub fn check(
        &self,
        site: &RelyingParty,
        (key, counter): (&[u8], u32),
        verification: bool,
    ) -> Result<u32, PasskeyFault> {
        let AssertionResponse { client_data, authenticator_data, signature, .. } = &self.response;
        site.check_client_data(client_data, "webauthn.get")?;
        let data = site.authenticator_data(authenticator_data)?;
        if verification && !data.verified {
            return Err(PasskeyFault::Verification);
        }
        let signed = [&*authenticator_data.0, &Sha256::digest(&client_data.0)].concat();
        let spki = SubjectPublicKeyInfoDer::from(key);
        let entity = RawPublicKeyEntity::try_from(&spki).map_err(|_| PasskeyFault::Key)?;
        let fits = |(_, kind): &(i64, &dyn SignatureVerificationAlgorithm)| {
            entity.verify_signature(*kind, &signed, &signature.0).is_ok()
        };
        if !ALGORITHMS.iter().any(fits) {
            return Err(PasskeyFault::Signature);
        }
        // Many authenticators do not count: theirs is always 0.
        if (data.counter, counter) != (0, 0) && data.counter <= counter {
            return Err(PasskeyFault::Counter);
        }
        Ok(data.counter)
    }
}

/// Whether a key is of a kind that signatures are verified with.
fn is_usable(key: &[u8]) -> bool {
    let spki = SubjectPublicKeyInfoDer::from(key);
    let Ok(entity) = RawPublicKeyEntity::try_from(&spki) else { return false };
    let is_of_kind = |kind: &dyn SignatureVerificationAlgorithm| {
        let refused = entity.verify_signature(kind, b"", b"");
        matches!(refused, Err(webpki::Error::InvalidSignatureForPublicKey))
    };
    ALGORITHMS.iter().any(|(_, kind)| is_of_kind(*kind))
}

impl ClientData {
    fn read(text: &Base64) -> Result<ClientData, PasskeyFault> {
        serde_json::from_slice(&text.0).map_err(|_| PasskeyFault::Malformed)
    }
}

impl RelyingParty {
    /// The site; `None` where browsers make no passkeys for its address: it is neither one over HTTPS nor `localhost`, or it
    /// has no name.
    pub fn of(site: &Site) -> Option<RelyingParty> {
        RelyingParty::at(&site.url)
    }

    fn at(url: &str) -> Option<RelyingParty> {
        let url = Url::parse(url).ok()?;
        let Some(Host::Domain(host)) = url.host() else { return None };
        let local = host == "localhost" || host.ends_with(".localhost");
        let is_safe = url.scheme() == "https" || url.scheme() == "http" && local;
        is_safe.then(|| RelyingParty { id: host.to_owned(), origin: url.origin().ascii_serialization() })
    }

    /// The options with which a browser makes a passkey, without challenge and account.
    pub fn creation(&self, name: &str) -> Value {
        json!({
            "rp": {"id": self.id, "name": name},
            "pubKeyCredParams": ALGORITHMS.map(|(number, _)| json!({"type": "public-key", "alg": number})),
            "authenticatorSelection": {"residentKey": "preferred", "userVerification": "preferred"},
            "attestation": "none",
        })
    }

    fn check_client_data(&self, text: &Base64, ceremony: &str) -> Result<(), PasskeyFault> {
        let data = ClientData::read(text)?;
        if data.ceremony != ceremony {
            return Err(PasskeyFault::Ceremony);
        }
        if data.origin != self.origin || data.cross_origin {
            return Err(PasskeyFault::Origin);
        }
        Ok(())
    }

    /// Reads what an authenticator says (section 6.1): a digest, flags, a counter, and perhaps what was made.
    fn authenticator_data<'a>(&self, bytes: &'a Base64) -> Result<AuthenticatorData<'a>, PasskeyFault> {
        const PRESENT: u8 = 0x01;
        const VERIFIED: u8 = 0x04;
        const ATTESTED: u8 = 0x40;
        const EXTENDED: u8 = 0x80;
        /// Bytes of the identifier of its model.
        const MODEL: usize = 16;
        let malformed = PasskeyFault::Malformed;
        let (party, rest) = bytes.0.split_first_chunk::<32>().ok_or(malformed)?;
        let (&[flags], rest) = rest.split_first_chunk::<1>().ok_or(malformed)?;
        let (counter, rest) = rest.split_first_chunk::<4>().ok_or(malformed)?;
        if party[..] != Sha256::digest(&self.id)[..] {
            return Err(PasskeyFault::RelyingParty);
        }
        if flags & PRESENT == 0 {
            return Err(PasskeyFault::Presence);
        }
        let made = if flags & ATTESTED != 0 {
            let (length, rest) = rest.get(MODEL..).and_then(|rest| rest.split_first_chunk::<2>()).ok_or(malformed)?;
            Some(rest.get(..u16::from_be_bytes(*length).into()).ok_or(malformed)?)
        } else if flags & EXTENDED == 0 && !rest.is_empty() {
            return Err(malformed);
        } else {
            None
        };
        let counter = u32::from_be_bytes(*counter);
        Ok(AuthenticatorData { verified: flags & VERIFIED != 0, counter, made })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn party() -> RelyingParty {
        RelyingParty { id: "cms.example".into(), origin: "https://cms.example".into() }
    }

    #[test]
    fn names_over_https_and_localhost_have_passkeys() {
        let of = |url: &str| RelyingParty::at(url).map(|party| (party.id, party.origin));
        let both = |id: &str, origin: &str| Some((id.to_owned(), origin.to_owned()));
        assert_eq!(of("https://CMS.example:443/blog"), both("cms.example", "https://cms.example"));
        assert_eq!(
            of("https://bücher.example:8443"),
            both("xn--bcher-kva.example", "https://xn--bcher-kva.example:8443")
        );
        assert_eq!(of("http://localhost:8080"), both("localhost", "http://localhost:8080"));
        assert_eq!(of("http://cms.localhost"), both("cms.localhost", "http://cms.localhost"));
        for url in [
            "http://cms.example",
            "http://notlocalhost",
            "https://192.0.2.1",
            "https://[::1]",
            "",
            "mailto:a@b.example",
        ] {
            assert_eq!(of(url), None, "{url}");
        }
    }

    proptest! {
        #[test]
        fn whatever_an_authenticator_says_is_read(bytes in prop::collection::vec(any::<u8>(), 0..120), own in any::<bool>()) {
            let mut bytes = bytes;
            if own && bytes.len() >= 32 {
                bytes[..32].copy_from_slice(&Sha256::digest("cms.example"));
            }
            let bytes = Base64(bytes);
            let read = party().authenticator_data(&bytes);
            prop_assert!(own || read.is_err());
            if let Ok(AuthenticatorData { made: Some(id), .. }) = read {
                prop_assert!(bytes.0.len() >= 55 + id.len());
            }
        }

        #[test]
        fn whatever_a_browser_hands_over_is_read(text in ".{0,200}") {
            prop_assert!(read::<Assertion>(&text).is_err() && read::<Attestation>(&text).is_err());
        }
    }
}
