//! Features that serve one route, one block or one part of the console each: a folder has its guard, its handlers with
//! their rows of the tables, its options and its tests. Code that serves every resource is in [`crate::handlers`].
//!
//! The `guard.rs` of a feature belongs to the layer of [`crate::access`], which has all guards in one table.

pub mod abilities;
pub mod addresses;
pub mod application_passwords;
pub mod batch;
pub mod block_data;
pub mod block_rendering;
pub mod catalogue;
pub mod console;
pub mod events;
pub mod feeds;
pub mod file_replacement;
pub mod forms;
pub mod import;
pub mod languages;
pub mod link_previews;
pub mod menu_tree;
pub mod navigation_fallback;
pub mod oauth;
pub mod oembed;
pub mod preview_links;
pub mod redirects;
pub mod reviews;
pub mod revisions;
pub mod roles;
pub mod search;
pub mod second_factors;
pub mod seo;
pub mod service_description;
pub mod sessions;
pub mod sideload;
pub mod site_export;
pub mod site_health;
pub mod sitemaps;
pub mod static_entries;
pub mod themes;
pub mod tokens;
pub mod view_config;
pub mod webhooks;
pub mod widgets;

use crate::handlers::{self, Handler};
use crate::registry::vocabulary::{BehaviourEntry, joined, rows};

const TABLES: &[&[BehaviourEntry<Handler>]] = &[
    handlers::HANDLERS,
    abilities::HANDLERS,
    addresses::HANDLERS,
    application_passwords::HANDLERS,
    batch::HANDLERS,
    block_data::HANDLERS,
    block_rendering::HANDLERS,
    catalogue::HANDLERS,
    console::HANDLERS,
    events::HANDLERS,
    feeds::HANDLERS,
    file_replacement::HANDLERS,
    forms::HANDLERS,
    import::HANDLERS,
    languages::HANDLERS,
    link_previews::HANDLERS,
    menu_tree::HANDLERS,
    navigation_fallback::HANDLERS,
    oauth::HANDLERS,
    oembed::HANDLERS,
    preview_links::HANDLERS,
    redirects::HANDLERS,
    reviews::HANDLERS,
    revisions::HANDLERS,
    roles::HANDLERS,
    search::HANDLERS,
    seo::HANDLERS,
    service_description::HANDLERS,
    second_factors::HANDLERS,
    sessions::HANDLERS,
    sideload::HANDLERS,
    site_export::HANDLERS,
    site_health::HANDLERS,
    sitemaps::HANDLERS,
    static_entries::HANDLERS,
    themes::HANDLERS,
    tokens::HANDLERS,
    view_config::HANDLERS,
    webhooks::HANDLERS,
    widgets::HANDLERS,
];

/// Every handler by the name that declarations use.
pub static HANDLERS: &[BehaviourEntry<Handler>] = &joined::<_, { rows(TABLES) }>(TABLES);
