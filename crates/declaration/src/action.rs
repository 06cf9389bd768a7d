//! Actions of callers on records.

use schemars::JsonSchema;
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An action of a caller on records; `[capabilities]` maps each action to the capability that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// See public records. An action that is not declared is for nobody; this one is for everybody then.
    Read,
    /// See private records of others.
    ReadPrivate,
    /// Make a record.
    Create,
    /// Change an own record, and see the edit context.
    Edit,
    /// Change records of others.
    EditOthers,
    /// Change records that are public, private or scheduled.
    EditPublished,
    /// Change private records of others.
    EditPrivate,
    /// Make a record public, private or scheduled.
    Publish,
    /// Delete an own record.
    Delete,
    /// Delete records of others.
    DeleteOthers,
    /// Delete records that are public, private or scheduled.
    DeletePublished,
    /// Delete private records of others.
    DeletePrivate,
    /// Manage the terms of a taxonomy.
    Manage,
    /// Give terms to records.
    Assign,
    /// See users who have published nothing, and the edit context of all.
    List,
    /// Change the roles of users.
    Promote,
    /// Approve, change and delete comments of others.
    Moderate,
    /// Comment without limits on frequency and length.
    SkipLimits,
}

impl Action {
    /// Every action.
    pub const ALL: [Action; 18] = [
        Action::Read,
        Action::ReadPrivate,
        Action::Create,
        Action::Edit,
        Action::EditOthers,
        Action::EditPublished,
        Action::EditPrivate,
        Action::Publish,
        Action::Delete,
        Action::DeleteOthers,
        Action::DeletePublished,
        Action::DeletePrivate,
        Action::Manage,
        Action::Assign,
        Action::List,
        Action::Promote,
        Action::Moderate,
        Action::SkipLimits,
    ];

    /// The action of this name.
    pub fn named(name: &str) -> Option<Action> {
        Action::deserialize(IntoDeserializer::<Error>::into_deserializer(name)).ok()
    }

    /// The same to records of others, where that is an action of its own.
    pub fn to_others(self) -> Action {
        match self {
            Action::Edit => Action::EditOthers,
            Action::Delete => Action::DeleteOthers,
            other => other,
        }
    }

    /// The same to public, private and scheduled records, where that is an action of its own.
    pub fn to_published(self) -> Action {
        match self {
            Action::Edit => Action::EditPublished,
            Action::Delete => Action::DeletePublished,
            other => other,
        }
    }

    /// The same to private records of others, where that is an action of its own.
    pub fn to_private(self) -> Action {
        match self {
            Action::Read => Action::ReadPrivate,
            Action::Edit => Action::EditPrivate,
            Action::Delete => Action::DeletePrivate,
            other => other,
        }
    }
}

/// As declarations write it.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
