//! Records as resources: `cms://posts/12`, for resources whose items are read by an ability.

use super::Mcp;
use super::messages::{INTERNAL, INVALID_PARAMS, RpcError};
use super::tools::{refusal, send};
use cms_core::engine::Engine;
use cms_core::error::status;
use cms_core::model::Method;
use cms_core::registry::Registry;
use cms_core::registry::abilities::AbilityPath;
use cms_core::registry::operations;
use cms_core::scope::Scope;
use cms_text::sanitize::unescape;
use cms_text::strip::strip_all_tags;
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";

/// A resource whose items can be read.
#[derive(Debug)]
pub(super) struct McpResource {
    /// As addresses name it.
    word: String,
    title: String,
    description: String,
    /// Path of an item, and the member that is its key.
    item: AbilityPath,
    key: String,
    /// Path of the collection, if it can be read, and whether it has pages.
    list: Option<(String, bool)>,
}

/// The resources with an ability that reads one item.
pub(super) fn readable(registry: &Registry) -> Vec<McpResource> {
    let marked = registry.resources.iter().filter(|resource| resource.has_operations());
    let found = marked.filter_map(|resource| {
        let word = operations::word(&resource.name);
        let ability = |verb: &str| registry.abilities.get(&format!("{word}/{verb}"));
        let get = ability("get")?;
        let item = &get.requests.first().filter(|request| request.method == Method::Get)?.path;
        let [key] = item.members().collect::<Vec<_>>()[..] else { return None };
        let list = ability("list").and_then(|list| {
            let path = &list.requests.first().filter(|request| request.method == Method::Get)?.path;
            let [input, _] = operations::schemas(list, &registry.resources, &registry.routes);
            let properties = input.get("properties")?;
            let paged = properties.get("per_page").is_some() && properties.get("page").is_some();
            Some((path.filled(|_| None)?, paged))
        });
        let category = operations::category_of(resource);
        let (key, item) = (key.to_owned(), item.clone());
        let description = get.declared.description.clone();
        Some(McpResource { word, title: category.label, description, item, key, list })
    });
    found.collect()
}

impl Mcp {
    /// Addresses of records of each resource.
    pub(super) fn record_templates(&self) -> Value {
        let templates = self.offer().records.iter().map(|of| {
            json!({
                "uriTemplate": format!("{}://{}/{{{}}}", self.scheme, of.word, of.key),
                "name": of.word,
                "title": of.title,
                "description": of.description,
                "mimeType": JSON,
            })
        });
        json!({"resourceTemplates": templates.collect::<Vec<_>>()})
    }

    /// A page of records that the caller may read: of one resource after the other. The cursor names resource and page.
    pub(super) async fn list_records(
        &self,
        engine: &Engine,
        scope: &Scope,
        cursor: Option<&str>,
    ) -> Result<Value, RpcError> {
        let (mut at, mut page) = match cursor {
            None => (0, 1),
            Some(cursor) => {
                self.place(cursor).ok_or_else(|| RpcError::new(INVALID_PARAMS, "There is no such page."))?
            }
        };
        while let Some(of) = self.offer().records.get(at) {
            if let Some((records, more)) = self.page(engine, scope, of, page).await? {
                let next = match more {
                    true => Some(format!("{}:{}", of.word, page + 1)),
                    false => self.offer().records.get(at + 1).map(|next| format!("{}:1", next.word)),
                };
                let mut result = json!({"resources": records});
                if let Some(next) = next {
                    result["nextCursor"] = json!(next);
                }
                return Ok(result);
            }
            (at, page) = (at + 1, 1);
        }
        Ok(json!({"resources": []}))
    }

    /// The first page of every resource, as far as the caller may read it, as one text.
    pub(super) async fn newest_records(&self, engine: &Engine, scope: &Scope) -> String {
        let mut all = String::new();
        for of in &self.offer().records {
            if let Ok(Some((records, _))) = self.page(engine, scope, of, 1).await {
                all.extend(records.iter().filter_map(|record| record["uri"].as_str()).flat_map(|uri| [uri, "\n"]));
            }
        }
        all
    }

    fn place(&self, cursor: &str) -> Option<(usize, u64)> {
        let (word, page) = cursor.split_once(':')?;
        let at = self.offer().records.iter().position(|of| of.word == word)?;
        let page = page.parse().ok().filter(|page| (1..=1_000_000).contains(page))?;
        Some((at, page))
    }

    /// The records of one page, and whether there are more; `None` where there are none, or none for this caller.
    async fn page(
        &self,
        engine: &Engine,
        scope: &Scope,
        of: &McpResource,
        page: u64,
    ) -> Result<Option<(Vec<Value>, bool)>, RpcError> {
        let Some((path, paged)) = &of.list else { return Ok(None) };
        let mut query = Map::new();
        query.insert("_fields".into(), json!([of.key, "title", "name", "slug", "modified_gmt"]));
        if *paged {
            query.insert("page".into(), json!(page));
            query.insert("per_page".into(), json!(self.page));
        }
        let part = send(engine, scope, Method::Get, path, query).await;
        if part.status == status::TOO_MANY_REQUESTS || status::is_server_error(part.status) {
            return Err(RpcError::new(INTERNAL, refusal(&part.body)));
        }
        // A refusal is no failure of the list: it has what the caller may read.
        let Some(list) = part.body.as_array().filter(|list| !status::is_error(part.status) && !list.is_empty()) else {
            return Ok(None);
        };
        let records: Vec<Value> = list.iter().filter_map(|document| self.shown(of, document)).collect();
        Ok(Some((records, *paged && list.len() == self.page)))
    }

    fn shown(&self, of: &McpResource, document: &Value) -> Option<Value> {
        let key = text_of(document.get(&of.key)?)?;
        let title = ["title", "name"].iter().find_map(|name| match document.get(*name)? {
            Value::String(text) => Some(text.as_str()),
            other => other.get("rendered")?.as_str(),
        });
        let title = title.map(|title| unescape(&strip_all_tags(title))).filter(|title| !title.is_empty());
        let slug = document.get("slug").and_then(Value::as_str).filter(|slug| !slug.is_empty());
        let mut shown = json!({
            "uri": format!("{}://{}/{key}", self.scheme, of.word),
            "name": slug.unwrap_or(&key),
            "mimeType": JSON,
        });
        if let Some(title) = title {
            shown["title"] = json!(title);
        }
        if let Some(modified) = document.get("modified_gmt").and_then(Value::as_str) {
            shown["annotations"] = json!({"lastModified": format!("{modified}Z")});
        }
        Some(shown)
    }

    /// The document of a record.
    pub(super) async fn read_record(&self, engine: &Engine, scope: &Scope, uri: &str) -> Result<Value, RpcError> {
        let absent = || {
            let uri: String = uri.chars().take(200).collect();
            RpcError { data: Some(json!({"uri": uri})), ..RpcError::absent(format!("There is no resource `{uri}`.")) }
        };
        let below = uri.strip_prefix(&self.scheme).and_then(|rest| rest.strip_prefix("://"));
        let (word, key) = below.and_then(|below| below.split_once('/')).ok_or_else(absent)?;
        let of = self.offer().records.iter().find(|of| of.word == word).ok_or_else(absent)?;
        let path = of.item.filled(|_| Some(key.to_owned())).ok_or_else(absent)?;
        let part = send(engine, scope, Method::Get, &path, Map::new()).await;
        match part.status {
            found if status::is_success(found) => {
                let mut document = part.body;
                if let Some(map) = document.as_object_mut() {
                    map.shift_remove("_links");
                }
                Ok(json!({"contents": [{"uri": uri, "mimeType": JSON, "text": document.to_string()}]}))
            }
            status::NOT_FOUND => Err(absent()),
            other => Err(RpcError {
                data: Some(json!({"code": part.body["code"], "status": other})),
                ..RpcError::new(
                    if status::is_server_error(other) { INTERNAL } else { INVALID_PARAMS },
                    refusal(&part.body),
                )
            }),
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
