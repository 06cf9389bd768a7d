//! Reads exports of field groups, types, taxonomies and pages of options, as Advanced Custom Fields writes them: a list of all of
//! them, or an object with a list of each.

use super::{Proposal, ProposedGroup, ProposedTaxonomy, ProposedType};
use cms_text::slug;
use serde_json::{Map, Value, json};

/// The kinds of fields that hold no value.
const WITHOUT_VALUE: [&str; 4] = ["message", "tab", "accordion", "separator"];

/// Fields inside one another.
const DEEPEST: usize = 16;

/// The content of an export; `None`: the document is something else.
pub fn read(document: &Value) -> Option<Proposal> {
    let mut proposal = Proposal::default();
    let mut any = false;
    for item in items(document) {
        let Some(item) = item.as_object() else { continue };
        any |= proposal.take(item);
    }
    (any || is_empty_export(document)).then_some(proposal)
}

fn items(document: &Value) -> Vec<&Value> {
    match document {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => {
            let lists = ["post_types", "taxonomies", "field_groups", "options_pages", "ui_options_pages"];
            lists.iter().filter_map(|list| map.get(*list)?.as_array()).flatten().collect()
        }
        _ => Vec::new(),
    }
}

fn is_empty_export(document: &Value) -> bool {
    document.get("field_groups").is_some_and(Value::is_array)
}

impl Proposal {
    /// Takes an item of the export; false: it is nothing of the kind.
    fn take(&mut self, item: &Map<String, Value>) -> bool {
        let title = text(item, "title");
        if item.get("fields").is_some_and(Value::is_array) {
            let group = group(item, &mut self.left_out);
            self.groups.push(group);
        } else if !text(item, "post_type").is_empty() {
            match flag(item, "active", true) {
                true => self.types.push(content_type(item)),
                false => self.left_out.push(format!("type {title}: it is not active")),
            }
        } else if !text(item, "taxonomy").is_empty() {
            match flag(item, "active", true) {
                true => self.taxonomies.push(taxonomy(item)),
                false => self.left_out.push(format!("taxonomy {title}: it is not active")),
            }
        } else if item.contains_key("menu_slug") {
            self.left_out
                .push(format!("options page {title}: its values belong to no record, and no route shows them"));
        } else {
            return false;
        }
        true
    }
}

fn text(item: &Map<String, Value>, key: &str) -> String {
    match item.get(key) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// PHP writes yes as `true`, `1` or `"1"`.
fn flag(item: &Map<String, Value>, key: &str, usual: bool) -> bool {
    item.get(key).map_or(usual, |value| !cms_text::php::is_empty(value))
}

fn list(item: &Map<String, Value>, key: &str) -> Vec<String> {
    let words = |text: &str| -> Vec<String> {
        text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    };
    match item.get(key) {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).flat_map(words).collect(),
        Some(Value::String(text)) => words(text),
        _ => Vec::new(),
    }
}

fn label(item: &Map<String, Value>, key: &str) -> String {
    let label = item.get("labels").and_then(|labels| labels.get(key)).and_then(Value::as_str).unwrap_or_default();
    if label.is_empty() { text(item, "title") } else { label.to_owned() }
}

fn base(item: &Map<String, Value>, kind: &str) -> String {
    let base = text(item, "rest_base");
    if base.is_empty() { kind.to_owned() } else { base }
}

fn content_type(item: &Map<String, Value>) -> ProposedType {
    let kind = text(item, "post_type");
    let supports = match item.get("supports") {
        Some(Value::Array(_)) => list(item, "supports"),
        _ => vec!["title".to_owned(), "editor".to_owned()],
    };
    ProposedType {
        by_plugin: true,
        base: base(item, &kind),
        name: label(item, "name"),
        singular: label(item, "singular_name"),
        description: text(item, "description"),
        icon: icon(item),
        hierarchical: flag(item, "hierarchical", false),
        shown: flag(item, "show_in_rest", true),
        searched: flag(item, "public", true) && !flag(item, "exclude_from_search", false),
        archive: flag(item, "has_archive", false),
        supports,
        taxonomies: list(item, "taxonomies"),
        multilingual: false,
        kind,
    }
}

/// The icon of a type, which is that of posts where it has none.
fn icon(item: &Map<String, Value>) -> String {
    let own = item.get("menu_icon").and_then(|icon| icon.as_str().or_else(|| icon["value"].as_str()));
    own.filter(|icon| !icon.is_empty()).unwrap_or("dashicons-admin-post").to_owned()
}

fn taxonomy(item: &Map<String, Value>) -> ProposedTaxonomy {
    let kind = text(item, "taxonomy");
    ProposedTaxonomy {
        base: base(item, &kind),
        name: label(item, "name"),
        singular: label(item, "singular_name"),
        description: text(item, "description"),
        hierarchical: flag(item, "hierarchical", false),
        shown: flag(item, "show_in_rest", true),
        of: list(item, "object_type"),
        multilingual: false,
        kind,
    }
}

fn group(item: &Map<String, Value>, left_out: &mut Vec<String>) -> ProposedGroup {
    let title = text(item, "title");
    let mut declared = Map::new();
    let mut put = |key: &str, value: Value| drop(declared.insert(key.to_owned(), value));
    put("title", json!(title));
    put("key", Some(text(item, "key")).filter(|key| !key.is_empty()).map_or(Value::Null, Value::from));
    put(
        "order",
        item.get("menu_order").and_then(Value::as_i64).filter(|order| *order != 0).map_or(Value::Null, Value::from),
    );
    put("active", if flag(item, "active", true) { Value::Null } else { json!(false) });
    put("in_rest", if flag(item, "show_in_rest", false) { Value::Null } else { json!(false) });
    put("location", json!(location(item, &title, left_out)));
    let mut fields = Vec::new();
    add_fields(item.get("fields"), "", &title, &mut fields, left_out);
    let name = slug::sanitize_title(&title).replace('-', "_");
    ProposedGroup { name, declared, fields }
}

/// The lists of rules that can hold here; one with a rule about something else never does.
fn location(item: &Map<String, Value>, title: &str, left_out: &mut Vec<String>) -> Vec<Value> {
    let mut lists = Vec::new();
    for rules in item.get("location").and_then(Value::as_array).into_iter().flatten() {
        let rules: Vec<&Map<String, Value>> =
            rules.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
        let rule = |rule: &Map<String, Value>| {
            let (param, operator) = (text(rule, "param"), text(rule, "operator"));
            let known = PARAMS.contains(&param.as_str()) && matches!(operator.as_str(), "==" | "!=");
            known.then(|| json!({"param": param, "operator": operator, "value": text(rule, "value")}))
        };
        match rules.iter().map(|one| rule(one)).collect::<Option<Vec<Value>>>() {
            Some(known) => lists.push(Value::Array(known)),
            None => {
                let params: Vec<String> = rules.iter().map(|rule| text(rule, "param")).collect();
                left_out.push(format!(
                    "group {title}: a location with {}, which no item of the interface meets",
                    params.join(" and ")
                ));
            }
        }
    }
    lists
}

/// Facts that rules may compare here.
const PARAMS: [&str; 18] = [
    "post_type",
    "post_status",
    "post_template",
    "post_format",
    "post_category",
    "post_taxonomy",
    "post",
    "page_type",
    "page_parent",
    "page_template",
    "page",
    "attachment",
    "taxonomy",
    "user_form",
    "user_role",
    "comment",
    "current_user_role",
    "current_user",
];

fn add_fields(
    given: Option<&Value>,
    outer: &str,
    title: &str,
    fields: &mut Vec<(String, Map<String, Value>)>,
    left_out: &mut Vec<String>,
) {
    for item in given.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
        let (name, kind) = (text(item, "name"), text(item, "type"));
        let path = if outer.is_empty() { name.clone() } else { format!("{outer}.{name}") };
        if WITHOUT_VALUE.contains(&kind.as_str()) {
            let shown = if name.is_empty() { text(item, "label") } else { path };
            left_out.push(format!("field {title}: {shown}: {kind} holds no value"));
        } else if name.is_empty() || name.contains('.') {
            left_out.push(format!("field {title}: {path}: it has no name that can be declared"));
        } else if !KINDS.contains(&kind.as_str()) || outer.matches('.').count() >= DEEPEST {
            left_out.push(format!(
                "field {title}: {path}: the type {kind} is not known here; its values are stored and not shown"
            ));
        } else {
            fields.push((path.clone(), field(item, &kind)));
            match kind.as_str() {
                "group" | "repeater" => add_fields(item.get("sub_fields"), &path, title, fields, left_out),
                "flexible_content" => add_layouts(item, &path, title, fields, left_out),
                _ => {}
            }
        }
    }
}

/// The layouts of flexible content. In exports of sites their fields are those of the field, which name their layout.
fn add_layouts(
    item: &Map<String, Value>,
    path: &str,
    title: &str,
    fields: &mut Vec<(String, Map<String, Value>)>,
    left_out: &mut Vec<String>,
) {
    let layouts: Vec<&Value> = match item.get("layouts") {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(Value::Object(map)) => map.values().collect(),
        _ => Vec::new(),
    };
    let listed = || item.get("sub_fields").and_then(Value::as_array).into_iter().flatten();
    for field in listed().filter(|field| !layouts.iter().any(|layout| layout["key"] == field["parent_layout"])) {
        let name = field["name"].as_str().unwrap_or_default();
        left_out.push(format!("field {title}: {path}.{name}: its layout is not there"));
    }
    for layout in layouts.into_iter().filter_map(Value::as_object) {
        let (name, key) = (text(layout, "name"), text(layout, "key"));
        let inner = format!("{path}.{name}");
        if name.is_empty() || name.contains('.') {
            left_out.push(format!("field {title}: {inner}: it has no name that can be declared"));
            continue;
        }
        let mut declared = Map::from_iter([("type".to_owned(), json!("layout"))]);
        let label = Some(text(layout, "label")).filter(|label| !label.is_empty());
        declared.extend(label.map(|label| ("label".to_owned(), json!(label))));
        fields.push((inner.clone(), declared));
        let own = layout.get("sub_fields").and_then(Value::as_array).filter(|own| !own.is_empty());
        let of_field = || listed().filter(|field| field["parent_layout"] == *key).cloned().collect();
        add_fields(Some(&Value::Array(own.cloned().unwrap_or_else(of_field))), &inner, title, fields, left_out);
    }
}

/// Types of fields that can be declared.
const KINDS: [&str; 32] = [
    "text",
    "textarea",
    "number",
    "range",
    "email",
    "url",
    "password",
    "wysiwyg",
    "oembed",
    "color_picker",
    "date_picker",
    "date_time_picker",
    "time_picker",
    "true_false",
    "select",
    "checkbox",
    "radio",
    "button_group",
    "link",
    "icon_picker",
    "image",
    "file",
    "post_object",
    "relationship",
    "page_link",
    "taxonomy",
    "user",
    "google_map",
    "gallery",
    "group",
    "repeater",
    "flexible_content",
];

/// The declaration of a field, without what is as usual.
fn field(item: &Map<String, Value>, kind: &str) -> Map<String, Value> {
    let mut declared = Map::new();
    let mut put = |key: &str, value: Option<Value>| drop(value.map(|value| declared.insert(key.to_owned(), value)));
    let word = |key: &str| Some(text(item, key)).filter(|text| !text.is_empty()).map(Value::from);
    let yes = |key: &str| flag(item, key, false).then(|| json!(true));
    let words = |key: &str| Some(list(item, key)).filter(|list| !list.is_empty()).map(|list| json!(list));
    let number = |key: &str| {
        text(item, key).parse::<f64>().ok().map(|number| {
            if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
        })
    };
    let none = |value: &Value| value.is_null() || *value == "" || *value == json!([]) || *value == false;
    let default = item.get("default_value").filter(|value| !none(value));
    put("type", Some(json!(kind)));
    put("key", word("key"));
    put("label", word("label"));
    put("required", yes("required"));
    put("default", default.cloned());
    put("choices", choices(item));
    put("multiple", yes("multiple"));
    put("nullable", yes("allow_null"));
    put("custom", yes("allow_custom").or_else(|| yes("other_choice")));
    put("max_length", text(item, "maxlength").parse::<u64>().ok().map(Value::from));
    if matches!(kind, "number" | "range" | "relationship" | "gallery" | "repeater" | "flexible_content") {
        put("min", number("min"));
        put("max", number("max"));
    }
    put("form", word("return_format"));
    put(
        "lines",
        match text(item, "new_lines").as_str() {
            "br" => Some(json!("breaks")),
            "wpautop" => Some(json!("paragraphs")),
            _ => None,
        },
    );
    put("mime_types", words("mime_types"));
    put("kinds", words("post_type"));
    if kind == "user" {
        put("roles", words("role"));
    }
    if kind == "taxonomy" {
        put("taxonomy", word("taxonomy").or_else(|| Some(json!("category"))));
        put("control", word("field_type").or_else(|| Some(json!("checkbox"))));
        put("assigns", yes("save_terms"));
        put("assigned", yes("load_terms"));
    }
    if kind == "icon_picker" {
        put("sources", words("tabs").or_else(|| Some(json!(["dashicons", "media_library", "url"]))));
    }
    declared
}

/// Labels by value; of a list the values are the labels.
fn choices(item: &Map<String, Value>) -> Option<Value> {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let map: Map<String, Value> = match item.get("choices")? {
        Value::Object(map) => map.iter().map(|(value, label)| (value.clone(), json!(shown(label)))).collect(),
        Value::Array(list) => list.iter().map(|label| (shown(label), json!(shown(label)))).collect(),
        _ => Map::new(),
    };
    (!map.is_empty()).then_some(Value::Object(map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_have_their_fields_from_their_own_list_or_from_those_that_name_them() {
        let text = |name: &str, layout: &str| json!({"name": name, "type": "text", "parent_layout": layout});
        let own = json!({"key": "l1", "name": "quote", "label": "Quote", "sub_fields": [text("words", "")]});
        let named = json!({"l2": {"key": "l2", "name": "line"}, "l3": {"key": "l3", "name": ""}});
        let export = json!([{"title": "G", "fields": [
            {"name": "a", "type": "flexible_content", "layouts": [own]},
            {"name": "b", "type": "flexible_content", "layouts": named, "sub_fields": [text("x", "l2"), text("y", "l9")]},
        ]}]);
        let proposal = read(&export).expect("a proposal");
        let fields: Vec<(&str, &str)> = proposal.groups[0]
            .fields
            .iter()
            .map(|(path, field)| (path.as_str(), field["type"].as_str().unwrap_or_default()))
            .collect();
        let flexible = "flexible_content";
        let of_a = [("a", flexible), ("a.quote", "layout"), ("a.quote.words", "text")];
        let of_b = [("b", flexible), ("b.line", "layout"), ("b.line.x", "text")];
        assert_eq!(fields, [of_a, of_b].concat());
        assert_eq!(
            proposal.left_out.join("; "),
            "field G: b.y: its layout is not there; field G: b.: it has no name that can be declared"
        );
    }
}
