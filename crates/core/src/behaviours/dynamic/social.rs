//! Drawings: of icons, and of links to accounts elsewhere.

use super::wrapper::{colours, styled_wrapper, wrapper};
use super::{DynamicPart, boxed};
use cms_text::block_css::{border_of, inline};
use cms_text::block_styles::WrapperStyles;
use cms_text::html::Html;
use cms_text::sanitize::clean_url;
use cms_text::slug;
use cms_text::tags::set_attribute;
use serde_json::Value;

/// An entry of the declared resource by its name.
fn entry<'a>(part: &DynamicPart<'a>, wanted: &str) -> Option<&'a Value> {
    part.item.scope.registry.entries(part.of?).iter().find(|entry| entry["name"] == wanted)
}

/// A link to an account elsewhere, with the drawing of its service.
pub fn link(part: &DynamicPart<'_>) -> Option<Html> {
    const OTHERWISE: &str = "share";
    let around = |key: &str| part.within.around(key);
    let given = part.text("url");
    let url = match given {
        "" => return None,
        mail if is_address(mail) => format!("mailto:{mail}"),
        url if has_scheme(url) || url.starts_with("//") || url.starts_with('#') => url.to_owned(),
        url => format!("https://{url}"),
    };
    let service = part.text("service");
    let known = entry(part, service).or_else(|| entry(part, OTHERWISE))?;
    let colour = |key: &str, class: &str| {
        let name = around(key).and_then(Value::as_str).filter(|name| !name.is_empty())?;
        Some(format!(" has-{}-{class}", slug::sanitize_title(name)))
    };
    let classes = [colour("iconColor", "color"), colour("iconBackgroundColor", "background-color")];
    let classes: String = classes.into_iter().flatten().collect();
    let own = format!("wp-social-link wp-social-link-{}{classes}", slug::sanitize_title(service));
    let colours = serde_json::json!({"style": {"color": {
        "text": around("iconColorValue"), "background": around("iconBackgroundColorValue"),
    }}});
    let style = inline(&colours, WrapperStyles::ALL, None);
    let style = if style.is_empty() { style } else { format!("{style};") };
    let mut html = Html::new();
    html.raw("<li").attrs(&styled_wrapper(part, &own, style.trim_end_matches(';'))).raw("><a");
    let new_tab = around("openInNewTab").is_some_and(|opens| *opens == true);
    let rel = format!("{}{}", part.text("rel"), if new_tab { " noopener nofollow" } else { "" });
    html.attr_if("rel", rel.trim()).attr_if("target", if new_tab { "_blank" } else { "" });
    html.address("href", &clean_url(&url)).raw(" class=\"wp-block-social-link-anchor\">");
    html.raw(
        "<svg width=\"24\" height=\"24\" viewBox=\"0 0 24 24\" version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\"",
    );
    html.raw(" aria-hidden=\"true\" focusable=\"false\"><path").attr("d", known["drawing"].as_str().unwrap_or(""));
    html.raw("></path></svg><span class=\"wp-block-social-link-label");
    let labelled = around("showLabels").is_some_and(|shows| *shows == true);
    html.raw(if labelled { "\">" } else { " screen-reader-text\">" });
    let label = Some(part.text("label").trim()).filter(|label| !label.is_empty());
    html.text(label.or(known["label"].as_str()).unwrap_or("")).raw("</span></a></li>");
    Some(html)
}

/// Whether a text is an e-mail address.
fn is_address(text: &str) -> bool {
    let domain = |domain: &str| domain.contains('.') && !domain.contains(['/', ':', '@', '?', '#']);
    text.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !user.contains(['/', ':', '?']) && domain(host))
}

fn has_scheme(url: &str) -> bool {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
}

/// A drawing of the collections of icons.
pub fn icon(part: &DynamicPart<'_>) -> Option<Html> {
    let drawing = entry(part, part.text("icon"))?["content"].as_str()?;
    let only = WrapperStyles { typography: false, border: false, ..WrapperStyles::ALL };
    let margins = part.attributes.clone();
    let mut style: Vec<String> = Vec::new();
    let inside = serde_json::json!({
        "textColor": margins["textColor"],
        "style": {
            "color": colour_values(&margins),
            "spacing": {"padding": margins["style"]["spacing"]["padding"]},
        },
    });
    style.push(inline(&inside, WrapperStyles { spacing: false, ..only }, None));
    style.push(border_of(&margins));
    style.push(inline(&inside, WrapperStyles { colors: false, ..only }, None));
    let width = margins["style"]["dimensions"]["width"].as_str().filter(|width| is_length(width));
    style.push(width.map_or_else(String::new, |width| format!("width:{width}")));
    let mut style = style.into_iter().filter(|css| !css.is_empty()).collect::<Vec<_>>().join(";");
    if !style.is_empty() {
        style.push(';');
    }
    if let Some(turned) = margins["rotation"].as_i64().filter(|turned| *turned != 0) {
        let before = if style.is_empty() { "" } else { " " };
        style.push_str(&format!("{before}rotate: {}deg;", turned % 360));
    }
    let mut classes = colours(part);
    classes.extend(part.flag("flipHorizontal").then(|| "is-flip-horizontal".to_owned()));
    classes.extend(part.flag("flipVertical").then(|| "is-flip-vertical".to_owned()));
    let label = part.text("ariaLabel").to_owned();
    let labelled: [(&'static str, String); 2] = match label.is_empty() {
        true => [("focusable", "false".to_owned()), ("aria-hidden", "true".to_owned())],
        false => [("role", "img".to_owned()), ("aria-label", label)],
    };
    let mut all = vec![("class", classes.join(" "))];
    all.extend(labelled);
    all.push(("style", style));
    let mut html = drawing.to_owned();
    for (name, value) in all.into_iter().filter(|(_, value)| !value.is_empty()) {
        html = set_attribute(&html, &["svg"], name, |_| value);
    }
    Some(boxed(&wrapper(part, ""), &Html::rendered(html)))
}

fn colour_values(attributes: &Value) -> Value {
    let preset = |key: &str| attributes[key].as_str().map(|name| Value::from(format!("var:preset|color|{name}")));
    let own = &attributes["style"]["color"];
    let text = preset("textColor").unwrap_or_else(|| own["text"].clone());
    let background = preset("backgroundColor").unwrap_or_else(|| own["background"].clone());
    serde_json::json!({"text": text, "background": background})
}

fn is_length(width: &str) -> bool {
    width.len() <= 20 && width.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '%'))
}
