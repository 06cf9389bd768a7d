//! The rows of a dump, staged in a temporary file: a dump has them table by table, and an import needs them joined.

use super::charset::{DumpCharset, TextFidelity};
use super::statements::{DumpReader, DumpStatement, DumpValue};
use super::tables::{DumpVocabulary, TableLayout};
use crate::import::items::{FileFault, Warnings};
use cms_storage::{StagedValue, StagingFile};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

const HINT_TABLE: &str = "it is not a table of WordPress: name that of the site with --table-prefix";
const HINT_TWICE: &str = "a dump has one database: dump the one of the site alone";

/// Tables of others that are counted one by one.
const MOST_OTHERS: usize = 1000;

/// The sizes at which a dump's values and rows are left out.
#[derive(Clone, Copy, Debug)]
pub struct DumpLimits {
    /// Bytes of the longest value.
    pub value: usize,
    /// Bytes of the longest row, and of a record with all that belongs to it.
    pub row: usize,
}

impl Default for DumpLimits {
    /// 64 MB a value and 256 MB a record, as in exports.
    fn default() -> DumpLimits {
        DumpLimits { value: 64 << 20, row: 256 << 20 }
    }
}

/// See the module.
pub(super) struct StagedTables {
    pub file: StagingFile,
    /// The tables that are there, with their prefixes.
    pub tables: BTreeSet<(String, String)>,
    /// Rows of other tables.
    pub others: BTreeMap<String, u64>,
    /// Texts of a dump in Latin 1 that are UTF-8 in truth.
    pub utf8_in_latin1: u64,
    pub warnings: Warnings,
}

/// Where the values of a table's columns are in the rows of a statement.
struct RowShape {
    places: Vec<Option<usize>>,
    /// Values of a row.
    width: usize,
}

/// A dump on its way into the file.
struct Staging<'v, R> {
    reader: DumpReader<R>,
    vocabulary: &'v DumpVocabulary,
    /// The only prefix that is wanted.
    only: Option<&'v str>,
    charset: DumpCharset,
    /// Columns as the dump makes tables.
    made: BTreeMap<String, Vec<String>>,
    staged: StagedTables,
}

/// Reads a dump to its end.
pub(super) fn stage<R: BufRead>(
    input: R,
    limits: DumpLimits,
    vocabulary: &DumpVocabulary,
    only: Option<&str>,
) -> Result<StagedTables, FileFault> {
    let staged = StagedTables {
        file: StagingFile::create()?,
        tables: BTreeSet::new(),
        others: BTreeMap::new(),
        utf8_in_latin1: 0,
        warnings: Warnings::default(),
    };
    let reader = DumpReader::new(input, limits.value, limits.row);
    let mut staging = Staging { reader, vocabulary, only, charset: DumpCharset::Utf8, made: BTreeMap::new(), staged };
    while let Some(statement) = staging.reader.statement()? {
        match statement {
            DumpStatement::Charset(name) => {
                staging.charset = DumpCharset::named(&name, staging.reader.lexer.line)?;
                staging.reader.lexer.lead_bytes = staging.charset.lead_bytes();
            }
            DumpStatement::Table { name, columns } => staging.made(name, columns)?,
            DumpStatement::Rows { table, columns } => staging.rows(table, columns)?,
        }
    }
    let staged = staging.staged;
    for (prefix, name) in &staged.tables {
        for column in &vocabulary.tables[name].indexes {
            staged.file.add_index(&format!("{prefix}{name}"), column)?;
        }
    }
    Ok(staged)
}

impl<'v, R: BufRead> Staging<'v, R> {
    fn made(&mut self, name: String, columns: Vec<String>) -> Result<(), FileFault> {
        if self.wanted(&name).is_none() {
            return Ok(());
        }
        if self.made.contains_key(&name) {
            return Err(self.reader.lexer.fault(format!("the table {name} is made a second time"), HINT_TWICE));
        }
        self.made.insert(name, columns);
        Ok(())
    }

    /// The layout of a table that is read, with its prefix and its name.
    fn wanted<'n>(&self, table: &'n str) -> Option<(&'v TableLayout, &'n str, &'n str)> {
        let (prefix, name) = self.vocabulary.split(table)?;
        let layout = &self.vocabulary.tables[name];
        let fits = self.only.is_none_or(|only| prefix == only || layout.shared && only.starts_with(prefix));
        fits.then_some((layout, prefix, name))
    }

    fn rows(&mut self, table: String, named: Option<Vec<String>>) -> Result<(), FileFault> {
        let Some((layout, prefix, name)) = self.wanted(&table) else { return self.other(&table) };
        let shape = self.shape(layout, &table, named.as_ref().or(self.made.get(&table)))?;
        if self.staged.tables.insert((prefix.to_owned(), name.to_owned())) {
            let columns: Vec<&str> = layout.columns.iter().map(String::as_str).collect();
            self.staged.file.add_table(&table, &columns)?;
        }
        let mut values = Vec::new();
        while self.reader.row(&mut values)? {
            let line = self.reader.row_line;
            if values.len() != shape.width {
                let message = format!("a row of {table} has {} values for {} columns", values.len(), shape.width);
                return Err(self.reader.lexer.fault(message, HINT_TABLE));
            }
            match self.row(layout, &shape, &mut values, line) {
                Ok(row) => self.staged.file.insert(&table, &row)?,
                Err(why) => {
                    self.staged.warnings.add(line, format!("a row of {table} is left out: {why}"));
                }
            }
        }
        Ok(())
    }

    /// Counts the rows of a table that is not read.
    fn other(&mut self, table: &str) -> Result<(), FileFault> {
        let rows = self.reader.skip_rows()?;
        let others = &mut self.staged.others;
        let known = others.len() < MOST_OTHERS || others.contains_key(table);
        *others.entry(if known { table } else { "further tables" }.to_owned()).or_default() += rows;
        Ok(())
    }

    fn shape(&self, layout: &TableLayout, table: &str, named: Option<&Vec<String>>) -> Result<RowShape, FileFault> {
        let named = named.unwrap_or(&layout.columns);
        let place = |column: &String| named.iter().position(|own| own.eq_ignore_ascii_case(column));
        if let Some(missing) = layout.required.iter().find(|column| place(column).is_none()) {
            let message = format!("the table {table} has no column {missing}");
            return Err(self.reader.lexer.fault(message, HINT_TABLE));
        }
        Ok(RowShape { places: layout.columns.iter().map(place).collect(), width: named.len() })
    }

    /// The values of a row in the order of the layout.
    ///
    /// # Errors
    /// Why it is left out.
    fn row(
        &mut self,
        layout: &TableLayout,
        shape: &RowShape,
        values: &mut [DumpValue],
        line: u64,
    ) -> Result<Vec<StagedValue>, String> {
        let mut row = Vec::with_capacity(shape.places.len());
        for (column, place) in layout.columns.iter().zip(&shape.places) {
            let value = place.map_or(DumpValue::Null, |place| std::mem::replace(&mut values[place], DumpValue::Null));
            let is_required = layout.required.contains(column);
            let text = match value {
                DumpValue::Null if is_required => return Err(format!("its {column} is missing")),
                DumpValue::Null => {
                    row.push(StagedValue::Null);
                    continue;
                }
                DumpValue::Over => return Err(format!("its {column} is longer than may be")),
                DumpValue::Bytes(bytes) => self.text(bytes, true, line),
                DumpValue::Text(bytes) => self.text(bytes, false, line),
            };
            row.push(match layout.numbers.contains(column) {
                false => StagedValue::Text(text),
                true => match text.parse() {
                    Ok(number) => StagedValue::Int(number),
                    Err(_) if is_required => return Err(format!("its {column} is no number that an id can be")),
                    Err(_) => StagedValue::Int(0),
                },
            });
        }
        Ok(row)
    }

    fn text(&mut self, bytes: Vec<u8>, is_binary: bool, line: u64) -> String {
        // Bytes that are written as digits are those of the table, not of the dump.
        let charset = match self.charset {
            DumpCharset::Other(_) if is_binary => DumpCharset::Utf8,
            of_dump => of_dump,
        };
        let (text, fidelity) = charset.decode(bytes);
        match fidelity {
            TextFidelity::Utf8InLatin1 if !is_binary => self.staged.utf8_in_latin1 += 1,
            TextFidelity::Exact | TextFidelity::Utf8InLatin1 => {}
            TextFidelity::Replaced => {
                self.staged.warnings.add(line, "bytes of a text that are no characters are replaced by �".to_owned());
            }
        }
        if text.contains('\0') {
            // As in exports: not every database can store it.
            self.staged.warnings.add(line, "NUL characters are left out of a text".to_owned());
            return text.replace('\0', "");
        }
        text
    }
}
