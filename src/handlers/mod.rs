//! What endpoints do: a closed set of handlers that serve every resource.
//!
//! A handler gets what access has allowed, reads or writes through plans, and returns documents. It knows families,
//! never resources by name.

pub mod abilities;
pub mod auto_add;
mod batch;
pub mod catalogue;
mod comments;
mod comparisons;
pub(crate) mod cursor;
mod echo;
mod export;
mod fetched;
pub mod files;
pub mod items;
mod link_preview;
pub mod lists;
mod navigation_fallback;
mod oembed;
mod originals;
mod outcome;
mod passwords;
mod rendering;
mod revisions;
mod search;
mod search_words;
mod sideload;
mod singleton;
mod site_health;
mod static_list;
mod terms;
mod themes;
mod uploads;
mod users;
mod view_patch;
mod views;
mod widget_html;
mod widgets;
mod written;

pub use outcome::{Outcome, Rendered};
pub use written::{Refusal, Written};

use crate::access::hashing::Hasher;
use crate::access::identity::Identity;
use crate::access::unlock::RecordPassword;
use crate::access::{Allowed, audit};
use crate::cache::documents::DocumentCache;
use crate::config::declaration::Family;
use crate::error::{ApiError, Code};
use crate::families::RowEdit;
use crate::families::file::MediaServices;
use crate::model::Method;
use crate::outbound::Outbound;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{Named, ROWS};
use crate::registry::{Endpoint, Route};
use crate::request::BodyParams;
use crate::request::args::Sources;
use crate::request::call::{Call, CustomField, Part};
use crate::request::conditional::Expects;
use crate::request::fields::Fields;
use crate::scope::Scope;
use crate::storage::plan::{Change, CommitError, Committed, Row, WritePlan};
use serde_json::{Map, Value};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// What a handler works on.
pub struct Work<'a> {
    pub scope: &'a Scope,
    pub route: &'a Route,
    pub endpoint: &'a Endpoint,
    pub allowed: &'a Allowed,
    pub fields: &'a Fields,
    /// The query as sent, for links to the neighbouring pages.
    pub query: &'a Map<String, Value>,
    pub raw_query: &'a str,
    pub body: &'a BodyParams,
    /// Path of the route as requested.
    pub path: &'a str,
    /// What a write expects of its target.
    pub expects: &'a Expects,
    /// The route's values from the path.
    pub captures: &'a Map<String, Value>,
    /// Documents may be returned as text: nothing is added to them or wrapped around them. (What is embedded is put
    /// into the text.)
    pub as_text: bool,
    /// The password of a record that the request brings.
    pub given: Option<&'a RecordPassword<'a>>,
    pub shared: &'a Shared,
    /// Changes of single meta values of the row that is written.
    pub custom_fields: &'a [CustomField],
    /// For handlers that send requests to other routes.
    pub dispatch: &'a dyn Dispatch,
}

/// What handlers use beside the database; all requests share it.
pub struct Shared {
    /// Verifies and makes credentials.
    pub identity: Arc<Identity>,
    /// Hashes account passwords.
    pub hasher: Arc<Hasher>,
    /// Where files live, and who works on pictures.
    pub media: Arc<MediaServices>,
    /// Documents that were rendered before.
    pub documents: DocumentCache,
    /// Requests to other sites.
    pub outbound: Outbound,
    /// Menus that new records are added to.
    pub menus: auto_add::Menus,
}

/// Requests inside a request.
pub trait Dispatch {
    /// Answers a request inside another; `batch` refuses routes that take no part in batches.
    fn part<'a>(&'a self, scope: &'a Scope, call: &'a Call, batch: bool) -> Pin<Box<dyn Future<Output = Part> + 'a>>;

    /// What prevents a part of a batch before anything is done.
    ///
    /// # Errors
    /// The route does not exist or takes no part in batches; arguments do not fit.
    fn check_part(&self, call: &Call) -> Result<(), ApiError>;
}

/// A handler's outcome, ready perhaps only after a commit.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Outcome, ApiError>> + 'a>>;

/// A handler.
pub type Handler = for<'a> fn(&'a Work<'a>) -> Answer<'a>;

/// Options of a resource whose entries are declared.
const ENTRIES: &[&str] =
    &["entries", "entries_from", "key", "key_parts", "links", "links_where", "embeddable_links", "holder", "filters"];

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
    .on(ROWS)
    .settings(&["lookup"]),
    handler(
        "list",
        |w| Box::pin(async move { lists::list(w) }),
        "Responds with the rows that the arguments select, in pages, with totals in headers.",
    )
    .on(ROWS),
    handler("get", |w| Box::pin(async move { items::get(w) }), "Responds with one item.").on(ROWS).item(),
    handler("create", |w| Box::pin(items::create(w)), "Creates an item from the arguments; 201 with its address.")
        .on(ROWS),
    handler("update", |w| Box::pin(items::update(w)), "Changes the properties of an item that the request gives.")
        .on(ROWS)
        .item(),
    handler(
        "delete",
        |w| Box::pin(items::delete(w)),
        "Deletes an item, or moves it to the trash where it has one and `force` is not set.",
    )
    .on(ROWS)
    .item(),
    handler("file.create", |w| Box::pin(files::create(w)), "Stores the file in the body and creates its record.")
        .on(&[Family::Content]),
    handler(
        "file.edit",
        |w| Box::pin(files::edit(w)),
        "Cuts, turns or mirrors a picture and stores the result as a new record.",
    )
    .on(&[Family::Content])
    .item(),
    handler(
        "file.create_with",
        |w| Box::pin(uploads::create(w)),
        "Creates an item with the files of the form that it names (`options.uploads`).",
    )
    .on(&[Family::Content])
    .settings(&["uploads"]),
    handler(
        "file.sideload",
        |w| Box::pin(sideload::add(w)),
        "Adds one file that the client made of a picture, without describing it.",
    )
    .on(&[Family::Content])
    .item(),
    handler(
        "file.finalize",
        |w| Box::pin(sideload::finish(w)),
        "Describes the files that were added to a record, in one write.",
    )
    .on(&[Family::Content])
    .item(),
    handler("file.process", |w| Box::pin(files::process(w)), "Makes the sizes of a picture that are still missing.")
        .on(&[Family::Content])
        .item(),
    handler(
        "singleton.get",
        |w| Box::pin(async move { singleton::get(w) }),
        "Responds with the one document of settings.",
    )
    .on(&[Family::Singleton]),
    handler("singleton.update", |w| Box::pin(singleton::update(w)), "Changes settings.").on(&[Family::Singleton]),
    handler("current_user.get", |w| Box::pin(async move { users::me(w) }), "Responds with the caller's own user.")
        .on(&[Family::User]),
    handler("current_user.update", |w| Box::pin(users::update(w)), "Changes the caller's own user.")
        .on(&[Family::User])
        .item(),
    handler(
        "current_user.delete",
        |w| Box::pin(users::delete(w)),
        "Deletes the caller's own user and reassigns the records.",
    )
    .on(&[Family::User])
    .item(),
    handler(
        "app_password.list",
        |w| Box::pin(async move { passwords::list(w) }),
        "Lists the application passwords of a user.",
    )
    .parent(),
    handler(
        "app_password.get",
        |w| Box::pin(async move { passwords::get(w) }),
        "Responds with one application password.",
    )
    .parent(),
    handler(
        "app_password.introspect",
        |w| Box::pin(async move { passwords::introspect(w) }),
        "Responds with the application password that the request was sent with.",
    )
    .parent(),
    handler(
        "app_password.create",
        |w| Box::pin(passwords::create(w)),
        "Creates an application password; only this response holds its clear value.",
    )
    .parent(),
    handler("app_password.update", |w| Box::pin(passwords::update(w)), "Renames an application password.").parent(),
    handler("app_password.delete", |w| Box::pin(passwords::delete(w)), "Revokes an application password.").parent(),
    handler(
        "app_password.delete_all",
        |w| Box::pin(passwords::delete_all(w)),
        "Revokes all application passwords of a user.",
    )
    .parent(),
    handler(
        "catalogue.list",
        |w| Box::pin(async move { catalogue::list(w) }),
        "Lists what is declared: types, taxonomies or statuses.",
    )
    .on(&[Family::Catalogue])
    .settings(&["autosave_feature", "labels"]),
    handler(
        "catalogue.get",
        |w| Box::pin(async move { catalogue::get(w) }),
        "Responds with one declared type, taxonomy or status.",
    )
    .on(&[Family::Catalogue])
    .settings(&["hidden", "autosave_feature", "labels"]),
    handler(
        "static.list",
        |w| Box::pin(async move { static_list::list(w) }),
        "Lists the entries that `options.entries` declares.",
    )
    .settings(ENTRIES),
    handler("static.get", |w| Box::pin(async move { static_list::get(w) }), "Responds with one declared entry.")
        .settings(ENTRIES),
    handler("ability.run", |w| Box::pin(abilities::run(w)), "Runs a declared ability and responds with its result.")
        .on(&[Family::Virtual]),
    handler(
        "view_config.get",
        |w| Box::pin(views::get(w)),
        "Responds with the declared look of an entity's lists and forms.",
    )
    .on(&[Family::Virtual])
    .settings(&["views"]),
    handler("block.render", |w| Box::pin(async move { rendering::render(w) }), "Renders one block as a page shows it.")
        .settings(&["types"]),
    handler(
        "static.update",
        |w| Box::pin(async move { static_list::update(w) }),
        "Changes the row that names an entry (`options.holder`).",
    )
    .settings(ENTRIES),
    handler(
        "widget.list",
        |w| Box::pin(async move { widgets::list(w) }),
        "Lists widgets, in the order of their places.",
    )
    .on(&[Family::Plain])
    .settings(&["widgets"]),
    handler("widget.get", |w| Box::pin(async move { widgets::get(w) }), "Responds with one widget.")
        .on(&[Family::Plain]),
    handler("widget.create", |w| Box::pin(widgets::create(w)), "Makes a widget of a declared type.")
        .on(&[Family::Plain]),
    handler("widget.update", |w| Box::pin(widgets::update(w)), "Changes the settings or the place of a widget.")
        .on(&[Family::Plain]),
    handler("widget.delete", |w| Box::pin(widgets::delete(w)), "Deletes a widget, or moves it to the unused ones.")
        .on(&[Family::Plain]),
    handler(
        "widget.places",
        |w| Box::pin(async move { widgets::places(w) }),
        "Lists the declared places with their widgets.",
    )
    .settings(ENTRIES),
    handler("widget.place", |w| Box::pin(async move { widgets::place(w) }), "Responds with one place and its widgets.")
        .settings(ENTRIES),
    handler("widget.arrange", |w| Box::pin(widgets::arrange(w)), "Puts widgets into a place, in an order.")
        .settings(ENTRIES),
    handler(
        "widget.encode",
        |w| Box::pin(async move { widgets::encode(w) }),
        "Responds with the form for settings, the widget that they make, and the settings as they are stored.",
    ),
    handler(
        "widget.preview",
        |w| Box::pin(async move { widgets::preview(w) }),
        "Responds with a page that shows a widget alone.",
    ),
    handler(
        "search",
        |w| Box::pin(async move { search::search(w) }),
        "Searches records, terms and declared values of all searchable types at once.",
    )
    .settings(&["values"]),
    handler("theme.list", |w| Box::pin(themes::list(w)), "Lists the declared themes.")
        .settings(&["user_styles", "theme_links"]),
    handler("theme.get", |w| Box::pin(themes::get(w)), "Responds with one declared theme.")
        .settings(&["user_styles", "theme_links"]),
    handler("revision.list", |w| Box::pin(async move { revisions::list(w) }), "Lists the revisions of a record.")
        .on(&[Family::Virtual])
        .parent(),
    handler("revision.get", |w| Box::pin(async move { revisions::get(w) }), "Responds with one revision of a record.")
        .on(&[Family::Virtual])
        .parent(),
    handler("revision.delete", |w| Box::pin(revisions::delete(w)), "Deletes a revision.")
        .on(&[Family::Virtual])
        .parent(),
    handler("autosave.list", |w| Box::pin(async move { revisions::autosaves(w) }), "Lists the autosaves of a record.")
        .on(&[Family::Virtual])
        .parent(),
    handler(
        "autosave.get",
        |w| Box::pin(async move { revisions::autosave(w) }),
        "Responds with one autosave of a record.",
    )
    .on(&[Family::Virtual])
    .parent(),
    handler(
        "autosave.create",
        |w| Box::pin(revisions::save(w)),
        "Stores an autosave; a draft of the caller's own is changed itself.",
    )
    .on(&[Family::Virtual])
    .item()
    .parent(),
    handler(
        "batch",
        |w| Box::pin(batch::batch(w)),
        "Carries out the requests that the body lists, each by its own rules.",
    ),
    handler(
        "oembed.get",
        |w| Box::pin(async move { oembed::embed(w) }),
        "Describes a record of this site for others that embed it (oEmbed).",
    ),
    handler("oembed.proxy", |w| Box::pin(link_preview::embed(w)), "Asks a declared provider how to embed an address."),
    handler(
        "link_preview.get",
        |w| Box::pin(link_preview::details(w)),
        "Fetches title, icon, description and picture of a public page (see `outbound.link_previews`).",
    ),
    handler(
        "navigation_fallback.get",
        |w| Box::pin(navigation_fallback::get(w)),
        "Responds with the newest navigation; where there is none, creates one from a menu.",
    )
    .settings(&["navigation"]),
    handler(
        "site_health.test",
        |w| Box::pin(async move { site_health::test(w) }),
        "Responds with one declared check of the site's health.",
    )
    .settings(&["entries", "key"]),
    handler(
        "theme.export",
        |w| Box::pin(export::export(w)),
        "Responds with an archive of the theme's templates and styles.",
    )
    .settings(&["folders", "styles"]),
    handler(
        "echo",
        |w| Box::pin(async move { echo::echo(w) }),
        "Responds with the checked arguments, so that an argument can be tried from `routes.toml` alone.",
    )
    .example(r#"{ methods = ["GET"], handler = "echo", access = "public" }"#),
];

impl<'a> Work<'a> {
    /// The route's resource.
    ///
    /// # Errors
    /// A handler of resources on a route without one: 500.
    pub fn resource(&self) -> Result<&'a Resource, ApiError> {
        let index = self.route.resource.ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(&self.scope.registry.resources[index])
    }

    /// Requests another route in the caller's name.
    pub async fn ask(&self, method: Method, path: &str, query: Value, body: BodyParams) -> Part {
        self.ask_in(self.scope.clone(), method, path, query, body).await
    }

    /// Requests another route in the name of the scope's caller.
    async fn ask_in(&self, mut scope: Scope, method: Method, path: &str, query: Value, body: BodyParams) -> Part {
        let query = query.as_object().cloned().unwrap_or_default();
        scope.depth += 1;
        let call = Call {
            method,
            path: path.to_owned(),
            query,
            raw_query: String::new(),
            body: Ok(body),
            expects: Expects::default(),
            text: false,
            custom_fields: Vec::new(),
        };
        self.dispatch.part(&scope, &call, false).await
    }

    /// What the request brings.
    pub fn sources(&self) -> Sources<'a> {
        Sources { path: self.captures, body: self.body, query: self.query }
    }

    /// The resource that took the route over.
    ///
    /// # Errors
    /// A route without one: 500.
    pub fn owner(&self) -> Result<&'a Resource, ApiError> {
        let index = self.route.owner.ok_or_else(|| ApiError::new(Code::Internal))?;
        Ok(&self.scope.registry.resources[index])
    }

    /// The change that the request describes.
    pub fn edit<'b>(&'b self, resource: &'b Resource, row: Option<&'b Row>) -> RowEdit<'b> {
        let given = self.sources().get("type").and_then(Value::as_str);
        let comment_type = given.filter(|kind| row.is_none() && resource.comment_type(kind).is_some());
        RowEdit {
            scope: self.scope,
            resource,
            row,
            args: self.allowed.args(),
            comment_type,
            custom_fields: self.custom_fields,
        }
    }

    /// Writes a plan; the outcome is ready when it is durable.
    ///
    /// # Errors
    /// What the database refuses.
    pub async fn commit(&self, mut plan: WritePlan) -> Result<Committed, CommitError> {
        plan.changes.extend(audited(self));
        self.scope.storage.commit(plan.by(self.scope.actor())).await
    }
}

/// The entry that an endpoint's declaration requires, when the request sets one of the arguments that it names.
fn audited(work: &Work<'_>) -> Option<Change> {
    let declared = work.endpoint.audit.as_ref()?;
    let args = work.allowed.args();
    let changed: Vec<String> = declared
        .args
        .iter()
        .filter_map(|arg| Some((arg, args.given(arg)?)))
        .map(|(arg, value)| if declared.values.contains(arg) { format!("{arg}={value}") } else { arg.clone() })
        .collect();
    if changed.is_empty() && !declared.args.is_empty() {
        return None;
    }
    let caller = &work.scope.principal;
    let subject = declared.subject.as_ref().and_then(|arg| args.text(arg)).unwrap_or_default();
    let event = audit::Event {
        name: &declared.event,
        user: caller.id,
        login: &caller.login,
        path: work.path,
        subject,
        changed,
    };
    audit::entry(work.scope, &event)
}
