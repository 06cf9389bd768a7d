//! Bare addresses in comments as links.
//!
//! Owns what in running text is an address and where it ends. Addresses inside tags, links and code stay as they are.

use super::html::Html;
use super::markup::{Piece, pieces, tag_name};
use super::sanitize::clean_url;

const UNTOUCHED: [&str; 5] = ["a", "code", "pre", "script", "style"];

/// The text with web, FTP and mail addresses as links; web links tell search engines not to follow.
pub fn make_clickable(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut untouched: Vec<&str> = Vec::new();
    for piece in address_pieces(text) {
        match piece {
            Piece::Markup(markup) => {
                let (name, closes) = tag_name(markup);
                if UNTOUCHED.contains(&name) {
                    match closes {
                        true if untouched.last() == Some(&name) => {
                            untouched.pop();
                        }
                        true => {}
                        false => untouched.push(name),
                    }
                }
                out.push_str(markup);
            }
            Piece::Text(text) if !untouched.is_empty() => out.push_str(text),
            Piece::Text(text) => link_words(text, &mut out),
        }
    }
    out
}

/// Markup that is really an address in angle brackets counts as text.
fn address_pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    pieces(text).map(|piece| match piece {
        Piece::Markup(markup) if ["<http://", "<https://", "<ftp://"].iter().any(|p| markup.starts_with(p)) => {
            Piece::Text(markup)
        }
        other => other,
    })
}

fn link_words(text: &str, out: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        let gap = rest.find(|c: char| !is_gap(c)).unwrap_or(rest.len());
        out.push_str(&rest[..gap]);
        rest = &rest[gap..];
        let end = rest.find(is_gap).unwrap_or(rest.len());
        link_word(&rest[..end], out);
        rest = &rest[end..];
    }
}

fn is_gap(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '<' | '>' | '"' | '[' | ']')
}

fn link_word(word: &str, out: &mut String) {
    let bracket = word.len() - word.trim_start_matches('(').len();
    let (bracket, word) = word.split_at(bracket);
    out.push_str(bracket);
    let (address, rest) = word.split_at(address_end(word));
    let host = |prefix: &str| address.strip_prefix(prefix).filter(|rest| !rest.is_empty());
    let link = if host("http://").or(host("https://")).or(host("ftp://")).is_some() {
        Some(address.to_owned())
    } else if host("www.").or(host("ftp.")).is_some() {
        Some(format!("http://{address}"))
    } else {
        None
    };
    match link {
        Some(link) => {
            let shown = clean_url(&link);
            if shown.is_empty() {
                out.push_str(word);
                return;
            }
            let mut html = Html::new();
            html.raw("<a").address("href", &shown).raw(" rel=\"nofollow ugc\">").address_text(&shown).raw("</a>");
            out.push_str(html.as_str());
            out.push_str(rest);
        }
        None if is_mail(address) => {
            let mut html = Html::new();
            html.raw("<a").attr("href", &format!("mailto:{address}")).raw(">").text(address).raw("</a>");
            out.push_str(html.as_str());
            out.push_str(rest);
        }
        None => out.push_str(word),
    }
}

/// A closing bracket ends the address unless the address opened it; punctuation at the end belongs to the sentence.
fn address_end(word: &str) -> usize {
    let mut open = 0_usize;
    let surplus = word.bytes().position(|b| {
        open += usize::from(b == b'(');
        let surplus = b == b')' && open == 0;
        open -= usize::from(b == b')' && open > 0);
        surplus
    });
    let address = &word[..surplus.unwrap_or(word.len())];
    address.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'']).len()
}

fn is_mail(word: &str) -> bool {
    let Some((local, domain)) = word.split_once('@') else { return false };
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let label = |l: &str| !l.is_empty() && l.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    !local.is_empty() && local.chars().all(part) && domain.contains('.') && domain.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_links() {
        fn check(text: &str, expected: &str) {
            assert_eq!(make_clickable(text), expected, "{text}");
        }
        let link = |url: &str| format!("<a href=\"{url}\" rel=\"nofollow ugc\">{url}</a>");
        check("see http://example.org/a. ok", &format!("see {}. ok", link("http://example.org/a")));
        check("(http://example.org/a)", &format!("({})", link("http://example.org/a")));
        check("www.example.org", &link("http://www.example.org"));
        check("mail a@b.org now", "mail <a href=\"mailto:a@b.org\">a@b.org</a> now");
        check("<a href=\"http://x.org\">http://x.org</a>", "<a href=\"http://x.org\">http://x.org</a>");
        check("<code>http://x.org</code>", "<code>http://x.org</code>");
        check("https://x.org/a_(b)", &link("https://x.org/a_(b)"));
        check("http://x.org,", &format!("{},", link("http://x.org")));
        check("ahttp://x.org mailto:a@b.org a@b", "ahttp://x.org mailto:a@b.org a@b");
        check("x<http://y.org>", &format!("x<{}>", link("http://y.org")));
        check("http://x.org/\"q\"", &format!("{}\"q\"", link("http://x.org/")));
    }

    #[test]
    fn many_brackets_stay_cheap() {
        let text = format!("http://x.org/{}", ")".repeat(2_000));
        assert!(make_clickable(&text).ends_with(')'));
    }
}
