//! References to resources outside routes: rendered parts of contents, menus, the audit trail.

use super::super::Route;
use super::super::columns::{delivery, missing_address, prompt, redirect, review, webhook};
use super::super::entries;
use super::super::resource::*;
use super::super::vocabulary::{Description, names as names_of};
use super::addresses::web_address;
use super::{Linker, extend};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_declaration::{HandlerOptions, ParameterKind};
use cms_text::shortcode;

impl Linker<'_> {
    /// Checks the renderers of blocks and shortcodes, and the resources that they and feeds show.
    pub(super) fn parts(&mut self) {
        let (blocks, shortcodes) = (&self.declared.blocks, &self.declared.shortcodes);
        let renderers = names_of(&self.vocabulary.renderers);
        for (table, all) in [("blocks", blocks), ("shortcodes", shortcodes)] {
            for (part, made) in all {
                if table == "shortcodes" {
                    self.known(&[table, part], "shortcode", part, &shortcode::NAMES);
                }
                self.known(&[table, part, "renderer"], "renderer", &made.renderer, &renderers);
                if let Some(of) = &made.resource {
                    self.resource_named(&[table, part, "resource"], of);
                }
            }
        }
        self.readers();
    }

    /// Resources and properties that options of handlers name.
    pub(super) fn options(&mut self, resources: &[Resource], routes: &[Route]) {
        for resource in resources {
            let options = &resource.declared.options;
            let owner = resource.name.as_str();
            self.options_read(resource, resources, routes);
            let own = [
                (options.holder.as_ref().map(|o| &o.resource), vec!["holder", "resource"]),
                (options.user_styles.as_ref().map(|o| &o.resource), vec!["user_styles", "resource"]),
                (options.styles.as_ref(), vec!["styles"]),
                (options.types.as_ref(), vec!["types"]),
                (options.widgets.as_ref().map(|o| &o.types), vec!["widgets", "types"]),
                (options.widgets.as_ref().map(|o| &o.places), vec!["widgets", "places"]),
                (options.menu_tree.as_ref().map(|o| &o.menus), vec!["menu_tree", "menus"]),
                (options.menu_tree.as_ref().map(|o| &o.items), vec!["menu_tree", "items"]),
                (options.menu_tree.as_ref().map(|o| &o.places), vec!["menu_tree", "places"]),
                (options.navigation.as_ref().map(|o| &o.resource), vec!["navigation", "resource"]),
                (options.navigation.as_ref().map(|o| &o.menus), vec!["navigation", "menus"]),
                (options.navigation.as_ref().map(|o| &o.items), vec!["navigation", "items"]),
                (options.forms.as_ref().map(|o| &o.messages), vec!["forms", "messages"]),
            ];
            let own = own.into_iter().filter_map(|(wanted, keys)| Some((wanted?, keys)));
            let folders = options.folders.iter().map(|(folder, wanted)| (wanted, vec!["folders", folder.as_str()]));
            let linked = options.theme_links.iter().map(|(rel, wanted)| (wanted, vec!["theme_links", rel.as_str()]));
            for (wanted, keys) in own.chain(folders).chain(linked) {
                self.resource_named(&below(owner, &keys), wanted);
            }
            for (rel, template) in &options.links {
                if let (Some(to), _) = link_parts(template) {
                    self.resource_named(&below(owner, &["links", rel]), to);
                }
            }
            for (key, change) in options.views.iter().flat_map(|views| &views.changes) {
                let named = change.lists.iter().enumerate().flat_map(|(i, list)| {
                    list.from.iter().enumerate().filter_map(move |(n, source)| Some((i, n, source.resource.as_ref()?)))
                });
                for (i, n, wanted) in named {
                    let (i, n) = (i.to_string(), n.to_string());
                    let keys = ["views", "changes", key, "lists", &i, "from", &n, "resource"];
                    self.resource_named(&below(owner, &keys), wanted);
                }
            }
            for (arg, filter) in &options.filters {
                if let Some(among) = &filter.among {
                    self.resource_named(&below(owner, &["filters", arg, "among"]), among);
                }
            }
            if let Some(menu_tree) = &options.menu_tree
                && let Some(items) = resources.iter().find(|r| r.name == menu_tree.items)
            {
                self.column(items, &below(owner, &["menu_tree", "menu"]), &menu_tree.menu);
            }
            if let Some(holder) = &options.holder
                && let Some(of) = resources.iter().find(|r| r.name == holder.resource)
            {
                self.column(of, &below(owner, &["holder", "property"]), &holder.property);
            }
            self.profile_options(resource, resources);
            for (value, searched) in &options.values {
                let place = below(owner, &["values", value, "resource"]);
                let Some(of) = self.resource_named(&place, &searched.resource) else { continue };
                let properties: Vec<&str> = resources[of].properties.iter().map(|p| p.name.as_str()).collect();
                self.known(&below(owner, &["values", value, "property"]), "property", &searched.property, &properties);
            }
        }
    }

    /// Forms, languages and tokens: what they name.
    fn profile_options(&mut self, resource: &Resource, resources: &[Resource]) {
        let (options, owner) = (&resource.declared.options, resource.name.as_str());
        if let Some(messages) = options.forms.as_ref().map(|forms| &forms.messages)
            && let Some(of) = resources.iter().find(|r| r.name == *messages)
        {
            for column in FORM {
                self.column(resource, &below(owner, &["forms"]), column);
            }
            for column in MESSAGE {
                self.column(of, &below(owner, &["forms", "messages"]), column);
            }
        }
        if let Some(languages) = &options.languages {
            let entries = entries::declared(self.declared, &self.loaded.entries, resource);
            let slugs: Vec<&str> = entries.iter().filter_map(|entry| entry["slug"].as_str()).collect();
            if !slugs.is_empty() && !languages.default.is_empty() {
                self.known(&below(owner, &["languages", "default"]), "language", &languages.default, &slugs);
            }
        }
        let account = options.tokens.iter().flat_map(|tokens| &tokens.account);
        for (member, wanted) in account {
            let users = resources.iter().filter(|r| r.is_users()).flat_map(|r| &r.properties);
            let properties: Vec<&str> = users.map(|p| p.name.as_str()).collect();
            self.known(&below(owner, &["tokens", "account", member]), "property", wanted, &properties);
        }
    }

    /// An option that no handler of the resource reads changes nothing: it is misplaced.
    fn options_read(&mut self, resource: &Resource, resources: &[Resource], routes: &[Route]) {
        let of = |options: &HandlerOptions| serde_json::to_value(options).unwrap_or_default();
        let (given, usual) = (of(&resource.declared.options), of(&HandlerOptions::default()));
        let vocabulary = self.vocabulary;
        let own = routes.iter().filter(|route| route.resource == Some(resource.index));
        let handlers: Vec<&Description> =
            own.flat_map(|route| &route.endpoints).map(|endpoint| &vocabulary.handlers[endpoint.handler.0]).collect();
        let chosen_from =
            resources.iter().flat_map(|other| &other.properties).any(|p| p.among.as_ref() == Some(&resource.name));
        let own_entries = &self.declared.resources[&resource.name].options.entries;
        let named = |of: &Option<String>| of.as_ref() == Some(&resource.name);
        let shown_by = named(&self.declared.block_types) || self.declared.blocks.values().any(|b| named(&b.resource));
        for (option, value) in given.as_object().into_iter().flatten() {
            let read = (chosen_from || shown_by) && ENTRY_OPTIONS.contains(&option.as_str())
                || handlers.iter().any(|handler| handler.settings.contains(&option.as_str()));
            // Those of a resource are kept beside its options.
            let entries = || resource.declared.entries_file.is_some() || !own_entries.is_empty();
            let given = usual.get(option) != Some(value) || option == ENTRIES && entries();
            if given && !read {
                let readers = vocabulary.handlers.iter().filter(|handler| handler.settings.contains(&option.as_str()));
                let readers: Vec<&str> = readers.map(|handler| handler.name).collect();
                let message = format!("no handler of `{}` reads the option `{option}`", resource.name);
                let hint = Some(format!("these handlers do: {}", readers.join(", ")));
                self.problem(&below(&resource.name, &[option]), message, hint);
            }
        }
    }

    /// Rows are deleted some time after a moment that they have.
    pub(super) fn retentions(&mut self, resources: &[Resource]) {
        for resource in resources {
            let Some(declared) = &resource.declared.retention else { continue };
            let place = ["resources", resource.name.as_str(), "retention", "on"];
            let timed = resource.clock(&declared.on);
            if !resource.is_plain() || timed != Some(ColumnClock::Utc) {
                let message = format!("`{}` is no time in UTC of a plain resource", declared.on);
                let hint = "name a property with format = \"date-time\" and x-write = \"time\"";
                self.problem(&place, message, Some(hint.into()));
            }
        }
    }

    /// Menus to which records are added when they are published.
    pub(super) fn auto_add(&mut self, resources: &[Resource]) {
        for resource in resources {
            let Some(auto_add) = &resource.declared.auto_add else { continue };
            let path = ["resources", resource.name.as_str(), "auto_add"];
            for (i, of) in auto_add.resources.iter().enumerate() {
                self.resource_named(&[&path[..], &["resources", &i.to_string()]].concat(), of);
            }
            if let Some(menus) = self.resource_named(&extend(&path, "menu"), &auto_add.menu) {
                self.column(&resources[menus], &extend(&path, "property"), &auto_add.property);
                self.column(resource, &extend(&path, "menu"), &auto_add.menu);
            }
            if resource.declared.reference.is_none() {
                let hint = "declare the columns that refer to a record: reference = { class = …, kind = …, id = …, … }";
                self.problem(&path, "`auto_add` needs `reference`", Some(hint.into()));
            }
        }
    }

    /// Resources that feeds and sitemaps name have to be there.
    fn readers(&mut self) {
        let (feeds, sitemaps) = (&self.declared.syndication, &self.declared.sitemaps);
        for (parameter, of) in &self.declared.addresses.parameters {
            let path = ["addresses", "parameters", parameter];
            let dated = !matches!(of.by, ParameterKind::Id | ParameterKind::Slug | ParameterKind::Path);
            match &of.resource {
                Some(resource) => drop(self.resource_named(&extend(&path, "resource"), resource)),
                None if dated => {}
                None => {
                    let hint = "write resource = \"posts\"";
                    self.problem(&path, "this parameter names an item of no resource", Some(hint.into()));
                }
            }
        }
        if let Some(home) = sitemaps.home.get() {
            self.resource_named(&["sitemaps", "home"], home);
        }
        if let Some(hub) = feeds.hub.get().filter(|hub| web_address(hub).is_none()) {
            let message = format!("`{hub}` is not an http or https address");
            self.problem(&["syndication", "hub"], message, Some("write https://hub.example.org".into()));
        }
    }

    /// The resources that the console has parts of its own for have to be there.
    pub(super) fn console(&mut self) {
        let console = &self.declared.console;
        let named = [("saved_views", &console.saved_views), ("rebuilds", &console.rebuilds), ("roles", &console.roles)];
        for (key, wanted) in named {
            let Some(wanted) = wanted.get() else { continue };
            self.resource_named(&["console", key], wanted);
        }
    }

    /// The resources of the audit trail, of redirects and of missing addresses have to be there, with rows of their own and what these hold.
    pub(super) fn audit(&mut self, resources: &[Resource]) {
        let (site, addresses) = (&self.declared.site, &self.declared.addresses);
        self.table_with(resources, &["site", "audit"], site.audit.get(), &AUDITED, "the audit trail needs");
        let path = ["addresses", "redirects"];
        self.table_with(resources, &path, addresses.redirects.get(), &redirect::ALL, "redirects need");
        let path = ["addresses", "missing"];
        let who = "addresses that are not found need";
        self.table_with(resources, &path, addresses.missing.get(), &missing_address::ALL, who);
    }

    /// The resources of changes that wait and of prompts have to be there, with what these hold.
    pub(super) fn assistants(&mut self, resources: &[Resource]) {
        let (reviews, prompts) = (&self.declared.reviews.resource, &self.declared.mcp.prompts);
        self.table_with(resources, &["reviews", "resource"], reviews.get(), &review::ALL, "reviews need");
        self.table_with(resources, &["mcp", "prompts"], prompts.get(), &prompt::ALL, "prompts need");
    }

    /// Resources with other events than the rest, and properties whose changes are ignored, have to be there; so
    /// do the resources of webhooks, and what declared webhooks name.
    pub(super) fn events(&mut self, resources: &[Resource]) {
        let declared = &self.declared.events;
        for (key, wanted, columns) in [
            ("webhooks", declared.webhooks.get(), &webhook::ALL[..]),
            ("deliveries", declared.deliveries.get(), &delivery::ALL[..]),
        ] {
            self.table_with(resources, &["events", key], wanted, columns, "webhooks need");
        }
        let formats: Vec<&str> = self.declared.webhook_formats.keys().map(String::as_str).collect();
        let statuses = self.declared.statuses.keys().chain(self.declared.comment_statuses.keys());
        let statuses: Vec<&str> = statuses.map(String::as_str).collect();
        for (name, hook) in &self.declared.webhooks {
            let path = ["webhooks", name.as_str()];
            if web_address(&hook.url).is_none() {
                let message = format!("`{}` is not an http or https address", hook.url);
                self.problem(&extend(&path, "url"), message, Some("write https://www.example.org/hook".into()));
            }
            if !hook.secret.is_empty() && webhook_secret(&hook.secret).is_none() {
                let message = format!(
                    "a secret is `whsec_` and 24 to 64 bytes in Base64, or any text without spaces of at most {MOST_SECRET} characters"
                );
                self.problem(&extend(&path, "secret"), message, None);
            }
            self.known(&extend(&path, "format"), "format", &hook.format, &formats);
            let signed = self.declared.webhook_formats.get(&hook.format).is_some_and(|format| format.signed);
            if signed && hook.secret.is_empty() {
                let message = format!("requests of the format `{}` are signed, and there is no `secret`", hook.format);
                let hint = "set `secret` to `whsec_` and 24 to 64 bytes in Base64, best in the environment";
                self.problem(&path, message, Some(hint.into()));
            }
            for (i, resource) in hook.resources.iter().enumerate() {
                self.resource_named(&[&path[..], &["resources", &i.to_string()]].concat(), resource);
            }
            for (i, status) in hook.statuses.iter().enumerate() {
                self.known(&[&path[..], &["statuses", &i.to_string()]].concat(), "status", status, &statuses);
            }
        }
        for name in declared.resources.keys() {
            self.resource_named(&["events", "resources", name], name);
        }
        for (name, ignored) in &declared.ignore {
            let path = ["events", "ignore", name];
            let Some(index) = self.resource_named(&path, name) else { continue };
            let properties: Vec<&str> = resources[index].properties.iter().map(|p| p.name.as_str()).collect();
            for (i, property) in ignored.iter().enumerate() {
                self.known(&extend(&path, &i.to_string()), "property", property, &properties);
            }
        }
    }

    /// A resource that another part writes has rows of its own, and the columns of that part.
    fn table_with(
        &mut self,
        resources: &[Resource],
        path: &[&str],
        wanted: Option<&String>,
        columns: &[&str],
        who: &str,
    ) {
        let Some(wanted) = wanted else { return };
        let Some(index) = self.resource_named(path, wanted) else { return };
        let resource = &resources[index];
        if !resource.is_plain() {
            let message = format!("`{wanted}` has no table of its own, which {who}");
            self.problem(path, message, Some("declare it with family = \"plain\"".into()));
            return;
        }
        let missing: Vec<&str> = columns.iter().copied().filter(|column| resource.column(column).is_none()).collect();
        if !missing.is_empty() {
            let message = format!("the schema of `{wanted}` has no {}, which {who}", missing.join(", "));
            self.problem(path, message, None);
        }
    }
}

/// Most characters of the secret of a webhook.
pub const MOST_SECRET: usize = 200;

/// How a secret begins that signs.
pub const SECRET_PREFIX: &str = "whsec_";

/// The key in the secret of a webhook, or the secret itself where it is of no such form; `None`: it is neither.
pub fn webhook_secret(secret: &str) -> Option<Vec<u8>> {
    if secret.is_empty() || secret.len() > MOST_SECRET || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    match secret.strip_prefix(SECRET_PREFIX) {
        Some(key) => STANDARD.decode(key).ok().filter(|key| (24..=64).contains(&key.len())),
        None => Some(secret.as_bytes().to_vec()),
    }
}

/// Options for entries that `x-options-from` checks values against, and that blocks show drawings of.
const ENTRY_OPTIONS: [&str; 2] = [ENTRIES, "key"];

const ENTRIES: &str = "entries";

/// The members of an entry of the audit trail.
pub const AUDITED: [&str; 10] =
    ["date", "event", "user", "login", "path", "subject", "changed", "ip", "client", "credential"];

/// The columns of a form.
pub const FORM: [&str; 6] = ["title", "locale", "form", "mail", "messages", "additional_settings"];

/// The columns of a message that somebody has sent with a form.
pub const MESSAGE: [&str; 5] = ["form", "title", "received", "fields", "files"];

/// The place of an option of a resource's handlers.
fn below<'p>(owner: &'p str, keys: &[&'p str]) -> Vec<&'p str> {
    [&["resources", owner, "options"], keys].concat()
}
