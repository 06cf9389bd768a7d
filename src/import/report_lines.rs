//! The lines of a report: for people one below the other, for programs as JSON. An import and a proposal have the same form.

use serde_json::{Map, Value, json};
use std::fmt;

#[derive(Debug, PartialEq, Eq)]
enum ReportSort {
    Count,
    LeftOut,
    Note,
}

/// See the module.
#[derive(Debug, Default)]
pub struct ReportLines(Vec<(ReportSort, Option<u64>, String)>);

impl ReportLines {
    /// Adds how many of something there are.
    pub fn count(&mut self, n: u64, what: impl Into<String>) {
        self.0.push((ReportSort::Count, Some(n), what.into()));
    }

    /// Adds what stays out, with the reason, and how many of it there are.
    pub fn leave_out(&mut self, n: Option<u64>, what: impl Into<String>) {
        self.0.push((ReportSort::LeftOut, n, what.into()));
    }

    /// Adds a sentence.
    pub fn note(&mut self, text: impl Into<String>) {
        self.0.push((ReportSort::Note, None, text.into()));
    }

    /// Whether there is a line.
    pub fn has_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Adds the lines of another report.
    pub fn append(&mut self, mut other: ReportLines) {
        self.0.append(&mut other.0);
    }

    /// For programs: `counts` by what they count, sentences on what is `left_out`, further `notes`.
    pub fn to_json(&self) -> Map<String, Value> {
        let of = |sort: ReportSort| self.0.iter().filter(move |(own, ..)| *own == sort);
        let sentence = |(_, n, text): &(ReportSort, Option<u64>, String)| match n {
            Some(n) => format!("{n} {text}"),
            None => text.clone(),
        };
        let counts: Map<String, Value> = of(ReportSort::Count).map(|(_, n, what)| (what.clone(), json!(n))).collect();
        let left_out: Vec<String> = of(ReportSort::LeftOut).map(sentence).collect();
        let notes: Vec<String> = of(ReportSort::Note).map(sentence).collect();
        let members = [("counts", json!(counts)), ("left_out", json!(left_out)), ("notes", json!(notes))];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl fmt::Display for ReportLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (sort, n, text)) in self.0.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            let mark = if *sort == ReportSort::LeftOut { "left out: " } else { "" };
            match n {
                Some(n) => write!(f, "{end}{n:>8} {mark}{text}")?,
                None => write!(f, "{end}{mark}{text}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_get_the_same() {
        let mut lines = ReportLines::default();
        lines.count(12, "terms");
        lines.leave_out(Some(2), "rows of a table");
        lines.leave_out(None, "languages");
        let mut more = ReportLines::default();
        more.note("nothing was written");
        lines.append(more);
        let text = "      12 terms\n       2 left out: rows of a table\nleft out: languages\nnothing was written";
        assert_eq!(lines.to_string(), text);
        let expected = json!({"counts": {"terms": 12}, "left_out": ["2 rows of a table", "languages"], "notes": ["nothing was written"]});
        assert_eq!(Value::Object(lines.to_json()), expected);
    }
}
