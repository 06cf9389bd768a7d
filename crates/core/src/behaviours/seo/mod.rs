//! Behaviours that show what search engines and social networks are told of an item.
//!
//! `subject` gathers the facts about an item, `places` those about other places, `texts` fills templates, `head` is the outcome;
//! `graph` and `plugin` write it.

mod graph;
mod head;
mod places;
mod plugin;
mod subject;
mod texts;

pub use head::SeoHead;
pub use places::{SeoPlace, not_found};
pub use plugin::forms as plugin_forms;
pub use subject::head_of;
pub use texts::{cut, plain};

use crate::registry::resource::Property;
use crate::render::Item;
use cms_storage::plan::DbValue;
use serde_json::{Value, json};

/// `seo`: the document.
pub fn document(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    head_of(item, None).map(|head| head.document())
}

/// `seo.head`: the names of Yoast's interface.
pub fn plugin_document(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    forms(item).map(|(_, document)| document.clone())
}

/// `seo.head.html`: the same as markup.
pub fn plugin_markup(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    forms(item).map(|(markup, _)| json!(markup))
}

/// Both forms of the plugin's for an item, made once.
fn forms<'i>(item: &'i Item<'_>) -> Option<&'i (String, Value)> {
    item.head.get_or_init(|| head_of(item, None).map(|head| plugin_forms(item.scope, &head))).as_ref()
}
