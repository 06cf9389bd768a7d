//! The few pages for people who open the server's address in a browser: home and "not found".
//!
//! Plain HTML without scripts or outside resources; it knows the site's name and where the API is, nothing else.

use crate::text::sanitize::escape;

/// What the pages may load: nothing but their own style.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

/// The home page: what this server is and where its API starts; `rsd_url` leads old editors to theirs.
pub fn home(site_name: &str, rest_url: &str, rsd_url: Option<&str>) -> String {
    let (name, url) = (escape(site_name), escape(rest_url));
    let title = if name.is_empty() { "Content API".to_owned() } else { name };
    let rsd = rsd_url.map(|url| {
        let url = escape(url);
        format!("<link rel=\"EditURI\" type=\"application/rsd+xml\" title=\"RSD\" href=\"{url}\">\n")
    });
    page(
        &title,
        &rsd.unwrap_or_default(),
        &format!(
            "<h1>{title}</h1>\n\
             <p>This is a headless site: its content is served as data, for the programs that show it.</p>\n\
             <p>Start at <a href=\"{url}/\">{url}/</a>. The document there lists every route; <code>OPTIONS</code> on a\n\
             route describes its arguments and the shape of what it answers.</p>\n"
        ),
    )
}

/// The page for an address outside the API.
pub fn not_found(rest_url: &str) -> String {
    let url = escape(rest_url);
    page(
        "Nothing here",
        "",
        &format!(
            "<h1>Nothing here</h1>\n\
             <p>No page has this address. Content is served as data below <a href=\"{url}/\">{url}/</a>.</p>\n"
        ),
    )
}

fn page(title: &str, links: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n{links}<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         </body>\n</html>\n"
    )
}

const STYLE: &str = ":root{color-scheme:light dark}\
body{margin:0;font:1.05rem/1.6 system-ui,sans-serif}\
main{max-width:38rem;margin:18vh auto 0;padding:0 1.5rem}\
h1{font-size:1.9rem;line-height:1.2;margin:0 0 1rem}\
a{color:light-dark(#0a58ca,#8ab4f8)}code{font-size:.95em}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text() {
        let page = home("<b>\"A\" & B</b>", "http://x/cms-json", Some("http://x/c?rsd&"));
        assert!(page.contains("<h1>&lt;b&gt;&quot;A&quot; &amp; B&lt;/b&gt;</h1>"), "{page}");
        assert!(page.contains("href=\"http://x/cms-json/\""));
        assert!(page.contains(
            "<link rel=\"EditURI\" type=\"application/rsd+xml\" title=\"RSD\" href=\"http://x/c?rsd&amp;\">"
        ));
        assert!(!home("", "u", None).contains("EditURI"));
        assert!(home("", "u", None).contains("<title>Content API</title>"));
        assert!(not_found("u").contains("Nothing here"));
    }
}
