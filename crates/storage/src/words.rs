//! The dictionary: names of kinds, statuses, relations, tables and spaces, each with a small number that never changes.
//!
//! One number per word, whatever it is used for, so that a copied column compares equal to its source.

use super::plan::Name;
use super::statement::{Result, Statements, int, text_at};
use std::collections::HashMap;

/// A number that no word ever has: used for unknown words.
pub(super) const NO_WORD: i64 = -1;

/// The words known at one time.
#[derive(Clone, Default)]
pub(super) struct Words {
    numbers: HashMap<Name, i64>,
    names: HashMap<i64, Name>,
}

impl Words {
    /// The whole dictionary.
    pub fn load(conn: &dyn Statements) -> Result<Words> {
        let mut words = Words::default();
        for row in conn.select("SELECT number, word FROM dictionary", &[])? {
            words.insert(int(&row, 0), text_at(&row, 1).unwrap_or_default());
        }
        Ok(words)
    }

    /// All words with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &Name)> {
        self.names.iter().map(|(number, word)| (*number, word))
    }

    /// Adds a word with its number.
    pub fn insert(&mut self, number: i64, word: Name) {
        self.numbers.insert(word.clone(), number);
        self.names.insert(number, word);
    }

    /// Removes a word whose transaction was rolled back.
    pub fn remove(&mut self, word: &str) {
        if let Some(number) = self.numbers.remove(word) {
            self.names.remove(&number);
        }
    }

    /// The word's number, if it has one.
    pub fn number(&self, word: &str) -> Option<i64> {
        self.numbers.get(word).copied()
    }

    /// The word of this number.
    pub fn name(&self, number: i64) -> Option<&Name> {
        self.names.get(&number)
    }

    /// The number that the next new word gets.
    pub fn next(&self) -> i64 {
        self.names.keys().max().map_or(1, |n| n + 1)
    }
}
