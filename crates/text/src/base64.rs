//! Bytes as base64 that clients have written.

use ::base64::Engine as _;
use ::base64::alphabet::STANDARD;
use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Not every client knows the padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes; `None` for what is no base64.
pub fn decode(text: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_optional() {
        for (text, bytes) in [
            ("YQ==", Some("a")),
            ("YQ", Some("a")),
            ("YWI=", Some("ab")),
            ("YWI", Some("ab")),
            ("Y", None),
            ("*", None),
        ] {
            assert_eq!(decode(text).as_deref(), bytes.map(str::as_bytes), "{text}");
        }
    }
}
