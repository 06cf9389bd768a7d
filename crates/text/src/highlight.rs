//! Search highlights: a short piece of a text as HTML, with the matches in `<mark>`.

use crate::fold;
use crate::{sanitize, strip};
use memchr::memmem;
use std::cmp::Reverse;
use std::ops::Range;

/// Letters shown before the first place, and in all.
const BEFORE: usize = 60;
const SHOWN: usize = 240;

/// Bytes of a text that are searched.
const LOOKED_AT: usize = 256 << 10;

/// A piece of the text, without its markup, with the needles marked; `None` when the first [`LOOKED_AT`] bytes hold none
/// of them. Case and marks make no difference. Linear in the text, for each needle.
pub fn highlight(text: &str, needles: &[&str]) -> Option<String> {
    let plain = plain(text);
    let folded = FoldedText::of(&plain);
    let found = folded.find(needles);
    let first = found.first()?.start;
    let start = folded.word_start(first.saturating_sub(BEFORE), first);
    let end = (start + SHOWN).min(folded.offsets.len());
    let mut html = String::from(if start > 0 { "… " } else { "" });
    let mut written = start;
    for place in found.into_iter().take_while(|place| place.start < end) {
        html.push_str(&sanitize::esc_html(&plain[folded.offset(written)..folded.offset(place.start)]));
        html.push_str("<mark>");
        html.push_str(&sanitize::esc_html(&plain[folded.offset(place.start)..folded.offset(place.end)]));
        html.push_str("</mark>");
        written = place.end;
    }
    let end = folded.word_start(end, folded.offsets.len()).max(written);
    html.push_str(&sanitize::esc_html(plain[folded.offset(written)..folded.offset(end)].trim_end()));
    if end < folded.offsets.len() {
        html.push_str(" …");
    }
    Some(html)
}

/// The words of a text without its markup, separated by one space.
fn plain(text: &str) -> String {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    strip::strip_all_tags(&text[..end]).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as it is searched, letter by letter.
struct FoldedText {
    text: String,
    /// Where each letter begins in `text`.
    places: Vec<usize>,
    /// Where its origin begins in the plain text.
    offsets: Vec<usize>,
    /// Bytes of the plain text.
    plain: usize,
}

impl FoldedText {
    fn of(plain: &str) -> FoldedText {
        let mut folded = FoldedText {
            text: String::with_capacity(plain.len()),
            places: vec![],
            offsets: vec![],
            plain: plain.len(),
        };
        for (at, c) in plain.char_indices() {
            if c.is_ascii() {
                folded.push(at, c.to_ascii_lowercase());
            } else {
                fold(c.encode_utf8(&mut [0; 4])).chars().for_each(|c| folded.push(at, c));
            }
        }
        folded
    }

    fn push(&mut self, offset: usize, letter: char) {
        self.places.push(self.text.len());
        self.offsets.push(offset);
        self.text.push(letter);
    }

    /// The places of the needles in letters, in order; of those that overlap the first, and there the longest.
    fn find(&self, needles: &[&str]) -> Vec<Range<usize>> {
        let letter = |at: usize| self.places.binary_search(&at).unwrap_or_else(|next| next);
        let mut all: Vec<Range<usize>> = Vec::new();
        for needle in needles.iter().map(|needle| fold(needle)).filter(|needle| !needle.is_empty()) {
            let found = memmem::find_iter(self.text.as_bytes(), needle.as_bytes());
            all.extend(found.map(|at| letter(at)..letter(at + needle.len())));
        }
        all.sort_unstable_by_key(|place| (place.start, Reverse(place.end)));
        let mut reached = 0;
        all.retain(|place| {
            let apart = place.start >= reached;
            reached = if apart { place.end } else { reached };
            apart
        });
        all
    }

    fn offset(&self, letter: usize) -> usize {
        self.offsets.get(letter).copied().unwrap_or(self.plain)
    }

    /// The first letter after a blank from `from` on, `at_most` at the latest.
    fn word_start(&self, from: usize, at_most: usize) -> usize {
        if from == 0 {
            return 0;
        }
        let blank = |letter: usize| self.text.as_bytes()[self.places[letter]] == b' ';
        (from..at_most).find(|letter| blank(letter - 1)).unwrap_or(at_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_marked() {
        let long = format!("{} needle {}", "before ".repeat(20), "after ".repeat(60));
        for (text, needles, shown) in [
            ("A plain apple", vec!["apple"], Some("A plain <mark>apple</mark>")),
            ("<p>Crème <b>brûlée</b></p>", vec!["creme brulee"], Some("<mark>Crème brûlée</mark>")),
            ("one two one", vec!["one", "two"], Some("<mark>one</mark> <mark>two</mark> <mark>one</mark>")),
            ("1 < 2 & <script>x</script>", vec!["2"], Some("1 &lt; <mark>2</mark> &amp;")),
            ("nothing here", vec!["else"], None),
            ("", vec!["x"], None),
            ("aaa", vec!["aa"], Some("<mark>aa</mark>a")),
            ("one two", vec!["one", "one two", "two"], Some("<mark>one two</mark>")),
        ] {
            assert_eq!(highlight(text, &needles).as_deref(), shown, "{text}");
        }
        let shown = highlight(&long, &["needle"]).expect("found");
        assert!(shown.starts_with("… before") && shown.ends_with("after …") && shown.contains("<mark>needle</mark>"));
        assert!(shown.len() < 300, "{shown}");
        assert_eq!(highlight(&format!("{} end", "a".repeat(LOOKED_AT)), &["end"]), None);
    }
}
