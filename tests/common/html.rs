//! HTML as a browser builds it, and what of it a browser would run: the check of sanitised and rendered markup.
//!
//! Uses a complete HTML5 parser (`html5ever`), so that what is checked is the tree and not the look of the text. It
//! knows nothing of the program: policies are passed as functions.

use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, ExpandedName, LocalName, Namespace, ParseOpts, QualName, local_name, ns, parse_fragment};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// An element: its name, and its attributes with their values, references resolved. Names are in lower case; elements of
/// other languages carry them in front (`svg:path`).
pub type Element = (String, Vec<(String, String)>);

/// The elements that a browser makes of a text that is put into a page's body, in order. Elements that the parser adds by
/// itself are among them.
pub fn elements(html: &str) -> Vec<Element> {
    let context = QualName::new(None, ns!(html), local_name!("body"));
    let sink = parse_fragment(Record::default(), ParseOpts::default(), context, Vec::new(), true).one(html);
    let made = sink.made.into_inner();
    // The first two are the context and the root of a fragment.
    made.iter().skip(2).map(|node| (node.called(), node.attributes.borrow().clone())).collect()
}

/// Everything in a text that a browser could run or that could load a document into the page, a line for each; empty for
/// harmless texts.
#[allow(dead_code)] // not every test file that includes this one uses it
pub fn active(html: &str) -> Vec<String> {
    active_among(&elements(html))
}

#[allow(dead_code)]
fn active_among(elements: &[Element]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, attributes) in elements {
        if ACTIVE.contains(&name.as_str()) || name.contains(':') {
            found.push(format!("element {name}"));
        }
        for (key, value) in attributes {
            if key.starts_with("on") || key == "srcdoc" || key == "http-equiv" {
                found.push(format!("{name} with {key}={value}"));
            }
            if ADDRESSES.contains(&key.as_str()) && is_script(value) {
                found.push(format!("{name} with the script address {key}={value}"));
            }
        }
    }
    found
}

/// The parts of a text that are not within a policy, a line for each. `allowed` returns whether an element of this name may have
/// an attribute of this name and value; the empty attribute name means the element itself.
#[allow(dead_code)]
pub fn outside(html: &str, allowed: impl Fn(&str, &str, &str) -> bool) -> Vec<String> {
    let elements = elements(html);
    let mut found = active_among(&elements);
    for (name, attributes) in elements {
        if !allowed(&name, "", "") {
            found.push(format!("element {name} is not allowed"));
        }
        for (key, value) in attributes.iter().filter(|(key, value)| !allowed(&name, key, value)) {
            found.push(format!("{name} may not have {key}={value}"));
        }
    }
    found
}

/// Whether a browser takes an address for a script: control characters and blanks in front, line ends and tabs anywhere
/// count for nothing.
#[allow(dead_code)]
pub fn is_script(address: &str) -> bool {
    let seen: String = address.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let seen = seen.trim_start_matches(|c: char| c <= ' ').to_ascii_lowercase();
    ["javascript:", "vbscript:", "data:text/html", "data:image/svg", "data:application/xhtml"]
        .iter()
        .any(|scheme| seen.starts_with(scheme))
}

#[allow(dead_code)]
const ACTIVE: [&str; 12] =
    ["script", "style", "iframe", "object", "embed", "applet", "base", "meta", "link", "frame", "frameset", "form"];

#[allow(dead_code)]
const ADDRESSES: [&str; 15] = [
    "action",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "formaction",
    "href",
    "longdesc",
    "manifest",
    "poster",
    "src",
    "srcset",
    "usemap",
    "xlink:href",
];

/// Takes down which elements the parser makes. Where they hang is of no interest, so there is no tree.
#[derive(Default)]
struct Record {
    made: RefCell<Vec<Node>>,
}

/// An element, or one of the nodes that have no name.
type Node = Rc<Made>;

struct Made {
    name: QualName,
    attributes: RefCell<Vec<(String, String)>>,
}

impl Made {
    fn called(&self) -> String {
        match self.name.ns {
            ns!(html) => self.name.local.to_string(),
            ns!(svg) => format!("svg:{}", self.name.local),
            ns!(mathml) => format!("math:{}", self.name.local),
            ref other => format!("{other}:{}", self.name.local),
        }
    }
}

impl Record {
    fn nameless(&self) -> Node {
        let name = QualName::new(None, Namespace::default(), LocalName::default());
        Rc::new(Made { name, attributes: RefCell::default() })
    }
}

fn plain(attributes: Vec<Attribute>) -> impl Iterator<Item = (String, String)> {
    attributes.into_iter().map(|attribute| {
        let QualName { prefix, local, .. } = attribute.name;
        let name = prefix.map_or_else(|| local.to_string(), |prefix| format!("{prefix}:{local}"));
        (name.to_ascii_lowercase(), attribute.value.to_string())
    })
}

impl TreeSink for Record {
    type Handle = Node;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn elem_name<'a>(&'a self, target: &'a Node) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Node {
        let node = Rc::new(Made { name, attributes: RefCell::new(plain(attributes).collect()) });
        self.made.borrow_mut().push(Rc::clone(&node));
        node
    }

    fn add_attrs_if_missing(&self, target: &Node, attributes: Vec<Attribute>) {
        let mut own = target.attributes.borrow_mut();
        for (name, value) in plain(attributes) {
            if own.iter().all(|(key, _)| *key != name) {
                own.push((name, value));
            }
        }
    }

    fn same_node(&self, one: &Node, other: &Node) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn get_document(&self) -> Node {
        self.nameless()
    }

    fn get_template_contents(&self, _: &Node) -> Node {
        self.nameless()
    }

    fn create_comment(&self, _: StrTendril) -> Node {
        self.nameless()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Node {
        self.nameless()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}
    fn append(&self, _: &Node, _: NodeOrText<Node>) {}
    fn append_based_on_parent_node(&self, _: &Node, _: &Node, _: NodeOrText<Node>) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn append_before_sibling(&self, _: &Node, _: NodeOrText<Node>) {}
    fn remove_from_parent(&self, _: &Node) {}
    fn reparent_children(&self, _: &Node, _: &Node) {}
}
