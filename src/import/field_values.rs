//! Values of declared fields in the form in which they are stored: those inside a group under keys of their own, each with the key of
//! its field beside it (`_size` for `size`). REST shows a group as one object, without these keys.

use super::importer::Importer;
use super::items::ExportItem;
use crate::registry::fields::FieldNode;
use crate::registry::resource::Resource;
use cms_declaration::FieldKind;
use cms_text::php;
use serde_json::Value;

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
    if field.declared.kind == FieldKind::Group {
        if let Some(Value::Object(members)) = php::unserialize(&values[at].1) {
            values[at].1.clear();
            // Members that nothing declares, too: the report counts them.
            for (name, value) in &members {
                let key = format!("{}_{name}", field.meta);
                let text = stored(value).filter(|_| !values.iter().any(|(own, _)| *own == key));
                values.extend(text.map(|text| (key, text)));
            }
        }
        field.fields.iter().for_each(|inner| spread(inner, values));
    }
    let beside = format!("_{}", field.meta);
    if let Some(key) = field.declared.key.clone().filter(|_| !values.iter().any(|(own, _)| *own == beside)) {
        values.push((beside, key));
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
        let declared = serde_json::from_value(declared).expect("a field");
        FieldNode { name: name.into(), meta: meta.into(), declared, fields }
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
}
