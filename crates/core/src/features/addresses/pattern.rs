//! Paths from which redirects lead: exact ones, with `{name}` for a segment, with `*` for whatever follows.
//!
//! A pattern has a key, in which names are left out. Of a path follow the keys of all patterns that fit it, so that a redirect is
//! found by its key, however many there are.

use super::requested::normal;

/// Most `{name}` segments of a pattern, and most segments of one that has any: so few keys follow from a path.
pub const MOST_NAMES: usize = 3;
const MOST_SEGMENTS: usize = 8;

/// The end that stands for whatever follows.
const REST: &str = "*";

/// A path from which a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    segments: Vec<String>,
    /// Whatever follows belongs to it.
    open: bool,
}

/// Why a path is no pattern: a sentence for people.
pub type PatternError = &'static str;

impl PathPattern {
    /// Reads a pattern as it is written.
    ///
    /// # Errors
    /// The path has another form.
    pub fn parse(text: &str) -> Result<PathPattern, PatternError> {
        if !text.starts_with('/') || text.starts_with("//") {
            return Err("A path begins with one slash: /old/page/.");
        }
        if text.contains(['?', '#']) {
            return Err("A path has no query: leave out what begins with ? or #.");
        }
        let (text, open) = match text.strip_suffix(REST) {
            Some(before) if before.ends_with('/') => (before, true),
            Some(_) => return Err("A * stands alone behind the last slash: /old/*."),
            None => (text, false),
        };
        if text.contains(REST) {
            return Err("A * stands at the end alone: /old/*.");
        }
        let path = normal(text).ok_or("The path cannot be read: it has .., an encoded slash or no text.")?;
        let segments: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let names = || segments.iter().filter_map(|segment| name_of(segment));
        let whole = segments.iter().all(|segment| name_of(segment).is_some() || !segment.contains(['{', '}']));
        if !whole {
            return Err("A {name} is a whole segment, of letters, digits and _: /shop/{product}/.");
        }
        if names().enumerate().any(|(at, name)| names().take(at).any(|other| other == name)) {
            return Err("Each {name} occurs once.");
        }
        let flexible = open || names().next().is_some();
        if names().count() > MOST_NAMES || flexible && segments.len() > MOST_SEGMENTS {
            return Err("A path with {names} or * has at most three of them, and eight segments.");
        }
        Ok(PathPattern { segments, open })
    }

    /// The keys that it is found by.
    pub fn key(&self) -> String {
        let segments = self.segments.iter().map(|segment| match name_of(segment) {
            Some(_) => "{}".to_owned(),
            None => segment.to_ascii_lowercase(),
        });
        key(segments, self.open)
    }

    /// Whether a target shows nothing but what the pattern has.
    pub fn fills(&self, target: &str) -> bool {
        names_in(target).all(|name| self.segments.iter().any(|segment| name_of(segment) == Some(name)))
            && (self.open || !target.contains(REST))
    }

    /// The target for a path that the pattern fits: with the segments that it names, and what follows in the place of `*`.
    pub fn filled(&self, target: &str, path: &str) -> Option<String> {
        let given: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let fits = given.len() == self.segments.len() || self.open && given.len() > self.segments.len();
        let mut filled = target.to_owned();
        for (segment, given) in self.segments.iter().zip(&given).filter(|_| fits) {
            if let Some(name) = name_of(segment) {
                filled = filled.replace(&format!("{{{name}}}"), given);
            }
        }
        let slash = if path.ends_with('/') { "/" } else { "" };
        let rest = given.get(self.segments.len()..).unwrap_or_default().join("/");
        let rest = if rest.is_empty() { rest } else { format!("{rest}{slash}") };
        fits.then(|| filled.replace(REST, &rest))
    }
}

/// The key of the pattern that fits a path alone.
pub fn exact_key(path: &str) -> String {
    key(path.split('/').filter(|part| !part.is_empty()).map(str::to_ascii_lowercase), false)
}

/// The keys of all patterns that fit a path, the one that says most first.
pub fn keys_of(path: &str) -> Vec<String> {
    let segments: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect();
    let mut keys = vec![key(segments.iter().cloned(), false)];
    let within = segments.len() <= MOST_SEGMENTS;
    if within {
        keys.extend(with_names(&segments).into_iter().map(|named| key(named.into_iter(), false)));
    }
    for length in (0..=segments.len().min(MOST_SEGMENTS)).rev() {
        let before = &segments[..length];
        keys.push(key(before.iter().cloned(), true));
        keys.extend(with_names(before).into_iter().map(|named| key(named.into_iter(), true)));
    }
    keys
}

/// The segments with one to three of them left open, fewer first.
fn with_names(segments: &[String]) -> Vec<Vec<String>> {
    let mut masks: Vec<u32> = (1..1_u32 << segments.len().min(MOST_SEGMENTS)).collect();
    masks.retain(|mask| mask.count_ones() as usize <= MOST_NAMES);
    masks.sort_by_key(|mask| mask.count_ones());
    let open = |mask: u32| {
        let all = segments.iter().enumerate();
        all.map(|(at, segment)| if mask & (1 << at) == 0 { segment.clone() } else { "{}".to_owned() }).collect()
    };
    masks.into_iter().map(open).collect()
}

fn key(segments: impl Iterator<Item = String>, open: bool) -> String {
    let mut key = segments.fold(String::new(), |key, segment| key + "/" + &segment);
    if open {
        key.push_str("/*");
    }
    if key.is_empty() { "/".to_owned() } else { key }
}

/// The name of a segment that is `{name}`.
fn name_of(segment: &str) -> Option<&str> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    let word = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    word.then_some(name)
}

/// The names in a target.
fn names_in(target: &str) -> impl Iterator<Item = &str> {
    target.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_by_the_keys_of_paths() {
        for (pattern, key, path, fits) in [
            ("/old/", "/old", "/old", true),
            ("/Old", "/old", "/OLD/", true),
            ("/old", "/old", "/old/more", false),
            ("/", "/", "/", true),
            ("/*", "/*", "/anything/at/all", true),
            ("/old/*", "/old/*", "/old/a/b", true),
            ("/old/*", "/old/*", "/old", true),
            ("/old/*", "/old/*", "/older", false),
            ("/shop/{id}/reviews", "/shop/{}/reviews", "/shop/12/reviews/", true),
            ("/shop/{id}/reviews", "/shop/{}/reviews", "/shop/12", false),
            ("/{a}/{b}/*", "/{}/{}/*", "/x/y/z", true),
            ("/пр", "/%d0%bf%d1%80", "/%d0%bf%d1%80", true),
        ] {
            let parsed = PathPattern::parse(pattern).expect(pattern);
            assert_eq!(parsed.key(), key, "{pattern}");
            assert_eq!(keys_of(path).iter().any(|own| own == key), fits, "{pattern} {path}");
        }
    }

    #[test]
    fn few_keys_follow_from_a_path() {
        assert!(keys_of("/a/b/c/d/e/f/g/h").len() < 400);
        assert!(keys_of(&"/a".repeat(100)).len() < 400);
    }

    #[test]
    fn targets_are_filled() {
        for (pattern, target, path, expected) in [
            ("/old/*", "/new/*", "/old/a/b/", Some("/new/a/b/")),
            ("/old/*", "/new/*", "/old", Some("/new/")),
            ("/old/*", "/new", "/old/a", Some("/new")),
            ("/shop/{id}/{part}", "/{part}/of/{id}", "/shop/12/reviews", Some("/reviews/of/12")),
            ("/shop/{id}", "/new/{id}", "/shop", None),
        ] {
            let pattern = PathPattern::parse(pattern).expect(pattern);
            assert_eq!(pattern.filled(target, path).as_deref(), expected, "{target} {path}");
        }
        let shop = PathPattern::parse("/shop/{id}").expect("a pattern");
        assert!(shop.fills("/x/{id}") && !shop.fills("/x/{other}") && !shop.fills("/x/*"));
    }

    #[test]
    fn other_paths_are_none() {
        for text in [
            "",
            "old",
            "//old",
            "/old?x=1",
            "/old#x",
            "/a*",
            "/a/*/b",
            "/{a}{b}",
            "/x{a}",
            "/{a}/{a}",
            "/{a/b}",
            "/..",
            "/{a}/{b}/{c}/{d}",
            "/a/b/c/d/e/f/g/h/i/*",
        ] {
            assert!(PathPattern::parse(text).is_err(), "{text}");
        }
    }
}
