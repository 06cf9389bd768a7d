//! Templates for search engines: their members are there, and none is made of itself.

use super::super::resource::{Property, PropertySource, Resource};
use super::super::seo::{ANYWHERE, LONGEST, SeoRules, SiteSeo, UsualTemplates, is_member, term_relations};
use super::super::templates::{Template, TemplateReference};
use super::addresses::web_address;
use super::{Linker, nearest};
use cms_declaration::SeoTemplates;
use serde_json::Value;

/// The words with which the names of the behaviours begin that show what templates make.
const MADE: &str = "seo";

/// The members that templates of a place have.
struct SeoMembers<'r> {
    names: Vec<&'r str>,
    /// Members with several values, each of which has a number.
    lists: Vec<&'r str>,
    resource: Option<&'r Resource>,
}

impl SeoMembers<'_> {
    fn has(&self, reference: &TemplateReference) -> bool {
        let name = reference.name();
        let numbered = |list: &&str| {
            let rest = name.strip_prefix(*list).and_then(|rest| rest.strip_prefix('.'));
            name == **list || rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        self.names.contains(&name.as_str()) || self.lists.iter().any(numbered)
    }
}

impl Linker<'_> {
    /// Compiles the templates of all resources and of the other places.
    pub(super) fn seo(&mut self, resources: &mut [Resource]) -> SiteSeo {
        let mut compiled = Vec::new();
        for resource in resources.iter() {
            let rules = resource.declared.seo.as_ref().and_then(|own| self.seo_of(resource, own, resources));
            compiled.push(rules);
        }
        for (resource, rules) in resources.iter_mut().zip(compiled) {
            resource.seo = rules;
        }
        let declared = &self.declared.seo;
        let logo = declared.publisher.get().and_then(|publisher| publisher.logo.get());
        let addresses = [
            (&["seo", "picture"][..], declared.picture.get()),
            (&["seo", "facebook_page"], declared.facebook_page.get()),
            (&["seo", "publisher", "logo"], logo),
        ];
        for (path, address) in addresses {
            if let Some(address) = address.filter(|address| web_address(address).is_none()) {
                let hint = "write an address such as https://www.example.org/picture.png";
                self.problem(path, format!("`{address}` is not an http or https address"), Some(hint.into()));
            }
        }
        SiteSeo {
            front_page: self.seo_at("front_page", &declared.front_page, &[]),
            archive: self.seo_at("archive", &declared.archive, &["title"]),
            date: self.seo_at("date", &declared.date, &["title"]),
            search: self.seo_at("search", &declared.search, &["words"]),
            not_found: self.seo_at("not_found", &declared.not_found, &[]),
        }
    }

    fn seo_at(&mut self, place: &str, declared: &SeoTemplates, names: &[&str]) -> SeoRules {
        let names = names.iter().copied().chain(ANYWHERE).collect();
        let members = SeoMembers { names, lists: Vec::new(), resource: None };
        self.seo_templates(&["seo", place], declared, &members);
        SeoRules::of(declared, &UsualTemplates::PLACE)
    }

    fn seo_of(&mut self, resource: &Resource, declared: &SeoTemplates, all: &[Resource]) -> Option<SeoRules> {
        let path = ["resources", resource.name.as_str(), "seo"];
        let Some((usual, built_in)) = UsualTemplates::of(resource) else {
            let message = "search engines read no items of this family";
            self.problem(&path, message, Some("remove it: records, terms and users have it".into()));
            return None;
        };
        let own = resource.properties.iter().filter(|property| is_member(property));
        let own = own.map(|property| property.name.as_str()).filter(|name| !built_in.contains(name));
        let names = built_in.iter().copied().chain(ANYWHERE).chain(own);
        let members = SeoMembers {
            names: names.collect(),
            lists: term_relations(resource, all).map(|(relation, _)| relation.property.as_str()).collect(),
            resource: Some(resource),
        };
        self.seo_templates(&path, declared, &members);
        Some(SeoRules::of(declared, &usual))
    }

    /// Checks the templates of a place.
    fn seo_templates(&mut self, path: &[&str], declared: &SeoTemplates, members: &SeoMembers<'_>) {
        let lists = [
            ("title", &declared.title),
            ("description", &declared.description),
            ("social_title", &declared.social_title),
            ("social_description", &declared.social_description),
        ];
        for (key, texts) in lists {
            for (at, text) in texts.iter().enumerate() {
                let at = at.to_string();
                self.seo_template(&[path, &[key, &at]].concat(), text, members);
            }
        }
        for (key, value) in &declared.schema {
            for text in texts_in(value) {
                self.seo_template(&[path, &["schema", key]].concat(), text, members);
            }
        }
    }

    fn seo_template(&mut self, path: &[&str], text: &str, members: &SeoMembers<'_>) {
        if text.chars().count() > LONGEST {
            self.problem(path, format!("a template has at most {LONGEST} characters"), None);
            return;
        }
        for reference in Template::parse(&text.into()).references() {
            if members.has(reference) {
                continue;
            }
            let name = reference.name();
            let made = members.resource.and_then(|resource| resource.property(&reference.of));
            if made.is_some_and(|property| self.is_made(property)) {
                let hint = "name what it is made of, such as {title}";
                self.problem(path, format!("`{{{name}}}` is made by this template"), Some(hint.into()));
                continue;
            }
            let known = || members.names.iter().chain(&members.lists).copied();
            let hint = nearest(&name, known()).unwrap_or_else(|| {
                let known: Vec<&str> = known().collect();
                format!("members are {}", known.join(", "))
            });
            self.problem(path, format!("there is no member `{{{name}}}` here"), Some(hint));
        }
    }

    /// Whether a property shows what templates make.
    fn is_made(&self, property: &Property) -> bool {
        match property.source {
            PropertySource::Read(behaviour, _) => self.vocabulary.reads[behaviour.0].name.starts_with(MADE),
            _ => false,
        }
    }
}

/// The texts in a value.
fn texts_in(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts_in).collect(),
        Value::Object(map) => map.values().flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}
