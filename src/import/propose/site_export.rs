//! Reads a WordPress export or a database: types and taxonomies of its records, field groups, and meta keys with the
//! types that their values show.

use super::field_groups;
use super::guesses::{GuessedType, MetaFacts};
use super::plugins::{self, LanguageSurvey};
use super::{Proposal, ProposedMeta, ProposedTaxonomy, ProposedType};
use crate::import::items::{Author, ExportItem, ExportRecord, ReadError, SourcePart};
use crate::import::names::{NamesWithReason, reason};
use crate::import::records::neutral;
use crate::import::report::versions_line;
use crate::import::source::ExportSource;
use cms_core::registry::Registry;
use cms_text::php;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Meta keys of a file that are looked at, of all kinds together.
const MOST_KEYS: usize = 5000;

/// Fields of groups that are read, those with an error included.
const MOST_FIELDS: usize = 20_000;

/// Fields inside one another.
const DEEPEST: usize = 16;

/// Names that are left out: `internal.json`. A `*` stands for whatever is there.
#[derive(Deserialize)]
struct InternalNames {
    kinds: Vec<NamesWithReason>,
    taxonomies: Vec<NamesWithReason>,
    meta: Vec<NamesWithReason>,
}

/// The content of a site's export or of its database.
///
/// # Errors
/// Why it cannot be read.
pub fn read(registry: &Registry, source: &ExportSource) -> Result<Proposal, String> {
    let internal: InternalNames =
        serde_json::from_str(include_str!("internal.json")).map_err(|error| error.to_string())?;
    let mut survey = ExportSurvey { seo_keys: plugins::seo_keys(registry), ..ExportSurvey::default() };
    let take = |item| {
        survey.take(item);
        Ok::<(), std::convert::Infallible>(())
    };
    match source.read(SourcePart::Items, false, |_| {}, take) {
        Ok(summary) => {
            let mut proposal = survey.proposal(registry, &internal, &summary.language);
            proposal.areas = summary.areas;
            proposal.left_out.extend(summary.left_out.iter().map(|(what, count)| format!("{count} {what}")));
            proposal.left_out.extend((summary.versions > 0).then(|| versions_line(summary.versions)));
            proposal.notes = summary.encodings.lines().chain(summary.warnings.lines()).collect();
            Ok(proposal)
        }
        Err(ReadError::File(error)) => Err(error.to_string()),
        Err(ReadError::Sink(never)) => match never {},
    }
}

/// Facts about the records of a kind.
#[derive(Default)]
struct KindFacts {
    hierarchical: bool,
    ordered: bool,
    excerpts: bool,
    pictures: bool,
    comments: bool,
    taxonomies: BTreeSet<String>,
    values: ValueFacts,
}

/// Facts about a taxonomy.
#[derive(Default)]
struct TaxonomyFacts {
    hierarchical: bool,
    values: ValueFacts,
}

/// Facts about the meta values of items of one sort.
#[derive(Default)]
struct ValueFacts {
    items: u64,
    keys: BTreeMap<String, MetaFacts>,
}

/// A record of field groups, types and taxonomies of Advanced Custom Fields.
struct DeclaringRecord {
    id: i64,
    parent: i64,
    order: i64,
    kind: String,
    slug: String,
    title: String,
    excerpt: String,
    settings: Map<String, Value>,
    active: bool,
}

#[derive(Default)]
struct ExportSurvey {
    kinds: BTreeMap<String, KindFacts>,
    taxonomies: BTreeMap<String, TaxonomyFacts>,
    accounts: ValueFacts,
    comments: ValueFacts,
    languages: LanguageSurvey,
    /// Ids of records.
    records: HashSet<i64>,
    /// Meta keys of values for search engines.
    seo_keys: HashSet<String>,
    declaring: Vec<DeclaringRecord>,
    /// Numbers of the records that declare something.
    fields: HashSet<i64>,
    /// Those of them that are not read.
    unread: u64,
    keys: usize,
    left_out: Vec<String>,
}

impl ExportSurvey {
    fn take(&mut self, item: ExportItem) {
        match item {
            ExportItem::Author(Author { account, .. }) => {
                let meta = account.as_ref().map(|account| account.meta.as_slice()).unwrap_or_default();
                self.accounts.add(meta, &mut self.keys);
            }
            ExportItem::Term(term) => {
                self.languages.term(&term);
                let facts = self.taxonomies.entry(term.taxonomy).or_default();
                facts.hierarchical |= !term.parent_slug.is_empty();
                facts.values.add(&term.meta, &mut self.keys);
            }
            ExportItem::Record(record) if record.kind.starts_with("acf-") => self.declaring(*record),
            ExportItem::Record(record) => self.record(&record),
        }
    }

    fn declaring(&mut self, record: ExportRecord) {
        // A record whose number comes again could be below itself.
        if self.fields.len() == MOST_FIELDS || !self.fields.insert(record.id) {
            self.unread += 1;
            return;
        }
        let Some(Value::Object(settings)) = php::unserialize(&record.content) else {
            self.left_out.push(format!("{} {}: its settings cannot be read", record.kind, record.title));
            return;
        };
        self.declaring.push(DeclaringRecord {
            id: record.id,
            parent: record.parent,
            order: record.menu_order,
            active: record.status == "publish",
            kind: record.kind,
            slug: record.slug,
            title: record.title,
            excerpt: record.excerpt,
            settings,
        });
    }

    fn record(&mut self, record: &ExportRecord) {
        for term in &record.terms {
            self.languages.mention(term);
            self.taxonomies.entry(term.taxonomy.clone()).or_default();
        }
        self.records.insert(record.id);
        let facts = self.kinds.entry(record.kind.clone()).or_default();
        facts.hierarchical |= record.parent != 0;
        facts.ordered |= record.menu_order != 0;
        facts.excerpts |= !record.excerpt.is_empty();
        facts.comments |= !record.comments.is_empty() || record.comment_status == "open";
        facts.taxonomies.extend(record.terms.iter().map(|term| term.taxonomy.clone()));
        facts.pictures |= record.meta.iter().any(|(key, _)| key == "_thumbnail_id");
        facts.values.add(&record.meta, &mut self.keys);
        for comment in &record.comments {
            self.comments.add(&comment.meta, &mut self.keys);
        }
    }

    fn proposal(mut self, registry: &Registry, internal: &InternalNames, language: &str) -> Proposal {
        let groups = self.field_groups();
        let mut proposal = field_groups::read(&Value::Array(groups)).unwrap_or_default();
        proposal.left_out.append(&mut self.left_out);
        if self.keys > MOST_KEYS {
            let more = self.keys - MOST_KEYS;
            let line =
                format!("{more} values of further meta keys: the first {MOST_KEYS} keys of a file are looked at");
            proposal.left_out.push(line);
        }
        if self.unread > 0 {
            let line = format!(
                "{} records of field groups: their number comes again, or they follow the first {MOST_FIELDS}",
                self.unread
            );
            proposal.left_out.push(line);
        }
        let declared = &registry.declaration.resources;
        let known: BTreeSet<String> =
            declared.iter().map(|(name, one)| one.kind.clone().unwrap_or_else(|| name.clone())).collect();
        let is_known = |kind: &str| known.contains(kind) || known.contains(neutral(kind));
        self.types(&is_known, internal, &mut proposal);
        self.taxonomies(&is_known, internal, &mut proposal);
        for (items, facts, resource) in [
            ("accounts", &self.accounts, registry.users()),
            ("comments", &self.comments, registry.comment_resources().next()),
        ] {
            let kind = resource.map_or(items, |resource| &resource.kind);
            values(
                &ValueOwner { kind, seo: None, records: &self.records, items, hidden: true },
                facts,
                internal,
                &mut proposal,
            );
        }
        for one in &mut proposal.types {
            one.multilingual =
                self.kinds.get(&one.kind).is_some_and(|facts| plugins::have_languages(facts.taxonomies.iter()));
        }
        let of_seo = plugins::seo_profile(registry, &proposal.seo);
        proposal.profiles.extend(of_seo);
        self.languages.propose(registry, language, &mut proposal);
        proposal
    }

    /// Adds the types of the records, with their meta keys.
    fn types(&self, is_known: &dyn Fn(&str) -> bool, internal: &InternalNames, proposal: &mut Proposal) {
        for (kind, facts) in &self.kinds {
            match reason(&internal.kinds, kind) {
                Some((_, why)) => {
                    proposal.left_out.push(format!("type {kind}: {why} ({} records)", facts.values.items));
                }
                None => {
                    let proposed = proposal.types.iter().any(|one| one.kind == *kind);
                    if !proposed && !is_known(kind) {
                        proposal.types.push(content_type(kind, facts, internal));
                    }
                    values(
                        &ValueOwner {
                            kind,
                            seo: Some(&self.seo_keys),
                            records: &self.records,
                            items: "records",
                            hidden: false,
                        },
                        &facts.values,
                        internal,
                        proposal,
                    );
                }
            }
        }
    }

    /// Adds the taxonomies of the terms, with their meta keys.
    fn taxonomies(&self, is_known: &dyn Fn(&str) -> bool, internal: &InternalNames, proposal: &mut Proposal) {
        for (kind, facts) in &self.taxonomies {
            let proposed = proposal.taxonomies.iter().any(|one| one.kind == *kind);
            match reason(&internal.taxonomies, kind) {
                _ if proposed || is_known(kind) => {}
                Some((_, why)) => proposal.left_out.push(format!("taxonomy {kind}: {why}")),
                None => {
                    let of = self.kinds.iter().filter(|(_, of)| of.taxonomies.contains(kind));
                    proposal.taxonomies.push(ProposedTaxonomy {
                        kind: kind.clone(),
                        base: kind.clone(),
                        name: title(kind),
                        singular: title(kind),
                        hierarchical: facts.hierarchical,
                        shown: true,
                        of: of.map(|(kind, _)| kind.clone()).collect(),
                        ..ProposedTaxonomy::default()
                    });
                }
            }
            let owner =
                ValueOwner { kind, seo: Some(&self.seo_keys), records: &self.records, items: "terms", hidden: false };
            values(&owner, &facts.values, internal, proposal);
        }
    }

    /// Field groups, types and taxonomies in the form in which Advanced Custom Fields exports them.
    fn field_groups(&self) -> Vec<Value> {
        let mut below: HashMap<i64, Vec<&DeclaringRecord>> = HashMap::new();
        for record in self.declaring.iter().filter(|record| record.kind == "acf-field") {
            below.entry(record.parent).or_default().push(record);
        }
        below.values_mut().for_each(|list| list.sort_by_key(|record| (record.order, record.id)));
        let one = |record: &DeclaringRecord| {
            let mut item = record.settings.clone();
            item.insert("key".into(), json!(record.slug));
            item.insert("title".into(), json!(record.title));
            if !record.active {
                item.insert("active".into(), json!(false));
            }
            if record.kind == "acf-field-group" {
                item.insert("fields".into(), fields(&below, record.id, 0));
            }
            Value::Object(item)
        };
        self.declaring.iter().filter(|record| record.kind != "acf-field").map(one).collect()
    }
}

/// The fields below a group or a field.
fn fields(below: &HashMap<i64, Vec<&DeclaringRecord>>, parent: i64, depth: usize) -> Value {
    let all = below.get(&parent).filter(|_| depth < DEEPEST).into_iter().flatten();
    all.map(|record| {
        let mut field = record.settings.clone();
        field.insert("key".into(), json!(record.slug));
        field.insert("label".into(), json!(record.title));
        field.insert("name".into(), json!(record.excerpt));
        if below.contains_key(&record.id) {
            field.insert("sub_fields".into(), fields(below, record.id, depth + 1));
        }
        Value::Object(field)
    })
    .collect()
}

fn content_type(kind: &str, facts: &KindFacts, internal: &InternalNames) -> ProposedType {
    let mut supports = vec!["title", "editor", "author", "custom-fields"];
    supports.extend(facts.excerpts.then_some("excerpt"));
    supports.extend(facts.pictures.then_some("thumbnail"));
    supports.extend(facts.comments.then_some("comments"));
    supports.extend((facts.ordered || facts.hierarchical).then_some("page-attributes"));
    let taxonomies = facts.taxonomies.iter().filter(|taxonomy| reason(&internal.taxonomies, taxonomy).is_none());
    ProposedType {
        kind: kind.to_owned(),
        base: kind.to_owned(),
        name: title(kind),
        singular: title(kind),
        hierarchical: facts.hierarchical,
        shown: true,
        searched: true,
        supports: supports.into_iter().map(str::to_owned).collect(),
        taxonomies: taxonomies.cloned().collect(),
        ..ProposedType::default()
    }
}

/// `book_review` as `Book review`.
pub(super) fn title(kind: &str) -> String {
    let words = kind.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl ValueFacts {
    /// Takes the values of an item; `keys`: how many keys of the file were found by now.
    fn add(&mut self, meta: &[(String, String)], keys: &mut usize) {
        self.items += 1;
        let stored: HashMap<&str, &str> = meta.iter().map(|(key, value)| (&**key, &**value)).collect();
        let is_field = |key: &str| stored.get(&*format!("_{key}")).is_some_and(|value| value.starts_with("field_"));
        let is_reference = |key: &str, value: &str| key.starts_with('_') && value.starts_with("field_");
        let mut seen = BTreeSet::new();
        for (key, value) in meta {
            // Values of field groups are declared with their groups.
            if is_field(key) || is_reference(key, value) {
                continue;
            }
            if !self.keys.contains_key(key) {
                *keys += 1;
                if *keys > MOST_KEYS {
                    continue;
                }
            }
            let of = self.keys.entry(key.clone()).or_default();
            match seen.insert(key) {
                true => of.items += 1,
                false => of.repeated = true,
            }
            of.look(value);
            of.guess = match (of.guess, GuessedType::of(value)) {
                (Some(one), Some(other)) => Some(one.and(other)),
                (one, other) => one.or(other),
            };
        }
    }
}

/// The items that have meta values.
struct ValueOwner<'k> {
    kind: &'k str,
    /// Meta keys that become values for search engines.
    seo: Option<&'k HashSet<String>>,
    /// Ids of the records of the file.
    records: &'k HashSet<i64>,
    /// The word for them.
    items: &'static str,
    /// Their values are for those who may edit the item: visitors read the item, and plugins keep addresses and the like there.
    hidden: bool,
}

/// The meta keys of some items.
fn values(owner: &ValueOwner<'_>, facts: &ValueFacts, internal: &InternalNames, proposal: &mut Proposal) {
    let ValueOwner { kind, seo, records, items, hidden } = owner;
    // Keys that one entry names are told in one line.
    let mut kept: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (key, of) in &facts.keys {
        let mut left_out = |why: &str| {
            proposal.left_out.push(format!("meta key {key} of {kind}: {why} ({} {items})", of.items));
        };
        if seo.is_some_and(|seo| seo.contains(key)) {
            *proposal.seo.entry(key.clone()).or_default() += of.items;
            continue;
        }
        if let Some(entry) = reason(&internal.meta, key) {
            *kept.entry(entry).or_default() += of.items;
            continue;
        }
        let (kind_of_value, mut schema) = match of.guess {
            _ if of.binary && of.zero && of.one => ("boolean", json!({"type": "boolean", "default": false})),
            None => {
                left_out("it has no value anywhere");
                continue;
            }
            Some(GuessedType::Several) => {
                left_out("its values are texts, and lists or objects");
                continue;
            }
            Some(GuessedType::Integer) => ("integer", json!({"type": "integer"})),
            Some(GuessedType::Number) => ("number", json!({"type": "number"})),
            Some(GuessedType::Text) => ("text", json!({"type": "string", "default": ""})),
            Some(GuessedType::List) => ("list", json!({"type": "array", "items": {}})),
            Some(GuessedType::Object) => ("object", json!({"type": "object", "additionalProperties": true})),
        };
        let mut note =
            format!("in {} of {} {items}, every value is of the type {kind_of_value}", of.items, facts.items);
        note.push_str(of.further(records));
        if *hidden {
            schema["context"] = json!(["edit"]);
            note.push_str("; without context everybody reads it");
        }
        proposal.meta.push(ProposedMeta {
            kind: (*kind).to_owned(),
            key: key.clone(),
            schema,
            single: !of.repeated,
            note,
            items: of.items,
        });
    }
    let kept =
        kept.into_iter().map(|((keys, why), count)| format!("meta key {keys} of {kind}: {why} ({count} values)"));
    proposal.left_out.extend(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_names_have_a_reason() {
        let internal: InternalNames = serde_json::from_str(include_str!("internal.json")).expect("JSON");
        for (key, known) in
            [("_wp_old_slug", true), ("_wp", false), ("rating", false), ("_et_x_cache", true), ("_et_x", false)]
        {
            assert_eq!(reason(&internal.meta, key).is_some(), known, "{key}");
        }
        assert!(reason(&internal.kinds, "custom_css").is_some() && reason(&internal.kinds, "book").is_none());
    }
}
