//! The site, the networks that it trusts, media, roles and timed transitions.

use super::super::Site;
use super::{Linker, extend};
use crate::error::Code;
use crate::mail;
use crate::outbound::pattern;
use crate::registry::roles::{EffectiveRole, RoleOrigin};
use cms_base::network::Network;
use cms_declaration::FileType;
use cms_pictures::format_of;
use cms_text::address::AddressTemplate;
use indexmap::IndexMap;
use std::sync::Arc;
use url::Url;

impl Linker<'_> {
    pub(super) fn site(&mut self, listener: &str) -> Option<Site> {
        let site = &self.declared.site;
        let url = site.url.as_deref().filter(|url| !url.is_empty()).unwrap_or(listener);
        let url = url.trim_end_matches('/').to_owned();
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            let message = format!("`{url}` is not an http or https address");
            self.problem(&["site", "url"], message, Some("write https://example.org".into()));
        }
        let base = self.base(&url);
        let permalinks = match AddressTemplate::permalinks(&site.permalinks) {
            Ok(permalinks) => permalinks,
            Err(error) => {
                self.problem(&["site", "permalinks"], error.to_string(), None);
                return None;
            }
        };
        let rest_path = format!("/{}-json", site.prefix);
        let (prefix, rest_url) = (site.prefix.clone(), format!("{url}{rest_path}"));
        let front = self.front_end();
        let links = front.as_deref().map(|front| self.site_links(&url, front));
        let front = front.unwrap_or_else(|| url.clone());
        let front_preview = self.front_preview();
        Some(Site { prefix, rest_url, rest_path, url, base, permalinks, front, links, front_preview })
    }

    /// The path of the site's address. Pages and cookies have it as it is written.
    fn base(&mut self, url: &str) -> String {
        let Ok(parsed) = Url::parse(url) else { return String::new() };
        let path = parsed.path().trim_end_matches('/');
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
        if !path.bytes().all(plain) || path.contains("//") || parsed.query().is_some() || parsed.fragment().is_some() {
            let hint = "write https://example.org or https://example.org/blog: letters, digits, `-`, `_`, `.`";
            self.problem(&["site", "url"], format!("`{url}` is no address that pages can be below"), Some(hint.into()));
        }
        path.to_owned()
    }

    /// Networks, and whom other sites' things are asked of.
    pub(super) fn networks(&mut self) {
        let (trusted, open) = (&self.declared.server.trusted_proxies, &self.declared.outbound.networks);
        for (path, networks) in [(["server", "trusted_proxies"], trusted), (["outbound", "networks"], open)] {
            let socket = |text: &str| path[0] == "server" && text == "unix";
            let wrong = |text: &str| Network::parse(text).is_none() && !socket(text);
            for (i, text) in networks.iter().enumerate().filter(|(_, text)| wrong(text)) {
                let hint = "write 10.0.0.0/8, fd00::/8 or a single address";
                self.problem(
                    &[path[0], path[1], &i.to_string()],
                    format!("`{text}` is not a network"),
                    Some(hint.into()),
                );
            }
        }
        for (key, provider) in &self.declared.outbound.providers {
            let path = ["outbound", "providers", key];
            for (i, address) in provider.addresses.iter().enumerate().filter(|(_, text)| pattern(text).is_none()) {
                let hint = "write https://*.example.com/watch*";
                let message = format!("`{address}` is not a pattern of http or https addresses");
                self.problem(&[path[0], path[1], path[2], "addresses", &i.to_string()], message, Some(hint.into()));
            }
            let endpoint = Url::parse(&provider.endpoint);
            if !endpoint.is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
                let hint = "write https://example.com/oembed";
                let message = format!("`{}` is not an http or https address", provider.endpoint);
                self.problem(&extend(&path, "endpoint"), message, Some(hint.into()));
            }
        }
    }

    /// Where messages go, and whom they come from.
    pub(super) fn mail(&mut self) {
        let declared = &self.declared.mail;
        let Some(url) = declared.url.get() else { return };
        let route = mail::MailRoute::parse(url);
        if let Err((wrong, hint)) = &route {
            self.problem_with_secret(&["mail", "url"], format!("`mail.url`: {wrong}"), Some((*hint).into()));
        }
        let own = self.declared.site.url.as_deref().is_some_and(|url| !url.is_empty());
        if matches!(route, Ok(mail::MailRoute::Smtp(_))) && !own {
            let hint = "write url = \"https://example.org\" in [site]: messages contain addresses of the site";
            self.problem_with_secret(&["mail", "url"], "`mail.url` needs `site.url`", Some(hint.into()));
        }
        if matches!(&route, Ok(mail::MailRoute::Smtp(server)) if server.login.is_none())
            && declared.password_file.get().is_some()
        {
            let hint = "write the user into `mail.url`: smtps://USER@HOST";
            self.problem(&["mail", "password_file"], "this password is nobody's", Some(hint.into()));
        }
        let reply_to = declared.reply_to.get();
        for (key, text) in [("from", Some(&declared.from)), ("reply_to", reply_to)] {
            let Some(wrong) = text.and_then(|text| mail::mailbox(text).err()) else { continue };
            let hint = "write an address, or a name and an address: Example <cms@example.org>";
            self.problem(&["mail", key], format!("`mail.{key}`: {wrong}"), Some(hint.into()));
        }
    }

    /// Where files are served, and what is made and taken of them.
    pub(super) fn media(&mut self) {
        let media = &self.declared.media;
        let path = media.path.as_str();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        let plain = |segment: &&str| {
            !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        if !path.starts_with('/') || segments.is_empty() || !segments.iter().all(plain) {
            let hint = "write /files: a slash before each part, none at the end";
            let message = format!("`{path}` is not a path below the site's address");
            self.problem(&["media", "path"], message, Some(hint.into()));
        } else if segments[0] == format!("{}-json", self.declared.site.prefix) {
            let message = format!("`{path}` belongs to the REST interface");
            self.problem(&["media", "path"], message, Some("choose another path, such as /files".into()));
        }
        for (key, size) in &media.sizes {
            if size.width == 0 && (size.height == 0 || size.crop) || size.height == 0 && size.crop {
                let wanted = if size.crop { "a width and a height to crop to" } else { "a width, a height or both" };
                self.problem(&["media", "sizes", key], format!("the size `{key}` needs {wanted}"), None);
            }
        }
        for (mime, kind) in &media.types {
            let odd = |end: &String| end.is_empty() || !end.bytes().all(|b| b.is_ascii_alphanumeric());
            if kind.extensions.is_empty() || kind.extensions.iter().any(odd) {
                let message = format!("`{mime}` needs extensions of letters and digits, and at least one");
                let hint = "write extensions = [\"png\"], without a dot";
                self.problem(&["media", "types", mime, "extensions"], message, Some(hint.into()));
            }
            self.conversion(mime, kind);
            let sizes: Vec<&str> = media.sizes.keys().map(String::as_str).collect();
            for (i, size) in kind.previews.iter().enumerate() {
                self.known(&["media", "types", mime, "previews", &i.to_string()], "size", size, &sizes);
            }
        }
    }

    /// Pictures are converted between types that are decoded here.
    fn conversion(&mut self, mime: &str, kind: &FileType) {
        let Some(to) = &kind.converted_to else { return };
        let known = self.declared.media.types.get(to).is_some_and(|of| of.enabled && !of.extensions.is_empty());
        if !known || format_of(to).is_none() || format_of(mime).is_none() {
            let message = format!("`{mime}` cannot be converted to `{to}`");
            let hint = "convert between the declared ones of image/jpeg, image/png, image/gif and image/webp";
            self.problem(&["media", "types", mime, "converted_to"], message, Some(hint.into()));
        }
    }

    pub(super) fn roles(&mut self) -> IndexMap<String, EffectiveRole> {
        let given = |role: &str| {
            ["name", "capabilities"].iter().any(|key| self.loaded.is_given_at_start(&["roles", role, key]))
        };
        let roles = self.declared.roles.iter().map(|(key, role)| {
            let capabilities = role.capabilities.iter().map(|c| Arc::from(c.as_str())).collect();
            let (name, locked) = (role.name.clone(), role.locked || given(key));
            let factor_grace = role.factor_grace().map(|grace| grace.seconds_signed());
            let (required, origin, password_login) = (role.required, RoleOrigin::Declared, role.password_login);
            (key.clone(), EffectiveRole { name, capabilities, locked, required, origin, factor_grace, password_login })
        });
        roles.collect()
    }

    /// Declared codes stand beside those of the server.
    pub(super) fn error_codes(&mut self) {
        for name in self.declared.codes.keys().filter(|name| Code::parse(name).is_some()) {
            let hint = "give it a name of its own, or name this one without declaring it";
            self.problem(&["codes", name], format!("`{name}` is a code of the server"), Some(hint.into()));
        }
    }

    /// Roles that passwords are limited to have to exist; users come and go.
    pub(super) fn people(&mut self) {
        let declared = self.declared;
        let known: Vec<&str> = declared.roles.keys().map(String::as_str).collect();
        for (i, role) in declared.site.application_passwords_for.roles.iter().enumerate() {
            let place = ["site", "application_passwords_for", "roles", &i.to_string()];
            self.known(&place, "role", role, &known);
        }
    }
}
