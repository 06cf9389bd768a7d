//! Every handler by the name that declarations use: what it does, what it needs, what it responds with and how it fails.

use super::*;
use crate::error::Code;
use crate::model::LINES;
use crate::registry::vocabulary::{Named, ROWS, Responds};
use cms_config::declaration::Family;

/// Options of a resource whose entries are declared.
const ENTRIES: &[&str] =
    &["entries", "entries_from", "key", "key_parts", "links", "links_where", "embeddable_links", "holder", "filters"];

/// Responses that no declared schema describes.
const COUNTED: &str = r#"{"type": "object", "properties": {"deleted": {"type": "boolean"}, "count": {"type": "integer", "description": "How many were deleted."}}}"#;
const INVITED: &str = r#"{"type": "object", "properties": {"invited": {"type": "boolean"}, "user": {"type": "integer", "description": "Id of the user."}}}"#;
const PREVIEW: &str =
    r#"{"type": "object", "properties": {"preview": {"type": "string", "description": "A page as HTML."}}}"#;
const ADDED: &str = r#"{"type": "object", "properties": {
    "image_size": {"type": ["string", "array"], "items": {"type": "string"}}, "width": {"type": "integer"},
    "height": {"type": "integer"}, "file": {"type": "string"}, "mime_type": {"type": "string"},
    "filesize": {"type": "integer"}, "original_image": {"type": "string"}}}"#;
const BATCH: &str = r#"{"type": "object", "example": {"responses": [
    {"status": 201, "headers": {"Allow": "GET, POST"}, "body": {"id": 9, "name": "Tide tables", "slug": "tide-tables"}}]},
    "properties": {
    "failed": {"type": "string", "description": "Why no part was carried out."},
    "responses": {"type": "array", "description": "In the order of the requests.", "items": {"type": ["object", "null"],
        "properties": {"status": {"type": "integer"}, "headers": {"type": ["object", "array"]}, "body": {}}}}}}"#;

const fn handler(name: &'static str, run: Handler, doc: &'static str) -> Named<Handler> {
    Named::new(name, run, doc)
}

/// Every handler by the name that declarations use.
pub const HANDLERS: &[Named<Handler>] = &[
    handler(
        "lookup",
        |w| Box::pin(async move { items::lookup(w) }),
        "Responds with the item that serves for a slug, in the view context.",
    )
    .fails(&[Code::CannotView])
    .on(ROWS)
    .settings(&["lookup"]),
    handler(
        "list",
        |w| Box::pin(async move { lists::list(w) }),
        "Responds with the rows that the arguments select, in pages, with totals in headers.",
    )
    .fails(&[Code::CannotRead, Code::PostInvalidParent])
    .fails_of(failures::LIST)
        .fails_at(failures::LIST_AT)
    .responds(Responds::Page)
    .on(ROWS),
    handler("get", |w| Box::pin(async move { items::get(w) }), "Responds with one item.")
        .fails_of(failures::GET)
        .on(ROWS)
        .item(),
    handler("create", |w| Box::pin(items::create(w)), "Creates an item from the arguments; 201 with its address.")
        .fails_of(failures::CREATE)
        .fails_at(failures::CREATE_AT)
        .responds(Responds::Created)
        .on(ROWS),
    handler("update", |w| Box::pin(items::update(w)), "Changes the properties of an item that the request gives.")
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
    .responds(Responds::Trashed)
    .on(ROWS)
    .item(),
    handler("file.create", |w| Box::pin(files::create(w)), "Stores the file in the body and creates its record.")
        .fails(&[
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
        .responds(Responds::Created)
        .on(&[Family::Content]),
    handler(
        "file.edit",
        |w| Box::pin(files::edit(w)),
        "Cuts, turns or mirrors a picture and stores the result as a new record.",
    )
    .fails(&[Code::PostInvalidId,
        Code::CannotEdit,
        Code::CannotEditImage,
        Code::ImageCropFailed,
        Code::ImageNotEdited,
        Code::UnknownAttachment,
        Code::UploadTooLarge,
    ])
    .responds(Responds::Created)
    .on(&[Family::Content])
    .item(),
    handler(
        "file.replace",
        |w| Box::pin(replacement::replace(w)),
        "Puts another file of the same type in the place of a record's file: the addresses of the file and of its sizes stay.",
    )
    .fails(&[
        Code::PostInvalidId,
        Code::CannotEdit,
        Code::CannotEditImage,
        Code::FileElsewhere,
        Code::PreconditionFailed,
        Code::UploadHashMismatch,
        Code::UploadInvalidDisposition,
        Code::UploadNoData,
        Code::UploadNoDisposition,
        Code::UploadOtherType,
        Code::UploadTooLarge,
        Code::UploadTypeRefused,
    ])
    .on(&[Family::Content])
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
    .responds(Responds::Created)
    .on(&[Family::Content])
    .settings(&["uploads"]),
    handler(
        "file.sideload",
        |w| Box::pin(sideload::add(w)),
        "Adds one file that the client made of a picture, without describing it.",
    )
    .fails(&[
        Code::CannotEdit,
        Code::PostInvalidId,
        Code::UploadDimensionMismatch,
        Code::UploadInvalidDimensions,
        Code::UploadInvalidImage,
        Code::UploadNoData,
        Code::UploadRefusedBody,
    ])
    .fails_at(&[(None, Code::PostInvalidId, 400)])
    .responds(Responds::Json(200, ADDED))
    .on(&[Family::Content])
    .item(),
    handler(
        "file.finalize",
        |w| Box::pin(sideload::finish(w)),
        "Describes the files that were added to a record, in one write.",
    )
    .fails(&[Code::PostInvalidId, Code::CannotEdit, Code::CannotEditImage, Code::InvalidSubSizeFile])
    .on(&[Family::Content])
    .item(),
    handler("file.process", |w| Box::pin(files::process(w)), "Makes the sizes of a picture that are still missing.")
        .fails(&[Code::CannotEdit, Code::PostInvalidId])
        .on(&[Family::Content])
        .item(),
    handler(
        "singleton.get",
        |w| Box::pin(async move { singleton::get(w) }),
        "Responds with the one document of settings.",
    )
    .fails(&[Code::Forbidden])
    .on(&[Family::Singleton]),
    handler("singleton.update", |w| Box::pin(singleton::update(w)), "Changes settings.")
        .fails(&[Code::Forbidden])
        .on(&[Family::Singleton]),
    handler("current_user.get", |w| Box::pin(async move { users::me(w) }), "Responds with the caller's own user.")
        .fails(&[Code::NotLoggedIn])
        .on(&[Family::User]),
    handler("current_user.update", |w| Box::pin(users::update(w)), "Changes the caller's own user.")
        .fails_of(failures::UPDATE)
        .fails_at(failures::UPDATE_AT)
        .on(&[Family::User])
        .item(),
    handler(
        "current_user.delete",
        |w| Box::pin(users::delete(w)),
        "Deletes the caller's own user and reassigns the records.",
    )
    .fails(&[Code::UserCannotDelete, Code::UserInvalidId])
    .responds(Responds::Deleted)
    .on(&[Family::User])
    .item(),
    handler(
        "app_password.list",
        |w| Box::pin(async move { passwords::list(w) }),
        "Lists the application passwords of a user.",
    )
    .fails(&[Code::CannotListAppPasswords])
    .responds(Responds::List)
    .parent(),
    handler(
        "app_password.get",
        |w| Box::pin(async move { passwords::get(w) }),
        "Responds with one application password.",
    )
    .fails(&[Code::AppPasswordNotFound, Code::CannotReadAppPassword])
    .parent(),
    handler(
        "app_password.introspect",
        |w| Box::pin(async move { passwords::introspect(w) }),
        "Responds with the application password that the request was sent with.",
    )
    .fails(&[Code::CannotIntrospect])
    .parent(),
    handler(
        "app_password.create",
        |w| Box::pin(passwords::create(w)),
        "Creates an application password; only this response holds its clear value.",
    )
    .fails(&[Code::CannotCreateAppPasswords])
    .responds(Responds::Created)
    .parent(),
    handler("app_password.update", |w| Box::pin(passwords::update(w)), "Renames an application password.")
        .fails(&[Code::AppPasswordNotFound, Code::CannotEditAppPassword])
        .parent(),
    handler("app_password.delete", |w| Box::pin(passwords::delete(w)), "Revokes an application password.")
        .fails(&[Code::AppPasswordNotFound, Code::CannotDeleteAppPassword])
        .responds(Responds::Deleted)
        .parent(),
    handler(
        "app_password.delete_all",
        |w| Box::pin(passwords::delete_all(w)),
        "Revokes all application passwords of a user.",
    )
    .fails(&[Code::CannotDeleteAppPasswords])
    .responds(Responds::Json(200, COUNTED))
    .parent(),
    handler(
        "catalogue.list",
        |w| Box::pin(async move { catalogue::list(w) }),
        "Lists what is declared: types, taxonomies or statuses.",
    )
    .fails(&[Code::CannotView])
    .responds(Responds::ByKey)
    .on(&[Family::Catalogue])
    .settings(&["autosave_feature", "labels"]),
    handler(
        "catalogue.get",
        |w| Box::pin(async move { catalogue::get(w) }),
        "Responds with one declared type, taxonomy or status.",
    )
    .fails(&[
        Code::CannotReadStatus,
        Code::CannotReadTypes,
        Code::Forbidden,
        Code::ForbiddenContext,
        Code::StatusInvalid,
        Code::TaxonomyInvalid,
        Code::TypeInvalid,
    ])
    .on(&[Family::Catalogue])
    .settings(&["hidden", "autosave_feature", "labels"]),
    handler(
        "static.list",
        |w| Box::pin(async move { static_list::list(w) }),
        "Lists the entries that `options.entries` declares.",
    )
    .fails(&[Code::RecordInvalidId, Code::CannotRead, Code::CannotView, Code::Forbidden, Code::ThemeNotFound])
    .responds(Responds::List)
    .settings(ENTRIES),
    handler("static.get", |w| Box::pin(async move { static_list::get(w) }), "Responds with one declared entry.")
        .fails(&[Code::RecordInvalidId, Code::CannotRead, Code::CannotView, Code::Forbidden, Code::ThemeNotFound])
        .settings(ENTRIES),
    handler("ability.run", |w| Box::pin(abilities::run(w)), "Runs a declared ability and responds with its result.")
        .fails(&[
            Code::RecordInvalidId,
            Code::NoRoute,
            Code::Forbidden,
            Code::MissingParam,
            Code::InvalidParam,
            Code::Internal,
            Code::AlreadyTrashed,
            Code::CannotCreate,
            Code::Cancelled,
        ])
        .responds(Responds::Json(200, "{}"))
        .on(&[Family::Virtual]),
    handler(
        "view_config.get",
        |w| Box::pin(views::get(w)),
        "Responds with the declared look of an entity's lists and forms.",
    )
    .fails(&[Code::RecordInvalidId, Code::CannotRead])
    .on(&[Family::Virtual])
    .settings(&["views"]),
    handler(
        "console.description",
        |w| Box::pin(async move { console::description(w) }),
        "Responds with what the console shows to the caller: resources, their operations, fields and views.",
    )
    .on(&[Family::Virtual]),
    handler(
        "console.health",
        |w| Box::pin(async move { console::health(w) }),
        "Responds with what can be seen of the site's health from inside.",
    )
    .responds(Responds::List)
    .on(&[Family::Virtual]),
    handler(
        "console.declarations",
        |w| Box::pin(async move { console::declarations(w) }),
        "Responds with what is declared, with files and lines, and why the newest declarations are refused, where they are.",
    )
    .on(&[Family::Virtual]),
    handler(
        "console.presence",
        |w| Box::pin(console::presence(w)),
        "Notes which record a window of the console has open, and responds with who else has it open.",
    )
    .fails(&[Code::InvalidParam])
    .on(&[Family::Virtual]),
    handler(
        "session.list",
        |w| Box::pin(async move { console::sessions(w) }),
        "Lists the sessions of a user, the one that was used last first.",
    )
    .responds(Responds::List)
    .parent(),
    handler("session.delete", |w| Box::pin(console::end_session(w)), "Ends a session of a user.")
        .fails(&[Code::RecordInvalidId, Code::CannotEdit])
        .responds(Responds::Deleted)
        .parent(),
    handler(
        "session.delete_all",
        |w| Box::pin(console::end_sessions(w)),
        "Ends all sessions of a user but the one that the request was sent with.",
    )
    .fails(&[Code::CannotEdit])
    .responds(Responds::Json(200, COUNTED))
    .parent(),
    handler("user.invite", |w| Box::pin(console::invite(w)), "Sends a user a link to set a password.")
        .fails(&[Code::CannotEdit, Code::Forbidden, Code::InvalidParam])
        .responds(Responds::Json(200, INVITED))
        .parent(),
    handler("block.render", |w| Box::pin(async move { rendering::render(w) }), "Renders one block as a page shows it.")
        .settings(&["types"])
        .fails(&[Code::Forbidden, Code::RecordInvalidId]),
    handler(
        "static.update",
        |w| Box::pin(async move { static_list::update(w) }),
        "Changes the row that names an entry (`options.holder`).",
    )
    .settings(ENTRIES)
    .fails(&[Code::RecordInvalidId]),
    handler(
        "widget.list",
        |w| Box::pin(async move { widgets::list(w) }),
        "Lists widgets, in the order of their places.",
    )
    .responds(Responds::List)
    .on(&[Family::Plain])
    .settings(&["widgets"]),
    handler("widget.get", |w| Box::pin(async move { widgets::get(w) }), "Responds with one widget.")
        .on(&[Family::Plain])
        .fails(&[Code::RecordInvalidId]),
    handler("widget.create", |w| Box::pin(widgets::create(w)), "Makes a widget of a declared type.")
        .responds(Responds::Created)
        .on(&[Family::Plain])
        .fails(&[Code::InvalidField]),
    handler("widget.update", |w| Box::pin(widgets::update(w)), "Changes the settings or the place of a widget.")
        .on(&[Family::Plain])
        .fails(&[Code::InvalidField, Code::RecordInvalidId]),
    handler("widget.delete", |w| Box::pin(widgets::delete(w)), "Deletes a widget, or moves it to the unused ones.")
        .responds(Responds::Trashed)
        .on(&[Family::Plain])
        .fails(&[Code::RecordInvalidId]),
    handler(
        "widget.places",
        |w| Box::pin(async move { widgets::places(w) }),
        "Lists the declared places with their widgets.",
    )
    .responds(Responds::List)
    .settings(ENTRIES),
    handler("widget.place", |w| Box::pin(async move { widgets::place(w) }), "Responds with one place and its widgets.")
        .settings(ENTRIES)
        .fails(&[Code::RecordInvalidId]),
    handler("widget.arrange", |w| Box::pin(widgets::arrange(w)), "Puts widgets into a place, in an order.")
        .settings(ENTRIES)
        .fails(&[Code::RecordInvalidId]),
    handler(
        "widget.encode",
        |w| Box::pin(async move { widgets::encode(w) }),
        "Responds with the form for settings, the widget that they make, and the settings as they are stored.",
    )
    .responds(Responds::Json(200, "{}"))
    .fails(&[Code::RecordInvalidId]),
    handler(
        "widget.preview",
        |w| Box::pin(async move { widgets::preview(w) }),
        "Responds with a page that shows a widget alone.",
    )
    .responds(Responds::Json(200, PREVIEW))
    .fails(&[Code::RecordInvalidId]),
    handler(
        "search",
        |w| Box::pin(async move { search::search(w) }),
        "Searches records, terms and declared values of all searchable types at once.",
    )
    .fails(&[Code::SearchInvalidPageNumber])
    .responds(Responds::Page)
    .settings(&["values"]),
    handler("theme.list", |w| Box::pin(themes::list(w)), "Lists the declared themes.")
        .fails(&[Code::CannotReadThemes, Code::CannotViewThemes])
        .responds(Responds::List)
        .settings(&["user_styles", "theme_links"]),
    handler("theme.get", |w| Box::pin(themes::get(w)), "Responds with one declared theme.")
        .fails(&[Code::CannotViewThemes, Code::ThemeNotFound])
        .settings(&["user_styles", "theme_links"]),
    handler("revision.list", |w| Box::pin(async move { revisions::list(w) }), "Lists the revisions of a record.")
        .fails(&[
            Code::OriginalInvalid,
            Code::CannotRead,
            Code::NoSearchTerm,
            Code::OrderbyIncludeMissing,
            Code::PostInvalidParent,
            Code::RevisionInvalidOffset,
            Code::RevisionInvalidPageNumber,
        ])
        .responds(Responds::Page)
        .on(&[Family::Virtual])
        .parent(),
    handler("revision.get", |w| Box::pin(async move { revisions::get(w) }), "Responds with one revision of a record.")
        .fails(&[
            Code::OriginalInvalid,
            Code::CannotRead,
            Code::PostInvalidId,
            Code::PostInvalidParent,
            Code::RevisionParentMismatch,
        ])
        .on(&[Family::Virtual])
        .parent(),
    handler("revision.delete", |w| Box::pin(revisions::delete(w)), "Deletes a revision.")
        .fails(&[Code::PostInvalidParent, Code::OriginalInvalid, Code::CannotDelete, Code::PostInvalidId, Code::TrashNotSupported])
        .responds(Responds::Deleted)
        .on(&[Family::Virtual])
        .parent(),
    handler("autosave.list", |w| Box::pin(async move { revisions::autosaves(w) }), "Lists the autosaves of a record.")
        .fails(&[Code::PostInvalidParent, Code::OriginalInvalid, Code::CannotRead])
        .responds(Responds::List)
        .on(&[Family::Virtual])
        .parent(),
    handler(
        "autosave.get",
        |w| Box::pin(async move { revisions::autosave(w) }),
        "Responds with one autosave of a record.",
    )
    .fails(&[Code::PostInvalidParent, Code::OriginalInvalid, Code::CannotRead, Code::NoAutosave])
    .on(&[Family::Virtual])
    .parent(),
    handler(
        "autosave.create",
        |w| Box::pin(revisions::save(w)),
        "Stores an autosave; a draft of the caller's own is changed itself.",
    )
    .fails(&[Code::AutosaveNoChanges])
    .fails_of(failures::UPDATE)
    .fails_at(failures::UPDATE_AT)
    .on(&[Family::Virtual])
    .item()
    .parent(),
    handler(
        "batch",
        |w| Box::pin(batch::batch(w)),
        "Carries out the requests that the body lists, each by its own rules.",
    )
    .responds(Responds::Json(207, BATCH)),
    handler(
        "oembed.get",
        |w| Box::pin(async move { oembed::embed(w) }),
        "Describes a record of this site for others that embed it (oEmbed).",
    )
    .also("text/xml")
    .fails(&[Code::OembedInvalidUrl]),
    handler("oembed.proxy", |w| Box::pin(link_preview::embed(w)), "Asks a declared provider how to embed an address.")
        .also("text/xml")
        .fails(&[Code::Forbidden, Code::OembedInvalidUrl]),
    handler(
        "link_preview.get",
        |w| Box::pin(link_preview::details(w)),
        "Fetches title, icon, description and picture of a public page (see `outbound.link_previews`).",
    )
    .fails(&[Code::NoResponse]),
    handler(
        "navigation_fallback.get",
        |w| Box::pin(navigation_fallback::get(w)),
        "Responds with the newest navigation; where there is none, creates one from a menu.",
    )
    .fails(&[Code::CannotCreate])
    .settings(&["navigation"]),
    handler(
        "site_health.test",
        |w| Box::pin(async move { site_health::test(w) }),
        "Responds with one declared check of the site's health.",
    )
    .fails(&[Code::Forbidden])
    .settings(&["entries", "key"]),
    handler(
        "theme.export",
        |w| Box::pin(export::export(w)),
        "Responds with an archive of the theme's templates and styles.",
    )
    .responds(Responds::Bytes("application/zip"))
    .settings(&["folders", "styles"]),
    handler(
        "import",
        |w| Box::pin(import_lines::import(w)),
        "Creates and changes items of the resource from JSON documents in lines.",
    )
    .on(ROWS)
    .responds(Responds::Bytes(LINES))
    .fails(&[Code::UploadNoData]),
    handler(
        "openapi.get",
        |w| Box::pin(async move { description::get(w) }),
        "Describes the service as OpenAPI 3.1: all of it, one namespace, or what the caller may use.",
    )
    .responds(Responds::Json(200, "{}")),
    handler(
        "echo",
        |w| Box::pin(async move { echo::echo(w) }),
        "Responds with the checked arguments, so that an argument can be tried from `routes.toml` alone.",
    )
    .responds(Responds::Json(200, "{}"))
    .example(r#"{ methods = ["GET"], handler = "echo", access = "public" }"#),
];
