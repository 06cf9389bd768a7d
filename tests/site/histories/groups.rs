//! Lists, totals, searches and walks over groups of records that are made and removed in one commit.

use super::history::{Deed, Event, Group, Moment, NEVER, Outcome, Part};
use std::collections::BTreeMap;

/// The number of parts of a group.
pub const PARTS: u64 = 3;

/// When a group is there.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// From here on it may be there, and is there for certain.
    from: (Moment, Moment),
    /// From here on it may be gone, and is gone for certain.
    until: (Moment, Moment),
}

impl Span {
    fn is_there_throughout(&self, began: Moment, ended: Moment) -> bool {
        self.from.1 <= began && ended <= self.until.0
    }

    fn may_be_there(&self, began: Moment, ended: Moment) -> bool {
        self.from.0 <= ended && began <= self.until.1
    }
}

/// The groups of a history that may ever have been there.
pub type Spans = BTreeMap<Group, Span>;

pub fn spans(events: &[Event]) -> Spans {
    let mut spans = Spans::new();
    let happened = |event: &&Event| event.outcome != Outcome::Refused;
    for event in events.iter().filter(happened) {
        if let Deed::Make(group) = event.deed {
            spans.insert(group, Span { from: (event.began, event.ended), until: (NEVER, NEVER) });
        }
    }
    for event in events.iter().filter(happened) {
        let Deed::Unmake(group) = event.deed else { continue };
        let Some(span) = spans.get_mut(&group) else { continue };
        span.until = (span.until.0.min(event.began), span.until.1.min(event.ended));
    }
    spans
}

/// The lists, totals, searches and walks that do not show groups whole, or not all that were there throughout. `ended`
/// of a walk is that of its last page.
pub fn violations(events: &[Event], spans: &Spans) -> Vec<String> {
    let mut found = Vec::new();
    for event in events {
        let Event { client, began, ended, .. } = *event;
        let mut tell = |why: String| found.push(format!("client {client}, {began} to {ended}: {why}"));
        match &event.deed {
            Deed::Listed { shown, total } => {
                whole(shown).into_iter().for_each(&mut tell);
                if *total != shown.len() as u64 {
                    tell(format!("a list of {} says that there are {total}", shown.len()));
                }
            }
            Deed::Found { shown, .. } => whole(shown).into_iter().for_each(tell),
            Deed::Counted { total, by } => {
                let count = |there: &dyn Fn(&Span) -> bool| spans.values().filter(|span| there(span)).count() as u64;
                let least = count(&|span| span.is_there_throughout(began, ended)) * PARTS;
                let most = count(&|span| span.may_be_there(began, ended)) * PARTS;
                if total % PARTS != 0 || !(least..=most).contains(total) {
                    tell(format!("a total of {total} by {by}, where there are {least} to {most} in groups of {PARTS}"));
                }
            }
            Deed::Walked(shown) => walk(shown, spans, (began, ended)).into_iter().for_each(tell),
            Deed::Record(..) | Deed::Make(_) | Deed::Unmake(_) | Deed::Transaction(_) => {}
        }
    }
    found
}

/// The faults of the groups of one response: each is shown whole, and once.
fn whole(shown: &[Part]) -> Vec<String> {
    let mut parts: BTreeMap<Group, Vec<u64>> = BTreeMap::new();
    shown.iter().for_each(|(group, part)| parts.entry(*group).or_default().push(*part));
    parts.values_mut().for_each(|parts| parts.sort_unstable());
    let expected: Vec<u64> = (0..PARTS).collect();
    let broken = parts.into_iter().filter(|(_, parts)| *parts != expected);
    broken.map(|(group, parts)| format!("half a transaction: of group {group} the parts {parts:?} are shown")).collect()
}

/// The faults of a walk. A good one misses nothing that was there throughout, and shows nothing twice.
fn walk(shown: &[Part], spans: &Spans, (began, ended): (Moment, Moment)) -> Vec<String> {
    let mut times: BTreeMap<Part, usize> = BTreeMap::new();
    shown.iter().for_each(|part| *times.entry(*part).or_default() += 1);
    let mut found: Vec<String> = times
        .iter()
        .filter(|(_, times)| **times > 1)
        .map(|(part, times)| format!("a walk shows {part:?} {times} times"))
        .collect();
    for (group, span) in spans.iter().filter(|(_, span)| span.is_there_throughout(began, ended)) {
        let missed: Vec<Part> = (0..PARTS).map(|n| (*group, n)).filter(|part| !times.contains_key(part)).collect();
        if !missed.is_empty() {
            found.push(format!("a walk misses {missed:?}, there from {} to {}", span.from.1, span.until.0));
        }
    }
    let strange =
        times.keys().filter(|(group, _)| !spans.get(group).is_some_and(|span| span.may_be_there(began, ended)));
    found.extend(strange.map(|part| format!("a walk shows {part:?}, which was not there")));
    found
}
