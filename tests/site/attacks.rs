//! One test per class of attack and per bound: what strangers and authors send, and that the site stays whole.

mod fields;
mod files;
#[path = "../common/html.rs"]
mod html;
mod identity;
mod rendering;
mod searches;
mod xmlrpc;
