//! One response shows one state: what is read for a document, a list and what is embedded in it belongs together, while
//! others write.

use super::server::Server;
use base64::Engine as _;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Responses that the readers compare in all; `CMS_TEST_READS` sets another number.
const READS: u64 = 600;

/// Categories that a record moves through, in step with its counter.
const TERMS: i64 = 7;

/// A client that keeps its connection.
struct Client {
    agent: ureq::Agent,
    rest: String,
    authorization: String,
}

impl Client {
    fn of(server: &Server) -> Client {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let (login, password) = &server.admin;
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
        Client { agent, rest: server.rest.clone(), authorization: format!("Basic {pair}") }
    }

    fn put(&self, route: &str, body: &Value) -> Value {
        let request = self.agent.put(format!("{}{route}", self.rest)).header("authorization", &self.authorization);
        let mut answer = request.content_type("application/json").send(body.to_string()).expect("an answer");
        let text = answer.body_mut().read_to_string().expect("a body");
        assert_eq!(answer.status(), 200, "{text}");
        serde_json::from_str(&text).expect("JSON")
    }

    fn get(&self, route: &str, known: bool) -> Value {
        let mut request = self.agent.get(format!("{}{route}", self.rest));
        if known {
            request = request.header("authorization", &self.authorization);
        }
        let mut answer = request.call().expect("an answer");
        let text = answer.body_mut().read_to_string().expect("a body");
        assert_eq!(answer.status(), 200, "{route}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// The body of a write: everything carries the same counter.
fn version(counter: i64, terms: &[i64]) -> Value {
    let term = terms[(counter % TERMS) as usize];
    json!({
        "title": {"raw": format!("t{counter}")},
        "content": {"raw": format!("c{counter}")},
        "categories": [term],
        "tags": [],
        "meta": {"footnotes": format!("m{counter}")},
        "status": "publish",
    })
}

fn number(text: &Value, mark: char) -> Option<i64> {
    let text = text.as_str()?;
    text.trim_start_matches("<p>").trim().trim_end_matches("</p>").strip_prefix(mark)?.trim().parse().ok()
}

/// Why a document mixes versions; `None`: it does not.
fn torn(document: &Value, terms: &[i64]) -> Option<String> {
    let part = |name: &str| document[name].get("raw").unwrap_or(&document[name]["rendered"]);
    let Some(title) = number(part("title"), 't') else { return Some(format!("no title: {document}")) };
    let term = terms[(title % TERMS) as usize];
    let content = number(part("content"), 'c');
    let meta = number(&document["meta"]["footnotes"], 'm');
    let linked = document["_embedded"]["wp:term"].as_array().map(|groups| groups[0][0]["id"].clone());
    let fits = content == Some(title)
        && meta == Some(title)
        && document["categories"] == json!([term])
        && linked.as_ref().is_none_or(|linked| *linked == term);
    (!fits).then(|| {
        let category = document["categories"][0].as_i64().and_then(|id| terms.iter().position(|term| *term == id));
        let linked = linked.and_then(|id| terms.iter().position(|term| id == *term));
        format!(
            "title {title} (category {}), content {content:?}, meta {meta:?}, category {category:?}, embedded {linked:?}",
            title % TERMS
        )
    })
}

fn no_response_mixes_versions(sets: &[&str]) {
    let server = Server::with(sets);
    let ns = format!("/{}/v2", server.prefix);
    let created = |route: &str, body: Value| {
        let made = server.admin("POST", &format!("{ns}{route}"), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body["id"].as_i64().expect("an id")
    };
    let terms: Vec<i64> = (0..TERMS).map(|n| created("/categories", json!({"name": format!("Term {n}")}))).collect();
    let posts: Vec<i64> = (0..2).map(|_| created("/posts", version(0, &terms))).collect();
    let (one, two) = (posts[0], posts[1]);
    let reads = [
        (format!("{ns}/posts/{one}"), false),
        (format!("{ns}/posts/{one}?context=edit"), true),
        (format!("{ns}/posts?include={one},{two}"), false),
        (format!("{ns}/posts/{one}?_embed=wp:term"), false),
        (format!("{ns}/posts?include={one},{two}&context=edit&_embed=wp:term"), true),
        (format!("{ns}/posts?include={one},{two}&_fields=title,content,categories,meta"), false),
    ];
    let most = std::env::var("CMS_TEST_READS").ok().and_then(|n| n.parse().ok()).unwrap_or(READS);
    let (left, stop) = (AtomicU64::new(most), AtomicBool::new(false));
    let found: Vec<String> = std::thread::scope(|threads| {
        for post in &posts {
            let (server, ns, terms, stop) = (&server, &ns, &terms, &stop);
            threads.spawn(move || {
                let client = Client::of(server);
                let mut counter = 0;
                while !stop.load(Ordering::Relaxed) {
                    counter += 1;
                    let answer = client.put(&format!("{ns}/posts/{post}"), &version(counter, terms));
                    let shown = torn(&answer, terms);
                    assert!(shown.is_none(), "the response to a write: {shown:?}");
                }
            });
        }
        let readers: Vec<_> = (0..4)
            .map(|reader| {
                let (left, reads, terms, server) = (&left, &reads, &terms, &server);
                threads.spawn(move || {
                    let client = Client::of(server);
                    let mut found = Vec::new();
                    for (route, known) in reads.iter().cycle().skip(reader) {
                        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_err() {
                            return found;
                        }
                        let answer = client.get(route, *known);
                        let documents = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
                        let mixed = documents.iter().filter_map(|document| torn(document, terms));
                        found.extend(mixed.map(|why| format!("{route}: {why}")));
                    }
                    found
                })
            })
            .collect();
        let found = readers.into_iter().flat_map(|reader| reader.join().expect("no panic")).collect();
        stop.store(true, Ordering::Relaxed);
        found
    });
    assert!(found.is_empty(), "{} of {most} responses mix versions: {:#?}", found.len(), &found[..found.len().min(12)]);
}

#[test]
fn no_response_mixes_versions_of_a_record() {
    no_response_mixes_versions(&["site.prefix=wp"]);
}

#[test]
fn no_response_mixes_versions_without_caches() {
    no_response_mixes_versions(&["cache.responses=false", "cache.documents=false"]);
}
