//! Bytes as hexadecimal digits.

/// Two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// The bytes that digits in pairs are; `None`: they are no such digits.
pub fn bytes(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_two_digits() {
        for (bytes, digits) in [(&[][..], ""), (&[0], "00"), (&[0x0f, 0xa0, 0xff], "0fa0ff")] {
            assert_eq!(hex(bytes), digits);
            assert_eq!(super::bytes(digits.as_bytes()).as_deref(), Some(bytes));
        }
        for wrong in ["0", "0g", "0x00"] {
            assert_eq!(bytes(wrong.as_bytes()), None);
        }
        assert_eq!(bytes(b"4D6f").as_deref(), Some(&b"Mo"[..]));
    }
}
