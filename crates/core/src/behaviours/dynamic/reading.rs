//! How long a record takes to read.

use super::wrapper::{text_classes, wrapper};
use super::{DynamicPart, boxed};
use cms_text::html::Html;
use cms_text::phrase::fill;
use cms_text::words::count_words;
use std::sync::Arc;

/// Words that people read in a minute.
const SPEED: f64 = 189.0;

/// The minutes that a record takes to read, or its number of words.
pub fn time(part: &DynamicPart<'_>) -> Option<Html> {
    let text: Arc<str> = part.row(&["content"])?;
    part.within.budget.render(text.len())?;
    let words = count_words(&text);
    let speed = part.attributes["averageReadingSpeed"].as_f64().filter(|speed| *speed >= 1.0).unwrap_or(SPEED);
    let minutes = |factor: f64| ((words as f64 / speed * factor).round() as u64).max(1);
    let mut html = Html::new();
    let scope = part.item.scope;
    html.text(&match (part.text("displayMode") == "words", part.attributes["displayAsRange"] != false) {
        (true, _) => scope.plural("1 word", "{count} words", words as u64),
        (false, true) => {
            let (least, most) = (minutes(0.8), minutes(1.2));
            let (least, most) = (least.to_string(), most.max(least + 1).to_string());
            fill(scope.phrase("{least}–{most} minutes"), &[("least", &least), ("most", &most)])
        }
        (false, false) => scope.plural("1 minute", "{count} minutes", minutes(1.0)),
    });
    Some(boxed(&wrapper(part, &text_classes(part, "")), &html))
}
