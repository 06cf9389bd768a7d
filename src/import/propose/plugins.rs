//! Profiles that a proposal includes because the source has values for them: those of search engines, and languages.

use super::toml_text::{comment, value};
use super::{Proposal, ProposedProfile};
use crate::import::items::{Term, TermRef};
use cms_config::shipped;
use cms_core::registry::Registry;
use cms_text::php;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

const SEO: &str = "schemas/profiles/seo.toml";
const LANGUAGES: &str = "schemas/profiles/languages.toml";

/// The taxonomies of Polylang: languages of records, and translations of terms. Its profile names them, too.
const LANGUAGE: &str = "language";
const TERM_GROUPS: &str = "term_translations";

/// Languages of a source.
const MOST_LANGUAGES: usize = 200;

/// The meta keys of values for search engines that an import takes: as declared, or as the profile declares them.
pub(super) fn seo_keys(registry: &Registry) -> HashSet<String> {
    let declared = &registry.declaration.seo.import;
    match declared.is_empty() {
        true => shipped::keys_of(SEO, &["seo", "import"]).into_iter().collect(),
        false => declared.keys().cloned().collect(),
    }
}

/// A language as the source has it.
#[derive(Debug, Default)]
struct FoundLanguage {
    name: String,
    locale: String,
}

/// Languages of a source, by slug, and the terms that have translations.
#[derive(Default)]
pub(super) struct LanguageSurvey {
    languages: BTreeMap<String, FoundLanguage>,
    taxonomies: HashMap<i64, String>,
    translated: HashSet<i64>,
}

impl LanguageSurvey {
    pub(super) fn term(&mut self, term: &Term) {
        match term.taxonomy.as_str() {
            LANGUAGE => {
                let told = php::unserialize(&term.description).unwrap_or_default();
                let locale = told["locale"].as_str().unwrap_or_default().to_owned();
                self.add(&term.slug, FoundLanguage { name: term.name.clone(), locale });
            }
            TERM_GROUPS => {
                let group = php::unserialize(&term.description).unwrap_or_default();
                self.translated.extend(group.as_object().into_iter().flatten().filter_map(|(_, id)| id.as_i64()));
            }
            taxonomy => drop(term.id.map(|id| self.taxonomies.insert(id, taxonomy.to_owned()))),
        }
    }

    /// A language that only records name.
    pub(super) fn mention(&mut self, term: &TermRef) {
        if term.taxonomy == LANGUAGE && !self.languages.contains_key(&term.slug) {
            self.add(&term.slug, FoundLanguage { name: term.name.clone(), locale: String::new() });
        }
    }

    fn add(&mut self, slug: &str, language: FoundLanguage) {
        let first = slug.starts_with(|letter: char| letter.is_ascii_lowercase());
        let fits = first && slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if fits && self.languages.len() < MOST_LANGUAGES {
            self.languages.insert(slug.to_owned(), language);
        }
    }

    /// Adds the profile of languages to a proposal, if there are any. `site`: the language of the site, as feeds write it.
    pub(super) fn propose(&self, registry: &Registry, site: &str, proposal: &mut Proposal) {
        if self.languages.is_empty() || registry.languages.is_some() {
            return;
        }
        let entries = self.languages.iter().map(|(slug, own)| {
            let locale = if own.locale.is_empty() { slug } else { &own.locale };
            let name = if own.name.is_empty() { slug } else { &own.name };
            format!("  {},\n", value(&json!({"name": name, "slug": slug, "locale": locale})))
        });
        let entries: String = entries.collect();
        let tag = |own: &FoundLanguage| own.locale.replace('_', "-").eq_ignore_ascii_case(site);
        let of_site = self.languages.iter().find(|(slug, own)| tag(own) || slug.eq_ignore_ascii_case(site));
        let (default, why) = match of_site.or_else(|| self.languages.iter().next()) {
            Some((slug, _)) if of_site.is_some() => (slug.as_str(), "it is that of the site"),
            Some((slug, _)) => (slug.as_str(), "it is the first one: change it"),
            None => return,
        };
        let declared = format!(
            "\n# Languages of the old site. Guessed: the default one; {why}.\n[resources.languages.options]\n\
             entries = [\n{entries}]\nlanguages.default = {}\n",
            value(&json!(default))
        );
        let taxonomies = self.taxonomies.iter().filter(|(id, _)| self.translated.contains(id));
        let multilingual: HashSet<&String> = taxonomies.map(|(_, taxonomy)| taxonomy).collect();
        for one in &mut proposal.taxonomies {
            one.multilingual = multilingual.contains(&one.kind);
        }
        proposal.profiles.push(ProposedProfile {
            file: LANGUAGES,
            note: format!("{} languages were found, with the records that are in them", self.languages.len()),
            declared,
            count: ("languages", self.languages.len() as u64),
        });
    }
}

/// Whether records of these taxonomies have languages.
pub(super) fn have_languages<'t>(mut taxonomies: impl Iterator<Item = &'t String>) -> bool {
    taxonomies.any(|taxonomy| taxonomy == LANGUAGE)
}

/// The profile that takes values for search engines, which the source has so many of under each key.
pub(super) fn seo_profile(registry: &Registry, found: &BTreeMap<String, u64>) -> Option<ProposedProfile> {
    if found.is_empty() || !registry.declaration.seo.import.is_empty() {
        return None;
    }
    let values = found.values().sum();
    let keys: Vec<&str> = found.keys().map(String::as_str).collect();
    let keys = comment(&keys.join(", "));
    Some(ProposedProfile {
        file: SEO,
        note: format!("{values} values for search engines were found ({keys})"),
        declared: String::new(),
        count: ("values for search engines", values),
    })
}

/// The lines at the head of `site.toml` that include profiles.
pub fn includes(acf: bool, profiles: &[ProposedProfile]) -> String {
    let acf = acf.then_some("schemas/profiles/acf.toml");
    let files: Vec<&str> = acf.into_iter().chain(profiles.iter().map(|profile| profile.file)).collect();
    if files.is_empty() {
        return String::new();
    }
    let notes = profiles.iter().map(|profile| format!("# {}: {}.\n", profile.file, profile.note));
    format!("{}include = {}\n\n", notes.collect::<String>(), value(&json!(files)))
}

/// Properties with the language of an item, as the profile gives them to posts.
pub(super) fn language_properties() -> [(&'static str, Value); 2] {
    let language = json!({"description": "Slug of the language.", "type": "string", "maxLength": 40, "default": "", "x-hidden": true,
        "x-write": "language", "x-example": "de"});
    let group = json!({"description": "Name that translations of each other share.", "type": "string", "maxLength": 200, "default": "",
        "x-hidden": true, "x-index": true});
    [("lang", language), ("translation_group", group)]
}
