//! The languages of a site's contents, where a resource declares them (`options.languages`).
//!
//! Records and terms have the slug of their language in a column of their own; what has none has the default language. The
//! addresses of other languages begin with their slugs.

use super::resource::Resource;
use cms_declaration::LanguageImport;
use cms_storage::plan::{Cond, DbValue, Name, Op};
use serde_json::Value;

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Languages {
    /// The column with the slug of a language.
    pub column: String,
    /// The column with the name that translations of each other share.
    pub group: String,
    pub default: String,
    pub all: Vec<Language>,
    pub import: LanguageImport,
}

/// A declared language.
#[derive(Clone, Debug)]
pub struct Language {
    pub slug: String,
    /// Its name for readers.
    pub name: String,
    /// Its tag on the web, such as `de-DE`.
    pub tag: String,
}

impl Languages {
    /// The languages that one of the resources declares, which are its entries.
    pub fn declared(resources: &[Resource], entries: impl Fn(&Resource) -> Vec<Value>) -> Option<Languages> {
        let (resource, options) =
            resources.iter().find_map(|resource| Some((resource, resource.declared.options.languages.as_ref()?)))?;
        let entries = entries(resource);
        let language = |entry: &Value| {
            let slug = entry["slug"].as_str()?.to_owned();
            let name = entry["name"].as_str().unwrap_or(&slug).to_owned();
            Some(Language { slug, name, tag: tag(entry) })
        };
        let all: Vec<Language> = entries.iter().filter_map(language).collect();
        let named = Some(&options.default).filter(|default| !default.is_empty());
        Some(Languages {
            column: options.property.clone(),
            group: options.group.clone(),
            default: named.or(all.first().map(|first| &first.slug)).cloned().unwrap_or_default(),
            all,
            import: options.import.clone(),
        })
    }

    /// The language that a text names: the default one where it names none.
    pub fn named<'l>(&'l self, text: &str) -> &'l str {
        self.find(text).map_or(&self.default, |language| &language.slug)
    }

    /// The tag of a language on the web, such as `de-DE`.
    pub fn tag<'l>(&'l self, slug: &'l str) -> &'l str {
        self.find(slug).map_or(slug, |language| &language.tag)
    }

    /// The language of this slug, in letters of any case.
    pub fn find(&self, slug: &str) -> Option<&Language> {
        self.all.iter().find(|language| language.slug.eq_ignore_ascii_case(slug))
    }

    /// The rows in a language, which this column has. Those without one have the default language.
    pub fn rows(&self, column: &Name, slug: &str) -> Cond {
        let wanted = self.named(slug);
        let is = |text: &str| Cond::Compare(column.clone(), Op::Eq, DbValue::Text(text.into()));
        match wanted == self.default {
            true => Cond::Any(vec![is(wanted), is(""), Cond::IsNull(column.clone())]),
            false => is(wanted),
        }
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

    fn language(tag: &str) -> Language {
        let slug = tag.strip_suffix("-GB").or(tag.strip_suffix("-DE")).unwrap_or(tag).to_lowercase();
        Language { name: slug.clone(), slug, tag: tag.to_owned() }
    }

    #[test]
    fn a_path_begins_with_another_language_or_has_the_default_one() {
        let languages = Languages {
            column: "lang".into(),
            group: "group".into(),
            default: "en".into(),
            all: ["en-GB", "de-DE", "pt-BR"].map(language).to_vec(),
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
