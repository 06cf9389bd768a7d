//! Derived values computed from scratch: copies in edges, counts, tallies. The writer updates them by differences;
//! this is for when there is no previous value.

use super::catalogue::{Catalogue, Relation, Table, TableId, Tally};
use super::connection::Connection;
use super::layout_table::{keep, kept};
use super::migrate::each_value;
use super::plan::{ColumnType, DbValue, Name, States};
use super::statement::{Result, int, params};
use super::tally::{ALL_AUTHORS, NO_AUTHOR};
use super::words::{NO_WORD, Words};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Most findings of one kind that an examination lists.
pub(super) const LISTED: usize = 20;

/// Recomputes what belongs to relations, counts and tallies that are new or whose declaration has changed.
pub(super) fn renew(conn: &dyn Connection, catalogue: &Catalogue, words: &Words) -> Result<()> {
    let mut recount: BTreeSet<(Name, Name)> = BTreeSet::new();
    for relation in &catalogue.relations {
        let def = &relation.def;
        let definition = format!("{def:?}{}", rule_of_states(&catalogue.tables[relation.src]));
        if changed(conn, &format!("relation:{}", def.name), &definition)? {
            number_states(conn, &catalogue.tables[relation.src])?;
            link_inner_keys(conn, catalogue, words, relation)?;
            copy_to_edges(conn, catalogue, words, relation)?;
            recount.extend(def.counted.iter().map(|c| (def.dst.clone(), c.column.clone())));
        }
    }
    for count in catalogue.tables.iter().flat_map(|t| &t.counts) {
        let def = &count.def;
        let name = format!("count:{}.{}.{}.{}", def.table, def.reference, def.parent, def.column);
        if changed(conn, &name, &format!("{def:?}"))? {
            recount.insert((def.parent.clone(), def.column.clone()));
        }
    }
    for (table, column) in recount {
        conn.batch(&recount_text(catalogue, words, &table, &[column]))?;
    }
    for table in &catalogue.tables {
        let Some(tally) = &table.tally else { continue };
        let definition = match (&table.def.states, tally.author) {
            (Some(states), _) => format!("{}{}", states.column, rule_of_states(table)),
            (None, _) if tally.kind.is_none() => "rows".to_owned(),
            (None, Some(_)) => "kind status author".to_owned(),
            (None, None) => "kind status".to_owned(),
        };
        if changed(conn, &format!("tally:{}", table.def.name), &definition)? {
            number_states(conn, table)?;
            conn.batch(&tally_text(table, tally, words))?;
        }
    }
    Ok(())
}

/// Where stored values differ from recomputed ones, in sentences, at most `most` of each kind.
pub(super) fn differences(conn: &dyn Connection, catalogue: &Catalogue, most: usize) -> Result<Vec<String>> {
    let words = Words::load(conn)?;
    let mut found = Vec::new();
    for table in &catalogue.tables {
        let (name, key) = (&table.def.name, &table.def.key.name);
        for column in &table.counted {
            let terms = recount_terms(catalogue, &words, name, column);
            let sum = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
            let text = format!(
                "SELECT \"{key}\", \"{column}\", {sum} AS n FROM \"{name}\" WHERE \"{column}\" IS DISTINCT FROM {sum} LIMIT {most}"
            );
            for row in conn.select(&text, &[])? {
                let (id, kept, counted) = (int(&row, 0), int(&row, 1), int(&row, 2));
                found.push(format!("{name} {id}: {column} says {kept}, there are {counted}"));
            }
        }
        let Some(tally) = &table.tally else { continue };
        let number = number(&words, name);
        for author in [ALL_AUTHORS.to_string(), format!("coalesce(author, {NO_AUTHOR})")]
            .iter()
            .take(1 + usize::from(tally.author.is_some()))
        {
            let kept = format!(
                "SELECT coalesce((SELECT n FROM tally WHERE \"table\" = {number} AND kind = k AND status = s AND author = a), 0)"
            );
            let text = format!(
                "SELECT count(*) FROM (SELECT {} AS k, {} AS s, {author} AS a, count(*) AS c \
                 FROM \"{name}\" GROUP BY 1, 2, 3) AS t WHERE c IS DISTINCT FROM ({kept})",
                tallied_by(table, tally.kind),
                tallied_by(table, tally.status),
            );
            let n = conn.number(&text, &[])?.unwrap_or(0);
            if n > 0 {
                found.push(format!("{n} tallies of {name} differ from its rows"));
            }
        }
    }
    Ok(found)
}

fn changed(conn: &dyn Connection, name: &str, definition: &str) -> Result<bool> {
    if kept(conn, name)?.as_deref() == Some(definition) {
        return Ok(false);
    }
    keep(conn, name, definition)?;
    Ok(true)
}

/// Makes the edges of a relation whose targets are keys inside values.
fn link_inner_keys(conn: &dyn Connection, catalogue: &Catalogue, words: &Words, relation: &Relation) -> Result<()> {
    let Some(keys) = &relation.def.inside else { return Ok(()) };
    let rel = number(words, &relation.def.name);
    conn.send("DELETE FROM edge WHERE rel = ?1", params![rel])?;
    let (table, column) = match keys.column.split_once('.') {
        Some((extension, column)) => (&catalogue.table(extension)?.def, column),
        None => (&catalogue.tables[relation.src].def, &*keys.column),
    };
    let target = &catalogue.tables[relation.dst].def;
    let text = format!(
        "INSERT INTO edge (rel, src, dst, pos) SELECT {rel}, ?1, \"{key}\", ?3 FROM \"{}\" WHERE \"{key}\" = ?2",
        target.name,
        key = target.key.name
    );
    each_value(conn, &table.name, (&table.key.name, table.key.ty), column, &mut |source, value| {
        let DbValue::Text(json) = value else { return Ok(ControlFlow::Continue(())) };
        for (place, key) in keys.of_text(json).into_iter().enumerate() {
            conn.send(&text, params![source, key, place as i64])?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn copy_to_edges(conn: &dyn Connection, catalogue: &Catalogue, words: &Words, relation: &Relation) -> Result<()> {
    let table = &catalogue.tables[relation.src];
    let copy = |value: String| {
        format!("(SELECT {value} FROM \"{}\" WHERE \"{}\" = edge.src)", table.def.name, table.def.key.name)
    };
    let text = format!(
        "UPDATE edge SET status = {}, sort = {} WHERE rel = {}",
        relation.status.map_or("NULL".to_owned(), |status| copy(as_word(table, status))),
        relation.def.sort.as_ref().map_or("NULL".to_owned(), |sort| copy(format!("\"{sort}\""))),
        number(words, &relation.def.name)
    );
    conn.batch(&text)
}

/// Recomputes count columns of a table, in all its rows. A column may be fed by several relations and counts.
pub(super) fn recount_text(catalogue: &Catalogue, words: &Words, table: &str, columns: &[Name]) -> String {
    let sum = |column: &Name| {
        let terms = recount_terms(catalogue, words, table, column);
        format!("\"{column}\" = {}", if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") })
    };
    let sets: Vec<String> = columns.iter().map(sum).collect();
    format!("UPDATE \"{table}\" SET {}", sets.join(", "))
}

fn recount_terms(catalogue: &Catalogue, words: &Words, table: &str, column: &str) -> Vec<String> {
    let key = catalogue.table(table).map(|t| t.def.key.name.clone()).unwrap_or_else(|_| "id".into());
    let among = |of: TableId, column: &str, statuses: &[Name]| {
        let word = catalogue.tables[of].column(column).is_ok_and(|c| c.ty == ColumnType::Word);
        let text = |s: &Name| if word { number(words, s).to_string() } else { format!("'{}'", s.replace('\'', "''")) };
        let members: Vec<String> = statuses.iter().map(text).collect();
        format!("IN ({})", members.join(", "))
    };
    let mut terms = Vec::new();
    for relation in &catalogue.relations {
        let def = &relation.def;
        let Some(counted) = def.counted.as_ref().filter(|c| *def.dst == *table && *c.column == *column) else {
            continue;
        };
        let status = match &def.status {
            Some(status) => format!(" AND status {}", among(relation.src, status, &counted.statuses)),
            None => String::new(),
        };
        let rel = number(words, &def.name);
        terms.push(format!("(SELECT count(*) FROM edge WHERE rel = {rel} AND dst = \"{table}\".\"{key}\"{status})"));
    }
    for (of, count) in catalogue.tables.iter().flat_map(|t| t.counts.iter().map(|c| (t.id, c))) {
        let def = &count.def;
        if *def.parent == *table && *def.column == *column {
            terms.push(format!(
                "(SELECT count(*) FROM \"{}\" AS c WHERE c.\"{}\" = \"{table}\".\"{key}\" AND c.\"{}\" {})",
                def.table,
                def.reference,
                def.status,
                among(of, &def.status, &def.statuses)
            ));
        }
    }
    terms
}

/// Takes the stored states that are not declared into the dictionary.
fn number_states(conn: &dyn Connection, table: &Table) -> Result<()> {
    let Some(States { column, .. }) = &table.def.states else { return Ok(()) };
    let name = &table.def.name;
    conn.batch(&format!(
        "INSERT INTO dictionary (number, word) \
         SELECT (SELECT coalesce(max(number), 0) FROM dictionary) + row_number() OVER (ORDER BY state), state \
         FROM (SELECT DISTINCT \"{column}\" AS state FROM \"{name}\") AS found \
         WHERE state IS NOT NULL AND state NOT IN (SELECT word FROM dictionary)"
    ))
}

/// Values of a column of states can change with its rule.
fn rule_of_states(table: &Table) -> &str {
    let column = table.def.states.as_ref().and_then(|states| table.column(&states.column).ok());
    column.and_then(|column| column.rule.as_ref()).map_or("", |rule| &rule.definition)
}

/// The number under which a tally has a tracked column; `at` is its place.
fn tallied_by(table: &Table, at: Option<usize>) -> String {
    at.map_or("0".to_owned(), |at| format!("coalesce({}, 0)", as_word(table, at)))
}

/// A tracked column as a number of the dictionary.
fn as_word(table: &Table, at: usize) -> String {
    let column = &table.def.columns[table.tracked[at]];
    match column.ty {
        ColumnType::Word => format!("\"{}\"", column.name),
        _ => format!("(SELECT number FROM dictionary WHERE word = \"{}\".\"{}\")", table.def.name, column.name),
    }
}

fn tally_text(table: &Table, tally: &Tally, words: &Words) -> String {
    let number = number(words, &table.def.name);
    let name = &table.def.name;
    let mut text = format!("DELETE FROM tally WHERE \"table\" = {number};");
    let mut count = |author: &str| {
        text += &format!(
            "INSERT INTO tally (\"table\", kind, status, author, n) \
             SELECT {number}, {} AS k, {} AS s, {author} AS a, count(*) FROM \"{name}\" GROUP BY 2, 3, 4;",
            tallied_by(table, tally.kind),
            tallied_by(table, tally.status),
        );
    };
    count(&ALL_AUTHORS.to_string());
    if tally.author.is_some() {
        count(&format!("coalesce(author, {NO_AUTHOR})"));
    }
    text
}

fn number(words: &Words, word: &str) -> i64 {
    words.number(word).unwrap_or(NO_WORD)
}
