//! Texts with places for values, such as `{count} comments`.

/// The pieces of a text: what is before a place, and the name of the place; the last piece has none.
pub fn pieces(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let place = text.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)));
        let Some((before, (name, behind))) = place else { return Some((text, None)) };
        rest = Some(behind);
        Some((before, Some(name)))
    })
}

/// A text with values in its places. A place without a value is empty.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
    pieces(text).flat_map(|(before, name)| [before, name.map_or("", value)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_their_places() {
        let cases = [
            ("{count} comments", "2 comments"),
            ("von {a}, {count}", "von b, 2"),
            ("nothing", "nothing"),
            ("{unknown}!", "!"),
            ("{open {count}", ""),
            ("a } b {", "a } b {"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(fill(text, &[("count", "2"), ("a", "b")]), expected, "{text}");
        }
    }
}
