//! Every handler by the name that declarations use: what it does, what it needs, what it responds with and how it fails.

use super::*;
use crate::error::{Code, status};
use crate::families::failures;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ROWS, ResponseKind};
use crate::registry::vocabulary::{CONTENT, SINGLETON, USERS};

/// A row of a table of handlers.
pub const fn handler(
    name: &'static str,
    run: for<'a> fn(&'a Work<'a>) -> HandlerFuture<'a>,
    doc: &'static str,
) -> BehaviourEntry<Handler> {
    BehaviourEntry::new(name, Handler::Async(run), doc)
}

/// A row for a handler that waits for nothing.
pub const fn sync_handler(
    name: &'static str,
    run: for<'a> fn(&'a Work<'a>) -> Result<Outcome, ApiError>,
    doc: &'static str,
) -> BehaviourEntry<Handler> {
    BehaviourEntry::new(name, Handler::Sync(run), doc)
}

/// Every handler by the name that declarations use.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("lookup", items::lookup, "Responds with the item that serves for a slug, in the view context.")
        .fails(&[Code::CannotView])
        .on(ROWS)
        .settings(&["lookup"]),
    sync_handler(
        "list",
        lists::list,
        "Responds with the rows that the arguments select, in pages, with totals in headers.",
    )
    .fails(&[Code::CannotRead, Code::PostInvalidParent])
    .fails_of(failures::LIST)
    .fails_at(failures::LIST_AT)
    .responds(ResponseKind::Page)
    .on(ROWS),
    sync_handler("get", items::get, "Responds with one item.")
        .role(HandlerRole::Get)
        .fails_of(failures::GET)
        .on(ROWS)
        .item(),
    handler("create", |w| Box::pin(items::create(w)), "Creates an item from the arguments; 201 with its address.")
        .fails_of(failures::CREATE)
        .fails_at(failures::CREATE_AT)
        .responds(ResponseKind::Created)
        .on(ROWS),
    handler("update", |w| Box::pin(items::update(w)), "Changes the properties of an item that the request gives.")
        .role(HandlerRole::Update)
        .fails_of(failures::UPDATE)
        .fails_at(failures::UPDATE_AT)
        .bare()
        .on(ROWS)
        .item(),
    handler(
        "delete",
        |w| Box::pin(items::delete(w)),
        "Deletes an item, or moves it to the trash where it has one and `force` is not set.",
    )
    .fails_of(failures::DELETE)
    .fails_at(failures::DELETE_AT)
    .responds(ResponseKind::Trashed)
    .on(ROWS)
    .item(),
    handler("file.create", |w| Box::pin(files::create(w)), "Stores the file in the body and creates its record.")
        .fails(&[
            Code::CannotAssignTerm,
            Code::CannotCreate,
            Code::CannotEdit,
            Code::FetchStatus,
            Code::UploadHashMismatch,
            Code::UploadInvalidDisposition,
            Code::UploadInvalidUrl,
            Code::UploadNoData,
            Code::UploadNoDisposition,
            Code::UploadRefusedBody,
            Code::UploadRefusedPart,
            Code::UploadTooLarge,
            Code::UploadTypeRefused,
        ])
        .responds(ResponseKind::Created)
        .on(CONTENT),
    handler(
        "file.edit",
        |w| Box::pin(files::edit(w)),
        "Cuts, turns or mirrors a picture and stores the result as a new record.",
    )
    .fails(&[
        Code::PostInvalidId,
        Code::CannotEdit,
        Code::CannotEditImage,
        Code::ImageCropFailed,
        Code::ImageNotEdited,
        Code::UnknownAttachment,
        Code::UploadTooLarge,
    ])
    .responds(ResponseKind::Created)
    .on(CONTENT)
    .item(),
    handler(
        "file.create_with",
        |w| Box::pin(uploads::create(w)),
        "Creates an item with the files of the form that it names (`options.uploads`).",
    )
    .fails(&[
        Code::DuplicateValue,
        Code::UploadNoData,
        Code::UploadTooLarge,
        Code::UploadTypeRefused,
        Code::CannotCreate,
        Code::PostInvalidParent,
    ])
    .responds(ResponseKind::Created)
    .on(CONTENT)
    .settings(&["uploads"]),
    handler("file.process", |w| Box::pin(files::process(w)), "Makes the sizes of a picture that are still missing.")
        .fails(&[Code::CannotEdit, Code::PostInvalidId])
        .on(CONTENT)
        .item(),
    sync_handler("singleton.get", singleton::get, "Responds with the one document of settings.")
        .fails(&[Code::Forbidden])
        .on(SINGLETON),
    handler("singleton.update", |w| Box::pin(singleton::update(w)), "Changes settings.")
        .fails(&[Code::Forbidden])
        .on(SINGLETON),
    sync_handler("current_user.get", users::me, "Responds with the caller's own user.")
        .fails(&[Code::NotLoggedIn])
        .on(USERS),
    handler("current_user.update", |w| Box::pin(users::update(w)), "Changes the caller's own user.")
        .fails_of(failures::UPDATE)
        .fails_at(failures::UPDATE_AT)
        .on(USERS)
        .item(),
    handler(
        "current_user.delete",
        |w| Box::pin(users::delete(w)),
        "Deletes the caller's own user and reassigns the records.",
    )
    .fails(&[Code::UserCannotDelete, Code::UserInvalidId])
    .responds(ResponseKind::Deleted)
    .on(USERS)
    .item(),
    sync_handler(
        "echo",
        echo::echo,
        "Responds with the checked arguments, so that an argument can be tried from `routes.toml` alone.",
    )
    .responds(ResponseKind::Json(status::OK, "{}"))
    .example(r#"{ methods = ["GET"], handler = "echo", access = "public" }"#),
];
