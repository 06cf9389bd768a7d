//! Names that the interface, the engine or a database keeps for itself: of properties, of their columns, of tables.
//!
//! The rules are the same whatever database the site has, so that a site can move from one to the other.

use super::super::columns::VERSION;
use super::super::resource::*;
use super::super::tables::{self, family_columns};
use super::super::words::PropertyWords;
use super::property::kind_of;
use super::{Linker, escape};
use cms_storage::plan::{ColumnDef, ColumnType, TableDef};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The first character of the interface's names: `_links`, `_embedded`, parameters such as `_fields`, `_version`.
pub(super) const RESERVED_MARK: char = '_';

/// Columns that every table of PostgreSQL has of its own.
const SYSTEM_COLUMNS: [&str; 6] = ["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"];

/// Most columns of a declared table. PostgreSQL has room for 1,600 of them, SQLite for 2,000, and a query reads those of the
/// family's table, too.
const MOST_COLUMNS: usize = 1000;

impl Linker<'_> {
    /// Names of the properties of a resource, and whether those that share a column of the family fit it.
    pub(super) fn property_names(&mut self, resource: &Resource, properties: &Map<String, Value>) {
        let stores = resource.stores_rows() || resource.is_singleton();
        for (property, doc) in properties.iter().filter(|_| stores) {
            let file = resource.declared.schema.clone();
            let pointer = format!("/properties/{}", escape(property));
            if property.starts_with(RESERVED_MARK) {
                let message = format!("`{property}` is a name of the interface: those begin with `{RESERVED_MARK}`");
                let hint = format!("rename it to `{}`", property.trim_start_matches(RESERVED_MARK));
                self.in_schema(&file, &pointer, message, Some(hint));
                continue;
            }
            let words = PropertyWords::of(doc);
            let column = words.column.as_deref().unwrap_or(property);
            if SYSTEM_COLUMNS.contains(&column) && resource.column(column).is_some() {
                let message = format!("`{column}` is a column that PostgreSQL has in every table");
                let hint = "rename the property, or give it another column with x-column";
                self.in_schema(&file, &pointer, message, Some(hint.into()));
            }
            self.shared_column(resource, (property, &pointer), doc, &words);
        }
    }

    /// A property that is stored as it is in a column of the family's table: the column takes values of its type, and what
    /// the engine alone writes cannot be set.
    fn shared_column(
        &mut self,
        resource: &Resource,
        (property, pointer): (&str, &str),
        doc: &Value,
        words: &PropertyWords,
    ) {
        let column = words.column.as_deref().unwrap_or(property);
        let stored =
            resource.property(property).is_some_and(|property| matches!(property.source, PropertySource::Column(_)));
        if !stored || words.write.is_some() || !family_columns(resource.family).contains(&column) {
            return;
        }
        let file = resource.declared.schema.clone();
        let hint = || Some("rename the property, or give it a column of its own with x-column".to_owned());
        let readonly = doc.get("readonly") == Some(&Value::Bool(true));
        if tables::engine_columns(resource.family).contains(&column) && !readonly {
            let message = format!("`{column}` is a column that the engine alone writes in this family");
            self.in_schema(&file, pointer, message, hint());
            return;
        }
        let Some(ty) = tables::family_column_type(resource.family, column) else { return };
        let kind = kind_of(doc);
        let (fits, holds) = match ty {
            ColumnType::Int => {
                (matches!(kind, PropertyKind::Integer | PropertyKind::Boolean | PropertyKind::Time), "integers")
            }
            ColumnType::Real => (kind == PropertyKind::Number, "numbers"),
            ColumnType::Json => (true, "JSON"),
            ColumnType::Text | ColumnType::Key | ColumnType::Word => (kind == PropertyKind::Text, "texts"),
        };
        if !fits {
            let message = format!("`{column}` is a column of this family that holds {holds}");
            self.in_schema(&file, pointer, message, hint());
        }
    }

    /// A table that a resource declares: its columns differ in more than capital letters, and there is room for them.
    pub(super) fn table_names(&mut self, resource: &Resource, table: &TableDef) {
        let file = resource.declared.schema.clone();
        if table.columns.len() > MOST_COLUMNS {
            let message = format!("these are {} columns, and a table has {MOST_COLUMNS} at most", table.columns.len());
            let hint = "put several properties into one object, which is one column";
            self.in_schema(&file, "/properties", message, Some(hint.into()));
        }
        let mut names: HashMap<String, &str> = HashMap::new();
        names.insert(table.key.name.to_lowercase(), &table.key.name);
        names.insert(VERSION.to_owned(), VERSION);
        for column in &table.columns {
            let Some(other) = names.insert(column.name.to_lowercase(), &column.name) else { continue };
            let holds = |property: &&Property| property.column.as_deref().is_some_and(|c| c.ends_with(&*column.name));
            let property = resource.properties.iter().find(holds).map_or(&*column.name, |p| p.name.as_str());
            let message = format!("`{other}` and `{}` differ in capital letters alone", column.name);
            let hint = "rename one of them, or give it another column with x-column";
            self.in_schema(&file, &format!("/properties/{}", escape(property)), message, Some(hint.into()));
        }
    }

    /// Two resources of which each declares the same table otherwise: their kinds are too alike.
    pub(super) fn same_table(&mut self, resource: &Resource, table: &TableDef, other: &TableDef) {
        // Two resources of one kind may show it in different ways: the first one has all that the others have.
        let same = |own: &ColumnDef, of: &ColumnDef| own.name == of.name && own.ty == of.ty;
        let fits = table.columns.iter().all(|own| other.columns.iter().any(|of| same(own, of)));
        if table.kind == other.kind && fits {
            return;
        }
        let of = other.kind.as_deref().unwrap_or_default();
        let message = match of == &*resource.kind {
            true => format!("another resource of the kind `{of}` has other properties in the same table"),
            false => format!("the kinds `{}` and `{of}` are the same in the name of a table", resource.kind),
        };
        let hint = "give one of them another `kind`";
        self.problem(&["resources", &resource.name, "kind"], message, Some(hint.into()));
    }
}
