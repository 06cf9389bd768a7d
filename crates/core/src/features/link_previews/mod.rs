//! Descriptions of pages of other sites: oEmbed, and the title of a page. Requests are sent only
//! where the configuration allows them (`[outbound]`); addresses of this site are resolved from its records.

use crate::error::{ApiError, Code};
use crate::features::oembed;
use crate::handlers::{Handler, Outcome, Work, handler};
use crate::outbound::FetchError;
use crate::registry::vocabulary::BehaviourEntry;
use cms_text::head::Head;
use cms_text::html::Html;
use serde_json::{Value, json};
use url::Url;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler("oembed.proxy", |w| Box::pin(embed(w)), "Asks a declared provider how to embed an address.")
        .also("text/xml")
        .fails(&[Code::Forbidden, Code::OembedInvalidUrl]),
    handler(
        "link_preview.get",
        |w| Box::pin(details(w)),
        "Fetches title, icon, description and picture of a public page (see `outbound.link_previews`).",
    )
    .fails(&[Code::NoResponse]),
];

/// The name of the argument that holds the address.
const ADDRESS: &str = "url";

/// `page_details`: `{title, icon, description, image}` of a page; texts, empty where the page has none.
///
/// # Errors
/// The address is not allowed; nothing is found there.
pub async fn details(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let wanted = work.allowed.args().text(ADDRESS).unwrap_or("").trim_end_matches('/');
    if let Some(title) = oembed::own_title(work, wanted)? {
        return Ok(Outcome::ok(json!({"title": title, "icon": "", "description": "", "image": ""})));
    }
    let url = Url::parse(wanted).map_err(|_| ApiError::invalid_one(ADDRESS, "Not an address of a page."))?;
    let outbound = &work.shared.outbound;
    let own = Url::parse(&work.scope.registry.site.url).is_ok_and(|own| own.origin() == url.origin());
    if !own {
        outbound.allowed(&url).map_err(|refused| failed(refused, Code::NoResponse))?;
    }
    if !outbound.pages() {
        let why = "This site does not fetch pages of other sites.";
        return Err(ApiError::new(Code::NoResponse).with_message(why));
    }
    let page =
        outbound.get(work.scope.job_owner()?, &url).await.map_err(|refused| failed(refused, Code::NoResponse))?;
    let head = Head::of(&page.text);
    let absolute = |address: &str| {
        let joined = (!address.is_empty()).then(|| page.url.join(address).ok()).flatten();
        joined.filter(|url| matches!(url.scheme(), "http" | "https")).map(String::from).unwrap_or_default()
    };
    let (icon, image) = (absolute(&head.icon), absolute(&head.image));
    let details = json!({"title": head.title, "icon": icon, "description": head.description, "image": image});
    Ok(Outcome { private: true, ..Outcome::ok(details) })
}

/// `oembed_proxy`: how to embed the page at an address, from this site or a declared provider.
///
/// # Errors
/// No provider covers the address.
pub async fn embed(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let args = work.allowed.args();
    let wanted = args.text(ADDRESS).unwrap_or("");
    let unknown = || ApiError::new(Code::OembedInvalidUrl);
    let outbound = &work.shared.outbound;
    let Some(endpoint) = outbound.provider(wanted) else { return oembed::embed(work) };
    let mut asked = Url::parse(endpoint).map_err(|error| work.scope.internal(&error))?;
    {
        let mut query = asked.query_pairs_mut();
        query.append_pair("url", wanted);
        for name in ["maxwidth", "maxheight"] {
            if let Some(most) = args.get(name).and_then(Value::as_i64) {
                query.append_pair(name, &most.to_string());
            }
        }
        query.append_pair("format", "json");
    }
    let page = outbound
        .get(work.scope.job_owner()?, &asked)
        .await
        .map_err(|refused| failed(refused, Code::OembedInvalidUrl))?;
    let mut document: Value = serde_json::from_str(&page.text).map_err(|_| unknown())?;
    let shown = shown(&document, wanted);
    let members = document.as_object_mut().ok_or_else(unknown)?;
    members.insert("html".into(), Value::from(shown));
    Ok(Outcome { private: true, ..Outcome::ok(document) })
}

fn failed(refused: FetchError, code: Code) -> ApiError {
    match refused {
        FetchError::Address(why) => ApiError::invalid_one(ADDRESS, format!("Not fetched: {why}.")),
        FetchError::Busy => {
            ApiError::new(Code::Busy).with_message("Too many requests to other sites are in progress; try again.")
        }
        FetchError::Nothing(why) => {
            tracing::debug!("another site did not respond: {why}");
            ApiError::new(code)
        }
        FetchError::Status(_) | FetchError::TooLarge => ApiError::new(code),
    }
}

/// The HTML for a provider's document in a page, by its type; empty when it lacks a part that its type needs.
fn shown(document: &Value, address: &str) -> String {
    let text = |name: &str| document[name].as_str().unwrap_or("");
    let side = |name: &str| match &document[name] {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => String::new(),
    };
    let mut html = Html::new();
    match text("type") {
        "photo" if !text("url").is_empty() => {
            html.raw("<a").attr("href", address).raw("><img").attr("src", text("url")).attr("alt", text("title"));
            html.attr("width", &side("width")).attr("height", &side("height")).raw(" /></a>");
        }
        "video" | "rich" => return text("html").to_owned(),
        "link" if !text("title").is_empty() => {
            html.raw("<a").attr("href", address).raw(">").text(text("title")).raw("</a>");
        }
        _ => {}
    }
    html.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_shown_by_their_type() {
        let check = |document: Value, expected: &str| {
            assert_eq!(shown(&document, "https://example.com/?a=1&b"), expected, "{document}");
        };
        check(json!({"type": "video", "html": "<iframe></iframe>"}), "<iframe></iframe>");
        check(
            json!({"type": "photo", "url": "https://example.com/\"x", "width": 5, "height": "6"}),
            "<a href=\"https://example.com/?a=1&amp;b\"><img src=\"https://example.com/&quot;x\" alt=\"\" width=\"5\" height=\"6\" /></a>",
        );
        check(json!({"type": "link", "title": "<b>"}), "<a href=\"https://example.com/?a=1&amp;b\">&lt;b&gt;</a>");
        check(json!({"type": "photo"}), "");
        check(json!({"type": "rich", "html": 5}), "");
        check(json!([1]), "");
    }
}
