//! The things that an address may name, in the order in which it is looked for: by the form of its path and by its query alone.

use super::period::Period;
use super::requested::{RequestedAddress, last_slug, slug_of};
use super::templates;
use crate::records::txt;
use crate::registry::Registry;
use crate::registry::resource::Resource;
use crate::request::percent_decode;
use crate::scope::Scope;
use cms_declaration::{AddressParameter, ParameterKind, Syndicated};
use cms_storage::plan::DbValue;
use cms_storage::{Snapshot, StorageError};
use cms_text::address::{AddressMatch, AddressTemplate, ID, PATH, SLUG};
use serde_json::{Value, json};
use std::cmp::Reverse;

/// Something that an address may name.
pub struct Candidate<'s, 'p> {
    /// Position of the address.
    pub address: usize,
    pub target: CandidateTarget<'s>,
    /// The parts of its path, by the template that it has the form of.
    pub parts: Option<AddressMatch<'p>>,
    /// Parameters that name it, and whether they lead to its address.
    pub by: Option<(Vec<&'s str>, bool)>,
}

/// See [`Candidate`]. Terms and authors are named by number or slug.
pub enum CandidateTarget<'a> {
    /// A record of any type; none has a number that is no number here.
    Record(Option<i64>),
    /// The record of a type with these slugs, from the topmost ancestor down.
    Slugs(&'a Resource, Vec<String>),
    Term(&'a Resource, DbValue),
    Author(&'a Resource, DbValue),
    /// The file with this key.
    File(String),
    Period(Period),
    Archive(&'a Resource),
    Site,
}

impl<'s> Candidate<'s, '_> {
    fn new(address: usize, target: CandidateTarget<'s>) -> Self {
        Candidate { address, target, parts: None, by: None }
    }
}

/// Whatever an address may name.
pub fn of<'s: 'p, 'p>(scope: &'s Scope, at: usize, address: &'p RequestedAddress) -> Vec<Candidate<'s, 'p>> {
    let registry = &*scope.registry;
    let path = &*address.list;
    let file = address.path.strip_prefix(&*registry.declaration.media.path).and_then(|key| key.strip_prefix('/'));
    if let Some(key) = file.and_then(percent_decode) {
        return vec![Candidate::new(at, CandidateTarget::File(key.into_owned()))];
    }
    let by_template = with_template(registry, at, &address.whole, &|_| true);
    if path == "/" {
        let named = by_query(scope, at, address).map_or_else(|| at_root(scope, at), |named| vec![named]);
        return by_template.into_iter().chain(named).collect();
    }
    let mut all = by_template;
    all.extend(Period::at(path).map(|period| Candidate::new(at, CandidateTarget::Period(period))));
    let archive = kinds(scope).find(|kind| has_archive(kind) && archive_of(kind) == path.trim_matches('/'));
    all.extend(archive.map(|kind| Candidate::new(at, CandidateTarget::Archive(kind))));
    all.extend(with_template(registry, at, path, &|_| true));
    let whole = without_page(path).into_iter();
    all.extend(whole.flat_map(|path| with_template(registry, at, path, &Resource::is_content)));
    let last = last_slug(path);
    let attached = kinds(scope).filter(|kind| kind.address.is_attached());
    all.extend(attached.map(|kind| Candidate::new(at, CandidateTarget::Slugs(kind, vec![last.to_string()]))));
    all
}

/// The path of a text without the number of one of its pages, which texts here do not have; `None`: it has none.
pub fn without_page(path: &str) -> Option<&str> {
    let (text, number) = path.trim_end_matches('/').rsplit_once('/')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(text)
}

/// The records that a path may name, by the templates of today and by those of before.
pub fn of_records<'s: 'p, 'p>(
    scope: &'s Scope,
    at: usize,
    path: &'p str,
    former: &'p [(usize, AddressTemplate)],
) -> Vec<Candidate<'s, 'p>> {
    let registry = &*scope.registry;
    let mut all = Vec::new();
    for path in [Some(path), without_page(path)].into_iter().flatten() {
        all.extend(with_template(registry, at, path, &Resource::is_content));
        for (index, template) in former {
            let resource = &registry.resources[*index];
            let parts = template.match_path(path);
            all.extend(parts.and_then(|parts| matched(at, resource, parts)));
        }
    }
    all
}

/// The templates that records had before, with the positions of their resources.
///
/// # Errors
/// The database cannot be read.
pub fn former_templates(
    snapshot: &dyn Snapshot,
    registry: &Registry,
) -> Result<Vec<(usize, AddressTemplate)>, StorageError> {
    let known = templates::stored(snapshot)?;
    let mut former = Vec::new();
    for resource in registry.content_types().filter(|kind| kind.viewable()) {
        let today: Vec<&str> = resource.address.templates().map(AddressTemplate::source).collect();
        let before = known.get(&resource.name).and_then(Value::as_array).into_iter().flatten();
        let before = before.filter_map(Value::as_str).filter(|source| !today.contains(source));
        former.extend(before.filter_map(|source| Some((resource.index, AddressTemplate::of_source(source).ok()?))));
    }
    Ok(former)
}

/// Types whose records have addresses.
fn kinds(scope: &Scope) -> impl Iterator<Item = &Resource> {
    scope.registry.content_types().filter(|kind| kind.viewable())
}

/// Types whose records are in the archives by date: those of the feeds of the site.
pub fn dated_kinds(scope: &Scope) -> impl Iterator<Item = &Resource> {
    kinds(scope).filter(|kind| kind.declared.syndication == Syndicated::Site)
}

/// Taxonomies whose terms have addresses.
pub fn public_taxonomies(registry: &Registry) -> impl Iterator<Item = &Resource> {
    registry.taxonomies().filter(|taxonomy| is_public_taxonomy(taxonomy))
}

/// Whether the terms of a taxonomy have addresses.
pub fn is_public_taxonomy(taxonomy: &Resource) -> bool {
    taxonomy.declared.listing.visibility.get("public") == Some(&json!(true))
}

/// The site has a page that lists the records of a type.
pub fn has_archive(kind: &Resource) -> bool {
    !matches!(kind.declared.listing.has_archive, None | Some(Value::Bool(false)))
}

/// The slug of that page.
pub fn archive_of(kind: &Resource) -> &str {
    match &kind.declared.listing.has_archive {
        Some(Value::String(slug)) => slug,
        Some(Value::Bool(true)) => &kind.api_name,
        _ => kind.path.rsplit('/').next().unwrap_or(&kind.name),
    }
}

/// The items whose addresses have the form of the path, first the template with the most fixed segments.
fn with_template<'s: 'p, 'p>(
    registry: &'s Registry,
    at: usize,
    path: &'p str,
    wanted: &dyn Fn(&Resource) -> bool,
) -> Vec<Candidate<'s, 'p>> {
    if path.is_empty() {
        return Vec::new();
    }
    let records = registry.content_types().filter(|kind| kind.viewable());
    let all = records.chain(public_taxonomies(registry)).chain(registry.users()).filter(|resource| wanted(resource));
    let all = all.flat_map(|resource| resource.address.templates().map(move |template| (resource, template)));
    let mut fitting: Vec<_> = all.filter_map(|(of, by)| Some((of, by, by.match_path(path)?))).collect();
    fitting.sort_by_key(|(_, template, _)| Reverse(template.fixed_segments()));
    fitting.into_iter().filter_map(|(resource, _, parts)| matched(at, resource, parts)).collect()
}

/// The item of a resource that the parts of a path name.
fn matched<'s, 'p>(at: usize, resource: &'s Resource, parts: AddressMatch<'p>) -> Option<Candidate<'s, 'p>> {
    let number = parts.text(ID).map(|id| id.parse::<i64>().ok());
    let path = parts.text(PATH).or_else(|| parts.text(SLUG)).unwrap_or("");
    let target = if resource.is_content() {
        match number {
            Some(id) => CandidateTarget::Record(id),
            None => CandidateTarget::Slugs(resource, slugs_of(resource, path)?),
        }
    } else {
        let named = match number {
            Some(id) => DbValue::Int(id?),
            None => txt(&slug_of(path.rsplit('/').next().unwrap_or(path))),
        };
        item(resource, named)
    };
    Some(Candidate { parts: Some(parts), ..Candidate::new(at, target) })
}

fn item(resource: &Resource, named: DbValue) -> CandidateTarget<'_> {
    if resource.is_taxonomy() {
        CandidateTarget::Term(resource, named)
    } else {
        CandidateTarget::Author(resource, named)
    }
}

/// The slugs in a path of records; `None`: no record of the type has such a path.
fn slugs_of(resource: &Resource, path: &str) -> Option<Vec<String>> {
    let slugs: Vec<String> = path.trim_matches('/').split('/').map(|part| slug_of(part).into_owned()).collect();
    let fits = slugs.len() == 1 || resource.declared.hierarchical;
    (fits && !slugs.iter().any(String::is_empty)).then_some(slugs)
}

/// The place at the site's own address: a page, or the newest records.
fn at_root<'s, 'p>(scope: &Scope, at: usize) -> Vec<Candidate<'s, 'p>> {
    let page = scope.page_of("page_on_front").map(|id| Candidate::new(at, CandidateTarget::Record(Some(id))));
    page.into_iter().chain([Candidate::new(at, CandidateTarget::Site)]).collect()
}

/// The item that the query names.
fn by_query<'s, 'p>(scope: &'s Scope, at: usize, address: &RequestedAddress) -> Option<Candidate<'s, 'p>> {
    let registry = &*scope.registry;
    let named = |target, names: Vec<&'s str>, leads| {
        let by = Some((names, leads));
        Some(Candidate { by, ..Candidate::new(at, target) })
    };
    for kind in registry.content_types() {
        let variable = kind.declared.query_var.as_deref().unwrap_or("p");
        if let Some(id) = address.parameter(variable).and_then(number) {
            return named(CandidateTarget::Record(id), vec![variable], true);
        }
    }
    let parameters = &registry.declaration.addresses.parameters;
    for (variable, parameter) in parameters {
        let target = address.parameter(variable).and_then(|text| by_parameter(registry, parameter, text));
        if let Some(target) = target {
            return named(target, vec![variable], parameter.leads);
        }
    }
    for taxonomy in public_taxonomies(registry) {
        let variable = taxonomy.declared.query_var.as_deref().unwrap_or(&taxonomy.api_name);
        if let Some(path) = address.parameter(variable) {
            let slug = last_slug(path);
            return named(CandidateTarget::Term(taxonomy, txt(&slug)), vec![variable], true);
        }
    }
    let of_date = |by: ParameterKind| parameters.iter().find(|(_, parameter)| parameter.by == by);
    let parts = [ParameterKind::Year, ParameterKind::Month, ParameterKind::Day].into_iter();
    let given: Vec<(&'s str, &str)> = parts
        .map_while(|by| {
            let (variable, _) = of_date(by)?;
            Some((variable.as_str(), address.parameter(variable)?))
        })
        .collect();
    let period = Period::of(&given.iter().map(|(_, text)| *text).collect::<Vec<_>>())?;
    named(CandidateTarget::Period(period), given.into_iter().map(|(variable, _)| variable).collect(), true)
}

/// A number in a query; `Some(None)`: one that nothing has. Zero and other texts are as good as no parameter.
fn number(text: &str) -> Option<Option<i64>> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit()) && text.bytes().any(|b| b != b'0');
    is_number.then(|| text.parse().ok())
}

/// The item that the value of a declared parameter names.
fn by_parameter<'a>(
    registry: &'a Registry,
    parameter: &'a AddressParameter,
    text: &str,
) -> Option<CandidateTarget<'a>> {
    let resource = || parameter.resource.as_deref().and_then(|name| registry.resource(name));
    match parameter.by {
        ParameterKind::Id => match (resource()?, number(text)?) {
            (resource, id) if resource.is_content() => Some(CandidateTarget::Record(id)),
            (resource, Some(id)) => Some(item(resource, DbValue::Int(id))),
            (_, None) => Some(CandidateTarget::Record(None)),
        },
        ParameterKind::Slug | ParameterKind::Path => match resource()? {
            resource if resource.is_content() => Some(
                slugs_of(resource, text)
                    .map_or(CandidateTarget::Record(None), |slugs| CandidateTarget::Slugs(resource, slugs)),
            ),
            resource => Some(item(resource, txt(&last_slug(text)))),
        },
        ParameterKind::Date => Period::in_digits(text).map(CandidateTarget::Period),
        ParameterKind::Year | ParameterKind::Month | ParameterKind::Day | ParameterKind::Words => None,
        ParameterKind::Preview | ParameterKind::PreviewId | ParameterKind::PreviewNonce => None,
    }
}
