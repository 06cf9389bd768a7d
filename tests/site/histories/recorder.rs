//! Clients that record what they ask and what they are answered, while servers are killed and cut off.

use super::client::{Client, Clock, Round};
use super::history::Event;
use crate::relay::Relay;
use crate::server::Server;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::RwLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Clients that ask at once.
const CLIENTS: usize = 6;

/// Lists to which transactions append.
const LISTS: usize = 4;

/// Servers over one database, and how what they are asked is disturbed.
pub struct Site {
    pub servers: Vec<Server>,
    /// Relays between some of the servers and their database.
    pub relays: Vec<Relay>,
    /// How old a response may be: nothing, or what `cache.consistency = "bounded"` allows.
    pub lag: Duration,
    /// Operations of a round: the history that is checked as one.
    pub operations: u64,
}

/// A round: what the clients saw, and answers that no fault excuses.
pub struct Recorded {
    pub events: Vec<Event>,
    pub problems: Vec<String>,
}

impl Recorded {
    /// How many operations of each kind there are, and how they ended.
    pub fn summary(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for event in &self.events {
            let kind = format!("{:?}", event.deed).split(['(', ' ']).next().unwrap_or_default().to_owned();
            *counts.entry(format!("{kind} {:?}", event.outcome)).or_default() += 1;
        }
        counts
    }
}

impl Site {
    /// Plays one round: `number` names its records. Each server is killed once, each relay cut once.
    pub fn round(&mut self, number: u64) -> Recorded {
        let round = self.begin(number);
        let clock = Clock::default();
        let addresses = RwLock::new(self.addresses());
        let secret = self.servers[0].admin.clone();
        let lag = u64::try_from(self.lag.as_nanos()).expect("a short time");
        let client = |n: usize| Client::new((n, number), &secret, &round, &clock, &addresses, lag);
        let mut recorded = std::thread::scope(|threads| {
            let running: Vec<_> = (0..CLIENTS)
                .map(|n| {
                    let mut client = client(n);
                    threads.spawn(move || {
                        while client.works_on() {
                            client.act();
                        }
                        client.recorded()
                    })
                })
                .collect();
            self.disturb(&round, &addresses);
            let ended: Vec<Recorded> =
                running.into_iter().map(|client| client.join().expect("a client ends")).collect();
            Recorded {
                problems: ended.iter().flat_map(|one| one.problems.clone()).collect(),
                events: ended.into_iter().flat_map(|one| one.events).collect(),
            }
        });
        // Each server is asked for all there is in the end.
        for node in 0..self.servers.len() {
            let mut last = client(CLIENTS + node);
            last.stay_at(node);
            last.read_everything();
            let last = last.recorded();
            recorded.events.extend(last.events);
            recorded.problems.extend(last.problems);
        }
        recorded
    }

    fn addresses(&self) -> Vec<String> {
        self.servers.iter().map(|server| server.rest.clone()).collect()
    }

    /// Makes what a round needs, undisturbed.
    fn begin(&self, number: u64) -> Round {
        let made = |route: &str, body| {
            let made = self.servers[0].admin("POST", route, Some(&body));
            assert_eq!(made.status, 201, "{}", made.text);
            made.body["id"].as_i64().expect("an id")
        };
        let category = made("/cms/v2/categories", json!({"name": format!("Round {number}")}));
        let book = |n| {
            made("/library/v1/books", json!({"title": format!("List {n} of {number}"), "pages": 1, "subjects": []}))
        };
        Round::new(number, category, (0..LISTS).map(book).collect(), self.operations)
    }

    /// Kills and cuts, spread over the operations of a round.
    fn disturb(&mut self, round: &Round, addresses: &RwLock<Vec<String>>) {
        let (faults, most) = ((self.servers.len() + self.relays.len()) as u64, self.operations);
        let reached = |operations: u64| {
            while round.operations.load(Ordering::Relaxed) < operations {
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        let mut number = 0;
        let mut turn = || {
            number += 1;
            number * most / (faults + 1)
        };
        for node in 0..self.servers.len() {
            reached(turn());
            self.servers[node].kill_and_restart();
            *addresses.write().expect("no panic holds it") = self.addresses();
        }
        for relay in &self.relays {
            let begin = turn();
            reached(begin);
            relay.cut();
            reached(begin + most / 20);
            relay.restore();
        }
    }
}
