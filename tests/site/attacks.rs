//! One test per class of attack and per limit: what anonymous callers and authors send, and that the site is not
//! harmed.

mod fields;
mod files;
mod hidden;
#[path = "../common/html.rs"]
mod html;
mod identity;
mod rendering;
mod searches;
mod xmlrpc;
