//! Anomalies of transactions that append to lists and read them (Kingsbury and Alvaro, "Elle", 2020): what was read says in
//! which order values were appended, so each transaction is before or after others; a cycle of these cannot be serial.

use super::history::{Deed, Event, List, Moment, Outcome, Transaction};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Why one transaction is before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// The other one has appended the next value (write to write).
    Appended,
    /// The other one has read its value (write to read).
    Read,
    /// The other one has appended the value after the last that this one has read (anti-dependency).
    Overwritten,
    /// It had ended before the other one began.
    Time,
}

struct Graph {
    after: Vec<Vec<(usize, Before)>>,
}

impl Graph {
    fn put(&mut self, one: usize, other: usize, why: Before) {
        if one != other && !self.after[one].contains(&(other, why)) {
            self.after[one].push((other, why));
        }
    }

    /// The shortest way from one transaction to another over allowed edges.
    fn way(&self, from: usize, to: usize, allowed: &[Before]) -> Option<Vec<(usize, Before)>> {
        let mut came: HashMap<usize, (usize, Before)> = HashMap::new();
        let mut next = VecDeque::from([from]);
        while let Some(at) = next.pop_front() {
            for &(other, why) in self.after[at].iter().filter(|(_, why)| allowed.contains(why)) {
                if other == from || came.contains_key(&other) {
                    continue;
                }
                came.insert(other, (at, why));
                if other == to {
                    let mut way = vec![];
                    let mut back = to;
                    while back != from {
                        let (at, why) = came[&back];
                        way.push((back, why));
                        back = at;
                    }
                    way.reverse();
                    return Some(way);
                }
                next.push_back(other);
            }
        }
        None
    }

    /// A cycle that begins with an edge of one kind and goes back over others.
    fn cycle(&self, first: Before, back: &[Before]) -> Option<Vec<(usize, Before)>> {
        let edges = self.after.iter().enumerate().flat_map(|(one, after)| after.iter().map(move |edge| (one, *edge)));
        edges.filter(|(_, (_, why))| *why == first).find_map(|(one, (other, why))| {
            let way = self.way(other, one, back)?;
            Some([vec![(other, why)], way].concat())
        })
    }
}

/// The classes of cycles with their names: the edge that each has, and what leads back.
const CLASSES: &[(&str, Before, &[Before])] = &[
    ("G0", Before::Appended, &[Before::Appended]),
    ("G1c", Before::Read, &[Before::Appended, Before::Read]),
    ("G-single", Before::Overwritten, &[Before::Appended, Before::Read]),
    ("G2", Before::Overwritten, &[Before::Appended, Before::Read, Before::Overwritten]),
    ("G1c-realtime", Before::Read, &[Before::Appended, Before::Read, Before::Time]),
    ("G0-realtime", Before::Appended, &[Before::Appended, Before::Time]),
    ("G-single-realtime", Before::Overwritten, &[Before::Appended, Before::Read, Before::Time]),
    ("G2-realtime", Before::Overwritten, &[Before::Appended, Before::Read, Before::Overwritten, Before::Time]),
];

/// The contradictions to transactions that are serial, in an order that is also that of their times.
pub fn violations(events: &[Event]) -> Vec<String> {
    let happened: Vec<(&Event, &Transaction)> = events
        .iter()
        .filter_map(|event| match &event.deed {
            Deed::Transaction(transaction) => Some((event, transaction)),
            _ => None,
        })
        .collect();
    let mut writers: HashMap<(List, u64), usize> = HashMap::new();
    for (number, (_, transaction)) in happened.iter().enumerate() {
        writers.extend(transaction.appends.iter().map(|append| (*append, number)));
    }
    let mut found = Vec::new();
    let mut orders: BTreeMap<List, &[u64]> = BTreeMap::new();
    for (number, (event, transaction)) in happened.iter().enumerate().filter(|(_, (e, _))| e.outcome == Outcome::Done) {
        for (list, values) in &transaction.reads {
            found.extend(values_read(number, event, (*list, values), &happened, &writers));
            let longest = orders.entry(*list).or_default();
            let common = longest.len().min(values.len());
            if longest[..common] != values[..common] {
                found.push(format!(
                    "list {list} was read as {longest:?} and as {values:?}: an append was lost or undone"
                ));
            }
            if values.len() > longest.len() {
                *longest = values;
            }
        }
    }
    found.extend(lost(&happened));
    if found.is_empty() {
        let graph = graph(&happened, &writers, &orders);
        found.extend(CLASSES.iter().filter_map(|(name, first, back)| {
            let cycle = graph.cycle(*first, back)?;
            let told = cycle.iter().map(|(number, why)| format!("{why:?} → {:?}", happened[*number]));
            Some(format!("{name}: {}", told.collect::<Vec<_>>().join("; ")))
        }));
    }
    found
}

/// The faults of the values of one read: twice there, from nobody, of a transaction that was refused (G1a), or between two
/// appends of one transaction (G1b).
fn values_read(
    reader: usize,
    event: &Event,
    (list, values): (List, &[u64]),
    happened: &[(&Event, &Transaction)],
    writers: &HashMap<(List, u64), usize>,
) -> Vec<String> {
    let mut found = Vec::new();
    let distinct: HashSet<&u64> = values.iter().collect();
    if distinct.len() != values.len() {
        found.push(format!("list {list} has a value twice: {values:?}, read by {event:?}"));
    }
    for value in values {
        match writers.get(&(list, *value)) {
            None => found.push(format!("nobody has appended {value} to list {list}, read by {event:?}")),
            Some(writer) if happened[*writer].0.outcome == Outcome::Refused => {
                found.push(format!("G1a: {value} of list {list} was refused, and is read by {event:?}"));
            }
            Some(_) => {}
        }
    }
    let writer = values.last().and_then(|last| writers.get(&(list, *last))).filter(|writer| **writer != reader);
    if let Some(writer) = writer {
        let last =
            happened[*writer].1.appends.iter().filter(|append| append.0 == list).map(|append| append.1).next_back();
        if last != values.last().copied() {
            found.push(format!("G1b: list {list} ends with {values:?} between two appends, read by {event:?}"));
        }
    }
    found
}

/// Acknowledged appends that a later reader does not see.
fn lost(happened: &[(&Event, &Transaction)]) -> Vec<String> {
    let done = || happened.iter().filter(|(event, _)| event.outcome == Outcome::Done);
    let mut found = Vec::new();
    for (writer, (list, value)) in done().flat_map(|(event, t)| t.appends.iter().map(move |append| (event, append))) {
        for (reader, values) in done().flat_map(|(event, t)| t.reads.iter().map(move |read| (event, read))) {
            if values.0 == *list && reader.began > writer.ended && !values.1.contains(value) {
                found.push(format!(
                    "lost: {value} of list {list}, acknowledged at {}, is not read by {reader:?}",
                    writer.ended
                ));
                break;
            }
        }
    }
    found
}

fn graph(
    happened: &[(&Event, &Transaction)],
    writers: &HashMap<(List, u64), usize>,
    orders: &BTreeMap<List, &[u64]>,
) -> Graph {
    let mut graph = Graph { after: vec![Vec::new(); happened.len()] };
    for (list, order) in orders {
        let by = |value: &u64| writers[&(*list, *value)];
        for pair in order.windows(2) {
            graph.put(by(&pair[0]), by(&pair[1]), Before::Appended);
        }
        for (number, (event, transaction)) in happened.iter().enumerate() {
            let reads = transaction.reads.iter().filter(|(read, _)| read == list && event.outcome == Outcome::Done);
            for (_, values) in reads {
                if let Some(last) = values.last() {
                    graph.put(by(last), number, Before::Read);
                }
                if let Some(next) = order.get(values.len()) {
                    graph.put(number, by(next), Before::Overwritten);
                }
            }
        }
    }
    // Those that nobody has seen are nowhere in the order; the others are before what began after them, of which the
    // earliest to end are enough.
    let known = |number: &usize| {
        let (event, transaction) = happened[*number];
        event.outcome == Outcome::Done
            || transaction
                .appends
                .iter()
                .any(|(list, value)| orders.get(list).is_some_and(|order| order.contains(value)))
    };
    let times: Vec<(usize, Moment, Moment)> =
        (0..happened.len()).filter(known).map(|n| (n, happened[n].0.began, happened[n].0.ended)).collect();
    for (one, _, ended) in &times {
        let later = || times.iter().filter(|(_, began, _)| began > ended);
        let Some(soon) = later().map(|(.., ended)| *ended).min() else { continue };
        later().filter(|(_, began, _)| *began <= soon).for_each(|(other, ..)| graph.put(*one, *other, Before::Time));
    }
    graph
}
