//! Texts that this server alone can read and has made: secrets that it has to use again, and what a page hands to itself.
//!
//! Authenticated encryption under a key that follows from the server's own, bound to a purpose. It knows no contents.

use super::identity::Identity;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// Longest sealed text that is opened, in characters.
const LONGEST: usize = 8192;

impl Identity {
    /// A text for one purpose, sealed: letters, digits, `-` and `_`.
    pub(super) fn seal(&self, purpose: &str, text: &[u8]) -> String {
        let nonce: [u8; NONCE_LEN] = rand::random();
        let mut sealed = text.to_vec();
        let done = self.sealing_key().seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(purpose.as_bytes()),
            &mut sealed,
        );
        done.expect("texts are far shorter than the cipher's limit");
        URL_SAFE_NO_PAD.encode([nonce.as_slice(), &sealed].concat())
    }

    /// The text that was sealed for this purpose; `None`: it was not, or not here.
    pub(super) fn unseal(&self, purpose: &str, sealed: &str) -> Option<Vec<u8>> {
        if sealed.len() > LONGEST {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let (mut text, nonce) = (text.to_vec(), Nonce::assume_unique_for_key(*nonce));
        let opened = self.sealing_key().open_in_place(nonce, Aad::from(purpose.as_bytes()), &mut text).ok()?;
        Some(opened.to_vec())
    }

    fn sealing_key(&self) -> LessSafeKey {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.derived("seal"));
        LessSafeKey::new(key.expect("the cipher's keys are as long as the hash"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_here_for_its_purpose_alone() {
        let identity = Identity::new(&[7; 32]);
        let sealed = identity.seal("one", b"secret");
        assert_eq!(identity.unseal("one", &sealed).as_deref(), Some(b"secret".as_slice()));
        assert_ne!(identity.seal("one", b"secret"), sealed, "no two are alike");
        assert_eq!(identity.unseal("two", &sealed), None);
        assert_eq!(Identity::new(&[8; 32]).unseal("one", &sealed), None);
        for wrong in ["", "A", "!", &sealed[..sealed.len() - 1], &format!("{sealed}A"), &"A".repeat(9000)] {
            assert_eq!(identity.unseal("one", wrong), None, "{wrong:.20}");
        }
    }
}
