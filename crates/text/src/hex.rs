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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_two_digits() {
        for (bytes, digits) in [(&[][..], ""), (&[0], "00"), (&[0x0f, 0xa0, 0xff], "0fa0ff")] {
            assert_eq!(hex(bytes), digits);
        }
    }
}
