//! The console: its files, and the page that starts it below every address of it.
//!
//! The files are built from `console/` and compressed in the program. The page is the built `index.html` with what the
//! console has to know before its first rows: the description of the resources, and the answer to the request that it makes
//! first. So what is shown first costs two round trips, the page and its files.

use super::first_list;
use super::packed::PackedAsset;
use super::replies::{ALONE, WITH_OPENED, frame_headers};
use super::{HTML, PageContext};
use cms_core::access::sessions::nonce_header;
use cms_core::error::status;
use cms_core::model::{Method, Payload, Reply};
use cms_core::registry::Registry;
use cms_core::registry::vocabulary::HandlerRole;
use cms_core::scope::Principal;
use cms_declaration::Action;
use cms_text::hex::hex;
use cms_text::html::Html;
use serde_json::{Value, json};
use std::sync::LazyLock;
use url::Url;

/// The built files by name; empty where nobody has built them.
const BUILT: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// The page among them.
const PAGE: &str = "index.html";

/// The folder of files whose names follow from their contents.
const HASHED: &str = "assets/";

/// The language of the declarations.
const DECLARED: &str = "en";

/// Languages of a browser that are looked at.
const MOST_LANGUAGES: usize = 20;

/// Types of files by the ends of their names.
const TYPES: [(&str, &str); 12] = [
    (".js", "text/javascript; charset=UTF-8"),
    (".css", "text/css; charset=UTF-8"),
    (".html", HTML),
    (".json", "application/json"),
    (".webmanifest", "application/manifest+json"),
    (".txt", "text/plain; charset=UTF-8"),
    (".svg", "image/svg+xml"),
    (".png", "image/png"),
    (".webp", "image/webp"),
    (".ico", "image/x-icon"),
    (".woff2", "font/woff2"),
    (".wasm", "application/wasm"),
];

static FILES: LazyLock<Vec<PackedAsset>> = LazyLock::new(|| {
    let file = |(name, packed): &(&'static str, &'static [u8])| {
        let media_type = TYPES.iter().find(|(end, _)| name.ends_with(end)).map_or("application/octet-stream", |t| t.1);
        let file = PackedAsset::new(name, media_type, packed);
        if name.starts_with(HASHED) { file.immutable() } else { file }
    };
    BUILT.iter().map(file).collect()
});

/// The meaning of a path below the console's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsolePath {
    Page,
    /// A file, by its position.
    File(usize),
}

/// The console's path on the host; `None` where it is not served.
pub(super) fn address(registry: &Registry) -> Option<String> {
    let (declared, base) = (&registry.declaration, &registry.site.base);
    (declared.console.enabled && declared.pages.enabled).then(|| format!("{base}{}", declared.console.path))
}

/// The part of the console at a path; `None` where that is not below the console's address.
pub(super) fn part(address: Option<&str>, path: &str) -> Option<ConsolePath> {
    let below = path.strip_prefix(address?)?;
    if below.is_empty() {
        return Some(ConsolePath::Page);
    }
    let name = below.strip_prefix('/')?;
    let file = FILES.iter().position(|file| file.name == name && name != PAGE);
    Some(file.map_or(ConsolePath::Page, ConsolePath::File))
}

/// A file, compressed for clients that accept it so.
pub(super) fn file(index: usize, accepted: Option<&str>) -> Reply {
    FILES[index].reply(accepted)
}

/// Whether the console has something to do for a caller: they may change something.
pub(super) fn is_for(registry: &Registry, caller: &Principal) -> bool {
    let reads = |action: &Action| matches!(action, Action::Read | Action::ReadPrivate | Action::List);
    let changes =
        |(action, capability): (&Action, &String)| !reads(action) && !capability.is_empty() && caller.can(capability);
    registry.resources.iter().any(|resource| resource.capabilities.iter().any(changes))
}

/// The page.
pub(super) async fn show(visit: &PageContext<'_>) -> Reply {
    let page = FILES.iter().find(|file| file.name == PAGE);
    let Some(built) = page.and_then(|page| std::str::from_utf8(page.plain()).ok()).and_then(body) else {
        let lines = [
            "The program was built without the console.",
            "In the folder of its sources: cd console, npm ci, npm run build; then build the program again.",
        ];
        return visit.message(status::UNAVAILABLE, "No console", &lines);
    };
    let scope = &visit.scope;
    let data = json!({
        "lang": scope.settings.language_tag(),
        "title": visit.site_name(),
        "path": visit.pages.console,
        "head": built.0,
        "boot": in_script(&boot(visit).await),
        "end": built.1,
    });
    match visit.pages.render("console.html", data) {
        Ok(bytes) => {
            let mut headers = own_headers(visit);
            headers.push(("Cache-Control".into(), "private, no-store".into()));
            Reply { status: status::OK, headers, payload: Payload::Page { media_type: HTML, bytes } }
        }
        Err(error) => cms_core::engine::error_reply(&scope.internal(&error)),
    }
}

/// The built page from its head on, in two parts: what refers to the files, and its end. Its own title gives way to ours. The
/// data is between them, so that the browser fetches the files while the data is still on its way.
fn body(built: &str) -> Option<(String, &str)> {
    let (_, head) = built.split_once("<head>")?;
    let (head, end) = head.split_at(head.rfind("</body>")?);
    let Some((before, after)) = head.split_once("<title>") else { return Some((head.trim_start().to_owned(), end)) };
    let (_, after) = after.split_once("</title>")?;
    Some((format!("{}{}", before.trim_start(), after.trim_start()), end))
}

/// The description, settings and first rows that the console starts with.
async fn boot(visit: &PageContext<'_>) -> Value {
    let (scope, pages) = (&visit.scope, &visit.pages.declared);
    let registry = &scope.registry;
    let language = language(visit);
    let description = description(visit, &language).await;
    let answer = match &description {
        Some(description) => first_answer(visit, description).await,
        None => None,
    };
    json!({
        "description": description,
        "language": language,
        "answers": answer.into_iter().collect::<Vec<_>>(),
        "base": registry.site.rest_place(),
        "prefix": registry.site.prefix,
        "path": visit.pages.console,
        "nonce_url": pages.nonce.get(),
        "nonce_header": nonce_header(&registry.site.prefix),
        "nonce": visit.engine.identity().fresh_nonce(scope).map(|(_, nonce)| masked(&nonce)),
        "login_url": pages.login,
        "logout_url": pages.logout,
        "profile_url": pages.profile,
        "factors_url": pages.factors,
        "explorer_url": pages.explorer.get(),
        "batch": batch(registry),
        "user": scope.principal.id,
    })
}

/// A secret as a compressed page has it: random bytes, then the secret with these bytes added (XOR). Written as it is, the
/// size of the page would tell whether a text that others put on it begins like the secret.
fn masked(secret: &str) -> String {
    let random: Vec<u8> = secret.bytes().map(|_| rand::random::<u8>()).collect();
    let added: Vec<u8> = secret.bytes().zip(&random).map(|(byte, random)| byte ^ random).collect();
    hex(&random) + &hex(&added)
}

/// The first language of the browser's that the declarations are in or have translations for.
pub(super) fn language(visit: &PageContext<'_>) -> String {
    accepted(visit).map_or(DECLARED, |tag| tag.split('-').next().unwrap_or(DECLARED)).to_ascii_lowercase()
}

/// The same as the browser names it, with its region perhaps, such as `en-GB`; `None` where it names none of them.
pub(super) fn accepted<'v>(visit: &'v PageContext<'_>) -> Option<&'v str> {
    let translations = &visit.scope.registry.declaration.translations;
    let header = visit.request.header("accept-language").unwrap_or_default();
    let mut tags = header.split(',').filter_map(|part| part.split(';').next()).map(str::trim).take(MOST_LANGUAGES);
    tags.find(|tag| {
        let language = tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
        language == DECLARED || translations.contains_key(&language)
    })
}

/// The description for the caller; `None` where the caller may not have it.
async fn description(visit: &PageContext<'_>, language: &str) -> Option<Value> {
    let route = visit.scope.registry.route_with(HandlerRole::ConsoleDescription)?;
    let part = visit.rest(Method::Get, &route.pattern, json!({"lang": language}), Value::Null).await;
    (part.status == status::OK).then_some(part.body)
}

/// The answer to the first request of the list that the address names; `None` for other addresses, and for lists that somebody
/// has narrowed. A failure is left to the request that the console makes then.
async fn first_answer(visit: &PageContext<'_>, description: &Value) -> Option<Value> {
    let request = visit.request;
    let below = request.path.strip_prefix(visit.pages.console.as_deref()?)?;
    let first = first_list::of(description, below).filter(|_| request.raw_query.is_empty())?;
    let part = visit.rest(Method::Get, &first.path, Value::Object(first.query.clone()), Value::Null).await;
    let answer = json!({"path": first.path, "query": first.query, "headers": part.headers, "body": part.body});
    (part.status == status::OK).then_some(answer)
}

/// The route that takes several requests at once.
fn batch(registry: &Registry) -> Option<&str> {
    registry.route_with(HandlerRole::Batch).map(|route| route.pattern.as_str())
}

/// JSON that no text in it can end the element around it, or begin another one.
pub(super) fn in_script(value: &Value) -> String {
    let mut script = Html::new();
    script.json(value);
    script.into()
}

/// The policies of the page: it may load from this site alone. Addresses of stored files begin with the site's own address,
/// which may be another one than that of the request. Where the front end shows previews, its origin, and no other, is shown
/// in a frame, and the page keeps a hold of the windows that it opens there, to tell them of changes.
fn own_headers(visit: &PageContext<'_>) -> Vec<(String, String)> {
    let registry = &visit.scope.registry;
    let front = registry.site.front_preview.as_ref().map(|preview| format!(" {}", preview.origin));
    let opener = if front.is_some() { WITH_OPENED } else { ALONE };
    let frames = front.unwrap_or_default();
    let site = Url::parse(&registry.site.url).ok().map(|url| url.origin().ascii_serialization());
    let host = visit.request.header("host").unwrap_or_default();
    let elsewhere = site.filter(|origin| origin.split_once("://").is_none_or(|(_, own)| own != host));
    let files = elsewhere.map_or_else(String::new, |origin| format!(" {origin}"));
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:{files}; media-src 'self'{files}; \
         connect-src 'self'; font-src 'self'; frame-src 'self'{frames}; base-uri 'self'; form-action 'self'; \
         frame-ancestors 'none'"
    );
    frame_headers(&policy, opener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_data_block() {
        let hostile = "</script><script>alert(1)</script><!-- \u{2028} & ]]>";
        let written = in_script(&json!({"title": hostile}));
        assert!(!written.contains(['<', '>', '&', '\u{2028}']), "{written}");
        let read: Value = serde_json::from_str(&written).expect("still JSON");
        assert_eq!(read["title"], hostile);
    }

    #[test]
    fn a_masked_secret_is_another_text_each_time() {
        let secret = "a1b2c3";
        let (one, other) = (masked(secret), masked(secret));
        assert_ne!(one, other);
        for text in [one, other] {
            assert!(!text.contains(&hex(secret.as_bytes())), "{text}");
            let bytes: Vec<u8> =
                (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect();
            let (random, added) = bytes.split_at(secret.len());
            let read: Vec<u8> = random.iter().zip(added).map(|(one, other)| one ^ other).collect();
            assert_eq!(read, secret.as_bytes());
        }
    }

    #[test]
    fn the_built_page_keeps_what_is_after_its_title() {
        let built = "<!doctype html>\n<html lang=\"en\">\n  <head>\n    <meta charset=\"utf-8\">\n    <title>Console</title>\n    \
                     <script type=\"module\" src=\"./assets/a.js\"></script>\n  </head>\n<body></body></html>\n";
        let (rest, end) = body(built).expect("a head");
        assert!(rest.starts_with("<meta charset=\"utf-8\">\n") && !rest.contains("title"), "{rest}");
        assert!(rest.contains("./assets/a.js"), "{rest}");
        assert_eq!(end, "</body></html>\n");
        assert_eq!(body("no page"), None);
    }

    #[test]
    fn addresses_of_the_console() {
        let at = |path: &str| part(Some("/admin"), path);
        assert_eq!(at("/admin"), Some(ConsolePath::Page));
        assert_eq!(at("/admin/"), Some(ConsolePath::Page));
        assert_eq!(at("/admin/index.html"), Some(ConsolePath::Page));
        assert_eq!(at("/admin/anything/12"), Some(ConsolePath::Page));
        assert_eq!(at("/administration"), None);
        assert_eq!(at("/"), None);
        assert_eq!(part(None, "/admin"), None);
        for (index, file) in FILES.iter().enumerate().filter(|(_, file)| file.name != PAGE) {
            assert_eq!(at(&format!("/admin/{}", file.name)), Some(ConsolePath::File(index)));
            assert!(!file.plain().is_empty(), "{}", file.name);
        }
    }
}
