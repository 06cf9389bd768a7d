//! Values that are well formed and cannot work: addresses, paths, time zones, names that nothing reads.
//!
//! The program would start with them and do less than the declaration says; each is a problem instead.

use super::super::resource::*;
use super::{Linker, extend, nearest};
use crate::files::Files;
use cms_declaration::{Action, CapabilityMap, Declaration};
use cms_schema::Schema;
use cms_storage::place::Place;
use cms_text::time::Zone;
use serde_json::Value;
use std::path::Path;
use url::Url;

impl Linker<'_> {
    /// Addresses and paths of the server, the storage, the pages and other origins.
    pub(super) fn addresses(&mut self) {
        let declared = self.declared;
        let server = &declared.server;
        for (key, address) in [("listen", Some(&server.listen)), ("admin_listen", server.admin_listen.get())] {
            // A Unix socket has a path, which is short.
            let socket = |address: &str| key == "listen" && address.strip_prefix("unix:").is_some_and(is_socket);
            if let Some(address) = address.filter(|address| !is_listener(address) && !socket(address)) {
                let hint = "write 127.0.0.1:8080, or 0.0.0.0:8080 for every interface";
                self.problem(&["server", key], format!("`{address}` is no address with a port"), Some(hint.into()));
            }
        }
        if Place::of(&declared.storage.url).is_none() {
            let hint = "write sqlite:FILE, such as sqlite:site.db, or postgres://USER:PASSWORD@HOST/DATABASE";
            self.problem(&["storage", "url"], format!("`{}` is no database", declared.storage.url), Some(hint.into()));
        }
        // The place is opened at boot; here only whether the address names one.
        let media = declared.media.url.as_deref().unwrap_or_default();
        if let Err(error) = Files::at(media, Path::new("site.db")) {
            self.problem(&["media", "url"], error.to_string(), None);
        }
        for (i, origin) in declared.cors.origins.iter().enumerate().filter(|(_, origin)| !is_origin(origin)) {
            let hint = "write https://www.example.org: scheme and host, no slash at the end";
            let place = ["cors", "origins", &i.to_string()];
            self.problem(&place, format!("`{origin}` is no origin"), Some(hint.into()));
        }
        self.paths();
        self.message_address();
        self.console_address();
        for (name, namespace) in &declared.namespaces {
            let path = &namespace.path;
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if !path.split('/').all(|part| !part.is_empty() && part.chars().all(plain)) {
                let hint = "write vendor/v1: letters, digits, - _ . and single slashes between them";
                self.problem(&["namespaces", name, "path"], format!("`{path}` is no namespace"), Some(hint.into()));
            }
        }
    }

    /// Whether each path is one, and no page has the path of another.
    fn paths(&mut self) {
        let declared = self.declared;
        let pages = pages(declared);
        let further = [
            (["pages", "assets"], Some(&declared.pages.assets)),
            (["mcp", "path"], declared.mcp.path.get()),
            (["console", "path"], Some(&declared.console.path)),
        ];
        let further = further.into_iter().filter_map(|(place, path)| Some((place, path?)));
        for (place, path) in pages.iter().copied().chain(further) {
            if !path.starts_with('/') || path.contains(|c: char| c.is_whitespace() || c.is_control()) {
                let hint = "begin with a slash, without blanks: /login";
                self.problem(&place, format!("`{path}` is no path"), Some(hint.into()));
            }
        }
        for (i, (place, path)) in pages.iter().enumerate() {
            if let Some((other, _)) = pages[..i].iter().find(|(_, other)| other == path) {
                let message = format!("`{path}` is the address of `{}` and of `{}`", other.join("."), place.join("."));
                self.problem(place, message, Some("choose another path".into()));
            }
        }
    }

    /// The address of messages (`[mcp]`) is nobody else's.
    fn message_address(&mut self) {
        let declared = self.declared;
        let Some(path) = declared.mcp.path.get() else { return };
        let taken = addresses(declared).any(|other| other.split('?').next() == Some(path));
        if taken || folders(declared).iter().any(|folder| is_below(path, folder)) {
            let hint = "choose another path, such as /mcp";
            self.problem(&["mcp", "path"], format!("`{path}` is the address of something else"), Some(hint.into()));
        }
    }

    /// The console has its address and all below it for itself, but for pages whose addresses are named below it.
    fn console_address(&mut self) {
        let declared = self.declared;
        let path = &declared.console.path;
        let place = ["console", "path"];
        let hint = || Some("choose another path, such as /admin".to_owned());
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
        let parts = path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/').all(|part| !part.trim_matches('.').is_empty() && part.chars().all(plain))
        });
        if path.starts_with('/') && !parts {
            let message =
                format!("`{path}` is no address of a folder: letters, digits, - _ . ~ and single slashes between them");
            self.problem(&place, message, hint());
            return;
        }
        let mut others = addresses(declared).chain(declared.mcp.path.get().map(String::as_str));
        let taken = others.any(|other| other.split('?').next() == Some(path));
        let overlaps = |folder: &String| is_below(path, folder) || is_below(folder, path);
        if declared.console.enabled && (taken || folders(declared).iter().any(overlaps)) {
            self.problem(&place, format!("`{path}` is the address of something else"), hint());
        }
    }

    /// Actions of capability maps. That a capability has no role is a matter of roles.
    pub(super) fn actions(&mut self) {
        let declared = self.declared;
        let names = Action::ALL.map(|action| action.to_string());
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (map, CapabilityMap(needed)) in &declared.capabilities {
            for action in needed.keys() {
                self.known(&["capabilities", map, action], "action", action, &names);
            }
        }
    }

    /// Features, and endpoints whose arguments a resource adjusts.
    pub(super) fn adjustments(&mut self, resources: &[Resource]) {
        let declared = self.declared;
        for resource in resources {
            let path = ["resources", resource.name.as_str()];
            for (i, feature) in resource.declared.supports.iter().enumerate() {
                let names = declared.features.keys().map(String::as_str);
                let hint = nearest(feature, names).filter(|_| !declared.features.contains_key(feature));
                if hint.is_some() {
                    let place = [path[0], path[1], "supports", &i.to_string()];
                    self.problem(&place, format!("unknown feature `{feature}`"), hint);
                }
            }
            // Inherited entries may be for endpoints that it does not have.
            let inherits = resource.declared.extends.is_some();
            let listed = |(set, _): &(&String, _)| inherits || resource.declared.routes.contains(*set);
            let sets = declared.route_sets.iter().filter(listed).flat_map(|(_, routes)| routes);
            let own = declared.routes.iter().filter(|route| route.resource.as_ref() == Some(&resource.name));
            let names: Vec<&str> =
                sets.chain(own).flat_map(|route| &route.endpoints).filter_map(|e| e.name.as_deref()).collect();
            for endpoint in resource.declared.endpoints.keys() {
                self.known(&[path[0], path[1], "endpoints", endpoint], "endpoint", endpoint, &names);
            }
        }
    }

    /// Settings that no schema describes, or that their schema refuses.
    pub(super) fn settings(&mut self, resources: &[Resource]) {
        let Some(settings) = resources.iter().find(|r| r.is_singleton()) else { return };
        let names: Vec<&str> = settings.properties.iter().map(|property| property.name.as_str()).collect();
        for (key, value) in &self.declared.settings {
            let place = ["settings", key.as_str()];
            if self.known(&place, "setting", key, &names).is_none() {
                continue;
            }
            if value.as_str().is_some_and(|text| text.contains("{site}")) {
                continue;
            }
            let schema = settings.schema["properties"].get(key).cloned().unwrap_or_default();
            let refused = Schema::compile(&schema, self.dialect).ok().and_then(|schema| schema.check(key, value).err());
            if let Some(failure) = refused {
                self.problem(&place, failure.message, None);
            }
        }
        let zone = self.declared.settings.get("timezone").and_then(Value::as_str);
        if let Some(zone) = zone.filter(|zone| Zone::parse(zone).is_none()) {
            let hint = "write a name of the tz database, such as Europe/Berlin, or an offset, such as UTC+2";
            self.problem(&extend(&["settings"], "timezone"), format!("`{zone}` is no time zone"), Some(hint.into()));
        }
    }
}

/// Addresses that something is at outside the REST interface, and nothing below them.
pub(super) fn addresses(declared: &Declaration) -> impl Iterator<Item = &str> {
    let pages = pages(declared).into_iter().map(|(_, path)| path);
    pages.chain([&declared.xmlrpc.path]).map(String::as_str).chain(["/", "/index.php"])
}

/// The addresses of pages, each with the key that it is declared by.
fn pages(declared: &Declaration) -> Vec<([&'static str; 2], &String)> {
    let pages = &declared.pages;
    let all = [
        (["pages", "login"], Some(&pages.login)),
        (["pages", "logout"], Some(&pages.logout)),
        (["pages", "profile"], Some(&pages.profile)),
        (["pages", "authorize"], Some(&pages.authorize)),
        (["pages", "connect"], Some(&pages.connect)),
        (["pages", "provider"], Some(&pages.provider)),
        (["pages", "factors"], Some(&pages.factors)),
        (["pages", "lost"], Some(&pages.lost)),
        (["pages", "reset"], Some(&pages.reset)),
        (["pages", "nonce"], pages.nonce.get()),
        (["pages", "explorer"], pages.explorer.get()),
    ];
    all.into_iter().filter_map(|(place, path)| Some((place, path?))).collect()
}

/// Addresses that something is below.
pub(super) fn folders(declared: &Declaration) -> [String; 4] {
    let (pages, media) = (&declared.pages, &declared.media);
    [format!("/{}-json", declared.site.prefix), pages.assets.clone(), pages.provider.clone(), media.path.clone()]
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a Unix socket can have this path: the system has room for some hundred bytes.
fn is_socket(path: &str) -> bool {
    !path.is_empty() && path.len() < 100
}

/// A host, or an address, and a port.
fn is_listener(address: &str) -> bool {
    let Some((host, port)) = address.rsplit_once(':') else { return false };
    !host.is_empty() && port.parse::<u16>().is_ok()
}

/// Scheme and host, perhaps a port, as browsers send it.
fn is_origin(origin: &str) -> bool {
    let parsed = Url::parse(origin).ok().filter(|url| url.has_host() && url.username().is_empty());
    parsed.is_some_and(|url| url.origin().ascii_serialization().eq_ignore_ascii_case(origin))
}
