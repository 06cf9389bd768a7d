//! The preview links of a record: made, listed, taken back. How one is used is the engine's matter.

pub mod guard;

use crate::access::failure;
use crate::access::preview_links::{PreviewLinkRow, is_trashed, of_record, revoked};
use crate::error::{ApiError, Code};
use crate::handlers::{Handler, Outcome, Work, handler, sync_handler};
use crate::records::{self, Record};
use crate::registry::addresses::preview::{ID, PATH, TOKEN, TYPE};
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind, VIRTUAL};
use crate::render::{Batch, address};
use crate::scope::Scope;
use cms_text::time::format_local;
use percent_encoding::utf8_percent_encode;
use serde_json::{Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("preview_link.list", list, "Lists the preview links of a record, newest first.")
        .fails(&[Code::PostInvalidId, Code::OriginalInvalid, Code::CannotEdit])
        .responds(ResponseKind::List)
        .on(VIRTUAL)
        .parent(),
    handler(
        "preview_link.create",
        |w| Box::pin(create(w)),
        "Makes a link that shows the record as it is being edited to whoever holds its token.",
    )
    .fails(&[Code::PostInvalidId, Code::OriginalInvalid, Code::CannotEdit, Code::AlreadyTrashed])
    .responds(ResponseKind::Created)
    .on(VIRTUAL)
    .parent(),
    handler("preview_link.delete", |w| Box::pin(delete(w)), "Takes back a preview link of a record.")
        .fails(&[Code::PostInvalidId, Code::OriginalInvalid, Code::CannotEdit, Code::RecordInvalidId])
        .responds(ResponseKind::Deleted)
        .on(VIRTUAL)
        .parent(),
];

/// Seconds that a link lasts where no declaration says so.
const USUAL: i64 = 3600;

/// The links that have not ended.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let rows = of_record(work.scope, work.parent(work.owner()?)?.id())?;
    let documents = rows.iter().map(document).collect();
    Ok(Outcome { private: true, ..Outcome::ok(Value::Array(documents)) })
}

/// Makes a link, and shows its token for the only time.
///
/// # Errors
/// The record is in the trash; the database takes no writes.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (record, scope) = (work.parent(work.owner()?)?, work.scope);
    if is_trashed(scope, record) {
        return Err(ApiError::new(Code::AlreadyTrashed).with_message("Records in the trash have no preview."));
    }
    let expires = scope.now.saturating_add(work.allowed.args().int("expires_in").unwrap_or(USUAL));
    let (link, token, changes) = work.shared.identity.new_preview(scope, record, expires)?;
    work.write(changes).await?;
    let rest = scope.registry.rest(&record.resource.item_path(&records::path_key(&scope.registry, record)));
    let (user, created) = (scope.principal.id, scope.now);
    let mut made = document(&PreviewLinkRow { link: link.as_str().into(), user, created, expires });
    made["token"] = json!(token);
    made["address"] = json!(front_address(scope, record, &token)?);
    made["rest"] = json!(format!("{rest}?preview={token}"));
    let own = format!("{}/{link}", work.path.trim_end_matches('/'));
    Ok(Outcome { private: true, ..Outcome::created(made, scope.registry.rest(&own)) })
}

/// Takes a link back.
///
/// # Errors
/// The record has no such link.
pub async fn delete(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let id = work.parent(work.owner()?)?.id();
    let wanted = work.captures.get("link").and_then(Value::as_str).unwrap_or_default();
    let found = of_record(work.scope, id)?.into_iter().find(|row| &*row.link == wanted);
    let missing = || work.resource().map_or_else(|error| error, |links| failure(links, Code::RecordInvalidId));
    let row = found.ok_or_else(missing)?;
    work.write(vec![revoked(id, wanted)]).await?;
    Ok(Outcome::ok(json!({"deleted": true, "previous": document(&row)})))
}

/// A link without its token.
fn document(row: &PreviewLinkRow) -> Value {
    let moment = |seconds: i64| format!("{}Z", format_local(seconds));
    json!({"id": &*row.link, "user": row.user, "created": moment(row.created), "expires": moment(row.expires)})
}

/// The address at which the front end shows the preview; none where the site has not declared one.
fn front_address(scope: &Scope, record: Record<'_>, token: &str) -> Result<Option<String>, ApiError> {
    let Some(preview) = &scope.registry.site.front_preview else { return Ok(None) };
    let mut batch = Batch::default();
    batch.load_address_parts(&*scope.snapshot()?, scope, record.resource, std::slice::from_ref(record.row))?;
    let path = address::once_published(scope, record, &batch);
    let (id, api_name) = (record.id().to_string(), &record.resource.api_name);
    Ok(Some(filled(&preview.template, &[(TOKEN, token), (PATH, &path), (TYPE, api_name), (ID, &id)])))
}

/// A template whose names are replaced by values, as parts of an address.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |filled, (name, value)| {
        filled.replace(name, &utf8_percent_encode(value, address::UNRESERVED).to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_address_are_encoded_and_never_read_as_a_template() {
        let values = [(TOKEN, "a.b{id}"), (PATH, "/blog/zürich?p=1&x"), (TYPE, "post"), (ID, "12")];
        let filled = filled("https://www.example.org/preview/{type}/{id}?path={path}&token={token}&{other}", &values);
        let expected =
            "https://www.example.org/preview/post/12?path=%2Fblog%2Fz%C3%BCrich%3Fp%3D1%26x&token=a.b%7Bid%7D&{other}";
        assert_eq!(filled, expected);
    }
}
