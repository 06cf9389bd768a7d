//! The templates of the pages, with their texts in the language of the reader, and the files that the pages load.

use cms_core::registry::Registry;
use cms_declaration::translations::Translator;
use cms_text::sanitize::escape;
use minijinja::{AutoEscape, Environment, State, escape_formatter};

const TEMPLATES: [(&str, &str); 24] = [
    ("base.html", include_str!("templates/base.html")),
    ("home.html", include_str!("templates/home.html")),
    ("message.html", include_str!("templates/message.html")),
    ("login.html", include_str!("templates/login.html")),
    ("lost.html", include_str!("templates/lost.html")),
    ("confirm.html", include_str!("templates/confirm.html")),
    ("reset.html", include_str!("templates/reset.html")),
    ("logout.html", include_str!("templates/logout.html")),
    ("authorize.html", include_str!("templates/authorize.html")),
    ("connect.html", include_str!("templates/connect.html")),
    ("secret.html", include_str!("templates/secret.html")),
    ("proof.html", include_str!("templates/proof.html")),
    ("password-or-proof.html", include_str!("templates/password-or-proof.html")),
    ("factor.html", include_str!("templates/factor.html")),
    ("factors.html", include_str!("templates/factors.html")),
    ("factor-app.html", include_str!("templates/factor-app.html")),
    ("passkey.html", include_str!("templates/passkey.html")),
    ("factor-passkey.html", include_str!("templates/factor-passkey.html")),
    ("factor-confirm.html", include_str!("templates/factor-confirm.html")),
    ("recovery.html", include_str!("templates/recovery.html")),
    ("profile.html", include_str!("templates/profile.html")),
    ("explorer.html", include_str!("templates/explorer.html")),
    ("console.html", include_str!("templates/console.html")),
    ("reader.html", include_str!("templates/reader.html")),
];

/// Files by their names, with their media types.
pub(super) const ASSETS: [(&str, &str, &str); 6] = [
    ("favicon.svg", "image/svg+xml", include_str!("templates/favicon.svg")),
    ("style.css", "text/css; charset=UTF-8", include_str!("templates/style.css")),
    ("reader.css", "text/css; charset=UTF-8", include_str!("templates/reader.css")),
    ("copy.js", "text/javascript; charset=UTF-8", include_str!("templates/copy.js")),
    ("passkey.js", "text/javascript; charset=UTF-8", include_str!("templates/passkey.js")),
    ("explorer.js", "text/javascript; charset=UTF-8", include_str!("explorer/explorer.js")),
];

/// The templates, with the filter `t` for texts.
pub(super) fn environment(registry: &Registry) -> Environment<'static> {
    let mut templates = Environment::new();
    let texts = registry.declaration.clone();
    templates.add_filter("t", move |state: &State<'_, '_>, text: String| {
        let language = state.lookup("lang").map(|language| language.to_string()).unwrap_or_default();
        Translator::of(&texts.translations, &language).translate(&text).to_owned()
    });
    templates.set_formatter(|out, state, value| match state.auto_escape() {
        AutoEscape::Html if !value.is_safe() && !value.is_undefined() && !value.is_none() => {
            Ok(out.write_str(&escape(&value.to_string()))?)
        }
        _ => escape_formatter(out, state, value),
    });
    for (name, text) in TEMPLATES {
        templates.add_template(name, text).expect("the shipped templates are sound; a test renders each");
    }
    templates
}
