//! The page of one record at its own address, where no front end shows the site: title, date, author and content, as everybody
//! reads them, without a script. Its head has the metadata for search engines and social networks.

use super::console::in_script;
use super::inner::{document_of, inner};
use super::replies::{ALONE, frame_headers};
use super::{HTML, Pages};
use cms_core::behaviours::seo::{cut, plain};
use cms_core::engine::Engine;
use cms_core::error::{ApiError, status};
use cms_core::model::{Payload, Reply, Request};
use cms_core::scope::Scope;
use cms_text::dates::format_php_date;
use cms_text::html_policy::{Policy, sanitise};
use cms_text::sanitize::unescape;
use cms_text::time::parse_datetime;
use serde_json::{Value, json};

/// Members of the document that the page shows.
const FIELDS: &str = "title,content,excerpt,description,date,date_gmt,link,seo,_links,_embedded";

/// Most characters of a description that no template makes.
const DESCRIPTION: u32 = 300;

/// The policy of the page: pictures, sounds and films may be anywhere, whatever else the content names is not loaded, and no script
/// runs. Browsers read blocks of data whatever a policy says of scripts. Programs that audit a page read `robots.txt` as it would.
const POLICY: &str = "default-src 'none'; style-src 'self'; connect-src 'self'; img-src * data:; media-src *; form-action 'none'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// The page of the record whose description is `found`; `None`: it has none here.
pub(super) async fn show(pages: &Pages, engine: &Engine, request: &Request, found: &Value) -> Option<Reply> {
    let rest = found["rest"].as_str().filter(|_| found["kind"] == "record")?;
    let route = pages.readers.read_here(rest).filter(|_| pages.declared.reader)?;
    let reply = engine.serve(&inner(request, route, &[("_fields", FIELDS), ("_embed", "author")])).await;
    if reply.status != status::OK {
        return None;
    }
    Some(
        engine
            .anonymous(request)
            .and_then(|scope| page(pages, &scope, request, rest, &document_of(&reply)))
            .unwrap_or_else(|error| cms_core::engine::error_reply(&error)),
    )
}

fn page(pages: &Pages, scope: &Scope, request: &Request, rest: &str, document: &Value) -> Result<Reply, ApiError> {
    let settings = &scope.settings;
    let site = unescape(settings.text("title"));
    let title = Some(plain(html(document, "title"))).filter(|title| !title.is_empty()).unwrap_or_else(|| site.clone());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seo = &document["seo"];
    let date = document["date"].as_str().and_then(parse_datetime);
    let content = Some(html(document, "content")).filter(|html| !html.is_empty());
    let spoken = pages.languages.as_ref().map(|languages| languages.tag(languages.split(&request.path).0));
    let shown = json!({
        "lang": spoken.map_or_else(|| settings.language_tag(), str::to_owned),
        "head": Some(text(&seo["title"])).filter(|title| !title.is_empty()).unwrap_or_else(|| titled(&title, &site)),
        "tags": tags(seo, &described(document)),
        "canonical": seo["canonical"].as_str().or(document["link"].as_str()),
        "rest": rest,
        "assets": pages.declared.assets,
        "home": format!("{}/", scope.registry.site.front),
        "site": site,
        "title": title,
        "date": date.map(|date| format_php_date(date.as_utc(), settings.text("date_format"), settings.locale())),
        "moment": document["date_gmt"].as_str().map(|moment| format!("{moment}Z")),
        "graph": graph(&seo["schema"]),
        "author": unescape(document["_embedded"]["author"][0]["name"].as_str().unwrap_or_default()),
        "locked": document["content"]["protected"] == true,
        // Scripts and frames, which trusted authors may write, are no part of this page.
        "content": sanitise(content.unwrap_or_else(|| html(document, "description")), Policy::posts()),
    });
    let bytes = pages.render("reader.html", shown).map_err(|error| scope.internal(&error))?;
    let mut headers = frame_headers(POLICY, ALONE);
    headers.push(("Link".into(), format!("<{rest}>; rel=\"alternate\"; type=\"application/json\"")));
    Ok(Reply { status: status::OK, headers, payload: Payload::Other { media_type: HTML, bytes } })
}

/// The title of the window, where no template makes it.
fn titled(title: &str, site: &str) -> String {
    if title == site || site.is_empty() { title.to_owned() } else { format!("{title} – {site}") }
}

/// A member of the document that is markup, or has it.
fn html<'d>(document: &'d Value, member: &str) -> &'d str {
    let value = &document[member];
    value["rendered"].as_str().or(value.as_str()).unwrap_or_default().trim()
}

/// The description that no template makes: what the record says of itself.
fn described(document: &Value) -> String {
    let texts = ["excerpt", "description"].map(|member| plain(html(document, member)));
    texts.iter().find(|text| !text.is_empty()).map_or_else(String::new, |text| cut(text, DESCRIPTION).into_owned())
}

/// Nodes of schema.org as a block of data; `None`: there are none.
fn graph(nodes: &Value) -> Option<String> {
    let some = nodes.as_array().is_some_and(|nodes| !nodes.is_empty());
    some.then(|| in_script(&json!({"@context": "https://schema.org", "@graph": nodes})))
}

/// The tags of the head, from the member `seo`; `described`: the description where there is no such member. What is empty is left out.
fn tags(seo: &Value, described: &str) -> Vec<Value> {
    let (graph, twitter) = (&seo["open_graph"], &seo["twitter"]);
    let picture = &graph["images"][0];
    let (robots, described) = (json!(robots(&seo["robots"])), json!(described));
    let all = [
        ("name", "description", if seo.is_null() { &described } else { &seo["description"] }),
        ("name", "robots", &robots),
        ("property", "og:type", &graph["type"]),
        ("property", "og:title", &graph["title"]),
        ("property", "og:description", &graph["description"]),
        ("property", "og:url", &graph["url"]),
        ("property", "og:site_name", &graph["site_name"]),
        ("property", "og:locale", &graph["locale"]),
        ("property", "og:image", &picture["url"]),
        ("property", "og:image:width", &picture["width"]),
        ("property", "og:image:height", &picture["height"]),
        ("property", "og:image:alt", &picture["alt"]),
        ("property", "article:publisher", &graph["publisher"]),
        ("property", "article:published_time", &graph["published_time"]),
        ("property", "article:modified_time", &graph["modified_time"]),
        ("name", "twitter:card", &twitter["card"]),
        ("name", "twitter:title", &twitter["title"]),
        ("name", "twitter:description", &twitter["description"]),
        ("name", "twitter:image", &twitter["image"]),
        ("name", "twitter:site", &twitter["site"]),
    ];
    let told = all.into_iter().filter(|(_, _, value)| !value.is_null() && *value != "");
    told.map(|(by, name, value)| json!({"by": by, "name": name, "value": value})).collect()
}

/// The words for search engines; empty where the document has none.
fn robots(told: &Value) -> String {
    let word =
        |member: &str, yes: &str, no: &str| told[member].as_bool().map(|is| if is { yes } else { no }.to_owned());
    let limits = [
        ("max_snippet", "max-snippet"),
        ("max_image_preview", "max-image-preview"),
        ("max_video_preview", "max-video-preview"),
    ];
    let limits = limits.iter().filter(|_| told["index"] == true).filter_map(|(member, name)| match &told[*member] {
        Value::Null => None,
        Value::String(value) => Some(format!("{name}:{value}")),
        value => Some(format!("{name}:{value}")),
    });
    let directives = told["directives"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let words = [word("index", "index", "noindex"), word("follow", "follow", "nofollow")];
    words.into_iter().flatten().chain(limits).chain(directives).collect::<Vec<_>>().join(", ")
}
