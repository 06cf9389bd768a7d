//! Authentication.

use crate::server::Server;
use crate::shared::{id, made, refused, site, unique};
use serde_json::{Value, json};

const ROUTE: &str = "/cms/v2/users/me/application-passwords";

fn password(site: &Server) -> (String, String) {
    let record = made(site, ROUTE, &json!({"name": unique("Program ")}));
    let plain: String =
        record["password"].as_str().expect("a clear value").chars().filter(char::is_ascii_alphanumeric).collect();
    (plain, record["uuid"].as_str().expect("a uuid").to_owned())
}

fn status_with(site: &Server, login: &str, password: &str) -> u16 {
    site.ask("GET", "/cms/v2/users/me", Some(&(login.to_owned(), password.to_owned())), None).status
}

fn grouped(plain: &str, by: &str) -> String {
    plain.as_bytes().chunks(4).map(|c| String::from_utf8_lossy(c).into_owned()).collect::<Vec<_>>().join(by)
}

/// 1: with spaces, `_` or `-` between the groups, or without; only letters and digits are compared.
#[test]
fn separators_in_a_password_do_not_count() {
    let site = site();
    let (plain, _) = password(&site);
    assert_eq!(status_with(&site, "admin", &plain), 200);
    for by in [" ", "_", "-", "  ", "."] {
        assert_eq!(status_with(&site, "admin", &grouped(&plain, by)), 200, "{by:?}");
    }
    assert_eq!(status_with(&site, "admin", &format!(" {plain} ")), 200);
    let other_case: String =
        plain.chars().map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect();
    assert_eq!(status_with(&site, "admin", &other_case), 401, "case counts");
    for wrong in [&plain[1..], &format!("{plain}x"), "", " "] {
        assert_eq!(status_with(&site, "admin", wrong), 401, "{wrong}");
    }
    assert_eq!(status_with(&site, "nobody", &plain), 401);
    assert_eq!(status_with(&site, "admin@example.org", &plain), 200, "an e-mail address is a login too");
}

/// 1: what is not Basic, or no base64, leaves the caller anonymous.
#[test]
fn a_broken_header_leaves_a_stranger() {
    let site = site();
    for header in ["Basic", "Basic !!!", "Basic YWRtaW4", "Bearer x", "Basic OjAwMDA=", ""] {
        let answer =
            site.send("GET", &format!("{}/cms/v2/users/me", site.rest), None, None, &[("authorization", header)]);
        assert_eq!(answer.status, 401, "{header}: {}", answer.text);
        let answer = site.send("GET", &format!("{}/cms/v2/posts", site.rest), None, None, &[("authorization", header)]);
        assert_eq!(answer.status, 200, "{header}: {}", answer.text);
    }
}

/// 2: usable over XML-RPC in place of the account password.
#[test]
fn an_application_password_works_over_xml_rpc() {
    let site = site();
    let (plain, uuid) = password(&site);
    let call = |password: &str| {
        let xml = format!(
            "<?xml version=\"1.0\"?><methodCall><methodName>cms.getProfile</methodName><params>\
             <param><value><int>1</int></value></param><param><value><string>admin</string></value></param>\
             <param><value><string>{password}</string></value></param></params></methodCall>"
        )
        .replace("cms.getProfile", "wp.getProfile");
        let body = Some(("text/xml", xml.into_bytes()));
        site.send("POST", &format!("{}/xmlrpc.php", site.site), None, body, &[]).text
    };
    assert!(call(&plain).contains("admin@example.org"), "{}", call(&plain));
    assert!(call(&grouped(&plain, " ")).contains("admin@example.org"));
    assert!(call("wrong").contains("faultCode"));
    site.admin("DELETE", &format!("{ROUTE}/{uuid}"), None);
    assert!(call(&plain).contains("faultCode"), "revoked");
}

/// 3: any number per user, each revoked for itself, at any time.
#[test]
fn a_user_has_any_number_of_passwords() {
    let site = site();
    let made: Vec<(String, String)> = (0..8).map(|_| password(&site)).collect();
    let (revoked, kept) = made.split_at(4);
    for (_, uuid) in revoked {
        assert_eq!(site.admin("DELETE", &format!("{ROUTE}/{uuid}"), None).status, 200);
    }
    for (plain, _) in revoked {
        assert_eq!(status_with(&site, "admin", plain), 401);
    }
    for (plain, _) in kept {
        assert_eq!(status_with(&site, "admin", plain), 200);
    }
}

/// 3: stored only as hashes.
#[test]
fn a_password_is_stored_as_a_hash() {
    let site = Server::start();
    let (plain, _) = password(&site);
    assert_eq!(status_with(&site, "admin", &plain), 200);
    for entry in std::fs::read_dir(site.folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("a file");
            assert!(!bytes.windows(plain.len()).any(|w| w == plain.as_bytes()), "{}", path.display());
        }
    }
}

/// 5: managing a user's passwords needs `edit_user`.
#[test]
fn managing_passwords_needs_edit_user() {
    let site = site();
    let editor = site.user(&unique("editor"), "editor");
    let own = site.ask("GET", "/cms/v2/users/me", Some(&editor), None);
    let own = id(&own.body);
    let route = format!("/cms/v2/users/{own}/application-passwords");
    assert_eq!(site.ask("GET", &route, Some(&editor), None).status, 200, "one's own");
    assert_eq!(site.ask("POST", &route, Some(&editor), Some(&json!({"name": unique("P")}))).status, 201);
    assert_eq!(site.admin("GET", &route, None).status, 200, "an administrator may edit the user");
    let admins = "/cms/v2/users/1/application-passwords";
    refused(site.ask("GET", admins, Some(&editor), None), 403, "rest_cannot_list_application_passwords");
    let body = json!({"name": unique("P")});
    refused(site.ask("POST", admins, Some(&editor), Some(&body)), 403, "rest_cannot_create_application_passwords");
    refused(site.ask("GET", admins, None, None), 401, "rest_cannot_list_application_passwords");
    refused(site.ask("POST", admins, None, Some(&body)), 401, "rest_cannot_create_application_passwords");
}

/// 6: the root contains the address of the authorization page.
#[test]
fn the_root_tells_where_to_authorize() {
    let site = site();
    let address = site.get("/").body["authentication"]["application-passwords"]["endpoints"]["authorization"].take();
    assert!(address.as_str().is_some_and(|a| a.starts_with(&site.site)), "{address}");
}

/// 7: a nonce without a session is refused; the cookie alone leaves the caller anonymous.
#[test]
fn a_nonce_needs_its_session() {
    let site = site();
    let ask = |headers: &[(&str, &str)], query: &str| {
        site.send("GET", &format!("{}/cms/v2/users/me{query}", site.rest), None, None, headers)
    };
    refused(ask(&[("x-cms-nonce", "abc")], ""), 403, "rest_cookie_invalid_nonce");
    refused(ask(&[], "?_cmsnonce=abc"), 403, "rest_cookie_invalid_nonce");
    assert_eq!(ask(&[("cookie", "session=abc; cms_session=abc")], "").status, 401);
}

/// 8: the account password is no Basic password.
#[test]
fn the_account_password_does_not_work_over_basic() {
    let site = site();
    assert_eq!(status_with(&site, "admin", "an account password"), 401);
}

/// 9: without the header a request is unauthenticated.
#[test]
fn without_the_header_a_request_is_a_stranger_s() {
    let site = site();
    assert_eq!(site.get("/cms/v2/users/me").status, 401);
    assert_eq!(site.get("/cms/v2/settings").status, 401);
}

/// 10: settings and themes require authorization: 401 for anonymous callers, 403 for users who may not.
#[test]
fn settings_and_themes_require_authorization() {
    let site = site();
    let subscriber = site.user(&unique("reader"), "subscriber");
    for route in ["/cms/v2/settings", "/cms/v2/themes?status=active"] {
        let stranger = site.get(route);
        assert_eq!((stranger.status, &stranger.body["data"]["status"]), (401, &json!(401)), "{route}");
        let user = site.ask("GET", route, Some(&subscriber), None);
        assert_eq!((user.status, &user.body["data"]["status"]), (403, &json!(403)), "{route}");
        assert_eq!(site.admin("GET", route, None).status, 200, "{route}");
        assert_eq!(stranger.body["code"].as_str().map(str::is_empty), Some(false));
        assert_ne!(user.body, Value::Null);
    }
}
