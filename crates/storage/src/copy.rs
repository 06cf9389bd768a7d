//! Copying a database into a new one, of whatever engine.
//!
//! The new database is made in one transaction: its tables, all rows, and a comparison of what it holds then with what was
//! read. It is complete, or it is not there. Everything is read in one state of the source, so that others may write to
//! that meanwhile.

use super::catalogue::{CHANGE_FEED, Catalogue, META, SLUG, TALLY, Table};
use super::connection::Connection;
use super::migrate::{self, Schema};
use super::plan::{DbValue, Layout, Row};
use super::sql::insert_text;
use super::statement::{DbError, Param, Result, int};
use super::words::Words;
use crate::error::StorageError;
use sha2::{Digest, Sha256};

/// Rows that are read at once.
const PAGE: usize = 1000;

/// Tables that storage maintains and that no layout declares: columns, those of the key first, and how many these are.
const COMPANIONS: [(&str, &str, usize); 9] = [
    ("sequence", "space next", 1),
    ("version", "scope n", 1),
    ("setting", "key json", 1),
    ("edge", "src rel pos dst status sort", 3),
    (META, "space id key n json", 4),
    (SLUG, "scope slug table id", 2),
    ("slug_run", "scope base lo hi", 3),
    (TALLY, "table kind status author n", 4),
    (CHANGE_FEED, "seq in_commit at node table kind id key action status_before status_after columns actor", 1),
];

/// A table that was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    pub name: String,
    pub rows: u64,
    /// Of all values, in the order of the key; the same in both databases.
    pub digest: String,
}

/// The result of [`copy`].
#[derive(Clone, Debug, Default)]
pub struct Copied {
    pub tables: Vec<CopiedTable>,
    /// Tables, and columns as `table.column`, that are only in the source: nothing declares them.
    pub left: Vec<String>,
}

/// Copies everything. `progress` is called with a table and its rows so far.
///
/// # Errors
/// The source does not follow the layout; the target is not new; one of them cannot be read or written; what was written
/// differs from what was read.
pub(super) fn copy(
    from: &dyn Schema,
    to: &dyn Schema,
    layout: &Layout,
    progress: &mut dyn FnMut(&str, u64),
) -> std::result::Result<Copied, StorageError> {
    let catalogue = Catalogue::new(layout)?;
    if !migrate::follows(from, layout)? {
        let hint = "bring it to the declarations first: cms-server migrate";
        return Err(StorageError::Failed(format!("the source does not follow the declarations\n  hint: {hint}")));
    }
    from.begin_reading()?;
    to.begin()?;
    let copied = within(from, to, (&catalogue, layout), progress);
    from.rollback();
    match copied {
        Ok(copied) => {
            to.commit(None)?;
            to.gather_statistics()?;
            Ok(copied)
        }
        Err(error) => {
            to.rollback();
            Err(error)
        }
    }
}

fn within(
    from: &dyn Schema,
    to: &dyn Schema,
    (catalogue, layout): (&Catalogue, &Layout),
    progress: &mut dyn FnMut(&str, u64),
) -> std::result::Result<Copied, StorageError> {
    if to.has_table("layout")? {
        let hint = "name a database without tables, or delete this one yourself";
        return Err(StorageError::Failed(format!("the target holds a site already\n  hint: {hint}")));
    }
    let words = Words::load(from)?;
    migrate::create(to, catalogue, layout, &words)?;
    for (name, value) in from.secrets()? {
        to.put_secret(&name, &value)?;
    }
    let sources = sources(catalogue);
    let mut tables = Vec::new();
    for source in &sources {
        tables.push(source.copy(from, to, progress)?);
    }
    // The source is not needed any more, and its server ends transactions that are idle.
    from.rollback();
    for (source, read) in sources.iter().zip(&tables) {
        let written = source.read(to, &mut |_| Ok(()))?;
        if written != *read {
            let what = format!("{} rows were read and {} are there", read.rows, written.rows);
            return Err(StorageError::Failed(format!("{}: what was written differs ({what})", read.name)));
        }
    }
    Ok(Copied { tables, left: left(from, catalogue)? })
}

fn sources(catalogue: &Catalogue) -> Vec<CopySource<'_>> {
    let declared = catalogue.tables.iter().filter(|table| !table.companion).map(|table| CopySource {
        name: &table.def.name,
        columns: [&table.def.key].into_iter().chain(&table.def.columns).map(|column| &*column.name).collect(),
        keys: 1,
        searched: Some(table).filter(|table| !table.searched.is_empty()),
    });
    let companions = COMPANIONS.iter().map(|(name, columns, keys)| CopySource {
        name,
        columns: columns.split(' ').collect(),
        keys: *keys,
        searched: None,
    });
    declared.chain(companions).collect()
}

/// Tables and columns of the source that nothing declares.
fn left(from: &dyn Schema, catalogue: &Catalogue) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for key in from.texts("SELECT name FROM layout WHERE name LIKE 'table:%' ORDER BY name", &[])? {
        let name = key.trim_start_matches("table:");
        let Ok(table) = catalogue.table(name) else {
            left.extend(from.has_table(name)?.then(|| name.to_owned()));
            continue;
        };
        let declared: Vec<String> = [&table.def.key]
            .into_iter()
            .chain(&table.def.columns)
            .map(|column| from.stored_name(&column.name))
            .collect();
        let present =
            from.columns(name)?.into_iter().filter(|column| !declared.iter().any(|name| **name == *column.name));
        left.extend(present.map(|column| format!("{name}.{}", column.name)));
    }
    Ok(left)
}

/// A table to be copied.
struct CopySource<'c> {
    name: &'c str,
    /// Those of the key first.
    columns: Vec<&'c str>,
    keys: usize,
    /// The table, if its texts are searched.
    searched: Option<&'c Table>,
}

impl CopySource<'_> {
    fn copy(&self, from: &dyn Schema, to: &dyn Schema, progress: &mut dyn FnMut(&str, u64)) -> Result<CopiedTable> {
        let insert = insert_text(self.name, self.columns.iter().copied());
        let number = self.searched.map(|table| migrate::word_number(to, &table.def.name)).transpose()?;
        let mut rows = 0;
        let copied = self.read(from, &mut |page| {
            for row in page {
                to.send(&insert, &row.iter().map(Param::from).collect::<Vec<_>>())?;
                if let Some(table) = number {
                    to.leave_for_search(table, int(row, 0))?;
                }
            }
            to.settle()?;
            rows += page.len() as u64;
            progress(self.name, rows);
            Ok(())
        });
        copied.map_err(|error| DbError { cause: format!("{}: {}", self.name, error.cause), ..error })
    }

    /// Reads everything, page by page.
    fn read(&self, from: &dyn Connection, page: &mut dyn FnMut(&[Row]) -> Result<()>) -> Result<CopiedTable> {
        let list = |columns: &[&str]| columns.iter().map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(", ");
        let (columns, keys) = (list(&self.columns), list(&self.columns[..self.keys]));
        let holders = (1..=self.keys).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
        let text = |after: &str| format!("SELECT {columns} FROM \"{}\"{after} ORDER BY {keys} LIMIT {PAGE}", self.name);
        let (first, next) = (text(""), text(&format!(" WHERE ({keys}) > ({holders})")));
        let (mut digest, mut rows) = (Sha256::new(), 0);
        let mut found = from.select(&first, &[])?;
        while let Some(last) = found.last() {
            found.iter().flatten().for_each(|value| digest_value(&mut digest, value));
            rows += found.len() as u64;
            page(&found)?;
            let after: Vec<Param<'_>> = last[..self.keys].iter().map(Param::from).collect();
            found = if found.len() < PAGE { Vec::new() } else { from.select(&next, &after)? };
        }
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(CopiedTable { name: self.name.to_owned(), rows, digest })
    }
}

/// Adds a value, so that no two lists of values have the same bytes.
fn digest_value(digest: &mut Sha256, value: &DbValue) {
    match value {
        DbValue::Null => digest.update([0]),
        DbValue::Int(n) => {
            digest.update([1]);
            digest.update(n.to_le_bytes());
        }
        DbValue::Real(n) => {
            digest.update([2]);
            digest.update(n.to_bits().to_le_bytes());
        }
        DbValue::Text(text) => {
            digest.update([3]);
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        }
    }
}
