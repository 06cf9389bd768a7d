//! Programs that people connect (OAuth 2.1): discovery, registration, consent, tokens, how they end, and those who attack them.

use super::pages::{Browser, PASSWORD, field};
use super::server::{Answer, Server, until, with_profiles};
use super::xmlrpc::call_as;
use serde_json::{Value, json};

pub const BACK: &str = "http://127.0.0.1:8123/done";
/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Names and values of a form or a query.
pub type Parameters<'p> = &'p [(&'p str, &'p str)];

/// A site where people can connect programs, which wait for no limit.
pub fn site(more: &str) -> Server {
    let quiet = "[limits.anonymous_writes]\nenabled = false\n[limits.registrations]\nenabled = false\n[limits.wrong_credentials]\nenabled = false\n";
    Server::over(with_profiles(&["oauth"], &format!("{quiet}{more}")), &["mcp.path=/mcp"])
}

fn register(server: &Server, body: &Value) -> Answer {
    server.ask("POST", "/oauth/v1/clients", None, Some(body))
}

/// The id of a program that is registered with one address.
pub fn program(server: &Server, redirect: &str) -> String {
    let made = register(server, &json!({"client_name": "Assistant", "redirect_uris": [redirect]}));
    assert_eq!(made.status, 201, "{}", made.text);
    made.body["client_id"].as_str().expect("an id").to_owned()
}

/// The parameters of a sound request, with others in place of some.
pub fn asking<'p>(client: &'p str, other: &[(&'p str, &'p str)]) -> Vec<(&'p str, &'p str)> {
    let mut all = vec![
        ("client_id", client),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("state", "a state"),
    ];
    for (name, value) in other {
        all.retain(|(own, _)| own != name);
        all.push((name, value));
    }
    all
}

pub fn page_of(pairs: &[(&str, &str)]) -> String {
    let query: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("/connect?{query}")
}

/// The parameters of the address that a person is redirected to.
fn sent_back(answer: &Answer, redirect: &str) -> std::collections::HashMap<String, String> {
    assert_eq!(answer.status, 303, "{}", answer.text);
    let place = answer.header("location").expect("an address");
    assert!(place.starts_with(redirect), "{place}");
    url::Url::parse(place).expect("an address").query_pairs().into_owned().collect()
}

/// A person approves: the code.
pub fn approve(browser: &mut Browser<'_>, pairs: &[(&str, &str)], choices: &[(&str, &str)]) -> String {
    let mut form = pairs.to_vec();
    form.push(("act", "approve"));
    form.extend(choices);
    let answer = browser.submit(&page_of(pairs), "/connect", &form);
    let redirect = pairs.iter().find(|(name, _)| *name == "redirect_uri").expect("an address").1;
    sent_back(&answer, redirect).remove("code").expect("a code")
}

pub fn post(server: &Server, route: &str, pairs: &[(&str, &str)]) -> Answer {
    let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let body = ("application/x-www-form-urlencoded", form.into_bytes());
    server.send("POST", &format!("{}/oauth/v1/{route}", server.rest), None, Some(body), &[])
}

pub fn exchange(server: &Server, client: &str, code: &str, other: &[(&str, &str)]) -> Answer {
    let mut all = vec![
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    for (name, value) in other {
        all.retain(|(own, _)| own != name);
        all.push((name, value));
    }
    post(server, "token", &all)
}

pub fn refresh(server: &Server, client: &str, token: &str, more: &[(&str, &str)]) -> Answer {
    let mut all = vec![("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    all.extend(more);
    post(server, "token", &all)
}

/// The access token and the refresh token of a response.
pub fn tokens(answer: &Answer) -> [String; 2] {
    assert_eq!(answer.status, 200, "{}", answer.text);
    ["access_token", "refresh_token"].map(|member| answer.body[member].as_str().expect("a token").to_owned())
}

/// Connects a program for a user: its tokens.
pub fn connect(server: &Server, login: &str, password: &str, client: &str, choices: &[(&str, &str)]) -> [String; 2] {
    let code = approve(&mut Browser::of(server, login, password), &asking(client, &[]), choices);
    tokens(&exchange(server, client, &code, &[]))
}

fn with(server: &Server, method: &str, route: &str, token: &str, body: Option<&Value>) -> Answer {
    let body = body.map(|body| ("application/json", body.to_string().into_bytes()));
    server.send(
        method,
        &format!("{}{route}", server.rest),
        None,
        body,
        &[("authorization", &format!("Bearer {token}"))],
    )
}

/// Who asks, by a token: the name, or the status of the refusal.
pub fn asks(server: &Server, token: &str) -> String {
    let answer = with(server, "GET", "/cms/v2/users/me", token, None);
    answer.body["slug"].as_str().map_or_else(|| answer.status.to_string(), str::to_owned)
}

pub fn ended(server: &Server, token: &str) {
    until("the token ends", || asks(server, token) == "401");
}

fn refused(answer: &Answer, error: &str, about: &str) {
    assert_eq!(answer.body["error"], error, "{about}: {}", answer.text);
    assert!((400..402).contains(&answer.status), "{about}: {}", answer.status);
    assert!(answer.header("cache-control").is_some_and(|said| said.contains("no-store")), "{about}");
}

fn mcp(server: &Server, token: Option<&str>, method: &str, params: Value) -> Answer {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let bearer = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![("mcp-protocol-version", "2025-11-25")];
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    let body = ("application/json", message.to_string().into_bytes());
    server.send("POST", &format!("{}/mcp", server.site), None, Some(body), &headers)
}

#[test]
fn a_program_finds_out_how_to_be_connected() {
    let server = site("");
    let refused = mcp(&server, None, "ping", json!({}));
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").expect("a challenge").to_owned();
    let found = format!("{}/.well-known/oauth-protected-resource/mcp", server.site);
    assert!(
        challenge.starts_with("Bearer ") && challenge.contains(&format!("resource_metadata=\"{found}\"")),
        "{challenge}"
    );
    assert!(!challenge.contains("error="), "{challenge}");
    let wrong = mcp(&server, Some("cms.wrong"), "ping", json!({}));
    assert!(wrong.header("www-authenticate").is_some_and(|said| said.contains("error=\"invalid_token\"")));
    let wrong = with(&server, "GET", "/cms/v2/posts", "cms.wrong", None);
    assert!(wrong.status == 401 && wrong.header("www-authenticate").is_some_and(|said| said.contains("/cms-json\"")));
    let resource = server.send("GET", &found, None, None, &[]);
    assert_eq!(resource.header("access-control-allow-origin"), Some("*"));
    assert_eq!(resource.body["resource"], format!("{}/mcp", server.site));
    assert_eq!(resource.body["authorization_servers"], json!([server.site]));
    let read = |path: &str| server.send("GET", &format!("{}{path}", server.site), None, None, &[]);
    assert_eq!(read("/.well-known/oauth-protected-resource").body["resource"], server.site);
    assert_eq!(read("/.well-known/oauth-protected-resource/cms-json").body["resource"], server.rest);
    let about = read("/.well-known/oauth-authorization-server").body;
    assert_eq!(about["issuer"], server.site);
    assert_eq!(about["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(about["authorization_endpoint"], format!("{}/connect", server.site));
    for (member, route) in
        [("token_endpoint", "token"), ("registration_endpoint", "clients"), ("revocation_endpoint", "revoke")]
    {
        assert_eq!(about[member], format!("{}/oauth/v1/{route}", server.rest));
    }
    // Where it is not declared, there is nothing of it.
    let off = Server::with(&["mcp.path=/mcp"]);
    let challenge = mcp(&off, None, "ping", json!({}));
    assert_eq!(challenge.header("www-authenticate"), Some("Bearer realm=\"mcp\""));
    for path in ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp", "/connect"] {
        assert_eq!(off.send("GET", &format!("{}{path}", off.site), None, None, &[]).status, 404, "{path}");
    }
}

#[test]
fn a_connected_program_acts_for_a_person_everywhere() {
    let server = site("");
    server.user("eva", "author");
    let client = program(&server, BACK);
    let resource = format!("{}/mcp", server.site);
    let pairs = asking(&client, &[("scope", "read write openid"), ("resource", &resource)]);
    // A person who is not logged in does that first.
    let mut browser = Browser::new(&server);
    let login = browser.get(&page_of(&pairs));
    assert_eq!(login.status, 302);
    let login = browser.get(&login.header("location").expect("a login").replace(&server.site, ""));
    assert!(login.text.contains("A program requests access to this site in your name."), "{}", login.text);
    let place = field(&login, "redirect");
    let inside = browser.post("/login", &[("login", "eva"), ("password", "long enough"), ("redirect", &place)]);
    let page = browser.get(inside.header("location").expect("the page"));
    for text in [
        "Assistant",
        "port 8123 of this device",
        "create, change, publish and delete",
        "read, and write drafts that you publish",
        "for 30 days",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let mut form = pairs.clone();
    let token = field(&page, "token");
    form.extend([("act", "approve"), ("token", &token)]);
    let back = sent_back(&browser.post("/connect", &form), BACK);
    assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("a state", server.site.as_str()));
    let given = exchange(&server, &client, &back["code"], &[("resource", &resource)]);
    assert_eq!((&given.body["token_type"], &given.body["expires_in"]), (&json!("Bearer"), &json!(900)));
    assert_eq!(given.body["scope"], "read write");
    let [access, second] = tokens(&given);

    assert_eq!(asks(&server, &access), "eva");
    let made = with(&server, "POST", "/cms/v2/posts", &access, Some(&json!({"title": "A", "status": "publish"})));
    assert_eq!(made.status, 201, "{}", made.text);
    let called = mcp(&server, Some(&access), "tools/call", json!({"name": "core-get-user-info", "arguments": {}}));
    assert_eq!(called.body["result"]["structuredContent"]["user_login"], "eva", "{}", called.text);
    let by_call = call_as(&server, &("eva".into(), access.clone()), "wp.getPosts", &[]);
    assert!(by_call.as_array().is_some_and(|posts| !posts.is_empty()), "{by_call}");
    let of_other = call_as(&server, &("admin".into(), access.clone()), "wp.getPosts", &[]);
    assert_eq!(of_other, json!({"fault": 403}));
    let basic = ("eva".to_owned(), access.clone());
    assert_eq!(server.ask("GET", "/cms/v2/users/me", Some(&basic), None).status, 401, "it is no application password");
    // It makes no credentials, which would outlive it, and is listed with its end.
    for (method, route, body) in [
        ("POST", "/cms/v2/users/me/application-passwords", json!({"name": "x"})),
        ("POST", "/cms/v2/users/me", json!({"password": "another long one"})),
        ("DELETE", "/cms/v2/users/me/application-passwords", json!({})),
    ] {
        let answer = with(&server, method, route, &access, Some(&body));
        assert_eq!((answer.status, answer.code()), (403, "rest_application_password_limited"), "{method} {route}");
    }
    let listed = with(&server, "GET", "/cms/v2/users/me/application-passwords", &access, None).body;
    let own = listed.as_array().expect("a list").iter().find(|one| one["connected"] == true).expect("the connection");
    assert_eq!((&own["app_id"], own["expires"].is_i64()), (&json!(client), true), "{own}");
    assert_eq!(own["name"], "Assistant at port 8123 of this device");
    let profile = browser.get("/profile").text;
    assert!(profile.contains("a connected program") && profile.contains("Assistant at port 8123"), "{profile}");

    let [third, newest] = tokens(&refresh(&server, &client, &second, &[("scope", "read write")]));
    assert_eq!((asks(&server, &third), asks(&server, &access)), ("eva".into(), "401".into()), "one token at a time");
    for (token, client) in [("nonsense", client.as_str()), (&third, "11111111-1111-4111-8111-111111111111")] {
        assert_eq!(post(&server, "revoke", &[("token", token), ("client_id", client)]).status, 200);
        assert_eq!(asks(&server, &third), "eva");
    }
    assert_eq!(post(&server, "revoke", &[("token", &newest), ("client_id", &client)]).status, 200);
    ended(&server, &third);
    refused(&refresh(&server, &client, &newest, &[]), "invalid_grant", "a connection that was ended");
    let trail = server.admin("GET", "/server/v1/audit?per_page=100", None).text;
    for event in ["program_registered", "program_connected", "program_disconnected"] {
        assert!(trail.contains(event), "{event}");
    }
    // Whatever the program calls itself, the trail says what was done by the connection, and not what the person did.
    let route = format!("/server/v1/audit?credential={}", own["uuid"].as_str().expect("a uuid"));
    let events: Vec<_> = server.admin("GET", &route, None).body.as_array().expect("a list").clone();
    assert!(events.iter().any(|entry| entry["event"] == "content_created"), "{events:?}");
    assert!(events.iter().all(|entry| entry["login"] == "eva" && entry["event"] != "program_connected"), "{events:?}");
    let stored = format!("{:?}", server.sql("SELECT * FROM app_password"));
    for secret in [&access, &second, &third, &newest, &back["code"]] {
        let random = secret.rsplit('.').next().expect("a part");
        assert!(!stored.contains(random) && !server.log().contains(random), "a secret is stored or logged");
    }
}

#[test]
fn a_person_narrows_what_a_program_may_do() {
    let server = site("");
    let client = program(&server, BACK);
    let [access, _] = connect(&server, "admin", PASSWORD, &client, &[("access", "read"), ("period", "86400")]);
    assert_eq!(asks(&server, &access), "admin");
    let written = with(&server, "POST", "/cms/v2/posts", &access, Some(&json!({"title": "A"})));
    assert_eq!(written.code(), "rest_application_password_limited");
    let listed = server.admin("GET", "/cms/v2/users/me/application-passwords", None).body;
    let own = listed.as_array().expect("a list").iter().find(|one| one["connected"] == true).expect("it");
    let left = own["expires"].as_i64().expect("an end") - own["created"].as_i64().expect("a beginning");
    assert_eq!((left, &own["read_only"]), (86400, &json!(true)), "{own}");

    let [access, _] = connect(&server, "admin", PASSWORD, &client, &[("only[]", "posts")]);
    let page = with(&server, "POST", "/cms/v2/pages", &access, Some(&json!({"title": "A"})));
    assert_eq!(page.code(), "rest_application_password_limited");
    assert_eq!(with(&server, "POST", "/cms/v2/posts", &access, Some(&json!({"title": "A"}))).status, 201);

    // A program that asks to read only cannot be given more, and cannot get more later.
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let pairs = asking(&client, &[("scope", "read")]);
    let page = browser.get(&page_of(&pairs));
    assert!(page.text.contains("It changes nothing.") && !page.text.contains("name=\"access\""), "{}", page.text);
    let code = approve(&mut browser, &pairs, &[("access", "write")]);
    let given = exchange(&server, &client, &code, &[]);
    assert_eq!(given.body["scope"], "read");
    let [access, second] = tokens(&given);
    assert_eq!(with(&server, "POST", "/cms/v2/posts", &access, Some(&json!({"title": "A"}))).status, 403);
    for wider in ["write", "read write", "admin"] {
        refused(&refresh(&server, &client, &second, &[("scope", wider)]), "invalid_scope", wider);
    }
    assert_eq!(refresh(&server, &client, &second, &[("scope", "read")]).body["scope"], "read");
    // A period that is not offered is none; kinds of content that there are not are refused.
    connect(&server, "admin", PASSWORD, &client, &[("period", "999999999")]);
    let listed = server.admin("GET", "/cms/v2/users/me/application-passwords", None).body;
    let own = listed.as_array().expect("a list").last().expect("it").clone();
    assert_eq!(own["expires"].as_i64().expect("an end") - own["created"].as_i64().expect("a beginning"), 30 * 86400);
    let mut form = asking(&client, &[]);
    form.extend([("act", "approve"), ("only[]", "nonsense")]);
    assert_eq!(browser.submit(&page_of(&asking(&client, &[])), "/connect", &form).status, 400);
    let german = browser.send("GET", &page_of(&asking(&client, &[])), None, &[("accept-language", "de")]).text;
    for text in ["Ein Programm verbinden?", "möchte diese Website in Ihrem Namen benutzen.", "für 30 Tage", "nur lesen"]
    {
        assert!(german.contains(text), "{text}: {german}");
    }
}

#[test]
fn nobody_is_redirected_by_a_request_that_is_not_sound() {
    let server = site("");
    let client = program(&server, BACK);
    let web = program(&server, "https://app.example/done?x=1");
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let long = "x".repeat(2001);
    let target = format!("{}/mcp", server.site).replace("127.0.0.1", "127.0.0.2");
    // `true`: the program is known, so the page has a link back to it.
    let attacks: &[(&str, Parameters<'_>, bool)] = &[
        ("an unknown program", &[("client_id", "11111111-1111-4111-8111-111111111111")], false),
        ("no program", &[("client_id", "")], false),
        ("SQL in an id", &[("client_id", "' OR 1=1 --")], false),
        ("the address of another program", &[("redirect_uri", "https://app.example/done?x=1")], false),
        ("no address", &[("redirect_uri", "")], false),
        ("another host", &[("redirect_uri", "http://127.0.0.1.evil.example:8123/done")], false),
        ("another name of this device", &[("redirect_uri", "http://localhost:8123/done")], false),
        ("another path", &[("redirect_uri", "http://127.0.0.1:8123/done/more")], false),
        ("a path with dots", &[("redirect_uri", "http://127.0.0.1:8123/done/../other")], false),
        ("a fragment", &[("redirect_uri", "http://127.0.0.1:8123/done#x")], false),
        ("user info", &[("redirect_uri", "http://127.0.0.1:8123@evil.example/done")], false),
        ("user info of the host", &[("redirect_uri", "http://user@127.0.0.1:8123/done")], false),
        ("a backslash", &[("redirect_uri", "http://127.0.0.1:8123\\@evil.example/done")], false),
        ("a line feed", &[("redirect_uri", "http://127.0.0.1:8123/done\r\nX: y")], false),
        ("a script", &[("redirect_uri", "javascript:alert(1)")], false),
        ("another port of a host", &[("client_id", &web), ("redirect_uri", "https://app.example:444/done?x=1")], false),
        ("a homograph", &[("client_id", &web), ("redirect_uri", "https://\u{430}pp.example/done?x=1")], false),
        ("another query", &[("client_id", &web), ("redirect_uri", "https://app.example/done?x=2")], false),
        ("plain HTTP", &[("client_id", &web), ("redirect_uri", "http://app.example/done?x=1")], false),
        ("no PKCE", &[("code_challenge", ""), ("code_challenge_method", "")], true),
        ("plain PKCE", &[("code_challenge_method", "plain")], true),
        ("PKCE without a method", &[("code_challenge_method", "")], true),
        ("a challenge that is none", &[("code_challenge", "short")], true),
        ("a token in the address", &[("response_type", "token")], true),
        ("a resource of another server", &[("resource", &target)], true),
        ("a resource with a fragment", &[("resource", "https://evil.example/#x")], true),
        ("an unknown scope", &[("scope", "admin")], true),
        ("a long state", &[("state", &long)], true),
    ];
    for (about, other, known) in attacks {
        let pairs = asking(&client, other);
        let page = browser.get(&page_of(&pairs));
        assert_eq!((page.status, page.header("location")), (400, None), "{about}: {}", page.text);
        assert_eq!(page.text.contains("Back to the program"), *known, "{about}: {}", page.text);
        // The same in the form of the page.
        let mut form = pairs.clone();
        form.push(("act", "approve"));
        let sent = browser.submit(&page_of(&asking(&client, &[])), "/connect", &form);
        assert_eq!((sent.status, sent.header("location")), (400, None), "{about}");
    }
    assert_eq!(server.sql("SELECT uuid FROM app_password WHERE connected = 1").len(), 0);
    // The state comes back as a parameter of its own, whatever it holds.
    let state = "x&code=evil#y\r\nz=\"<script>";
    let pairs = asking(&client, &[("state", state), ("redirect_uri", "http://127.0.0.1:9/done")]);
    let page = browser.get(&page_of(&pairs));
    assert!(
        !page.text.contains("<script>") && field(&page, "state") == state.replace("\r\n", "\n").replace('\n', "\r\n"),
        "{}",
        page.text
    );
    let mut form = pairs.clone();
    form.push(("act", "reject"));
    let back = sent_back(&browser.submit(&page_of(&pairs), "/connect", &form), "http://127.0.0.1:9/done");
    assert_eq!((back["state"].as_str(), back["error"].as_str(), back.get("code")), (state, "access_denied", None));
    let pairs = asking(&web, &[("redirect_uri", "https://app.example/done?x=1")]);
    let code = approve(&mut browser, &pairs, &[]);
    assert!(code.starts_with("cms-code."), "{code}");
}

#[test]
fn consent_is_the_person_s_own() {
    let server = site("");
    let client = program(&server, BACK);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let pairs = asking(&client, &[]);
    let page = browser.get(&page_of(&pairs));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(
        policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self' http://127.0.0.1:8123;"),
        "{policy}"
    );
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("cache-control"), Some("no-store, private"));
    let mut form = pairs.clone();
    form.push(("act", "approve"));
    assert_eq!(browser.post("/connect", &form).status, 403, "without the token of the page");
    server.user("eva", "author");
    let others = field(&Browser::of(&server, "eva", "long enough").get(&page_of(&pairs)), "token");
    let mut with_others = form.clone();
    with_others.push(("token", &others));
    assert_eq!(browser.post("/connect", &with_others).status, 403, "with the token of another session");
    let token = field(&page, "token");
    let mut good = form.clone();
    good.push(("token", &token));
    let foreign = browser.send("POST", "/connect", Some(&good), &[("origin", "https://evil.example")]);
    assert_eq!(foreign.status, 403, "from another site");
    let stranger = Browser::new(&server).post("/connect", &good);
    assert!(stranger.status == 302 || stranger.status == 403, "{}", stranger.status);
    assert_eq!(server.sql("SELECT uuid FROM app_password WHERE connected = 1").len(), 0);
    // A GET decides nothing.
    let mut query = good.clone();
    query.push(("x", "y"));
    assert_eq!(browser.get(&page_of(&query)).status, 200);
    // Two tabs: each form is for its own program.
    let other = program(&server, "https://app.example/done");
    let second = asking(&other, &[("redirect_uri", "https://app.example/done"), ("state", "2")]);
    browser.get(&page_of(&second));
    let first = approve(&mut browser, &pairs, &[]);
    let second_code = approve(&mut browser, &second, &[]);
    refused(
        &exchange(&server, &client, &second_code, &[("redirect_uri", "https://app.example/done")]),
        "invalid_grant",
        "another tab's code",
    );
    tokens(&exchange(&server, &client, &first, &[]));
    tokens(&exchange(&server, &other, &second_code, &[("redirect_uri", "https://app.example/done")]));
    // Those whose programs may not log in cannot connect any.
    let closed = site("[site.application_passwords_for]\nusers = [\"nobody\"]\n");
    let client = program(&closed, BACK);
    assert_eq!(Browser::of(&closed, "admin", PASSWORD).get(&page_of(&asking(&client, &[]))).status, 501);
}

#[test]
fn a_code_is_good_once_for_one_program_with_its_verifier() {
    let server = site("");
    let (client, other) = (program(&server, BACK), program(&server, BACK));
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let code = approve(&mut browser, &asking(&client, &[]), &[]);
    let plain = CHALLENGE;
    let cut = &code[..code.len() - 1];
    let as_refresh = code.replace("cms-code.", "cms-refresh.");
    let attacks: &[(&str, Parameters<'_>, &str)] = &[
        ("another program", &[("client_id", &other)], "invalid_grant"),
        ("an unknown program", &[("client_id", "11111111-1111-4111-8111-111111111111")], "invalid_client"),
        ("no program", &[("client_id", "")], "invalid_client"),
        ("a wrong verifier", &[("code_verifier", "wrong-wrong-wrong-wrong-wrong-wrong-wrong-wrong")], "invalid_grant"),
        ("the challenge as verifier", &[("code_verifier", plain)], "invalid_grant"),
        ("no verifier", &[("code_verifier", "")], "invalid_grant"),
        ("another address", &[("redirect_uri", "http://127.0.0.1:9999/done")], "invalid_grant"),
        ("no address", &[("redirect_uri", "")], "invalid_grant"),
        ("a code that is cut", &[("code", cut)], "invalid_grant"),
        ("no code", &[("code", "")], "invalid_grant"),
        ("a resource of another server", &[("resource", "https://evil.example/mcp")], "invalid_target"),
        ("a wider scope", &[("scope", "admin")], "invalid_scope"),
        ("a password", &[("grant_type", "password")], "unsupported_grant_type"),
        ("the program's own rights", &[("grant_type", "client_credentials")], "unsupported_grant_type"),
        ("no grant type", &[("grant_type", "")], "unsupported_grant_type"),
        ("a code as refresh token", &[("grant_type", "refresh_token"), ("refresh_token", &code)], "invalid_grant"),
        ("a code by another mark", &[("grant_type", "refresh_token"), ("refresh_token", &as_refresh)], "invalid_grant"),
    ];
    for (about, pairs, error) in attacks {
        refused(&exchange(&server, &client, &code, pairs), error, about);
    }
    assert_eq!(asks(&server, &code), "401", "a code is no token");
    let [access, _] = tokens(&exchange(&server, &client, &code, &[]));
    assert_eq!(asks(&server, &access), "admin");
    refused(&exchange(&server, &client, &code, &[]), "invalid_grant", "a second time");
    ended(&server, &access);
    let trail = server.admin("GET", "/server/v1/audit?per_page=100", None).text;
    assert!(trail.contains("token_reused"), "{trail}");
    // A code ends by itself, and what was not used is listed nowhere.
    let code = approve(&mut browser, &asking(&client, &[]), &[]);
    let listed =
        || server.admin("GET", "/cms/v2/users/me/application-passwords", None).text.matches("\"connected\"").count();
    assert_eq!(listed(), 0);
    server.sql("UPDATE app_password SET expires = 1 WHERE connected = 1");
    refused(&exchange(&server, &client, &code, &[]), "invalid_grant", "a code that has ended");
    // Two requests at the same time get tokens once at most, and the connection ends.
    let code = approve(&mut browser, &asking(&client, &[]), &[]);
    let both: Vec<Answer> = std::thread::scope(|scope| {
        let sent: Vec<_> = (0..2).map(|_| scope.spawn(|| exchange(&server, &client, &code, &[]))).collect();
        sent.into_iter().map(|one| one.join().expect("an answer")).collect()
    });
    assert!(both.iter().filter(|answer| answer.status == 200).count() <= 1);
    assert_eq!(server.sql("SELECT uuid FROM app_password WHERE connected = 1 AND expires > 1").len(), 0);
}

#[test]
fn refresh_tokens_are_good_once_and_a_stolen_one_ends_the_connection() {
    let server = site("");
    let (client, other) = (program(&server, BACK), program(&server, BACK));
    let [access, first] = connect(&server, "admin", PASSWORD, &client, &[]);
    for (about, client, token, error) in [
        ("another program", &other, &first, "invalid_grant"),
        ("an access token", &client, &access, "invalid_grant"),
        ("nothing", &client, &String::new(), "invalid_grant"),
        ("one that is cut", &client, &first[..first.len() - 1].to_owned(), "invalid_grant"),
    ] {
        refused(&refresh(&server, client, token, &[]), error, about);
    }
    let target = [("resource", "https://evil.example")];
    refused(&refresh(&server, &client, &first, &target), "invalid_target", "a resource of another server");
    let [second_access, second] = tokens(&refresh(&server, &client, &first, &[]));
    assert_eq!(asks(&server, &second_access), "admin");
    refused(&refresh(&server, &client, &first, &[]), "invalid_grant", "the first one again");
    ended(&server, &second_access);
    refused(&refresh(&server, &client, &second, &[]), "invalid_grant", "the family has ended");
}

#[test]
fn connections_end_with_what_they_rest_on() {
    let server = site("[resources.oauth.options.oauth]\nmost = 2\n");
    let client = program(&server, BACK);
    let user = |login: &str, role: &str| {
        server.user(login, role);
        let found = server.admin("GET", &format!("/cms/v2/users?context=edit&search={login}"), None).body;
        format!("/cms/v2/users/{}", found[0]["id"])
    };
    // Rights are those of the moment.
    let item = user("demoted", "administrator");
    let [access, _] = connect(&server, "demoted", "long enough", &client, &[]);
    let settings = || with(&server, "GET", "/cms/v2/settings", &access, None).status;
    assert_eq!(settings(), 200);
    assert_eq!(server.admin("PUT", &item, Some(&json!({"roles": ["subscriber"]}))).status, 200);
    assert_eq!(settings(), 403);
    // The password, the account, the connection itself.
    assert_eq!(server.admin("PUT", &item, Some(&json!({"password": "another long one"}))).status, 200);
    assert_eq!(asks(&server, &access), "401");
    let item = user("deleted", "author");
    let [access, second] = connect(&server, "deleted", "long enough", &client, &[]);
    assert_eq!(server.admin("DELETE", &format!("{item}?force=true&reassign=1"), None).status, 200);
    assert_eq!(asks(&server, &access), "401");
    refused(&refresh(&server, &client, &second, &[]), "invalid_grant", "an account that was deleted");
    let item = user("eva", "author");
    let [access, second] = connect(&server, "eva", "long enough", &client, &[]);
    let listed = server.admin("GET", &format!("{item}/application-passwords"), None).body;
    let own = listed.as_array().expect("a list").iter().find(|one| one["connected"] == true).expect("it");
    let uuid = own["uuid"].as_str().expect("an id");
    assert_eq!(server.admin("DELETE", &format!("{item}/application-passwords/{uuid}"), None).status, 200);
    assert_eq!(asks(&server, &access), "401");
    refused(&refresh(&server, &client, &second, &[]), "invalid_grant", "a connection that was revoked");
    // The oldest one, where there are too many.
    let all: Vec<[String; 2]> = (0..3).map(|_| connect(&server, "eva", "long enough", &client, &[])).collect();
    assert_eq!(asks(&server, &all[0][0]), "401");
    assert!(all[1..].iter().all(|[access, _]| asks(&server, access) == "eva"));
    // Time: the token first, then the connection, which is swept.
    server.sql("UPDATE app_password SET token_ends = 1 WHERE connected = 1");
    ended(&server, &all[2][0]);
    let [access, second] = tokens(&refresh(&server, &client, &all[2][1], &[]));
    assert_eq!(asks(&server, &access), "eva");
    server.sql("UPDATE app_password SET expires = 1 WHERE connected = 1");
    refused(&refresh(&server, &client, &second, &[]), "invalid_grant", "the end");
    let other = connect(&server, "eva", "long enough", &client, &[]);
    until("they are swept", || server.sql("SELECT uuid FROM app_password WHERE connected = 1").len() == 1);
    // With the registration.
    let made = register(&server, &json!({"redirect_uris": [BACK]})).body;
    let own = made["client_id"].as_str().expect("an id").to_owned();
    let [access, _] = connect(&server, "eva", "long enough", &own, &[]);
    let place = made["registration_client_uri"].as_str().expect("an address");
    let header = format!("Bearer {}", made["registration_access_token"].as_str().expect("a token"));
    assert_eq!(server.send("DELETE", place, None, None, &[("authorization", &header)]).status, 200);
    assert_eq!((asks(&server, &access), asks(&server, &other[0])), ("401".into(), "eva".into()));
}

#[test]
fn registrations_are_checked_bounded_and_managed_by_their_program() {
    let server = site("[resources.oauth.options.oauth]\nclients = 5\n");
    let long = format!("https://app.example/{}", "x".repeat(2000));
    let many: Vec<String> = (0..11).map(|n| format!("https://app.example/{n}")).collect();
    for redirects in [
        json!([]),
        json!(["http://app.example/done"]),
        json!(["https://app.example/#fragment"]),
        json!(["https://user:pw@app.example/"]),
        json!(["https://\u{430}pp.example/"]),
        json!(["https://app.example/\u{202e}"]),
        json!(["javascript:alert(1)"]),
        json!(["data:text/html,x"]),
        json!(["myapp://done"]),
        json!(["https://app.example/", "file:///etc/passwd"]),
        json!([long]),
        json!(many),
    ] {
        refused(
            &register(&server, &json!({"redirect_uris": redirects})),
            "invalid_redirect_uri",
            &redirects.to_string(),
        );
    }
    let implicit = json!({"redirect_uris": [BACK], "response_types": ["token"]});
    refused(&register(&server, &implicit), "invalid_client_metadata", "a token in the address");
    let other = json!({"redirect_uris": [BACK], "grant_types": ["client_credentials"]});
    refused(&register(&server, &other), "invalid_client_metadata", "the program's own rights");
    for wrong in [json!({"redirect_uris": "x"}), json!({"redirect_uris": [{}]}), json!([])] {
        assert_eq!(register(&server, &wrong).status, 400, "{wrong}");
    }

    let asked = json!({"client_name": "Ass\u{202e}istant\u{7}", "redirect_uris": [BACK], "token_endpoint_auth_method": "client_secret_basic",
        "client_secret": "x", "logo_uri": "https://app.example/logo", "scope": "read"});
    let made = register(&server, &asked);
    assert_eq!((made.status, &made.body["client_name"]), (201, &json!("Assistant")), "{}", made.text);
    assert_eq!((&made.body["token_endpoint_auth_method"], made.body.get("client_secret")), (&json!("none"), None));
    let place = made.body["registration_client_uri"].as_str().expect("an address").to_owned();
    let token = made.body["registration_access_token"].as_str().expect("a token").to_owned();
    let manage = |method: &str, place: &str, token: &str, body: Option<&Value>| {
        let body = body.map(|body| ("application/json", body.to_string().into_bytes()));
        server.send(method, place, None, body, &[("authorization", &format!("Bearer {token}"))])
    };
    let second = register(&server, &json!({"redirect_uris": [BACK]})).body;
    for method in ["GET", "PUT", "DELETE"] {
        let body = json!({"redirect_uris": ["https://evil.example/"]});
        for wrong in [
            second["registration_access_token"].as_str().expect("a token"),
            "cms-client.x",
            "x",
            &token[..token.len() - 1],
        ] {
            assert_eq!(manage(method, &place, wrong, Some(&body)).status, 401, "{method} {wrong}");
        }
    }
    assert_eq!(manage("GET", &place, &token, None).body["redirect_uris"], json!([BACK]));
    let other = json!({"client_name": "New", "redirect_uris": ["https://app.example/done"]});
    let changed = manage("PUT", &place, &token, Some(&other));
    assert_eq!((&changed.body["client_name"], &changed.body["client_id"]), (&json!("New"), &made.body["client_id"]));
    refused(
        &manage("PUT", &place, &token, Some(&json!({"redirect_uris": ["http://evil.example/"]}))),
        "invalid_redirect_uri",
        "a change",
    );
    assert_eq!(manage("DELETE", &place, &token, None).status, 200);
    assert_eq!(manage("GET", &place, &token, None).status, 401);
    // The token of a registration is nobody's.
    assert_eq!(asks(&server, &token), "401");

    // However many register, a connected program stays.
    let connected = program(&server, BACK);
    let [access, _] = connect(&server, "admin", PASSWORD, &connected, &[]);
    let number = std::env::var("CMS_TEST_REGISTRATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    for _ in 0..number {
        program(&server, BACK);
    }
    assert_eq!(server.sql("SELECT id FROM oauth_client").len(), 5);
    assert_eq!(asks(&server, &access), "admin");
    for _ in 0..4 {
        let client = program(&server, BACK);
        connect(&server, "admin", PASSWORD, &client, &[]);
    }
    let full = register(&server, &json!({"redirect_uris": [BACK]}));
    assert_eq!((full.status, &full.body["error"]), (503, &json!("temporarily_unavailable")));
    // They go when they are not used any more.
    server.sql("UPDATE oauth_client SET expires = 1");
    until("they are swept", || {
        program(&server, BACK);
        server.sql("SELECT id FROM oauth_client WHERE expires = 1").is_empty()
    });
    // One network registers no more than declared.
    let limited = Server::over(with_profiles(&["oauth"], "[limits.registrations]\nburst = 3\nper_minute = 1\n"), &[]);
    let statuses: Vec<u16> = (0..5).map(|_| register(&limited, &json!({"redirect_uris": [BACK]})).status).collect();
    assert_eq!(statuses, [201, 201, 201, 429, 429]);
}
