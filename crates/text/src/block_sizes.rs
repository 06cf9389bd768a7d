//! A block's size and the picture behind it, as its author set them, in the classes and the style of its first element.
//!
//! Owns which values get into a style: only those that no style sheet reads as more than one value. It must not know
//! which blocks can have them.

use super::sanitize::clean_url;
use super::tags::{add_classes, set_attribute};
use serde_json::Value;

/// The proportions of a block, or that it has none because its height is given.
pub(super) enum Proportions {
    Given(String),
    None,
}

impl Proportions {
    pub(super) fn of(attributes: &Value) -> Option<Proportions> {
        let own = &attributes["style"]["dimensions"];
        let given = match &own["aspectRatio"] {
            Value::String(ratio) => ratio.trim().to_owned(),
            Value::Number(ratio) => ratio.to_string(),
            _ => String::new(),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '/');
        match given.as_str() {
            "" | "auto" if own["minHeight"].is_null() && attributes["minHeight"].is_null() => None,
            "" | "auto" => Some(Proportions::None),
            ratio => ratio.chars().all(plain).then_some(Proportions::Given(given)),
        }
    }

    pub(super) fn dress(&self, html: &str) -> String {
        let (own, classes): (String, &[&str]) = match self {
            Proportions::Given(ratio) => {
                (format!("aspect-ratio:{ratio};height:unset;min-height:unset;"), &["has-aspect-ratio"])
            }
            Proportions::None => ("aspect-ratio:unset;".to_owned(), &[]),
        };
        add_classes(&with_style(html, &own), classes, &[])
    }
}

/// The markup with more in the style of its first element.
pub(super) fn with_style(html: &str, own: &str) -> String {
    set_attribute(html, &[], "style", |style| match style {
        "" => own.to_owned(),
        style if style.ends_with(';') => [style, own].concat(),
        style => format!("{style};{own}"),
    })
}

/// The style of a block with a picture behind it: the picture, then how it is placed.
pub(super) fn background(own: &Value) -> Option<String> {
    const PLACED: [(&str, &str); 4] = [
        ("backgroundPosition", "background-position"),
        ("backgroundRepeat", "background-repeat"),
        ("backgroundSize", "background-size"),
        ("backgroundAttachment", "background-attachment"),
    ];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '%' | '-');
    let url = clean_url(own["backgroundImage"]["url"].as_str()?);
    if url.is_empty() || url.contains(['\'', '"', '(', ')', '\\', ';', '<', '>']) {
        return None;
    }
    let mut style = format!("background-image:url('{url}');");
    let value = |key: &str| own[key].as_str().filter(|value| !value.is_empty() && value.chars().all(plain));
    let size = value("backgroundSize").unwrap_or("cover");
    for (key, name) in PLACED {
        let usual = match key {
            "backgroundSize" => Some(size),
            "backgroundPosition" if size == "contain" => Some("50% 50%"),
            _ => None,
        };
        if let Some(value) = value(key).or(usual) {
            style.push_str(&format!("{name}:{value};"));
        }
    }
    Some(style)
}

/// The width of a block whose markup says it by classes and a variable.
pub(super) enum Width {
    /// In hundredths of what is around it: a number.
    Percent(String),
    /// A length.
    Length(String),
}

impl Width {
    /// The widths that have a class of their own, and the presets.
    const STEPS: [&'static str; 4] = ["25", "50", "75", "100"];

    pub(super) fn of(value: &Value) -> Option<Width> {
        const UNITS: [&str; 6] = ["px", "rem", "em", "vw", "vh", "ch"];
        let number = |text: &str| {
            let digits = text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            digits && text.parse::<f64>().is_ok_and(|number| number > 0.0)
        };
        let text = value.as_str()?.trim();
        if let Some(preset) = text.strip_prefix("var:preset|dimension|") {
            return Self::STEPS.contains(&preset).then(|| Width::Percent(preset.to_owned()));
        }
        if let Some(percent) = text.strip_suffix('%') {
            return number(percent).then(|| Width::Percent(percent.to_owned()));
        }
        let length = UNITS.iter().find_map(|unit| text.strip_suffix(unit))?;
        number(length).then(|| Width::Length(text.to_owned()))
    }

    pub(super) fn dress(&self, html: &str, block: &str) -> String {
        let html = match self {
            Width::Percent(percent) => {
                let (class, step) = (format!("{block}__width"), format!("{block}__width-{percent}"));
                let known = Self::STEPS.contains(&percent.as_str()).then_some(step.as_str());
                let classes = ["has-custom-width", &class];
                add_classes(html, &classes.into_iter().chain(known).collect::<Vec<_>>(), &[])
            }
            Width::Length(_) => add_classes(html, &["has-custom-width"], &[]),
        };
        let own = match self {
            Width::Percent(percent) => format!("--wp--{}--width: {percent};", block.trim_start_matches("wp-")),
            Width::Length(length) => format!("width: {length};"),
        };
        set_attribute(&html, &[], "style", |style| match style.trim() {
            "" => own,
            style => format!("{own} {style}"),
        })
    }
}
