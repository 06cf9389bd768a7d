//! ID tokens: signed claims (JWS, compact), checked as OpenID Connect Core 3.1.3.7 says. Pure.
//!
//! Signatures are those of key pairs alone. A key is used with the algorithms of its own kind, so that no token decides how it
//! is checked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Map, Value};

/// The claims of a provider about a person, by name.
pub type Claims = Map<String, Value>;

/// The algorithms that tokens may be signed with.
pub const ALGORITHMS: [&str; 9] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/// Keys of a provider that are read; further ones are none of this server's.
const MOST_KEYS: usize = 50;

/// Longest subject, in bytes.
const LONGEST_SUBJECT: usize = 255;

/// How old a token may be, in seconds: it is made for the code of a login that has just ended.
const FRESH: i64 = 10 * 60;

/// The public keys of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeySet(Vec<SigningKey>);

#[derive(Clone, Debug, PartialEq)]
struct SigningKey {
    id: Option<String>,
    /// The one algorithm that it is for.
    algorithm: Option<String>,
    material: KeyMaterial,
}

/// Numbers in big-endian bytes, points as ring reads them.
#[derive(Clone, Debug, PartialEq)]
enum KeyMaterial {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// The claims that a token has to have.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    pub issuer: &'a str,
    pub client: &'a str,
    pub nonce: &'a str,
    /// UTC seconds, and by how many the clocks may differ.
    pub now: i64,
    pub skew: i64,
}

/// Why a token is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// No key fits it: the provider may have others by now.
    UnknownKey,
    /// In words for operators.
    Wrong(&'static str),
}

impl KeySet {
    /// The keys of a document (RFC 7517). Keys of other kinds and uses are left out, as it says.
    pub fn read(document: &Value) -> Option<KeySet> {
        let keys = document["keys"].as_array()?;
        Some(KeySet(keys.iter().filter_map(SigningKey::read).take(MOST_KEYS).collect()))
    }

    /// Whether no token can be checked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl SigningKey {
    fn read(key: &Value) -> Option<SigningKey> {
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(key[name].as_str()?).ok();
        // Some write a zero in front of a number that would be negative without.
        let number = |name: &str| Some(bytes(name)?.into_iter().skip_while(|byte| *byte == 0).collect::<Vec<u8>>());
        let point = |size: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            (x.len() == size && y.len() == size).then(|| [&[4], &*x, &*y].concat())
        };
        if !matches!(key["use"].as_str(), None | Some("sig")) {
            return None;
        }
        let material = match (key["kty"].as_str()?, key["crv"].as_str()) {
            ("RSA", _) => KeyMaterial::Rsa { n: number("n")?, e: number("e")? },
            ("EC", Some("P-256")) => KeyMaterial::P256(point(32)?),
            ("EC", Some("P-384")) => KeyMaterial::P384(point(48)?),
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(bytes("x")?),
            _ => return None,
        };
        let text = |name: &str| key[name].as_str().map(str::to_owned);
        Some(SigningKey { id: text("kid"), algorithm: text("alg"), material })
    }

    /// Whether the key has made a signature; `None`: it is none for this algorithm.
    fn has_signed(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> Option<bool> {
        if self.algorithm.as_deref().is_some_and(|own| own != algorithm) {
            return None;
        }
        let by = |rule: &'static dyn VerificationAlgorithm, point: &[u8]| {
            UnparsedPublicKey::new(rule, point).verify(message, signature).is_ok()
        };
        Some(match (&self.material, algorithm) {
            (KeyMaterial::Rsa { n, e }, _) => {
                RsaPublicKeyComponents { n, e }.verify(rsa(algorithm)?, message, signature).is_ok()
            }
            (KeyMaterial::P256(point), "ES256") => by(&ECDSA_P256_SHA256_FIXED, point),
            (KeyMaterial::P384(point), "ES384") => by(&ECDSA_P384_SHA384_FIXED, point),
            (KeyMaterial::Ed25519(point), "EdDSA") => by(&ED25519, point),
            _ => return None,
        })
    }
}

fn rsa(algorithm: &str) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        "RS256" => &RSA_PKCS1_2048_8192_SHA256,
        "RS384" => &RSA_PKCS1_2048_8192_SHA384,
        "RS512" => &RSA_PKCS1_2048_8192_SHA512,
        "PS256" => &RSA_PSS_2048_8192_SHA256,
        "PS384" => &RSA_PSS_2048_8192_SHA384,
        "PS512" => &RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

/// The claims of a token that a provider has signed for this site and this login.
///
/// # Errors
/// See [`TokenError`].
pub fn verified(token: &str, keys: &KeySet, expected: &Expected<'_>) -> Result<Claims, TokenError> {
    let mut parts = token.split('.');
    let (Some(head), Some(body), Some(signature), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(TokenError::Wrong("the ID token does not have three parts"));
    };
    let header = object(head).ok_or(TokenError::Wrong("the head of the ID token cannot be read"))?;
    let algorithm = header.get("alg").and_then(Value::as_str).unwrap_or_default();
    if !ALGORITHMS.contains(&algorithm) {
        return Err(TokenError::Wrong("the ID token is not signed with an algorithm of key pairs that is known here"));
    }
    if header.contains_key("crit") {
        return Err(TokenError::Wrong("the ID token wants something understood that is not (crit)"));
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| TokenError::Wrong("the signature cannot be read"))?;
    let id = header.get("kid").and_then(Value::as_str);
    let named = keys.0.iter().filter(|key| id.is_none() || key.id.as_deref() == id);
    let message = &token.as_bytes()[..head.len() + 1 + body.len()];
    let tried: Vec<bool> = named.filter_map(|key| key.has_signed(algorithm, message, &signature)).collect();
    match tried.as_slice() {
        [] => return Err(TokenError::UnknownKey),
        tried if !tried.contains(&true) => return Err(TokenError::Wrong("the signature of the ID token is wrong")),
        _ => {}
    }
    let claims = object(body).ok_or(TokenError::Wrong("the claims of the ID token cannot be read"))?;
    checked(&claims, expected).map_err(TokenError::Wrong)?;
    Ok(claims)
}

fn object(part: &str) -> Option<Claims> {
    match serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()? {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// The subject of claims; `None`: none that can be stored.
pub fn subject(claims: &Claims) -> Option<&str> {
    let subject = claims.get("sub")?.as_str()?;
    let fits = !subject.is_empty() && subject.len() <= LONGEST_SUBJECT && !subject.contains(char::is_control);
    fits.then_some(subject)
}

fn checked(claims: &Claims, expected: &Expected<'_>) -> Result<(), &'static str> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    // A time that is no number is not left out: it is never right.
    let seconds = |name: &str| claims.get(name).map(|time| time.as_f64().unwrap_or(f64::NAN));
    let (now, skew) = (expected.now as f64, expected.skew as f64);
    if text("iss") != Some(expected.issuer) {
        return Err("the ID token is from another issuer");
    }
    let audience: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !audience.contains(&expected.client) {
        return Err("the ID token is for another client");
    }
    let party = claims.get("azp");
    if party.is_some_and(|party| party.as_str() != Some(expected.client)) || audience.len() > 1 && party.is_none() {
        return Err("the ID token was given to another client");
    }
    if !seconds("exp").is_some_and(|end| now < end + skew) {
        return Err("the ID token has ended; do the clocks agree?");
    }
    if !seconds("iat").is_some_and(|made| made <= now + skew && made >= now - skew - FRESH as f64) {
        return Err("the ID token was not made now; do the clocks agree?");
    }
    if !seconds("nbf").is_none_or(|begin| begin <= now + skew) {
        return Err("the ID token is not valid yet; do the clocks agree?");
    }
    if text("nonce") != Some(expected.nonce) {
        return Err("the ID token belongs to another login");
    }
    subject(claims).map(|_| ()).ok_or("the ID token names nobody")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A key and a token of each algorithm, made by another program (jose for JavaScript) once; the secret keys are nowhere.
    fn samples() -> Vec<(Value, String)> {
        let all: Vec<Value> =
            serde_json::from_str(include_str!("../../../../fixtures/openid/tokens.json")).expect("JSON");
        all.into_iter().map(|one| (one["key"].clone(), one["token"].as_str().expect("a token").to_owned())).collect()
    }

    const EXPECTED: Expected<'_> =
        Expected { issuer: "https://id.example", client: "cms", nonce: "once", now: 1010, skew: 60 };

    fn keys(keys: &[&Value]) -> KeySet {
        KeySet::read(&json!({"keys": keys})).expect("keys")
    }

    #[test]
    fn each_algorithm_is_verified_with_its_key_alone() {
        let samples = samples();
        let known: Vec<&str> = samples.iter().filter_map(|(key, _)| key["kid"].as_str()).collect();
        assert_eq!(known, ALGORITHMS);
        let all = keys(&samples.iter().map(|(key, _)| key).collect::<Vec<_>>());
        for (key, token) in &samples {
            let about = &key["kid"];
            let claims = verified(token, &all, &EXPECTED);
            assert_eq!(claims.as_ref().ok().and_then(subject), Some("person"), "{about}: {claims:?}");
            // A flipped bit of the signature, in a letter whose bits all count.
            let place = token.len() - 20;
            let letter = if &token[place..=place] == "A" { "B" } else { "A" };
            let changed = format!("{}{letter}{}", &token[..place], &token[place + 1..]);
            assert!(matches!(verified(&changed, &all, &EXPECTED), Err(TokenError::Wrong(_))), "{about}");
            // Under the name of another key.
            for (other, _) in samples.iter().filter(|(other, _)| other["kid"] != *about) {
                let mut other = other.clone();
                other["kid"] = about.clone();
                assert!(verified(token, &keys(&[&other]), &EXPECTED).is_err(), "{about} {}", other["kty"]);
            }
            // Where the key names another algorithm, or is for something else.
            for (member, value) in [("alg", "RS1"), ("use", "enc")] {
                let mut key = key.clone();
                key[member] = json!(value);
                assert_eq!(verified(token, &keys(&[&key]), &EXPECTED), Err(TokenError::UnknownKey), "{about} {member}");
            }
        }
    }

    #[test]
    fn keys_that_cannot_be_read_are_left_out() {
        let (good, _) = samples().remove(6);
        let wrong = [
            json!({}),
            json!({"kty": "oct", "k": "c2VjcmV0"}),
            json!({"kty": "RSA", "n": "AQAB"}),
            json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}),
            json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"}),
            json!("text"),
        ];
        let all: Vec<&Value> = wrong.iter().chain([&good]).collect();
        assert_eq!(keys(&all).0.len(), 1);
        assert_eq!(keys(&vec![&good; 60]).0.len(), MOST_KEYS);
        assert_eq!(KeySet::read(&json!({"keys": {}})), None);
        assert!(keys(&[]).is_empty());
    }

    #[test]
    fn nothing_that_is_no_token_panics() {
        let (key, token) = samples().remove(0);
        let all = keys(&[&key]);
        for text in ["", ".", "..", "...", "a.b.c", "e30.e30.", "é.é.é", &token[1..], &token[..token.len() - 1]] {
            assert!(verified(text, &all, &EXPECTED).is_err(), "{text}");
        }
    }
}
