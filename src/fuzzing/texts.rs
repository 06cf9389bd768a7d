//! Plain fields: lines, names, addresses, dates, and the heads of other sites' pages.

use super::HtmlAuditor;
use cms_text::head::Head;
use cms_text::sanitize::{self, SCHEMES, allowed_scheme};
use cms_text::{php, slug, strip, time};

/// Texts of one field or another.
pub(super) fn texts(bytes: &[u8], judge: HtmlAuditor) {
    let text = String::from_utf8_lossy(bytes);
    let nothing = |_: &str, _: &str, _: &str| false;
    let plain = [
        sanitize::sanitize_text_field(&text),
        sanitize::sanitize_textarea(&text),
        sanitize::name(&text),
        sanitize::escape(&text),
        sanitize::esc_html(&text),
        sanitize::esc_text(&text),
        strip::strip_all_tags(&sanitize::sanitize_textarea(&text)),
    ];
    for plain in plain {
        let found = judge(&plain, &nothing);
        assert!(found.is_empty(), "{found:#?} in {plain:?}");
    }
    let one = |element: &str, attribute: &str, _: &str| element == "p" && matches!(attribute, "" | "title");
    for value in [sanitize::esc_attr(&text), sanitize::escape(&text)] {
        for written in [format!("<p title=\"{value}\">"), format!("<p title='{value}'>")] {
            let found = judge(&written, &one);
            assert!(found.is_empty(), "{found:#?} in {written:?}");
        }
    }
    let url = sanitize::clean_url(&text);
    assert!(allowed_scheme(&url, &SCHEMES), "{url}");
    assert!(url.is_empty() || sanitize::clean_url(&url) == url, "{url}");
    let _ = (slug::sanitize_title(&text), slug::title_key(&text), slug::remove_accents(&text));
    let _ = (slug::sanitize_user_login(&text), slug::user_slug(&text), slug::valid_login(&text));
    let email = sanitize::sanitize_email(&text);
    assert!(email.is_empty() || sanitize::is_email(&email));
    if let Some(parsed) = time::parse_datetime(&text) {
        let again = time::parse_datetime(&time::format_local(parsed.wall));
        assert_eq!(again.map(|again| again.wall), Some(parsed.wall), "{text}");
    }
    let _ = (time::Zone::parse(&text), php::unserialize(&text));
}

/// A page of another site.
pub(super) fn page_head(bytes: &[u8], _: HtmlAuditor) {
    let page = String::from_utf8_lossy(bytes);
    let Head { title, icon, description, image } = Head::of(&page);
    for told in [title, icon, description, image] {
        // A short reference may represent a character of more bytes.
        assert!(told.len() <= page.len() * 2, "{told}");
    }
}
