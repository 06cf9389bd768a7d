//! Links of items.

use super::super::resource::*;
use super::{Linker, extend};
use cms_declaration::{self as declaration, Family};
use serde_json::{Map, json};

impl Linker<'_> {
    pub(super) fn links(&mut self, resources: &mut [Resource]) {
        for resource in resources.iter_mut() {
            let declared = resource.declared.links.clone();
            for (i, link) in declared.iter().enumerate() {
                let i = i.to_string();
                let owner = resource.name.clone();
                let path = [self.table, owner.as_str(), "links", i.as_str()];
                let served = applies(&resource.declared, &link.when);
                resource.links.extend(self.link(resource, link, &path).filter(|_| served));
            }
            if declared.is_empty() && resource.stores_rows() {
                resource.links.extend(usual_links());
            }
            let embeddable = resource.relations.iter().filter(|r| r.embeddable).cloned().collect::<Vec<_>>();
            for relation in embeddable {
                if !declared.iter().any(|l| l.rel == relation.property) {
                    resource.links.extend(relation_link(resource, &relation));
                }
            }
            self.curies(resource);
        }
    }

    /// Adds the documentation of the relations that the links of a resource use.
    fn curies(&mut self, resource: &mut Resource) {
        for (name, href) in &self.declared.curies {
            let uses = |link: &Link| link.rel.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
            if !resource.links.iter().any(uses) {
                continue;
            }
            let attrs = Map::from_iter([("name".to_owned(), json!(name)), ("templated".to_owned(), json!(true))]);
            let link =
                declaration::Link { rel: "curies".into(), href: Some(href.clone()), attrs, ..Default::default() };
            resource.links.extend(self.link(resource, &link, &["curies", name]));
        }
    }

    pub(super) fn link(&mut self, resource: &Resource, link: &declaration::Link, path: &[&str]) -> Option<Link> {
        let target = match (link.to.as_deref(), &link.href) {
            (Some("@record"), None) => LinkTarget::Referenced(Family::Content),
            (Some("@term"), None) => LinkTarget::Referenced(Family::Term),
            (Some(to), None) => {
                let to = match to {
                    "@self" => resource.index,
                    to => self.resource_named(&extend(path, "to"), to)?,
                };
                match &link.key {
                    Some(key) => {
                        self.column(resource, &extend(path, "key"), key)?;
                        LinkTarget::Item { resource: to, column: resource.column(key)? }
                    }
                    None => {
                        let mut query = Vec::new();
                        for (arg, column) in &link.query {
                            let value = match column.strip_prefix('=') {
                                Some(literal) => QueryValue::Literal(literal.to_owned()),
                                None => {
                                    self.column(resource, &[path, &["query", arg]].concat(), column)?;
                                    QueryValue::Column(resource.column(column)?)
                                }
                            };
                            query.push((arg.clone(), value));
                        }
                        LinkTarget::Collection { resource: to, query }
                    }
                }
            }
            (None, Some(href)) => LinkTarget::Template(self.template(resource, href, path)?),
            _ => {
                self.problem(path, "a link needs `to` or `href`, and not both", None);
                return None;
            }
        };
        let when_column = match &link.when.set {
            Some(column) => {
                self.column(resource, &[path, &["when", "set"]].concat(), column)?;
                resource.column(column)
            }
            None => link.key.as_deref().and_then(|key| resource.column(key)),
        };
        if let Some(each) = &link.each {
            let held = |p: &&Property| p.among.is_some() || matches!(p.source, PropertySource::Members(..));
            let names: Vec<&str> = resource.properties.iter().filter(held).map(|p| p.name.as_str()).collect();
            self.known(&extend(path, "each"), "property with `x-members` or `x-options-from`", each, &names)?;
        }
        Some(Link {
            each: link.each.clone(),
            rel: link.rel.clone(),
            absolute: link.href.as_deref().is_some_and(|h| h.contains("://")),
            target,
            embeddable: link.embeddable,
            attrs: link.attrs.clone(),
            when: link.when.clone(),
            when_column,
        })
    }

    pub(super) fn template(&mut self, resource: &Resource, href: &str, path: &[&str]) -> Option<Vec<HrefPiece>> {
        let mut pieces = Vec::new();
        let mut rest = href;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}').map(|c| c + open) else {
                self.problem(&extend(path, "href"), format!("`{href}` has a `{{` without a `}}`"), None);
                return None;
            };
            pieces.push(HrefPiece::Literal(rest[..open].to_owned()));
            let place = &rest[open + 1..close];
            pieces.push(match place {
                "self" => HrefPiece::SelfPath,
                "collection" => HrefPiece::CollectionPath,
                "api_name" => HrefPiece::ApiName,
                // A URI template for clients, as in curies.
                "rel" => HrefPiece::Literal("{rel}".into()),
                "@revision_id" => HrefPiece::RevisionId,
                "each" => HrefPiece::Each,
                column => {
                    self.column(resource, &extend(path, "href"), column)?;
                    HrefPiece::Column(resource.column(column)?)
                }
            });
            rest = &rest[close + 1..];
        }
        pieces.push(HrefPiece::Literal(rest.to_owned()));
        Some(pieces)
    }
}

/// Whether a resource has a link with these conditions; conditions on items are checked for each item.
pub(super) fn applies(resource: &declaration::Resource, when: &declaration::LinkCondition) -> bool {
    let supported = when.supports.as_ref().is_none_or(|wanted| resource.supports.contains(wanted));
    supported && (resource.hierarchical || !when.hierarchical)
}

/// Links of every item unless the declarations say otherwise.
pub(super) fn usual_links() -> [Link; 2] {
    let link = |rel: &str, piece: HrefPiece| Link {
        rel: rel.to_owned(),
        target: LinkTarget::Template(vec![piece]),
        embeddable: false,
        attrs: Map::new(),
        when: declaration::LinkCondition::default(),
        when_column: None,
        each: None,
        absolute: false,
    };
    [link("self", HrefPiece::SelfPath), link("collection", HrefPiece::CollectionPath)]
}

pub(super) fn relation_link(resource: &Resource, relation: &Relation) -> Option<Link> {
    let target = if !relation.is_column() {
        LinkTarget::Collection {
            resource: relation.to,
            query: vec![("include".into(), QueryValue::Literal(format!("@{}", relation.property)))],
        }
    } else {
        LinkTarget::Item { resource: relation.to, column: resource.column(&relation.property)? }
    };
    Some(Link {
        rel: relation.property.clone(),
        absolute: false,
        when_column: resource.column(&relation.property).filter(|_| relation.is_column()),
        target,
        embeddable: true,
        attrs: Map::new(),
        each: None,
        when: declaration::LinkCondition::default(),
    })
}
