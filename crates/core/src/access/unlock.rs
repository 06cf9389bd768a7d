//! The record password of a request: what it opens, and whether it was right.
//!
//! Every comparison of such a password goes through [`RecordPassword::opens`], so that the engine knows afterwards whether the
//! request was a guess, wherever it was compared: in a guard, in a list, or for `Allow`. It counts nothing itself.

use super::hashing::same_text;
use super::throttle::PasswordCheck;
use crate::request::args::ArgSources;
use serde_json::Value;
use std::cell::Cell;

/// See the module's description.
pub struct RecordPassword<'a> {
    /// The password as it was sent.
    pub text: &'a str,
    right: Cell<bool>,
    wrong: Cell<bool>,
}

impl<'a> RecordPassword<'a> {
    /// The password that a request brings for the record that it reads or, `comments`, comments on. That of a record is in
    /// the query, whatever the method: in a body it is the one that the record is to have. An empty one is none.
    pub fn of(comments: bool, sources: &ArgSources<'a>) -> Option<RecordPassword<'a>> {
        let sent = if comments { sources.get("password") } else { sources.query.get("password") };
        let text = sent.and_then(Value::as_str).filter(|text| !text.is_empty())?;
        Some(RecordPassword { text, right: Cell::new(false), wrong: Cell::new(false) })
    }

    /// Whether it is the password of a record; what has no password is opened by none.
    pub fn opens(&self, lock: &str) -> bool {
        let right = !lock.is_empty() && same_text(self.text, lock);
        if right {
            self.right.set(true);
        } else if !lock.is_empty() {
            self.wrong.set(true);
        }
        right
    }

    /// The outcome. In a list of several records it is right if it opened one of them.
    pub fn outcome(&self) -> PasswordCheck {
        match (self.right.get(), self.wrong.get()) {
            (true, _) => PasswordCheck::Right,
            (false, true) => PasswordCheck::Wrong,
            (false, false) => PasswordCheck::Unused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::BodyParams;
    use serde_json::{Map, json};

    #[test]
    fn a_password_is_judged_by_what_it_met() {
        let query = json!({"password": "key"}).as_object().cloned().expect("an object");
        let (path, body) = (Map::new(), BodyParams::None);
        let sources = ArgSources { path: &path, body: &body, query: &query };
        let given = || RecordPassword::of(false, &sources).expect("a password");
        let check = |locks: &[&str], expected: PasswordCheck| {
            let given = given();
            for lock in locks {
                assert_eq!(given.opens(lock), *lock == "key");
            }
            assert_eq!(given.outcome(), expected, "{locks:?}");
        };
        check(&[], PasswordCheck::Unused);
        check(&["", ""], PasswordCheck::Unused);
        check(&["key"], PasswordCheck::Right);
        check(&["other"], PasswordCheck::Wrong);
        check(&["", "Key"], PasswordCheck::Wrong);
        check(&["other", "key", "kez"], PasswordCheck::Right);
        assert!(RecordPassword::of(true, &sources).is_some());
        let empty = json!({"password": ""}).as_object().cloned().expect("an object");
        let sources = ArgSources { query: &empty, ..sources };
        assert!(RecordPassword::of(false, &sources).is_none());
        // In a body it is a record's new password, and opens a comment's record.
        let body = BodyParams::Json(json!({"password": "key"}).as_object().cloned().expect("an object"));
        let none = Map::new();
        let sources = ArgSources { path: &none, body: &body, query: &none };
        assert!(RecordPassword::of(false, &sources).is_none());
        assert!(RecordPassword::of(true, &sources).is_some());
    }
}
