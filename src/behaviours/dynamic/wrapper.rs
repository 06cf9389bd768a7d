//! What the element around a block that the server makes gets: classes.

use super::Part;
use crate::text::slug;

/// Classes of a block: its own, how it is aligned, what the author added, its name, its colours and sizes.
pub fn classes(part: &Part<'_>, own: &str, block: &str) -> String {
    let named = |before: &str, key: &str, behind: &str| match part.text(key) {
        "" => String::new(),
        given => format!("{before}{}{behind}", slug::sanitize_title(given)),
    };
    let colours = &part.attributes["style"]["color"];
    let has = |class: &str, given: bool| if given { class.to_owned() } else { String::new() };
    let text = !part.text("textColor").is_empty() || colours["text"].is_string();
    let filled = !part.text("backgroundColor").is_empty() || !part.text("gradient").is_empty();
    let filled = filled || colours["background"].is_string() || colours["gradient"].is_string();
    let all = [
        own.to_owned(),
        named("align", "align", ""),
        part.text("className").to_owned(),
        block.to_owned(),
        has("has-text-color", text),
        named("has-", "textColor", "-color"),
        has("has-background", filled),
        named("has-", "backgroundColor", "-background-color"),
        named("has-", "gradient", "-gradient-background"),
        named("has-", "fontFamily", "-font-family"),
        named("has-", "fontSize", "-font-size"),
    ];
    all.into_iter().filter(|class| !class.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The class of how a block's text is aligned.
pub fn text_align(part: &Part<'_>) -> String {
    let given = part.attributes["style"]["typography"]["textAlign"].as_str().unwrap_or(part.text("textAlign"));
    if given.is_empty() { String::new() } else { format!("has-text-align-{}", slug::sanitize_title(given)) }
}
