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
pub use subject::head_of;

use crate::registry::resource::Property;
use crate::render::Item;
use crate::scope::Scope;
use cms_storage::plan::DbValue;
use serde_json::{Value, json};

/// `seo`: the document.
pub fn document(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    head_of(item, None).map(|head| head.document())
}

/// `seo.head`: the names of Yoast's interface.
pub fn plugin_document(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    head_of(item, None).map(|head| plugin::document(item.scope, &head))
}

/// `seo.head.html`: the same as markup.
pub fn plugin_markup(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    head_of(item, None).map(|head| json!(plugin::markup(item.scope, &head)))
}

/// Both forms of the plugin's for a place.
pub fn plugin_forms(scope: &Scope, head: &SeoHead) -> (String, Value) {
    (plugin::markup(scope, head), plugin::document(scope, head))
}
