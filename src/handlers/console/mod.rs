//! What the console asks beside the routes of resources. Nothing here is written per resource.

mod describe;
mod fields;

pub use describe::get as description;
