//! Faults that are written into histories by hand: the checker finds each, and nothing in the same history without it.

use super::history::{Deed, Event, List, Moment, NEVER, Outcome, Part, Step, Transaction};
use super::violations;

fn event((began, ended): (Moment, Moment), outcome: Outcome, deed: Deed) -> Event {
    Event { client: 0, began, ended, outcome, deed }
}

fn done(time: (Moment, Moment), deed: Deed) -> Event {
    event(time, Outcome::Done, deed)
}

fn step(time: (Moment, Moment), step: Step) -> Event {
    done(time, Deed::Record(1, step))
}

fn group(number: u64) -> Vec<Part> {
    (0..3).map(|part| (number, part)).collect()
}

fn transaction(reads: &[(List, &[u64])], appends: &[(List, u64)]) -> Deed {
    let reads = reads.iter().map(|(list, values)| (*list, values.to_vec())).collect();
    Deed::Transaction(Transaction { reads, appends: appends.to_vec() })
}

/// A history in which nothing is wrong, and another one with a fault; what the checker says of that.
fn check(said: &str, sound: &[Event], faulty: &[Event]) {
    assert_eq!(violations(sound), Vec::<String>::new(), "{said}: the sound history");
    let found = violations(faulty);
    assert!(found.iter().any(|violation| violation.contains(said)), "{said}: {found:?}");
}

/// The same beginning with one end or another.
fn ends(said: &str, beginning: &[Event], sound: Event, faulty: Event) {
    let with = |last: Event| [beginning, &[last]].concat();
    check(said, &with(sound), &with(faulty));
}

#[test]
fn a_stale_read_is_found() {
    let written = [step((0, 1), Step::Create(1)), step((2, 3), Step::Write(2))];
    ends(
        "record 1 is not linearizable",
        &written,
        step((4, 5), Step::Read(Some(2))),
        step((4, 5), Step::Read(Some(1))),
    );
}

#[test]
fn a_lost_update_of_a_record_is_found() {
    let written = [step((0, 1), Step::Create(1)), step((2, 5), Step::Swap(1, 2)), step((6, 9), Step::Read(Some(2)))];
    // Both were acknowledged, and both say that they have replaced the same value.
    ends("record 1 is not linearizable", &written, step((3, 4), Step::Differs(2)), step((3, 4), Step::Swap(1, 3)));
}

#[test]
fn an_acknowledged_write_that_a_kill_has_taken_is_found() {
    let lost = event((2, NEVER), Outcome::Unknown, Deed::Record(1, Step::Write(2)));
    let kept = step((2, 3), Step::Write(2));
    let after = step((8, 9), Step::Read(Some(1)));
    let made = step((0, 1), Step::Create(1));
    check("record 1 is not linearizable", &[made.clone(), lost, after.clone()], &[made, kept, after]);
}

#[test]
fn a_write_without_an_answer_that_is_shown_and_gone_again_is_found() {
    let unknown = event((2, NEVER), Outcome::Unknown, Deed::Record(1, Step::Write(2)));
    let seen = [step((0, 1), Step::Create(1)), unknown, step((3, 4), Step::Read(Some(2)))];
    ends("record 1 is not linearizable", &seen, step((5, 6), Step::Read(Some(2))), step((5, 6), Step::Read(Some(1))));
}

#[test]
fn a_deletion_that_is_undone_is_found() {
    let gone = [step((0, 1), Step::Create(1)), step((2, 3), Step::Remove)];
    ends("record 1 is not linearizable", &gone, step((4, 5), Step::Read(None)), step((4, 5), Step::Read(Some(1))));
}

#[test]
fn a_list_that_shows_half_a_transaction_is_found() {
    let made = [done((0, 1), Deed::Make(7))];
    let listed = |shown: Vec<Part>| done((2, 3), Deed::Listed { total: shown.len() as u64, shown });
    ends("half a transaction", &made, listed(group(7)), listed(vec![(7, 0), (7, 2)]));
}

#[test]
fn a_total_that_is_not_that_of_its_list_is_found() {
    let made = [done((0, 1), Deed::Make(7))];
    let listed = |total| done((2, 3), Deed::Listed { shown: group(7), total });
    ends("says that there are 6", &made, listed(3), listed(6));
}

#[test]
fn a_stale_total_is_found() {
    let made = [done((0, 1), Deed::Make(7)), done((2, 3), Deed::Make(8))];
    ends(
        "a total of 3",
        &made,
        done((4, 5), Deed::Counted { total: 6, by: "a list" }),
        done((4, 5), Deed::Counted { total: 3, by: "a list" }),
    );
    ends(
        "a total of 4",
        &made,
        done((2, 5), Deed::Counted { total: 3, by: "a list" }),
        done((2, 5), Deed::Counted { total: 4, by: "a list" }),
    );
}

#[test]
fn a_search_that_finds_what_is_gone_is_found() {
    let gone = [done((0, 1), Deed::Make(7)), done((2, 3), Deed::Unmake(7))];
    let found = |shown: Vec<Part>| done((4, 5), Deed::Found { group: 7, shown });
    ends("group 7 is not linearizable", &gone, found(vec![]), found(group(7)));
}

#[test]
fn a_cursor_that_skips_or_repeats_is_found() {
    let made = [done((0, 1), Deed::Make(7)), done((2, 3), Deed::Make(8)), done((5, 6), Deed::Unmake(8))];
    let walked = |parts: Vec<Part>| done((4, 9), Deed::Walked(parts));
    ends("a walk misses [(7, 1)]", &made, walked(group(7)), walked(vec![(7, 0), (7, 2)]));
    ends("a walk shows (7, 0) 2 times", &made, walked(group(7)), walked([group(7), vec![(7, 0)]].concat()));
    ends("a walk shows (9, 0)", &made, walked(group(7)), walked([group(7), vec![(9, 0)]].concat()));
    // Groups that come or go meanwhile may be shown in part.
    assert_eq!(violations(&[&made[..], &[walked([group(7), vec![(8, 1)]].concat())]].concat()), Vec::<String>::new());
}

#[test]
fn a_lost_append_is_found() {
    let first = done((0, 1), transaction(&[(1, &[])], &[(1, 1)]));
    let second = |read: &[u64]| done((2, 3), transaction(&[(1, read)], &[(1, 2)]));
    let read = |values: &[u64]| done((8, 9), transaction(&[(1, values)], &[]));
    check("lost: 1 of list 1", &[first.clone(), second(&[1]), read(&[1, 2])], &[first, second(&[]), read(&[2])]);
}

#[test]
fn a_dirty_read_is_found() {
    let refused = event((0, 5), Outcome::Refused, transaction(&[(1, &[])], &[(1, 1)]));
    let read = |values: &[u64]| done((2, 3), transaction(&[(1, values)], &[]));
    check("G1a", &[refused.clone(), read(&[])], &[refused, read(&[1])]);
}

#[test]
fn a_read_between_two_appends_of_a_transaction_is_found() {
    let two = done((0, 5), transaction(&[(1, &[])], &[(1, 1), (1, 2)]));
    let read = |values: &[u64]| done((2, 3), transaction(&[(1, values)], &[]));
    check("G1b", &[two.clone(), read(&[1, 2])], &[two, read(&[1])]);
}

/// Two transactions that append to two lists, and what is read of these later.
fn crossed(order: &[u64]) -> Vec<Event> {
    let append = |value| done((0, 5), transaction(&[], &[(1, value), (2, value)]));
    vec![append(1), append(2), done((8, 9), transaction(&[(1, &[1, 2]), (2, order)], &[]))]
}

#[test]
fn two_transactions_that_are_each_before_the_other_are_found() {
    check("G0", &crossed(&[1, 2]), &crossed(&[2, 1]));
}

#[test]
fn transactions_that_read_each_other_are_found() {
    let one = |read: &[u64]| done((0, 5), transaction(&[(2, read)], &[(1, 1)]));
    let other = done((0, 5), transaction(&[(1, &[1])], &[(2, 1)]));
    let read = done((8, 9), transaction(&[(1, &[1]), (2, &[1])], &[]));
    check("G1c", &[one(&[]), other.clone(), read.clone()], &[one(&[1]), other, read]);
}

#[test]
fn a_reader_between_two_states_is_found() {
    let both = done((0, 5), transaction(&[], &[(1, 1), (2, 1)]));
    let read = |values: &[u64]| done((1, 4), transaction(&[(1, values), (2, &[1])], &[]));
    let last = done((8, 9), transaction(&[(1, &[1]), (2, &[1])], &[]));
    check("G-single", &[both.clone(), read(&[1]), last.clone()], &[both, read(&[]), last]);
}

#[test]
fn two_writers_that_do_not_see_each_other_are_found() {
    let one = |read: &[u64]| done((0, 5), transaction(&[(2, read), (1, &[])], &[(1, 1)]));
    let other = done((0, 5), transaction(&[(1, &[]), (2, &[])], &[(2, 1)]));
    let read = done((8, 9), transaction(&[(1, &[1]), (2, &[1])], &[]));
    check("G2", &[one(&[1]), other.clone(), read.clone()], &[one(&[]), other, read]);
}

#[test]
fn an_order_that_time_contradicts_is_found() {
    let append = |time, value| done(time, transaction(&[], &[(1, value)]));
    let read = done((8, 9), transaction(&[(1, &[2, 1])], &[]));
    let sound = [append((0, 5), 1), append((2, 3), 2), read.clone()];
    check("G0-realtime", &sound, &[append((0, 1), 1), append((2, 3), 2), read]);
}
