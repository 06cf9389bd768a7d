//! Elements of podcasts: their names, and templates of properties that everybody may read.

use super::super::resource::{Context, Resource};
use super::super::templates::Template;
use super::{Linker, nearest};

/// Elements of a feed and of an item, without their prefix.
const CHANNEL: [&str; 10] =
    ["author", "block", "category", "complete", "explicit", "image", "new-feed-url", "subtitle", "summary", "type"];
const ITEM: [&str; 11] = [
    "author",
    "block",
    "duration",
    "episode",
    "episodeType",
    "explicit",
    "image",
    "season",
    "subtitle",
    "summary",
    "title",
];

impl Linker<'_> {
    /// Compiles the elements of the items of all resources.
    pub(super) fn podcasts(&mut self, resources: &mut [Resource]) {
        for resource in resources {
            let Some(declared) = resource.declared.podcast.clone() else { continue };
            let path = ["resources", resource.name.as_str(), "podcast"];
            if !resource.is_content() {
                self.problem(&path, "only records are in feeds", Some("remove it".into()));
                continue;
            }
            for name in declared.channel.keys() {
                self.known(&[&path[..], &["channel", name]].concat(), "element", name, &CHANNEL);
            }
            let shown = resource.properties.iter().filter(|property| property.contexts.shows_in(Context::VIEW));
            let shown: Vec<&str> = shown.map(|property| property.name.as_str()).collect();
            for (name, text) in &declared.item {
                let path = [&path[..], &["item", name]].concat();
                self.known(&path, "element", name, &ITEM);
                for reference in Template::parse(&text.as_str().into()).references() {
                    if !shown.contains(&reference.of.as_str()) {
                        let hint = nearest(&reference.of, shown.iter().copied());
                        self.problem(&path, format!("there is no property `{{{}}}` to show", reference.name()), hint);
                    }
                }
            }
            let parsed = |(name, text): (&String, &String)| (name.clone(), Template::parse(&text.as_str().into()));
            resource.podcast = declared.item.iter().map(parsed).collect();
        }
    }
}
