//! The style of the element around a block that the server makes: colours, typography, borders, spacing.
//!
//! Owns the order of the declarations, and which values get into them: none that could end a declaration or fetch
//! something. It must not know which blocks have which of them.

use super::block_styles::WrapperStyles;
use serde_json::Value;

/// How sizes of text grow with the screen: between these widths, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidWidths {
    pub narrowest: f64,
    pub widest: f64,
}

/// Pixels of a `rem`.
const REM: f64 = 16.0;
/// Text of this size or less, in pixels, does not grow.
const SMALLEST: f64 = 14.0;

/// The style of a block by its attributes, in the order of the groups.
pub fn inline(attributes: &Value, styled: WrapperStyles, fluid: Option<FluidWidths>) -> String {
    let mut css = Css(String::new());
    let style = &attributes["style"];
    if styled.colors {
        css.add("color", &style["color"]["text"]);
        css.add("background-color", &style["color"]["background"]);
        css.add("background", &style["color"]["gradient"]);
    }
    if styled.typography {
        typography(&mut css, &style["typography"], fluid);
    }
    if styled.border {
        border(&mut css, &style["border"]);
    }
    if styled.spacing {
        sides(&mut css, "padding", &style["spacing"]["padding"]);
        sides(&mut css, "margin", &style["spacing"]["margin"]);
    }
    css.0
}

/// The border of a block, for an element inside it.
pub fn border_of(attributes: &Value) -> String {
    let mut css = Css(String::new());
    let preset = attributes["borderColor"].as_str().map(|name| Value::from(format!("var:preset|color|{name}")));
    let mut own = attributes["style"]["border"].clone();
    if let (Some(preset), Some(members)) = (preset, own.as_object_mut()) {
        members.insert("color".to_owned(), preset);
    }
    border(&mut css, &own);
    css.0
}

/// A size of text that grows with the screen.
pub fn fluid_size(size: &str, fluid: FluidWidths) -> Option<String> {
    let digits = size.find(|c: char| c != '.' && !c.is_ascii_digit())?;
    let (number, unit) = size.split_at(digits);
    let wanted: f64 = number.parse().ok()?;
    let scale = match unit {
        "px" => 1.0,
        "rem" | "em" => REM,
        _ => return None,
    };
    let (least, thousandth) = (SMALLEST / scale, |n: f64| (n * 1000.0).round() / 1000.0);
    if wanted <= least {
        return None;
    }
    let factor = (1.0 - 0.075 * (wanted * scale).log2()).clamp(0.25, 0.75);
    let smallest = thousandth(wanted * factor).max(least);
    let range = (fluid.widest - fluid.narrowest) / scale;
    let growth = match thousandth(100.0 * (wanted - smallest) / range) {
        0.0 => 1.0,
        growth => growth,
    };
    let offset = thousandth(fluid.narrowest / scale / 100.0);
    let base = if unit == "px" { thousandth(smallest / REM) } else { smallest };
    Some(format!("clamp({smallest}{unit}, {base}rem + ((1vw - {offset}{unit}) * {growth}), {wanted}{unit})"))
}

fn typography(css: &mut Css, own: &Value, fluid: Option<FluidWidths>) {
    let size = match &own["fontSize"] {
        Value::Number(pixels) => Some(format!("{pixels}px")),
        other => other.as_str().map(str::to_owned),
    };
    if let Some(size) = size {
        let grown = fluid.and_then(|fluid| fluid_size(size.trim(), fluid));
        css.add("font-size", &Value::from(grown.unwrap_or(size)));
    }
    for (key, name) in [
        ("fontFamily", "font-family"),
        ("fontStyle", "font-style"),
        ("fontWeight", "font-weight"),
        ("lineHeight", "line-height"),
        ("textColumns", "column-count"),
        ("textDecoration", "text-decoration"),
        ("textTransform", "text-transform"),
        ("letterSpacing", "letter-spacing"),
        ("writingMode", "writing-mode"),
    ] {
        css.add(name, &own[key]);
    }
}

fn border(css: &mut Css, own: &Value) {
    const CORNERS: [(&str, &str); 4] = [
        ("topLeft", "border-top-left-radius"),
        ("topRight", "border-top-right-radius"),
        ("bottomLeft", "border-bottom-left-radius"),
        ("bottomRight", "border-bottom-right-radius"),
    ];
    const SIDES: [(&str, [(&str, &str); 3]); 4] = [
        ("top", [("width", "border-top-width"), ("color", "border-top-color"), ("style", "border-top-style")]),
        ("right", [("width", "border-right-width"), ("color", "border-right-color"), ("style", "border-right-style")]),
        (
            "bottom",
            [("width", "border-bottom-width"), ("color", "border-bottom-color"), ("style", "border-bottom-style")],
        ),
        ("left", [("width", "border-left-width"), ("color", "border-left-color"), ("style", "border-left-style")]),
    ];
    css.add("border-color", &own["color"]);
    match &own["radius"] {
        Value::Object(_) => CORNERS.iter().for_each(|(key, name)| css.add_length(name, &own["radius"][*key])),
        radius => css.add_length("border-radius", radius),
    }
    css.add("border-style", &own["style"]);
    css.add_length("border-width", &own["width"]);
    for (side, declarations) in SIDES {
        declarations.iter().for_each(|(key, name)| css.add_length(name, &own[side][*key]));
    }
}

fn sides(css: &mut Css, name: &str, own: &Value) {
    match own {
        Value::Object(sides) => {
            for (side, value) in sides.iter().filter(|(side, _)| ["top", "right", "bottom", "left"].contains(&&***side))
            {
                css.add(&format!("{name}-{side}"), value);
            }
        }
        one => css.add(name, one),
    }
}

/// Declarations of a style.
struct Css(String);

impl Css {
    fn add(&mut self, name: &str, value: &Value) {
        let value = match value {
            Value::Number(number) => number.to_string(),
            other => other.as_str().unwrap_or("").trim().to_owned(),
        };
        let value = preset(&value);
        if !value.is_empty() && is_plain(&value) {
            self.0.push_str(if self.0.is_empty() { "" } else { ";" });
            self.0.push_str(name);
            self.0.push(':');
            self.0.push_str(&value);
        }
    }

    /// A number without a unit is one of pixels.
    fn add_length(&mut self, name: &str, value: &Value) {
        match value {
            Value::Number(pixels) => self.add(name, &Value::from(format!("{pixels}px"))),
            other => self.add(name, other),
        }
    }
}

/// `var:preset|color|base` as style sheets write it.
fn preset(value: &str) -> String {
    match value.strip_prefix("var:") {
        Some(path) => format!("var(--wp--{})", path.replace('|', "--")),
        None => value.to_owned(),
    }
}

/// Whether a value is one value of a declaration, which nothing has to be fetched for.
fn is_plain(value: &str) -> bool {
    let plain = |c: char| {
        c.is_alphanumeric() || matches!(c, ' ' | '.' | '%' | '-' | '_' | '#' | '(' | ')' | ',' | '+' | '*' | '/')
    };
    value.len() <= 300
        && value.chars().all(plain)
        && !value.contains("/*")
        && !["url(", "image(", "image-set(", "expression("].iter().any(|call| value.to_ascii_lowercase().contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ALL: WrapperStyles = WrapperStyles { colors: true, typography: true, border: true, spacing: true };

    #[test]
    fn styles_come_in_one_order() {
        let check = |style: Value, expected: &str| {
            assert_eq!(inline(&json!({ "style": style }), ALL, None), expected, "{style}");
        };
        check(json!({}), "");
        check(
            json!({
                "spacing": {"margin": {"bottom": "2em"}, "padding": {"top": "1px", "left": "var:preset|spacing|40"}},
                "typography": {"lineHeight": 1.2, "fontSize": "2rem"},
                "border": {"width": "1px", "radius": 3},
                "color": {"text": "#111", "gradient": "linear-gradient(90deg,rgb(1,2,3) 0%,#fff 100%)"},
            }),
            "color:#111;background:linear-gradient(90deg,rgb(1,2,3) 0%,#fff 100%);font-size:2rem;line-height:1.2;\
             border-radius:3px;border-width:1px;padding-top:1px;padding-left:var(--wp--preset--spacing--40);margin-bottom:2em",
        );
        check(
            json!({"border": {"top": {"color": "red", "width": "1px"}}}),
            "border-top-width:1px;border-top-color:red",
        );
    }

    #[test]
    fn no_value_ends_a_declaration_or_fetches_something() {
        for hostile in ["red;top:0", "url(http://x.example/a)", "URL(a)", "red\"", "a{b}", "a:b", "\\75rl(x)", "a/*b"] {
            let attributes = json!({"style": {"color": {"text": hostile}, "typography": {"fontSize": hostile}}});
            assert_eq!(inline(&attributes, ALL, None), "", "{hostile}");
        }
    }

    #[test]
    fn sizes_grow_with_the_screen() {
        let fluid = FluidWidths { narrowest: 320.0, widest: 1340.0 };
        let check = |size: &str, expected: Option<&str>| {
            assert_eq!(fluid_size(size, fluid).as_deref(), expected, "{size}");
        };
        check("1.5rem", Some("clamp(0.984rem, 0.984rem + ((1vw - 0.2rem) * 0.809), 1.5rem)"));
        check("40px", Some("clamp(24.034px, 1.502rem + ((1vw - 3.2px) * 1.565), 40px)"));
        check("2em", Some("clamp(1.25em, 1.25rem + ((1vw - 0.2em) * 1.176), 2em)"));
        check("14px", None);
        check("0.5em", None);
        check("50%", None);
        check("x", None);
    }
}
