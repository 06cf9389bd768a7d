//! Addresses of items: their shapes, compiled.

use cms_text::address::{self, AddressTemplate};

/// How the addresses of a resource's items are made.
#[derive(Clone, Debug, Default)]
pub struct ItemAddress {
    /// At the site's own address.
    pub on_site: AddressShape,
    /// In the front end; `None`: as at the site's own address.
    pub in_front: Option<AddressTemplate>,
    /// Positions of the columns that the template of the front end reads, beside those that every row is read with.
    pub columns: Vec<usize>,
}

/// See [`ItemAddress`].
#[derive(Clone, Debug, Default)]
pub enum AddressShape {
    /// By number: `/?p=12`.
    #[default]
    Plain,
    /// Below the record that the item is attached to.
    Attached,
    /// By a template.
    Template(AddressTemplate),
}

impl ItemAddress {
    /// The templates of addresses where the site is read, the present one first.
    pub fn templates(&self) -> impl Iterator<Item = &AddressTemplate> {
        let own = match &self.on_site {
            AddressShape::Template(template) => Some(template),
            AddressShape::Plain | AddressShape::Attached => None,
        };
        self.in_front.iter().chain(own)
    }

    /// Whether an item's address has a member.
    pub fn has(&self, member: &str) -> bool {
        self.templates().any(|template| template.has(member))
    }

    /// Whether the item's own row decides about its address.
    pub fn is_of_row(&self) -> bool {
        let others = [address::PATH, address::AUTHOR, address::CATEGORY].iter().any(|member| self.has(member));
        matches!(self.on_site, AddressShape::Template(_)) && !others
    }
}
