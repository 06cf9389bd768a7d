//! The HTML of a widget, and the form that changes its settings.
//!
//! The entry of its type says what is shown: a block that the server makes (`block`), or a setting with markup (`html`).

use crate::behaviours::{READS, dynamic, text_options};
use crate::handlers::Work;
use crate::records::Record;
use crate::render::{Batch, Item};
use cms_storage::plan::DbValue;
use cms_text::html::Html;
use cms_text::render::render_content;
use serde_json::{Map, Value};

/// A widget that is shown.
pub struct WidgetInstance<'a> {
    /// The entry of its type.
    pub entry: &'a Value,
    pub settings: &'a Value,
    /// Its number among those of its type.
    pub number: i64,
}

/// The class of widgets of a type.
pub fn class(entry: &Value) -> &str {
    entry["classname"].as_str().unwrap_or_default()
}

impl WidgetInstance<'_> {
    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The widget as HTML: within what its place declares to stand around it, with the widget's name.
    pub fn body(&self, work: &Work<'_>, place: Option<(&Value, &str)>) -> Html {
        // The markup around widgets is declared; a name is a declared type and a number.
        let around = |member: &str| {
            let declared = place.and_then(|(place, _)| place[member].as_str()).unwrap_or_default();
            let id = place.map_or("", |(_, id)| id);
            Html::rendered(declared.replace("%1$s", id).replace("%2$s", class(self.entry)))
        };
        let mut html = around("before_widget");
        let title = self.setting("title");
        if !title.is_empty() {
            html.html(&around("before_title")).text(title).html(&around("after_title"));
        }
        html.html(&Html::rendered(self.content(work))).html(&around("after_widget"));
        html
    }

    /// The widget as editors show it.
    pub fn preview(&self, work: &Work<'_>) -> Html {
        let mut html = Html::new();
        html.raw("<div").attr("class", &["widget", class(self.entry)].join(" ")).raw(">");
        html.html(&self.body(work, None)).raw("</div>");
        html
    }

    /// A page with the widget alone.
    pub fn page(&self, work: &Work<'_>) -> Html {
        let mut html = Html::new();
        html.raw("<!doctype html><html><head><meta charset=\"UTF-8\"></head><body>");
        html.html(&self.body(work, None)).raw("</body></html>");
        html
    }

    fn content(&self, work: &Work<'_>) -> String {
        let Some(resource) = work.scope.registry.resources.first() else { return String::new() };
        let row = vec![DbValue::Null; resource.columns.len()];
        let batch = Batch::default();
        work.unique.begin();
        let item = Item::viewed(work.scope, Record { resource, row: &row }, &batch, READS, &work.unique);
        if let Some(block) = self.entry["block"].as_str() {
            return dynamic::block(&item, block, self.attributes()).unwrap_or_default();
        }
        match self.entry["html"].as_str() {
            Some(setting) => render_content(self.setting(setting), &text_options(&item)),
            None => String::new(),
        }
    }

    /// The attributes of the block: settings by the names that the type declares.
    fn attributes(&self) -> Value {
        let named = self.entry["attributes"].as_object().into_iter().flatten();
        let given = named.filter_map(|(attribute, setting)| {
            let setting = setting.as_str()?;
            let value = self.settings.get(setting)?;
            let set = value.as_i64().filter(|_| self.entry["settings"][setting]["type"] == "switch");
            Some((attribute.clone(), set.map_or_else(|| value.clone(), |set| Value::Bool(set != 0))))
        });
        Value::Object(given.collect::<Map<String, Value>>())
    }

    /// The form: a field for each setting.
    pub fn form(&self) -> String {
        let kind = self.entry["id"].as_str().unwrap_or_default();
        let mut html = Html::new();
        for (setting, about) in self.entry["settings"].as_object().into_iter().flatten() {
            let id = format!("widget-{kind}-{}-{setting}", self.number);
            let field = format!("widget-{kind}[{}][{setting}]", self.number);
            let value = self.settings.get(setting).unwrap_or(&Value::Null);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = if value.is_null() { String::new() } else { text };
            html.raw("<p><label").attr("for", &id).raw(">").text(setting).raw("</label>");
            match about["type"].as_str().unwrap_or("text") {
                "any" => {}
                "html" => {
                    html.raw("<textarea class=\"widefat\" rows=\"6\"").attr("id", &id).attr("name", &field);
                    html.raw(">").text(&text).raw("</textarea>");
                }
                "switch" | "boolean" => {
                    html.raw("<input type=\"checkbox\" value=\"1\"").attr("id", &id).attr("name", &field);
                    html.raw(if matches!(text.as_str(), "1" | "true") { " checked>" } else { ">" });
                }
                _ => {
                    html.raw("<input class=\"widefat\" type=\"text\"").attr("id", &id).attr("name", &field);
                    html.attr_text("value", &text).raw(">");
                }
            }
            html.raw("</p>");
        }
        html.into()
    }
}
