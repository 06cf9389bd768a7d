//! The errors that end requests for rows, by family: those of the handlers, of the guards before them, and of the
//! families' rules.

use super::{comment, content, plain, term, user};
use crate::error::{Code, status};
use cms_declaration::Family;

/// The codes of one family, by what is requested.
pub struct Failures {
    /// Of a page of rows.
    pub list: &'static [Code],
    /// Of one row.
    pub get: &'static [Code],
    /// Of a new row.
    pub create: &'static [Code],
    /// Of changes of a row.
    pub update: &'static [Code],
    /// Of a deletion.
    pub delete: &'static [Code],
}

/// Codes by family.
type FamilyCodes = &'static [(Family, &'static [Code])];

/// Errors with statuses that are not those of their codes.
type StatusOverrides = &'static [(Option<Family>, Code, u16)];

/// Of a page of rows: the record of `post`.
pub const LIST_AT: StatusOverrides = &[(Some(Family::Term), Code::PostInvalidId, status::BAD_REQUEST)];

/// Of a new row: the row above it, and what it refers to.
pub const CREATE_AT: StatusOverrides = &[
    (Some(Family::Content), Code::PostInvalidId, status::BAD_REQUEST),
    (Some(Family::Term), Code::TermInvalid, status::BAD_REQUEST),
];

/// Of changes of a row: also that nobody takes the keys from themselves.
pub const UPDATE_AT: StatusOverrides = &[
    (Some(Family::Content), Code::PostInvalidId, status::BAD_REQUEST),
    (Some(Family::Term), Code::TermInvalid, status::BAD_REQUEST),
    (Some(Family::User), Code::UserInvalidRole, status::FORBIDDEN),
];

/// Of a deletion: rows that refer to the row.
pub const DELETE_AT: StatusOverrides = &[(None, Code::CannotDeleteStored, status::CONFLICT)];

/// Of a page of rows.
pub const LIST: FamilyCodes = &[
    (Family::Comment, comment::FAILURES.list),
    (Family::Content, content::FAILURES.list),
    (Family::Plain, plain::FAILURES.list),
    (Family::Term, term::FAILURES.list),
    (Family::User, user::FAILURES.list),
];

/// Of one row.
pub const GET: FamilyCodes = &[
    (Family::Comment, comment::FAILURES.get),
    (Family::Content, content::FAILURES.get),
    (Family::Plain, plain::FAILURES.get),
    (Family::Term, term::FAILURES.get),
    (Family::User, user::FAILURES.get),
];

/// Of a new row.
pub const CREATE: FamilyCodes = &[
    (Family::Comment, comment::FAILURES.create),
    (Family::Content, content::FAILURES.create),
    (Family::Plain, plain::FAILURES.create),
    (Family::Term, term::FAILURES.create),
    (Family::User, user::FAILURES.create),
];

/// Of changes of a row.
pub const UPDATE: FamilyCodes = &[
    (Family::Comment, comment::FAILURES.update),
    (Family::Content, content::FAILURES.update),
    (Family::Plain, plain::FAILURES.update),
    (Family::Term, term::FAILURES.update),
    (Family::User, user::FAILURES.update),
];

/// Of a deletion.
pub const DELETE: FamilyCodes = &[
    (Family::Comment, comment::FAILURES.delete),
    (Family::Content, content::FAILURES.delete),
    (Family::Plain, plain::FAILURES.delete),
    (Family::Term, term::FAILURES.delete),
    (Family::User, user::FAILURES.delete),
];
