//! Searching rows by parts of their texts: a trigram index.
//!
//! A text of one or two letters is the beginning of trigrams. The last letters of a text, which begin none, are entries
//! themselves.
//!
//! The index only narrows: it names the rows that may contain a text, and the text itself decides, so a search means
//! the same with and without it. A write adds a row to `search_todo`, in its own transaction; the writer indexes those
//! rows when it has nothing else to do. A search uses the index and the rows that are not indexed yet, so it is never
//! stale.

use super::super::catalogue::{Catalogue, Table};
use super::super::connection;
use super::super::layout_table::{keep, kept};
use super::super::migrate::SEARCH_LAYOUT;
use super::super::plan::{Cond, DbValue, Name, ReadPlan};
use super::super::words::Words;
use crate::error::StorageError;
use cms_text::fold;
use rusqlite::{Connection, OptionalExtension, Result};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Most rows that a search looks up one by one; more are scanned in the order of the list.
const CANDIDATES: usize = 100_000;

/// So few rows are looked up without narrowing them further.
const FEW: usize = 64;

/// Letters of an entry of the index.
const LETTERS: usize = 3;

/// The separator of the entries that the index takes for a row. Texts that contain it are found without the index.
const SEPARATOR: char = '\u{1f}';

/// Most trigrams that a search uses: the first few narrow as well as all.
const ENTRIES: usize = 24;

/// Most texts of one or two letters that a search uses.
const SHORT: usize = 4;

/// Most frequent texts that a connection remembers.
const FREQUENT: usize = 1024;

/// A short text is looked up where it has at most one entry for so many rows: to read an entry costs as much as to look
/// into a row or two.
const SHARE: usize = 8;

pub(super) fn index_name(table: &Table) -> String {
    format!("search_{}", table.def.name)
}

/// The table that shows the entries of an index with their rows.
fn entries_name(table: &Table) -> String {
    format!("search_{}_entries", table.def.name)
}

/// Rows that are taken into the index at once.
pub(super) const TAKEN_IN: i64 = 64;

/// Brings the indexes to what the catalogue searches. What is new is left for the writer to take in.
pub(super) fn renew(
    conn: &dyn connection::Connection,
    catalogue: &Catalogue,
    words: &Words,
) -> crate::statement::Result<()> {
    conn.batch(
        "CREATE TABLE IF NOT EXISTS search_todo (\"table\" INTEGER NOT NULL, id INTEGER NOT NULL, \
         PRIMARY KEY (\"table\", id)) WITHOUT ROWID",
    )?;
    for table in &catalogue.tables {
        let columns: Vec<&str> = table.searched.iter().map(|place| &*table.def.columns[*place].name).collect();
        let (columns, key) = (columns.join(" "), format!("search:{}", table.def.name));
        let before = kept(conn, &key)?.unwrap_or_default();
        let layout = format!("{SEARCH_LAYOUT} {columns}");
        if *before == *layout || columns.is_empty() && before.is_empty() {
            continue;
        }
        let (index, number) = (index_name(table), words.number(&table.def.name).unwrap_or(0));
        let shown = entries_name(table);
        conn.batch(&format!(
            "DROP TABLE IF EXISTS \"{shown}\"; DROP TABLE IF EXISTS \"{index}\"; \
             DELETE FROM search_todo WHERE \"table\" = {number}"
        ))?;
        if !columns.is_empty() {
            conn.batch(&format!(
                "CREATE VIRTUAL TABLE \"{index}\" USING fts5(text, content='', contentless_delete=1, detail=none, \
                 tokenize={}); \
                 CREATE VIRTUAL TABLE \"{shown}\" USING fts5vocab(\"{index}\", instance); \
                 INSERT INTO search_todo (\"table\", id) SELECT {number}, \"{}\" FROM \"{}\"",
                tokenizer(),
                table.def.key.name,
                table.def.name
            ))?;
        }
        keep(conn, &key, if columns.is_empty() { "" } else { &layout })?;
    }
    Ok(())
}

/// Leaves a row for the index. `table` is the table's number in the dictionary.
pub(super) const NOTE: &str =
    "INSERT INTO search_todo (\"table\", id) VALUES (?1, ?2) ON CONFLICT (\"table\", id) DO NOTHING";

/// Takes rows that wait into the index; how many, at most `limit` for each table.
pub(super) fn take_in(conn: &Connection, catalogue: &Catalogue, words: &Words, limit: i64) -> Result<usize> {
    let mut taken = 0;
    for table in catalogue.tables.iter().filter(|table| !table.searched.is_empty()) {
        let (index, number) = (index_name(table), words.number(&table.def.name).unwrap_or(0));
        let ids: Vec<i64> = conn
            .prepare_cached("SELECT id FROM search_todo WHERE \"table\" = ?1 LIMIT ?2")?
            .query_map([number, limit], |row| row.get(0))?
            .collect::<Result<_>>()?;
        let columns: Vec<String> =
            table.searched.iter().map(|place| format!("\"{}\"", table.def.columns[*place].name)).collect();
        let (columns, key) = (columns.join(", "), &table.def.key.name);
        let mut select =
            conn.prepare_cached(&format!("SELECT {columns} FROM \"{}\" WHERE \"{key}\" = ?1", table.def.name))?;
        let mut forget = conn.prepare_cached(&format!("DELETE FROM \"{index}\" WHERE rowid = ?1"))?;
        let mut put = conn.prepare_cached(&format!("INSERT INTO \"{index}\" (rowid, text) VALUES (?1, ?2)"))?;
        let mut done = conn.prepare_cached("DELETE FROM search_todo WHERE \"table\" = ?1 AND id = ?2")?;
        for id in &ids {
            let text = select.query_row([id], |row| {
                let mut all = String::new();
                for place in 0..table.searched.len() {
                    if let rusqlite::types::ValueRef::Text(text) = row.get_ref(place)? {
                        all.push_str(&fold(&String::from_utf8_lossy(text)));
                        all.push('\n');
                    }
                }
                Ok(distinct(&all))
            });
            forget.execute([id])?;
            if let Some(text) = text.optional()? {
                put.execute((id, text))?;
            }
            done.execute((number, id))?;
        }
        taken += ids.len();
    }
    Ok(taken)
}

/// Splits a text at each [`SEPARATOR`] and nowhere else: every other letter belongs to an entry.
fn tokenizer() -> String {
    let others = (1..128_u8).map(char::from).filter(|c| !c.is_ascii_alphanumeric() && *c != SEPARATOR);
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    quoted(&format!("ascii tokenchars {}", quoted(&others.collect::<String>())))
}

/// The trigrams of a text and its last letters, each once: most occur many times, and the index takes as long for each.
fn distinct(text: &str) -> String {
    let mut seen = HashSet::with_capacity_and_hasher(text.len().min(2048), foldhash::fast::RandomState::default());
    let mut all = String::with_capacity(text.len().min(1 << 16));
    let mut take = |letters: u64, part: &str| {
        if seen.insert(letters) {
            all.push_str(part);
            all.push(SEPARATOR);
        }
    };
    for part in text.split(|letter| !in_entries(letter)) {
        // Where the last letters began, and the letters as one number: the newest is the least, each has 21 bits.
        let (mut starts, mut letters, mut usable) = ([0; LETTERS], 0_u64, 0);
        for (at, letter) in part.char_indices() {
            starts = [starts[1], starts[2], at];
            letters = (letters << BITS | u64::from(letter)) & lowest(LETTERS);
            usable += 1;
            if usable >= LETTERS {
                take(letters, &part[starts[0]..at + letter.len_utf8()]);
            }
        }
        for last in 1..LETTERS.min(usable + 1) {
            take(letters & lowest(last), &part[starts[LETTERS - last]..]);
        }
    }
    all
}

/// Bits of a letter.
const BITS: usize = 21;

/// The bits of so many letters.
const fn lowest(letters: usize) -> u64 {
    (1 << (BITS * letters)) - 1
}

/// Whether a letter can be part of a trigram in the index.
fn in_entries(letter: char) -> bool {
    letter != '\0' && letter != SEPARATOR
}

/// Whether a text can be in the index.
fn is_entry(text: &str) -> bool {
    text.chars().all(in_entries)
}

/// Counts the rows of a table that neither the index knows nor the writer has before it.
pub(super) fn lost_text(table: &Table, number: i64) -> String {
    let (name, key, index) = (&table.def.name, &table.def.key.name, index_name(table));
    format!(
        "SELECT count(*) FROM \"{name}\" AS t WHERE NOT EXISTS (SELECT 1 FROM \"{index}_docsize\" AS d WHERE d.id = t.\"{key}\") \
         AND NOT EXISTS (SELECT 1 FROM search_todo AS w WHERE w.\"table\" = {number} AND w.id = t.\"{key}\")"
    )
}

/// The plan with the candidate rows named; unchanged where that would not help.
pub(super) fn narrowed<'p>(
    (conn, frequent): (&Connection, &FrequentTexts),
    catalogue: &Catalogue,
    words: &Words,
    plan: &'p ReadPlan,
) -> std::result::Result<Cow<'p, ReadPlan>, StorageError> {
    let as_it_is = Ok(Cow::Borrowed(plan));
    let table = catalogue.table(&plan.table)?;
    let mut needles = Vec::new();
    if table.searched.is_empty() || !terms(&plan.filter, table, &mut needles) {
        return as_it_is;
    }
    let Some(mut ids) = candidates(conn, frequent, table, &needles)? else { return as_it_is };
    let number = words.number(&table.def.name).unwrap_or(0);
    let mut waiting = conn.prepare_cached("SELECT id FROM search_todo WHERE \"table\" = ?1 LIMIT ?2")?;
    let waiting = waiting.query_map((number, CANDIDATES as i64 + 1), |row| row.get::<_, i64>(0))?;
    ids.extend(waiting.collect::<Result<Vec<_>>>()?);
    if ids.len() > CANDIDATES {
        return as_it_is;
    }
    let named = Cond::In(table.def.key.name.clone(), ids.into_iter().map(DbValue::Int).collect());
    Ok(Cow::Owned(ReadPlan { filter: Cond::All(vec![named, plan.filter.clone()]), ..plan.clone() }))
}

/// The rows of which the index says that they may contain the texts; `None` where it does not narrow enough.
///
/// Trigrams come first: the index finds the rows that have all of them at once. Short texts are looked up where that
/// leaves many rows, and only as long as it costs less than to look into the rows: their entries are read one by one.
fn candidates(
    conn: &Connection,
    frequent: &FrequentTexts,
    table: &Table,
    needles: &[&str],
) -> Result<Option<Vec<i64>>> {
    let (index, terms) = (index_name(table), SearchTerms::new(needles));
    let mut found = Vec::new();
    let mut select = conn.prepare_cached(&format!("SELECT rowid FROM \"{index}\" WHERE \"{index}\" MATCH ?1"))?;
    let mut rows = if terms.trigrams.is_empty() { None } else { Some(select.query([&terms.trigrams])?) };
    let mut more = |found: &mut Vec<i64>, most: usize| -> Result<bool> {
        let Some(rows) = &mut rows else { return Ok(true) };
        while found.len() <= most {
            match rows.next()? {
                Some(row) => found.push(row.get(0)?),
                None => return Ok(false),
            }
        }
        Ok(true)
    };
    if !more(&mut found, FEW)? {
        return Ok(Some(found));
    }
    let Some(short) = beginning(conn, frequent, table, &terms.short)? else {
        let too_many = more(&mut found, CANDIDATES)?;
        return Ok((!too_many).then_some(found));
    };
    if !terms.trigrams.is_empty() && short.len() > FEW && !more(&mut found, CANDIDATES)? {
        found.retain(|id| short.contains(id));
        return Ok(Some(found));
    }
    Ok(Some(short.into_iter().collect()))
}

/// The rows that have, for each of the texts, an entry that begins with it. Texts with many entries are left out; `None`
/// where that leaves none.
fn beginning(conn: &Connection, frequent: &FrequentTexts, table: &Table, short: &[String]) -> Result<Option<Rows>> {
    if short.is_empty() {
        return Ok(None);
    }
    let (name, key) = (&table.def.name, &table.def.key.name);
    let last = format!("SELECT coalesce(max(\"{key}\"), 0) FROM \"{name}\"");
    let last: i64 = conn.prepare_cached(&last)?.query_row([], |row| row.get(0))?;
    let most = (usize::try_from(last).unwrap_or(0) / SHARE).min(CANDIDATES);
    let of = format!("SELECT doc FROM \"{}\" WHERE term >= ?1 AND term <= ?2 LIMIT ?3", entries_name(table));
    let mut select = conn.prepare_cached(&of)?;
    let mut all: Option<Rows> = None;
    for text in short.iter().filter(|text| !frequent.knows(table, text, last)) {
        let end = format!("{text}{}", String::from(char::MAX).repeat(LETTERS - 1));
        let (mut read, mut rows) = (0, Rows::default());
        let mut entries = select.query((text, &end, most as i64 + 1))?;
        while let Some(row) = entries.next()? {
            read += 1;
            rows.insert(row.get(0)?);
        }
        if read > most {
            frequent.learn(table, text, last);
            continue;
        }
        if let Some(others) = all {
            rows.retain(|id| others.contains(id));
        }
        all = Some(rows);
    }
    Ok(all)
}

/// Short texts with too many entries to be looked up, each with the last key of its table when that was found out: a
/// table that has grown since may have room for more.
#[derive(Default)]
pub(super) struct FrequentTexts(RefCell<HashMap<(Name, String), i64>>);

impl FrequentTexts {
    fn knows(&self, table: &Table, text: &str, last: i64) -> bool {
        let then = self.0.borrow().get(&(table.def.name.clone(), text.to_owned())).copied();
        then.is_some_and(|then| last / 2 < then)
    }

    fn learn(&self, table: &Table, text: &str, last: i64) {
        let mut all = self.0.borrow_mut();
        if all.len() >= FREQUENT {
            all.clear();
        }
        all.insert((table.def.name.clone(), text.to_owned()), last);
    }
}

/// Keys of rows.
type Rows = HashSet<i64, foldhash::fast::RandomState>;

/// Gathers the texts that every row of the outcome has to hold in an indexed column. False where the filter names rows
/// itself.
fn terms<'p>(filter: &'p Cond, table: &Table, needles: &mut Vec<&'p str>) -> bool {
    let indexed = |name: &Name| table.searched.iter().any(|place| *table.def.columns[*place].name == **name);
    match filter {
        Cond::All(conds) => conds.iter().all(|cond| terms(cond, table, needles)),
        Cond::Contains(columns, needle) | Cond::Same(columns, needle) => {
            if !columns.is_empty() && columns.iter().all(indexed) {
                needles.push(needle);
            }
            true
        }
        Cond::In(name, _) => *name != table.def.key.name,
        _ => true,
    }
}

/// The terms that texts are looked up by.
struct SearchTerms {
    /// The query for the index: every trigram of every text.
    trigrams: String,
    /// Texts that are shorter.
    short: Vec<String>,
}

impl SearchTerms {
    fn new(needles: &[&str]) -> SearchTerms {
        let (mut trigrams, mut short): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for needle in needles {
            let folded = fold(needle);
            let letters: Vec<char> = folded.chars().collect();
            if (1..LETTERS).contains(&letters.len()) && is_entry(&folded) && short.len() < SHORT {
                short.push(folded.to_string());
            }
            for three in letters.windows(LETTERS).map(|three| three.iter().collect::<String>()).filter(|t| is_entry(t))
            {
                let entry = format!("\"{}\"", three.replace('"', "\"\""));
                if trigrams.len() < ENTRIES && !trigrams.contains(&entry) {
                    trigrams.push(entry);
                }
            }
        }
        SearchTerms { trigrams: trigrams.join(" AND "), short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_each_entry_once() {
        for (text, entries) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("ab", vec!["b", "ab"]),
            ("abc", vec!["abc", "c", "bc"]),
            ("ababab", vec!["aba", "bab", "b", "ab"]),
            ("é 'x", vec!["é '", " 'x", "x", "'x"]),
            ("a\0bcd\u{1f}efg", vec!["a", "bcd", "d", "cd", "efg", "g", "fg"]),
        ] {
            let text = distinct(text);
            let found: Vec<&str> = text.split_terminator(SEPARATOR).collect();
            assert_eq!(found, entries);
        }
    }

    #[test]
    fn every_letter_can_be_searched() {
        let conn = Connection::open_in_memory().expect("a database");
        let create =
            format!("CREATE VIRTUAL TABLE i USING fts5(text, content='', detail=none, tokenize={})", tokenizer());
        conn.execute_batch(&create).expect("an index");
        let letters: String = (1..0x250_u32).filter_map(char::from_u32).filter(|c| *c != SEPARATOR).collect();
        let text = fold(&letters);
        conn.execute("INSERT INTO i (rowid, text) VALUES (7, ?1)", [distinct(&text)]).expect("a row");
        let letters: Vec<char> = text.chars().collect();
        for three in letters.windows(LETTERS) {
            let needle: String = three.iter().collect();
            let found: i64 = conn
                .query_row("SELECT rowid FROM i WHERE i MATCH ?1", [SearchTerms::new(&[&needle]).trigrams], |row| {
                    row.get(0)
                })
                .unwrap_or_else(|error| panic!("{needle:?}: {error}"));
            assert_eq!(found, 7);
        }
    }

    #[test]
    fn texts_are_looked_up_in_threes_or_by_their_beginnings() {
        for (needles, trigrams, short) in [
            (vec!["ab"], "", vec!["ab"]),
            (vec!["É", ""], "", vec!["e"]),
            (vec!["Élan", "7"], "\"ela\" AND \"lan\"", vec!["7"]),
            (vec!["a\"b", "abcd"], "\"a\"\"b\" AND \"abc\" AND \"bcd\"", vec![]),
            (vec!["aaaa"], "\"aaa\"", vec![]),
            (vec!["a\0bc"], "", vec![]),
            (vec!["a\u{1f}bc"], "", vec![]),
            (vec!["a\0"], "", vec![]),
        ] {
            let terms = SearchTerms::new(&needles);
            assert_eq!((&*terms.trigrams, terms.short), (trigrams, short.iter().map(|s| s.to_string()).collect()));
        }
    }
}
