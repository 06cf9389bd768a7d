//! What the console asks beside the routes of resources. Nothing here is written per resource.

mod accounts;
mod describe;
mod fields;
mod health;
mod presence;
pub mod texts;

pub use accounts::{end_session, end_sessions, invite, sessions};
pub use describe::get as description;
pub use health::{Inside, declarations, get as health};
pub use presence::presence;
