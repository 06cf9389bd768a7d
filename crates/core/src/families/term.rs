//! Terms: names unique below a parent, slugs unique in the taxonomy, parents without loops.

use super::failures::Failures;
use super::values::{given_meta, stored};
use super::{Columns, RowEdit, column, existing, parents, text_column};
use crate::access::failure;
use crate::error::{ApiError, Code, status};
use crate::records::{self, Record, eq, text, txt};
use crate::registry::columns::ID;
pub use crate::registry::columns::term as columns;
use crate::registry::name;
use crate::registry::resource::Resource;
use cms_storage::plan::{Change, Cond, DbValue, Input, Name, Op, Put, ReadPlan, SlugClaim, Target};
use cms_storage::{Snapshot, StorageError};
use cms_text::html_policy::{self, Policy};
use cms_text::{sanitize, slug};
use serde_json::Value;
use std::sync::Arc;

use columns as col;

/// The errors that end requests for these rows.
pub const FAILURES: Failures = Failures {
    list: &[Code::CannotView, Code::ForbiddenContext],
    get: &[Code::CannotView, Code::ForbiddenContext, Code::TermInvalid],
    create: &[Code::CannotCreate, Code::EmptyTermName, Code::TaxonomyNotHierarchical, Code::TermExists],
    update: &[
        Code::CannotUpdate,
        Code::DuplicateTermSlug,
        Code::EmptyTermName,
        Code::PreconditionFailed,
        Code::TaxonomyNotHierarchical,
        Code::TermExists,
        Code::TermInvalid,
    ],
    delete: &[
        Code::CannotDelete,
        Code::CannotDeleteStored,
        Code::PreconditionFailed,
        Code::TermInvalid,
        Code::TrashNotSupported,
    ],
};

/// The tag of the refusal when a term with the name is there already; the row of the refusal is its id.
pub const EXISTS: &str = Code::TermExists.as_str();

/// The tag of the refusal when another term has the slug.
pub const SLUG_TAKEN: &str = Code::DuplicateTermSlug.as_str();

/// Slugs that a term tries one after the other before numbers are added.
const MOST_CANDIDATES: usize = 20;

/// A term as it is stored, without a caller: what imports and the boot write. Its further columns are `set`.
pub fn put(taxonomy: &Name, target: Target, title: &str, slug: &str, mut set: Columns) -> Put {
    let mut all = named(taxonomy, title);
    all.append(&mut set);
    Put { slug: Some(claimed(taxonomy, vec![slug.into()])), ..Put::new(col::TABLE, target, all) }
}

/// The default term of a taxonomy, with this id: as `seed` declares it, with a slug made from its name.
pub fn seed(taxonomy: &Resource, id: i64) -> Put {
    let declared = &taxonomy.declared.seed;
    let title = declared.get(col::NAME).map_or("", String::as_str);
    let further = declared.iter().filter(|(column, _)| ![col::NAME, col::SLUG].contains(&column.as_str()));
    let set = further.map(|(column, value)| text_column(column, value)).collect();
    let slug = declared.get(col::SLUG).cloned().unwrap_or_else(|| slug::sanitize_title(title));
    put(&taxonomy.kind, Target::Keyed(DbValue::Int(id)), title, &slug, set)
}

/// The columns that identify a new term.
fn named(taxonomy: &Name, title: &str) -> Columns {
    let mut set = vec![column(col::TAXONOMY, DbValue::Text(taxonomy.clone()))];
    set.extend(titled(title));
    set
}

/// A name, with what terms are sorted and found by.
fn titled(title: &str) -> Columns {
    vec![text_column(col::NAME, title), text_column(col::NAME_KEY, &slug::title_key(title))]
}

fn claimed(taxonomy: &Name, candidates: Vec<Arc<str>>) -> SlugClaim {
    SlugClaim {
        column: name(col::SLUG),
        scope: Some(taxonomy.clone()),
        candidates,
        reserved: false,
        refuse: None,
        longest: SlugClaim::LONGEST,
    }
}

/// The plan that makes a term.
///
/// # Errors
/// An empty name, a parent that does not exist.
pub fn plan_creation(edit: &RowEdit<'_>) -> Result<Vec<Change>, ApiError> {
    let resource = edit.resource;
    let title = shown_name(edit.args.text("name").unwrap_or(""));
    if title.is_empty() {
        return Err(failure(resource, Code::EmptyTermName));
    }
    let (parent, unmoved) = parent(edit, 0)?.unwrap_or_default();
    let mut set = named(&resource.kind, &title);
    set.extend(further(edit, Some(parent))?);
    let unique = resource.declared.unique_names;
    let given = edit.args.text("slug").map(given_slug).filter(|s| !s.is_empty() && !unique);
    let taken_over = taken_over(edit, &set, 0)?;
    let mut changes = Vec::new();
    if given.is_none() || resource.declared.hierarchical {
        changes.push(unlike(edit, None, &set, &title, parent));
    }
    let base = given.unwrap_or_else(|| slug::sanitize_title(&title));
    let candidates = candidates(&*edit.scope.snapshot()?, base, parent)?;
    changes.push(Change::Put(Put {
        slug: Some(claimed(&resource.kind, candidates)),
        meta: given_meta(edit),
        ..Put::new(resource.table.clone(), Target::New, set)
    }));
    changes.extend(taken_over);
    changes.extend(unmoved);
    Ok(changes)
}

/// The plan that changes a term.
///
/// # Errors
/// As [`creation`].
pub fn update(edit: &RowEdit<'_>, record: Record<'_>) -> Result<Vec<Change>, ApiError> {
    let resource = edit.resource;
    let title = edit.given_text("name").map_or_else(|| record.text(col::NAME).to_owned(), shown_name);
    if title.is_empty() {
        return Err(failure(resource, Code::EmptyTermName));
    }
    let moved = parent(edit, record.id())?;
    let given_parent = moved.as_ref().map(|(parent, _)| *parent);
    let (parent, unmoved) = moved.unwrap_or_else(|| (record.int(col::PARENT), Vec::new()));
    let unique = resource.declared.unique_names;
    let given = edit.given_text("slug").filter(|_| !unique);
    let given = given.or_else(|| (unique && title != record.text(col::NAME)).then_some(""));
    let slug = given.map(|given| slug_claim(edit, record, given, &title, parent)).transpose()?;
    let mut set = titled(&title);
    set.extend(further(edit, given_parent)?);
    let meta = given_meta(edit);
    let put = Put { slug, meta, ..Put::new(resource.table.clone(), existing(record), set) };
    let mut changes = taken_over(edit, &put.set, record.id())?;
    if unique {
        changes.push(unlike(edit, Some(record), &put.set, &title, parent));
    }
    changes.push(Change::Put(put));
    changes.extend(unmoved);
    Ok(changes)
}

/// The slug of a term that is changed. An empty one follows from the name; that, and one of a term that moves, is
/// changed until it is unique. Any other that another term has is refused.
fn slug_claim(
    edit: &RowEdit<'_>,
    record: Record<'_>,
    given: &str,
    title: &str,
    parent: i64,
) -> Result<SlugClaim, ApiError> {
    let resource = edit.resource;
    let slug = given_slug(given);
    let derived = slug.is_empty() && !resource.declared.unique_names;
    let slug = if slug.is_empty() { slug::sanitize_title(title) } else { slug };
    if derived || parent != record.int(col::PARENT) {
        return Ok(claimed(&resource.kind, candidates(&*edit.scope.snapshot()?, slug, parent)?));
    }
    Ok(SlugClaim { refuse: Some(SLUG_TAKEN), ..claimed(&resource.kind, vec![slug.into()]) })
}

/// A slug that is given; empty where it says nothing. Recorded: `0` says nothing.
fn given_slug(given: &str) -> String {
    let slug = slug::sanitize_title(given);
    if slug == "0" { String::new() } else { slug }
}

/// Declared entries are in one row at most: other rows lose the entries that this one gets.
fn taken_over(edit: &RowEdit<'_>, set: &Columns, own: i64) -> Result<Vec<Change>, ApiError> {
    let resource = edit.resource;
    let mut changes = Vec::new();
    for property in resource.properties.iter().filter(|p| p.among.is_some()) {
        let column = property.column.as_ref();
        let Some((column, Input::Value(gets))) = set.iter().find(|(c, _)| Some(c) == column) else { continue };
        let gets = records::split_words(text(gets));
        if gets.is_empty() {
            continue;
        }
        let others = Cond::All(vec![
            records::own_rows(resource),
            Cond::Compare(name(ID), Op::Ne, DbValue::Int(own)),
            Cond::Compare(column.clone(), Op::Ne, txt("")),
        ]);
        for row in edit.scope.snapshot()?.rows(&records::plan(resource, others))? {
            let other = Record { resource, row: &row };
            let held = records::split_words(other.text(&property.name));
            let kept = held.iter().filter(|word| !gets.contains(word)).map(|word| &**word);
            if held.iter().any(|word| gets.contains(word)) {
                let left = vec![(column.clone(), Input::Value(txt(&records::join_words(kept))))];
                changes.push(Change::Put(Put::new(resource.table.clone(), existing(other), left)));
            }
        }
    }
    Ok(changes)
}

/// No other term below the same parent has the name, in the language that the term gets or has.
fn unlike(edit: &RowEdit<'_>, stored: Option<Record<'_>>, set: &Columns, title: &str, parent: i64) -> Change {
    let own = stored.map_or(0, |record| record.id());
    let mut same_name = vec![
        eq(col::NAME_KEY, txt(&slug::title_key(title))),
        eq(col::PARENT, DbValue::Int(parent)),
        Cond::Compare(name(ID), Op::Ne, DbValue::Int(own)),
    ];
    let languages = edit.scope.registry.languages.as_ref();
    same_name.extend(languages.and_then(|languages| {
        let column = edit.resource.plan_column(&languages.column)?;
        let given = set.iter().find_map(|(name, value)| match value {
            Input::Value(value) if *name == column => Some(text(value)),
            _ => None,
        });
        let kept = stored.as_ref().map_or("", |record| record.text(&languages.column));
        Some(languages.rows(&column, given.unwrap_or(kept)))
    }));
    let plan = ReadPlan { columns: vec![name(ID)], ..records::plan(edit.resource, Cond::All(same_name)) };
    Change::Require { plan, found: false, tag: EXISTS }
}

/// The change that the deletion of a term makes: its children move up.
pub fn leaving(record: Record<'_>) -> Change {
    let resource = record.resource;
    let children = Cond::All(vec![records::own_rows(resource), eq(col::PARENT, DbValue::Int(record.id()))]);
    Change::UpdateWhere {
        table: resource.table.clone(),
        filter: children,
        set: vec![(name(col::PARENT), DbValue::Int(record.int(col::PARENT)))],
    }
}

/// A name is text, stored as the HTML that shows it; what is encoded already stays.
fn shown_name(given: &str) -> String {
    sanitize::esc_text(&sanitize::sanitize_text_field(given))
}

/// The columns beside the name: parent, description and what the taxonomy declares for itself.
fn further(edit: &RowEdit<'_>, parent: Option<i64>) -> Result<Columns, ApiError> {
    let mut set: Columns = parent.map(|parent| column(col::PARENT, DbValue::Int(parent))).into_iter().collect();
    if let Some(description) = edit.given_text("description") {
        set.push(text_column(col::DESCRIPTION, &html_policy::sanitise(description, Policy::phrases())));
    }
    for property in edit.resource.properties.iter().filter(|p| !p.readonly) {
        let own = property.column.as_ref().is_some_and(|column| column.contains('.'));
        if let Some(value) = edit.args.explicit(&property.name).filter(|_| own)
            && let Some((column, value)) = stored(edit.scope, property, value)?
        {
            set.push((column, Input::Value(value)));
        }
    }
    Ok(set)
}

/// The parent that is given, with what has to hold of the rows above; `None` where none is given.
fn parent(edit: &RowEdit<'_>, own: i64) -> Result<Option<(i64, Vec<Change>)>, ApiError> {
    let resource = edit.resource;
    let Some(wanted) = edit.args.explicit("parent").and_then(Value::as_i64) else { return Ok(None) };
    if wanted == 0 {
        return Ok(Some((0, Vec::new())));
    }
    if records::find(&*edit.scope.snapshot()?, resource, &DbValue::Int(wanted))?.is_none() {
        return Err(ApiError::new(Code::TermInvalid)
            .with_status(status::BAD_REQUEST)
            .with_message("The parent does not exist."));
    }
    let above = parents::place(edit.scope, &resource.table, own, wanted)?;
    if above.looped {
        return Ok(Some((0, Vec::new())));
    }
    Ok(Some((wanted, above.unmoved(&resource.table))))
}

/// The candidate slugs: below a parent, a taken one takes the parent's slugs before it takes a number.
fn candidates(snapshot: &dyn Snapshot, base: String, parent: i64) -> Result<Vec<Arc<str>>, StorageError> {
    let base = if base.is_empty() { SlugClaim::ID.to_owned() } else { base };
    let mut candidates: Vec<Arc<str>> = vec![base.as_str().into()];
    let mut longer = base;
    for ancestor in parents::above(snapshot, col::TABLE, &[col::SLUG], parent).take(MOST_CANDIDATES - 1) {
        let Some(row) = ancestor?.row else { break };
        let end = format!("-{}", text(&row[1]));
        // Nothing of its own would be left.
        if end.len() >= slug::MAX_SLUG {
            break;
        }
        longer = slug::with_end(&longer, &end);
        candidates.push(longer.as_str().into());
    }
    Ok(candidates)
}
