//! Values of fields that name records, terms or accounts by number: they follow where these get another number here.

use super::importer::Importer;
use super::items::ExportItem;
use cms_core::registry::fields::{FieldTarget, referring};
use cms_text::php;
use serde_json::{Value, json};

impl Importer<'_> {
    /// Changes the numbers in the values of an item.
    pub(super) fn follow(&self, item: &mut ExportItem) {
        if self.fields.is_empty() {
            return;
        }
        match item {
            ExportItem::Author(author) => {
                author.account.iter_mut().for_each(|account| self.follow_values(&mut account.meta));
            }
            ExportItem::Term(term) => self.follow_values(&mut term.meta),
            ExportItem::Record(record) => {
                self.follow_values(&mut record.meta);
                record.comments.iter_mut().for_each(|comment| self.follow_values(&mut comment.meta));
            }
        }
    }

    pub(super) fn follow_values(&self, values: &mut [(String, String)]) {
        for (at, target) in referring(&self.fields, values) {
            renumber(&mut values[at].1, &|id| match target {
                FieldTarget::Record | FieldTarget::File => self.records.renumbered(id),
                FieldTarget::Term => match self.numbered.get(&id) {
                    Some(here) => Some(*here).filter(|here| *here != id),
                    None => self.terms.renumbered(id),
                },
                FieldTarget::User => self.users.renumbered(id),
            });
        }
    }
}

/// Changes a number, or those of a list, to what `here` says of them; the others stay.
fn renumber(text: &mut String, here: &dyn Fn(i64) -> Option<i64>) {
    if let Ok(id) = text.trim().parse() {
        if let Some(id) = here(id) {
            *text = id.to_string();
        }
    } else if let Some(mut list @ (Value::Array(_) | Value::Object(_))) = php::unserialize(text)
        && renumber_inside(&mut list, here)
    {
        *text = php::serialize(&list);
    }
}

/// Whether it changed one.
fn renumber_inside(value: &mut Value, here: &dyn Fn(i64) -> Option<i64>) -> bool {
    let changed = match value {
        Value::Array(items) => return items.iter_mut().fold(false, |any, item| renumber_inside(item, here) | any),
        Value::Object(items) => return items.values_mut().fold(false, |any, item| renumber_inside(item, here) | any),
        Value::Number(number) => number.as_i64().and_then(here).map(|id| json!(id)),
        Value::String(text) => text.parse().ok().and_then(here).map(|id| json!(id.to_string())),
        _ => None,
    };
    match changed {
        Some(changed) => {
            *value = changed;
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_wherever_they_are() {
        let here = |id| (id == 14).then_some(7);
        for (before, after) in [
            ("14", "7"),
            ("15", "15"),
            ("", ""),
            ("14 boats", "14 boats"),
            ("a:2:{i:0;i:14;i:1;s:2:\"14\";}", "a:2:{i:0;i:7;i:1;s:1:\"7\";}"),
            ("a:1:{s:2:\"14\";i:15;}", "a:1:{s:2:\"14\";i:15;}"),
        ] {
            let mut text = before.to_owned();
            renumber(&mut text, &here);
            assert_eq!(text, after, "{before}");
        }
    }
}
