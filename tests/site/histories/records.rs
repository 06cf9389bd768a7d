//! Whether the history of each record could have happened one operation after another, each within its time.

use super::groups::Spans;
use super::history::{Deed, Event, Moment, Outcome, Part, Step};
use std::collections::BTreeMap;
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;

/// A record: its value, or `None` where it is not there. An operation is a step, and whether it is certain.
struct Record;

impl Specification for Record {
    type State = Option<u64>;
    type Operation = (Step, bool);

    fn init() -> Self::State {
        None
    }

    fn apply((step, certain): &Self::Operation, state: &Self::State) -> (bool, Self::State) {
        let (fits, next) = match *step {
            Step::Create(value) => (state.is_none(), Some(value)),
            Step::Write(value) => (state.is_some(), Some(value)),
            Step::Swap(expected, value) => (*state == Some(expected), Some(value)),
            Step::Differs(value) => (state.is_some_and(|held| held != value), *state),
            Step::Remove => (state.is_some(), None),
            Step::Read(seen) => (*state == seen, *state),
        };
        // One without a response ends after all others, and may do nothing.
        if *certain { (fits, next) } else { (true, if fits { next } else { *state }) }
    }
}

/// One operation on a record: when it began and ended, what it was, whether it is certain.
type Operation = (Moment, Moment, Step, bool);

fn is_linearizable(operations: &[Operation]) -> bool {
    let ends = |(number, &(began, ended, step, certain)): (usize, &Operation)| {
        [(began, number, Action::Call((step, certain))), (ended, number, Action::Response((step, certain)))]
    };
    let mut ends: Vec<_> = operations.iter().enumerate().flat_map(ends).collect();
    ends.sort_by_key(|(moment, ..)| *moment);
    // Each operation is a process of its own.
    WGLChecker::<Record>::is_linearizable(History::from_actions(
        ends.into_iter().map(|(_, number, action)| (number, action)).collect(),
    ))
}

/// The records, and the groups as one each, that are not linearizable. A refused operation has not happened.
pub fn violations(events: &[Event], spans: &Spans) -> Vec<String> {
    let mut records: BTreeMap<(&str, i64), Vec<Operation>> = BTreeMap::new();
    let mut put = |key, event: &Event, step| {
        let certain = event.outcome == Outcome::Done;
        records.entry(key).or_default().push((event.began, event.ended, step, certain));
    };
    for event in events.iter().filter(|event| event.outcome != Outcome::Refused) {
        let seen = |group: u64, shown: &[Part]| Step::Read(shown.iter().any(|part| part.0 == group).then_some(group));
        match &event.deed {
            Deed::Record(record, step) => put(("record", *record), event, *step),
            Deed::Make(group) => put(("group", group.cast_signed()), event, Step::Create(*group)),
            Deed::Unmake(group) => put(("group", group.cast_signed()), event, Step::Remove),
            Deed::Found { group, shown } => put(("group", group.cast_signed()), event, seen(*group, shown)),
            Deed::Listed { shown, .. } => {
                for group in spans.keys() {
                    put(("group", group.cast_signed()), event, seen(*group, shown));
                }
            }
            Deed::Counted { .. } | Deed::Walked(_) | Deed::Transaction(_) => {}
        }
    }
    let broken = records.into_iter().filter(|(_, operations)| !is_linearizable(operations));
    broken.map(|((what, id), operations)| format!("{what} {id} is not linearizable: {operations:?}")).collect()
}
