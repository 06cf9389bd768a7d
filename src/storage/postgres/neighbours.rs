//! The other nodes: what this one has announced of itself, and in what they differ.

use super::super::connection::{int, text_at};
use super::super::nodes::{NodeFacts, Nodes};
use super::super::plan::Row;
use arc_swap::{ArcSwap, ArcSwapOption};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The names of the nodes' sessions, and the server's time in UTC milliseconds. There is a row without a name where there
/// are no nodes.
pub const NODES: &str = "SELECT a.application_name::text, (extract(epoch FROM clock_timestamp()) * 1000)::bigint \
    FROM (SELECT 1) AS one LEFT JOIN pg_stat_activity AS a \
    ON a.datname = current_database() AND a.application_name LIKE 'cms-server %' LIMIT 200";

/// Two measurements of a clock differ by the time that the answer took.
const TOLERANCE: i64 = 2;

/// See the module.
#[derive(Default)]
pub struct Neighbours {
    announced: ArcSwapOption<NodeFacts>,
    seen: ArcSwap<Seen>,
}

#[derive(Default)]
struct Seen {
    others: usize,
    /// A sentence for each node that differs.
    warnings: Vec<String>,
}

impl Neighbours {
    /// See [`Database::announce`](super::super::Database::announce).
    pub fn announce(&self, facts: NodeFacts) {
        self.announced.store(Some(Arc::new(facts)));
    }

    /// What this node shows of itself, once it serves.
    pub fn announced(&self) -> Option<Arc<NodeFacts>> {
        self.announced.load_full()
    }

    /// Takes notice of the nodes that there are; `own` is what this one shows.
    pub fn take(&self, own: &NodeFacts, nodes: &Nodes) {
        let others = || nodes.serving.iter().filter(|node| node.process != own.process);
        let warnings: Vec<String> = others().filter_map(|other| own.warning(other)).collect();
        let before = self.seen.load();
        for warning in warnings.iter().filter(|warning| !before.warnings.contains(warning)) {
            tracing::warn!("{warning}");
        }
        if warnings.is_empty() && !before.warnings.is_empty() {
            tracing::info!("all nodes agree again");
        }
        self.seen.store(Arc::new(Seen { others: others().count(), warnings }));
    }

    /// How many others there are.
    pub fn others(&self) -> usize {
        self.seen.load().others
    }

    /// A sentence for each that differs.
    pub fn warnings(&self) -> Vec<String> {
        self.seen.load().warnings.clone()
    }
}

/// The nodes of a schema, from the rows of [`NODES`] that came just now.
pub fn nodes(rows: &[Row], schema: &str) -> Nodes {
    let here = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    let ahead = rows.first().map_or(0, |row| (here - int(row, 1)) / 1000);
    let serving = rows.iter().filter_map(|row| NodeFacts::read(&text_at(row, 0)?, schema)).collect();
    Nodes { clock: if ahead.abs() <= TOLERANCE { 0 } else { ahead }, serving }
}
