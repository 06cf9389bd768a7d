//! Closing what an author left open.
//!
//! Owns which tags must be closed. It changes nothing but what is missing or surplus.

use super::markup::{markup_length, tag_name};
use std::collections::HashMap;

const VOID: [&str; 15] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    "command",
];

/// The text with every open tag closed and every closing tag that closes nothing dropped; void tags end in `/>`.
pub fn close_open_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut open = OpenTags::default();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        // `<` before anything but a name is text: a link may be in angle brackets.
        let length = if starts_tag(&rest[at..]) { markup_length(&rest[at..]) } else { 1 };
        let markup = &rest[at..at + length];
        rest = &rest[at + length..];
        let (name, closes) = tag_name(markup);
        if name.is_empty() || !markup.ends_with('>') {
            out.push_str(markup);
            continue;
        }
        let name = name.to_ascii_lowercase();
        match closes {
            true => open.close(&name, &mut out),
            false if VOID.contains(&name.as_str()) => {
                out.push_str(markup.trim_end_matches('>').trim_end_matches('/'));
                out.push_str("/>");
            }
            false => {
                out.push_str(markup);
                if !markup.ends_with("/>") {
                    open.push(name);
                }
            }
        }
    }
    out.push_str(rest);
    for name in open.stack.iter().rev() {
        push_closing(name, &mut out);
    }
    out
}

fn starts_tag(text: &str) -> bool {
    text.starts_with("<!--") || text[1..].trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The open tags, and how often each name is among them: a closing tag that closes nothing must not cost a search.
#[derive(Default)]
struct OpenTags {
    stack: Vec<String>,
    counts: HashMap<String, usize>,
}

impl OpenTags {
    fn push(&mut self, name: String) {
        *self.counts.entry(name.clone()).or_default() += 1;
        self.stack.push(name);
    }

    fn close(&mut self, name: &str, out: &mut String) {
        if self.counts.get(name).is_none_or(|count| *count == 0) {
            return;
        }
        while let Some(inner) = self.stack.pop() {
            push_closing(&inner, out);
            if let Some(count) = self.counts.get_mut(&inner) {
                *count -= 1;
            }
            if inner == name {
                return;
            }
        }
    }
}

fn push_closing(name: &str, out: &mut String) {
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_tags_are_closed() {
        fn check(text: &str, expected: &str) {
            assert_eq!(close_open_tags(text), expected, "{text}");
        }
        check("<b>x", "<b>x</b>");
        check("x</b>", "x");
        check("<b><i>x</b>", "<b><i>x</i></b>");
        check("<br>", "<br/>");
        check("a < b", "a < b");
    }
}
