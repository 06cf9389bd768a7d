//! Functions that statements call and SQLite does not bring.

use super::super::fold::fold;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use std::cell::RefCell;

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

thread_local! {
    /// Text in lower case, so that a search through many rows does not allocate for each.
    static LOWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Whether the folded needle stands in the text once that is folded too.
fn contains_folded(text: &[u8], needle: &[u8]) -> bool {
    let Ok(needle) = std::str::from_utf8(needle) else { return false };
    if !text.is_ascii() {
        return fold(&String::from_utf8_lossy(text)).contains(needle);
    }
    LOWER.with_borrow_mut(|lower| {
        lower.clear();
        lower.extend(text.iter().map(u8::to_ascii_lowercase));
        std::str::from_utf8(lower).is_ok_and(|text| text.contains(needle))
    })
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
        ] {
            assert_eq!(contains_folded(text.as_bytes(), needle.as_bytes()), found, "{needle} in {text}");
        }
    }
}
