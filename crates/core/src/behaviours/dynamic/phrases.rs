//! Texts of the program that dynamic blocks show to readers of the site.

use cms_text::dates;

/// Every text that is passed to `Scope::phrase` or `Scope::plural` as a literal. A test compares the list with the source.
const PHRASES: &[&str] = &[
    "%B %-d, %Y",
    "(Home link, opens in a new tab)",
    "(no title)",
    "({count} item)",
    "({count} items)",
    "({name} author archive, opens in a new tab)",
    "({name} website link, opens in a new tab)",
    "1 comment",
    "1 minute",
    "1 result found",
    "1 word",
    "Anonymous",
    "Archives",
    "Back to where note {number} is named",
    "Breadcrumbs",
    "By: {name}",
    "Comment on {title} by {name}",
    "Comments for {title}",
    "Comments on: {title}",
    "Comments pagination",
    "Displaying 1 – {last} of {total}",
    "Displaying {last} of {total}",
    "Est. reading time",
    "Home",
    "Log in",
    "Log out",
    "Login",
    "Next Page",
    "No comments",
    "One response",
    "Page not found",
    "Page {page}",
    "Pagination",
    "Post Type: &#8220;{name}&#8221;",
    "Posts published on {date}",
    "Previous and next months",
    "Protected: {title}",
    "Read more",
    "Reply",
    "Reply to {name}",
    "Response",
    "Responses",
    "Search",
    "Search results for “{words}”",
    "Select Month",
    "Select Year",
    "Select {name}",
    "Somebody",
    "There are no comments yet.",
    "There is no excerpt because this is a protected post.",
    "Written by",
    "by {name}",
    "on {title}",
    "to &#8220;{title}&#8221;",
    "{count} comments",
    "{count} minutes",
    "{count} responses",
    "{count} results found",
    "{count} words",
    "{least}–{most} minutes",
    "{name} Avatar",
    "{name} on {title}",
];

/// Every text that a site's language may translate (`translations`).
pub fn phrases() -> impl Iterator<Item = &'static str> {
    PHRASES.iter().copied().chain(dates::time_ago_texts())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PROJECT;
    use cms_text::phrase::pieces;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn sources(folder: &Path, text: &mut String) {
        for entry in fs::read_dir(folder).expect("a folder of the source").flatten() {
            match entry.path() {
                path if path.is_dir() => sources(&path, text),
                path if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("phrases.rs") => {
                    text.push_str(&fs::read_to_string(path).expect("a source"))
                }
                _ => {}
            }
        }
    }

    #[test]
    fn the_list_has_every_text() {
        let mut text = String::new();
        for folder in ["src", "crates/core/src"] {
            sources(&Path::new(PROJECT).join(folder), &mut text);
        }
        let literals = |call: &str| -> BTreeSet<String> {
            let calls = text.split(call).skip(1);
            calls.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next().map(str::to_owned)).collect()
        };
        let mut used = literals(".phrase(");
        used.extend(literals(".plural("));
        let plural = text.split(".plural(\"").skip(1).filter_map(|rest| rest.split('"').nth(2));
        used.extend(plural.map(str::to_owned));
        assert_eq!(used, PHRASES.iter().map(|phrase| (*phrase).to_owned()).collect());
    }

    #[test]
    fn every_text_is_there_in_german_with_its_places() {
        let file = fs::read_to_string(Path::new(PROJECT).join("schemas/translations/de.toml")).expect("a shipped file");
        let declared: toml::Table = file.parse().expect("TOML");
        let german = &declared["translations"]["de"];
        let places = |text: &str| pieces(text).filter_map(|(_, name)| name.map(str::to_owned)).collect::<BTreeSet<_>>();
        for phrase in phrases() {
            let translated = german.get(phrase).and_then(toml::Value::as_str);
            let translated = translated.unwrap_or_else(|| panic!("`{phrase}` has no translation"));
            assert_eq!(places(phrase), places(translated), "{phrase}");
        }
    }
}
