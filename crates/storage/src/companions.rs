//! The tables that storage maintains beside the declared ones, in the words of any dialect.

/// The statements that make them. `int`, `text`, `name` (texts that are compared byte by byte) and `bytes` are types of columns,
/// `copied` that of a column that copies another one; `nulls` sorts null first in an index; `end` closes tables that are found
/// by their keys alone, `often` those whose rows change with every write.
///
/// Edges of one source are adjacent, whatever the relation, so that a change of its status finds them at once. `edge_target` has
/// no descending column: walked backwards it gives the newest first with ties by source descending, walked forwards the reverse.
macro_rules! companion_tables {
    (
        int: $int:literal, text: $text:literal, name: $name:literal, bytes: $bytes:literal, copied: $copied:literal,
        nulls: $nulls:literal, end: $end:literal, often: $often:literal
    ) => {
        concat!(
            "CREATE TABLE layout (name ", $name, " PRIMARY KEY, definition ", $text, " NOT NULL)", $end, ";\n",
            "CREATE TABLE dictionary (number ", $int, " PRIMARY KEY, word ", $name, " NOT NULL UNIQUE);\n",
            "CREATE TABLE sequence (space ", $name, " PRIMARY KEY, next ", $int, " NOT NULL)", $end, ";\n",
            "CREATE TABLE version (scope ", $name, " PRIMARY KEY, n ", $int, " NOT NULL)", $end, $often, ";\n",
            "CREATE TABLE setting (key ", $name, " PRIMARY KEY, json ", $text, " NOT NULL)", $end, ";\n",
            "CREATE TABLE secret (name ", $name, " PRIMARY KEY, value ", $bytes, " NOT NULL)", $end, ";\n",
            "CREATE TABLE edge (rel ", $int, " NOT NULL, src ", $int, " NOT NULL, dst ", $int, " NOT NULL, pos ", $int,
            " NOT NULL, status", $copied, ", sort", $copied, ", PRIMARY KEY (src, rel, pos))", $end, ";\n",
            "CREATE INDEX edge_target ON edge (rel, dst, status", $nulls, ", sort", $nulls, ", src);\n",
            "CREATE TABLE meta (space ", $int, " NOT NULL, id ", $int, " NOT NULL, key ", $name, " NOT NULL, n ", $int,
            " NOT NULL, json ", $name, " NOT NULL, PRIMARY KEY (space, id, key, n))", $end, ";\n",
            "CREATE TABLE slug (scope ", $name, " NOT NULL, slug ", $name, " NOT NULL, \"table\" ", $int,
            " NOT NULL, id ", $int, " NOT NULL, PRIMARY KEY (scope, slug))", $end, ";\n",
            "CREATE INDEX slug_owner ON slug (\"table\", id);\n",
            "CREATE TABLE slug_run (scope ", $name, " NOT NULL, base ", $name, " NOT NULL, lo ", $int,
            " NOT NULL, hi ", $int, " NOT NULL, PRIMARY KEY (scope, base, lo))", $end, ";\n",
            "CREATE TABLE tally (\"table\" ", $int, " NOT NULL, kind ", $int, " NOT NULL, status ", $int,
            " NOT NULL, author ", $int, " NOT NULL, n ", $int, " NOT NULL, PRIMARY KEY (\"table\", kind, status, author))",
            $end, $often, ";\n",
            $crate::companions::change_feed!(
                int: $int, text: $text, name: $name, bytes: $bytes, copied: $copied, nulls: $nulls, end: $end,
                often: $often
            )
        )
    };
}
pub(super) use companion_tables;

/// The change feed: an entry for each row that a commit changes, by `seq`. `table`, `kind` and the two statuses are words,
/// `at` is in UTC milliseconds. The last columns but `depth` are [`super::feed::PreviousState`].
macro_rules! change_feed {
    (int: $int:literal, text: $text:literal $($rest:tt)*) => {
        concat!(
            "CREATE TABLE change_feed (seq ",
            $int,
            " PRIMARY KEY, in_commit ",
            $int,
            " NOT NULL, at ",
            $int,
            " NOT NULL, node ",
            $int,
            " NOT NULL, \"table\" ",
            $int,
            " NOT NULL, kind ",
            $int,
            ", id ",
            $int,
            ", key ",
            $text,
            ", action ",
            $text,
            " NOT NULL, status_before ",
            $int,
            ", status_after ",
            $int,
            ", columns ",
            $text,
            ", actor ",
            $int,
            ", slug_before ",
            $text,
            ", class ",
            $int,
            ", author_before ",
            $int,
            ", depth ",
            $int,
            ", targets_before ",
            $text,
            ");\n"
        )
    };
}
pub(super) use change_feed;

/// The columns that the change feed lacked before version [`super::migrate::FORMER`].
macro_rules! former_columns {
    (int: $int:literal, text: $text:literal $($rest:tt)*) => {
        concat!(
            "ALTER TABLE change_feed ADD COLUMN slug_before ",
            $text,
            ";\nALTER TABLE change_feed ADD COLUMN class ",
            $int,
            ";\nALTER TABLE change_feed ADD COLUMN author_before ",
            $int,
            ";\n"
        )
    };
}
pub(super) use former_columns;

/// The column that the change feed lacked before version [`super::migrate::DEPTH`].
macro_rules! depth_column {
    (int: $int:literal, text: $text:literal $($rest:tt)*) => {
        concat!("ALTER TABLE change_feed ADD COLUMN depth ", $int, ";\n")
    };
}
pub(super) use depth_column;

/// The column that the change feed lacked before version [`super::migrate::TARGETS`].
macro_rules! targets_column {
    (int: $int:literal, text: $text:literal $($rest:tt)*) => {
        concat!("ALTER TABLE change_feed ADD COLUMN targets_before ", $text, ";\n")
    };
}
pub(super) use targets_column;
