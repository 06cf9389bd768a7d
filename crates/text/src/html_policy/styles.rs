//! The allowed part of a `style` attribute.

use super::super::sanitize::decode_references;
use super::{Policy, unwanted};

/// The declarations that are allowed, or `None` when none is.
pub(super) fn clean_style(value: &str, policy: &Policy) -> Option<String> {
    let decoded = decode_references(value).replace(unwanted, "").replace("&quot;", "\"").replace("&apos;", "'");
    let kept: Vec<&str> = decoded.split(';').map(str::trim).filter(|d| allowed_declaration(d, policy)).collect();
    (!kept.is_empty()).then(|| kept.join(";"))
}

fn allowed_declaration(declaration: &str, policy: &Policy) -> bool {
    let Some((property, value)) = declaration.split_once(':') else { return false };
    let property = property.trim_end();
    let custom = property.strip_prefix("--").is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    });
    let pictures = matches!(property, "background" | "background-image" | "list-style" | "list-style-image" | "cursor");
    (custom || policy.style_properties.contains(property)) && allowed_style_value(value, pictures)
}

/// Functions that compute lengths or colours are allowed, pictures only where they belong, everything else that could
/// nest, escape or comment is not.
fn allowed_style_value(value: &str, pictures: bool) -> bool {
    const FUNCTIONS: [&str; 37] = [
        "calc",
        "circle",
        "clamp",
        "ellipse",
        "inset",
        "matrix",
        "matrix3d",
        "max",
        "min",
        "minmax",
        "path",
        "perspective",
        "polygon",
        "rect",
        "repeat",
        "rotate",
        "rotate3d",
        "rotatex",
        "rotatey",
        "rotatez",
        "scale",
        "scale3d",
        "scalex",
        "scaley",
        "scalez",
        "shape",
        "skew",
        "skewx",
        "skewy",
        "translate",
        "translate3d",
        "translatex",
        "translatey",
        "translatez",
        "var",
        "xywh",
        "ray",
    ];
    if value.contains(['\\', '&', '=', '}', '{', '<', '>', '@']) || value.contains("/*") {
        return false;
    }
    let mut rest = value;
    while let Some(open) = rest.find('(') {
        let before = &rest[..open];
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '-').map_or(0, |n| n + 1);
        let function = before[start..].to_ascii_lowercase();
        rest = &rest[open + 1..];
        match function.as_str() {
            "url" if pictures => {
                let Some((address, tail)) = rest.split_once(')') else { return false };
                let address = address.trim().trim_matches(['"', '\'']);
                let web = !address.contains(':') || address.starts_with("http://") || address.starts_with("https://");
                if !web || address.contains('(') {
                    return false;
                }
                rest = tail;
            }
            name if pictures && name.ends_with("-gradient") => {}
            // Within a gradient colours are computed too.
            "rgb" | "rgba" | "hsl" | "hsla" if pictures => {}
            name if FUNCTIONS.contains(&name) => {}
            // A bracket of its own, within a computation.
            "" => {}
            _ => return false,
        }
    }
    !value.contains(':') || pictures
}
