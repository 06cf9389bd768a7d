//! Requests of the console other than those to the routes of resources. Nothing here is written per resource.

mod describe;
mod fields;
mod health;
mod presence;
pub mod texts;

use crate::error::Code;
use crate::handlers::{Handler, handler};
use crate::registry::vocabulary::VIRTUAL;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole, ResponseKind};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler(
        "console.description",
        |w| Box::pin(async move { describe::get(w) }),
        "Responds with what the console shows to the caller: resources, their operations, fields and views.",
    )
    .role(HandlerRole::ConsoleDescription)
    .on(VIRTUAL),
    handler(
        "console.health",
        |w| Box::pin(async move { health::get(w) }),
        "Responds with what can be seen of the site's health from inside.",
    )
    .role(HandlerRole::SiteHealth)
    .responds(ResponseKind::List)
    .on(VIRTUAL),
    handler(
        "console.declarations",
        |w| Box::pin(async move { health::declarations(w) }),
        "Responds with what is declared and where, and why the newest declarations are refused.",
    )
    .on(VIRTUAL),
    handler(
        "console.presence",
        |w| Box::pin(presence::presence(w)),
        "Notes which record a window of the console has open, and responds with who else has it open.",
    )
    .fails(&[Code::InvalidParam])
    .on(VIRTUAL),
];
