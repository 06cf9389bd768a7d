//! Property, arguments and links that a resource gets for each of its `taxonomies` (`[per_taxonomy]`).
//!
//! Members that the resource declares itself stay as they are. Of the grammar, only the keys to fill in are known here.

use super::tree::{Data, Member, Node, Span, Table};

/// A property that a taxonomy adds to the schema of a resource.
pub struct TaxonomyProperty {
    pub resource: String,
    pub property: String,
    /// Where the taxonomy is named.
    pub at: Span,
    pub doc: Node,
}

/// Marks what is for hierarchical taxonomies only.
const HIERARCHICAL: &str = "x-hierarchical";

/// Adds arguments and links to the resources of a declaration, and returns the properties to add to their schemas.
pub fn expand(root: &mut Node) -> Vec<TaxonomyProperty> {
    let mut brought = Vec::new();
    let Some(template) = root.child("per_taxonomy").cloned() else { return brought };
    let resources = root.child("resources").and_then(Node::as_table).cloned().unwrap_or_default();
    for (name, resource) in &resources {
        let taxonomies = resource.node.child("taxonomies").and_then(Node::as_array).unwrap_or_default();
        for taxonomy in taxonomies {
            let Some(of) = taxonomy.as_str() else { continue };
            let Some(facts) = TemplateValues::of(root, of) else { continue };
            if let Some(doc) = template.child("property").and_then(|doc| facts.filled(doc)) {
                let property = facts.base.clone();
                brought.push(TaxonomyProperty { resource: name.clone(), property, at: taxonomy.span, doc });
            }
            let parts = ["endpoints", "links"].map(|part| template.child(part).and_then(|part| facts.filled(part)));
            let Some(resource) = table_at(root, &["resources", name]) else { continue };
            let [endpoints, links] = parts;
            for (endpoint, arguments) in endpoints.iter().filter_map(Node::as_table).flatten() {
                add_arguments(resource, endpoint, taxonomy.span, &arguments.node);
            }
            for link in links.iter().filter_map(Node::as_array).flatten() {
                add_link(resource, taxonomy.span, link);
            }
            let relations = template.child("link_relations").and_then(|part| facts.filled(part));
            for (rel, relation) in relations.iter().filter_map(Node::as_table).flatten() {
                if let Some(known) =
                    root.as_table_mut().and_then(|root| child_table(root, "link_relations", taxonomy.span))
                {
                    known.entry(rel.clone()).or_insert_with(|| relation.clone());
                }
            }
        }
    }
    brought
}

fn add_arguments(resource: &mut Table, endpoint: &str, at: Span, arguments: &Node) {
    let own = child_table(resource, "endpoints", at).and_then(|endpoints| child_table(endpoints, endpoint, at));
    let Some(own) = own else { return };
    for (argument, doc) in arguments.as_table().into_iter().flatten() {
        own.entry(argument.clone()).or_insert_with(|| doc.clone());
    }
}

/// Adds a link unless there is one with its relation and `attrs`. A resource without links keeps the two that it has by
/// default.
fn add_link(resource: &mut Table, at: Span, link: &Node) {
    let text = |text: &str| Node { data: Data::String(text.to_owned()), span: at };
    let usual = |(rel, href): (&str, &str)| {
        let members =
            [("rel", rel), ("href", href)].map(|(key, value)| (key.to_owned(), Member { key: at, node: text(value) }));
        Node { data: Data::Table(Table::from_iter(members)), span: at }
    };
    let links = resource.entry("links".to_owned()).or_insert_with(|| {
        let both = [("self", "{self}"), ("collection", "{collection}")].map(usual);
        Member { key: at, node: Node { data: Data::Array(both.into()), span: at } }
    });
    let Data::Array(links) = &mut links.node.data else { return };
    let same = |other: &Node| ["rel", "attrs"].iter().all(|key| value(other, key) == value(link, key));
    if !links.iter().any(same) {
        links.push(link.clone());
    }
}

fn value(node: &Node, key: &str) -> Option<serde_json::Value> {
    node.child(key).map(Node::to_value)
}

fn table_at<'n>(root: &'n mut Node, path: &[&str]) -> Option<&'n mut Table> {
    let node = path.iter().try_fold(root, |node, key| Some(&mut node.as_table_mut()?.get_mut(*key)?.node))?;
    node.as_table_mut()
}

/// The table under a key, made when there is nothing.
fn child_table<'t>(table: &'t mut Table, key: &str, at: Span) -> Option<&'t mut Table> {
    let member = table.entry(key.to_owned()).or_insert_with(|| Member { key: at, node: Node::table(at) });
    member.node.as_table_mut()
}

/// Values for the placeholders of the template.
struct TemplateValues {
    base: String,
    hierarchical: bool,
    places: [(&'static str, String); 6],
}

impl TemplateValues {
    fn of(root: &Node, taxonomy: &str) -> Option<TemplateValues> {
        let resource = root.at(&["resources", taxonomy])?;
        let text = |key: &str| resource.child(key).and_then(Node::as_str).map(str::to_owned);
        let base = text("base").unwrap_or_else(|| taxonomy.to_owned());
        let kind = text("kind").unwrap_or_else(|| taxonomy.to_owned());
        let api_name = text("api_name").unwrap_or_else(|| kind.clone());
        let hierarchical = resource.child("hierarchical").is_some_and(|node| matches!(node.data, Data::Bool(true)));
        let needed = |act: &str| {
            let map = text("capabilities")?;
            root.at(&["capabilities", &map, act]).and_then(Node::as_str).map(str::to_owned)
        };
        let capability = |act| needed(act).unwrap_or_else(|| "do_not_allow".to_owned());
        let places = [
            ("{taxonomy}", taxonomy.to_owned()),
            ("{taxonomy.base}", base.clone()),
            ("{taxonomy.kind}", kind),
            ("{taxonomy.api_name}", api_name),
            ("{taxonomy.assign}", capability("assign")),
            ("{taxonomy.create}", capability(if hierarchical { "manage" } else { "assign" })),
        ];
        Some(TemplateValues { base, hierarchical, places })
    }

    /// A copy of a part of the template with values filled in; `None` if it is not for this taxonomy.
    fn filled(&self, node: &Node) -> Option<Node> {
        let data = match &node.data {
            Data::String(text) => Data::String(self.text(text)),
            Data::Array(items) => Data::Array(items.iter().filter_map(|item| self.filled(item)).collect()),
            Data::Table(table) => {
                let marked = table.get(HIERARCHICAL).is_some_and(|mark| matches!(mark.node.data, Data::Bool(true)));
                if marked && !self.hierarchical {
                    return None;
                }
                let members = table.iter().filter(|(key, _)| *key != HIERARCHICAL);
                let filled = members.filter_map(|(key, member)| {
                    let node = self.filled(&member.node)?;
                    Some((self.text(key), Member { key: member.key, node }))
                });
                Data::Table(filled.collect())
            }
            other => other.clone(),
        };
        Some(Node { data, span: node.span })
    }

    fn text(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (place, value) in self.places.iter().filter(|_| text.contains("{taxonomy")) {
            filled = filled.replace(place, value);
        }
        filled
    }
}
