//! Showing where a text holds what was looked for: a short piece of it as HTML, each place in `<mark>`.

use crate::storage::fold;
use crate::text::{sanitize, strip};

/// Letters shown before the first place, and in all.
const BEFORE: usize = 60;
const SHOWN: usize = 240;

/// A piece of the text, without its markup, with the needles marked; `None` when it holds none of them. Case and marks make
/// no difference.
pub fn highlight(text: &str, needles: &[&str]) -> Option<String> {
    let plain = strip::strip_all_tags(text);
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<(usize, char)> = plain
        .char_indices()
        .flat_map(|(at, c)| fold(c.encode_utf8(&mut [0; 4])).chars().map(move |f| (at, f)).collect::<Vec<_>>())
        .collect();
    let needles: Vec<Vec<char>> =
        needles.iter().map(|n| fold(n).chars().collect()).filter(|n: &Vec<_>| !n.is_empty()).collect();
    let longest_at = |place: usize| -> usize {
        let matches = |needle: &&Vec<char>| {
            letters.len() - place >= needle.len() && needle.iter().zip(&letters[place..]).all(|(a, (_, b))| a == b)
        };
        needles.iter().filter(matches).map(Vec::len).max().unwrap_or(0)
    };
    let first = (0..letters.len()).find(|place| longest_at(*place) > 0)?;
    let start = word_start(&letters, first.saturating_sub(BEFORE), first);
    let end = (start + SHOWN).min(letters.len());
    let offset = |place: usize| letters.get(place).map_or(plain.len(), |(at, _)| *at);
    let mut html = String::from(if start > 0 { "… " } else { "" });
    let mut place = start;
    let mut written = start;
    while place < end {
        let length = longest_at(place);
        if length == 0 {
            place += 1;
            continue;
        }
        html.push_str(&sanitize::esc_html(&plain[offset(written)..offset(place)]));
        html.push_str("<mark>");
        html.push_str(&sanitize::esc_html(&plain[offset(place)..offset(place + length)]));
        html.push_str("</mark>");
        place += length;
        written = place;
    }
    let end = word_start(&letters, end, letters.len()).max(written);
    html.push_str(&sanitize::esc_html(plain[offset(written)..offset(end)].trim_end()));
    if end < letters.len() {
        html.push_str(" …");
    }
    Some(html)
}

/// The first place after a blank from `from` on, `at_most` at the latest.
fn word_start(letters: &[(usize, char)], from: usize, at_most: usize) -> usize {
    if from == 0 {
        return 0;
    }
    (from..at_most).find(|place| letters[place - 1].1 == ' ').unwrap_or(at_most)
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
        ] {
            assert_eq!(highlight(text, &needles).as_deref(), shown, "{text}");
        }
        let shown = highlight(&long, &["needle"]).expect("found");
        assert!(shown.starts_with("… before") && shown.ends_with("after …") && shown.contains("<mark>needle</mark>"));
        assert!(shown.len() < 300, "{shown}");
    }
}
