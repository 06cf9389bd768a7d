//! Where a page may redirect: back into the site, or to the program that requested authorization.
//!
//! Contract: "Application passwords", the table of the authorization page; for programs that connect, RFC 8252. Pure.

use crate::outbound::{is_device, is_loopback};
use cms_declaration::translations::Sentence;
use url::Url;

/// Longest address that a page sends people to, in bytes.
pub const LONGEST: usize = 8192;

/// Longest address that a program registers, in bytes.
const LONGEST_REGISTERED: usize = 2000;

/// Schemes of programs that are older than the rule.
const KNOWN: [&str; 3] = ["wordpress", "jetpack", "woocommerce"];

/// Whether a scheme is a program's own: as RFC 8252 says, it is a domain name of its makers in reverse order, so it has a
/// full stop. Those of browsers and systems have none.
fn is_own(scheme: &str) -> bool {
    scheme.contains('.') || KNOWN.contains(&scheme)
}

/// Reads an address to which a program wants its user redirected: `https`, a scheme of its own, or a port of the user's
/// device.
///
/// # Errors
/// A sentence for the user.
pub fn target(text: &str) -> Result<Url, String> {
    let refused = |why: &str| Err(format!("The program wants to redirect you to an address that {why}."));
    if text.len() > LONGEST {
        return refused("is longer than 8,192 bytes");
    }
    // The parser would drop some of these silently.
    if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return refused("holds characters which no address has");
    }
    let url = parsed(text, |url| is_own(url.scheme()), |url| is_loopback(url) && url.port().is_some());
    url.map_err(|why| format!("The program wants to redirect you to an address that {why}."))
}

/// Reads an address that a program registers, to be sent a code there: as [`target`], but any port of the device may come
/// later, and the declared schemes are accepted.
///
/// # Errors
/// The rest of a sentence about the address.
pub fn registered(text: &str, schemes: &[String]) -> Result<Url, &'static str> {
    if text.len() > LONGEST_REGISTERED {
        return Err("is longer than 2,000 bytes");
    }
    if text.contains('#') {
        return Err("has a fragment");
    }
    // A letter that looks like another one would name another host.
    if !text.is_ascii() || text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err("holds characters which no address has");
    }
    parsed(text, |url| is_own(url.scheme()) || schemes.iter().any(|own| own == url.scheme()), is_device)
}

/// Reads an address that a program has for its id: that of a document which describes it. It is written in one way alone, so that a
/// program has one id. `http` is for documents on this machine, where `[outbound]` reaches it.
pub fn document(text: &str) -> Option<Url> {
    let url = registered(text, &[]).ok()?;
    let web = url.scheme() == "https" || is_loopback(&url);
    (web && url.path() != "/" && url.as_str() == text).then_some(url)
}

/// Whether an address is a registered one. The port of a loopback address may differ (RFC 8252).
pub fn is_registered(registered: &str, given: &str) -> bool {
    if registered == given {
        return true;
    }
    let portless = |text: &str| {
        let mut url = Url::parse(text).ok().filter(is_device)?;
        url.set_port(None).ok()?;
        Some(url)
    };
    portless(registered).zip(portless(given)).is_some_and(|(registered, given)| registered == given)
}

fn parsed(text: &str, own: impl Fn(&Url) -> bool, device: impl Fn(&Url) -> bool) -> Result<Url, &'static str> {
    let Ok(url) = Url::parse(text) else { return Err("cannot be read") };
    let refused = |why| Err(why);
    let web = url.scheme() == "https" || device(&url);
    if url.scheme() == "http" && !web {
        return refused("is not encrypted; it has to begin with https: or with the program's own scheme");
    }
    if !web && !own(&url) {
        let why = "belongs to no program; it has to begin with https: or with the program's own scheme, which has a full \
                   stop (com.example.app:)";
        return refused(why);
    }
    if web && (url.host_str().is_none_or(str::is_empty) || has_user(&url)) {
        return refused("does not say clearly where it leads");
    }
    Ok(url)
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The name of a target for people: its host, or its scheme.
pub fn shown(url: &Url) -> Sentence {
    match (url.scheme(), url.host_str()) {
        ("https", Some(host)) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            Sentence::about("{value}", format!("{host}{port}"))
        }
        ("http", _) => Sentence::about("port {value} of this device", url.port_or_known_default().unwrap_or_default()),
        (scheme, _) => Sentence::about("{value}: (a program on this device)", scheme),
    }
}

/// The target as a source in a content security policy.
pub fn source(url: &Url) -> String {
    match url.scheme() {
        "https" | "http" => url.origin().ascii_serialization(),
        scheme => format!("{scheme}:"),
    }
}

/// The target with further parameters.
pub fn with(url: &Url, pairs: &[(&str, &str)]) -> String {
    let mut url = url.clone();
    url.query_pairs_mut().extend_pairs(pairs);
    url.into()
}

/// A place on this site: its path and query. Anything else is nowhere.
pub fn local_path(site: &str, wanted: &str) -> Option<String> {
    if wanted.is_empty() || wanted.len() > LONGEST || wanted.chars().any(|c| c.is_control() || c == '\\') {
        return None;
    }
    let base = Url::parse(&format!("{site}/")).ok()?;
    let url = base.join(wanted).ok()?;
    // Two slashes at the start of a path would name another host.
    if url.origin() != base.origin() || has_user(&url) || url.path().starts_with("//") {
        return None;
    }
    // Below the path of the site's address; what is beside it may be another program's.
    let below = url.path().strip_prefix(base.path().trim_end_matches('/'))?;
    if !(below.is_empty() || below.starts_with('/')) {
        return None;
    }
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{}{query}", url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_https_or_a_program_s_own() {
        for good in [
            "https://app.example/done?x=1",
            "https://app.example:8443/",
            "com.example.app://callback",
            "my.app+1:done",
            "COM.example:/done",
            "wordpress://callback",
            "http://127.0.0.1:8123/done",
            "http://[::1]:8123/",
            "HTTPS://a.example",
        ] {
            assert!(target(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "app",
            "/path",
            "//app.example",
            "http://app.example/",
            "http://127.0.0.1/",
            "HTTP://app.example/",
            "http://127.0.0.1.example.org:8123/",
            "http://localhost:8123/",
            "http://user@127.0.0.1:8123/",
            "myapp://callback",
            "chrome://settings",
            "jar:https://a.example!/x",
            "feed:javascript:alert(1)",
            "ms-settings:privacy",
            "search-ms:query=x",
            "x-javascript:alert(1)",
            "view-source:https://a.example",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:https://a.example/x",
            "https://",
            "https://user@app.example/",
            "https://user:pw@app.example/",
            "https://app.example/\r\nSet-Cookie: a=b",
            "https://app.example\\@evil.example/",
            " https://app.example/",
        ] {
            assert!(target(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn programs_register_where_codes_go() {
        let schemes = ["cursor".to_owned()];
        for (good, given) in [
            ("https://app.example/done?x=1", &["https://app.example/done?x=1"][..]),
            ("http://127.0.0.1/done", &["http://127.0.0.1/done", "http://127.0.0.1:8123/done"]),
            ("http://localhost:3000/done", &["http://localhost:4000/done", "http://localhost/done"]),
            ("http://[::1]:1/", &["http://[::1]:2/"]),
            ("com.example.app:/done", &["com.example.app:/done"]),
            ("cursor://x/done", &["cursor://x/done"]),
        ] {
            assert!(registered(good, &schemes).is_ok(), "{good}");
            assert!(given.iter().all(|given| is_registered(good, given)), "{good}");
        }
        let long = format!("https://a.example/{}", "x".repeat(LONGEST_REGISTERED));
        for bad in [
            "http://app.example/",
            "https://app.example/#x",
            "http://127.0.0.1:1/#",
            "https://user@app.example/",
            "http://user@localhost:1/",
            "http://localhost.example/",
            "https://\u{430}pp.example/",
            "https://app.example/\u{202e}",
            "https://app.example\\@evil.example/",
            "javascript:alert(1)",
            "data:text/html,x",
            "vscode://x/done",
            "/done",
            "",
            &long,
        ] {
            assert!(registered(bad, &schemes).is_err(), "{bad}");
        }
        for (own, other) in [
            ("https://app.example/done", "https://app.example/done/"),
            ("https://app.example/done", "https://app.example:444/done"),
            ("https://app.example/done", "https://app.example/done?x=1"),
            ("https://app.example/done", "https://APP.example/done"),
            ("https://app.example/done", "https://app.example/x/../done"),
            ("https://app.example/done", "https://evil.example/done"),
            ("https://app.example/done", "http://app.example/done"),
            ("http://127.0.0.1/done", "http://127.0.0.1:1/other"),
            ("http://127.0.0.1/done", "http://localhost:1/done"),
            ("http://127.0.0.1/done", "http://127.0.0.2/done"),
            ("http://127.0.0.1/done", "https://127.0.0.1/done"),
            ("http://localhost/done", "http://user@localhost:1/done"),
            ("http://localhost/done", "http://localhost:1/done#x"),
        ] {
            assert!(!is_registered(own, other), "{own} {other}");
        }
    }

    #[test]
    fn documents_have_one_address() {
        for good in [
            "https://app.example/client.json",
            "https://app.example:8443/a/b?c=d",
            "https://xn--pp-5cd.example/client",
            "http://127.0.0.1:8123/client",
        ] {
            assert!(document(good).is_some(), "{good}");
        }
        let long = format!("https://a.example/{}", "x".repeat(LONGEST_REGISTERED));
        for bad in [
            "https://app.example",
            "https://app.example/",
            "https://app.example/?x=client",
            "https://app.example/a/../client",
            "https://app.example/./client",
            "https://app.example/%2e%2E/client",
            "https://app.example/client#",
            "https://user@app.example/client",
            "https://user:pw@app.example/client",
            "https://@app.example/client",
            "https://\u{430}pp.example/client",
            "https://app.example/\u{430}",
            "https://APP.example/client",
            "HTTPS://app.example/client",
            "https://app.example:443/client",
            "https:app.example/client",
            "https://app.example\\client",
            "https://app.example/a client",
            "http://app.example/client",
            "http://localhost:1/client",
            "com.example.app:/client",
            "file:///client",
            "11111111-1111-4111-8111-111111111111",
            "",
            &long,
        ] {
            assert!(document(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn addresses_have_a_length() {
        let of = |length: usize| format!("https://a.example/{}", "x".repeat(length - 18));
        assert!(target(&of(LONGEST - 1)).is_ok() && target(&of(LONGEST)).is_ok());
        assert!(target(&of(LONGEST + 1)).is_err_and(|why| why.contains("8,192")));
        let place = |length: usize| local_path("https://a.example", &format!("/{}", "x".repeat(length - 1)));
        assert!(place(LONGEST).is_some() && place(LONGEST + 1).is_none());
    }

    #[test]
    fn parameters_are_added_to_what_is_there() {
        let check = |url: &str, expected: &str| {
            let url = target(url).expect("a target");
            assert_eq!(with(&url, &[("user_login", "a b"), ("password", "x&y")]), expected);
        };
        check("https://a.example/done", "https://a.example/done?user_login=a+b&password=x%26y");
        check("https://a.example/done?x=1#top", "https://a.example/done?x=1&user_login=a+b&password=x%26y#top");
        check("my.app://callback", "my.app://callback?user_login=a+b&password=x%26y");
        check("my.app:callback", "my.app:callback?user_login=a+b&password=x%26y");
    }

    #[test]
    fn nobody_is_sent_away_after_a_login() {
        let site = "https://site.example";
        for (wanted, expected) in [
            ("/profile", Some("/profile")),
            ("/authorize?app_name=A%20B", Some("/authorize?app_name=A%20B")),
            ("https://site.example/profile?x=1", Some("/profile?x=1")),
            ("profile", Some("/profile")),
            ("//evil.example/", None),
            ("https://site.example//evil.example/", None),
            ("/.//evil.example/", None),
            ("https://evil.example/", None),
            ("https://site.example@evil.example/", None),
            ("https://user@site.example/", None),
            ("http://site.example/", None),
            ("javascript:alert(1)", None),
            ("/\\evil.example", None),
            ("\\\\evil.example", None),
            ("/a\r\nSet-Cookie: a=b", None),
            ("", None),
        ] {
            assert_eq!(local_path(site, wanted).as_deref(), expected, "{wanted}");
        }
    }

    #[test]
    fn nobody_leaves_the_path_of_the_site() {
        let site = "https://site.example/blog";
        for (wanted, expected) in [
            ("/blog/profile", Some("/blog/profile")),
            ("https://site.example/blog/admin?x=1", Some("/blog/admin?x=1")),
            ("https://site.example/blog", Some("/blog")),
            ("profile", Some("/blog/profile")),
            ("/profile", None),
            ("/blogs", None),
            ("/blog/../shop", None),
            ("https://site.example/", None),
            ("https://evil.example/blog/", None),
        ] {
            assert_eq!(local_path(site, wanted).as_deref(), expected, "{wanted}");
        }
    }

    #[test]
    fn people_see_where_a_target_leads() {
        let check = |text: &str, host: &str, policy: &str| {
            let url = target(text).expect("a target");
            assert_eq!((shown(&url).to_string().as_str(), source(&url).as_str()), (host, policy));
        };
        check("https://app.example/x", "app.example", "https://app.example");
        check("https://app.example:8443/x", "app.example:8443", "https://app.example:8443");
        check("my.app://x", "my.app: (a program on this device)", "my.app:");
        check("http://127.0.0.1:81/x", "port 81 of this device", "http://127.0.0.1:81");
    }
}
