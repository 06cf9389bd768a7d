//! The head of a page: title, description, icon, picture.

use super::html_policy::{HtmlTag, HtmlToken, read};
use super::sanitize::decode_text;
use super::strip::strip_tags;

/// Texts unescaped, addresses as written; empty: the page does not have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub title: String,
    pub icon: String,
    pub description: String,
    pub image: String,
}

impl Head {
    /// Reads the head of a page; of each the first counts.
    pub fn of(html: &str) -> Head {
        let mut head = Head::default();
        let mut at = 0;
        // The cost of failed attempts to read a tag is limited; no real head has that many.
        let mut patience = html.len() * 8 + 1_000;
        while let Some(start) = html[at..].find('<').map(|n| at + n) {
            let (token, length) = read(&html[start..]);
            at = start + length;
            match token {
                HtmlToken::Tag(tag) => match tag.name.to_ascii_lowercase().as_str() {
                    "body" => break,
                    "title" => {
                        let inside = raw(&html[at..], "</title");
                        at += inside.len();
                        first(&mut head.title, inside);
                    }
                    "script" => at += raw(&html[at..], "</script").len(),
                    "style" => at += raw(&html[at..], "</style").len(),
                    "meta" => head.meta(&tag),
                    "link" if has_word(&tag, "rel", "icon") => first(&mut head.icon, value(&tag, "href")),
                    _ => {}
                },
                HtmlToken::Close(name) if name.eq_ignore_ascii_case("head") => break,
                HtmlToken::Text { cost } if cost >= patience => break,
                HtmlToken::Text { cost } => patience -= cost,
                _ => {}
            }
        }
        head
    }

    fn meta(&mut self, tag: &HtmlTag<'_>) {
        let name = [value(tag, "property"), value(tag, "name")].into_iter().find(|name| !name.is_empty());
        match name.unwrap_or("").to_ascii_lowercase().as_str() {
            "description" | "og:description" => first(&mut self.description, value(tag, "content")),
            "og:image" | "og:image:url" => first(&mut self.image, value(tag, "content")),
            _ => {}
        }
    }
}

/// The text before the mark, in any case; all of it when there is no mark.
fn raw<'a>(html: &'a str, mark: &str) -> &'a str {
    let ends = |(at, _): &(usize, &str)| {
        html.as_bytes()[*at..].get(..mark.len()).is_some_and(|found| found.eq_ignore_ascii_case(mark.as_bytes()))
    };
    html.match_indices('<').find(ends).map_or(html, |(at, _)| &html[..at])
}

fn value<'a>(tag: &HtmlTag<'a>, name: &str) -> &'a str {
    tag.attributes.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name)).map_or("", |found| found.value)
}

fn has_word(tag: &HtmlTag<'_>, name: &str, word: &str) -> bool {
    value(tag, name).split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word))
}

fn first(known: &mut String, written: &str) {
    if known.is_empty() {
        let text = strip_tags(written);
        *known = decode_text(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let check = |html: &str, expected: [&str; 4]| {
            let found = Head::of(html);
            assert_eq!([found.title, found.icon, found.description, found.image], expected, "{html}");
        };
        check("", ["", "", "", ""]);
        check(
            "<!doctype html><html><head><TITLE>\n A &amp; B &#8211; C</TITLE><link href=/i.png rel='shortcut ICON'>\
             <meta name=description content=\"It's &quot;so&quot;\"><meta property='og:image' content='/a b.jpg'></head>",
            ["A & B – C", "/i.png", "It's \"so\"", "/a b.jpg"],
        );
        check("<title>one</title><title>two</title>", ["one", "", "", ""]);
        check("<script>'<title>no</title>'</script><title>yes", ["yes", "", "", ""]);
        check("<style><title>no</title></style></head><title>late</title>", ["", "", "", ""]);
        check("<body><meta name=description content=x>", ["", "", "", ""]);
        check("<!-- <title>no</title> --><title></title><title>yes</title>", ["yes", "", "", ""]);
        check("<link rel=\"apple-touch-icon\" href=a><meta property=og:description content=x>", ["", "", "x", ""]);
        check("<title>ä<b>ö</b>", ["äö", "", "", ""]);
        check(&"<a ".repeat(5000), ["", "", "", ""]);
    }
}
