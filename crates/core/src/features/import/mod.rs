//! Collections are imported from JSON documents in lines, and from comma-separated values.

mod lines;
mod lookup;
mod reader;
mod references;

use crate::error::Code;
use crate::handlers::{Handler, handler};
use crate::model::LINES;
use crate::registry::vocabulary::{BehaviourEntry, ROWS, ResponseKind};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[handler(
    "import",
    |w| Box::pin(lines::import(w)),
    "Creates and changes items of the resource from JSON documents in lines, or from comma-separated values.",
)
.on(ROWS)
.responds(ResponseKind::Bytes(LINES))
.fails(&[Code::UploadNoData])];
