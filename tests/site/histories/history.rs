//! The recorded operations of clients, each with the moments between which it took effect.

/// Nanoseconds since the history began, on one clock for all clients. No two are the same.
pub type Moment = u64;

/// The end of an operation without a response: it may take effect at any time, or never.
pub const NEVER: Moment = u64::MAX;

/// The outcome of a write as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was acknowledged.
    Done,
    /// It was refused: nothing is written.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// Operations on one record, which has a value or is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The record is made.
    Create(u64),
    /// It gets a value, whatever it had.
    Write(u64),
    /// It gets the second value if it has the first (`If-Match`).
    Swap(u64, u64),
    /// A swap was refused with 412: the record has another value than this.
    Differs(u64),
    /// The record goes.
    Remove,
    /// A reader saw this, or a write found no record.
    Read(Option<u64>),
}

/// A group of records, all of which are made in one commit and removed in one.
pub type Group = u64;

/// A part of a group: the group, and the part's number from 0.
pub type Part = (Group, u64);

/// Lists to which transactions append, by a number.
pub type List = u64;

/// A transaction on appended lists: what it read before it wrote, and what it appended, in this order.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    pub reads: Vec<(List, Vec<u64>)>,
    pub appends: Vec<(List, u64)>,
}

/// An operation.
#[derive(Clone, Debug)]
pub enum Deed {
    /// On one record. A step that reads is always `Done`.
    Record(i64, Step),
    /// All parts of a group are made.
    Make(Group),
    /// All of them are removed.
    Unmake(Group),
    /// One response with all parts of all groups that there are, and the total that it names.
    Listed {
        shown: Vec<Part>,
        total: u64,
    },
    /// A search for one group.
    Found {
        group: Group,
        shown: Vec<Part>,
    },
    /// A total alone, in parts, and what has told it.
    Counted {
        total: u64,
        by: &'static str,
    },
    /// A walk through all parts, page by page.
    Walked(Vec<Part>),
    Transaction(Transaction),
}

/// An operation of a client with its time.
#[derive(Clone, Debug)]
pub struct Event {
    pub client: usize,
    pub began: Moment,
    /// `NEVER` where the outcome is unknown.
    pub ended: Moment,
    pub outcome: Outcome,
    pub deed: Deed,
}
