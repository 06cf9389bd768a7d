//! Text and time functions that behaviours are made of: pure, linear in their input, and free of panics.
//!
//! Nothing here knows of requests, storage or declarations. The reference is `rendered` in WordPress; the corpus in
//! `fixtures/render` contains its results for sentences of ours, and where we differ on purpose.

pub mod address;
pub mod autop;
pub mod balance;
pub mod base64;
pub mod block_css;
mod block_sizes;
pub mod block_source;
pub mod block_styles;
pub mod blocks;
#[cfg(test)]
#[path = "../../../tests/common/html.rs"]
mod browser;
pub mod browsers;
pub mod clickable;
#[cfg(test)]
mod corpus;
pub mod dates;
pub mod dress;
mod fold;
pub mod font;
pub mod form_tags;
pub mod head;
pub mod hex;
pub mod highlight;
pub mod html;
pub mod html_policy;
pub mod layout;
mod markup;
pub mod php;
pub mod phrase;
pub mod render;
pub mod sanitize;
pub mod search;
pub mod shortcode;
pub mod site_links;
pub mod slug;
pub mod smilies;
pub mod strip;
pub mod tags;
pub mod texturize;
pub mod time;
pub mod words;
pub mod xml;

pub use fold::fold;
