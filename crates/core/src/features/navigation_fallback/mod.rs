//! `get`: the record of a kind that serves where nobody has chosen one; made when there is none.

use crate::access::hints;
use crate::error::{ApiError, Code, status};
use crate::handlers::{Handler, Outcome, Work, handler};
use crate::model::Method;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::BehaviourEntry;
use crate::request::BodyParams;
use crate::request::call::SubResponse;
use cms_declaration::NavigationFallback;
use cms_text::blocks::delimited;
use serde_json::{Map, Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[handler(
    "navigation_fallback.get",
    |w| Box::pin(get(w)),
    "Responds with the newest navigation; where there is none, creates one from a menu.",
)
.fails(&[Code::CannotCreate])
.settings(&["navigation"])];

/// Most items of a menu that are converted.
const MOST_ITEMS: i64 = 100;

/// `{id}` of the newest published record of the resource that the declaration names (`options.navigation`), with a link to it. When
/// there is none, one is made: of the newest menu, or as declared (`new`).
///
/// # Errors
/// The caller may not read or make such records.
pub async fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let options = work.resource()?.declared.options.navigation.as_ref().ok_or_else(|| ApiError::new(Code::Internal))?;
    let resource = named(work, &options.resource).ok_or_else(|| ApiError::new(Code::Internal))?;
    let status = work.scope.registry.published_status();
    let query = json!({"status": status, "per_page": 1, "_fields": "id"});
    let found = good(work, work.ask(Method::Get, &resource.path, query, BodyParams::None).await)?;
    let id = match found[0]["id"].as_i64() {
        Some(id) => id,
        None => {
            let body = match of_menu(work, options).await? {
                Some(body) => body,
                None => options.new.clone(),
            };
            let made = work.ask(Method::Post, &resource.path, json!({}), BodyParams::Json(body)).await;
            good(work, made)?["id"].as_i64().ok_or_else(|| ApiError::new(Code::Internal))?
        }
    };
    let mut link = hints::self_link(work.scope, resource, resource.item_path(&id.to_string()))?;
    link.insert("embeddable".into(), json!(true));
    let document = json!({"id": id, "_links": {"self": [link]}});
    Ok(Outcome { private: true, ..Outcome::ok(document) })
}

fn named<'a>(work: &Work<'a>, name: &str) -> Option<&'a Resource> {
    work.scope.registry.resource(name)
}

/// The document of an inner response, or its error.
fn good(work: &Work<'_>, part: SubResponse) -> Result<Value, ApiError> {
    if !status::is_error(part.status) {
        return Ok(part.body);
    }
    let code = part.body["code"].as_str().and_then(Code::parse);
    Err(code.map_or_else(|| ApiError::new(Code::Internal), |code| work.scope.principal.refuse(code)))
}

/// The content of a new record with the items of a menu: one that has a place, else the newest. `None`: there is no menu
/// with items.
async fn of_menu(work: &Work<'_>, options: &NavigationFallback) -> Result<Option<Map<String, Value>>, ApiError> {
    let (Some(menus), Some(items)) = (named(work, &options.menus), named(work, &options.items)) else {
        return Ok(None);
    };
    let query = json!({"orderby": "id", "order": "desc", "per_page": MOST_ITEMS});
    let all = good(work, work.ask(Method::Get, &menus.path, query, BodyParams::None).await)?;
    let all = all.as_array().map_or(&[][..], Vec::as_slice);
    let placed = |menu: &&Value| menu["locations"].as_array().is_some_and(|places| !places.is_empty());
    let Some(menu) = all.iter().find(placed).or(all.first()) else { return Ok(None) };
    let query = json!({"menus": [menu["id"]], "orderby": "menu_order", "order": "asc", "per_page": MOST_ITEMS});
    let items = good(work, work.ask(Method::Get, &items.path, query, BodyParams::None).await)?;
    let items = items.as_array().map_or(&[][..], Vec::as_slice);
    let blocks = &work.scope.registry.declaration.blocks;
    let made_by = |maker: &str| blocks.iter().find(|(_, made)| made.renderer == maker).map(|(name, _)| name.as_str());
    let (Some(item), Some(branch)) = (made_by("menu.item"), made_by("menu.submenu")) else { return Ok(None) };
    let content = level(items, 0, item, branch);
    let body = json!({"title": menu["name"], "content": content, "status": work.scope.registry.published_status()});
    Ok(body.as_object().filter(|_| !content.is_empty()).cloned())
}

/// The items below one as blocks, each with those below itself. An item precedes what is below it.
fn level(items: &[Value], parent: i64, item: &str, branch: &str) -> String {
    let mut out = String::new();
    for (at, shown) in items.iter().enumerate().filter(|(_, shown)| shown["parent"] == parent) {
        // Only what follows, so that items which are below each other end somewhere.
        let below = level(&items[at + 1..], shown["id"].as_i64().unwrap_or(-1), item, branch);
        let attributes = attributes(shown, parent == 0);
        out.push_str(&match below.as_str() {
            "" => delimited(item, &attributes, None),
            below => delimited(branch, &attributes, Some(below)),
        });
    }
    out
}

fn attributes(item: &Value, top: bool) -> Value {
    let text = |name: &str| item[name].as_str().unwrap_or("");
    let words = |name: &str| {
        let words = item[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let mut attributes = Map::new();
    attributes.insert("label".into(), item["title"]["rendered"].clone());
    for (name, value) in [
        ("type", if text("type") == "custom" { "" } else { text("object") }.to_owned()),
        ("description", text("description").to_owned()),
        ("rel", words("xfn")),
        ("className", words("classes")),
        ("title", text("attr_title").to_owned()),
        ("url", text("url").to_owned()),
        ("kind", text("type").replace('_', "-")),
    ] {
        if !value.is_empty() {
            attributes.insert(name.into(), Value::from(value));
        }
    }
    if item["object_id"].as_i64().is_some_and(|id| id != 0) && text("type") != "custom" {
        attributes.insert("id".into(), item["object_id"].clone());
    }
    if text("target") == "_blank" {
        attributes.insert("opensInNewTab".into(), Value::from(true));
    }
    attributes.insert("isTopLevelLink".into(), Value::from(top));
    Value::Object(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_become_blocks() {
        let item = |id: i64, parent: i64, title: &str| json!({"id": id, "parent": parent, "title": {"rendered": title}, "type": "custom", "url": "/x", "target": ""});
        let items = [item(1, 0, "a--b"), item(2, 1, "c"), item(3, 0, "d"), item(4, 5, "e"), item(5, 4, "f")];
        let expected = "<!-- wp:sub {\"label\":\"a\\u002d\\u002db\",\"url\":\"/x\",\"kind\":\"custom\",\"isTopLevelLink\":true} -->\
            <!-- wp:link {\"label\":\"c\",\"url\":\"/x\",\"kind\":\"custom\",\"isTopLevelLink\":false} /-->\
            <!-- /wp:sub --><!-- wp:link {\"label\":\"d\",\"url\":\"/x\",\"kind\":\"custom\",\"isTopLevelLink\":true} /-->";
        assert_eq!(level(&items, 0, "core/link", "core/sub"), expected);
    }
}
