//! The texts of a site that may name files: those of records, terms, accounts, comments and widgets, and their meta values.

use super::uploads::UploadMarks;
use crate::boot::BootError;
use cms_core::families::text_column;
use cms_core::records::{self, meta_space, own_rows, txt};
use cms_core::registry::columns::{ID, VERSION, comment, record, seo, term, user};
use cms_core::registry::resource::Resource;
use cms_core::registry::{Registry, name};
use cms_declaration::ImportFormat;
use cms_storage::plan::{Cond, DbValue, MetaChange, MetaRow, Name, Op, Order, Put, Target};
use cms_storage::{Snapshot, Storage, StorageError};
use cms_text::php;
use serde_json::Value;
use std::collections::BTreeSet;

/// Rows that are looked through together: their texts may be long.
const PAGE: u64 = 20;

/// The tables with meta values, each with the columns that people write.
const SHARED: [(&str, &[&str]); 4] = [
    (record::TABLE, &[record::CONTENT, record::EXCERPT]),
    (term::TABLE, &[term::DESCRIPTION]),
    (user::TABLE, &[user::DESCRIPTION]),
    (comment::TABLE, &[comment::CONTENT]),
];

/// Rows of a table with texts.
pub(super) struct TextTable {
    name: Name,
    key: Name,
    key_is_text: bool,
    rows: Cond,
    extensions: Vec<Name>,
    columns: Vec<TextColumn>,
    /// Where its rows have meta values.
    space: Option<Name>,
}

/// A column with a text, or with a document whose texts count.
#[derive(Clone)]
struct TextColumn {
    name: Name,
    is_document: bool,
}

/// The values of a row that are or hold texts.
pub(super) struct TextRow {
    pub(super) key: DbValue,
    version: Option<i64>,
    values: Vec<(TextPlace, Value)>,
}

/// Where a value of a row is.
enum TextPlace {
    Column(TextColumn),
    /// The number of a meta value.
    Meta(i64),
}

/// All tables with such texts. A resource whose rows have texts in columns of its own comes after the table of its family.
fn tables(registry: &Registry) -> Vec<TextTable> {
    let text = |name: Name| TextColumn { name, is_document: false };
    let document = |name: Name| TextColumn { name, is_document: true };
    let shared = SHARED.into_iter().map(|(table, columns)| TextTable {
        name: name(table),
        key: name(ID),
        key_is_text: false,
        rows: records::always(),
        extensions: Vec::new(),
        columns: columns.iter().map(|column| text(name(column))).collect(),
        space: registry.resources.iter().find(|own| *own.table == *table).map(meta_space),
    });
    let of_resource = |resource: &Resource, columns: Vec<TextColumn>| TextTable {
        name: resource.table.clone(),
        key: resource.key.clone(),
        key_is_text: resource.key_is_text,
        rows: own_rows(resource),
        extensions: resource.extension.iter().cloned().collect(),
        columns,
        space: None,
    };
    let own = registry.resources.iter().filter_map(|resource| {
        if resource.declared.options.widgets.is_some() {
            return Some(of_resource(resource, vec![document(resource.plan_column("settings")?)]));
        }
        let imported = resource.declared.import.iter().filter(|(_, from)| from.kind == ImportFormat::Text);
        let mut columns: Vec<TextColumn> =
            imported.filter_map(|(column, _)| resource.plan_column(column)).map(text).collect();
        columns.extend(resource.plan_column(seo::VALUES).map(document));
        (!columns.is_empty()).then(|| of_resource(resource, columns))
    });
    shared.chain(own).collect()
}

/// Visits the rows of all such tables, some at a time, with the state of the database that they are of.
///
/// # Errors
/// The database cannot be read, or the visit fails.
pub(super) fn each_page(
    registry: &Registry,
    storage: &dyn Storage,
    mut visit: impl FnMut(&TextTable, &dyn Snapshot, Vec<TextRow>) -> Result<(), BootError>,
) -> Result<(), BootError> {
    for table in tables(registry) {
        let mut last = None;
        loop {
            let snapshot = storage.snapshot()?;
            let rows = table.page(&*snapshot, last.as_ref())?;
            let Some(end) = rows.last() else { break };
            last = Some(end.key.clone());
            visit(&table, &*snapshot, rows)?;
        }
    }
    Ok(())
}

impl TextTable {
    /// Whether its rows may own files.
    pub(super) fn has_files(&self) -> bool {
        *self.name == *record::TABLE
    }

    /// The next rows behind a key (`None`: from the first one), in the order of keys; none at the end.
    fn page(&self, snapshot: &dyn Snapshot, after: Option<&DbValue>) -> Result<Vec<TextRow>, StorageError> {
        let first = if self.key_is_text { txt("") } else { DbValue::Int(0) };
        let behind = Cond::Compare(self.key.clone(), Op::Gt, after.cloned().unwrap_or(first));
        let mut plan = records::columns(&self.name, &[&self.key, VERSION], records::all([self.rows.clone(), behind]));
        plan.columns.extend(self.columns.iter().map(|column| column.name.clone()));
        plan.extensions.clone_from(&self.extensions);
        (plan.order, plan.limit) = (vec![Order::Column(self.key.clone(), false)], Some(PAGE));
        let rows = snapshot.rows(&plan)?;
        let ids: Vec<i64> = rows.iter().map(|row| records::int(&row[0])).collect();
        let meta = match &self.space {
            Some(space) => snapshot.meta(space, &ids)?,
            None => Vec::new(),
        };
        Ok(rows.iter().map(|row| self.row(row, &meta)).collect())
    }

    /// A row with its values among the meta values of several.
    fn row(&self, row: &[DbValue], meta: &[MetaRow]) -> TextRow {
        let (key, version) = (row[0].clone(), Some(records::int(&row[1])));
        let id = records::int(&key);
        let columns = self.columns.iter().zip(&row[2..]).filter_map(|(column, value)| {
            let text = records::text(value);
            let value = if column.is_document { serde_json::from_str(text).ok()? } else { Value::from(text) };
            Some((TextPlace::Column(column.clone()), value))
        });
        let own = meta.iter().filter(|own| own.id == id);
        let meta = own.filter_map(|own| Some((TextPlace::Meta(own.number), serde_json::from_str(&own.json).ok()?)));
        TextRow { key, version, values: columns.chain(meta).collect() }
    }
}

impl TextRow {
    /// The names of files in its texts.
    pub(super) fn files(&mut self, marks: &UploadMarks) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        for (_, value) in &mut self.values {
            php::each_text(value, &mut |text| files.extend(marks.named_files(text)));
        }
        files
    }

    /// The put that stores the texts after a change, which says of each whether it is another one; `None`: none is.
    pub(super) fn changed(&mut self, table: &TextTable, mut change: impl FnMut(&mut String) -> bool) -> Option<Put> {
        let target = Target::Existing { key: self.key.clone(), expect: self.version };
        let mut put = Put::new(table.name.clone(), target, Vec::new());
        for (place, value) in &mut self.values {
            let mut is_other = false;
            php::each_text(value, &mut |text| is_other |= change(text));
            match place {
                _ if !is_other => {}
                TextPlace::Meta(number) => put.meta.push(MetaChange::Set(*number, value.to_string().into())),
                TextPlace::Column(own) => {
                    let text = value.as_str().filter(|_| !own.is_document).map(str::to_owned);
                    put.set.push(text_column(&own.name, &text.unwrap_or_else(|| value.to_string())));
                }
            }
        }
        (!put.set.is_empty() || !put.meta.is_empty()).then_some(put)
    }
}
