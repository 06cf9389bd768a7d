//! Needs of documents from other rows.

use super::{PropertyReaders, View, links, shown};
use crate::registry::resource::{Context, Link, LinkTarget, Property, PropertySource, QueryValue, Resource};

/// Needs of a read behaviour from other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    pub edges: bool,
    /// Slugs of the terms that relations lead to.
    pub term_slugs: bool,
    pub meta: bool,
    pub revisions: bool,
    /// The rows above and the authors, as far as addresses show them.
    pub above: bool,
    pub children: bool,
    /// The names of the authors.
    pub author_names: bool,
    /// The records of comments.
    pub posts: bool,
    /// The records and terms that the rows refer to.
    pub referenced: bool,
    /// Long texts of the row beside the property's own column.
    pub texts: bool,
    /// Rows of other resources that refer to the rows.
    pub members: bool,
    /// Values of field groups, and what they refer to.
    pub fields: bool,
    /// Other rows that search engines are told of.
    pub seo: bool,
}

impl Needs {
    /// Nothing but the row.
    pub const ROW: Needs = Needs {
        edges: false,
        term_slugs: false,
        meta: false,
        revisions: false,
        above: false,
        children: false,
        author_names: false,
        posts: false,
        referenced: false,
        texts: false,
        members: false,
        fields: false,
        seo: false,
    };
    /// The row and what it refers to.
    pub const REFERENCED: Needs = Needs { referenced: true, ..Needs::ROW };
    /// The row with its long texts.
    pub const TEXTS: Needs = Needs { texts: true, ..Needs::ROW };
    /// The sources of an item's head for search engines: its texts, terms and address, and other rows.
    pub const SEO: Needs = Needs { texts: true, edges: true, above: true, seo: true, ..Needs::ROW };
    /// The sources of an address.
    pub const ADDRESS: Needs = Needs { above: true, ..Needs::ROW };

    /// Both.
    pub fn add(&mut self, other: Needs) {
        self.edges |= other.edges;
        self.term_slugs |= other.term_slugs;
        self.meta |= other.meta;
        self.revisions |= other.revisions;
        self.above |= other.above;
        self.children |= other.children;
        self.author_names |= other.author_names;
        self.posts |= other.posts;
        self.referenced |= other.referenced;
        self.texts |= other.texts;
        self.members |= other.members;
        self.fields |= other.fields;
        self.seo |= other.seo;
    }

    /// The needs of the documents of a resource, shown so.
    pub(super) fn of_documents(resource: &Resource, view: &View<'_>) -> Needs {
        let mut needs = Needs::of_properties(resource, view);
        if view.wants_links() {
            resource.links.iter().for_each(|link| needs.add_link(link));
        }
        needs
    }

    /// The needs of the properties of a resource, shown so.
    pub(super) fn of_properties(resource: &Resource, view: &View<'_>) -> Needs {
        let mut needs = Needs::default();
        for property in shown(&resource.properties, view) {
            needs.add_property(property, view.context, view.reads);
        }
        needs.add_fields(resource);
        needs
    }

    /// Adds the needs of the resource's groups, where their values are shown.
    fn add_fields(&mut self, resource: &Resource) {
        let Some(of) = resource.fields.as_ref().filter(|_| self.fields) else { return };
        self.meta |= !of.groups.is_empty();
        self.edges |= of.terms;
        self.children |= of.children;
        self.posts |= of.place;
    }

    fn add_property(&mut self, property: &Property, context: Context, reads: PropertyReaders) {
        if !property.contexts.shows_in(context) {
            return;
        }
        match &property.source {
            PropertySource::Read(behaviour, _) => self.add(reads[behaviour.0].run.1),
            PropertySource::Object(children) => children.iter().for_each(|c| self.add_property(c, context, reads)),
            PropertySource::Relation(_) => self.edges = true,
            PropertySource::Meta => self.meta = true,
            PropertySource::Fields(_) => self.fields = true,
            PropertySource::Members(..) => self.members = true,
            _ => self.edges |= !property.inner_relations.is_empty(),
        }
    }

    fn add_link(&mut self, link: &Link) {
        self.revisions |= link.when.revised || link.attrs.values().any(|v| v == "@revision_count");
        self.children |= link.when.children;
        self.members |= link.each.is_some();
        self.posts |= links::of_kind(link);
        self.referenced |= matches!(link.target, LinkTarget::Referenced(_));
        if let LinkTarget::Collection { query, .. } = &link.target {
            self.edges |= query.iter().any(|(_, v)| matches!(v, QueryValue::Literal(l) if l.starts_with('@')));
        }
    }
}
