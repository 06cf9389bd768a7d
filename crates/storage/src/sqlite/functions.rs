//! Functions that statements call and SQLite does not bring.

use cms_text::fold;
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
    })?;
    conn.create_scalar_function("same_folded", 2, flags, |ctx| {
        let (ValueRef::Text(text), ValueRef::Text(folded)) = (ctx.get_raw(0), ctx.get_raw(1)) else {
            return Ok(false);
        };
        Ok(fold(&String::from_utf8_lossy(text)).as_bytes() == folded)
    })
}

/// Tests whether the text, once folded, contains the folded needle.
fn contains_folded(text: &[u8], needle: &[u8]) -> bool {
    let Ok(sought) = std::str::from_utf8(needle) else { return false };
    if !text.is_ascii() {
        return fold(&String::from_utf8_lossy(text)).contains(sought);
    }
    let Some((first, rest)) = needle.split_first() else { return true };
    if !needle.iter().any(u8::is_ascii_alphabetic) {
        return memmem::find(text, needle).is_some();
    }
    // A folded needle has no capitals: where it has one, nothing matches it.
    if needle.iter().any(u8::is_ascii_uppercase) {
        return false;
    }
    match first.is_ascii_alphabetic() {
        true => begins_at_one_of(text, needle, rest, memchr2_iter(*first, first.to_ascii_uppercase(), text)),
        false => begins_at_one_of(text, needle, rest, memchr_iter(*first, text)),
    }
}

/// Tests whether the needle occurs at one of the places where its first letter does; `rest` is what follows the letter.
///
/// Where the letter is frequent and the needle long, comparing at each place could take the product of both lengths:
/// then a copy of the text in small letters is searched instead, in linear time.
fn begins_at_one_of(text: &[u8], needle: &[u8], rest: &[u8], mut places: impl Iterator<Item = usize>) -> bool {
    let looks = 64 + 4 * text.len() / needle.len();
    let goes_on = |at: usize| text[at + 1..].get(..rest.len()).is_some_and(|piece| piece.eq_ignore_ascii_case(rest));
    if places.by_ref().take(looks).any(goes_on) {
        return true;
    }
    places.next().is_some_and(|at| memmem::find(&text[at..].to_ascii_lowercase(), needle).is_some())
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
            (&format!("{}AB", "A".repeat(5000)), &format!("{}b", "a".repeat(500)), true),
            (&"A".repeat(5000), &format!("{}b", "a".repeat(500)), false),
            ("", "x", false),
            ("", "", true),
        ] {
            assert_eq!(contains_folded(text.as_bytes(), needle.as_bytes()), found, "{needle} in {text}");
        }
    }
}
