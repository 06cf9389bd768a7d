//! Values of declared fields in the form in which they are stored: those inside a group under keys of their own, each with the key of
//! its field beside it (`_size` for `size`). REST shows a group as one object, without these keys.

use super::importer::Importer;
use super::items::ExportItem;
use cms_core::registry::fields::{FieldNode, LAYOUT};
use cms_core::registry::resource::Resource;
use cms_declaration::FieldKind;
use cms_text::php;
use serde_json::{Map, Value};

impl Importer<'_> {
    /// Brings the values of an item into that form.
    pub(super) fn spread(&self, item: &mut ExportItem) {
        if self.registry.field_groups.is_empty() {
            return;
        }
        match item {
            ExportItem::Author(author) => {
                let users = self.registry.users();
                author.account.iter_mut().for_each(|account| self.spread_values(users, &mut account.meta));
            }
            ExportItem::Term(term) => self.spread_values(self.taxonomy(&term.taxonomy), &mut term.meta),
            ExportItem::Record(record) => {
                let resource = self.registry.resource_of_kind(&self.kind(&record.kind));
                self.spread_values(resource, &mut record.meta);
                let comments = self.registry.comment_resources().next();
                record.comments.iter_mut().for_each(|comment| self.spread_values(comments, &mut comment.meta));
            }
        }
    }

    /// The same for the meta values of an item of a resource.
    pub(super) fn spread_values(&self, resource: Option<&Resource>, values: &mut Vec<(String, String)>) {
        let groups = resource.and_then(|resource| resource.fields.as_ref()).map(|fields| fields.groups.as_slice());
        for group in groups.into_iter().flatten() {
            self.registry.field_groups[*group].fields.iter().for_each(|field| spread(field, values));
        }
    }
}

fn spread(field: &FieldNode, values: &mut Vec<(String, String)>) {
    let Some(at) = values.iter().position(|(key, _)| *key == field.meta) else { return };
    match field.declared.kind {
        FieldKind::Group => {
            if let Some(Value::Object(members)) = php::unserialize(&values[at].1) {
                values[at].1.clear();
                spread_members(&field.meta, &members, values);
            }
            field.fields.iter().for_each(|inner| spread(inner, values));
        }
        kind if kind.holds_rows() => spread_rows(field, at, values),
        _ => {}
    }
    let beside = format!("_{}", field.meta);
    if let Some(key) = field.declared.key.clone().filter(|_| !values.iter().any(|(own, _)| *own == beside)) {
        values.push((beside, key));
    }
}

/// Members that nothing declares, too: the report counts them.
fn spread_members(outer: &str, members: &Map<String, Value>, values: &mut Vec<(String, String)>) {
    for (name, value) in members {
        let key = format!("{outer}_{name}");
        let text = stored(value).filter(|_| !values.iter().any(|(own, _)| *own == key));
        values.extend(text.map(|text| (key, text)));
    }
}

/// A list of objects becomes values under the numbers of the rows.
fn spread_rows(field: &FieldNode, at: usize, values: &mut Vec<(String, String)>) {
    let Some(Value::Array(rows)) = php::unserialize(&values[at].1) else { return };
    let rows: Vec<Map<String, Value>> = rows.into_iter().filter_map(|row| row.as_object().cloned()).collect();
    if rows.is_empty() {
        return;
    }
    let layout = |row: &Map<String, Value>| row.get(LAYOUT).cloned().unwrap_or_default();
    values[at].1 = match field.declared.kind {
        FieldKind::Repeater => rows.len().to_string(),
        _ => php::serialize(&rows.iter().map(layout).collect()),
    };
    for (row, mut members) in rows.into_iter().enumerate() {
        let named = members.shift_remove(LAYOUT).unwrap_or_default();
        spread_members(&format!("{}_{row}", field.meta), &members, values);
        let fields = field.row_fields(named.as_str().unwrap_or_default()).unwrap_or_default();
        field.in_row(fields, &row.to_string()).iter().for_each(|inner| spread(inner, values));
    }
}

/// A value as tables have it; `None`: there is none.
pub(super) fn stored(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| php::stored(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(name: &str, meta: &str, declared: Value, fields: Vec<FieldNode>) -> FieldNode {
        let declared: cms_declaration::Field = serde_json::from_value(declared).expect("a field");
        FieldNode { name: name.into(), meta: meta.into(), declared: declared.into(), fields }
    }

    #[test]
    fn groups_become_values_of_their_fields() {
        let width = node("w", "size_w", json!({"type": "number", "key": "field_w"}), Vec::new());
        let deep = node("deep", "size_deep", json!({"type": "group", "key": "field_d"}), Vec::new());
        let size = node("size", "size", json!({"type": "group", "key": "field_s"}), vec![width, deep]);
        let object = php::serialize(&json!({"w": 3, "deep": {"a": false}, "none": null, "other": [1]}));
        let rest = [
            "size_deep=",
            "size_other=a:1:{i:0;i:1;}",
            "_size_w=field_w",
            "size_deep_a=",
            "_size_deep=field_d",
            "_size=field_s",
        ];
        for (before, after) in [
            (vec![("a", "b")], vec!["a=b"]),
            (
                vec![("size", ""), ("_size", "field_s"), ("size_w", "3"), ("_size_w", "field_w")],
                vec!["size=", "_size=field_s", "size_w=3", "_size_w=field_w"],
            ),
            (vec![("size", object.as_str())], [&["size=", "size_w=3"], &rest[..]].concat()),
            (vec![("size", object.as_str()), ("size_w", "4")], [&["size=", "size_w=4"], &rest[..]].concat()),
        ] {
            let mut values = before.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            spread(&size, &mut values);
            let shown: Vec<String> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
            assert_eq!(shown, after);
        }
    }

    #[test]
    fn lists_of_objects_become_values_of_rows() {
        let town = node("town", "team_towns_town", json!({"type": "text", "key": "field_t"}), Vec::new());
        let towns = node("towns", "team_towns", json!({"type": "repeater", "key": "field_ts"}), vec![town]);
        let team = node("team", "team", json!({"type": "repeater", "key": "field_m"}), vec![towns]);
        let words = node("words", "parts_words", json!({"type": "text", "key": "field_w"}), Vec::new());
        let quote = node("quote", "parts", json!({"type": "layout"}), vec![words]);
        let parts = node("parts", "parts", json!({"type": "flexible_content"}), vec![quote]);
        let rows = php::serialize(&json!([{"towns": [{"town": "Bergen"}]}, {"towns": null, "other": "x"}]));
        let layouts = php::serialize(&json!([{"acf_fc_layout": "quote", "words": "High"}]));
        for (field, before, after) in [
            (
                &team,
                rows.as_str(),
                vec![
                    "team=2",
                    "team_0_towns=1",
                    "team_0_towns_0_town=Bergen",
                    "_team_0_towns_0_town=field_t",
                    "_team_0_towns=field_ts",
                    "team_1_other=x",
                    "_team=field_m",
                ],
            ),
            (&team, "2", vec!["team=2", "_team=field_m"]),
            (&team, "", vec!["team=", "_team=field_m"]),
            (
                &parts,
                layouts.as_str(),
                vec!["parts=a:1:{i:0;s:5:\"quote\";}", "parts_0_words=High", "_parts_0_words=field_w"],
            ),
            (&parts, "a:1:{i:0;s:5:\"quote\";}", vec!["parts=a:1:{i:0;s:5:\"quote\";}"]),
        ] {
            let mut values = vec![(field.meta.clone(), before.to_owned())];
            spread(field, &mut values);
            let shown: Vec<String> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
            assert_eq!(shown, after);
        }
    }
}
