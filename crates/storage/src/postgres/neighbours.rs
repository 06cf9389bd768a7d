//! The other nodes: what this one has announced of itself, and in what they differ.

use super::super::nodes::{Digest, NodeFacts, Nodes};
use super::super::plan::Row;
use super::super::statement::{int, text_at};
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
    seen: ArcSwap<NeighbourSummary>,
}

#[derive(Default)]
struct NeighbourSummary {
    others: usize,
    differing: Vec<DifferingNode>,
}

/// Another node that differs.
struct DifferingNode {
    process: Digest,
    /// In how many facts. A clock is never as far off as the last time, which is nothing new.
    facts: usize,
    warning: String,
}

impl DifferingNode {
    fn is_known(&self, before: &NeighbourSummary) -> bool {
        before.differing.iter().any(|known| known.process == self.process && known.facts == self.facts)
    }
}

impl Neighbours {
    /// See [`Database::announce`](super::super::Database::announce).
    pub fn announce(&self, facts: NodeFacts) {
        self.announced.store(Some(Arc::new(facts)));
    }

    /// The facts that this node announces, once it serves.
    pub fn announced(&self) -> Option<Arc<NodeFacts>> {
        self.announced.load_full()
    }

    /// Takes notice of the nodes that there are; `own` is what this one shows.
    pub fn take(&self, own: &NodeFacts, nodes: &Nodes) {
        let others = || nodes.serving.iter().filter(|node| node.process != own.process);
        let differing = others().filter_map(|other| {
            let (process, facts) = (other.process.clone(), own.differences(other).len());
            own.warning(other).map(|warning| DifferingNode { process, facts, warning })
        });
        let (differing, before): (Vec<DifferingNode>, _) = (differing.collect(), self.seen.load());
        for node in differing.iter().filter(|node| !node.is_known(&before)) {
            tracing::warn!("{}", node.warning);
        }
        if differing.is_empty() && !before.differing.is_empty() {
            tracing::info!("all nodes agree again");
        }
        self.seen.store(Arc::new(NeighbourSummary { others: others().count(), differing }));
    }

    /// How many others there are.
    pub fn others(&self) -> usize {
        self.seen.load().others
    }

    /// A sentence for each that differs.
    pub fn warnings(&self) -> Vec<String> {
        self.seen.load().differing.iter().map(|node| node.warning.clone()).collect()
    }
}

/// The nodes of a schema, from the rows of [`NODES`] that came just now.
pub fn nodes(rows: &[Row], schema: &str) -> Nodes {
    let here = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    let ahead = rows.first().map_or(0, |row| (here - int(row, 1)) / 1000);
    let serving = rows.iter().filter_map(|row| NodeFacts::read(&text_at(row, 0)?, schema)).collect();
    Nodes { clock: if ahead.abs() <= TOLERANCE { 0 } else { ahead }, serving }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_difference_is_told_once() {
        let fact = |text: &str| Digest::of(text);
        let own = NodeFacts {
            name: "one".into(),
            version: "0.1.0".into(),
            process: fact("one"),
            declarations: fact("declarations"),
            site: fact("site"),
            secrets: fact("secrets"),
            files: None,
            clock: 0,
        };
        let other = |clock, declarations: &str| NodeFacts {
            process: fact("two"),
            clock,
            declarations: fact(declarations),
            ..own.clone()
        };
        let neighbours = Neighbours::default();
        let meets = |nodes: Vec<NodeFacts>| {
            let before = neighbours.seen.load_full();
            neighbours.take(&own, &Nodes { clock: 0, serving: nodes });
            let seen = neighbours.seen.load();
            (neighbours.others(), seen.differing.iter().map(|node| node.is_known(&before)).collect::<Vec<_>>())
        };
        assert_eq!(meets(vec![own.clone()]), (0, vec![]), "it is no neighbour of its own");
        assert_eq!(meets(vec![own.clone(), other(0, "declarations")]), (1, vec![]));
        assert_eq!(meets(vec![other(3600, "declarations")]), (1, vec![false]));
        assert_eq!(meets(vec![other(3601, "declarations")]), (1, vec![true]));
        assert!(neighbours.warnings()[0].contains("3601 seconds ahead"));
        assert_eq!(meets(vec![other(3601, "others")]), (1, vec![false]));
        assert_eq!(meets(vec![]), (0, vec![]));
    }
}
