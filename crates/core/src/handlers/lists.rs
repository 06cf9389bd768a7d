//! Collections: conditions from the arguments, one window of rows, totals and links to the neighbouring pages.
//!
//! Contract: "Collection parameters".

use super::cursor::{self, Cursor, KeyRange, SortKeys};
use super::order::order;
pub use super::search_words::{Search, words_within};
use super::windows::WindowRows;
use super::{Outcome, RenderedJson, Work, comparisons, criteria, items, originals};
use crate::access::{failure, hints, policy};
use crate::behaviours::{QUERIES, QueryContext, effect};
use crate::error::{ApiError, Code, status};
use crate::records::{self, Record, is_in, txt};
use crate::registry::args::{Arg, ArgRole, ArgSet, Filter, FilterOp};
use crate::registry::columns::record;
use crate::registry::name;
use crate::registry::resource::{Context, Resource};
use crate::registry::vocabulary::ListEffect;
use crate::render::{self, Batch, View};
use crate::request::args::ArgValues;
use crate::scope::Scope;
use cms_declaration::{ItemKey, Total};
use cms_storage::plan::{Cond, DbValue, Name, Op, Order, ReadPlan, Row};
use cms_storage::{ReadRequest, Snapshot};
use cms_text::highlight::highlight;
use serde_json::Value;
use std::collections::HashMap;

/// Most sticky records that are added to a page.
const MOST_STICKY: u64 = 100;

/// Values that rows are counted by.
const MOST_GROUPS: u64 = 1000;

/// Rows that a collection is read by where it is sent as lines.
const LINES_AT_ONCE: u64 = 100;

/// Rows of a collection that knows no pages.
const UNPAGED: i64 = 10_000;

/// A window of a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageWindow {
    pub page: u64,
    pub per_page: u64,
    pub offset: u64,
    /// An offset was given, which outranks the page.
    pub by_offset: bool,
    /// The links to the neighbouring pages follow the offset, not the page.
    pub offset_pages: bool,
}

impl PageWindow {
    /// Reads the paging arguments.
    pub fn of(args: &ArgValues, set: &ArgSet) -> PageWindow {
        let number = |role| args.role(set, role).and_then(Value::as_i64);
        let page = number(ArgRole::Page).unwrap_or(1).max(1).unsigned_abs();
        let most = if set.role(ArgRole::PerPage).is_some() { 10 } else { UNPAGED };
        let per_page = number(ArgRole::PerPage).unwrap_or(most).max(1).unsigned_abs();
        let given = set.role(ArgRole::Offset).and_then(|a| args.explicit(&a.name)).and_then(Value::as_i64);
        match given {
            Some(offset) => {
                PageWindow { page, per_page, offset: offset.unsigned_abs(), by_offset: true, offset_pages: false }
            }
            None => PageWindow {
                page,
                per_page,
                offset: (page - 1).saturating_mul(per_page),
                by_offset: false,
                offset_pages: false,
            },
        }
    }

    /// Number of pages for a total.
    pub fn pages(&self, total: u64) -> u64 {
        total.div_ceil(self.per_page)
    }
}

/// `list`: the rows of a resource.
///
/// # Errors
/// Arguments that cannot be combined, values that the caller may not request, a page beyond the end.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let listing = CollectionRequest::of(work)?;
    if let Some(by) = work.allowed.args().role(&work.endpoint.args, ArgRole::CountBy).and_then(Value::as_str) {
        return listing.counts_by(by);
    }
    let context = work.allowed.context();
    let view = work.view(context);
    let snapshot = work.scope.snapshot()?;
    if listing.counts {
        snapshot.prefetch(&[ReadRequest::Count(&listing.plan)]);
    }
    let mut rows = listing.rows(&*snapshot, &view)?;
    let more = rows.len() as u64 > listing.window.per_page;
    rows.truncate(usize::try_from(listing.window.per_page).unwrap_or(usize::MAX));
    let total = listing.total(&*snapshot, rows.len() as u64)?;
    if listing.lifts_sticky() {
        listing.lift_sticky(&*snapshot, &view, &mut rows)?;
    }
    if !listing.paged {
        rows.extend(originals::unwritten(work, &*snapshot)?);
    }
    let mut outcome = listing.documents(&*snapshot, &view, &rows)?;
    if listing.counts {
        paging_headers(work, &mut outcome, total, &listing.window);
    } else if more && listing.paged && !work.lines {
        outcome.headers.extend(listing.next_link(rows.last()));
    }
    if work.lines {
        let after = rows.last().filter(|_| more).zip(listing.cursor.as_ref());
        outcome.lines = Some(after.map(|(row, cursor)| cursor.next(listing.resource, row)));
        outcome.private = true;
    }
    Ok(outcome)
}

/// A request for a collection.
struct CollectionRequest<'w> {
    work: &'w Work<'w>,
    resource: &'w Resource,
    window: PageWindow,
    /// The condition that follows from the arguments, for any caller.
    filter: Cond,
    plan: ReadPlan,
    cursor: Option<Cursor>,
    /// Ranges of rows that are read one after the other until the window is full; empty: by the plan as it is.
    stretches: Vec<KeyRange>,
    highlights: Option<Highlights>,
    /// The collection has pages.
    paged: bool,
    /// The response contains the total.
    counts: bool,
}

impl<'w> CollectionRequest<'w> {
    fn of(work: &'w Work<'w>) -> Result<CollectionRequest<'w>, ApiError> {
        let resource = work.resource()?;
        let (args, set) = (work.allowed.args(), &work.endpoint.args);
        let context = work.allowed.context();
        let mut filter = filter(work.scope, resource, args, set, context)?;
        if resource.is_comments() {
            filter = Cond::All(vec![filter, policy::unhidden_comments(work.scope)]);
        }
        let mut window = PageWindow::of(args, set);
        window.offset_pages = resource.is_taxonomy() || resource.is_users();
        // Where only editors read what has a name, the edit context is theirs, too (see the guards of records).
        let named = work.endpoint.editors_only && resource.declared.key != ItemKey::Id;
        let asks_to_edit = context == Context::EDIT && !named;
        let visible = if resource.is_comments() {
            policy::readable_comments(work.scope, opened(work)?)
        } else if resource.is_users() && names_authors(args, set) {
            records::always()
        } else if resource.is_users() {
            policy::listed_users(work.scope, resource)
        } else {
            policy::visible_among(work.scope, resource, &filter)
        };
        let shown = match asks_to_edit {
            true => records::all([visible, policy::edited(work.scope, resource)]),
            false => visible,
        };
        let mut plan = records::plan(resource, records::all([filter.clone(), shown]));
        plan.order = order(work.scope, resource, args, set, context)?;
        plan.limit = Some(window.per_page);
        plan.offset = window.offset;
        let cursor = Cursor::of(work, resource, &plan)?;
        let stretches = match &cursor {
            Some(cursor) => {
                plan.offset = 0;
                Some(cursor.remaining_ranges())
            }
            None => {
                SortKeys::of(&work.scope.registry.layout, resource, &plan.order).and_then(|keys| keys.by_an_index())
            }
        };
        let paged = set.role(ArgRole::PerPage).is_some();
        if work.lines && paged && args.explicit("per_page").is_none() {
            window.per_page = LINES_AT_ONCE;
            plan.limit = Some(LINES_AT_ONCE);
        }
        let counts = paged && cursor.is_none() && work.query.get("_total").and_then(Value::as_str) != Some("false");
        if !counts {
            // One more row shows whether there is a next page.
            plan.limit = Some(window.per_page + 1);
        }
        let highlights = Highlights::asked(work, resource)?;
        let stretches = stretches.unwrap_or_default();
        Ok(CollectionRequest { work, resource, window, filter, plan, cursor, stretches, highlights, paged, counts })
    }

    /// How many rows have each value of a criterion, the most frequent first.
    fn counts_by(&self, by: &str) -> Result<Outcome, ApiError> {
        let filter = self.work.endpoint.args.role(ArgRole::Where).and_then(|arg| arg.filter.as_ref());
        let Some(Filter::Where(criteria)) = filter else { return Ok(Outcome::ok(Value::Array(Vec::new()))) };
        let Some(criterion) = criteria.0.get(by) else { return Ok(Outcome::ok(Value::Array(Vec::new()))) };
        // The values of locked records are not shown here either.
        let unlocked = policy::unlocked(self.work.scope, self.resource).filter(|_| criterion.locked);
        let filter = Cond::All([self.plan.filter.clone()].into_iter().chain(unlocked).collect());
        let columns = vec![criteria::counted(criterion)];
        let plan = ReadPlan { columns, limit: Some(MOST_GROUPS), filter, ..self.plan.clone() };
        let groups = self.work.scope.snapshot()?.groups(&plan)?;
        Ok(Outcome::ok(criteria::groups(criterion, &groups)))
    }

    /// The rows of the window, with the columns that they are shown by.
    fn rows(&self, snapshot: &dyn Snapshot, view: &View<'_>) -> Result<Vec<Row>, ApiError> {
        let (layout, plan) = (&self.work.scope.registry.layout, &self.plan);
        let stretches = &self.stretches;
        let window = WindowRows { snapshot, layout, resource: self.resource, plan, stretches, counts: self.counts };
        window.read(|plan| self.read(snapshot, view, plan))
    }

    /// Rows with the columns that they are shown by.
    fn read(&self, snapshot: &dyn Snapshot, view: &View<'_>, plan: &ReadPlan) -> Result<Vec<Row>, ApiError> {
        let wanted = match render::columns_for(self.resource, view) {
            // A cursor names sort keys, and places that hold words are looked for in the texts.
            _ if self.cursor.is_some() || self.highlights.is_some() => None,
            _ if items::has_cached_text(self.work, self.resource, view) => {
                match view.wants_links() && hints::depend_on_rows(self.work.scope, self.resource) {
                    true => Some(render::short_columns(self.resource)),
                    false => Some(self.work.shared.documents.columns(self.resource).to_vec()),
                }
            }
            wanted => wanted,
        };
        Ok(match wanted {
            Some(wanted) => records::read(snapshot, self.resource, plan.clone(), &wanted)?,
            None => snapshot.rows(plan)?,
        })
    }

    /// The total, where it is requested.
    ///
    /// # Errors
    /// The page is beyond the end.
    fn total(&self, snapshot: &dyn Snapshot, found: u64) -> Result<u64, ApiError> {
        let (args, set) = (self.work.allowed.args(), &self.work.endpoint.args);
        let (resource, window, plan) = (self.resource, &self.window, &self.plan);
        let total = match resource.declared.total {
            _ if !self.counts => 0,
            _ if resource.declared.hierarchical && hides_empty(args, set) => {
                let full = Cond::Compare(name("count"), Op::Gt, DbValue::Int(0));
                let filter = Cond::All(vec![plan.filter.clone(), full]);
                snapshot.count(&ReadPlan { filter, ..plan.clone() })?
            }
            Total::Unfiltered if counts_all(resource, args, set) => {
                let filter = Cond::All(vec![records::own_rows(resource), self.filter.clone()]);
                snapshot.count(&ReadPlan { filter, ..plan.clone() })?
            }
            _ => count(snapshot, plan, found, window)?,
        };
        // Beyond the end an offset finds nothing, and nothing is what it counts.
        let beyond = window.by_offset && window.offset >= total;
        let total = if beyond && resource.declared.error_beyond_last_page { 0 } else { total };
        if resource.declared.error_beyond_last_page && total > 0 && window.page > window.pages(total) {
            return Err(failure(resource, Code::PostInvalidPageNumber));
        }
        Ok(total)
    }

    /// The rows as documents, or as their text where that is cached.
    fn documents(&self, snapshot: &dyn Snapshot, view: &View<'_>, rows: &[Row]) -> Result<Outcome, ApiError> {
        let (work, resource) = (self.work, self.resource);
        let whole = |missing: &[Row]| {
            let keys: Vec<i64> = missing.iter().map(|row| Record { resource, row }.id()).collect();
            Batch::prefetch(snapshot, work.scope, resource, &keys, view);
            let plan = records::plan(resource, is_in(&resource.key, keys));
            let found = match render::columns_for(resource, view) {
                Some(shown) => records::read(snapshot, resource, plan, &shown)?,
                None => snapshot.rows(&plan)?,
            };
            let all = found.into_iter().chain(resource.originals.iter().cloned());
            let by_key: HashMap<i64, Row> = all.map(|row| (Record { resource, row: &row }.id(), row)).collect();
            Ok(missing.iter().filter_map(|row| by_key.get(&Record { resource, row }.id()).cloned()).collect())
        };
        if let Some(texts) = items::cached_texts(work, resource, rows, view, snapshot, false, whole)? {
            return Ok(Outcome { status: status::OK, text: Some(RenderedJson::List(texts)), ..Outcome::default() });
        }
        let mut documents = render::documents(work.scope, snapshot, resource, rows, view)?;
        if let Some(highlights) = &self.highlights {
            for (document, row) in documents.iter_mut().zip(rows) {
                highlights.add(document, Record { resource, row });
            }
        }
        Ok(Outcome::ok(Value::Array(documents)))
    }

    /// Whether sticky records come first: on the first page, where nothing selects records by their content.
    fn lifts_sticky(&self) -> bool {
        let (args, set) = (self.work.allowed.args(), &self.work.endpoint.args);
        let wanted =
            set.role(ArgRole::IgnoreSticky).is_some_and(|arg| args.get(&arg.name) == Some(&Value::Bool(false)));
        let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty) || value.as_str() == Some("");
        let selects = |arg: &Arg| match &arg.filter {
            Some(Filter::Query { params, .. }) => {
                let by_content = matches!(effect(arg), Some(ListEffect::Content | ListEffect::Terms));
                by_content && !params.contains_key("exclude")
            }
            _ => matches!(arg.role, Some(ArgRole::Search | ArgRole::Include)),
        };
        let selected =
            || set.args.iter().any(|arg| selects(arg) && args.explicit(&arg.name).is_some_and(|v| !empty(v)));
        wanted && self.window.offset == 0 && self.cursor.is_none() && !selected()
    }

    /// Moves the sticky records of a page to its front, and adds the published ones that are on no page of it. The page
    /// gets longer by them.
    fn lift_sticky(&self, snapshot: &dyn Snapshot, view: &View<'_>, rows: &mut Vec<Row>) -> Result<(), ApiError> {
        let (resource, scope) = (self.resource, self.work.scope);
        let (args, set) = (self.work.allowed.args(), &self.work.endpoint.args);
        let excluded = set.args.iter().filter_map(|arg| match &arg.filter {
            Some(Filter::Column { column, op: FilterOp::NotIn, operand, .. }) if *column == resource.key => {
                comparisons::column(scope, column, FilterOp::NotIn, *operand, args.get(&arg.name)?)
            }
            _ => None,
        });
        let sticky = records::eq("sticky", DbValue::Int(1));
        let all = [sticky, policy::published(scope), policy::visible(scope, resource)].into_iter().chain(excluded);
        let order = vec![Order::Column(name("date_local"), true)];
        let plan = ReadPlan { order, limit: Some(MOST_STICKY), ..records::plan(resource, Cond::All(all.collect())) };
        let id = |row: &Row| Record { resource, row }.id();
        let found = self.read(snapshot, view, &plan)?;
        let ids: Vec<i64> = found.iter().map(id).collect();
        let (mut front, rest): (Vec<Row>, Vec<Row>) = rows.drain(..).partition(|row| ids.contains(&id(row)));
        let here: Vec<i64> = front.iter().map(id).collect();
        front.extend(found.into_iter().filter(|row| !here.contains(&id(row))));
        rows.extend(front.into_iter().chain(rest));
        Ok(())
    }

    /// The header that leads on from the last row.
    fn next_link(&self, last: Option<&Row>) -> Option<(String, String)> {
        let (name, value) = match &self.cursor {
            Some(cursor) => (cursor::PARAM, cursor.next(self.resource, last?)),
            None => ("page", (self.window.page + 1).to_string()),
        };
        Some(("Link".into(), format!("<{}>; rel=\"next\"", address_with(self.work, name, &value))))
    }
}

/// The highlights that a request wants (`_highlight`).
pub struct Highlights {
    columns: Vec<Name>,
    needles: Vec<String>,
}

impl Highlights {
    /// The request's highlights; `None` when it wants none.
    ///
    /// # Errors
    /// The search has too many words.
    pub fn asked(work: &Work<'_>, resource: &Resource) -> Result<Option<Highlights>, ApiError> {
        let asked = work.query.get("_highlight").and_then(Value::as_str).is_some_and(|v| !matches!(v, "0" | "false"));
        let Some(search) = Search::asked(work.allowed.args(), &work.endpoint.args, resource.is_content())? else {
            return Ok(None);
        };
        let wanted = search.words.into_iter().filter(|word| !word.without);
        let needles: Vec<String> = wanted.map(|word| word.text).collect();
        let columns = searched(work.scope, resource, work.allowed.context(), &[]);
        Ok((asked && !needles.is_empty()).then_some(Highlights { columns, needles }))
    }

    /// Adds `_highlights`: by searched column, a piece of the text with the matches in `<mark>`. A text that a password
    /// locks stays hidden.
    pub fn add(&self, document: &mut Value, record: Record<'_>) {
        let needles: Vec<&str> = self.needles.iter().map(String::as_str).collect();
        let locked = !record.text("password").is_empty();
        let columns = self.columns.iter().filter(|column| !locked || ***column == *"title");
        let found = columns
            .filter_map(|column| Some((column.to_string(), Value::String(highlight(record.text(column), &needles)?))));
        let found: serde_json::Map<String, Value> = found.collect();
        if let Some(document) = document.as_object_mut() {
            document.insert("_highlights".into(), Value::Object(found));
        }
    }
}

/// Whether the total counts rows that the caller may not read, too: the request gives no argument that would reveal
/// more of them than declared.
fn counts_all(resource: &Resource, args: &ArgValues, set: &ArgSet) -> bool {
    let empty = |value: &Value| match value {
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    let selects = |arg: &Arg| arg.filter.is_some() || matches!(arg.role, Some(ArgRole::Search | ArgRole::Include));
    let given = |arg: &&Arg| selects(arg) && args.explicit(&arg.name).is_some_and(|value| !empty(value));
    set.args.iter().filter(given).all(|arg| resource.declared.unfiltered_args.contains(&arg.name))
}

/// Whether a list of users is limited to those who may write: everybody who writes may choose among them.
fn names_authors(args: &ArgValues, set: &ArgSet) -> bool {
    set.args.iter().any(|arg| effect(arg) == Some(ListEffect::Authors) && args.text(&arg.name) == Some("authors"))
}

/// Whether empty terms are left out (recorded: see [`ListEffect::HidesEmpty`]).
fn hides_empty(args: &ArgValues, set: &ArgSet) -> bool {
    set.args.iter().any(|arg| effect(arg) == Some(ListEffect::HidesEmpty) && args.flag(&arg.name))
}

/// The one record that the request selects and has the password of.
fn opened(work: &Work<'_>) -> Result<Option<i64>, ApiError> {
    match work.allowed.args().get("post").and_then(Value::as_array).map(Vec::as_slice) {
        Some([post]) => Ok(policy::opened(work.scope, post.as_i64().unwrap_or(0).abs(), work.given)?),
        _ => Ok(None),
    }
}

/// A first page that is not full determines the total.
fn count(snapshot: &dyn Snapshot, plan: &ReadPlan, found: u64, window: &PageWindow) -> Result<u64, ApiError> {
    if found < window.per_page && (found > 0 || window.offset == 0) {
        return Ok(window.offset + found);
    }
    Ok(snapshot.count(plan)?)
}

/// Totals, and links to the pages before and after.
pub fn paging_headers(work: &Work<'_>, outcome: &mut Outcome, total: u64, window: &PageWindow) {
    let prefix = work.scope.registry.site.prefix.to_uppercase();
    let pages = window.pages(total);
    outcome.headers.push((format!("X-{prefix}-Total"), total.to_string()));
    outcome.headers.push((format!("X-{prefix}-TotalPages"), pages.to_string()));
    let mut links = Vec::new();
    let by_offset = window.by_offset && window.offset_pages;
    let page = if by_offset { window.offset.div_ceil(window.per_page) + 1 } else { window.page };
    let named = !work.endpoint.no_page_links;
    if named && page > 1 {
        let before = (page - 1).min(pages);
        links.push(format!("<{}>; rel=\"prev\"", page_address(work, before)));
    }
    if named && page < pages {
        links.push(format!("<{}>; rel=\"next\"", page_address(work, page + 1)));
    }
    for link in links {
        outcome.headers.push(("Link".into(), link));
    }
}

fn page_address(work: &Work<'_>, page: u64) -> String {
    address_with(work, "page", &page.to_string())
}

/// The request's address with another value of a parameter, which stays where it is. Values are percent-encoded again, and
/// items of lists get their numbers.
pub fn address_with(work: &Work<'_>, name: &str, value: &str) -> String {
    let mut given = Some((name.to_owned(), value.to_owned()));
    let parsed = url::form_urlencoded::parse(work.raw_query.as_bytes()).into_owned();
    let mut pairs: Vec<(String, String)> =
        parsed.filter_map(|pair| if pair.0 == name { given.take() } else { Some(pair) }).collect();
    pairs.extend(given);
    let mut items: HashMap<String, usize> = HashMap::new();
    let spell = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pairs = pairs.into_iter().filter(|(name, _)| !name.is_empty()).map(|(name, value)| {
        let name = match name.strip_suffix("[]") {
            Some(list) => {
                let item = items.entry(list.to_owned()).and_modify(|item| *item += 1).or_insert(0);
                format!("{list}[{item}]")
            }
            None => name,
        };
        if value.is_empty() { spell(&name) } else { format!("{}={}", spell(&name), spell(&value)) }
    });
    format!("{}?{}", work.scope.registry.rest(work.path), pairs.collect::<Vec<_>>().join("&"))
}

/// Records that are found by a name are not found in the trash, which lists of such records have no argument for.
fn out_of_the_trash(scope: &Scope, resource: &Resource) -> Option<Cond> {
    let trashed = || records::eq(record::STATUS, txt(scope.registry.trash_status()));
    (resource.declared.key != ItemKey::Id).then(|| Cond::Not(Box::new(trashed())))
}

/// The condition of the arguments of a collection, without the caller's permissions.
///
/// # Errors
/// Values that the caller may not request, a search of too many words.
pub fn filter(
    scope: &Scope,
    resource: &Resource,
    args: &ArgValues,
    set: &ArgSet,
    context: Context,
) -> Result<Cond, ApiError> {
    let mut all = Vec::new();
    let mut any_taxonomy = Vec::new();
    let either = args.role(set, ArgRole::TaxRelation).and_then(Value::as_str) == Some("OR");
    let (chosen, ruled_out) = decided_columns(resource, args, set);
    for arg in &set.args {
        let (Some(filter), Some(value)) = (&arg.filter, args.get(&arg.name)) else { continue };
        let before = all.len();
        match filter {
            // A list of wanted values outranks a list of unwanted ones.
            Filter::Column { column, op: FilterOp::NotIn, first: false, .. } if chosen.contains(&column) => {}
            Filter::Column { column, op: FilterOp::In, .. } if ruled_out.contains(&column) => {}
            Filter::Query { .. } if *value == Value::Bool(false) && chosen.contains(&&resource.key) => {}
            Filter::Column { column, op, operand, .. } => {
                all.extend(comparisons::column(scope, column, *op, *operand, value));
            }
            Filter::Fixed { column, op, value: fixed } => {
                all.extend(comparisons::fixed(scope, column, *op, fixed, value))
            }
            Filter::Where(criteria) => all.extend(criteria::conditions(scope, criteria, value)),
            Filter::Linked { rel, without } => all.extend(comparisons::linked(rel, *without, value)),
            Filter::Query { behaviour, params } => {
                let asked = QueryContext { scope, resource, usual: arg.default.as_ref(), params, args };
                let Some(condition) = (QUERIES[behaviour.0].run)(&asked, value)? else { continue };
                if either && effect(arg) == Some(ListEffect::Terms) {
                    any_taxonomy.push(condition);
                } else {
                    all.push(condition);
                }
            }
        }
        if arg.locked && all.len() > before {
            all.extend(policy::unlocked(scope, resource));
        }
    }
    if !any_taxonomy.is_empty() {
        all.push(Cond::Any(any_taxonomy));
    }
    all.extend(out_of_the_trash(scope, resource));
    if let Some(arg) = set.role(ArgRole::Include)
        && let Some(Value::Array(list)) = args.get(&arg.name)
        && !list.is_empty()
    {
        all.push(is_in(&resource.key, list.iter().filter_map(Value::as_i64).map(i64::saturating_abs)));
    }
    if let Some(search) = Search::asked(args, set, resource.is_content())? {
        let chosen: Vec<&str> = match args.role(set, ArgRole::SearchColumns) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        all.extend(search.conditions(&searched(scope, resource, context, &chosen)));
        // Only callers who may edit a locked record learn whether its text matches.
        all.extend(policy::unlocked(scope, resource));
    }
    Ok(Cond::All(all))
}

/// The columns that a search covers, of those whose values the caller may see: the chosen ones, or all where none is
/// left.
pub fn searched(scope: &Scope, resource: &Resource, context: Context, chosen: &[&str]) -> Vec<Name> {
    let sees_all = policy::sees_edit_only(scope, resource, context);
    let open = |(_, column): &(&String, &Name)| {
        (sees_all || !resource.edit_only.contains(*column)) && policy::reads_column(scope, resource, column)
    };
    let (wanted, others): (Vec<_>, Vec<_>) =
        resource.search.iter().filter(open).partition(|(name, _)| chosen.contains(&name.as_str()));
    let columns = if wanted.is_empty() { others } else { wanted };
    columns.into_iter().map(|(_, column)| column.clone()).collect()
}

/// Columns with a list of wanted values, and those whose unwanted values outrank that. In lists of comments
/// both count.
fn decided_columns<'a>(resource: &'a Resource, args: &ArgValues, set: &'a ArgSet) -> (Vec<&'a Name>, Vec<&'a Name>) {
    let (mut chosen, mut ruled_out) = (Vec::new(), Vec::new());
    if resource.is_comments() {
        return (chosen, ruled_out);
    }
    for arg in &set.args {
        if args.get(&arg.name).is_none_or(|value| value.as_array().is_some_and(Vec::is_empty)) {
            continue;
        }
        match &arg.filter {
            Some(Filter::Column { column, op: FilterOp::In, .. }) => chosen.push(column),
            Some(Filter::Column { column, op: FilterOp::NotIn, first: true, .. }) => ruled_out.push(column),
            _ if arg.role == Some(ArgRole::Include) => chosen.push(&resource.key),
            _ => {}
        }
    }
    (chosen, ruled_out)
}
