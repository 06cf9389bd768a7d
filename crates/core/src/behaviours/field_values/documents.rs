//! Documents of what values refer to, with the members that programs for WordPress know.

use super::files;
use crate::access::policy;
use crate::records::{Record, split_words};
use crate::registry::columns::{record as col, term as term_col, user as user_col};
use crate::render::Item;
use crate::scope::Scope;
use cms_text::time::format_local;
use serde_json::{Map, Value, json};

/// A moment with a blank between day and time.
fn moment(seconds: i64) -> String {
    format_local(seconds).replacen('T', " ", 1)
}

/// A text of a record, unless a password of its own locks it.
fn open<'r>(record: Record<'r>, column: &str) -> &'r str {
    if record.text(col::PASSWORD).is_empty() { record.text(column) } else { "" }
}

/// A record.
pub(super) fn record(record: Record<'_>) -> Value {
    let status = |column: &str| if record.text(column).is_empty() { "closed" } else { record.text(column) };
    json!({
        "ID": record.id(),
        "post_author": record.int(col::AUTHOR).to_string(),
        "post_date": moment(record.int(col::DATE_LOCAL)),
        "post_date_gmt": moment(record.int(col::DATE_UTC)),
        "post_content": open(record, col::CONTENT),
        "post_title": record.text(col::TITLE),
        "post_excerpt": open(record, col::EXCERPT),
        "post_status": record.text(col::STATUS),
        "comment_status": status(col::COMMENT_STATUS),
        "ping_status": status(col::PING_STATUS),
        "post_password": "",
        "post_name": record.text(col::SLUG),
        "to_ping": "",
        "pinged": "",
        "post_modified": moment(record.int(col::MODIFIED_LOCAL)),
        "post_modified_gmt": moment(record.int(col::MODIFIED_UTC)),
        "post_content_filtered": "",
        "post_parent": record.int(col::PARENT),
        "guid": record.text(col::GUID),
        "menu_order": record.int(col::MENU_ORDER),
        "post_type": record.resource.api_name,
        "post_mime_type": record.text(col::MIME),
        "comment_count": record.int(col::COMMENT_COUNT).to_string(),
        "filter": "raw",
    })
}

/// A file.
pub(super) fn file(item: &Item<'_>, record: Record<'_>) -> Value {
    let scope = item.scope;
    let extra = files::extra_of(record);
    let address = files::source_in(scope, record, &extra);
    let mime = record.text(col::MIME);
    let (kind, subtype) = mime.split_once('/').unwrap_or((mime, ""));
    let link = item.batch.places.get(&record.id()).map(|place| place.address.as_str());
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| drop(map.insert(name.to_owned(), value));
    put("ID", json!(record.id()));
    put("id", json!(record.id()));
    put("title", json!(record.text(col::TITLE)));
    put("filename", json!(address.rsplit('/').next()));
    put("filesize", extra["media_details"]["filesize"].clone());
    put("url", json!(address));
    put("link", json!(link));
    put("alt", json!(extra["alt_text"].as_str().unwrap_or_default()));
    put("author", json!(record.int(col::AUTHOR).to_string()));
    put("description", json!(open(record, col::CONTENT)));
    put("caption", json!(open(record, col::EXCERPT)));
    put("name", json!(record.text(col::SLUG)));
    put("status", json!(record.text(col::STATUS)));
    put("uploaded_to", json!(record.int(col::PARENT)));
    put("date", json!(moment(record.int(col::DATE_LOCAL))));
    put("modified", json!(moment(record.int(col::MODIFIED_LOCAL))));
    put("menu_order", json!(record.int(col::MENU_ORDER)));
    put("mime_type", json!(mime));
    put("type", json!(kind));
    put("subtype", json!(subtype));
    put("icon", json!(""));
    if kind == "image" {
        map.extend(sizes(scope, &extra["media_details"], &address));
    }
    Value::Object(map)
}

/// Measures of a picture, and each declared size: the picture itself where that was not made.
fn sizes(scope: &Scope, details: &Value, address: &str) -> Map<String, Value> {
    let mut sizes = Map::new();
    for name in scope.registry.declaration.media.sizes.keys() {
        let made = details["sizes"].get(name).filter(|size| size["file"].is_string());
        let url = made.and_then(|size| size["file"].as_str()).map(|own| files::beside(address, own));
        let measured = made.unwrap_or(details);
        sizes.insert(name.clone(), json!(url.as_deref().unwrap_or(address)));
        sizes.insert(format!("{name}-width"), measured["width"].clone());
        sizes.insert(format!("{name}-height"), measured["height"].clone());
    }
    let mut map = Map::new();
    map.insert("width".into(), details["width"].clone());
    map.insert("height".into(), details["height"].clone());
    map.insert("sizes".into(), Value::Object(sizes));
    map
}

/// A term.
pub(super) fn term(record: Record<'_>) -> Value {
    json!({
        "term_id": record.id(),
        "name": record.text(term_col::NAME),
        "slug": record.text(term_col::SLUG),
        "term_group": 0,
        "term_taxonomy_id": record.id(),
        "taxonomy": record.resource.api_name,
        "description": record.text(term_col::DESCRIPTION),
        "parent": record.int(term_col::PARENT),
        "count": record.int(term_col::COUNT),
        "filter": "raw",
    })
}

/// A user: what everybody may know, and the rest for those who may see users as they are edited.
pub(super) fn user(scope: &Scope, record: Record<'_>, whole: bool) -> Value {
    let edited = policy::sees_edited(scope, record).unwrap_or(false);
    let told = |column: &str| if edited { record.text(column) } else { "" };
    let registered = if edited { moment(record.int(user_col::REGISTERED)) } else { String::new() };
    if !whole {
        return json!({
            "ID": record.id(),
            "user_firstname": told(user_col::FIRST_NAME),
            "user_lastname": told(user_col::LAST_NAME),
            "nickname": told(user_col::NICKNAME),
            "user_nicename": record.text(user_col::SLUG),
            "display_name": record.text(user_col::NAME),
            "user_email": told(user_col::EMAIL),
            "user_url": record.text(user_col::URL),
            "user_registered": registered,
            "user_description": record.text(user_col::DESCRIPTION),
            "user_avatar": "",
        });
    }
    let roles = split_words(told(user_col::ROLES));
    let held =
        |names: &mut dyn Iterator<Item = &str>| names.map(|name| (name.to_owned(), json!(true))).collect::<Map<_, _>>();
    let capabilities = scope.settings.roles.capabilities(&roles);
    json!({
        "data": {
            "ID": record.id().to_string(),
            "user_login": told(user_col::LOGIN),
            "user_nicename": record.text(user_col::SLUG),
            "user_email": told(user_col::EMAIL),
            "user_url": record.text(user_col::URL),
            "user_registered": registered,
            "user_status": "0",
            "display_name": record.text(user_col::NAME),
        },
        "ID": record.id(),
        "caps": held(&mut roles.iter().map(|role| &**role)),
        "cap_key": "capabilities",
        "roles": roles.iter().map(|role| json!(&**role)).collect::<Vec<_>>(),
        "allcaps": held(&mut capabilities.iter().map(|capability| &**capability)),
        "filter": null,
    })
}
