//! Edges and the rows at their ends, in one statement: the edges that a plan asks for, and the rows that a plan asks for by
//! their keys, are taken from it.

use super::super::plan::{ColumnType, Cond, DbValue, Edge, EdgePlan, Name, ReadPlan, Row};
use super::super::sql::Bind;
use super::super::sql_reads::{Executor as _, Names, list};
use super::super::statement::int;
use super::super::words::{NO_WORD, Words};
use super::reads::StatementRunner;
use super::wire::plain;
use crate::error::StorageError;
use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

/// Most statements of this kind in one transaction.
const MOST: usize = 16;

/// Where the columns of a row begin.
const COLUMNS: usize = 3;

/// Edges that were sent for, with the rows at their ends.
pub struct Targets {
    edges: EdgePlan,
    /// The plan that reads some of the rows, without their keys.
    plan: ReadPlan,
    text: String,
    binds: Vec<Bind>,
    /// Relation, source and target of each edge, and the columns of the row that it leads to.
    found: OnceCell<Vec<Row>>,
}

impl Targets {
    /// The statement for edges and the rows at their ends, where one can read both.
    pub fn of(edges: &EdgePlan, plan: &ReadPlan, names: Names<'_>) -> Result<Option<Targets>, StorageError> {
        let table = names.catalogue.table(&plan.table)?;
        let words = |column: &Name| table.column(column).is_ok_and(|column| column.ty == ColumnType::Word);
        if edges.reverse || plan.columns.first() != Some(&table.def.key.name) || plan.columns.iter().any(words) {
            return Ok(None);
        }
        let columns: Vec<String> = plan.columns.iter().map(|column| format!("t.\"{column}\"")).collect();
        let text = format!(
            "SELECT e.rel, e.src, e.dst, {} FROM edge AS e LEFT JOIN \"{}\" AS t ON t.\"{}\" = e.dst \
             WHERE e.rel = ANY(?1) AND e.src = ANY(?2) ORDER BY e.src, e.rel, e.pos",
            columns.join(", "),
            table.def.name,
            table.def.key.name
        );
        let rels: Vec<i64> = edges.rels.iter().map(|rel| names.words.number(rel).unwrap_or(NO_WORD)).collect();
        let binds = vec![list(&rels), list(&edges.of)];
        let plan = ReadPlan { filter: Cond::All(Vec::new()), ..plan.clone() };
        Ok(Some(Targets { edges: edges.clone(), plan, text, binds, found: OnceCell::new() }))
    }

    fn found(&self, run: &dyn StatementRunner) -> Result<&[Row], StorageError> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found = run.run(&self.text, &|| plain(&self.text), &self.binds)?.rows;
        Ok(self.found.get_or_init(|| found))
    }
}

/// Reads of this kind that a transaction has sent.
#[derive(Default)]
pub struct TargetsBefore(RefCell<Vec<Rc<Targets>>>);

impl TargetsBefore {
    /// Sends for edges and the rows at their ends.
    pub fn add(&self, targets: Targets, send: impl FnOnce(&str, &[Bind])) {
        let mut before = self.0.borrow_mut();
        if before.len() < MOST {
            send(&targets.text, &targets.binds);
            before.push(Rc::new(targets));
        }
    }

    fn find(&self, is: impl Fn(&Targets) -> bool) -> Option<Rc<Targets>> {
        self.0.borrow().iter().find(|targets| is(targets)).cloned()
    }

    /// Whether these edges were sent for with the rows at their ends.
    pub fn has_edges(&self, plan: &EdgePlan) -> bool {
        self.find(|targets| targets.edges == *plan).is_some()
    }

    /// The edges of a plan that was sent for with the rows at their ends.
    pub fn edges(
        &self,
        run: &dyn StatementRunner,
        words: &Words,
        plan: &EdgePlan,
    ) -> Result<Option<Vec<Edge>>, StorageError> {
        let Some(targets) = self.find(|targets| targets.edges == *plan) else { return Ok(None) };
        let edge = |row: &Row| Ok(Edge { rel: run.word(words, int(row, 0))?, src: int(row, 1), dst: int(row, 2) });
        targets.found(run)?.iter().map(edge).collect::<Result<_, _>>().map(Some)
    }

    /// The rows of a plan that asks for nothing but ends of edges that were sent for.
    pub fn rows(&self, run: &dyn StatementRunner, plan: &ReadPlan) -> Result<Option<Vec<Row>>, StorageError> {
        let Cond::In(column, keys) = &plan.filter else { return Ok(None) };
        let like = |targets: &Targets| {
            let ReadPlan { table, extensions, columns, filter: _, order, limit, offset, width: _ } = &targets.plan;
            (table, extensions, columns, order, limit, offset)
                == (&plan.table, &plan.extensions, &plan.columns, &plan.order, &plan.limit, &plan.offset)
                && columns.first() == Some(column)
        };
        let Some(targets) = self.find(like) else { return Ok(None) };
        let found = targets.found(run)?;
        let ends: HashSet<i64> = found.iter().map(|row| int(row, 2)).collect();
        let mut wanted: HashSet<i64> = HashSet::new();
        for key in keys {
            match key {
                DbValue::Int(key) if ends.contains(key) => wanted.insert(*key),
                _ => return Ok(None),
            };
        }
        // An end without a row has no key. Each row comes once.
        let rows = found.iter().filter(|row| row[COLUMNS] != DbValue::Null && wanted.remove(&int(row, 2)));
        Ok(Some(rows.map(|row| row[COLUMNS..].to_vec()).collect()))
    }
}
