//! Shapes of the addresses of items, at the site's own address and in the front end.

use super::super::addresses::{AddressShape, preview};
use super::super::columns::{ID, record as col};
use super::super::resource::{Property, PropertyKind, PropertySource, Relation, Resource};
use super::super::seo;
use super::super::{FrontPreview, Site};
use super::{Linker, nearest, plausible};
use cms_text::address::{self, AddressPiece, AddressTemplate};
use cms_text::site_links::SiteLinks;
use serde_json::Value;
use url::Url;

/// Members of addresses that are no properties, and the column without which a resource lacks them.
const BUILT_IN: [(&str, &str); 5] = [
    (address::SLUG, col::SLUG),
    (address::PATH, col::SLUG),
    (address::AUTHOR, col::AUTHOR),
    (address::DATE, col::DATE_LOCAL),
    (address::ID, ID),
];

impl Linker<'_> {
    /// The address of the front end, without a final slash.
    pub(super) fn front_end(&mut self) -> Option<String> {
        let front = &self.declared.site.front;
        let Some(url) = front.url.as_deref().filter(|url| !url.is_empty()) else {
            if !front.paths.is_empty() {
                let hint = "write url = \"https://www.example.org\" in [site.front]";
                self.problem(&["site", "front", "paths"], "these paths are in no front end", Some(hint.into()));
            }
            return None;
        };
        let url = url.trim_end_matches('/');
        if web_address(url).is_none_or(|url| url.query().is_some()) {
            let message = format!("`{url}` is not an http or https address");
            self.problem(&["site", "front", "url"], message, Some("write https://www.example.org".into()));
        }
        Some(url.to_owned())
    }

    /// Where links to the site lead in texts.
    pub(super) fn site_links(&self, url: &str, front: &str) -> SiteLinks {
        let declared = self.declared;
        let console = std::iter::once(&declared.console.path).chain(&declared.console.redirects);
        let pages = plausible::addresses(declared).chain(console.map(String::as_str));
        let paths = pages.filter_map(|page| page.split('?').next()).filter(|path| *path != "/").map(str::to_owned);
        let stays = paths.chain(plausible::folders(declared)).collect();
        SiteLinks::new(url, front, stays, &declared.syndication.path)
    }

    /// The front end's address of previews.
    pub(super) fn front_preview(&mut self) -> Option<FrontPreview> {
        let template = self.declared.site.front.preview.as_deref().filter(|template| !template.is_empty())?;
        let filled = preview::NAMES.iter().fold(template.to_owned(), |filled, name| filled.replace(name, "1"));
        let origin = web_address(template).and_then(|url| plain_origin(&url));
        let message = match web_address(&filled) {
            None => format!("`{template}` is not an http or https address"),
            Some(_) if origin.is_none() => {
                format!("the host of `{template}` is not written in letters, digits, hyphens and dots alone")
            }
            Some(_) if !template.contains(preview::TOKEN) => format!("there is no {} in this address", preview::TOKEN),
            Some(_) if filled.contains(['{', '}']) => {
                format!("the names of this address are {}", preview::NAMES.join(", "))
            }
            Some(_) => return origin.map(|origin| FrontPreview { template: template.to_owned(), origin }),
        };
        let hint = "write https://www.example.org/api/preview?token={token}&path={path}";
        self.problem(&["site", "front", "preview"], message, Some(hint.into()));
        None
    }

    /// Compiles the address of each resource's items.
    pub(super) fn item_addresses(&mut self, resources: &mut [Resource], site: &Site) {
        let is_category = |of: &Relation| of.is_list() && *resources[of.to].kind == *address::CATEGORY;
        let categories: Vec<Option<usize>> =
            resources.iter().map(|resource| resource.relations.iter().position(is_category)).collect();
        for (resource, category) in resources.iter_mut().zip(categories) {
            resource.address.on_site = self.on_site(resource, site);
            resource.address.category = category;
        }
        let declared = self.declared;
        let mut known: Vec<(&str, AddressTemplate)> = Vec::new();
        for (name, source) in &declared.site.front.paths {
            let path = ["site", "front", "paths", name];
            let Some(position) = self.resource_named(&path, name) else { continue };
            let template = match AddressTemplate::compile(source) {
                Ok(template) => template,
                Err(error) => {
                    self.problem(&path, error.to_string(), None);
                    continue;
                }
            };
            let columns = self.member_columns(&path, &resources[position], &template);
            if let Some((other, _)) = known.iter().find(|(_, other)| other.is_ambiguous_with(&template)) {
                let message = format!("a path can be one of `{name}` and one of `{other}`");
                let hint = "begin one of them with a text of its own, such as /blog/{slug}";
                self.problem(&path, message, Some(hint.into()));
            }
            known.push((name, template.clone()));
            let address = &mut resources[position].address;
            (address.in_front, address.columns) = (Some(template), columns);
        }
        // Addresses begin with the language.
        let language = resources.iter().find_map(|resource| resource.declared.options.languages.as_ref());
        if let Some(property) = language.map(|options| options.property.clone()) {
            for resource in resources.iter_mut() {
                let own = resource.column(&property);
                resource.address.columns.extend(own);
            }
        }
    }

    fn on_site(&mut self, resource: &Resource, site: &Site) -> AddressShape {
        let template = match resource.declared.address.as_deref().unwrap_or("plain") {
            "plain" => return AddressShape::Plain,
            "attached" => return AddressShape::Attached,
            "permalinks" => return AddressShape::Template(site.permalinks.clone()),
            "path" => AddressTemplate::compile("/{path}/"),
            template => AddressTemplate::compile(&template.replace("{api_name}", &resource.api_name)),
        };
        match template {
            Ok(template) => AddressShape::Template(template),
            Err(error) => {
                self.problem(&[self.table, &resource.name, "address"], error.to_string(), None);
                AddressShape::Plain
            }
        }
    }

    /// The columns that the members of a template are read from. Every member has to be there, and those that an item may
    /// lack need a text for that case.
    fn member_columns(&mut self, path: &[&str], resource: &Resource, template: &AddressTemplate) -> Vec<usize> {
        let mut columns = Vec::new();
        for piece in template.pieces() {
            let (name, dated, fallback) = match piece {
                AddressPiece::Text(_) => continue,
                AddressPiece::Member(name, fallback) => (name, false, fallback.is_some()),
                AddressPiece::Date(name, _) => (name, true, false),
            };
            let here = |(member, column): &(&str, &str)| {
                resource.column(column).is_some() && (*member == address::DATE) == dated
            };
            let mut built_in = BUILT_IN.iter().filter(|entry| here(entry)).map(|(member, _)| *member);
            let is_category = name == address::CATEGORY && !dated && resource.address.category.is_some();
            if built_in.any(|member| member == name) || is_category {
                continue;
            }
            let Some((property, column)) = column_of(resource, name, dated) else {
                let names = resource.properties.iter().filter(|p| column_of(resource, &p.name, dated).is_some());
                let names = names.map(|property| property.name.as_str()).chain(BUILT_IN.map(|(member, _)| member));
                let what = if dated { "date" } else { "member that an address can show" };
                let message = format!("`{name}` is no {what} of `{}`", resource.name);
                self.problem(path, message, nearest(name, names));
                continue;
            };
            if !fallback && !is_always_there(resource, property) {
                let hint = match dated {
                    true => format!("make `{name}` required"),
                    false => format!("make `{name}` required, or write {{{name}|none}}"),
                };
                self.problem(path, format!("`{name}` may be empty, and then there is no address"), Some(hint));
            }
            columns.push(column);
        }
        columns
    }
}

/// An address of the web that names no part of a page.
pub(super) fn web_address(text: &str) -> Option<Url> {
    seo::web_address(text).filter(|url| url.fragment().is_none())
}

/// Scheme and host of an address; none where the host has signs that mean something in a header, or in a template.
fn plain_origin(url: &Url) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    url.host_str().is_some_and(|host| host.bytes().all(is_plain)).then(|| url.origin().ascii_serialization())
}

/// The property that is a member of addresses, and its column.
fn column_of<'r>(resource: &'r Resource, name: &str, dated: bool) -> Option<(&'r Property, usize)> {
    let property = resource.properties.iter().find(|property| property.name == name)?;
    let column = match &property.source {
        PropertySource::Column(column) => *column,
        PropertySource::Read(_, Some(column)) if property.kind == PropertyKind::Time => *column,
        _ => return None,
    };
    let fits = match property.kind {
        PropertyKind::Time => dated,
        PropertyKind::Text => true,
        PropertyKind::Integer | PropertyKind::Boolean => !dated,
        PropertyKind::Number | PropertyKind::Json => false,
    };
    fits.then_some((property, column)).filter(|(property, _)| !property.hidden && !property.locked)
}

/// Whether items always have the property.
fn is_always_there(resource: &Resource, property: &Property) -> bool {
    let required = resource.schema.get("required").and_then(Value::as_array);
    let required = required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(&property.name)));
    let flagged =
        resource.schema.pointer(&format!("/properties/{}/required", property.name)) == Some(&Value::Bool(true));
    let unset = property.unset.as_ref().is_some_and(|value| !value.is_null() && value != "");
    unset || (required || flagged) && !property.nullable
}
