//! Searching rows by parts of their texts: a trigram index.
//!
//! The index only narrows: it names the rows that may contain a text, and the text itself decides, so a search means
//! the same with and without it. A write adds a row to `search_todo`, in its own transaction; the writer indexes those
//! rows when it has nothing else to do. A search uses the index and the rows that are not indexed yet, so it is never
//! stale.

use super::super::StorageError;
use super::super::catalogue::{Catalogue, Table};
use super::super::connection;
use super::super::fold::fold;
use super::super::migrate::{keep, kept};
use super::super::plan::{Cond, DbValue, Name, ReadPlan};
use super::super::words::Words;
use rusqlite::{Connection, OptionalExtension, Result};
use std::borrow::Cow;
use std::collections::HashSet;

/// Most rows that a search looks up one by one; more are scanned in the order of the list.
const CANDIDATES: i64 = 100_000;

/// Letters of an entry of the index: shorter texts are in too many rows to be looked up.
const LETTERS: usize = 3;

/// What separates the entries that the index takes for a row. Texts that contain it are found without the index.
const SEPARATOR: char = '\u{1f}';

/// The layout of the index. An index with another layout is rebuilt.
const LAYOUT: u32 = 2;

/// Most trigrams that a search uses: the first few narrow as well as all.
const ENTRIES: usize = 24;

fn index_name(table: &Table) -> String {
    format!("search_{}", table.def.name)
}

/// Rows that are taken into the index at once.
pub(super) const TAKEN_IN: i64 = 64;

/// Brings the indexes to what the catalogue searches. What is new is left for the writer to take in.
pub(in super::super) fn renew(
    conn: &dyn connection::Connection,
    catalogue: &Catalogue,
    words: &Words,
) -> connection::Result<()> {
    conn.batch(
        "CREATE TABLE IF NOT EXISTS search_todo (\"table\" INTEGER NOT NULL, id INTEGER NOT NULL, \
         PRIMARY KEY (\"table\", id)) WITHOUT ROWID",
    )?;
    for table in &catalogue.tables {
        let columns: Vec<&str> = table.searched.iter().map(|place| &*table.def.columns[*place].name).collect();
        let (columns, key) = (columns.join(" "), format!("search:{}", table.def.name));
        let before = kept(conn, &key)?.unwrap_or_default();
        let layout = format!("{LAYOUT} {columns}");
        if *before == *layout || columns.is_empty() && before.is_empty() {
            continue;
        }
        let (index, number) = (index_name(table), words.number(&table.def.name).unwrap_or(0));
        conn.batch(&format!("DROP TABLE IF EXISTS \"{index}\"; DELETE FROM search_todo WHERE \"table\" = {number}"))?;
        if !columns.is_empty() {
            conn.batch(&format!(
                "CREATE VIRTUAL TABLE \"{index}\" USING fts5(text, content='', contentless_delete=1, detail=none, \
                 tokenize={}); \
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

/// The trigrams of a text, each once: most occur many times, and the index takes as long for each.
fn distinct(text: &str) -> String {
    let mut seen = HashSet::with_capacity_and_hasher(text.len().min(2048), foldhash::fast::RandomState::default());
    let mut all = String::with_capacity(text.len().min(1 << 16));
    // Where the last letters began, and the letters as one number: the newest is the least, each has 21 bits.
    let (mut starts, mut letters, mut usable) = ([0; LETTERS], 0_u64, 0);
    for (at, letter) in text.char_indices() {
        starts.rotate_left(1);
        starts[LETTERS - 1] = at;
        letters = (letters << 21 | u64::from(letter)) & ((1 << (21 * LETTERS)) - 1);
        usable = if in_entries(letter) { usable + 1 } else { 0 };
        if usable >= LETTERS && seen.insert(letters) {
            all.push_str(&text[starts[0]..at + letter.len_utf8()]);
            all.push(SEPARATOR);
        }
    }
    all
}

/// Whether a letter can be part of a trigram in the index.
fn in_entries(letter: char) -> bool {
    letter != '\0' && letter != SEPARATOR
}

/// Whether a trigram can be in the index.
fn is_entry(trigram: &str) -> bool {
    trigram.chars().all(in_entries)
}

/// Counts the rows of a table that neither the index knows nor the writer has before it.
pub(in super::super) fn lost_text(table: &Table, number: i64) -> String {
    let (name, key, index) = (&table.def.name, &table.def.key.name, index_name(table));
    format!(
        "SELECT count(*) FROM \"{name}\" AS t WHERE NOT EXISTS (SELECT 1 FROM \"{index}_docsize\" AS d WHERE d.id = t.\"{key}\") \
         AND NOT EXISTS (SELECT 1 FROM search_todo AS w WHERE w.\"table\" = {number} AND w.id = t.\"{key}\")"
    )
}

/// The plan with the candidate rows named; unchanged where that would not help.
pub(super) fn narrowed<'p>(
    conn: &Connection,
    catalogue: &Catalogue,
    words: &Words,
    plan: &'p ReadPlan,
) -> std::result::Result<Cow<'p, ReadPlan>, StorageError> {
    let as_it_is = Ok(Cow::Borrowed(plan));
    let table = catalogue.table(&plan.table)?;
    let mut needles = Vec::new();
    if table.searched.is_empty() || !sought(&plan.filter, table, &mut needles) {
        return as_it_is;
    }
    let entries = entries(&needles);
    if entries.is_empty() {
        return as_it_is;
    }
    let index = index_name(table);
    let select = format!("SELECT rowid FROM \"{index}\" WHERE \"{index}\" MATCH ?1 LIMIT {}", CANDIDATES + 1);
    let mut ids: Vec<DbValue> = ids(conn, &select, [&entries])?;
    let number = words.number(&table.def.name).unwrap_or(0);
    let waiting = format!("SELECT id FROM search_todo WHERE \"table\" = ?1 LIMIT {}", CANDIDATES + 1);
    ids.extend(self::ids(conn, &waiting, [number])?);
    if ids.len() as i64 > CANDIDATES {
        return as_it_is;
    }
    let named = Cond::In(table.def.key.name.clone(), ids);
    Ok(Cow::Owned(ReadPlan { filter: Cond::All(vec![named, plan.filter.clone()]), ..plan.clone() }))
}

fn ids<P: rusqlite::Params>(conn: &Connection, text: &str, params: P) -> Result<Vec<DbValue>> {
    conn.prepare_cached(text)?.query_map(params, |row| Ok(DbValue::Int(row.get(0)?)))?.collect()
}

/// Gathers the texts that every row of the outcome has to hold in an indexed column. False where the filter names rows
/// itself.
fn sought<'p>(filter: &'p Cond, table: &Table, needles: &mut Vec<&'p str>) -> bool {
    let indexed = |name: &Name| table.searched.iter().any(|place| *table.def.columns[*place].name == **name);
    match filter {
        Cond::All(conds) => conds.iter().all(|cond| sought(cond, table, needles)),
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

/// The query for the index: every trigram of every text.
fn entries(needles: &[&str]) -> String {
    let mut all: Vec<String> = Vec::new();
    for needle in needles {
        let letters: Vec<char> = fold(needle).chars().collect();
        for three in letters.windows(LETTERS).map(|three| three.iter().collect::<String>()).filter(|t| is_entry(t)) {
            let entry = format!("\"{}\"", three.replace('"', "\"\""));
            if all.len() < ENTRIES && !all.contains(&entry) {
                all.push(entry);
            }
        }
    }
    all.join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_each_trigram_once() {
        for (text, entries) in [
            ("", vec![]),
            ("ab", vec![]),
            ("abc", vec!["abc"]),
            ("ababab", vec!["aba", "bab"]),
            ("é 'x", vec!["é '", " 'x"]),
            ("a\0bcd\u{1f}efg", vec!["bcd", "efg"]),
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
                .query_row("SELECT rowid FROM i WHERE i MATCH ?1", [entries(&[&needle])], |row| row.get(0))
                .unwrap_or_else(|error| panic!("{needle:?}: {error}"));
            assert_eq!(found, 7);
        }
    }

    #[test]
    fn texts_are_asked_for_in_threes() {
        for (needles, asked) in [
            (vec!["ab"], ""),
            (vec!["Élan"], "\"ela\" AND \"lan\""),
            (vec!["a\"b", "abcd"], "\"a\"\"b\" AND \"abc\" AND \"bcd\""),
            (vec!["aaaa"], "\"aaa\""),
            (vec!["a\0bc"], ""),
            (vec!["a\u{1f}bc"], ""),
        ] {
            assert_eq!(entries(&needles), asked, "{needles:?}");
        }
    }
}
