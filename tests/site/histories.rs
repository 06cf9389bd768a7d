//! Histories: clients create, change, swap, append, delete, list, count, search and walk at once, while servers are killed and
//! cut off from their database. Everything that they asked and were answered is recorded, and a checker decides afterwards
//! whether one database with one clock could have answered so.

mod client;
mod cycles;
mod groups;
mod history;
mod planted;
mod recorder;
mod records;

use super::books;
use super::relay::Relay;
use super::server::Server;
use history::Event;
use recorder::Site;
use std::time::{Duration, Instant};

/// How old a response of a node may be that was cached before another node has written (`cache.consistency = "bounded"`).
const LAG: Duration = Duration::from_secs(2);

/// All that contradicts a history.
fn violations(events: &[Event]) -> Vec<String> {
    let spans = groups::spans(events);
    [records::violations(events, &spans), groups::violations(events, &spans), cycles::violations(events)].concat()
}

/// Writes a history into a file, in the order of its ends, and says where.
fn told_in_full(events: &[Event]) -> String {
    let mut events: Vec<&Event> = events.iter().collect();
    events.sort_by_key(|event| (event.ended, event.began));
    let lines: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    let path = std::env::temp_dir().join(format!("history-{}.txt", std::process::id()));
    std::fs::write(&path, lines.join("\n")).expect("a file");
    format!("the history is in {}", path.display())
}

/// Plays one round, or as many as `CMS_TEST_HISTORIES` has seconds for.
fn play(mut site: Site) {
    let seconds = std::env::var("CMS_TEST_HISTORIES").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(0);
    let (began, mut operations) = (Instant::now(), 0);
    for round in 1.. {
        let recorded = site.round(round);
        let violations = violations(&recorded.events);
        operations += recorded.events.len();
        let told = recorded.summary();
        println!("{:?}: round {round}, {operations} operations in all; {told:?}", began.elapsed());
        assert_eq!(recorded.problems, Vec::<String>::new(), "round {round}");
        assert!(violations.is_empty(), "round {round}: {}\n{}", violations.join("\n"), told_in_full(&recorded.events));
        if began.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
}

/// Three servers over a database of PostgreSQL, one of them by way of a relay.
fn three(sets: &[&str], lag: Duration) -> Option<Site> {
    let first = Server::over(books::folder(), sets);
    let relay = Relay::before(&first.storage())?;
    let (second, third) = (first.beside(), first.beside_with(&[&relay.storage]));
    Some(Site { servers: vec![first, second, third], relays: vec![relay], lag, operations: 400 })
}

#[test]
fn a_server_that_is_killed_answers_as_one_database_would() {
    play(Site {
        servers: vec![Server::over(books::folder(), &[])],
        relays: vec![],
        lag: Duration::ZERO,
        operations: 900,
    });
}

#[test]
fn strict_nodes_answer_as_one_database_would() {
    three(&["cache.consistency=strict"], Duration::ZERO).into_iter().for_each(play);
}

#[test]
fn bounded_nodes_answer_as_one_database_would_with_old_responses() {
    three(&[], LAG).into_iter().for_each(play);
}
