//! Links in finished markup that name the site: they lead to its front end, where the site is read.
//!
//! Owns which addresses are meant. It must not know records: an address keeps its path, and the front end asks the server
//! what is there.

use super::markup::{Piece, spans, tag_name};
use super::sanitize::decode_value;
use super::tags::{attribute, ends, with_attribute};
use memchr::memmem;
use serde_json::Value;
use std::borrow::Cow;

/// The addresses of a site that is read in a front end.
#[derive(Clone, Debug)]
pub struct SiteLinks {
    /// The site's address behind its scheme, `//cms.example.org/blog`.
    site: String,
    front: String,
    /// Paths below the site's address that stay there, with what is below them.
    stays: Vec<String>,
    /// A part that the paths of feeds have.
    feed: String,
}

impl SiteLinks {
    /// Both addresses have no final slash; the paths begin with one.
    pub fn new(site: &str, front: &str, stays: Vec<String>, feed: &str) -> SiteLinks {
        let site = site.find("//").map_or("", |at| &site[at..]);
        SiteLinks { site: site.to_owned(), front: front.to_owned(), stays, feed: feed.to_owned() }
    }

    /// The address in the front end; `None` for one that leads elsewhere, or to what stays at the site: files, the REST
    /// interface, pages to log in, feeds.
    pub fn in_front(&self, address: &str) -> Option<String> {
        let address = address.trim();
        let is_below = |base: &str| address.strip_prefix(base).is_some_and(ends_there);
        let scheme = ["https:", "http:", ""].into_iter().find(|scheme| address.starts_with(&format!("{scheme}//")))?;
        let rest = address[scheme.len()..].strip_prefix(&*self.site).filter(|rest| ends_there(rest))?;
        // One of the addresses may be below the other, and a text may have been read twice.
        if self.front.len() > scheme.len() + self.site.len() && is_below(&self.front) {
            return None;
        }
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let stays = self.stays.iter().any(|stays| path.strip_prefix(&**stays).is_some_and(ends_there));
        let is_feed = path.split('/').any(|part| !part.is_empty() && part == self.feed);
        (!stays && !is_feed).then(|| format!("{}{rest}", self.front))
    }

    /// Markup whose links lead to the front end.
    pub fn in_markup<'h>(&self, html: &'h str) -> Cow<'h, str> {
        if !self.occurs_in(html) {
            return Cow::Borrowed(html);
        }
        let mut out = String::with_capacity(html.len());
        for span in spans(html) {
            let (Piece::Text(span) | Piece::Markup(span)) = span;
            let (name, closes) = if span.starts_with('<') { tag_name(span) } else { ("", false) };
            let is_link = !closes && ["a", "area"].iter().any(|link| name.eq_ignore_ascii_case(link));
            let href = (is_link && ends(span)).then(|| attribute(span, "href")).flatten();
            match href.and_then(|href| self.in_front(&decode_value(&span[href.value]))) {
                Some(address) => out.push_str(&with_attribute(span, "href", &address)),
                None => out.push_str(span),
            }
        }
        Cow::Owned(out)
    }

    /// The texts in a value, each an address or markup.
    pub fn in_value(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.occurs_in(text) => {
                *text = self.in_front(text).unwrap_or_else(|| self.in_markup(text).into_owned());
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.in_value(value)),
            Value::Object(map) => map.values_mut().for_each(|value| self.in_value(value)),
            _ => {}
        }
    }

    fn occurs_in(&self, text: &str) -> bool {
        memmem::find(text.as_bytes(), self.site.as_bytes()).is_some()
    }
}

/// Whether a part of an address ends before this rest.
fn ends_there(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['/', '?', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(site: &str, front: &str) -> SiteLinks {
        SiteLinks::new(site, front, vec!["/files".into(), "/login".into()], "feed")
    }

    #[test]
    fn addresses_of_the_site_keep_their_paths() {
        let links = links("https://cms.example.org", "https://www.example.org");
        for (address, expected) in [
            ("https://cms.example.org", Some("https://www.example.org")),
            ("http://cms.example.org/a/?b=1#c", Some("https://www.example.org/a/?b=1#c")),
            ("//cms.example.org/?p=1", Some("https://www.example.org/?p=1")),
            (" https://cms.example.org/a ", Some("https://www.example.org/a")),
            ("https://cms.example.org/filesystem/", Some("https://www.example.org/filesystem/")),
            ("https://cms.example.org/files/a.png", None),
            ("https://cms.example.org/login?redirect_to=x", None),
            ("https://cms.example.org/topics/feed/", None),
            ("https://cms.example.org.example.com/", None),
            ("https://cms.example.org:8080/", None),
            ("ftp://cms.example.org/", None),
            ("https://elsewhere.example.com/?u=https://cms.example.org/", None),
            ("/a", None),
            ("", None),
        ] {
            assert_eq!(links.in_front(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn an_address_that_leads_to_the_front_end_already_stays() {
        let below = links("https://example.org", "https://example.org/site");
        assert_eq!(below.in_front("https://example.org/a").as_deref(), Some("https://example.org/site/a"));
        assert_eq!(below.in_front("https://example.org/site/a"), None);
        let above = links("https://example.org/cms", "https://example.org");
        assert_eq!(above.in_front("https://example.org/cms/a").as_deref(), Some("https://example.org/a"));
        assert_eq!(above.in_front("https://example.org/a"), None);
    }

    #[test]
    fn links_alone_are_changed_in_markup() {
        let links = links("https://cms.example.org", "https://www.example.org");
        for (html, expected) in [
            (
                r#"<p>https://cms.example.org/ <A class=x href='https://cms.example.org/a/?b=1&amp;c=2'>a</A></p>"#,
                r#"<p>https://cms.example.org/ <A class=x href="https://www.example.org/a/?b=1&amp;c=2">a</A></p>"#,
            ),
            (
                r#"<img src="https://cms.example.org/a.png"><a href="https://cms.example.org/files/a.png">"#,
                r#"<img src="https://cms.example.org/a.png"><a href="https://cms.example.org/files/a.png">"#,
            ),
            (
                r#"<!-- <a href="https://cms.example.org/"> --><a href="https://cms.example.org/"#,
                r#"<!-- <a href="https://cms.example.org/"> --><a href="https://cms.example.org/"#,
            ),
        ] {
            let once = links.in_markup(html);
            assert_eq!(once, expected);
            assert_eq!(links.in_markup(&once), expected);
        }
    }
}
