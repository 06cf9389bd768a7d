//! Feeds: the newest records or comments of a public list, as RSS 2.0, Atom 1.0, RSS 1.0 or JSON Feed 1.1.
//!
//! A feed shows what anonymous callers read: its records and comments are requests to the lists of their resources. `find`
//! says which list a path names, `items` reads it, `write` writes it down.

mod find;
mod items;
mod media;
mod write;

use crate::error::{ApiError, Code, refuse_if, status};
use crate::handlers::{Handler, Outcome, RenderedJson, Work, handler};
use crate::records::Record;
use crate::registry::vocabulary::{BehaviourEntry, HandlerRole};
use cms_text::phrase::fill;
use cms_text::sanitize::unescape;
use find::{FeedAddress, PublicList};
use serde_json::{Value, json};

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[handler(
    "feed.get",
    |w| Box::pin(get(w)),
    "Responds with the newest records or comments of the list at an address of the site, as a feed.",
)
.role(HandlerRole::Feed)
.also("application/rss+xml")
.fails(&[Code::NoRoute])];

/// The feed of the list that the arguments `path` and `query` name.
///
/// # Errors
/// There is no such list; the database cannot be read.
async fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let registry = &work.scope.registry;
    let declared = &registry.declaration.syndication;
    let args = work.allowed.args();
    let (path, query) = (args.text("path").unwrap_or("/"), args.text("query").unwrap_or(""));
    let depth = registry.declaration.server.max_depth;
    let languages = registry.languages.as_ref();
    let (language, below) = languages.map_or((None, path), |languages| {
        let (language, below) = languages.split(path);
        (Some(language), below)
    });
    let part = languages.zip(language).and_then(|(languages, language)| languages.part(language));
    let address = FeedAddress::of(declared, below, query, depth)?.filter(|_| declared.enabled);
    let address = address.ok_or_else(|| ApiError::new(Code::NoRoute))?;
    let list = find::find(work, part, &address)?;
    refuse_if(list.is_none() && !declared.empty_if_unknown, Code::NoRoute)?;
    let comments = matches!(list, Some(PublicList::Comments | PublicList::CommentsOn(..)));
    let items = match &list {
        Some(list) if comments => items::comments(work, list).await?,
        Some(list) => items::records(work, list, language).await?,
        None => Vec::new(),
    };
    let modified = match items::newest(&items) {
        Some(newest) => Some(newest),
        None => items::last_change(work, list.as_ref())?,
    };
    let own = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    let (site, settings) = (&registry.site, &work.scope.settings);
    let feed = json!({
        "title": title(work, list.as_ref()),
        "description": unescape(settings.text("description")),
        "link": match &list {
            Some(PublicList::CommentsOn(resource, row)) => items::link_of(work, Record { resource, row })?,
            _ => format!("{}/{}", site.front, part.map_or_else(String::new, |part| format!("{part}/"))),
        },
        "self": format!("{}{own}", site.url),
        "language": match languages.zip(part) {
            Some((languages, part)) => languages.tag(part).to_owned(),
            None => settings.language_tag(),
        },
        "updated": items::moment(modified.unwrap_or(0)),
        "generator": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "scheme": site.url,
        "hub": declared.hub.get(),
        "excerpts": declared.excerpts,
        "podcast": items::podcast(work, list.as_ref()),
        "items": items,
    });
    let (media_type, bytes) =
        write::write(address.format, comments, &feed).map_err(|error| work.scope.internal(&error))?;
    Ok(Outcome { modified, ..as_document(work, media_type, bytes) })
}

/// A response that is a document of another type than JSON, kept like any other where nothing is wrapped around it.
pub fn as_document(work: &Work<'_>, media_type: &'static str, bytes: Vec<u8>) -> Outcome {
    if !work.as_text {
        return Outcome { status: status::OK, other: Some((media_type, bytes)), ..Outcome::default() };
    }
    let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
    Outcome { headers, text: Some(RenderedJson::One(bytes.into())), ..Outcome::ok(Value::Null) }
}

/// The name of a list for people, with the site's.
fn title(work: &Work<'_>, list: Option<&PublicList<'_>>) -> String {
    let (scope, settings) = (work.scope, &work.scope.settings);
    let site = unescape(settings.text("title"));
    let filled = |text: &str, name: &str, value: &str| unescape(&fill(text, &[(name, value)]));
    let of_site = |name: String| if site.is_empty() { name } else { format!("{name} – {site}") };
    match list {
        None => of_site(scope.phrase("Page not found").to_owned()),
        Some(PublicList::Site) => site,
        Some(PublicList::Comments) => filled(scope.phrase("Comments for {title}"), "title", &site),
        Some(PublicList::CommentsOn(resource, row)) => {
            filled(scope.phrase("Comments on: {title}"), "title", &items::title_of(work, Record { resource, row }))
        }
        Some(PublicList::Kind(kind)) => {
            of_site(kind.declared.labels.get("name").cloned().unwrap_or_else(|| kind.name.clone()))
        }
        Some(PublicList::Search(words)) => {
            of_site(filled(scope.phrase("Search results for “{words}”"), "words", words))
        }
        Some(PublicList::Period(period)) => of_site(period.name(settings)),
        Some(list) => of_site(unescape(find::name_of(list))),
    }
}
