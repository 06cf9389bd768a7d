//! A form as its row describes it: tags, texts and settings.

use crate::records::Record;
use cms_declaration::FormOptions;
use cms_text::form_tags::{FormTag, form_tags};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A form.
pub struct Form<'f> {
    pub id: i64,
    pub title: &'f str,
    pub tags: Vec<FormTag<'f>>,
    pub texts: FormTexts,
    pub mail: Map<String, Value>,
    /// Seconds of the site's clock, for rules that name days by words.
    pub now: i64,
    settings: HashMap<&'f str, &'f str>,
}

/// The sentences for people, by key: the form's own texts before the declared ones.
pub struct FormTexts(HashMap<String, String>);

impl FormTexts {
    /// The text with this key; empty where there is none.
    pub fn get(&self, key: &str) -> &str {
        self.0.get(key).map_or("", String::as_str)
    }
}

impl<'f> Form<'f> {
    /// Reads a row; `now`: see [`Form::now`].
    pub fn of(record: Record<'f>, declared: &FormOptions, now: i64) -> Form<'f> {
        let members = |column: &str| match serde_json::from_str(record.text(column)) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        };
        let own = members("messages").into_iter().filter_map(|(key, text)| Some((key, text.as_str()?.to_owned())));
        let usual = declared.texts.iter().map(|(key, text)| (key.clone(), text.clone()));
        let settings = record.text("additional_settings").lines().filter_map(|line| line.split_once(':'));
        Form {
            id: record.id(),
            title: record.text("title"),
            tags: form_tags(record.text("form")),
            texts: FormTexts(usual.chain(own.filter(|(_, text)| !text.is_empty())).collect()),
            mail: members("mail"),
            now,
            settings: settings.map(|(key, value)| (key.trim(), value.trim())).collect(),
        }
    }

    /// Whether a setting is on: `skip_mail: on`.
    pub fn is_on(&self, setting: &str) -> bool {
        matches!(self.settings.get(setting), Some(&("on" | "true" | "1")))
    }

    /// A setting that is a number.
    pub fn number(&self, setting: &str) -> Option<i64> {
        self.settings.get(setting)?.parse().ok()
    }

    /// The fields of a type.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &FormTag<'f>> {
        self.tags.iter().filter(move |tag| tag.kind == kind)
    }
}
