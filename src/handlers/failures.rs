//! The errors that the handlers of rows end requests with, by family: their own, those of the guards before them, and
//! those of the families' rules.

use crate::error::{Code, status};
use cms_config::declaration::Family;

/// Codes by family.
type FamilyCodes = &'static [(Family, &'static [Code])];

/// Errors with statuses that are not those of their codes.
type StatusOverrides = &'static [(Option<Family>, Code, u16)];

/// Of a page of rows: the record of `post`.
pub(super) const LIST_AT: StatusOverrides = &[(Some(Family::Term), Code::PostInvalidId, status::BAD_REQUEST)];

/// Of a new row: the row above it, and what it refers to.
pub(super) const CREATE_AT: StatusOverrides = &[
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
pub(super) const DELETE_AT: StatusOverrides = &[(None, Code::CannotDeleteStored, status::CONFLICT)];

/// Of a page of rows.
pub(super) const LIST: FamilyCodes = &[
    (Family::Comment, &[Code::CannotRead, Code::CannotReadPost, Code::ForbiddenContext, Code::ForbiddenParam]),
    (
        Family::Content,
        &[
            Code::CannotView,
            Code::ForbiddenContext,
            Code::ForbiddenOrderby,
            Code::ForbiddenParam,
            Code::NoSearchTerm,
            Code::OrderbyIncludeMissing,
            Code::PostInvalidPageNumber,
        ],
    ),
    (Family::Plain, &[Code::Forbidden, Code::ForbiddenContext, Code::ForbiddenOrderby, Code::ForbiddenParam]),
    (Family::Term, &[Code::CannotView, Code::ForbiddenContext]),
    (
        Family::User,
        &[
            Code::ForbiddenContext,
            Code::ForbiddenOrderby,
            Code::ForbiddenParam,
            Code::ForbiddenWho,
            Code::UserCannotView,
        ],
    ),
];

/// Of one row.
pub(super) const GET: FamilyCodes = &[
    (
        Family::Comment,
        &[Code::CannotRead, Code::CannotReadPost, Code::CommentInvalidId, Code::ForbiddenContext, Code::PostInvalidId],
    ),
    (
        Family::Content,
        &[
            Code::CannotRead,
            Code::CannotView,
            Code::Forbidden,
            Code::ForbiddenContext,
            Code::PostIncorrectPassword,
            Code::PostInvalidId,
            Code::PostInvalidParent,
        ],
    ),
    (Family::Plain, &[Code::Forbidden, Code::ForbiddenContext, Code::RecordInvalidId]),
    (Family::Term, &[Code::CannotView, Code::ForbiddenContext, Code::TermInvalid]),
    (Family::User, &[Code::ForbiddenContext, Code::UserCannotView, Code::UserInvalidId]),
];

/// Of a new row.
pub(super) const CREATE: FamilyCodes = &[
    (
        Family::Comment,
        &[
            Code::CannotCreate,
            Code::CannotReadPost,
            Code::CommentAuthorInvalid,
            Code::CommentAuthorRequired,
            Code::CommentClosed,
            Code::CommentContentInvalid,
            Code::CommentDraftPost,
            Code::CommentDuplicate,
            Code::CommentExists,
            Code::CommentFlood,
            Code::CommentInvalidAuthor,
            Code::CommentInvalidAuthorIp,
            Code::CommentInvalidPostId,
            Code::CommentInvalidStatus,
            Code::CommentInvalidType,
            Code::CommentLoginRequired,
            Code::CommentNotSupported,
            Code::CommentTrashPost,
        ],
    ),
    (
        Family::Content,
        &[
            Code::CannotAssignSticky,
            Code::CannotAssignTerm,
            Code::CannotCreate,
            Code::CannotEditOthers,
            Code::CannotPublish,
            Code::CustomCssMarkup,
            Code::CustomCssType,
            Code::DuplicateValue,
            Code::EmptyContent,
            Code::InvalidAuthor,
            Code::InvalidField,
            Code::PostExists,
            Code::PostInvalidType,
            Code::TermInvalidId,
        ],
    ),
    (Family::Plain, &[Code::CannotCreate, Code::DuplicateValue]),
    (Family::Term, &[Code::CannotCreate, Code::EmptyTermName, Code::TaxonomyNotHierarchical, Code::TermExists]),
    (
        Family::User,
        &[
            Code::CannotCreateUser,
            Code::CannotEditRoles,
            Code::EmptyUserNicename,
            Code::ExistingUserEmail,
            Code::ExistingUserLogin,
            Code::UserExists,
            Code::UserInvalidRole,
        ],
    ),
];

/// Of changes of a row.
pub const UPDATE: FamilyCodes = &[
    (
        Family::Comment,
        &[
            Code::CannotEdit,
            Code::CommentAuthorInvalid,
            Code::CommentContentInvalid,
            Code::CommentInvalidAuthor,
            Code::CommentInvalidAuthorIp,
            Code::CommentInvalidId,
            Code::CommentInvalidPostId,
            Code::CommentTypeFixed,
            Code::PreconditionFailed,
        ],
    ),
    (
        Family::Content,
        &[
            Code::OriginalInvalid,
            Code::CannotAssignSticky,
            Code::CannotAssignTerm,
            Code::CannotEdit,
            Code::CannotEditOthers,
            Code::CannotPublish,
            Code::CustomCssMarkup,
            Code::CustomCssType,
            Code::DuplicateValue,
            Code::EmptyContent,
            Code::InvalidAuthor,
            Code::InvalidField,
            Code::PostInvalidId,
            Code::PostInvalidType,
            Code::PreconditionFailed,
            Code::TermInvalidId,
        ],
    ),
    (Family::Plain, &[Code::CannotEdit, Code::DuplicateValue, Code::PreconditionFailed, Code::RecordInvalidId]),
    (
        Family::Term,
        &[
            Code::CannotUpdate,
            Code::DuplicateTermSlug,
            Code::EmptyTermName,
            Code::PreconditionFailed,
            Code::TaxonomyNotHierarchical,
            Code::TermExists,
            Code::TermInvalid,
        ],
    ),
    (
        Family::User,
        &[
            Code::CannotEdit,
            Code::CannotEditRoles,
            Code::LastAdministrator,
            Code::PreconditionFailed,
            Code::UserInvalidArgument,
            Code::UserInvalidEmail,
            Code::UserInvalidId,
            Code::UserInvalidRole,
            Code::UserInvalidSlug,
        ],
    ),
];

/// Of a deletion.
pub(super) const DELETE: FamilyCodes = &[
    (Family::Comment, &[Code::AlreadyTrashed, Code::CannotDelete, Code::CommentInvalidId, Code::PreconditionFailed]),
    (
        Family::Content,
        &[
            Code::OriginalInvalid,
            Code::AlreadyTrashed,
            Code::CannotDelete,
            Code::CannotDeleteStored,
            Code::PostInvalidId,
            Code::PreconditionFailed,
            Code::TrashNotSupported,
        ],
    ),
    (Family::Plain, &[Code::CannotDelete, Code::PreconditionFailed, Code::RecordInvalidId]),
    (
        Family::Term,
        &[
            Code::CannotDelete,
            Code::CannotDeleteStored,
            Code::PreconditionFailed,
            Code::TermInvalid,
            Code::TrashNotSupported,
        ],
    ),
    (
        Family::User,
        &[
            Code::CannotDeleteStored,
            Code::LastAdministrator,
            Code::PreconditionFailed,
            Code::TrashNotSupported,
            Code::UserCannotDelete,
            Code::UserInvalidId,
            Code::UserInvalidReassign,
        ],
    ),
];
