//! Markup: what the sanitiser lets through, and what rendering makes of it.

use super::HtmlAuditor;
use cms_text::blocks::{self, Block};
use cms_text::html::Html;
use cms_text::html_policy::{Policy, mark_links, sanitise};
use cms_text::render::{self, RenderOptions};
use cms_text::shortcode::{self, Shortcode};

/// Markup from people who may not write any.
pub(super) fn sanitiser(bytes: &[u8], judge: HtmlAuditor) {
    let html = String::from_utf8_lossy(bytes);
    for policy in [Policy::posts(), Policy::phrases(), Policy::comments(), Policy::biographies()] {
        let clean = sanitise(&html, policy);
        let outside = judge(&clean, &|element, attribute, value| policy.permits(element, attribute, value));
        assert!(outside.is_empty(), "{outside:#?} in {clean:?}");
        assert_eq!(sanitise(&clean, policy), clean, "again");
        let marked = mark_links(&clean);
        let outside = judge(&marked, &|element, attribute, value| {
            policy.permits(element, attribute, value) || (element, attribute, value) == ("a", "rel", "nofollow ugc")
        });
        assert!(outside.is_empty(), "{outside:#?} in {marked:?}");
    }
}

/// A content of an author, of a commenter, and of a user who may write any markup.
pub(super) fn content(bytes: &[u8], judge: HtmlAuditor) {
    let raw = String::from_utf8_lossy(bytes);
    let plain = RenderOptions::default();
    let _ = (render::render_content(&raw, &plain), render::render_excerpt("", &raw, &plain));
    let _ = (render::render_title(&raw), render::comment_content(&raw, &plain));

    let clean = sanitise(&raw, Policy::posts());
    let within = |rendered: &str, policy: &Policy| {
        let outside = judge(rendered, &|element, attribute, value| {
            policy.permits(element, attribute, value) || added(element, attribute, value)
        });
        assert!(outside.is_empty(), "{outside:#?} in {rendered:?} of {clean:?}");
    };
    // Renderers that write whatever their shortcode or block contains.
    let code = |code: &Shortcode<'_>| Some(told(code.attrs().map(|(name, value)| format!("{name}={value}"))));
    let block = |block: &Block<'_>, _: &str| {
        block.name.as_deref()?.contains("query").then(|| told([block.attributes().to_string()]))
    };
    let made = RenderOptions { shortcodes: Some(&code), blocks: Some(&block), ..plain };
    for options in [plain, made] {
        within(&render::render_content(&clean, &options), Policy::posts());
        within(&render::render_excerpt("", &clean, &options), Policy::posts());
    }
    within(&render::render_excerpt(&clean, "", &plain), Policy::posts());
    within(&render::render_title(&sanitise(&raw, Policy::phrases())), Policy::phrases());
    let comment = mark_links(&sanitise(&raw, Policy::comments()));
    within(&render::comment_content(&comment, &plain), Policy::comments());
}

/// HTML with these texts wherever a text may be.
fn told(texts: impl IntoIterator<Item = String>) -> Html {
    let mut html = Html::new();
    for text in texts {
        html.raw("<b").attr("title", &text).attr_in_single_quotes("class", &text).raw(">").text(&text).raw("</b>");
    }
    html
}

/// Whether rendering adds this markup by itself.
fn added(element: &str, attribute: &str, value: &str) -> bool {
    match (element, attribute) {
        ("p" | "br", "") => true,
        ("img", "decoding") => value == "async",
        ("img", "fetchpriority") => matches!(value, "auto" | "low"),
        ("div", "style") => value.starts_with("--wp--block-button--width: ") || value.starts_with("width: "),
        ("img" | "iframe", "loading") => value == "lazy",
        ("a", "rel") => matches!(value, "nofollow" | "nofollow ugc"),
        _ => false,
    }
}

/// A content made of blocks.
pub(super) fn blocks(bytes: &[u8], _: HtmlAuditor) {
    let text = String::from_utf8_lossy(bytes);
    assert!(blocks::strip_delimiters(&text).len() <= text.len());
    let _ = blocks::render_blocks(&text, &blocks::BlockOptions::default());
    blocks::parse(&text).iter().for_each(written_again);
}

fn written_again(block: &Block<'_>) {
    block.inner().for_each(written_again);
    let Some(name) = &block.name else { return };
    let attributes = block.attributes();
    let written = blocks::delimited(name, &attributes, None);
    let again = blocks::parse(&written);
    let [again] = again.as_slice() else { panic!("{} blocks in {written}", again.len()) };
    assert_eq!((&again.name, again.attributes()), (&block.name, attributes), "{written}");
}

/// A text with shortcodes.
pub(super) fn shortcodes(bytes: &[u8], _: HtmlAuditor) {
    let text = String::from_utf8_lossy(bytes);
    let largest = std::cell::Cell::new(0);
    let expand = |code: &Shortcode<'_>| {
        let attributes: usize = code.attrs().map(|(name, value)| name.len() + value.len()).sum();
        assert!(attributes <= code.attrs.len(), "{code:?}");
        largest.set(largest.get().max(attributes));
        None
    };
    let _ = shortcode::expand(&text, Some(&expand), &cms_text::dress::UniqueNames::default());
    assert!(largest.get() <= text.len());
    assert!(shortcode::strip(&text).len() <= text.len());
}
