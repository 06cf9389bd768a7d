//! The tables that are read, and the parts of their content that stay out: `tables.json`.

use crate::import::items::ImportedSetting;
use crate::import::names::NamesWithReason;
use serde::Deserialize;
use std::collections::BTreeMap;

/// See the module.
#[derive(Deserialize)]
pub(super) struct DumpVocabulary {
    /// By their names without the prefix.
    pub tables: BTreeMap<String, TableLayout>,
    /// Settings by the names of options.
    pub settings: BTreeMap<String, OptionTarget>,
    /// Settings of widgets that name a record or a term.
    pub widget_references: BTreeMap<String, OptionKind>,
    pub left_out: DumpExclusions,
}

/// A table.
#[derive(Deserialize)]
pub(super) struct TableLayout {
    /// In the order in which WordPress makes them.
    pub columns: Vec<String>,
    /// Those that hold whole numbers; the others hold texts.
    pub numbers: Vec<String>,
    /// Those without which a table, or a row, means nothing.
    pub required: Vec<String>,
    /// Those by which rows are looked for or sorted.
    pub indexes: Vec<String>,
    /// The sites of a network have it once, under the prefix that those of all sites begin with.
    #[serde(default)]
    pub shared: bool,
}

/// The setting that an option becomes.
#[derive(Deserialize)]
pub(super) struct OptionTarget {
    pub to: String,
    #[serde(default)]
    pub kind: OptionKind,
}

/// The meaning of an option's value.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OptionKind {
    #[default]
    Text,
    /// The id of a record.
    Record,
    /// The id of a term.
    Term,
}

impl OptionKind {
    /// The value that an id is; `None`: an id means nothing.
    pub(super) fn of(self, id: i64) -> Option<ImportedSetting> {
        match self {
            OptionKind::Text => None,
            OptionKind::Record => Some(ImportedSetting::Record(id)),
            OptionKind::Term => Some(ImportedSetting::Term(id)),
        }
    }
}

/// Names that stay out.
#[derive(Deserialize)]
pub(super) struct DumpExclusions {
    pub kinds: Vec<NamesWithReason>,
    pub statuses: Vec<NamesWithReason>,
    pub taxonomies: Vec<NamesWithReason>,
    pub options: Vec<NamesWithReason>,
    pub user_meta: Vec<NamesWithReason>,
}

impl DumpVocabulary {
    /// The shipped one.
    ///
    /// # Errors
    /// It is none: a fault of the program, which a test finds.
    pub(super) fn shipped() -> Result<DumpVocabulary, String> {
        serde_json::from_str(include_str!("tables.json")).map_err(|error| error.to_string())
    }

    /// Whether the sites of a network have a table once.
    pub(super) fn is_shared(&self, name: &str) -> bool {
        self.tables.get(name).is_some_and(|layout| layout.shared)
    }

    /// The prefix of a table that is read, and its name without it.
    pub(super) fn split<'n>(&self, table: &'n str) -> Option<(&'n str, &'n str)> {
        let names = self.tables.keys().filter_map(|name| Some((table.strip_suffix(name.as_str())?, name.len())));
        let (prefix, length) = names.max_by_key(|(_, length)| *length)?;
        Some((prefix, &table[table.len() - length..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_behind_any_prefix() {
        let vocabulary = DumpVocabulary::shipped().expect("JSON");
        for (table, expected) in [
            ("wp_posts", Some(("wp_", "posts"))),
            ("posts", Some(("", "posts"))),
            ("wp_2_term_relationships", Some(("wp_2_", "term_relationships"))),
            ("x_postmeta", Some(("x_", "postmeta"))),
            ("wp_links", None),
        ] {
            assert_eq!(vocabulary.split(table), expected, "{table}");
        }
        for (name, layout) in &vocabulary.tables {
            for column in layout.numbers.iter().chain(&layout.required).chain(&layout.indexes) {
                assert!(layout.columns.contains(column), "{name}.{column}");
            }
        }
    }
}
