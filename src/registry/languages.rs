//! The languages of a site's contents, where a resource declares them (`options.languages`).
//!
//! Records and terms have the slug of their language in a column of their own; what has none has the default language. The
//! addresses of other languages begin with their slugs.

use super::resource::Resource;
use cms_declaration::LanguageImport;
use serde_json::Value;

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Languages {
    /// The column with the slug of a language.
    pub column: String,
    /// The column with the name that translations of each other share.
    pub group: String,
    pub default: String,
    /// Slugs of all of them.
    pub slugs: Vec<String>,
    /// Their tags, in the same order.
    pub tags: Vec<String>,
    pub import: LanguageImport,
}

impl Languages {
    /// The languages that one of the resources declares, which are its entries.
    pub fn declared(resources: &[Resource], entries: impl Fn(&Resource) -> Vec<Value>) -> Option<Languages> {
        let (resource, options) =
            resources.iter().find_map(|resource| Some((resource, resource.declared.options.languages.as_ref()?)))?;
        let entries = entries(resource);
        let slug = |entry: &Value| entry["slug"].as_str().map(str::to_owned);
        let slugs: Vec<String> = entries.iter().filter_map(slug).collect();
        let named = Some(&options.default).filter(|default| !default.is_empty());
        Some(Languages {
            column: options.property.clone(),
            group: options.group.clone(),
            default: named.or(slugs.first()).cloned().unwrap_or_default(),
            slugs,
            tags: entries.iter().filter(|entry| entry["slug"].is_string()).map(tag).collect(),
            import: options.import.clone(),
        })
    }

    /// The language that a text names: the default one where it names none.
    pub fn named<'l>(&'l self, text: &str) -> &'l str {
        self.slugs.iter().find(|slug| *slug == text).unwrap_or(&self.default)
    }

    /// The tag of a language on the web, such as `de-DE`.
    pub fn tag<'l>(&'l self, slug: &'l str) -> &'l str {
        let known = self.slugs.iter().zip(&self.tags).find(|(own, _)| *own == slug);
        known.map_or(slug, |(_, tag)| tag)
    }

    /// The first part of the addresses of a language; the default one has none.
    pub fn part(&self, stored: &str) -> Option<&str> {
        Some(self.named(stored)).filter(|slug| *slug != self.default)
    }

    /// The language of a path, and the path without it.
    pub fn split<'p>(&self, path: &'p str) -> (&str, &'p str) {
        let first = path.strip_prefix('/').unwrap_or(path);
        let end = first.find('/').unwrap_or(first.len());
        match self.part(&first[..end]) {
            Some(slug) if slug == &first[..end] && !slug.is_empty() => {
                let rest = &path[path.len() - (first.len() - end)..];
                (slug, if rest.is_empty() { "/" } else { rest })
            }
            _ => (self.default.as_str(), path),
        }
    }
}

/// The tag of a declared language: that of its locale, or its slug where it has none.
pub fn tag(entry: &Value) -> String {
    let text = |member: &str| entry[member].as_str().unwrap_or_default();
    let locale = text("locale");
    if locale.is_empty() { text("slug").to_owned() } else { locale.replace('_', "-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_with_another_language_or_has_the_default_one() {
        let languages = Languages {
            column: "lang".into(),
            group: "group".into(),
            default: "en".into(),
            slugs: ["en", "de", "pt-br"].map(str::to_owned).to_vec(),
            tags: ["en-GB", "de-DE", "pt-BR"].map(str::to_owned).to_vec(),
            import: LanguageImport::default(),
        };
        for (path, found) in [
            ("/", ("en", "/")),
            ("/de/", ("de", "/")),
            ("/de", ("de", "/")),
            ("/de/feed/", ("de", "/feed/")),
            ("/pt-br/2024/05/x/", ("pt-br", "/2024/05/x/")),
            ("/en/", ("en", "/en/")),
            ("/den/", ("en", "/den/")),
            ("de/category/x", ("de", "/category/x")),
            ("", ("en", "")),
        ] {
            assert_eq!(languages.split(path), found, "{path}");
        }
        assert_eq!([languages.named("de"), languages.named("de,en"), languages.named("")], ["de", "en", "en"]);
        assert_eq!([languages.tag("pt-br"), languages.tag("xx")], ["pt-BR", "xx"]);
    }
}
