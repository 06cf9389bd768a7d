//! A client: it chooses what to do by dice, does it, and records it.

use super::groups::PARTS;
use super::history::{Deed, Event, Group, Moment, NEVER, Outcome, Part, Step, Transaction};
use super::recorder::Recorded;
use crate::dice::Dice;
use crate::server::Answer;
use base64::Engine as _;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

/// Longer than any request may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// So many groups are there at most, but for those whose making was not answered.
const GROUPS: usize = 20;

/// One clock for all clients, whose moments are all different.
pub struct Clock {
    began: Instant,
    last: AtomicU64,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { began: Instant::now(), last: AtomicU64::new(0) }
    }
}

impl Clock {
    fn now(&self) -> Moment {
        let now = u64::try_from(self.began.elapsed().as_nanos()).expect("less than five hundred years");
        if self.last.fetch_max(now, Ordering::SeqCst) < now {
            now
        } else {
            self.last.fetch_add(1, Ordering::SeqCst) + 1
        }
    }
}

/// The part of a round that its clients share.
pub struct Round {
    number: u64,
    category: i64,
    books: Vec<i64>,
    records: RwLock<Vec<i64>>,
    /// Groups that are there for certain, with the ids of their parts.
    groups: Mutex<Vec<(Group, Vec<i64>)>>,
    made: Mutex<Vec<Group>>,
    values: AtomicU64,
    pub operations: AtomicU64,
    most: u64,
}

impl Round {
    pub fn new(number: u64, category: i64, books: Vec<i64>, most: u64) -> Round {
        let (records, groups, made) = (RwLock::default(), Mutex::default(), Mutex::default());
        let (values, operations) = (AtomicU64::new(0), AtomicU64::new(0));
        Round { number, category, books, records, groups, made, values, operations, most }
    }

    /// A value that nobody else writes.
    fn value(&self) -> u64 {
        self.values.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn word(&self, group: Group) -> String {
        format!("q{:05}{group:06}z", self.number)
    }
}

/// The fate of a request.
enum Reply {
    Answer(Box<Answer>),
    /// There was no connection: it was not sent.
    NotSent,
    /// There was no answer.
    Lost,
}

/// The meaning of an answer to a write.
#[derive(PartialEq)]
enum Meaning {
    Done,
    /// The condition does not hold (412).
    Differs,
    /// There is no such record (404).
    Gone,
    /// Nothing is written.
    Refused,
    Unknown,
}

pub struct Client<'s> {
    number: usize,
    dice: Dice,
    agent: ureq::Agent,
    authorization: String,
    round: &'s Round,
    clock: &'s Clock,
    addresses: &'s RwLock<Vec<String>>,
    node: Option<usize>,
    lag: Moment,
    events: Vec<Event>,
    problems: Vec<String>,
}

impl<'s> Client<'s> {
    /// The client of a number in a round of a number. Its reads may be so old as `lag` says.
    pub fn new(
        (number, round_number): (usize, u64),
        (login, password): &(String, String),
        round: &'s Round,
        clock: &'s Clock,
        addresses: &'s RwLock<Vec<String>>,
        lag: Moment,
    ) -> Client<'s> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{password}"));
        let dice = Dice((round_number * 64 + number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (agent, authorization) = (config.build().into(), format!("Basic {pair}"));
        let (events, problems) = (Vec::new(), Vec::new());
        Client { number, dice, agent, authorization, round, clock, addresses, node: None, lag, events, problems }
    }

    /// Asks one server alone from now on.
    pub fn stay_at(&mut self, node: usize) {
        self.node = Some(node);
    }

    pub fn recorded(self) -> Recorded {
        Recorded { events: self.events, problems: self.problems }
    }

    /// Whether the round has operations left; it takes one.
    pub fn works_on(&self) -> bool {
        self.round.operations.fetch_add(1, Ordering::Relaxed) < self.round.most
    }

    /// Does something.
    pub fn act(&mut self) {
        match self.dice.below(24) {
            0..=3 => self.read_record(),
            4..=6 => self.write_record(),
            7 => self.create_or_remove_record(),
            8..=9 => self.make_group(),
            10 => self.unmake_group(),
            11..=12 => self.list(),
            13..=14 => self.search(),
            15..=16 => self.count(),
            17 => self.walk(),
            18..=19 => self.append(),
            20 => self.append_to_two(),
            21 => self.append_twice(),
            22 => drop(self.read_list_of_dice()),
            _ => self.read_lists(),
        }
    }

    /// Reads all there is.
    pub fn read_everything(&mut self) {
        let records = self.round.records.read().expect("no panic holds it").clone();
        records.into_iter().for_each(|record| drop(self.read(record)));
        self.list();
        (0..3).for_each(|_| self.count());
        self.walk();
        self.read_lists();
        (0..self.round.books.len()).for_each(|list| drop(self.read_list(list)));
    }

    // ---------------------------------------------------------------------------------------- requests

    fn send(&mut self, method: &str, route: &str, more: (Option<&Value>, Option<&str>), known: bool) -> Reply {
        let rest = {
            let addresses = self.addresses.read().expect("no panic holds it");
            addresses[self.node.unwrap_or_else(|| self.dice.below(addresses.len()))].clone()
        };
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{rest}{route}"));
        if known {
            request = request.header("authorization", &self.authorization);
        }
        if let Some(tag) = more.1 {
            request = request.header("if-match", tag);
        }
        let done = match more.0 {
            Some(body) => self
                .agent
                .run(request.header("content-type", "application/json").body(body.to_string()).expect("a request")),
            None => self.agent.run(request.body(()).expect("a request")),
        };
        let mut response = match done {
            Ok(response) => response,
            Err(ureq::Error::Io(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                return Reply::NotSent;
            }
            Err(ureq::Error::Timeout(_)) => {
                self.problems.push(format!("{method} {route}: no answer in {PATIENCE:?}"));
                return Reply::Lost;
            }
            Err(_) => return Reply::Lost,
        };
        let Ok(bytes) = response.body_mut().read_to_vec() else { return Reply::Lost };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let line = |(name, value): (&ureq::http::HeaderName, &ureq::http::HeaderValue)| {
            (name.as_str().to_owned(), value.to_str().unwrap_or("").to_owned())
        };
        let answer = Answer {
            status: response.status().as_u16(),
            headers: response.headers().iter().map(line).collect(),
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
            bytes,
        };
        let excused = answer.status < 500 || (answer.status == 503 && answer.header("retry-after").is_some());
        if !excused {
            self.problems.push(format!("{method} {route}: {} {}", answer.status, answer.text));
        }
        Reply::Answer(Box::new(answer))
    }

    /// A response of 200 to a GET, or of 404; every second one is asked for without an account. `None`: it has failed.
    fn get(&mut self, route: &str) -> Option<Box<Answer>> {
        let known = self.dice.one_in(2);
        let Reply::Answer(answer) = self.send("GET", route, (None, None), known) else { return None };
        if ![200, 404, 503].contains(&answer.status) {
            self.problems.push(format!("GET {route}: {} {}", answer.status, answer.text));
        }
        [200, 404].contains(&answer.status).then_some(answer)
    }

    fn meaning(&mut self, reply: &Reply, what: &str) -> Meaning {
        let answer = match reply {
            Reply::NotSent => return Meaning::Refused,
            Reply::Lost => return Meaning::Unknown,
            Reply::Answer(answer) => answer,
        };
        match answer.status {
            207 if answer.body.get("failed").is_none() => Meaning::Done,
            207 => {
                let parts = answer.body["responses"].as_array().into_iter().flatten();
                let statuses: Vec<u64> = parts.filter_map(|part| part["status"].as_u64()).collect();
                if !statuses.iter().all(|status| [412, 503].contains(status)) {
                    self.problems.push(format!("{what}: {}", answer.text));
                }
                Meaning::Refused
            }
            200 | 201 => Meaning::Done,
            412 => Meaning::Differs,
            404 => Meaning::Gone,
            503 if answer.code() == "rest_outcome_unknown" => Meaning::Unknown,
            503 => Meaning::Refused,
            status => {
                self.problems.push(format!("{what}: {status} {}", answer.text));
                Meaning::Unknown
            }
        }
    }

    // ---------------------------------------------------------------------------------------- records of events

    /// Records a read: it may show a state that is so old as the lag.
    fn saw(&mut self, began: Moment, deed: Deed) {
        self.put(began.saturating_sub(self.lag), Outcome::Done, deed);
    }

    fn put(&mut self, began: Moment, outcome: Outcome, deed: Deed) {
        let ended = if outcome == Outcome::Unknown { NEVER } else { self.clock.now() };
        self.events.push(Event { client: self.number, began, ended, outcome, deed });
    }

    fn wrote(&mut self, began: Moment, meaning: &Meaning, deed: Deed) {
        let outcome = match meaning {
            Meaning::Done => Outcome::Done,
            Meaning::Unknown => Outcome::Unknown,
            Meaning::Differs | Meaning::Gone | Meaning::Refused => Outcome::Refused,
        };
        self.put(began, outcome, deed);
    }

    // ---------------------------------------------------------------------------------------- single records

    /// One of the newest records.
    fn record(&mut self) -> Option<i64> {
        let records = self.round.records.read().expect("no panic holds it");
        let newest = &records[records.len().saturating_sub(3)..];
        (!newest.is_empty()).then(|| *self.dice.of(newest))
    }

    fn read_record(&mut self) {
        if let Some(record) = self.record() {
            self.read(record);
        }
    }

    /// The value of a record and its entity tag, if it is there.
    fn read(&mut self, record: i64) -> Option<(u64, String)> {
        let began = self.clock.now();
        let answer = self.get(&format!("/cms/v2/posts/{record}?_fields=id,title"))?;
        let value = (answer.status == 200).then(|| number(&answer.body["title"]["rendered"], "v"));
        self.saw(began, Deed::Record(record, Step::Read(value)));
        Some((value?, answer.header("etag")?.to_owned()))
    }

    fn write_record(&mut self) {
        let Some(record) = self.record() else { return };
        let known = if self.dice.one_in(2) { self.read(record) } else { None };
        let value = self.round.value();
        let body = json!({"title": {"raw": format!("v{value}")}});
        let began = self.clock.now();
        let tag = known.as_ref().map(|(_, tag)| tag.as_str());
        let reply = self.send("PUT", &format!("/cms/v2/posts/{record}"), (Some(&body), tag), true);
        let step = known.as_ref().map_or(Step::Write(value), |(expected, _)| Step::Swap(*expected, value));
        match (self.meaning(&reply, "a change"), &known) {
            (Meaning::Differs, Some((expected, _))) => {
                self.put(began, Outcome::Done, Deed::Record(record, Step::Differs(*expected)));
            }
            (Meaning::Gone, _) => self.put(began, Outcome::Done, Deed::Record(record, Step::Read(None))),
            (meaning, _) => self.wrote(began, &meaning, Deed::Record(record, step)),
        }
    }

    fn create_or_remove_record(&mut self) {
        let began = self.clock.now();
        if let (Some(record), true) = (self.record(), self.dice.one_in(3)) {
            let reply = self.send("DELETE", &format!("/cms/v2/posts/{record}?force=true"), (None, None), true);
            match self.meaning(&reply, "a deletion") {
                Meaning::Gone => self.put(began, Outcome::Done, Deed::Record(record, Step::Read(None))),
                meaning => self.wrote(began, &meaning, Deed::Record(record, Step::Remove)),
            }
            return;
        }
        let value = self.round.value();
        let body = json!({"title": {"raw": format!("v{value}")}, "status": "publish"});
        let reply = self.send("POST", "/cms/v2/posts", (Some(&body), None), true);
        let meaning = self.meaning(&reply, "a creation");
        // Nobody asks for one whose id is not known.
        if let (Meaning::Done, Reply::Answer(answer)) = (&meaning, &reply) {
            let record = answer.body["id"].as_i64().expect("an id");
            self.wrote(began, &meaning, Deed::Record(record, Step::Create(value)));
            self.round.records.write().expect("no panic holds it").push(record);
        }
    }

    // ---------------------------------------------------------------------------------------- groups

    fn make_group(&mut self) {
        // A list shows all of them.
        if self.round.groups.lock().expect("no panic holds it").len() >= GROUPS {
            return self.unmake_group();
        }
        let group = self.round.value();
        let word = self.round.word(group);
        let part = |n: u64| {
            let title = format!("{word} p{n}");
            json!({"path": "/cms/v2/posts", "body": {"title": {"raw": title}, "categories": [self.round.category], "status": "publish"}})
        };
        let body = json!({"atomic": true, "requests": (0..PARTS).map(part).collect::<Vec<_>>()});
        let began = self.clock.now();
        let reply = self.send("POST", "/batch/v1", (Some(&body), None), true);
        let meaning = self.meaning(&reply, "a group");
        self.wrote(began, &meaning, Deed::Make(group));
        self.round.made.lock().expect("no panic holds it").push(group);
        if let (Meaning::Done, Reply::Answer(answer)) = (meaning, reply) {
            let parts = answer.body["responses"].as_array().expect("a list");
            let ids = parts.iter().map(|part| part["body"]["id"].as_i64().expect("an id")).collect();
            self.round.groups.lock().expect("no panic holds it").push((group, ids));
        }
    }

    fn unmake_group(&mut self) {
        let (group, ids) = {
            let mut groups = self.round.groups.lock().expect("no panic holds it");
            if groups.len() < 4 {
                return;
            }
            let chosen = self.dice.below(groups.len());
            groups.swap_remove(chosen)
        };
        let part = |id: &i64| json!({"method": "DELETE", "path": format!("/cms/v2/posts/{id}?force=true")});
        let body = json!({"atomic": true, "requests": ids.iter().map(part).collect::<Vec<_>>()});
        let began = self.clock.now();
        let reply = self.send("POST", "/batch/v1", (Some(&body), None), true);
        let meaning = self.meaning(&reply, "a removal");
        self.wrote(began, &meaning, Deed::Unmake(group));
        if meaning == Meaning::Refused {
            self.round.groups.lock().expect("no panic holds it").push((group, ids));
        }
    }

    fn list(&mut self) {
        let began = self.clock.now();
        let route = format!("/cms/v2/posts?categories={}&per_page=100&_fields=id,title", self.round.category);
        let Some(answer) = self.get(&route) else { return };
        let (shown, total) = (parts(&answer.body), total(&answer));
        self.saw(began, Deed::Listed { shown, total });
    }

    fn search(&mut self) {
        let group = {
            let made = self.round.made.lock().expect("no panic holds it");
            if made.is_empty() {
                return;
            }
            *self.dice.of(&made[made.len().saturating_sub(8)..])
        };
        let began = self.clock.now();
        let word = self.round.word(group);
        let route = format!("/cms/v2/posts?categories={}&search={word}&_fields=id,title", self.round.category);
        let Some(answer) = self.get(&route) else { return };
        self.saw(began, Deed::Found { group, shown: parts(&answer.body) });
    }

    /// The total of a list, with or without its items, or the count of a term.
    fn count(&mut self) {
        let began = self.clock.now();
        let category = self.round.category;
        let (by, route) = match self.dice.below(3) {
            0 => ("a list", format!("/cms/v2/posts?categories={category}&per_page=1&_fields=id")),
            1 => (
                "a sorted list",
                format!("/cms/v2/posts?categories={category}&status=publish&orderby=title&per_page=1"),
            ),
            _ => ("the term", format!("/cms/v2/categories/{category}?_fields=count")),
        };
        let Some(answer) = self.get(&route) else { return };
        let total = answer.body["count"].as_u64().unwrap_or_else(|| total(&answer));
        self.saw(began, Deed::Counted { total, by });
    }

    fn walk(&mut self) {
        let began = self.clock.now();
        let order = *self.dice.of(&["orderby=date&order=desc", "orderby=id&order=asc", "orderby=title&order=asc"]);
        let category = self.round.category;
        let mut next = format!("/cms/v2/posts?categories={category}&{order}&per_page=4&_fields=id,title&_cursor=");
        let mut shown = Vec::new();
        // A page that fails is asked for again, as programs do.
        for _ in 0..200 {
            let Some(answer) = self.get(&next) else { continue };
            shown.extend(parts(&answer.body));
            let Some(link) = answer.header("link").and_then(next_page) else {
                self.saw(began, Deed::Walked(shown));
                return;
            };
            next = link;
        }
    }

    // ---------------------------------------------------------------------------------------- lists that grow

    /// The values of a list, and the entity tag of the record that has it.
    fn read_list(&mut self, list: usize) -> Option<(Vec<u64>, String)> {
        let began = self.clock.now();
        let answer = self.get(&format!("/library/v1/books/{}", self.round.books[list]))?;
        let values = subjects(&answer.body);
        self.saw(began, Deed::Transaction(Transaction { reads: vec![(list as u64, values.clone())], appends: vec![] }));
        Some((values, answer.header("etag")?.to_owned()))
    }

    fn read_list_of_dice(&mut self) -> Option<(usize, Vec<u64>, String)> {
        let list = self.dice.below(self.round.books.len());
        self.read_list(list).map(|(values, tag)| (list, values, tag))
    }

    /// All lists in one response.
    fn read_lists(&mut self) {
        let began = self.clock.now();
        let books = &self.round.books;
        let ids: Vec<String> = books.iter().map(i64::to_string).collect();
        let Some(answer) = self.get(&format!("/library/v1/books?include={}&_fields=id,subjects", ids.join(","))) else {
            return;
        };
        let documents = answer.body.as_array().into_iter().flatten();
        let place = |document: &Value| books.iter().position(|book| document["id"] == *book);
        let reads = documents.filter_map(|document| Some((place(document)? as u64, subjects(document)))).collect();
        self.saw(began, Deed::Transaction(Transaction { reads, appends: vec![] }));
    }

    fn append(&mut self) {
        let Some((list, values, tag)) = self.read_list_of_dice() else { return };
        let value = self.round.value();
        let body = with(&values, &[value]);
        let began = self.clock.now();
        let reply =
            self.send("PUT", &format!("/library/v1/books/{}", self.round.books[list]), (Some(&body), Some(&tag)), true);
        let list = list as u64;
        let transaction = Transaction { reads: vec![(list, values)], appends: vec![(list, value)] };
        let meaning = self.meaning(&reply, "an append");
        self.wrote(began, &meaning, Deed::Transaction(transaction));
    }

    /// Appends to two lists in one commit.
    fn append_to_two(&mut self) {
        let Some(one) = self.read_list_of_dice() else { return };
        let Some(other) = self.read_list_of_dice().filter(|other| other.0 != one.0) else { return };
        let value = self.round.value();
        let part = |(list, values, tag): &(usize, Vec<u64>, String)| {
            self.append_part(*list, with(values, &[value]), Some(tag))
        };
        let body = json!({"atomic": true, "requests": [part(&one), part(&other)]});
        let (first, second) = (one.0 as u64, other.0 as u64);
        let transaction = Transaction {
            reads: vec![(first, one.1), (second, other.1)],
            appends: vec![(first, value), (second, value)],
        };
        self.transact(&body, transaction);
    }

    /// Appends to one list twice in one commit.
    fn append_twice(&mut self) {
        let Some((list, values, tag)) = self.read_list_of_dice() else { return };
        let (first, second) = (self.round.value(), self.round.value());
        let one = self.append_part(list, with(&values, &[first]), Some(&tag));
        let other = self.append_part(list, with(&values, &[first, second]), None);
        let list = list as u64;
        let transaction = Transaction { reads: vec![(list, values)], appends: vec![(list, first), (list, second)] };
        self.transact(&json!({"atomic": true, "requests": [one, other]}), transaction);
    }

    fn append_part(&self, list: usize, body: Value, tag: Option<&str>) -> Value {
        let headers = tag.map_or(json!({}), |tag| json!({"If-Match": tag}));
        json!({"method": "PUT", "path": format!("/library/v1/books/{}", self.round.books[list]), "headers": headers, "body": body})
    }

    fn transact(&mut self, body: &Value, transaction: Transaction) {
        let began = self.clock.now();
        let reply = self.send("POST", "/batch/v1", (Some(body), None), true);
        let meaning = self.meaning(&reply, "a transaction");
        self.wrote(began, &meaning, Deed::Transaction(transaction));
    }
}

/// The number of a text after its mark.
fn number(text: &Value, mark: &str) -> u64 {
    let number = text.as_str().and_then(|text| text.strip_prefix(mark)?.parse().ok());
    number.unwrap_or_else(|| panic!("{text} is no number after {mark}"))
}

/// Which parts of groups the documents of a list are.
fn parts(list: &Value) -> Vec<Part> {
    let part = |document: &Value| {
        let title = document["title"]["rendered"].as_str()?;
        let (group, part) = title.split_once("z p")?;
        Some((group.get(6..)?.parse().ok()?, part.parse().ok()?))
    };
    let documents = list.as_array().into_iter().flatten();
    documents.map(|document| part(document).unwrap_or_else(|| panic!("{document} is no part"))).collect()
}

fn total(answer: &Answer) -> u64 {
    let total = answer.header("x-cms-total").and_then(|total| total.parse().ok());
    total.unwrap_or_else(|| panic!("no total: {:?} {}", answer.headers, answer.text))
}

/// The route of the next page.
fn next_page(link: &str) -> Option<String> {
    let next = link.split(", <").find(|one| one.contains("rel=\"next\""))?;
    let address = next.trim_start_matches('<').split('>').next()?;
    Some(address.split_once("/cms-json")?.1.to_owned())
}

fn subjects(document: &Value) -> Vec<u64> {
    document["subjects"].as_array().into_iter().flatten().map(|value| number(value, "")).collect()
}

fn with(values: &[u64], more: &[u64]) -> Value {
    let all: Vec<String> = values.iter().chain(more).map(u64::to_string).collect();
    json!({"subjects": all})
}
