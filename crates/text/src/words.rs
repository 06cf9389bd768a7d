//! The number of words in a content, as editors count them.

/// The words of a content: what white space follows, without markup, comments, entities, digits and punctuation.
pub fn count_words(content: &str) -> u64 {
    let mut count = 0;
    let mut letter = false;
    let mut rest = content;
    let mut take = |c: char| {
        let space = c.is_whitespace();
        count += u64::from(space && letter);
        letter = !space;
    };
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '<' => tag(rest),
            '&' => entity(rest),
            _ => None,
        };
        if let Some((length, space)) = skipped {
            if space {
                take(' ');
            }
            rest = &rest[length..];
            continue;
        }
        match c {
            '—' => take(' '),
            '-' if rest.starts_with("--") => {
                take(' ');
                rest = &rest[1..];
            }
            c if is_mark(c) => {}
            c => take(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    take('\n');
    count
}

/// The length of a comment, or of a tag, which sets words apart.
fn tag(rest: &str) -> Option<(usize, bool)> {
    if rest.starts_with("<!--") {
        return Some((rest.find("-->")? + 3, false));
    }
    let name = rest[1..].trim_start_matches('/');
    let named = rest.len() - name.len() <= 2 && name.starts_with(|c: char| c.is_ascii_alphabetic());
    named.then(|| rest.find('>')).flatten().map(|end| (end + 1, true))
}

/// The length of an entity; one of a space sets words apart.
fn entity(rest: &str) -> Option<(usize, bool)> {
    const MOST: usize = 40;
    let end = rest.bytes().take(MOST).position(|b| b == b';' || b.is_ascii_whitespace())?;
    let entity = rest.get(..=end)?;
    let space = ["&nbsp;", "&#160;"].iter().any(|known| entity.eq_ignore_ascii_case(known));
    (end > 1 && entity.ends_with(';')).then_some((end + 1, space))
}

/// Punctuation and digits, which are no words by themselves.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{21}'..='\u{40}' | '\u{5b}'..='\u{60}' | '\u{7b}'..='\u{7e}' | '\u{80}'..='\u{bf}' | '\u{d7}' | '\u{f7}'
        | '\u{2000}'..='\u{2bff}' | '\u{2e00}'..='\u{2e7f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        fn check(text: &str, expected: u64) {
            assert_eq!(count_words(text), expected, "{text}");
        }
        check("", 0);
        check("one", 1);
        check("one two\n three", 3);
        check("<p>one</p><p>two</p>", 2);
        check("<!-- wp:x {\"a\":1} -->one<!-- /wp:x -->two", 1);
        check("one--two — three", 3);
        check("12 ... !", 0);
        check("a&nbsp;b &amp; c", 3);
        check("a < b", 2);
        check("<", 0);
        check("&", 0);
        check("é&é;é", 1);
    }
}
