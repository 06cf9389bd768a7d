//! From a layout to tables: what a file lacks is added, what would lose values is refused.
//!
//! Changes are made in one transaction and undone if any of them is refused or if migration is off, so what is reported
//! is what would really happen. An unchanged layout is recognised by its fingerprint alone.

mod change;
mod links;
mod migration;
mod references;
mod schema;
mod values;

pub use change::{PendingChange, Refusal};
use migration::Migration;
pub use schema::META_VERSION;
pub(super) use schema::{
    CHANGE_FEED, DEPTH, Described, ExistingColumn, FORMER, SEARCH_LAYOUT, Schema, TARGETS, quoted, type_mark,
};
pub(super) use values::{contradictions, each_value};

use super::catalogue::Catalogue;
use super::connection::Connection;
use super::derived;
use super::feed::COMMITS;
use super::layout_table::{keep, kept};
use super::plan::{ColumnType, DbValue, Layout};
use super::statement::{Result, params};
use super::words::{NO_WORD, Words};
use crate::error::StorageError;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// How far a migration goes.
pub(super) enum Extent<'e> {
    /// The changes are made. `drops` are tables, and columns as `table.column`, whose values are deleted where they stand
    /// in the way.
    Apply { drops: &'e [String] },
    /// An existing file must fit as it is.
    Refuse,
    /// Nothing is changed; the outcome is [`MigrationOutcome::Done`] with all changes, the refused ones among them.
    Rehearse,
}

/// The outcome of a migration.
pub(super) enum MigrationOutcome {
    /// The file fits the layout; what was changed in an existing file.
    Done(Vec<PendingChange>),
    /// Nothing was changed, because migration is off.
    Pending(Vec<PendingChange>),
    /// Nothing was changed, because these would lose values.
    Destructive(Vec<PendingChange>),
    /// Nothing was changed, because the file could not be preserved before.
    Unsafe(StorageError),
}

/// Brings the database to the layout. `preserve` is called before the first change of an existing one is made durable:
/// others still see it as it was.
pub(super) fn migrate(
    conn: &dyn Schema,
    catalogue: &Catalogue,
    layout: &Layout,
    extent: Extent<'_>,
    preserve: &mut dyn FnMut() -> std::result::Result<(), StorageError>,
) -> Result<MigrationOutcome> {
    let fingerprint = fingerprint(layout);
    if stored_fingerprint(conn)?.as_deref() == Some(&*fingerprint) {
        return Ok(MigrationOutcome::Done(Vec::new()));
    }
    conn.begin()?;
    let outcome = within(conn, catalogue, layout, &fingerprint, extent, preserve);
    match outcome {
        Ok((outcome, true)) => conn.commit(None).map(|()| outcome),
        outcome => {
            conn.rollback();
            outcome.map(|(outcome, _)| outcome)
        }
    }
}

/// In a transaction: the outcome, and whether it is to be made durable.
fn within(
    conn: &dyn Schema,
    catalogue: &Catalogue,
    layout: &Layout,
    fingerprint: &str,
    extent: Extent<'_>,
    preserve: &mut dyn FnMut() -> std::result::Result<(), StorageError>,
) -> Result<(MigrationOutcome, bool)> {
    // Another process may have been faster.
    if stored_fingerprint(conn)?.as_deref() == Some(fingerprint) {
        return Ok((MigrationOutcome::Done(Vec::new()), false));
    }
    let fresh = !conn.has_table("layout")?;
    if fresh {
        conn.batch(conn.companion_tables())?;
    }
    let words = add_words(conn, catalogue)?;
    let drops = if let Extent::Apply { drops } = extent { drops } else { &[] };
    let changes = lay_out(conn, (catalogue, layout), &words, drops)?;
    if matches!(extent, Extent::Rehearse) {
        return Ok((MigrationOutcome::Done(changes), false));
    }
    let refused: Vec<PendingChange> = changes.iter().filter(|c| c.refused.is_some()).cloned().collect();
    if !refused.is_empty() {
        return Ok((MigrationOutcome::Destructive(refused), false));
    }
    let stored = changes.iter().any(|change| !change.remembered);
    if !fresh && matches!(extent, Extent::Refuse) && stored {
        return Ok((MigrationOutcome::Pending(changes), false));
    }
    let version = if fresh { META_VERSION } else { conn.version()? };
    if !fresh
        && (version != META_VERSION || stored)
        && let Err(error) = preserve()
    {
        return Ok((MigrationOutcome::Unsafe(error), false));
    }
    conn.upgrade(version)?;
    // A commit without entries in the change feed: processes that run already use nothing that they have cached before.
    conn.execute("UPDATE version SET n = n + 1 WHERE scope = ?1", params![COMMITS])?;
    complete(conn, catalogue, &words, fingerprint)?;
    Ok((MigrationOutcome::Done(if fresh { Vec::new() } else { changes }), true))
}

/// Brings the declared tables to the layout; what was changed, and what was refused.
fn lay_out(
    conn: &dyn Schema,
    (catalogue, layout): (&Catalogue, &Layout),
    words: &Words,
    drops: &[String],
) -> Result<Vec<PendingChange>> {
    let relations = layout.relations.iter().map(|relation| relation.name.clone()).collect();
    let mut migration = Migration { conn, words, drops, relations, changes: Vec::new() };
    migration.links_of_columns(catalogue, layout)?;
    for table in catalogue.tables.iter().filter(|t| !t.companion) {
        migration.table(table)?;
    }
    migration.references(&layout.references)?;
    migration.drop_relations(catalogue)?;
    migration.drop_tables(catalogue)?;
    Ok(migration.changes)
}

/// Renews derived values and the search index, and stores the fingerprint of the layout.
fn complete(conn: &dyn Schema, catalogue: &Catalogue, words: &Words, fingerprint: &str) -> Result<()> {
    derived::renew(conn, catalogue, words)?;
    conn.renew_search(catalogue, words)?;
    keep(conn, "fingerprint", fingerprint)?;
    conn.sign()
}

/// Lays out a new database, with these words under these numbers, in the open transaction.
pub(super) fn create(conn: &dyn Schema, catalogue: &Catalogue, layout: &Layout, words: &Words) -> Result<()> {
    conn.batch(conn.companion_tables())?;
    for (number, word) in words.iter() {
        conn.send(ADD_WORD, params![number, word])?;
    }
    let words = add_words(conn, catalogue)?;
    lay_out(conn, (catalogue, layout), &words, &[])?;
    complete(conn, catalogue, &words, &fingerprint(layout))
}

/// Whether a database is as the layout says.
pub(super) fn follows(conn: &dyn Schema, layout: &Layout) -> Result<bool> {
    Ok(stored_fingerprint(conn)?.as_deref() == Some(&*fingerprint(layout)))
}

/// The number of a word that is in the dictionary.
pub(super) fn word_number(conn: &dyn Connection, word: &str) -> Result<i64> {
    Ok(conn.number("SELECT number FROM dictionary WHERE word = ?1", params![word])?.unwrap_or(NO_WORD))
}

fn fingerprint(layout: &Layout) -> String {
    let builtin = super::catalogue::builtin_tables();
    let digest = Sha256::digest(format!("{META_VERSION} {} {layout:?} {builtin:?}", SEARCH_LAYOUT));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stored_fingerprint(conn: &dyn Schema) -> Result<Option<Arc<str>>> {
    if !conn.has_table("layout")? {
        return Ok(None);
    }
    kept(conn, "fingerprint")
}

pub(super) const ADD_WORD: &str = "INSERT INTO dictionary (number, word) VALUES (?1, ?2)";

fn add_words(conn: &dyn Connection, catalogue: &Catalogue) -> Result<Words> {
    let mut words = Words::load(conn)?;
    let defaults = catalogue.tables.iter().flat_map(|t| &t.def.columns).filter_map(|c| match (&c.ty, &c.default) {
        (ColumnType::Word, Some(DbValue::Text(word))) => Some(word.clone()),
        _ => None,
    });
    for word in catalogue.words().into_iter().chain(defaults) {
        if words.number(&word).is_none() {
            let number = words.next();
            conn.send(ADD_WORD, params![number, &word])?;
            words.insert(number, word);
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::super::opening::OpenError;
    use super::super::plan::*;
    use super::super::sqlite::{OpenOptions, Sqlite};
    use super::PendingChange;
    use crate::database::Storage;
    use std::path::Path;

    type Edit = fn(&mut Layout);

    fn record(layout: &mut Layout) -> &mut TableDef {
        &mut layout.tables[0]
    }

    fn position(table: &TableDef, column: &str) -> usize {
        table.columns.iter().position(|c| *c.name == *column).unwrap()
    }

    /// Opens a file that holds one post under a changed layout: what was changed, or why it was not.
    fn check(change: Edit) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let open =
            |layout: &Layout, migrate: bool| Sqlite::open(OpenOptions { migrate, ..OpenOptions::new(&path) }, layout);
        let db = open(&layout(), true).unwrap();
        let mut post = post("publish", 1, "x");
        post.set.push((name("x_book.isbn"), Input::Value(text("1"))));
        commit(&db, vec![Change::Put(post.clone()), Change::Put(post)]).unwrap();
        drop(db);
        let mut layout = layout();
        change(&mut layout);
        let columns: Vec<Name> = layout.tables[0].columns.iter().map(|column| column.name.clone()).collect();
        layout.searched[0].1.retain(|searched| columns.contains(searched));
        let before = dump(&path);
        if let Err(error) = open(&layout, false) {
            assert!(matches!(error, OpenError::Pending { .. } | OpenError::Destructive { .. }), "{error:?}");
            assert_eq!(dump(&path), before, "nothing was changed");
        }
        let list =
            |changes: &[PendingChange]| changes.iter().map(PendingChange::to_string).collect::<Vec<_>>().join("; ");
        match open(&layout, true) {
            Ok(db) => {
                assert_eq!(rows(&db, &read("record", &["kind"], Cond::All(vec![]))).len(), 2);
                let changes = list(db.applied());
                drop(db);
                assert!(open(&layout, false).unwrap().applied().is_empty(), "the second time nothing is left to do");
                changes
            }
            Err(OpenError::Destructive { changes, .. }) => {
                assert_eq!(dump(&path), before, "nothing was changed");
                list(&changes)
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    fn dump(path: &Path) -> Vec<String> {
        let conn = rusqlite::Connection::open(path).unwrap();
        let mut select = conn.prepare("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn layouts_change() {
        let cases: [(Edit, &str); 21] = [
            (|_| (), ""),
            (|l| l.tables.reverse(), ""),
            (|l| record(l).columns.reverse(), ""),
            (|l| l.tables.push(table("x_new", None, vec![], vec![index("v", &[VERSION])])), "x_new: create the table"),
            (|l| record(l).columns.push(column("isbn", ColumnType::Text)), "record: add the column `isbn`"),
            (
                |l| record(l).columns.push(column_or("flag", ColumnType::Word, text("brand new"))),
                "record: add the column `flag`",
            ),
            (|l| record(l).indexes.push(index("title", &["title_key"])), "record: create the index `title`"),
            (|l| record(l).indexes[0].columns[2].1 = true, "record: create the index `date`"),
            (|l| drop(record(l).indexes.remove(0)), "record: remove the index `date`"),
            (|l| record(l).indexes[0].partial = true, "record: create the index `date`"),
            (
                |l| {
                    let at = position(record(l), "title");
                    let column = &mut record(l).columns[at];
                    (column.was, column.name) = (Some("title".into()), "headline".into());
                },
                "record: rename the column `title` to `headline`",
            ),
            (
                |l| {
                    let at = position(record(l), "title");
                    record(l).columns.remove(at);
                },
                "record: remove the column `title` (2 rows hold a value in it)",
            ),
            (
                |l| {
                    let at = position(record(l), "extra");
                    record(l).columns.remove(at);
                },
                "record: remove the column `extra`",
            ),
            (
                |l| {
                    let at = position(record(l), "parent");
                    record(l).columns.remove(at);
                    record(l).indexes.retain(|i| *i.name != *"parent");
                },
                "record: remove the index `parent`; record: remove the column `parent`",
            ),
            (
                |l| {
                    let at = position(record(l), "title");
                    record(l).columns[at].ty = ColumnType::Int;
                },
                "record: make the column `title` hold integers (2 rows hold a value of the former type)",
            ),
            (
                |l| {
                    let at = position(record(l), "extra");
                    record(l).columns[at].ty = ColumnType::Real;
                },
                "record: make the column `extra` hold numbers",
            ),
            (
                |l| {
                    let at = position(record(l), "author");
                    record(l).columns[at].default = Some(int(9));
                },
                "",
            ),
            (
                |l| record(l).indexes.push(IndexDef { unique: true, ..index("one", &["title"]) }),
                "record: create the unique index `one` (some rows have the same value in title)",
            ),
            (
                |l| record(l).indexes.push(IndexDef { unique: true, ..index("one", &["title", "id"]) }),
                "record: create the unique index `one`",
            ),
            (
                |l| l.tables.retain(|t| *t.name != *"x_book" && *t.name != *"option"),
                "x_book: remove the table (it holds rows)",
            ),
            (|l| l.tables.retain(|t| *t.name != *"option"), "option: remove the table"),
        ];
        for (n, (change, expected)) in cases.into_iter().enumerate() {
            assert_eq!(check(change), expected, "case {n}");
        }
    }

    /// The text of a plan, refused changes with what they may be asked to delete.
    fn planned(path: &Path, layout: &Layout) -> Vec<String> {
        let changes = Sqlite::rehearse(path, layout).unwrap();
        let drop = |change: &PendingChange| change.refused.as_ref().and_then(|r| r.drop.clone()).unwrap_or_default();
        changes.iter().map(|change| format!("{change} [{}]", drop(change))).collect()
    }

    #[test]
    fn values_are_deleted_where_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let db = Sqlite::open(OpenOptions::new(&path), &layout()).unwrap();
        let item = Put { edges: vec![(name("order.items"), vec![1])], ..put("x_order", Target::New, &[]) };
        let mut post = post("publish", 1, "x");
        post.set.push((name("content"), Input::Value(text("y"))));
        commit(&db, vec![Change::Put(post), Change::Put(item)]).unwrap();
        drop(db);
        let mut changed = layout();
        changed.searched.clear();
        changed.tables.retain(|t| *t.name != *"x_order");
        changed.relations.retain(|r| *r.name != *"order.items");
        let at = position(record(&mut changed), "title");
        record(&mut changed).columns[at].ty = ColumnType::Int;
        let at = position(record(&mut changed), "content");
        record(&mut changed).columns.remove(at);
        record(&mut changed).columns.push(column("body", ColumnType::Text));
        let before = dump(&path);
        let expected = [
            "record: make the column `title` hold integers (1 row holds a value of the former type) [record.title]",
            "record: add the column `body` []",
            "record: remove the column `content` (1 row holds a value in it) [record.content]",
            "x_order: remove the table (it holds rows) [x_order]",
        ];
        assert_eq!(planned(&path, &changed), expected);
        let renames = |changes: Vec<PendingChange>| changes[2].refused.clone().unwrap().new_names;
        assert_eq!(renames(Sqlite::rehearse(&path, &changed).unwrap()), ["body"]);
        assert!(Sqlite::migrate(&path, &changed, &["record.title".into(), "x_order".into()], false).is_err());
        assert_eq!(dump(&path), before, "nothing was changed");
        let drops = ["record.title", "record.content", "x_order"].map(str::to_owned);
        assert_eq!(Sqlite::migrate(&path, &changed, &drops, false).unwrap().changes.len(), 4);
        assert_eq!(planned(&path, &changed), [""; 0]);
    }

    #[test]
    fn references_do_not_change_their_target_over_values() {
        let reference = |values, to: &str, was: Option<&str>| Reference {
            table: "record".into(),
            values,
            to: to.into(),
            was: was.map(Into::into),
            own: "x_record".into(),
            column: "".into(),
        };
        let tags = || ReferenceValues::Relation("post.tags".into());
        let parent = || ReferenceValues::Column("parent".into());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let with = |references| Layout { references, ..layout() };
        let db = Sqlite::open(
            OpenOptions::new(&path),
            &with(vec![reference(tags(), "tag", None), reference(parent(), "post", None)]),
        )
        .unwrap();
        let linked = Put { edges: vec![(name("post.tags"), vec![1, 2])], ..post("publish", 5, "x") };
        let term = || Change::Put(put("term", Target::New, &[]));
        commit(&db, vec![term(), term(), Change::Put(linked)]).unwrap();
        drop(db);
        let other = with(vec![reference(tags(), "label", None), reference(parent(), "page", None)]);
        let expected = [
            "record: let `post.tags` refer to rows of label (2 values refer to rows of tag) [record.post.tags]",
            "record: let `parent` refer to rows of page (1 values refer to rows of post) [record.parent]",
        ];
        assert_eq!(planned(&path, &other), expected);
        let drops = ["record.post.tags", "record.parent"].map(str::to_owned);
        Sqlite::migrate(&path, &other, &drops, false).unwrap();
        assert_eq!(planned(&path, &other), [""; 0]);
    }

    #[test]
    fn relations_keep_their_edges_under_a_new_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let items = |rel: &str, was: Option<&str>| {
            let mut layout = layout();
            layout.relations[2].name = rel.into();
            layout.references = vec![Reference {
                table: "x_order".into(),
                values: ReferenceValues::Relation(rel.into()),
                to: "post".into(),
                was: was.map(Into::into),
                own: "x_order".into(),
                column: "".into(),
            }];
            layout
        };
        let db = Sqlite::open(OpenOptions::new(&path), &items("order.items", None)).unwrap();
        let order = Put { edges: vec![(name("order.items"), vec![1])], ..put("x_order", Target::New, &[]) };
        commit(&db, vec![Change::Put(post("publish", 1, "x")), Change::Put(order)]).unwrap();
        drop(db);
        let renamed = items("order.things", Some("order.items"));
        assert_eq!(planned(&path, &renamed), ["x_order: rename the relation `order.items` to `order.things` []"]);
        let db = Sqlite::open(OpenOptions::new(&path), &renamed).unwrap();
        let linked = Cond::Linked { rel: name("order.things"), dst: vec![1] };
        assert_eq!(rows(&db, &read("x_order", &["id"], linked)).len(), 1);
        drop(db);
        assert!(Sqlite::open(OpenOptions::new(&path), &renamed).unwrap().applied().is_empty());
    }

    #[test]
    fn new_columns_have_their_default_in_old_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let open = |layout: &Layout| Sqlite::open(OpenOptions::new(&path), layout).unwrap();
        commit(&open(&layout()), vec![Change::Put(post("publish", 1, "x"))]).unwrap();
        let mut changed = layout();
        record(&mut changed).columns.push(column_or("flag", ColumnType::Word, text("brand new")));
        let db = open(&changed);
        let plan = read("record", &["flag"], eq("flag", text("brand new")));
        assert_eq!(rows(&db, &plan), [[text("brand new")]]);
    }

    #[test]
    fn what_is_derived_is_made_for_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let open = |layout: &Layout| Sqlite::open(OpenOptions::new(&path), layout).unwrap();
        let mut plain = layout();
        plain.counts.clear();
        for relation in &mut plain.relations {
            (relation.counted, relation.status, relation.sort) = (None, None, None);
        }
        for table in &mut plain.tables {
            table.states = None;
        }
        let db = open(&plain);
        let linked = |status: &str| Put {
            edges: vec![(name("post.categories"), vec![1]), (name("post.tags"), vec![1, 2])],
            ..post(status, 5, "x")
        };
        let term = || Change::Put(put("term", Target::New, &[]));
        let comment = put("comment", Target::New, &[("post", int(1)), ("status", text("approved"))]);
        let order = |state: &str| Put {
            edges: vec![(name("order.items"), vec![1])],
            ..put("x_order", Target::New, &[("state", text(state)), ("placed", int(5))])
        };
        let records = [linked("publish"), linked("private"), comment];
        let orders = [order("open"), order("lost"), order("lost")];
        let puts: Vec<Change> = records.into_iter().chain(orders).map(Change::Put).collect();
        commit(&db, [vec![term(), term()], puts].concat()).unwrap();
        drop(db);
        let db = open(&layout());
        // States are known that no declaration names.
        let of = |state: &str| {
            Cond::All(vec![eq("state", text(state)), Cond::Linked { rel: name("order.items"), dst: vec![1] }])
        };
        for (filter, n) in [(of("lost"), 2), (of("open"), 1), (of("paid"), 0), (eq("state", text("lost")), 2)] {
            let plan = read("x_order", &["id"], filter);
            assert_eq!((rows(&db, &plan).len(), db.snapshot().unwrap().count(&plan).unwrap()), (n, n as u64));
        }
        commit(&db, vec![Change::Put(order("found")), Change::Put(order("lost"))]).unwrap();
        assert_eq!(rows(&db, &read("x_order", &["id"], of("lost"))).len(), 3);
        assert_eq!(db.snapshot().unwrap().count(&read("x_order", &["id"], Cond::All(vec![]))).unwrap(), 5);
        let all = |table: &str, column: &str| ints(rows(&db, &read(table, &[column], Cond::All(vec![]))));
        assert_eq!(all("term", "count"), [3, 2]);
        assert_eq!(all("record", "comment_count"), [1, 0]);
        let newest = ReadPlan {
            order: vec![Order::Column(name("date_local"), true)],
            ..read(
                "record",
                &["id"],
                Cond::All(vec![
                    eq("status", text("publish")),
                    Cond::Linked { rel: name("post.categories"), dst: vec![1] },
                ]),
            )
        };
        assert_eq!(ints(rows(&db, &newest)), [1]);
    }
}
