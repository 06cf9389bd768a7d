//! Edges and the rows at their ends, in one statement: the edges that a plan asks for, and the rows that a plan asks for by
//! their keys, are taken from it.

use super::super::super::plan::{ColumnType, Cond, DbValue, Edge, EdgePlan, Name, ReadPlan, Row};
use super::super::super::sql::Bind;
use super::super::super::sql_reads::{Executor as _, list};
use super::super::super::statement::int;
use super::super::super::words::NO_WORD;
use super::super::wire::plain;
use super::{AHEAD, Run, View};
use crate::error::StorageError;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;

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

/// Where the columns of a row begin.
const COLUMNS: usize = 3;

impl View<'_> {
    /// Sends for edges and the rows at their ends.
    pub(super) fn send_targets(&self, edges: &EdgePlan, plan: &ReadPlan) -> Result<(), StorageError> {
        let table = self.shared.catalogue.table(&plan.table)?;
        let words = |column: &Name| table.column(column).is_ok_and(|column| column.ty == ColumnType::Word);
        if edges.reverse || plan.columns.first() != Some(&table.def.key.name) || plan.columns.iter().any(words) {
            return Ok(());
        }
        let columns: Vec<String> = plan.columns.iter().map(|column| format!("t.\"{column}\"")).collect();
        let text = format!(
            "SELECT e.rel, e.src, e.dst, {} FROM edge AS e LEFT JOIN \"{}\" AS t ON t.\"{}\" = e.dst \
             WHERE e.rel = ANY(?1) AND e.src = ANY(?2) ORDER BY e.src, e.rel, e.pos",
            columns.join(", "),
            table.def.name,
            table.def.key.name
        );
        let rels: Vec<i64> = edges.rels.iter().map(|rel| self.words.number(rel).unwrap_or(NO_WORD)).collect();
        let binds = vec![list(&rels), list(&edges.of)];
        let plan = ReadPlan { filter: Cond::All(Vec::new()), ..plan.clone() };
        let mut targets = self.transaction.targets.borrow_mut();
        if targets.len() < AHEAD {
            self.transaction.send(self.shared, &text, &|| plain(&text), &binds);
            targets.push(Rc::new(Targets { edges: edges.clone(), plan, text, binds, found: OnceCell::new() }));
        }
        Ok(())
    }

    /// What was sent for that meets a condition.
    fn targets(&self, is: impl Fn(&Targets) -> bool) -> Option<Rc<Targets>> {
        self.transaction.targets.borrow().iter().find(|targets| is(targets)).cloned()
    }

    fn found<'t>(&self, targets: &'t Targets) -> Result<&'t [Row], StorageError> {
        if let Some(found) = targets.found.get() {
            return Ok(found);
        }
        let found = self.run(&targets.text, &|| plain(&targets.text), &targets.binds)?.rows;
        Ok(targets.found.get_or_init(|| found))
    }

    /// Whether these edges were sent for with the rows at their ends.
    pub(super) fn has_edges(&self, plan: &EdgePlan) -> bool {
        self.targets(|targets| targets.edges == *plan).is_some()
    }

    /// The edges of a plan that was sent for with the rows at their ends.
    pub(super) fn edges_of_targets(&self, plan: &EdgePlan) -> Result<Option<Vec<Edge>>, StorageError> {
        let Some(targets) = self.targets(|targets| targets.edges == *plan) else { return Ok(None) };
        let on: &dyn Run = self;
        let edge = |row: &Row| Ok(Edge { rel: on.word(&self.words, int(row, 0))?, src: int(row, 1), dst: int(row, 2) });
        self.found(&targets)?.iter().map(edge).collect::<Result<_, _>>().map(Some)
    }

    /// The rows of a plan that asks for nothing but ends of edges that were sent for.
    pub(super) fn rows_of_targets(&self, plan: &ReadPlan) -> Result<Option<Vec<Row>>, StorageError> {
        let Cond::In(column, keys) = &plan.filter else { return Ok(None) };
        let like = |targets: &Targets| {
            let ReadPlan { table, extensions, columns, filter: _, order, limit, offset, width: _ } = &targets.plan;
            (table, extensions, columns, order, limit, offset)
                == (&plan.table, &plan.extensions, &plan.columns, &plan.order, &plan.limit, &plan.offset)
                && columns.first() == Some(column)
        };
        let Some(targets) = self.targets(like) else { return Ok(None) };
        let found = self.found(&targets)?;
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
