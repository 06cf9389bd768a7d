//! How a block lays out what is inside it: the classes that say so, on the block and on the element around its inside.
//!
//! Owns the attributes `layout` and `style` as far as layouts depend on them, and the fingerprints of layouts. Style
//! sheets that are written for WordPress name both, so their spelling is the contract. It must not know markup.

use super::blocks::class_name;
use super::hex::hex;
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Rules of the site's style sheets for all layouts.
#[derive(Clone, Debug, Default)]
pub struct LayoutRules {
    /// The distance between blocks that say nothing of it; `null`: blocks have no say in it.
    pub gap: Value,
    /// Whether content of limited width stays off the edges of the screen.
    pub root_padding: bool,
}

/// The declared layout of one kind of block.
#[derive(Clone, Debug, Default)]
pub struct BlockLayout {
    /// The layout of a block that says nothing of it.
    pub default: Value,
    /// The distance inside, where it is another than that of all layouts.
    pub gap: Option<Value>,
}

/// The classes of a block.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LayoutClasses {
    /// On the block itself: its place in the layout around it.
    pub place: Option<String>,
    /// On the element around its inside: its own layout.
    pub own: Vec<String>,
}

/// The layouts that there are, each with its class; what else a content names is no layout.
const LAYOUTS: [(&str, &str); 4] = [
    ("default", "is-layout-flow"),
    ("constrained", "is-layout-constrained"),
    ("flex", "is-layout-flex"),
    ("grid", "is-layout-grid"),
];
const ORIENTATIONS: [(&str, &str); 2] = [("horizontal", "is-horizontal"), ("vertical", "is-vertical")];
const JUSTIFICATIONS: [(&str, &str); 5] = [
    ("left", "is-content-justification-left"),
    ("center", "is-content-justification-center"),
    ("right", "is-content-justification-right"),
    ("space-between", "is-content-justification-space-between"),
    ("stretch", "is-content-justification-stretch"),
];

/// The widths of screens that may have a layout of their own, in the order of their fingerprints.
const VIEWPORTS: [&str; 2] = ["@mobile", "@tablet"];

/// Keys of a layout about the place of a block inside its parent, not about its own inside.
const PLACES: [&str; 6] = ["selfStretch", "flexSize", "columnStart", "columnSpan", "rowStart", "rowSpan"];

/// The classes of a block by its full name and attributes. `around` is the layout of the block that it is in.
pub(super) fn classes(
    name: &str,
    laid_out: Option<&BlockLayout>,
    attributes: &Value,
    around: Option<&Value>,
    rules: &LayoutRules,
) -> LayoutClasses {
    let style = &attributes["style"];
    let place = place(style, around);
    let own = laid_out.map_or_else(Vec::new, |laid_out| own(name, laid_out, attributes, rules));
    LayoutClasses { place, own }
}

/// The classes of a block's own layout.
fn own(name: &str, laid_out: &BlockLayout, attributes: &Value, rules: &LayoutRules) -> Vec<String> {
    let (given, style) = (&attributes["layout"], &attributes["style"]);
    let mut layout = members(if given.is_null() { &laid_out.default } else { given });
    if is_set(layout.get("inherit")) || is_set(layout.get("contentSize")) {
        layout.insert("type".to_owned(), json!("constrained"));
    }
    let kind = layout.get("type").map_or("default", |kind| kind.as_str().unwrap_or_default());
    let class = class_of(&LAYOUTS, kind);
    let own = |key: &str| given[key].as_str().unwrap_or_default();
    let mut classes: Vec<String> = Vec::new();
    let mut add = |class: Option<&str>| classes.extend(class.map(str::to_owned));
    add((rules.root_padding && kind == "constrained").then_some("has-global-padding"));
    add(class_of(&ORIENTATIONS, own("orientation")));
    add(class_of(&JUSTIFICATIONS, own("justifyContent")));
    add((own("flexWrap") == "nowrap").then_some("is-nowrap"));
    add(class);
    let block = class_name(name);
    let container = Container {
        layout: &layout,
        kind,
        gap: sanitised_gap(&style["spacing"]["blockGap"]),
        fallback: laid_out.gap.as_ref().unwrap_or(&rules.gap),
        spaced: !rules.gap.is_null(),
        style,
    };
    if class.is_some() && container.has_rules() {
        classes.push(format!("wp-container-{}-is-layout-{}", name.replace('/', "-"), container.fingerprint()));
    }
    classes.extend(class.map(|class| format!("{block}-{class}")));
    classes
}

/// A block's own layout, for its class in style sheets.
struct Container<'a> {
    layout: &'a Map<String, Value>,
    kind: &'a str,
    /// Distance inside that the block gives.
    gap: Value,
    /// The one that it gets otherwise.
    fallback: &'a Value,
    /// Whether blocks have a say in distances.
    spaced: bool,
    style: &'a Value,
}

impl Container<'_> {
    /// Whether a style sheet has rules for this very layout; without any it needs no class of its own.
    fn has_rules(&self) -> bool {
        self.has_own_rules() || VIEWPORTS.iter().any(|viewport| self.changes_on(viewport))
    }

    fn has_own_rules(&self) -> bool {
        let text = |key: &str| self.layout.get(key).and_then(Value::as_str).unwrap_or_default();
        match self.kind {
            "default" => self.parts(),
            "constrained" => {
                is_set(self.layout.get("contentSize"))
                    || is_set(self.layout.get("wideSize"))
                    || self.pads()
                    || ["left", "right"].contains(&text("justifyContent"))
                    || self.parts()
            }
            "flex" => {
                let horizontal = matches!(text("orientation"), "" | "horizontal");
                text("flexWrap") == "nowrap"
                    || (self.spaced && !self.gap.is_null())
                    || !horizontal
                    || ["left", "right", "center", "space-between"].contains(&text("justifyContent"))
                    || ["top", "center", "bottom", "stretch"].contains(&text("verticalAlignment"))
            }
            "grid" => true,
            _ => false,
        }
    }

    /// Whether blocks below one another have a distance of their own.
    fn parts(&self) -> bool {
        let between = if self.gap.is_object() { &self.gap["top"] } else { &self.gap };
        self.spaced && !between.is_null()
    }

    /// Whether there is a distance to the left or right edge, which full width makes up for.
    fn pads(&self) -> bool {
        let padding = &self.style["spacing"]["padding"];
        ["left", "right"].iter().any(|side| is_set(padding.get(side)) || padding[side] == "0")
    }

    fn viewport(&self, viewport: &str) -> (Map<String, Value>, Value) {
        let own = &self.style[viewport];
        let mut layout = members(&own["layout"]);
        layout.retain(|key, _| !PLACES.contains(&key.as_str()));
        (layout, own["spacing"]["blockGap"].clone())
    }

    /// Whether the layout is another one on screens of a width.
    fn changes_on(&self, viewport: &str) -> bool {
        let (layout, gap) = self.viewport(viewport);
        let gap = self.spaced && !gap.is_null();
        let given = |keys: &[&str]| keys.iter().any(|key| layout.contains_key(*key));
        match self.kind {
            "default" => gap,
            "constrained" => gap || given(&["contentSize", "wideSize", "justifyContent"]),
            "flex" => gap || given(&["flexWrap", "orientation", "justifyContent", "verticalAlignment"]),
            "grid" => gap || given(&["minimumColumnWidth", "columnCount", "autoFit", "rowCount"]),
            _ => false,
        }
    }

    fn fingerprint(&self) -> String {
        let spacing = &self.style["spacing"];
        let mut values = vec![Value::Object(self.layout.clone()), json!(self.spaced), self.gap.clone(), json!(false)];
        values.extend([self.fallback.clone(), spacing.clone()]);
        for viewport in VIEWPORTS {
            let (layout, gap) = self.viewport(viewport);
            if !layout.is_empty() {
                values.push(json!({"breakpoint": viewport, "layout": layout}));
            }
            if !gap.is_null() {
                values.push(json!({"breakpoint": viewport, "blockGap": sanitised_gap(&gap)}));
            }
        }
        fingerprint(&Value::Array(values))
    }
}

/// The class of a block's place in the layout around it, where style sheets have rules for it.
fn place(style: &Value, around: Option<&Value>) -> Option<String> {
    let only_places = |layout: &Value| {
        let mut layout = members(layout);
        layout.retain(|key, _| PLACES.contains(&key.as_str()));
        layout
    };
    let own = only_places(&style["layout"]);
    let viewports: Vec<(&str, Map<String, Value>)> = VIEWPORTS
        .iter()
        .map(|viewport| (*viewport, only_places(&style[viewport]["layout"])))
        .filter(|(_, layout)| !layout.is_empty())
        .collect();
    let placed = moves(&own, None) || viewports.iter().any(|(_, changed)| moves(&own, Some(changed)));
    if !placed {
        return None;
    }
    let mut around = around.map(members).unwrap_or_default();
    around.retain(|key, _| ["minimumColumnWidth", "columnCount"].contains(&key.as_str()));
    let mut values = Map::new();
    values.insert("layout".to_owned(), Value::Object(own));
    values.insert("parentLayout".to_owned(), Value::Object(around));
    values.extend(viewports.into_iter().map(|(viewport, layout)| (viewport.to_owned(), Value::Object(layout))));
    Some(format!("wp-container-content-{}", fingerprint(&Value::Object(values))))
}

/// Whether a place is another than the one that a block has anyway; of `changed`, whether that makes it another.
fn moves(own: &Map<String, Value>, changed: Option<&Map<String, Value>>) -> bool {
    let value = |key: &str| changed.and_then(|changed| changed.get(key)).or_else(|| own.get(key));
    let touched = |keys: [&str; 2]| changed.is_none_or(|changed| keys.iter().any(|key| changed.contains_key(*key)));
    let sized = |stretch: Option<&Value>| {
        stretch.and_then(Value::as_str).is_some_and(|word| matches!(word, "fixed" | "fixedNoShrink"))
    };
    let size = value("flexSize").is_some_and(|size| !size.is_null());
    let stretch = value("selfStretch");
    let is = |word: &str| stretch.is_some_and(|stretch| stretch == word);
    let back = changed.is_some() && (is("fit") || is("fill")) && sized(own.get("selfStretch")) && size;
    (touched(["selfStretch", "flexSize"]) && (back || is("fill") || (sized(stretch) && size)))
        || [["columnStart", "columnSpan"], ["rowStart", "rowSpan"]]
            .iter()
            .any(|keys| touched(*keys) && keys.iter().any(|key| is_set(value(key))))
}

/// A distance without what no style sheet can contain.
fn sanitised_gap(gap: &Value) -> Value {
    let fits = |value: &Value| match value {
        Value::String(text) => !text.contains(['\\', '(', '&', '=', '}']) && !text.contains("/*"),
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    };
    match gap {
        Value::Object(sides) => {
            let side = |(side, value): (&String, &Value)| {
                (side.clone(), if fits(value) { value.clone() } else { Value::Null })
            };
            Value::Object(sides.iter().map(side).collect())
        }
        one if fits(one) => one.clone(),
        _ => Value::Null,
    }
}

fn members(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Whether a value is there and neither empty nor zero.
fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty() && text != "0",
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        Some(Value::Bool(true)) => true,
    }
}

/// The class of a known word.
fn class_of(known: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    known.iter().find(|(name, _)| *name == word).map(|(_, class)| *class)
}

/// The first digits of the MD5 of a value, as WordPress writes it in JSON.
fn fingerprint(value: &Value) -> String {
    let mut text = String::new();
    write_json(value, &mut text);
    hex(&Md5::digest(text.as_bytes())[..4])
}

/// A value in the spelling of WordPress: slashes and letters beyond ASCII are escaped, an object without members is a list.
fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => write_text(text, out),
        Value::Array(list) => write_list(list.iter(), out),
        Value::Object(members) if members.keys().enumerate().all(|(n, key)| *key == n.to_string()) => {
            write_list(members.values(), out);
        }
        Value::Object(members) => {
            for (n, (key, value)) in members.iter().enumerate() {
                out.push(if n == 0 { '{' } else { ',' });
                write_text(key, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
        Value::Number(number) => {
            let text = number.to_string();
            out.push_str(text.strip_suffix(".0").unwrap_or(&text));
        }
        Value::Null | Value::Bool(_) => drop(write!(out, "{value}")),
    }
}

fn write_list<'v>(list: impl Iterator<Item = &'v Value>, out: &mut String) {
    out.push('[');
    for (n, value) in list.enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_json(value, out);
    }
    out.push(']');
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='\u{7f}' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> LayoutRules {
        LayoutRules { gap: json!("1.2rem"), root_padding: true }
    }

    #[test]
    fn values_are_spelled_as_the_reference_spells_them() {
        fn check(value: &Value, expected: &str) {
            let mut text = String::new();
            write_json(value, &mut text);
            assert_eq!(text, expected);
        }
        check(&json!([{}, [], null, true, 1, 1.0, 0.5]), "[[],[],null,true,1,1,0.5]");
        check(
            &json!({"a": "/\"\\\n\u{1}é😀", "b": {"0": 1, "1": 2}}),
            r#"{"a":"\/\"\\\n\u0001\u00e9\ud83d\ude00","b":[1,2]}"#,
        );
    }

    #[test]
    fn a_layout_has_a_class_of_its_own_only_where_it_needs_rules() {
        let check = |attributes: Value, wanted: bool| {
            let laid_out = BlockLayout { default: json!({}), gap: None };
            let classes = classes("core/group", Some(&laid_out), &attributes, None, &rules());
            let found = classes.own.iter().any(|class| class.starts_with("wp-container-core-group-is-layout-"));
            assert_eq!(found, wanted, "{attributes}: {classes:?}");
        };
        check(json!({}), false);
        check(json!({"layout": {"type": "constrained"}}), false);
        check(json!({"layout": {"type": "constrained", "wideSize": "9px"}}), true);
        check(json!({"layout": {"type": "constrained", "justifyContent": "left"}}), true);
        check(json!({"layout": {"type": "constrained"}, "style": {"spacing": {"padding": {"left": "0"}}}}), true);
        check(json!({"layout": {"type": "constrained"}, "style": {"spacing": {"padding": {"top": "1px"}}}}), false);
        check(json!({"style": {"spacing": {"blockGap": "0"}}}), true);
        check(json!({"style": {"spacing": {"blockGap": "a(b)"}}}), false);
        check(json!({"style": {"spacing": {"blockGap": {"left": "1px"}}}}), false);
        check(json!({"layout": {"type": "flex"}}), false);
        check(json!({"layout": {"type": "flex", "flexWrap": "nowrap"}}), true);
        check(json!({"layout": {"type": "flex", "orientation": "vertical"}}), true);
        check(json!({"layout": {"type": "flex", "justifyContent": "stretch"}}), false);
        check(json!({"layout": {"type": "grid"}}), true);
        check(json!({"layout": {"type": "x\" y=z"}}), false);
        check(json!({"style": {"@mobile": {"layout": {"justifyContent": "left"}}}}), false);
        check(json!({"layout": {"type": "flex"}, "style": {"@mobile": {"layout": {"justifyContent": "left"}}}}), true);
    }

    #[test]
    fn a_place_has_a_class_where_it_moves_the_block() {
        let check = |layout: Value, wanted: bool| {
            let classes = classes("core/paragraph", None, &json!({"style": {"layout": layout}}), None, &rules());
            assert_eq!((classes.place.is_some(), classes.own.is_empty()), (wanted, true), "{layout}");
        };
        check(json!({"selfStretch": "fit", "flexSize": null}), false);
        check(json!({"selfStretch": "fill"}), true);
        check(json!({"selfStretch": "fixed"}), false);
        check(json!({"selfStretch": "fixed", "flexSize": "9px"}), true);
        check(json!({"columnSpan": 2}), true);
        check(json!({"rowSpan": 0}), false);
    }
}
