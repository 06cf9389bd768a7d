//! The groups that apply to an item, by the rules of their locations.

use crate::records::{any, columns, is_in, split_words, words};
use crate::registry::Registry;
use crate::registry::columns::{ID, term};
use crate::registry::fields::{GroupFields, is, of_kind};
use crate::registry::resource::Resource;
use crate::scope::Scope;
use cms_declaration::{LocationParam, LocationRule};
use cms_storage::plan::Name;
use cms_storage::{Snapshot, StorageError};
use std::collections::HashMap;

/// Facts about an item that rules compare.
pub struct LocationFacts<'a> {
    pub resource: &'a Resource,
    pub id: i64,
    pub status: &'a str,
    pub parent: i64,
    pub template: &'a str,
    pub format: &'a str,
    /// Roles of a user, as they are stored.
    pub roles: &'a str,
    /// Whether there are records below it.
    pub children: bool,
    /// The resource of a comment's record.
    pub place: Option<&'a Resource>,
    /// Terms of the record, by the position of the taxonomy.
    pub terms: &'a dyn Fn(usize) -> Vec<i64>,
    pub rule_terms: &'a RuleTerms,
}

/// The terms that rules name, by how they name them: the position of the taxonomy, and the id.
#[derive(Debug, Default)]
pub struct RuleTerms(HashMap<String, (usize, i64)>);

impl RuleTerms {
    /// Reads the terms that the rules of a resource's groups name.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn load(snapshot: &dyn Snapshot, registry: &Registry, resource: &Resource) -> Result<RuleTerms, StorageError> {
        let mut found = HashMap::new();
        let by_terms =
            |rule: &&LocationRule| matches!(rule.param, LocationParam::PostCategory | LocationParam::PostTaxonomy);
        let groups = resource.fields.iter().flat_map(|fields| &fields.groups);
        let rules = groups.flat_map(|at| registry.field_groups[*at].declared.location.iter().flatten());
        let named: Vec<&str> = rules.filter(by_terms).map(|rule| rule.value.as_str()).collect();
        if named.is_empty() {
            return Ok(RuleTerms(found));
        }
        let slug = |value: &str| value.split_once(':').map(|(_, slug)| slug.to_owned());
        let slugs: Vec<String> = named.iter().filter_map(|value| slug(value)).collect();
        let ids: Vec<i64> = named.iter().filter_map(|value| value.parse().ok()).collect();
        let filter = any([words("slug", slugs.iter().map(String::as_str)), is_in("id", ids)]);
        let terms: Vec<(i64, Name, Name)> =
            snapshot.rows_as(&columns(term::TABLE, &[ID, term::SLUG, term::TAXONOMY], filter))?;
        for (id, slug, kind) in terms {
            let Some(taxonomy) = registry.resources.iter().find(|one| one.is_taxonomy() && one.kind == kind) else {
                continue;
            };
            for name in [format!("{}:{slug}", taxonomy.api_name), format!("{kind}:{slug}"), id.to_string()] {
                found.insert(name, (taxonomy.index, id));
            }
        }
        Ok(RuleTerms(found))
    }
}

/// The groups that documents of an item have, in their order.
pub fn applying<'r>(scope: &'r Scope, facts: &LocationFacts<'_>) -> Vec<&'r GroupFields> {
    let groups = facts.resource.fields.iter().flat_map(|fields| &fields.groups);
    let all = groups.map(|at| &scope.registry.field_groups[*at]);
    let holds = |rules: &Vec<LocationRule>| !rules.is_empty() && rules.iter().all(|rule| holds(scope, facts, rule));
    all.filter(|group| group.declared.location.iter().any(holds)).collect()
}

fn holds(scope: &Scope, facts: &LocationFacts<'_>, rule: &LocationRule) -> bool {
    if let Some(decided) = of_kind(rule, facts.resource) {
        return decided;
    }
    let value = rule.value.as_str();
    let number = value.parse::<i64>().ok();
    let template = || if facts.template.is_empty() { "default" } else { facts.template };
    let same = match rule.param {
        LocationParam::PostStatus => facts.status == value,
        LocationParam::PostTemplate | LocationParam::PageTemplate => template() == value,
        LocationParam::PostFormat => (if facts.format.is_empty() { "standard" } else { facts.format }) == value,
        LocationParam::PostCategory | LocationParam::PostTaxonomy => return has_term(scope, facts, rule),
        LocationParam::Post | LocationParam::Page => number == Some(facts.id),
        LocationParam::PageParent => number == Some(facts.parent),
        LocationParam::PageType => is_page(scope, facts, value),
        LocationParam::UserRole => value == "all" || split_words(facts.roles).iter().any(|role| **role == *value),
        LocationParam::Comment => facts.place.is_some_and(|place| place.is_named(value)),
        LocationParam::CurrentUserRole => {
            let own = |role: &std::sync::Arc<str>| **role == *value;
            scope.principal.is_logged_in() && (value == "all" || scope.principal.roles.iter().any(own))
        }
        LocationParam::CurrentUser => match value {
            "logged_in" => scope.principal.is_logged_in(),
            "viewing_front" => true,
            _ => false,
        },
        // Decided by the resource.
        LocationParam::PostType | LocationParam::Attachment | LocationParam::Taxonomy | LocationParam::UserForm => {
            false
        }
    };
    is(rule, same)
}

fn is_page(scope: &Scope, facts: &LocationFacts<'_>, value: &str) -> bool {
    match value {
        "front_page" => facts.id != 0 && scope.settings.int("page_on_front") == facts.id,
        "posts_page" => facts.id != 0 && scope.settings.int("page_for_posts") == facts.id,
        "top_level" => facts.parent == 0,
        "parent" => facts.children,
        "child" => facts.parent != 0,
        _ => false,
    }
}

/// Whether a record has the term that a rule names. One without terms counts as one with the default term.
fn has_term(scope: &Scope, facts: &LocationFacts<'_>, rule: &LocationRule) -> bool {
    let Some((taxonomy, id)) = facts.rule_terms.0.get(&rule.value) else { return false };
    let mut terms = (facts.terms)(*taxonomy);
    if terms.is_empty() {
        let setting = scope.registry.resources[*taxonomy].declared.default_setting.as_deref();
        terms.extend(setting.map(|setting| scope.settings.int(setting)));
    }
    is(rule, terms.contains(id))
}
