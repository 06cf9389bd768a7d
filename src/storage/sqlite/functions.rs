//! Functions that statements call and SQLite does not bring.

use super::super::fold::fold;
use memchr::{memchr_iter, memchr2_iter, memmem};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

/// Registers them with a connection.
pub fn register(conn: &Connection) -> Result<()> {
    rusqlite::vtab::array::load_module(conn)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    conn.create_scalar_function("contains_folded", 2, flags, |ctx| {
        let (ValueRef::Text(text), ValueRef::Text(needle)) = (ctx.get_raw(0), ctx.get_raw(1)) else {
            return Ok(false);
        };
        Ok(contains_folded(text, needle))
    })
}

/// Whether the folded needle stands in the text once that is folded too.
fn contains_folded(text: &[u8], needle: &[u8]) -> bool {
    let Ok(sought) = std::str::from_utf8(needle) else { return false };
    if !text.is_ascii() {
        return fold(&String::from_utf8_lossy(text)).contains(sought);
    }
    let Some((first, rest)) = needle.split_first() else { return true };
    if !needle.iter().any(u8::is_ascii_alphabetic) {
        return memmem::find(text, needle).is_some();
    }
    let goes_on = |at: usize| text[at + 1..].get(..rest.len()).is_some_and(|piece| piece.eq_ignore_ascii_case(rest));
    // A folded needle has no capitals: where it has one, nothing matches it.
    if needle.iter().any(u8::is_ascii_uppercase) {
        return false;
    }
    match first.is_ascii_alphabetic() {
        true => memchr2_iter(*first, first.to_ascii_uppercase(), text).any(goes_on),
        false => memchr_iter(*first, text).any(goes_on),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_text_is_found() {
        for (text, needle, found) in [
            ("A Plain Title", "plain", true),
            ("A Plain Title", "", true),
            ("Crème Brûlée", "creme brulee", true),
            ("Crème Brûlée", "crème", false),
            ("nothing", "thing else", false),
            ("A Plain Title", "Plain", false),
            ("Room 77", "77", true),
            ("Room 77", "m 77", true),
            ("Room 77", "7 ", false),
            ("ROOM 77B", "77b", true),
            ("papapaya", "papaya", true),
            ("", "x", false),
            ("", "", true),
        ] {
            assert_eq!(contains_folded(text.as_bytes(), needle.as_bytes()), found, "{needle} in {text}");
        }
    }
}
