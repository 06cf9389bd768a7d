//! The element around a block that the server makes: its style and its classes.

use super::DynamicPart;
use cms_text::block_css::inline;
use cms_text::block_styles::{BlockStyles, WrapperStyles};
use cms_text::blocks::class_name;
use cms_text::slug;

/// Attributes of an element, in order.
pub type Attributes = Vec<(&'static str, String)>;

/// The style and classes of a block that has these classes of its own.
pub fn wrapper(part: &DynamicPart<'_>, own: &str) -> Attributes {
    styled_wrapper(part, own, "")
}

/// The same of a block that has a style of its own.
pub fn styled_wrapper(part: &DynamicPart<'_>, own: &str, style: &str) -> Attributes {
    let styles = &part.item.scope.registry.block_styles;
    let given = inline(&part.attributes, styled(part, styles), styles.fluid);
    let style = [style, given.as_str()].into_iter().filter(|css| !css.is_empty()).collect::<Vec<_>>().join(";");
    vec![("style", style), ("class", classes(part, own))]
}

fn styled(part: &DynamicPart<'_>, styles: &BlockStyles) -> WrapperStyles {
    styles.of(part.name).map_or(WrapperStyles::ALL, |declared| declared.styled)
}

/// Classes of a block: its own, how it is aligned, what the author added, its name, its colours, sizes and borders.
pub fn classes(part: &DynamicPart<'_>, own: &str) -> String {
    let styled = styled(part, &part.item.scope.registry.block_styles);
    let mut all = vec![own.to_owned()];
    all.extend(named(part, "align", "align", ""));
    all.extend([part.text("className").to_owned(), class_name(part.name)]);
    let style = &part.attributes["style"];
    if styled.colors {
        all.extend(colours(part));
    }
    if styled.typography {
        all.extend(named(part, "has-", "fontSize", "-font-size"));
        all.extend(named(part, "has-", "fontFamily", "-font-family"));
        let aligned = style["typography"]["textAlign"].as_str().filter(|aligned| !aligned.is_empty());
        all.extend(aligned.map(|aligned| format!("has-text-align-{}", slug::sanitize_title(aligned))));
    }
    if styled.border {
        let coloured = !part.text("borderColor").is_empty() || style["border"]["color"].is_string();
        all.extend(coloured.then(|| "has-border-color".to_owned()));
        all.extend(named(part, "has-", "borderColor", "-border-color"));
    }
    all.retain(|class| !class.is_empty());
    all.join(" ")
}

/// The classes of a block's colours.
pub fn colours(part: &DynamicPart<'_>) -> Vec<String> {
    let own = &part.attributes["style"]["color"];
    let text = !part.text("textColor").is_empty() || own["text"].is_string();
    let filled = ["backgroundColor", "gradient"].iter().any(|key| !part.text(key).is_empty());
    let filled = filled || own["background"].is_string() || own["gradient"].is_string();
    let mut all: Vec<String> = text.then(|| "has-text-color".to_owned()).into_iter().collect();
    all.extend(named(part, "has-", "textColor", "-color"));
    all.extend(filled.then(|| "has-background".to_owned()));
    all.extend(named(part, "has-", "backgroundColor", "-background-color"));
    all.extend(named(part, "has-", "gradient", "-gradient-background"));
    all
}

/// A class that has the value of an attribute in it.
fn named(part: &DynamicPart<'_>, before: &str, key: &str, behind: &str) -> Option<String> {
    let given = Some(part.text(key)).filter(|given| !given.is_empty())?;
    Some(format!("{before}{}{behind}", slug::sanitize_title(given)))
}

/// Classes of a block that shows text: those of its own, how the text is aligned, whether its links have a colour.
pub fn text_classes(part: &DynamicPart<'_>, own: &str) -> String {
    let aligned = match part.text("textAlign") {
        "" => String::new(),
        aligned => format!("has-text-align-{}", slug::sanitize_title(aligned)),
    };
    let own = [own, &aligned].into_iter().filter(|class| !class.is_empty()).collect::<Vec<_>>().join(" ");
    link_classes(part, &own)
}

/// Classes of a block that shows links: those of its own, whether its links have a colour.
pub fn link_classes(part: &DynamicPart<'_>, own: &str) -> String {
    let linked = if colours_links(part) { "has-link-color" } else { "" };
    [own, linked].into_iter().filter(|class| !class.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether links in a block have a colour of their own.
pub fn colours_links(part: &DynamicPart<'_>) -> bool {
    part.attributes["style"]["elements"]["link"]["color"]["text"].is_string()
}
