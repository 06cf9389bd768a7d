//! The route of the site's export: which records it contains, and in which piece. What is written is the matter of the module
//! `export`.
//!
//! A piece is read when the client has taken the one before, so that a slow client holds neither memory nor a transaction.

use crate::error::{ApiError, Code};
use crate::handlers::{Handler, Outcome, Work, cursor, lists, sync_handler};
use crate::model::{Payload, SiteExportQuery, WXR};
use crate::records::{self, all, always, columns};
use crate::registry::Registry;
use crate::registry::columns::{ID, record};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind};
use cms_storage::plan::{Cond, DbValue, Op, ReadPlan};
use cms_text::time::parse_datetime;
use serde_json::Value;
use std::sync::Arc;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[sync_handler(
    "site.export",
    export,
    "Responds with the whole site, or with some of its records, as WXR (the export format of WordPress).",
)
.fails(&[Code::Forbidden, Code::AppPasswordLimited])
.responds(ResponseKind::Bytes(WXR))];

/// Responds with the choice of a piece; the server writes it as it sends it.
///
/// # Errors
/// A type or a date is none; the credential is limited to some resources.
fn export(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (scope, args) = (work.scope, work.allowed.args());
    if scope.principal.limits.as_ref().is_some_and(|limits| !limits.resources.is_empty()) {
        return Err(ApiError::new(Code::AppPasswordLimited));
    }
    let types = args.get("type").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let kinds = kinds(&scope.registry, types);
    let kinds = kinds.map_err(|none| ApiError::invalid_one("type", format!("There is no content type `{none}`.")))?;
    let since = args.text("since").map(|text| {
        let moment = parse_datetime(text).map(|moment| moment.as_utc());
        moment.ok_or_else(|| ApiError::invalid_one("since", "This is no date.".to_owned()))
    });
    let after = args.int("after").unwrap_or(0);
    let mut query = SiteExportQuery {
        kinds,
        since: since.transpose()?,
        after,
        reader: scope.principal.capabilities.clone(),
        ..SiteExportQuery::default()
    };
    let mut headers = vec![("Content-Disposition".to_owned(), "attachment; filename=\"site.xml\"".to_owned())];
    match work.query.get(cursor::PARAM).and_then(Value::as_str) {
        Some(place) => go_on(&mut query, place)?,
        None => {
            if let Some(limit) = args.int("limit")
                && let Some(last) = last_of(work, &query, limit.unsigned_abs())?
            {
                query.until = Some(last);
                let next = lists::address_with(work, "after", &last.to_string());
                headers.push(("Link".to_owned(), format!("<{next}>; rel=\"next\"")));
            }
        }
    }
    Ok(Outcome { private: true, payload: Some(Payload::Export(Box::new(query))), headers, ..Outcome::ok(Value::Null) })
}

/// The id of the last record of a part; `None`: no more records follow than it may have.
fn last_of(work: &Work<'_>, query: &SiteExportQuery, limit: u64) -> Result<Option<i64>, ApiError> {
    let plan = records::ordered(columns(record::TABLE, &[ID], exported(query)), ID, false);
    let plan = ReadPlan { offset: limit.saturating_sub(1), limit: Some(2), ..plan };
    let ids: Vec<(i64,)> = work.scope.snapshot()?.rows_as(&plan)?;
    Ok(ids.first().filter(|_| ids.len() == 2).map(|(id,)| *id))
}

/// Goes on where a piece has ended.
fn go_on(query: &mut SiteExportQuery, place: &str) -> Result<(), ApiError> {
    let numbers: Option<Vec<i64>> = place.split('.').map(|part| part.parse().ok()).collect();
    let Some([after, until, records]) = numbers.as_deref() else {
        return Err(ApiError::invalid_one(cursor::PARAM, "This is no place in an export.".to_owned()));
    };
    query.after = *after;
    query.until = Some(*until).filter(|until| *until != 0);
    query.goes_on = Some(records.unsigned_abs());
    Ok(())
}

/// The cursor of the piece after the one that ends with a record.
pub fn place_after(query: &SiteExportQuery, last: i64, records: u64) -> String {
    format!("{last}.{}.{records}", query.until.unwrap_or(0))
}

/// The records that an export contains.
pub fn exported(query: &SiteExportQuery) -> Cond {
    let compare = |column: &str, op: Op, number: i64| Cond::Compare(name(column), op, DbValue::Int(number));
    let kinds = query.kinds.as_ref();
    all([
        kinds.map_or_else(always, |kinds| records::words(record::KIND, kinds.iter().map(|kind| &**kind))),
        query.since.map_or_else(always, |since| compare(record::MODIFIED_UTC, Op::Ge, since)),
        compare(ID, Op::Gt, query.after),
        query.until.map_or_else(always, |until| compare(ID, Op::Le, until)),
    ])
}

/// The stored kinds of types, which are named as resources or as in the export; `None`: all. The error is a name that no type has.
///
/// # Errors
/// See above.
pub fn kinds<'n>(registry: &Registry, types: impl Iterator<Item = &'n str>) -> Result<Option<Vec<Arc<str>>>, &'n str> {
    let named = |wanted: &'n str| {
        let found =
            registry.content_types().find(|kind| kind.name == wanted || exported_name(registry, kind) == wanted);
        found.map(|kind| kind.kind.clone()).ok_or(wanted)
    };
    let kinds: Vec<Arc<str>> = types.map(named).collect::<Result<_, _>>()?;
    Ok(Some(kinds).filter(|kinds| !kinds.is_empty()))
}

/// The name that WordPress has for a kind or a taxonomy.
pub fn exported_name(registry: &Registry, resource: &Resource) -> String {
    let own = format!("{}_", registry.site.prefix);
    match resource.api_name.strip_prefix(&own) {
        Some(rest) => format!("wp_{rest}"),
        None => resource.api_name.clone(),
    }
}
