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
    /// Position of the relation to the taxonomy whose terms the member `category` shows.
    pub category: Option<usize>,
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
    /// The templates of addresses, first of those where the site is read.
    pub fn templates(&self) -> impl Iterator<Item = &AddressTemplate> {
        self.in_front.iter().chain(self.template_on_site())
    }

    /// The template of addresses where the site is read.
    pub fn template(&self) -> Option<&AddressTemplate> {
        self.templates().next()
    }

    /// The template of addresses at the site's own address.
    pub fn template_on_site(&self) -> Option<&AddressTemplate> {
        match &self.on_site {
            AddressShape::Template(template) => Some(template),
            AddressShape::Plain | AddressShape::Attached => None,
        }
    }

    /// Whether addresses where the site is read are below those of the records that items are attached to.
    pub fn is_attached(&self) -> bool {
        self.in_front.is_none() && matches!(self.on_site, AddressShape::Attached)
    }

    /// Whether addresses where the site is read have a member.
    pub fn has(&self, member: &str) -> bool {
        self.template().is_some_and(|template| template.has(member))
    }

    /// The relation to the terms that addresses have, at the site or in the front end.
    pub fn shown_category(&self) -> Option<usize> {
        self.category.filter(|_| self.templates().any(|template| template.has(address::CATEGORY)))
    }

    /// Whether the item's own row decides about its address.
    pub fn is_of_row(&self) -> bool {
        let of_others = [address::PATH, address::AUTHOR, address::CATEGORY];
        self.template().is_some_and(|template| !of_others.iter().any(|member| template.has(member)))
    }
}

/// The `{names}` of the front end's address of previews.
pub mod preview {
    pub const TOKEN: &str = "{token}";
    pub const PATH: &str = "{path}";
    pub const TYPE: &str = "{type}";
    pub const ID: &str = "{id}";
    /// All of them.
    pub const NAMES: [&str; 4] = [TOKEN, PATH, TYPE, ID];
}
