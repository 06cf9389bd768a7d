//! The search of a request, as conditions on rows and as an order of the matches.

use crate::error::ApiError;
use crate::registry::args::{Arg, ArgRole, ArgSet};
use crate::registry::name;
use crate::request::args::ArgValues;
use cms_storage::plan::{Cond, Name, Order};
use cms_text::search::{UNLIMITED, Word};
use serde_json::Value;

/// The search of a request: every word, as a substring, in one of the columns; `"a phrase"`; `-without`. Outside
/// content the whole text is one word. When it is exact, a word is the whole of a column.
pub struct Search {
    /// Records are searched by words, and those with them in the title come first; others by the whole text.
    by_words: bool,
    text: String,
    pub words: Vec<Word>,
    /// A word has to be the whole of a column.
    exact: bool,
}

impl Search {
    /// The search of a request; `None` without one.
    ///
    /// # Errors
    /// It has more words than its argument allows.
    pub fn asked(args: &ArgValues, set: &ArgSet, by_words: bool) -> Result<Option<Search>, ApiError> {
        let Some(arg) = set.role(ArgRole::Search) else { return Ok(None) };
        let text = args.get(&arg.name).and_then(Value::as_str).unwrap_or("").trim();
        if text.is_empty() {
            return Ok(None);
        }
        let exact = args.role(set, ArgRole::SearchSemantics).and_then(Value::as_str) == Some("exact");
        let words =
            if by_words { words_within(arg, text)? } else { vec![Word { text: text.to_owned(), without: false }] };
        Ok(Some(Search { by_words, text: text.to_owned(), words, exact }))
    }

    /// The conditions that rows have to meet.
    pub fn conditions(&self, columns: &[Name]) -> Vec<Cond> {
        let condition = |word: &Word| {
            let found = self.found(columns.to_vec(), &word.text);
            if word.without { Cond::Not(Box::new(found)) } else { found }
        };
        self.words.iter().map(condition).collect()
    }

    /// Rows with the text in one of the columns.
    fn found(&self, columns: Vec<Name>, text: &str) -> Cond {
        if self.exact { Cond::Same(columns, text.into()) } else { Cond::Contains(columns, text.into()) }
    }

    /// The whole phrase in the title, every word in the title, any word in the title, then what follows in the list of
    /// searched columns; newest first within each, or oldest first.
    pub fn relevance(&self, columns: &[Name], newest: bool) -> Vec<Order> {
        let mut order = Vec::new();
        let words: Vec<&Word> = self.words.iter().filter(|w| !w.without).collect();
        let mut columns = columns.iter();
        let Some(title) = columns.next().filter(|_| self.by_words) else { return order };
        let within = |column: &Name, text: &str| self.found(vec![column.clone()], text);
        if words.len() > 1 {
            order.push(Order::First(within(title, &self.text)));
        }
        order.push(Order::First(Cond::All(words.iter().map(|w| within(title, &w.text)).collect())));
        if words.len() > 1 {
            order.push(Order::First(Cond::Any(words.iter().map(|w| within(title, &w.text)).collect())));
        }
        // Outside the title all matches of a single word rank equally.
        for column in columns.filter(|_| words.len() > 1) {
            order.push(Order::First(within(column, &self.text)));
        }
        order.push(Order::Column(name("date_local"), newest));
        order
    }
}

/// The words of a search text.
///
/// # Errors
/// There are more than the argument allows.
pub fn words_within(arg: &Arg, text: &str) -> Result<Vec<Word>, ApiError> {
    let limit = arg.words.as_ref().unwrap_or(&UNLIMITED);
    limit.words(text).ok_or_else(|| {
        ApiError::invalid_one(&arg.name, format!("{} takes at most {} words and phrases.", arg.name, limit.most))
    })
}
