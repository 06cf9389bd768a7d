//! Webhooks: what a receiver gets, signed and in order, whatever it answers, and what is refused.

use super::inside::Inside;
use super::left_out::{SERVER, left_out};
use super::server::{Answer, Server, postgres, stdout, until};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use cms_server::events::EventHub;
use cms_server::webhooks::{WebhookContext, WebhookSender, declare};
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The response of the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answers {
    Status(u16),
    /// Nothing, for as long as the connection is open.
    Hang,
    /// 200 and a body without end.
    Endless,
    /// A head without end, byte by byte.
    Trickle,
    /// It closes the connection.
    Nothing,
    /// 200 and the body of the request.
    Echo,
    /// This response: head and body.
    Raw(&'static str),
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Received {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Whether one of the signatures is that of a secret, as Standard Webhooks says.
    fn is_signed_with(&self, secret: &str) -> bool {
        let key = STANDARD.decode(secret.trim_start_matches("whsec_")).expect("Base64");
        let text = format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body);
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key");
        mac.update(text.as_bytes());
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        self.header("webhook-signature").split(' ').any(|one| one == expected)
    }
}

/// A receiver on a port of this machine.
pub struct HookReceiver {
    pub port: u16,
    answers: Arc<Mutex<Answers>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl HookReceiver {
    pub fn start() -> HookReceiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let answers = Arc::new(Mutex::new(Answers::Status(200)));
        let received = Arc::new(Mutex::new(Vec::new()));
        let shared = (answers.clone(), received.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, received) = shared.clone();
                std::thread::spawn(move || receive(stream, &answers, &received));
            }
        });
        HookReceiver { port, answers, received }
    }

    pub fn set(&self, answers: Answers) {
        *self.answers.lock().expect("no panic") = answers;
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// All requests to a path.
    pub fn all(&self, path: &str) -> Vec<Received> {
        self.received.lock().expect("no panic").iter().filter(|one| one.path == path).cloned().collect()
    }

    /// The requests to a path, as soon as there are so many.
    pub fn wait(&self, path: &str, count: usize) -> Vec<Received> {
        until(&format!("{count} requests to {path}, there are {:?}", self.all(path)), || self.all(path).len() >= count);
        self.all(path)
    }
}

fn receive(mut stream: TcpStream, answers: &Mutex<Answers>, received: &Mutex<Vec<Received>>) {
    let mut lines = BufReader::new(stream.try_clone().expect("a stream"));
    let mut line = String::new();
    if lines.read_line(&mut line).is_err() || line.is_empty() {
        return;
    }
    let mut parts = line.split(' ').map(str::to_owned);
    let (method, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut headers: Vec<(String, String)> = Vec::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0)];
    if lines.read_exact(&mut body).is_err() {
        return;
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    received.lock().expect("no panic").push(Received { method, path, headers, body: body.clone() });
    let answers = *answers.lock().expect("no panic");
    match answers {
        Answers::Status(status) => {
            let place = if status == 302 { "Location: http://127.0.0.1:1/\r\n" } else { "" };
            let _ = write!(stream, "HTTP/1.1 {status} X\r\n{place}Content-Length: 2\r\nConnection: close\r\n\r\nok");
        }
        Answers::Hang => {
            let _ = lines.read_line(&mut String::new());
        }
        Answers::Endless => {
            let _ = write!(stream, "HTTP/1.1 200 X\r\nConnection: close\r\n\r\n");
            while stream.write_all(&[b'x'; 1024]).is_ok() {}
        }
        Answers::Trickle => {
            let _ = write!(stream, "HTTP/1.1 200 X\r\nX: ");
            while stream.write_all(b"x").is_ok() {
                // The pace of the receiver.
                std::thread::park_timeout(Duration::from_millis(50));
            }
        }
        Answers::Nothing => {}
        Answers::Raw(text) => {
            let _ = stream.write_all(text.as_bytes());
        }
        Answers::Echo => {
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 200 X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    }
}

pub fn settings(ports: &[u16]) -> Vec<String> {
    vec![r#"outbound.networks=["127.0.0.0/8"]"#.to_owned(), format!("outbound.ports={ports:?}")]
}

pub fn server(receiver: &HookReceiver, sets: &[&str]) -> Server {
    let own = settings(&[receiver.port]);
    Server::with(&own.iter().map(String::as_str).chain(sets.iter().copied()).collect::<Vec<_>>())
}

pub fn hook(server: &Server, body: Value) -> Value {
    let made = server.admin("POST", "/server/v1/webhooks", Some(&body));
    assert_eq!(made.status, 201, "{body}: {}", made.text);
    made.body
}

pub fn post(server: &Server, title: &str, status: &str) -> Value {
    let made = server.admin("POST", "/cms/v2/posts", Some(&json!({"title": title, "status": status})));
    assert_eq!(made.status, 201, "{}", made.text);
    made.body
}

fn shown(server: &Server, hook: &Value) -> Value {
    server.admin("GET", &format!("/server/v1/webhooks/{}", hook["id"]), None).body
}

#[test]
fn a_receiver_is_told_of_changes_signed_and_in_order() {
    let receiver = HookReceiver::start();
    let server = server(&receiver, &[]);
    let events = json!(["published", "updated"]);
    let made = hook(
        &server,
        json!({"name": "Front end", "url": receiver.url("/a"), "resources": ["posts"], "events": events, "secret": SECRET}),
    );
    assert_eq!((&made["secret"], &made["state"]), (&json!(SECRET), &json!("active")));
    let document = shown(&server, &made);
    assert!(document["secret"].is_null() && document.get("signing").is_none(), "{document}");
    let all = hook(&server, json!({"name": "All", "url": receiver.url("/all"), "private": true}));
    assert!(all["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_") && secret.len() > 30));
    post(&server, "Draft", "draft");
    let ids: Vec<Value> = (0..5).map(|n| post(&server, &format!("Post {n}"), "publish")["id"].clone()).collect();
    server.admin("POST", &format!("/cms/v2/posts/{}", ids[0]), Some(&json!({"title": "Other"})));
    let told = receiver.wait("/a", 6);
    let bodies: Vec<Value> = told.iter().map(Received::json).collect();
    let records: Vec<&Value> = bodies.iter().map(|event| &event["record"]).collect();
    assert_eq!(records, ids.iter().chain([&ids[0]]).collect::<Vec<_>>());
    assert!(bodies.windows(2).all(|pair| pair[0]["id"].as_i64() < pair[1]["id"].as_i64()), "{bodies:?}");
    assert_eq!((&bodies[0]["type"], &bodies[5]["type"]), (&json!("published"), &json!("updated")));
    for one in &told {
        assert!(one.is_signed_with(SECRET), "{one:?}");
        assert_eq!((&*one.method, one.header("content-type")), ("POST", "application/json"));
        // Its end is the time, which makes it unique where numbers of changes are given again.
        let id = one.header("webhook-id");
        let (start, at) = id.rsplit_once('_').expect("a time");
        assert_eq!(start, format!("msg_{}_{}", made["id"], one.json()["id"]));
        assert!(at.parse::<i64>().is_ok_and(|at| at > 1_700_000_000_000), "{id}");
    }
    // The other one is also told of what only editors read.
    let private = receiver.wait("/all", 7);
    assert!(private.iter().any(|one| one.json()["type"] == "created" && one.json()["status"]["after"] == "draft"));
    // Both secrets are valid while one takes the place of the other.
    let of = format!("/server/v1/webhooks/{}", made["id"]);
    let next = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let changed = server.admin("POST", &of, Some(&json!({"secret": next})));
    assert_eq!((changed.status, &changed.body["secret"]), (200, &json!(next)), "{}", changed.text);
    post(&server, "Rotated", "publish");
    let last = receiver.wait("/a", 7).pop().expect("a request");
    assert!(last.is_signed_with(SECRET) && last.is_signed_with(next), "{last:?}");
    until("the deliveries are listed", || {
        let list = server.admin("GET", &format!("/server/v1/webhook-deliveries?webhook={}", made["id"]), None).body;
        list.as_array().is_some_and(|list| list.len() == 7 && list.iter().all(|one| one["state"] == "sent"))
    });
    let hooks = server.admin("GET", "/server/v1/webhooks", None).body;
    assert!(hooks.as_array().is_some_and(|hooks| hooks.len() == 2), "{hooks}");
    assert!(hooks[0]["last_sent"].is_string(), "{hooks}");
}

/// The records of messages, in the order of their first arrivals.
fn firsts(messages: &[Received]) -> Vec<Value> {
    let mut records = Vec::new();
    for record in messages.iter().map(|one| one.json()["record"].clone()) {
        if !records.contains(&record) {
            records.push(record);
        }
    }
    records
}

#[test]
fn nothing_is_lost_when_the_process_is_killed() {
    let receiver = HookReceiver::start();
    let mut server = server(&receiver, &["events.backoff=1s", "events.timeout=2s"]);
    hook(&server, json!({"name": "Front end", "url": receiver.url("/a"), "resources": ["posts"]}));
    let mut ids = Vec::new();
    for (n, answers) in [Answers::Status(500), Answers::Hang, Answers::Nothing, Answers::Status(200)].iter().enumerate()
    {
        let before = receiver.all("/a").len();
        receiver.set(*answers);
        ids.extend((0..3).map(|m| post(&server, &format!("Post {n} {m}"), "publish")["id"].clone()));
        receiver.wait("/a", before + 1);
        server.kill_and_restart();
    }
    // A message of the last moment before a kill is sent again.
    let records = || firsts(&receiver.all("/a"));
    until("all of them are told", || ids.iter().all(|id| records().contains(id)));
    // At least once, and each only after the one before.
    assert_eq!(records(), ids);
    let all = receiver.all("/a");
    let same = all.iter().filter(|one| one.json()["record"] == ids[0]).collect::<Vec<_>>();
    assert!(same.len() > 1 && same.iter().all(|one| one.header("webhook-id") == same[0].header("webhook-id")));
}

#[test]
fn one_receiver_holds_up_no_other() {
    let (slow, quick) = (HookReceiver::start(), HookReceiver::start());
    let own = settings(&[slow.port, quick.port]);
    let server = Server::with(&own.iter().map(String::as_str).chain(["events.timeout=20s"]).collect::<Vec<_>>());
    slow.set(Answers::Hang);
    for n in 0..5 {
        hook(&server, json!({"name": format!("Slow {n}"), "url": slow.url(&format!("/{n}"))}));
    }
    hook(&server, json!({"name": "Quick", "url": quick.url("/a"), "resources": ["posts"]}));
    for n in 0..5 {
        post(&server, &format!("Post {n}"), "publish");
    }
    quick.wait("/a", 5);
    assert!((0..5).all(|n| slow.all(&format!("/{n}")).len() <= 1));
}

/// A site in this process at a time that the test sets.
struct Timed {
    site: Inside,
    clock: Arc<ManualClock>,
    sender: WebhookSender,
}

impl Timed {
    fn start(receiver: &HookReceiver, more: &str) -> Timed {
        let folder = TempDir::new().expect("a temporary folder");
        stdout(&["init", folder.path().to_str().expect("a path")], "");
        let [networks, ports] = [0, 1].map(|at| settings(&[receiver.port])[at].replace("outbound.", ""));
        std::fs::write(folder.path().join("site.toml"), format!("{more}\n[outbound]\n{networks}\n{ports}\n"))
            .expect("a file");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let clock = ManualClock::at(i64::try_from(now).expect("a time"));
        let site = Inside::timed_over(folder, clock.clone());
        declare(&site.registry, &*site.services.storage).expect("the declared webhooks");
        let sender = Timed::sender(&site);
        Timed { site, clock, sender }
    }

    fn sender(site: &Inside) -> WebhookSender {
        let engine = Arc::new(site.services.engine(site.registry.clone()).expect("an engine"));
        let hub = Arc::new(EventHub::new(site.registry.clone(), site.services.storage.clone()));
        WebhookSender::start(WebhookContext::new(engine, hub, &site.services), Arc::default()).expect("a sender")
    }

    fn hook(&self, body: Value) -> Value {
        self.site.make("/server/v1/webhooks", &body)
    }

    fn post(&self, title: &str) -> Value {
        self.site.make("/cms/v2/posts", &json!({"title": title, "status": "publish"}))
    }

    fn shown(&self, hook: &Value) -> Value {
        self.site.get(&format!("/server/v1/webhooks/{}", hook["id"]), true).body
    }

    fn wait(&self, hook: &Value, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        until(&format!("{what}: {}", self.shown(hook)), || holds(&self.shown(hook)));
        self.shown(hook)
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.sender.finish(Duration::from_secs(5));
    }
}

#[test]
fn what_fails_is_tried_again_and_parked_after_a_day() {
    let receiver = HookReceiver::start();
    let timed = Timed::start(&receiver, "");
    let hook = timed.hook(json!({"name": "Front end", "url": receiver.url("/a"), "resources": ["posts"]}));
    receiver.set(Answers::Status(503));
    let (first, second) = (timed.post("One"), timed.post("Two"));
    let mut attempts = 0;
    let mut pauses = Vec::new();
    loop {
        attempts += 1;
        let state = timed.wait(&hook, "an attempt", |hook| hook["attempts"].as_i64() >= Some(attempts));
        assert_eq!(receiver.all("/a").len() as i64, attempts, "{state}");
        if state["state"] == "parked" {
            break;
        }
        assert_eq!((&state["state"], &state["error"]), (&json!("failing"), &json!("The receiver answered 503.")));
        // Who waits looks again now and then, and waits for nothing meanwhile.
        let due = std::cell::Cell::new(None);
        until("it waits for the next attempt", || {
            due.set(timed.clock.awaited());
            due.get().is_some()
        });
        pauses.push(due.get());
        timed.clock.advance(4500);
        assert!(attempts < 60, "{state}");
    }
    assert!(attempts > 15, "{attempts}: {pauses:?}");
    timed.clock.advance(200_000);
    assert_eq!(timed.shown(&hook)["state"], "parked");
    let list = timed.site.get("/server/v1/webhook-deliveries", true).body;
    assert_eq!(list.as_array().map(Vec::len), Some(1), "one delivery, however often it was tried: {list}");
    assert_eq!((&list[0]["attempts"], &list[0]["status"]), (&json!(attempts), &json!(503)));
    // Whoever starts it again loses nothing.
    receiver.set(Answers::Status(200));
    let of = format!("/server/v1/webhooks/{}", hook["id"]);
    assert_eq!(timed.site.ask(Method::Post, &of, true, Some(&json!({"enabled": true}))).status, 200);
    let all = receiver.wait("/a", usize::try_from(attempts).expect("a number") + 2);
    let last: Vec<Value> = all.iter().rev().take(2).map(|one| one.json()["record"].clone()).collect();
    assert_eq!(last, [second["id"].clone(), first["id"].clone()]);
    // 410 switches it off; a person orders a test and another attempt anyway.
    receiver.set(Answers::Status(410));
    timed.post("Three");
    timed.wait(&hook, "it is refused", |hook| hook["state"] == "refused");
    receiver.set(Answers::Status(200));
    let before = receiver.all("/a").len();
    let ordered = timed.site.ask(Method::Post, &format!("{of}/test"), true, None);
    assert_eq!(ordered.status, 202, "{}", ordered.body);
    let test = receiver.wait("/a", before + 1)[before].json();
    assert_eq!((&test["type"], &test["id"], &test["depth"]), (&json!("test"), &json!(0), &json!(1)), "{test}");
    // It has the members of every event.
    let members = |event: &Value| event.as_object().expect("an event").keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(members(&test), members(&receiver.all("/a")[0].json()));
    let redeliver = |id: &Value| {
        timed.site.ask(Method::Post, &format!("/server/v1/webhook-deliveries/{id}/redeliver"), true, None).status
    };
    assert_eq!(redeliver(&list[0]["id"]), 202);
    assert_eq!(receiver.wait("/a", before + 2)[before + 1].json()["record"], first["id"]);
    assert_eq!(timed.shown(&hook)["state"], "refused");
    assert_eq!(redeliver(&json!(999)), 404);
}

#[test]
fn a_receiver_that_calls_back_is_stopped() {
    let receiver = HookReceiver::start();
    let server = server(&receiver, &[]);
    let made = hook(&server, json!({"name": "Builder", "url": receiver.url("/a"), "resources": ["posts"]}));
    let call_back = |depth: &str| {
        let body = json!({"title": format!("After {depth}"), "status": "publish"}).to_string().into_bytes();
        let headers = [("webhook-depth", depth), ("user-agent", "Builder/1.0")];
        let url = format!("{}/cms/v2/posts", server.rest);
        server.send("POST", &url, Some(&server.admin), Some(("application/json", body)), &headers)
    };
    post(&server, "By hand", "publish");
    for depth in [1, 2] {
        let told = receiver.wait("/a", depth).pop().expect("a request");
        assert_eq!((told.header("webhook-depth"), &told.json()["depth"]), (&*depth.to_string(), &json!(depth)));
        let back = call_back(told.header("webhook-depth"));
        assert_eq!(back.status, 201, "{}", back.text);
    }
    until("the cycle is noted", || shown(&server, &made)["error"].as_str().is_some_and(|error| !error.is_empty()));
    let state = shown(&server, &made);
    assert!(state["state"] == "active" && state["error"].to_string().starts_with("\"Not sent: 2 webhooks"), "{state}");
    let of = format!("/server/v1/webhook-deliveries?webhook={}&order=desc", made["id"]);
    let list = server.admin("GET", &of, None).body;
    let states = [0, 1, 2].map(|at| &list[at]["state"]);
    assert_eq!((states, &list[0]["error"]), (["stopped", "sent", "sent"].map(Value::from).each_ref(), &state["error"]));
    // The audit trail names the client that called back.
    let audit = server.admin("GET", "/server/v1/audit?event=content_created", None).text;
    for depth in [1, 2] {
        assert!(audit.contains(&format!("\"client\":\"webhook-depth {depth}; Builder/1.0\"")), "{audit}");
    }
    // Changes of others go on, in their order, and nothing was sent between.
    post(&server, "By hand, too", "publish");
    assert_eq!(receiver.wait("/a", 3).iter().map(|one| one.header("webhook-depth")).collect::<String>(), "121");
    until("it is well again", || shown(&server, &made)["error"] == "");
    // A header that is no depth is refused, before anything is written.
    for wrong in ["-1", "1.5", "one", "256", "1, 2", "0001", "9999999999999999999999"] {
        let back = call_back(wrong);
        assert_eq!((back.status, back.text.contains("Webhook-Depth")), (400, true), "{wrong}: {}", back.text);
    }
    assert_eq!(call_back("255").status, 201);
}

#[test]
fn bursts_are_gathered() {
    let receiver = HookReceiver::start();
    let timed = Timed::start(&receiver, "");
    for (path, format) in [("/build", "build"), ("/events", "events")] {
        let body = json!({"name": path, "url": receiver.url(path), "format": format, "resources": ["posts"], "debounce": 30, "rebuild": true});
        timed.hook(body);
    }
    for n in 0..4 {
        timed.post(&format!("Post {n}"));
    }
    // Whoever looks sees that something is gathered, and until when.
    let states = || {
        let lists = ["webhooks", "rebuilds"].map(|list| timed.site.get(&format!("/server/v1/{list}"), true).body);
        let rows = lists.iter().flat_map(|list| list.as_array().cloned().unwrap_or_default());
        rows.map(|row| (row["state"].clone(), row["due"].is_string())).collect::<Vec<_>>()
    };
    let pending = (json!("pending"), true);
    until("it is shown", || states() == [(); 4].map(|()| pending.clone()));
    until("it waits", || timed.clock.awaited().is_some());
    assert!(receiver.all("/build").is_empty());
    timed.clock.advance(60);
    let events = receiver.wait("/events", 1)[0].json();
    assert_eq!((&events["type"], events["events"].as_array().map(Vec::len)), (&json!("several"), Some(4)), "{events}");
    assert_eq!(events["keys"].as_array().map(Vec::len), Some(5), "{events}");
    assert_eq!(receiver.wait("/build", 1)[0].body, "");
    let [active, sent] = ["active", "sent"].map(|state| (json!(state), false));
    until("nothing waits", || states() == [&active, &active, &sent, &sent].map(Clone::clone));
    assert_eq!((receiver.all("/build").len(), receiver.all("/events").len()), (1, 1));
}

#[test]
fn one_purge_is_sent_for_all_that_wait() {
    let receiver = HookReceiver::start();
    let timed = Timed::start(&receiver, "");
    let hooks = [("/purge", "purge"), ("/events", "events"), ("/build", "build")].map(|(path, format)| {
        timed.hook(
            json!({"name": path, "url": receiver.url(path), "format": format, "resources": ["tags"], "enabled": false}),
        )
    });
    let make = |n: usize| timed.site.make("/cms/v2/tags", &json!({"name": format!("Tag {n}")}))["id"].clone();
    let ids: Vec<Value> = (0..130).map(make).collect();
    for hook in &hooks {
        let of = format!("/server/v1/webhooks/{}", hook["id"]);
        assert_eq!(timed.site.ask(Method::Post, &of, true, Some(&json!({"enabled": true}))).status, 200);
    }
    let purged = receiver.wait("/purge", 2);
    for (purge, of) in purged.iter().zip(ids.chunks(100)) {
        let keys = purge.header("surrogate-key").to_owned();
        assert!(of.iter().all(|id| keys.split(' ').any(|key| key == format!("tags/{id}"))), "{keys}");
    }
    let events: Vec<Value> = receiver.wait("/events", 130).iter().map(|one| one.json()["record"].clone()).collect();
    assert_eq!(events, ids, "each is told of for itself");
    // A build is the same for all changes, and is called once.
    timed.wait(&hooks[2], "the build has come to the newest change", |hook| {
        hook["state"] == "active" && !hook["last_sent"].is_null()
    });
    assert_eq!(receiver.wait("/build", 1).len(), 1);
}

#[test]
fn a_receiver_is_told_that_it_missed_changes() {
    let receiver = HookReceiver::start();
    let mut timed = Timed::start(&receiver, "");
    let body = |path: &str, format: &str| json!({"name": path, "url": receiver.url(path), "format": format, "resources": ["tags"], "enabled": false});
    let hooks = [("/events", "events"), ("/build", "build")].map(|(path, format)| timed.hook(body(path, format)));
    let make = |name: &str| timed.site.make("/cms/v2/tags", &json!({"name": name}))["id"].clone();
    for name in ["Missed", "Ebb", "Flow"] {
        make(name);
    }
    timed.sender.finish(Duration::from_secs(5));
    timed.site.shorten_feed();
    timed.sender = Timed::sender(&timed.site);
    receiver.set(Answers::Status(500));
    for hook in &hooks {
        let of = format!("/server/v1/webhooks/{}", hook["id"]);
        assert_eq!(timed.site.ask(Method::Post, &of, true, Some(&json!({"enabled": true}))).status, 200);
    }
    let first = receiver.wait("/events", 1)[0].clone();
    let event = first.json();
    assert_eq!((&event["type"], &event["addresses"]["all"]), (&json!("reset"), &json!(true)));
    timed.wait(&hooks[0], "it has failed", |hook| hook["state"] == "failing");
    receiver.wait("/build", 1);
    receiver.set(Answers::Status(200));
    timed.clock.advance(60);
    let again = &receiver.wait("/events", 2)[1];
    assert_eq!(
        (again.json()["type"].clone(), again.header("webhook-id")),
        (json!("reset"), first.header("webhook-id"))
    );
    receiver.wait("/build", 2);
    let next = make("Next");
    let all = || receiver.all("/events").iter().map(Received::json).collect::<Vec<_>>();
    until("the next change arrives", || all().iter().any(|event| event["record"] == next));
    assert!(all().iter().all(|event| event["type"] == "reset" || event["record"] == next), "{:?}", all());
}

#[test]
fn each_form_is_what_its_receiver_wants() {
    let receiver = HookReceiver::start();
    let declared = format!(
        "[webhooks.chat]\nurl = \"{}\"\nformat = \"chat\"\nresources = [\"posts\"]\nevents = [\"published\"]\n",
        receiver.url("/chat")
    );
    let timed = Timed::start(&receiver, &declared);
    for (format, secret) in
        [("github", "ghp_token"), ("purge", "fastly"), ("addresses", "cache"), ("next", "s3cret"), ("build", "")]
    {
        let mut body = json!({"name": format, "url": receiver.url(&format!("/{format}")), "format": format, "resources": ["posts"]});
        if !secret.is_empty() {
            body["secret"] = json!(secret);
        }
        timed.hook(body);
    }
    // A declared one is told of what is changed after it has begun.
    let begun = || timed.site.get("/server/v1/webhooks?search=chat", true).body.as_array().map_or(0, Vec::len);
    until("the declared webhook has begun", || begun() == 1);
    let post = timed.post("Harbour");
    let github = &receiver.wait("/github", 1)[0];
    assert_eq!(github.header("authorization"), "Bearer ghp_token");
    let payload = json!({"depth": 1, "type": "published", "resource": "posts", "record": post["id"], "slug": "harbour", "link": post["link"]});
    assert_eq!(github.json(), json!({"event_type": "content", "client_payload": payload}));
    let purge = &receiver.wait("/purge", 1)[0];
    assert_eq!(
        (purge.header("surrogate-key"), purge.header("fastly-key")),
        (&*format!("posts posts/{}", post["id"]), "fastly")
    );
    let addresses = &receiver.wait("/addresses", 1)[0];
    assert_eq!(addresses.header("authorization"), "Bearer cache");
    let body = addresses.json();
    assert!(body["addresses"].as_array().is_some_and(|all| all.contains(&post["link"])), "{body}");
    assert_eq!(body["all"], false);
    let next = &receiver.wait("/next", 1)[0];
    assert_eq!(next.header("x-webhook-secret"), "s3cret");
    assert_eq!(
        next.json(),
        json!({"contentType": "post", "contentId": post["id"], "tags": ["posts", format!("posts/{}", post["id"])]})
    );
    let build = &receiver.wait("/build", 1)[0];
    assert_eq!((&*build.method, &*build.body, build.header("content-length")), ("POST", "", "0"));
    let chat = &receiver.wait("/chat", 1)[0];
    let line = format!("post {} published: {}", post["id"], post["link"].as_str().expect("a link"));
    assert_eq!(chat.json(), json!({"text": line}));
    // A declared webhook is changed where it is declared.
    let list = timed.site.get("/server/v1/webhooks?search=chat", true).body;
    assert_eq!(list[0]["declared"], "chat", "{list}");
    let of = format!("/server/v1/webhooks/{}", list[0]["id"]);
    for (method, body) in [(Method::Post, Some(json!({"enabled": false}))), (Method::Delete, None)] {
        let refused = timed.site.ask(method, &of, true, body.as_ref());
        assert_eq!(refused.status, 403, "{}", refused.body);
        assert!(
            refused.body["message"].as_str().is_some_and(|text| text.contains("[webhooks.chat]")),
            "{}",
            refused.body
        );
    }
}

#[test]
fn deliveries_show_no_secrets() {
    let receiver = HookReceiver::start();
    receiver.set(Answers::Echo);
    let timed = Timed::start(&receiver, "[webhook_formats.token]\nbody = { token = \"{secret}\", of = \"{kind}\" }\n");
    // JSON writes it with escapes.
    let secret = r#"a"b\c"#;
    let hook =
        json!({"name": "A", "url": receiver.url("/a"), "format": "token", "resources": ["posts"], "secret": secret});
    let hook = timed.hook(hook);
    timed.post("Harbour");
    assert_eq!(receiver.wait("/a", 1)[0].json(), json!({"token": secret, "of": "post"}));
    timed.wait(&hook, "it is delivered", |hook| hook["last_sent"].is_string());
    let list = timed.site.get("/server/v1/webhook-deliveries", true).body;
    let shown = json!({"token": "(secret)", "of": "post"}).to_string();
    assert_eq!((&list[0]["request"], &list[0]["response"]), (&json!(shown), &json!(shown)));
}

#[test]
fn answers_are_bounded_and_redirects_are_not_followed() {
    let receiver = HookReceiver::start();
    let server = server(&receiver, &["events.timeout=1s", "events.backoff=1s"]);
    let hook = hook(&server, json!({"name": "Front end", "url": receiver.url("/a"), "resources": ["posts"]}));
    receiver.set(Answers::Endless);
    post(&server, "One", "publish");
    until("it is delivered", || shown(&server, &hook)["last_sent"].is_string());
    let list = server.admin("GET", "/server/v1/webhook-deliveries", None).body;
    assert!(list[0]["response"].as_str().is_some_and(|text| (1..=4096).contains(&text.len())), "{list}");
    let fails = |why: &str| {
        let error = || shown(&server, &hook)["error"].to_string();
        until(&format!("{why}: {}", error()), || error().contains(why));
    };
    receiver.set(Answers::Trickle);
    post(&server, "Two", "publish");
    fails("There was no answer");
    receiver.set(Answers::Status(302));
    fails("302");
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let receiver = HookReceiver::start();
    let server = server(&receiver, &["events.max_webhooks=2"]);
    let url = receiver.url("/a");
    let write = |body: Value| -> Answer { server.admin("POST", "/server/v1/webhooks", Some(&body)) };
    let long = "x".repeat(201);
    for (member, value) in [
        ("url", json!("ftp://example.org/")),
        ("url", json!("nothing")),
        ("url", json!("http://10.0.0.1/")),
        ("url", json!("http://169.254.169.254/latest")),
        ("url", json!("http://user:word@example.org/")),
        ("url", json!("https://example.org:22/")),
        ("secret", json!("")),
        ("secret", json!("whsec_short")),
        ("secret", json!("with a space")),
        ("secret", json!(long)),
        ("format", json!("nothing")),
        ("resources", json!(["nothing"])),
        ("events", json!(["nothing"])),
        ("statuses", json!(["nothing"])),
        ("debounce", json!(-1)),
        ("debounce", json!(100_000)),
        ("name", json!("")),
    ] {
        let mut body = json!({"name": "A", "url": url});
        body[member] = value.clone();
        let refused = write(body);
        assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{member} {value}: {}", refused.text);
        assert!(refused.body["data"]["params"].get(member).is_some(), "{member}: {}", refused.text);
    }
    assert_eq!(write(json!({"name": "A", "url": url})).status, 201);
    assert_eq!(write(json!({"name": "B", "url": url})).status, 201);
    let third = write(json!({"name": "C", "url": url}));
    assert!(third.status == 400 && third.text.contains("events.max_webhooks"), "{}", third.text);
    let editor = server.user("editor", "editor");
    for (method, route) in [
        ("GET", "/server/v1/webhooks"),
        ("GET", "/server/v1/webhook-deliveries"),
        ("POST", "/server/v1/webhooks/1/test"),
    ] {
        assert_eq!(server.ask(method, route, None, None).status, 401, "{method} {route}");
        assert_eq!(server.ask(method, route, Some(&editor), None).status, 403, "{method} {route}");
    }
    let audit = server.admin("GET", "/server/v1/audit?event=webhook_created", None).body;
    assert_eq!(audit.as_array().map(Vec::len), Some(2), "{audit}");
    assert!(!audit.to_string().contains("whsec_"), "{audit}");
    // Without a declared network nothing is sent to this machine.
    let closed = Server::start();
    let refused =
        closed.admin("POST", "/server/v1/webhooks", Some(&json!({"name": "A", "url": "http://127.0.0.1:8080/"})));
    assert_eq!(refused.status, 400, "{}", refused.text);
}

#[test]
fn a_declared_webhook_is_told_of_the_first_change() {
    let receiver = HookReceiver::start();
    let declared = |name: &str| {
        let members =
            [("url", format!("\"{}\"", receiver.url(&format!("/{name}")))), ("secret", format!("\"{SECRET}\""))];
        let set = |(key, value): (&str, String)| format!("webhooks.{name}.{key}={value}");
        members.map(set).into_iter().chain([format!("webhooks.{name}.resources=[\"posts\"]")]).collect::<Vec<_>>()
    };
    let mut first = server(&receiver, &[]);
    let late = json!({"title": "Late", "status": "future", "date": "2099-01-01T00:00:00"});
    let late = first.admin("POST", "/cms/v2/posts", Some(&late)).body;
    // Beside a node that sends and does not declare it.
    let sets = declared("beside");
    let second = first.beside_with(&sets.iter().map(String::as_str).collect::<Vec<_>>());
    let made = post(&second, "First", "publish");
    assert_eq!(receiver.wait("/beside", 1)[0].json()["record"], made["id"]);
    drop(second);
    // A start publishes what fell due while the server was off.
    first.stop();
    first.sql(&format!("UPDATE record SET date_utc = 1700000000, date_local = 1700000000 WHERE id = {}", late["id"]));
    let sets: Vec<String> = settings(&[receiver.port]).into_iter().chain(declared("front")).collect();
    let _again = first.restart_with(&sets.iter().map(String::as_str).collect::<Vec<_>>());
    let told = receiver.wait("/front", 1)[0].json();
    assert_eq!((&told["record"], &told["type"]), (&late["id"], &json!("published")), "{told}");
}

#[test]
fn one_node_sends_and_another_takes_over() {
    if postgres::server().is_none() {
        left_out(SERVER);
        return;
    }
    let receiver = HookReceiver::start();
    let mut first = server(&receiver, &["events.backoff=1s"]);
    let second = first.beside();
    hook(&first, json!({"name": "Front end", "url": receiver.url("/a"), "resources": ["posts"]}));
    let mut ids: Vec<Value> = (0..10)
        .map(|n| post(if n % 2 == 0 { &first } else { &second }, &format!("Post {n}"), "publish")["id"].clone())
        .collect();
    let told: Vec<Value> = receiver.wait("/a", 10).iter().map(|one| one.json()["record"].clone()).collect();
    assert_eq!(told, ids, "each once, whichever node wrote it");
    first.stop();
    ids.extend((10..15).map(|n| post(&second, &format!("Post {n}"), "publish")["id"].clone()));
    // Messages whose outcomes were not stored when the node was killed are sent once more.
    until("all of them are told", || firsts(&receiver.all("/a")).len() == ids.len());
    assert_eq!(firsts(&receiver.all("/a")), ids);
}
