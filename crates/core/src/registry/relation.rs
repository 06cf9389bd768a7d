//! Relations of a resource's rows to those of another resource.

use crate::error::Code;
use cms_storage::InnerKeys;
use cms_storage::plan::Name;
use schemars::JsonSchema;
use serde::Deserialize;

/// A relation of the resource's rows to those of another resource.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Name of the relation, `kind.property` unless declared; edges of lists are stored under it.
    pub rel: Name,
    /// The property that holds the keys. Where they are inside its value, the names of members follow, behind dots.
    pub property: String,
    /// Position of the target among the resources.
    pub to: usize,
    pub place: RelationPlace,
    /// Lists can be filtered by the keys (`x-filterable`).
    pub filterable: bool,
    /// Targets must exist.
    pub check: bool,
    /// The code of the refusal when one does not; the parameter's own without it.
    pub missing: Option<Code>,
    pub embeddable: bool,
    pub on_delete: OnDelete,
}

/// Where the keys of a [`Relation`] are.
#[derive(Clone, Debug, PartialEq)]
pub enum RelationPlace {
    /// A column holds one.
    Column,
    /// The property is a list of them, which are edges.
    List,
    /// Inside the value of a property, from which edges are derived.
    Inside(InnerKeys),
}

impl Relation {
    /// Whether the property is a list of keys.
    pub fn is_list(&self) -> bool {
        self.place == RelationPlace::List
    }

    /// Whether one column holds one key.
    pub fn is_column(&self) -> bool {
        self.place == RelationPlace::Column
    }

    /// The place of the keys inside the value that holds them; `None`: they are not inside one.
    pub fn inner_keys(&self) -> Option<&InnerKeys> {
        match &self.place {
            RelationPlace::Inside(keys) => Some(keys),
            RelationPlace::Column | RelationPlace::List => None,
        }
    }

    /// Whether the keys are inside a value.
    pub fn is_inside(&self) -> bool {
        self.inner_keys().is_some()
    }

    /// The property of the resource that shows the keys.
    pub fn holder(&self) -> &str {
        match self.place {
            RelationPlace::Inside(_) => self.property.split('.').next().unwrap_or(&self.property),
            RelationPlace::Column | RelationPlace::List => &self.property,
        }
    }
}

/// The effect on a row when a row that it refers to is deleted for good.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum OnDelete {
    /// The property becomes null, or the key leaves the list.
    #[default]
    Clear,
    /// The deletion is refused with 409, and the message names the rows.
    Restrict,
    /// The row is deleted for good, too, with what its own deletion implies.
    Cascade,
    /// Of users: the key becomes that of the user who gets the deleted user's records. Of terms: that of the default
    /// term. Where there is none, as `clear`.
    Reassign,
}
