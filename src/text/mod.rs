//! Text and time functions that behaviours are made of: pure, linear in their input, and free of panics.
//!
//! Nothing here knows of requests, storage or declarations. What WordPress shows in `rendered` is the reference; the
//! corpus in `fixtures/render` contains its results for sentences of ours, and where we differ on purpose.

pub(crate) mod autop;
pub(crate) mod balance;
pub(crate) mod base64;
pub(crate) mod block_css;
mod block_sizes;
pub(crate) mod block_styles;
pub(crate) mod blocks;
#[cfg(test)]
#[path = "../../tests/common/html.rs"]
mod browser;
pub(crate) mod browsers;
pub(crate) mod clickable;
#[cfg(test)]
mod corpus;
pub(crate) mod dates;
pub(crate) mod dress;
pub(crate) mod font;
pub(crate) mod head;
pub(crate) mod hex;
pub(crate) mod highlight;
pub(crate) mod html;
pub(crate) mod html_policy;
pub(crate) mod layout;
mod markup;
pub(crate) mod permalink;
pub(crate) mod php;
pub(crate) mod render;
pub(crate) mod sanitize;
pub(crate) mod search;
pub(crate) mod shortcode;
pub(crate) mod slug;
pub(crate) mod smilies;
pub(crate) mod strip;
pub(crate) mod tags;
pub(crate) mod texturize;
pub mod time;
pub(crate) mod words;
