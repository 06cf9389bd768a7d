//! Prompts that editors write (`mcp.prompts`): listed, and filled in with what people give. They are read by requests to the
//! route of their resource, in the caller's name.

use super::Mcp;
use super::messages::{INTERNAL, INVALID_PARAMS, RpcError};
use super::tools::{refusal, send};
use cms_core::engine::Engine;
use cms_core::error::status;
use cms_core::model::Method;
use cms_core::registry::columns::prompt as col;
use cms_core::scope::Scope;
use serde_json::{Map, Value, json};

/// Longest value of an argument, in characters.
const LONGEST: usize = 20_000;

impl Mcp {
    /// Whether there are prompts.
    pub(super) fn has_prompts(&self) -> bool {
        self.prompts.is_some()
    }

    /// A page of the prompts that the caller may read. The cursor is the number of the page.
    pub(super) async fn list_prompts(
        &self,
        engine: &Engine,
        scope: &Scope,
        cursor: Option<&str>,
    ) -> Result<Value, RpcError> {
        let page = match cursor.map(str::parse::<u64>) {
            None => 1,
            Some(Ok(page)) if (1..=1_000_000).contains(&page) => page,
            Some(_) => return Err(RpcError::new(INVALID_PARAMS, "There is no such page.")),
        };
        let rows = self.prompts(engine, scope, json!({"page": page, "per_page": self.page})).await?;
        let shown: Vec<Value> = rows.iter().map(shown).collect();
        let mut result = json!({"prompts": shown});
        if rows.len() == self.page {
            result["nextCursor"] = json!((page + 1).to_string());
        }
        Ok(result)
    }

    /// The first page of them as a text.
    pub(super) async fn newest_prompts(&self, engine: &Engine, scope: &Scope) -> String {
        self.list_prompts(engine, scope, None).await.map(|listed| listed.to_string()).unwrap_or_default()
    }

    /// A prompt with its arguments filled in.
    pub(super) async fn get_prompt(
        &self,
        engine: &Engine,
        scope: &Scope,
        name: &str,
        arguments: Option<&Value>,
    ) -> Result<Value, RpcError> {
        let invalid = |message: String| RpcError::new(INVALID_PARAMS, message);
        let arguments = match arguments {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(invalid("The parameter `arguments` is no object.".into())),
        };
        let rows = self.prompts(engine, scope, json!({"name": [name], "per_page": 1})).await?;
        let shown: String = name.chars().take(100).collect();
        let row = rows.first().filter(|row| row[col::NAME] == name);
        let row = row.ok_or_else(|| invalid(format!("There is no prompt `{shown}`.")))?;
        let declared = declared(row);
        let mut values = Vec::new();
        for (given, value) in &arguments {
            if !declared.iter().any(|(known, _)| known == given) {
                return Err(invalid(format!("The prompt `{shown}` takes no argument `{given}`.")));
            }
            let text = value.as_str().filter(|text| text.chars().count() <= LONGEST);
            let text = text.ok_or_else(|| {
                invalid(format!("The argument `{given}` is no text of at most {LONGEST} characters."))
            })?;
            values.push((given.as_str(), text));
        }
        for (wanted, required) in &declared {
            let given = values.iter().any(|(name, value)| name == wanted && !value.is_empty());
            if *required && !given {
                return Err(invalid(format!("The argument `{wanted}` is missing.")));
            }
            if !values.iter().any(|(name, _)| name == wanted) {
                values.push((wanted.as_str(), ""));
            }
        }
        let text = filled(row[col::TEXT].as_str().unwrap_or_default(), &values);
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        Ok(json!({"description": row[col::DESCRIPTION], "messages": [message]}))
    }

    /// Prompts that are offered; none to callers who may not read them.
    async fn prompts(&self, engine: &Engine, scope: &Scope, query: Value) -> Result<Vec<Value>, RpcError> {
        let Some(path) = &self.prompts else { return Ok(Vec::new()) };
        let mut query = query.as_object().cloned().unwrap_or_default();
        query.insert(col::ENABLED.into(), json!(true));
        query.insert("orderby".into(), json!("name"));
        query.insert("order".into(), json!("asc"));
        let part = send(engine, scope, Method::Get, path, query).await;
        match part.status {
            status::TOO_MANY_REQUESTS => Err(RpcError::new(INTERNAL, refusal(&part.body))),
            failed if status::is_server_error(failed) => Err(RpcError::new(INTERNAL, refusal(&part.body))),
            failed if status::is_error(failed) => Ok(Vec::new()),
            _ => Ok(part.body.as_array().cloned().unwrap_or_default()),
        }
    }
}

/// The arguments of a prompt, and whether each has to be given.
fn declared(row: &Value) -> Vec<(String, bool)> {
    let all = row[col::ARGUMENTS].as_array().into_iter().flatten();
    let of = |argument: &Value| Some((argument["name"].as_str()?.to_owned(), argument["required"] == true));
    all.filter_map(of).collect()
}

fn shown(row: &Value) -> Value {
    let mut shown = json!({"name": row[col::NAME]});
    for member in [col::TITLE, col::DESCRIPTION] {
        if row[member].as_str().is_some_and(|text| !text.is_empty()) {
            shown[member] = row[member].clone();
        }
    }
    if row[col::ARGUMENTS].as_array().is_some_and(|all| !all.is_empty()) {
        shown[col::ARGUMENTS] = row[col::ARGUMENTS].clone();
    }
    shown
}

/// A text with values in place of the names in braces; other braces are text, and so are those of values.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        all.push_str(before);
        let named = after.split_once('}').and_then(|(name, after)| {
            let value = values.iter().find(|(known, _)| *known == name)?;
            Some((value.1, after))
        });
        match named {
            Some((value, after)) => {
                all.push_str(value);
                rest = after;
            }
            None => {
                all.push('{');
                rest = after;
            }
        }
    }
    all + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_filled_in_once() {
        let values = [("a", "{b}"), ("b", "2"), ("c", "")];
        assert_eq!(filled("{a} {b}{c} {d} { {", &values), "{b} 2 {d} { {");
        assert_eq!(filled("{{a}}", &values), "{{b}}");
    }
}
