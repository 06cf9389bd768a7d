//! SQLite's statistics of its tables. Without them, a list takes the index of a state that has two values, and sorts
//! every row.
//!
//! Tables are analysed when they have no statistics, or ten times or a tenth of the rows that they had. `ANALYZE` keeps the writer
//! waiting, so it looks at a sample alone; of a sample, a state with two values looks like one with many. So the values of each
//! index are counted beside it, in a state of the database that nobody waits for, and written over what the sample has given.

use super::super::budget;
use rusqlite::{Connection, Result};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Entries of an index that `ANALYZE` looks at for each of its columns.
const SAMPLE: u32 = 400;

/// Rows of the smallest table that is analysed. What is right for fewer of them, such as reading all, is wrong for many that are
/// added at once.
const FEWEST: i64 = 500;

/// The writer waits so long at most. What takes longer is left.
const HOLD: Duration = Duration::from_millis(50);

/// How long counting the values of a table's indexes may take; what is not counted by then stays as the sample has it.
const COUNTING: Duration = Duration::from_secs(10);

/// How long to wait for the writer.
const PATIENCE: Duration = Duration::from_millis(250);

/// Names the tables that have grown or shrunk since they were analysed, as statements.
const DUE: &str = "PRAGMA optimize(0x10003)";

/// Tables with indexes. Others have one plan, and `ANALYZE` would count them row by row.
const INDEXED: &str = "SELECT DISTINCT tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";

/// The indexes of a table that hold every row.
const INDEXES: &str = "SELECT name FROM pragma_index_list(?1) WHERE NOT partial";

/// The columns of an index; NULL is an expression.
const COLUMNS: &str = "SELECT name FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno";

/// Sets a connection up for [`renew`].
///
/// # Errors
/// SQLite does not take the settings.
pub fn prepare(conn: &Connection) -> Result<()> {
    conn.busy_timeout(PATIENCE)?;
    conn.pragma_update(None, "analysis_limit", SAMPLE)
}

/// Analyses the tables for which that is due. Connections that are open, also those of other processes, make new plans.
///
/// # Errors
/// Another process holds the lock for too long: it is tried again with the next call.
pub fn renew(conn: &Connection) -> Result<()> {
    let mut renewed = false;
    for table in due(conn)? {
        // A table for which there is no time keeps its plans until the next call.
        renewed |= analyse(conn, &table).is_ok();
    }
    if renewed {
        let version: i64 = conn.query_row("PRAGMA schema_version", [], |row| row.get(0))?;
        // Statistics are read with the definitions of the tables, and those when their version has changed.
        briefly(conn, || conn.execute_batch(&format!("PRAGMA schema_version = {}", version.wrapping_add(1))))?;
    }
    Ok(())
}

/// The tables that are to be analysed.
fn due(conn: &Connection) -> Result<Vec<String>> {
    let grown: HashSet<String> = texts(conn, DUE, &[])?.into_iter().flatten().collect();
    let indexed = texts(conn, INDEXED, &[])?.into_iter().flatten();
    let grown = indexed.filter(|table| grown.contains(&format!("ANALYZE \"main\".\"{table}\"")));
    let mut due = Vec::new();
    for table in grown {
        if count(conn, &format!("(SELECT 1 FROM \"{table}\" LIMIT {FEWEST})"))? == FEWEST {
            due.push(table);
        }
    }
    Ok(due)
}

fn analyse(conn: &Connection, table: &str) -> Result<()> {
    briefly(conn, || conn.execute_batch(&format!("ANALYZE \"{table}\"")))?;
    let counted = budget::until(Some(Instant::now() + COUNTING), || counted(conn, table)).unwrap_or_default();
    briefly(conn, || {
        let mut update = conn.prepare("UPDATE sqlite_stat1 SET stat = ?3 WHERE tbl = ?1 AND idx = ?2")?;
        counted.iter().try_for_each(|(index, shape)| update.execute((table, index, shape)).map(drop))
    })
}

/// The shape of each index of a table, as SQLite writes it: its entries, and for each of its columns how many of them have the
/// same values up to there.
fn counted(conn: &Connection, table: &str) -> Result<Vec<(String, String)>> {
    let rows = count(conn, &format!("\"{table}\""))?;
    let mut found = Vec::new();
    for index in texts(conn, INDEXES, &[table])?.into_iter().flatten() {
        let Some(columns) = texts(conn, COLUMNS, &[index.as_str()])?.into_iter().collect::<Option<Vec<String>>>()
        else {
            continue;
        };
        let mut shape = rows.to_string();
        for last in 0..columns.len() {
            let columns: Vec<String> = columns[..=last].iter().map(|column| format!("\"{column}\"")).collect();
            let columns = columns.join(", ");
            let text = format!("SELECT DISTINCT {columns} FROM \"{table}\" INDEXED BY \"{index}\"");
            let distinct = count(conn, &format!("({text})"))?.max(1);
            shape += &format!(" {}", ((rows + distinct - 1) / distinct).max(1));
        }
        found.push((index, shape));
    }
    Ok(found)
}

/// The number of rows of a table or of a query in brackets.
fn count(conn: &Connection, rows: &str) -> Result<i64> {
    conn.query_row(&format!("SELECT count(*) FROM {rows}"), [], |row| row.get(0))
}

/// Does something in a transaction for which others wait.
fn briefly(conn: &Connection, write: impl FnOnce() -> Result<()>) -> Result<()> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let done = budget::until(Some(Instant::now() + HOLD), write);
    match done.and_then(|()| conn.execute_batch("COMMIT")) {
        Err(error) => {
            // It may have ended by itself.
            let _ = conn.execute_batch("ROLLBACK");
            Err(error)
        }
        done => done,
    }
}

/// The first column of the rows of a statement.
fn texts(conn: &Connection, text: &str, params: &[&str]) -> Result<Vec<Option<String>>> {
    let mut statement = conn.prepare(text)?;
    let rows = statement.query_map(rusqlite::params_from_iter(params), |row| row.get(0))?;
    rows.collect()
}
