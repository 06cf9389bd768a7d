//! Requests of the console other than those to the routes of resources. Nothing here is written per resource.

mod assistants;
mod describe;
mod field_groups;
mod fields;
mod health;
mod presence;
pub mod texts;

pub use self::describe::label;

use crate::error::{Code, status};
use crate::features::events::STREAM;
use crate::handlers::{Handler, handler, sync_handler};
use crate::model::EVENT_STREAM;
use crate::registry::vocabulary::VIRTUAL;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler(
        "console.description",
        describe::get,
        "Responds with what the console shows to the caller: resources, their operations, fields and views.",
    )
    .role(HandlerRole::ConsoleDescription)
    .on(VIRTUAL),
    sync_handler("console.health", health::get, "Responds with what can be seen of the site's health from inside.")
        .role(HandlerRole::SiteHealth)
        .responds(ResponseKind::List)
        .on(VIRTUAL),
    sync_handler(
        "console.declarations",
        health::declarations,
        "Responds with what is declared and where, and why the newest declarations are refused.",
    )
    .on(VIRTUAL),
    sync_handler(
        "console.assistants",
        assistants::get,
        "Responds with the address of the Model Context Protocol and the credentials of programs, with their last use.",
    )
    .on(VIRTUAL),
    handler(
        "console.presence",
        |w| Box::pin(presence::presence(w)),
        "Notes which record a window of the console has open, and responds with who else has it open.",
    )
    .fails(&[Code::InvalidParam])
    .on(VIRTUAL),
    sync_handler(
        "console.others",
        presence::others,
        "Responds with who else has the records open that a window of the console shows.",
    )
    .fails(&[Code::InvalidParam])
    .on(VIRTUAL),
    sync_handler(
        "console.stream",
        presence::stream,
        "Tells of changes as `event.stream` does, and of who else has records open (event `presence`).",
    )
    .fails(&[Code::InvalidParam])
    .responds(ResponseKind::Json(status::OK, STREAM))
    .also(EVENT_STREAM)
    .on(VIRTUAL),
];
