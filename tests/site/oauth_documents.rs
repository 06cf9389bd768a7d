//! Programs whose id is the address of a document that describes them: what is read, when, for whom, and those who attack by it.

use super::oauth::{self, BACK, approve, asking, asks, connect, ended, exchange, page_of, post, refresh, site, tokens};
use super::pages::{Browser, PASSWORD};
use super::server::{Answer, Server};
use super::webhooks::{Answers, HookReceiver, settings};
use serde_json::{Value, json};

const PLACE: &str = "/client.json";

/// A site that reads documents of programs on this machine, as often as a test wants it.
fn reading(program: &HookReceiver) -> Server {
    reading_within(&[program], "timeout = \"1s\"\n")
}

/// The same, of several receivers, with more of `[outbound]` and of what follows it.
fn reading_within(programs: &[&HookReceiver], more: &str) -> Server {
    let ports: Vec<u16> = programs.iter().map(|program| program.port).collect();
    let [networks, ports] = [0, 1].map(|at| settings(&ports)[at].replace("outbound.", ""));
    let documents = "[resources.oauth.options.oauth.documents]\nenabled = true\nburst = 1000\n";
    site(&format!("[outbound]\n{networks}\n{ports}\n{more}{documents}"))
}

/// The document of a program, with other members in place of some; null: it has none.
fn document(program: &HookReceiver, other: &Value) -> Value {
    let mut said = json!({"client_id": program.url(PLACE), "client_name": "Assistant", "redirect_uris": [BACK],
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"]});
    for (member, value) in other.as_object().expect("members") {
        match value {
            Value::Null => drop(said.as_object_mut().expect("members").remove(member)),
            value => said[member] = value.clone(),
        }
    }
    said
}

/// A response with a body, whose head has these lines, too.
fn raw(head: &str, body: &str) -> Answers {
    let length = body.len();
    Answers::Raw(format!("HTTP/1.1 200 X\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}").leak())
}

fn json_answer(body: &Value) -> Answers {
    raw("Content-Type: application/json; charset=utf-8\r\n", &body.to_string())
}

fn refused(page: &Answer, about: &str) {
    assert_eq!((page.status, page.header("location")), (400, None), "{about}: {}", page.text);
    assert!(!page.text.contains("Back to the program"), "{about}: {}", page.text);
}

fn stored(server: &Server) -> usize {
    server.sql("SELECT id FROM oauth_client").len()
}

#[test]
fn a_program_is_connected_by_the_document_that_describes_it() {
    let program = HookReceiver::start();
    let server = reading(&program);
    let about = |server: &Server| {
        let place = format!("{}/.well-known/oauth-authorization-server", server.site);
        server.send("GET", &place, None, None, &[]).body["client_id_metadata_document_supported"].clone()
    };
    assert_eq!(about(&server), true);
    program.set(json_answer(&document(&program, &json!({}))));
    let id = program.url(PLACE);
    let pairs = asking(&id, &[]);
    // Nothing is read for a visitor, neither on the page nor for tokens.
    let mut visitor = Browser::new(&server);
    assert_eq!(visitor.get(&page_of(&pairs)).status, 302);
    assert_eq!(visitor.post("/connect", &pairs).status, 302);
    assert_eq!(exchange(&server, &id, "cms-code.x", &[]).body["error"], "invalid_client");
    assert!(program.all(PLACE).is_empty());
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let page = browser.get(&page_of(&pairs));
    let own = format!("port {} of this device", program.port);
    for text in ["Assistant", "Described at", &own, "port 8123 of this device"] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let german = browser.send("GET", &page_of(&pairs), None, &[("accept-language", "de")]).text;
    for text in ["Beschrieben auf", &format!("Port {} dieses Geräts", program.port), "Port 8123 dieses Geräts"] {
        assert!(german.contains(text), "{text}: {german}");
    }
    assert!(!german.contains("of this device"), "{german}");
    let code = approve(&mut browser, &pairs, &[]);
    let [access, second] = tokens(&exchange(&server, &id, &code, &[]));
    assert_eq!(asks(&server, &access), "admin");
    let [access, newest] = tokens(&refresh(&server, &id, &second, &[]));
    assert_eq!(program.all(PLACE).len(), 1, "a fresh document is not read again");
    // The id here is a UUID, by which nobody else may call themselves.
    let listed = server.admin("GET", "/cms/v2/users/me/application-passwords", None).body;
    let own = listed.as_array().expect("a list").iter().find(|one| one["connected"] == true).expect("the connection");
    let here = own["app_id"].as_str().expect("an id");
    assert_eq!(here.len(), 36, "{own}");
    refused(&browser.get(&page_of(&asking(here, &[]))), "the id here");
    assert_eq!(refresh(&server, here, &newest, &[]).body["error"], "invalid_client");
    assert_eq!(server.send("GET", &format!("{}/oauth/v1/clients/{here}", server.rest), None, None, &[]).status, 401);
    let trail = server.admin("GET", "/server/v1/audit?per_page=100", None).body;
    let registered = trail.as_array().expect("a list").iter().find(|entry| entry["event"] == "program_registered");
    assert!(registered.is_some_and(|entry| entry.to_string().contains(&id)), "{trail}");
    assert_eq!(post(&server, "revoke", &[("token", &newest), ("client_id", &id)]).status, 200);
    ended(&server, &access);
    // Two tabs that read it at once.
    let cookie = browser.cookie.clone();
    server.sql("DELETE FROM oauth_client");
    let both: Vec<u16> = std::thread::scope(|scope| {
        let tab = || Browser { server: &server, cookie: cookie.clone() }.get(&page_of(&pairs)).status;
        let opened: Vec<_> = (0..2).map(|_| scope.spawn(tab)).collect();
        opened.into_iter().map(|one| one.join().expect("a page")).collect()
    });
    assert_eq!((both, stored(&server)), (vec![200, 200], 1));

    // Where it is not declared, such an id is that of no program.
    let before = program.all(PLACE).len();
    let off = site("");
    assert_eq!(about(&off), false);
    refused(&Browser::of(&off, "admin", PASSWORD).get(&page_of(&pairs)), "off");
    assert_eq!(program.all(PLACE).len(), before);
}

#[test]
fn a_document_that_is_not_sound_connects_nothing() {
    let program = HookReceiver::start();
    let server = reading(&program);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let id = program.url(PLACE);
    let sound = document(&program, &json!({}));
    let with = |other: Value| json_answer(&document(&program, &other));
    let padded = |length: usize| {
        let body = sound.to_string();
        raw("Content-Type: application/json\r\n", &format!("{body}{}", " ".repeat(length - body.len())))
    };
    for (about, answers) in [
        ("the document of another program", with(json!({"client_id": "https://app.example/client.json"}))),
        ("another spelling of the address", with(json!({"client_id": format!("{id}?")}))),
        ("no client_id", with(json!({"client_id": null}))),
        ("no name", with(json!({"client_name": null}))),
        ("no addresses", with(json!({"redirect_uris": null}))),
        ("a script", with(json!({"redirect_uris": [BACK, "javascript:alert(1)"]}))),
        ("a homograph", with(json!({"redirect_uris": [BACK, "https://\u{430}pp.example/"]}))),
        ("a secret", with(json!({"client_secret": "x"}))),
        ("a way to prove a secret", with(json!({"token_endpoint_auth_method": "client_secret_post"}))),
        ("a token in the address", with(json!({"response_types": ["token"]}))),
        ("no JSON", raw("Content-Type: application/json\r\n", "<html>")),
        ("a list", json_answer(&json!([sound]))),
        ("a page", raw("Content-Type: text/html\r\n", &sound.to_string())),
        ("no type", raw("", &sound.to_string())),
        ("more bytes than are read", padded(5121)),
        ("a body without end", Answers::Endless),
        ("a head without end", Answers::Trickle),
        ("no answer", Answers::Hang),
        ("a closed connection", Answers::Nothing),
        ("a redirect", Answers::Status(302)),
        ("an error", Answers::Status(404)),
        ("another status", Answers::Status(201)),
        (
            "half of it",
            Answers::Raw("HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"),
        ),
    ] {
        program.set(answers);
        let page = browser.get(&page_of(&asking(&id, &[])));
        refused(&page, about);
        assert!(page.text.contains("The document in which the program describes itself"), "{about}: {}", page.text);
    }
    assert_eq!(stored(&server), 0, "failures are not kept");
    // The page is in the reader's language.
    program.set(Answers::Status(404));
    let german = browser.send("GET", &page_of(&asking(&id, &[])), None, &[("accept-language", "de")]);
    assert!(german.text.contains("Die Antwort hat den Status 404, nicht 200"), "{}", german.text);
    // It says where codes go, exactly.
    program.set(padded(5120));
    for redirect in ["https://app.example/done", "http://127.0.0.1:8123/done/more", "http://localhost:8123/done", ""] {
        let page = browser.get(&page_of(&asking(&id, &[("redirect_uri", redirect)])));
        refused(&page, redirect);
        assert!(page.text.contains("has not registered the address"), "{}", page.text);
    }
    assert_eq!((browser.get(&page_of(&asking(&id, &[]))).status, stored(&server)), (200, 1));
}

#[test]
fn only_public_addresses_in_one_spelling_are_read() {
    let program = HookReceiver::start();
    program.set(json_answer(&document(&program, &json!({}))));
    let (port, id) = (program.port, program.url(PLACE));
    let server = reading(&program).restart_with(&["mcp.path=/mcp", &format!("outbound.ports=[{port},443]")]);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    for wrong in [
        &format!("{id}#x"),
        &format!("http://user@127.0.0.1:{port}{PLACE}"),
        &format!("http://127.0.0.1:{port}/a/..{PLACE}"),
        &format!("http://127.0.0.1:{port}/%2e{PLACE}"),
        &format!("http://127.0.0.1:{port}/"),
        &format!("http://127.1:{port}{PLACE}"),
        &format!("http://localhost:{port}{PLACE}"),
        &format!("HTTP://127.0.0.1:{port}{PLACE}"),
        &format!("ftp://127.0.0.1:{port}{PLACE}"),
        "http://app.example/client.json",
        "https://app.example/",
        "https://\u{430}pp.example/client.json",
        "https://app.example/client.json\r\nX: y",
        "https://app.example:443/client.json",
        "file:///etc/passwd",
    ] {
        let page = browser.get(&page_of(&asking(wrong, &[])));
        refused(&page, wrong);
        assert!(page.text.contains("not registered here"), "{wrong}: {}", page.text);
    }
    for closed in [
        "https://10.0.0.1/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:a00:1]/client.json",
        "https://127.0.0.1/client.json",
        "https://localhost:22/client.json",
        "https://nothing.invalid/client.json",
    ] {
        let page = browser.get(&page_of(&asking(closed, &[])));
        refused(&page, closed);
        assert!(page.text.contains("Nothing public answers there in time."), "{closed}: {}", page.text);
    }
    // Without the exception for this machine there is none.
    let strict = site("[resources.oauth.options.oauth.documents]\nenabled = true\n");
    let page = Browser::of(&strict, "admin", PASSWORD).get(&page_of(&asking(&id, &[])));
    refused(&page, "this machine");
    assert!(program.all(PLACE).is_empty());
}

#[test]
fn a_document_that_has_changed_is_read_again_when_it_is_stale() {
    let program = HookReceiver::start();
    let server = reading(&program);
    let stale = || server.sql("UPDATE oauth_client SET stale = 1");
    let id = program.url(PLACE);
    program.set(raw(
        "Content-Type: application/json\r\nCache-Control: max-age=3600\r\n",
        &document(&program, &json!({})).to_string(),
    ));
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let pairs = asking(&id, &[]);
    let code = approve(&mut browser, &pairs, &[]);
    let [_, first] = tokens(&exchange(&server, &id, &code, &[]));
    let left = server
        .sql(&format!("SELECT id FROM oauth_client WHERE stale - created BETWEEN 3590 AND 3610 AND document = '{id}'"));
    assert_eq!(left.len(), 1, "it is fresh for as long as it says");
    // It changes between the page and the decision: the code goes nowhere that the document does not name by now.
    let elsewhere = "https://app.example/done";
    let mut form = pairs.clone();
    let token = super::pages::field(&browser.get(&page_of(&pairs)), "token");
    form.extend([("act", "approve"), ("token", &token)]);
    program.set(json_answer(&document(&program, &json!({"client_name": "New", "redirect_uris": [elsewhere]}))));
    stale();
    refused(&browser.post("/connect", &form), "the decision after the change");
    let connected = "SELECT uuid FROM app_password WHERE connected = 1";
    assert_eq!(server.sql(connected).len(), 1);
    refused(&browser.get(&page_of(&pairs)), "the former address");
    let page = browser.get(&page_of(&asking(&id, &[("redirect_uri", elsewhere)])));
    assert!(page.status == 200 && page.text.contains("New") && page.text.contains("app.example"), "{}", page.text);
    // A connection goes on without the document, and nothing new is connected.
    program.set(Answers::Status(404));
    stale();
    let [access, _] = tokens(&refresh(&server, &id, &first, &[]));
    assert_eq!(asks(&server, &access), "admin");
    refused(&browser.get(&page_of(&asking(&id, &[("redirect_uri", elsewhere)]))), "a document that is gone");
    // A row that has ended and is not removed yet is in nobody's way.
    program.set(json_answer(&document(&program, &json!({}))));
    server.sql("UPDATE oauth_client SET expires = 1");
    assert_eq!(browser.get(&page_of(&pairs)).status, 200);
}

#[test]
fn one_person_has_only_so_many_documents_read() {
    let program = HookReceiver::start();
    let [networks, ports] = [0, 1].map(|at| settings(&[program.port])[at].replace("outbound.", ""));
    let server = site(&format!(
        "[outbound]\n{networks}\n{ports}\n[resources.oauth.options.oauth.documents]\nenabled = true\nburst = 3\npause = \"1h\"\n"
    ));
    server.user("eva", "author");
    let id = program.url(PLACE);
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    program.set(json_answer(&document(&program, &json!({}))));
    assert_eq!(browser.get(&page_of(&asking(&id, &[]))).status, 200);
    let ask = |browser: &mut Browser<'_>, n: usize| {
        browser.get(&page_of(&asking(&program.url(&format!("/{n}")), &[]))).status
    };
    let statuses: Vec<u16> = (0..4).map(|n| ask(&mut browser, n)).collect();
    assert_eq!(statuses, [400, 400, 429, 429]);
    assert_eq!((program.all("/1").len(), program.all("/2").len()), (1, 0));
    assert_eq!(browser.get(&page_of(&asking(&id, &[]))).status, 200, "what is fresh needs no reading");
    assert_eq!(ask(&mut Browser::of(&server, "eva", "long enough"), 5), 400, "others have documents read");
}

/// A person who makes the server wait for slow sites has one of the two threads and half of the places to wait; a site that answers
/// is asked for others meanwhile.
#[test]
fn nobody_takes_all_requests_to_other_sites() {
    let (slow, program) = (HookReceiver::start(), HookReceiver::start());
    let server = reading_within(&[&slow, &program], "timeout = \"5s\"\nqueue = 4\n");
    server.user("eva", "author");
    slow.set(Answers::Hang);
    program.set(json_answer(&document(&program, &json!({}))));
    let own = Browser::of(&server, "admin", PASSWORD);
    let mut other = Browser::of(&server, "eva", "long enough");
    let paths: Vec<String> = (0..6).map(|n| format!("/{n}")).collect();
    let asked = || paths.iter().map(|path| slow.all(path).len()).sum::<usize>();
    std::thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        for path in &paths {
            let (send, cookie, id) = (send.clone(), own.cookie.clone(), slow.url(path));
            let server = &server;
            scope.spawn(move || {
                let page = Browser { server, cookie }.get(&page_of(&asking(&id, &[])));
                let _ = send.send((page.status, page.text));
            });
            slow.wait(&paths[0], 1);
        }
        // One is sent and two wait, so three are refused at once.
        for _ in 0..3 {
            let (status, text) = receive.recv().expect("a page");
            assert_eq!(status, 503, "{text}");
            assert!(text.contains("Too many requests to other sites are in progress; try again."), "{text}");
        }
        assert_eq!(other.get(&page_of(&asking(&program.url(PLACE), &[]))).status, 200);
        assert_eq!(asked(), 1, "the others of one person wait");
        slow.set(Answers::Status(404));
        let rest: Vec<u16> = (0..3).map(|_| receive.recv().expect("a page").0).collect();
        assert_eq!((rest, asked()), (vec![400; 3], 3), "what waits is sent");
    });
}

#[test]
fn a_full_table_of_programs_takes_a_document_when_there_is_room() {
    let program = HookReceiver::start();
    let server = reading_within(&[&program], "[resources.oauth.options.oauth]\nclients = 2\n");
    let both = [0; 2].map(|_| {
        let client = oauth::program(&server, BACK);
        (connect(&server, "admin", PASSWORD, &client, &[])[0].clone(), client)
    });
    program.set(json_answer(&document(&program, &json!({}))));
    let mut browser = Browser::of(&server, "admin", PASSWORD);
    let id = program.url(PLACE);
    let pairs = asking(&id, &[]);
    let ids = || server.sql("SELECT id FROM oauth_client ORDER BY id");
    let before = ids();
    let full = |browser: &mut Browser<'_>| {
        for (language, told) in
            [("en", "as many connected programs as it may"), ("de", "so viele verbundene Programme")]
        {
            let page = browser.send("GET", &page_of(&pairs), None, &[("accept-language", language)]);
            assert_eq!((page.status, page.header("location")), (503, None), "{}", page.text);
            assert!(page.text.contains(told), "{}", page.text);
        }
    };
    full(&mut browser);
    assert_eq!(ids(), before, "whatever is connected stays");
    assert!(both.iter().all(|(token, _)| asks(&server, token) == "admin"));
    // A registration that has ended makes room before it is removed.
    server.sql(&format!("UPDATE oauth_client SET expires = 1 WHERE id = '{}'", both[0].1));
    let known =
        |id: &str| server.sql(&format!("SELECT id FROM oauth_client WHERE id = '{id}' OR document = '{id}'")).len();
    assert_eq!(browser.get(&page_of(&pairs)).status, 200);
    assert_eq!((ids().len(), known(&both[0].1), known(&both[1].1), known(&id)), (2, 0, 1, 1));
    // So does a program that nobody has connected.
    let next = program.url("/next.json");
    program.set(json_answer(&document(&program, &json!({"client_id": next}))));
    assert_eq!(browser.get(&page_of(&asking(&next, &[]))).status, 200);
    assert_eq!((ids().len(), known(&id), known(&next)), (2, 0, 1));
    // One that is connected stays, and its document is read again in a full table.
    approve(&mut browser, &asking(&next, &[]), &[]);
    program.set(json_answer(&document(&program, &json!({}))));
    full(&mut browser);
    server.sql("UPDATE oauth_client SET stale = 1");
    program.set(json_answer(&document(&program, &json!({"client_id": next, "client_name": "Newer"}))));
    let page = browser.get(&page_of(&asking(&next, &[])));
    assert!(page.status == 200 && page.text.contains("Newer"), "{}", page.text);
}
