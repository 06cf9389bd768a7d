//! Whether a row that is loaded already meets a condition.
//!
//! A condition on a row's own columns is decided here, as the database decides it: nothing equals null, and `Not` is
//! true of whatever is not true. For the rest the database is read.

use super::{Record, eq, first, plan, text};
use cms_storage::plan::{Cond, DbValue, Name, Op, ReadPlan};
use cms_storage::{Storage, StorageError};

/// Whether a row meets a condition on the rows of its resource. The database is asked at last, and for nothing that the
/// row itself decides.
pub fn meets(storage: &dyn Storage, record: Record<'_>, cond: &Cond) -> Result<bool, StorageError> {
    let value = |column: &Name| record.value(column.rsplit_once('.').map_or(&**column, |(_, own)| own));
    Ok(match cond {
        Cond::All(conds) => !any(storage, record, conds, false)?,
        Cond::Any(conds) => any(storage, record, conds, true)?,
        Cond::Not(cond) => !meets(storage, record, cond)?,
        Cond::Compare(column, Op::Eq, wanted) => value(column) == wanted,
        Cond::Compare(column, Op::Ne, wanted) if *wanted != DbValue::Null => {
            !matches!(value(column), DbValue::Null) && value(column) != wanted
        }
        Cond::In(column, wanted) => !matches!(value(column), DbValue::Null) && wanted.contains(value(column)),
        Cond::IsNull(column) => matches!(value(column), DbValue::Null),
        Cond::HasWord(column, word) => text(value(column)).split(' ').any(|own| *own == **word),
        // One row of another table, by its key.
        Cond::Related { table, inner, outer, filter } if **inner == *"id" => {
            let filter = Cond::All(vec![eq(inner, value(outer).clone()), (**filter).clone()]);
            first::<DbValue>(&*storage.snapshot()?, table, &[inner], filter)?.is_some()
        }
        other => {
            let own = Cond::Compare(record.resource.key.clone(), Op::Eq, record.value(&record.resource.key).clone());
            let columns = vec![record.resource.key.clone()];
            let plan = plan(record.resource, Cond::All(vec![own, other.clone()]));
            !storage.snapshot()?.rows(&ReadPlan { columns, limit: Some(1), ..plan })?.is_empty()
        }
    })
}

/// Whether one of the conditions is met, or not met.
fn any(storage: &dyn Storage, record: Record<'_>, conds: &[Cond], met: bool) -> Result<bool, StorageError> {
    for asks in [false, true] {
        for cond in conds.iter().filter(|cond| asks_database(cond) == asks) {
            if meets(storage, record, cond)? == met {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn asks_database(cond: &Cond) -> bool {
    match cond {
        Cond::All(conds) | Cond::Any(conds) => conds.iter().any(asks_database),
        Cond::Not(cond) => asks_database(cond),
        Cond::Compare(_, op, _) => !matches!(op, Op::Eq | Op::Ne),
        Cond::In(..) | Cond::IsNull(_) | Cond::HasWord(..) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::shipped;
    use crate::records::{not, own_rows, txt, words};
    use crate::registry::Registry;
    use crate::registry::name;
    use crate::registry::resource::Resource;
    use cms_storage::BatchedReads;
    use cms_storage::plan::{Change, Input, Put, Target, WritePlan};
    use cms_storage::sqlite::{OpenOptions, Sqlite};
    use std::sync::Arc;
    use tempfile::TempDir;

    /// Records whose columns have every combination of these values, null among them; each is below the one before.
    fn records(registry: &Registry) -> (TempDir, Arc<Sqlite>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = OpenOptions::new(folder.path().join("site.db"));
        let db = Sqlite::open(options, &registry.layout).expect("a database");
        let mut changes = Vec::new();
        for status in ["publish", "private", "trash", "unheard-of"] {
            for before in [DbValue::Null, txt("private"), txt("publish")] {
                for author in [0, 7] {
                    for password in [DbValue::Null, txt(""), txt("key")] {
                        let set = [
                            ("kind", txt("post")),
                            ("status", txt(status)),
                            ("status_before", before.clone()),
                            ("author", DbValue::Int(author)),
                            ("password", password),
                            ("parent", DbValue::Int(changes.len() as i64)),
                        ];
                        let set = set.map(|(column, value)| (name(column), Input::Value(value)));
                        changes.push(Change::Put(Put::new("record", Target::New, set.to_vec())));
                    }
                }
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(db.commit(WritePlan::new(changes))).expect("a commit");
        (folder, Arc::new(db))
    }

    fn conditions() -> Vec<Cond> {
        let parent = |filter| Cond::Related {
            table: name("record"),
            inner: name("id"),
            outer: name("parent"),
            filter: Box::new(filter),
        };
        let child = Cond::Related {
            table: name("record"),
            inner: name("parent"),
            outer: name("id"),
            filter: Box::new(eq("author", DbValue::Int(7))),
        };
        let simple = vec![
            words("status", ["publish"]),
            words("status", ["publish", "private"]),
            words("status_before", ["private", "never-stored"]),
            eq("status_before", DbValue::Null),
            eq("author", DbValue::Int(7)),
            Cond::Compare(name("author"), Op::Ne, DbValue::Int(7)),
            Cond::Compare(name("password"), Op::Ne, txt("key")),
            Cond::Compare(name("parent"), Op::Lt, DbValue::Int(9)),
            Cond::IsNull(name("password")),
            eq("password", txt("")),
            parent(words("status", ["trash"])),
            child,
        ];
        let mut all = simple.clone();
        for one in &simple {
            all.push(not(one.clone()));
            for other in &simple {
                all.push(Cond::All(vec![one.clone(), not(other.clone())]));
                all.push(not(Cond::Any(vec![not(one.clone()), other.clone()])));
                all.push(parent(Cond::All(vec![one.clone(), other.clone()])));
            }
        }
        all
    }

    #[test]
    fn a_row_is_decided_as_the_database_decides() {
        let registry = shipped(&[]);
        let (_folder, db) = records(&registry);
        let posts: &Resource = registry.resource_of_kind("post").expect("posts");
        let rows = db.snapshot().and_then(|snapshot| snapshot.rows(&plan(posts, own_rows(posts)))).expect("rows");
        assert_eq!(rows.len(), 72);
        let _held = db.pin_snapshot();
        for cond in conditions() {
            let found = db.snapshot().and_then(|snapshot| snapshot.rows(&plan(posts, cond.clone()))).expect("rows");
            let records = rows.iter().map(|row| Record { resource: posts, row });
            let met = records.filter(|record| meets(&*db, *record, &cond).expect("a decision"));
            let ids = |rows: Vec<i64>| rows.into_iter().collect::<std::collections::BTreeSet<_>>();
            let found = found.iter().map(|row| Record { resource: posts, row }.id()).collect();
            assert_eq!(ids(met.map(|record| record.id()).collect()), ids(found), "{cond:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let registry = shipped(&[]);
        let (_folder, db) = records(&registry);
        let posts = registry.resource_of_kind("post").expect("posts");
        let rows = db.snapshot().and_then(|snapshot| snapshot.rows(&plan(posts, own_rows(posts)))).expect("rows");
        // Nothing has been read yet, so every read of it fails.
        let failing = BatchedReads::new(db.clone());
        let parent = Cond::Related {
            table: name("record"),
            inner: name("id"),
            outer: name("parent"),
            filter: Box::new(Cond::All(Vec::new())),
        };
        let of = |cond: Cond| meets(&failing, Record { resource: posts, row: &rows[1] }, &cond);
        assert!(of(parent.clone()).is_err() && of(not(parent.clone())).is_err());
        assert!(of(Cond::All(vec![words("status", ["publish"]), parent.clone()])).is_err());
        // A condition that the row decides alone reads nothing.
        assert_eq!(of(Cond::Any(vec![parent.clone(), words("status", ["publish"])])).ok(), Some(true));
        assert_eq!(of(Cond::All(vec![parent, words("status", ["private"])])).ok(), Some(false));
    }
}
