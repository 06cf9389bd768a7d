//! Taking markup out of text: tags, comments, entities.
//!
//! Owns what counts as a tag when text is flattened (slugs, logins, excerpts, single-line fields). It must not be
//! relied upon for safety: what remains is text to be escaped, not markup to be shown.

use std::borrow::Cow;

/// Drops tags and comments, keeps the text between them. `<` starts a tag unless white space follows it; a tag that
/// never ends includes the rest.
pub fn strip_tags(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at..];
        let length = if tag[1..].starts_with(|c: char| c.is_ascii_whitespace()) {
            out.push('<');
            1
        } else {
            tag_length(tag)
        };
        rest = &tag[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Like [`strip_tags`], and drops the insides of `<script>` and `<style>` too; white space around the result is cut.
pub fn strip_all_tags(text: &str) -> String {
    strip_tags(&without_scripts(text)).trim().to_owned()
}

/// Drops everything from `&` to the next `;` on the same line, known entity or not; there must be something between.
pub fn strip_entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        // The end is searched behind the first character, on the same line.
        let skip = after.chars().next().map_or(0, char::len_utf8);
        let end = after[skip..].find([';', '\n']).map(|n| skip + n);
        match end {
            Some(end) if after[end..].starts_with(';') && !after[..skip].starts_with('\n') => rest = &after[end + 1..],
            // No `;` before the end of the line: none of its ampersands starts an entity.
            _ => {
                let line = if after.starts_with('\n') { 0 } else { end.unwrap_or(after.len()) };
                out.push('&');
                out.push_str(&after[..line]);
                rest = &after[line..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Length of the tag or comment at the start of `tag` (which starts with `<`); `>` in quotes does not end a tag, and
/// each further `<` needs a `>` of its own.
fn tag_length(tag: &str) -> usize {
    if tag.starts_with("<!--") {
        return tag.find("-->").map_or(tag.len(), |end| end + 3);
    }
    let (mut quote, mut depth) = (None, 0_usize);
    for (at, byte) in tag.bytes().enumerate().skip(1) {
        match (quote, byte) {
            (_, b'>') if depth > 0 => depth -= 1,
            (None, b'>') => return at + 1,
            (None, b'<') if !tag[at + 1..].starts_with(|c: char| c.is_ascii_whitespace()) => depth += 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// The text without complete `<script>…</script>` and `<style>…</style>`.
pub(super) fn without_scripts(text: &str) -> Cow<'_, str> {
    // ASCII lower case keeps byte positions.
    let lower = text.to_ascii_lowercase();
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    let mut hopeless = [false; 2];
    while let Some(found) = lower[at..].find("<s") {
        let start = at + found;
        at = start + 2;
        for (n, name) in ["script", "style"].into_iter().enumerate() {
            if hopeless[n] || !opens(&lower[start..], name) {
                continue;
            }
            match lower[start..].find(&format!("</{name}>")) {
                Some(end) => {
                    out.push_str(&text[kept..start]);
                    kept = start + end + name.len() + 3;
                    at = kept;
                }
                // Searched to the end once is enough.
                None => hopeless[n] = true,
            }
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

fn opens(tag: &str, name: &str) -> bool {
    tag[1..].strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_text_stays() {
        fn check(text: &str, expected: &str) {
            assert_eq!(strip_tags(text), expected, "{text}");
        }
        check("plain", "plain");
        check("a <b>bold</b> word", "a bold word");
        check("a < b > c", "a < b > c");
        check("1<2>3", "13");
        check("a<b", "a");
        check("a<!-- c > d -->b", "ab");
        check("<a title=\">\">x</a>", "x");
        check("x <script>1</script>", "x 1");
    }

    #[test]
    fn scripts_go_with_their_insides() {
        fn check(text: &str, expected: &str) {
            assert_eq!(strip_all_tags(text), expected, "{text}");
        }
        check(" x <script>var a;</script> y ", "x  y");
        check("x<STYLE type=a>p{}</style>y", "xy");
        check("<scripting>a</scripting>", "a");
        check("<script>open", "open");
        check("<s>x</s>", "x");
    }

    #[test]
    fn entities_go() {
        fn check(text: &str, expected: &str) {
            assert_eq!(strip_entities(text), expected, "{text}");
        }
        check("a &amp; b", "a  b");
        check("a & b;c", "a c");
        check("a & b", "a & b");
        check("&;x", "&;x");
        check("&;x;y", "y");
        check("a &\n b;", "a &\n b;");
    }
}
