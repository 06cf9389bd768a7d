//! PostgreSQL as a [`Storage`]: one schema of a database, which any number of nodes share.
//!
//! Each node has one connection that writes, a pool of connections for reads, and one on which it hears of what others
//! commit. What SQLite needs a file, a log and a search index for, the server does itself.

mod attempts;
mod connect;
mod driver;
mod functions;
mod listen;
mod neighbours;
mod open;
mod pool;
mod reader;
mod reads;
mod schema;
mod shared;
mod targets;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod wire;
mod writer;

pub use open::PgOptions;

use super::engine::StorageEngine;
use super::migrate::{Extent, PendingChange, Schema};
use super::nodes::{NodeFacts, Nodes};
use super::plan::Layout;
use super::queue::Queue;
use super::statement::DbError;
use crate::error::StorageError;
use crate::opening::{DatabaseOptions, OpenError, OpenedDatabase};
use crate::snapshot::Snapshot;
use cms_base::metrics::Reading;
use connect::Address;
use shared::PgShared;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wire::Session;
use writer::{PgConnection, STATISTICS};

/// A schema of a database. Dropping it waits until the writer has carried out what is queued.
pub struct Postgres {
    shared: Arc<PgShared>,
    queue: Queue,
    applied: Vec<PendingChange>,
    /// It drives the connections, so it goes last.
    address: Arc<Address>,
}

impl Postgres {
    /// Opens the database, which is brought to the layout.
    ///
    /// # Errors
    /// It cannot be reached, is none of ours, or has to be changed in a way that is not allowed.
    pub fn open(options: &PgOptions, layout: &Layout) -> Result<Postgres, OpenError> {
        let opened = open::open(options, layout)?;
        let shared = Arc::new(opened.shared);
        let (address, node, session) = (opened.address.clone(), shared.node.clone(), opened.session);
        let patience = options.patience;
        let queue = Queue::start(shared.common.clone(), options.queue, move || {
            Box::new(PgConnection::writing((address, node), session, patience))
        });
        let queue = queue.map_err(|e| open::server(&opened.address, &e, open::SYSTEM))?;
        opened.address.handle().spawn(listen::follow(Arc::downgrade(&shared), opened.address.clone()));
        Ok(Postgres { shared, queue, applied: opened.applied, address: opened.address })
    }

    /// See [`Place::start`](super::place::Place::start): a session that holds a lock.
    ///
    /// # Errors
    /// The database cannot be reached; others hold the lock for too long.
    pub fn start(url: &str, patience: Duration) -> Result<impl Sized + 'static, OpenError> {
        open::start(url, patience)
    }

    /// The changes that bring a database to a layout, the refused ones among them; nothing is changed.
    ///
    /// # Errors
    /// The database cannot be reached or written.
    pub fn rehearse(url: &str, layout: &Layout) -> Result<Vec<PendingChange>, OpenError> {
        open::migrated(url, layout, Extent::Rehearse)
    }

    /// Brings a database to a layout and deletes the values of `drops` where they stand in the way.
    ///
    /// # Errors
    /// The database cannot be reached or written; a change would lose values that are not in `drops`.
    pub fn migrate(url: &str, layout: &Layout, drops: &[String]) -> Result<Vec<PendingChange>, OpenError> {
        open::migrated(url, layout, Extent::Apply { drops })
    }

    /// See [`Place::open`](super::place::Place::open).
    ///
    /// # Errors
    /// See [`Postgres::open`].
    pub(super) fn serve(url: &str, options: DatabaseOptions, layout: &Layout) -> Result<OpenedDatabase, OpenError> {
        let DatabaseOptions { migrate, queue, connections, feed, .. } = options;
        let opened = Postgres::open(&PgOptions { migrate, queue, connections, feed, ..PgOptions::new(url) }, layout)?;
        let applied = opened.applied.clone();
        Ok((Arc::new(opened), applied))
    }

    /// A connection that writes or copies, to a database that may have no tables.
    ///
    /// # Errors
    /// The database cannot be reached, or is none of ours.
    pub(super) fn connection(url: &str) -> Result<Box<dyn Schema>, OpenError> {
        open::connected(url).map(|(_, connection, _)| Box::new(connection) as _)
    }

    /// Stored values that differ from recomputed ones, in sentences.
    pub fn examine(url: &str, layout: &Layout) -> Result<Vec<String>, StorageError> {
        open::examine(url, layout)
    }

    /// The changes that [`Postgres::open`] made to an existing database.
    pub fn applied(&self) -> &[PendingChange] {
        &self.applied
    }

    /// How often a thread has waited for the server, for reads and for writes.
    pub fn round_trips(&self) -> u64 {
        self.address.round_trips.load(Ordering::Relaxed)
    }

    /// How many statements the current thread has read with so far. Tests assert differences.
    pub fn queries() -> u64 {
        reads::queries()
    }
}

/// Carries out statements on a server, for tests.
#[cfg(test)]
pub(super) fn execute(url: &str, text: &str) {
    Session::connect(&Arc::new(Address::parse(url).unwrap()), None).unwrap().batch(text).unwrap();
}

impl StorageEngine for Postgres {
    const SETTLE: fn() = reader::settle;

    fn queue(&self) -> &Queue {
        &self.queue
    }

    fn view(&self) -> Result<Box<dyn Snapshot + '_>, StorageError> {
        Ok(Box::new(reader::PgSnapshot::begin(&self.shared)))
    }

    fn take_up_others(&self) -> Result<(), StorageError> {
        self.shared.catch_up()
    }

    fn hears_others(&self) -> bool {
        self.shared.hears.load(Ordering::Acquire)
    }

    fn is_leader(&self) -> bool {
        self.shared.leads.load(Ordering::Acquire)
    }

    fn show_facts(&self, facts: NodeFacts) {
        self.shared.neighbours.announce(facts);
    }

    fn list_nodes(&self) -> Result<Option<Nodes>, StorageError> {
        self.shared.nodes().map(Some)
    }

    fn list_disagreements(&self) -> Vec<String> {
        self.shared.neighbours.warnings()
    }

    fn count_rows(&self) -> Result<(), StorageError> {
        let session = Session::connect(&self.address, None).map_err(DbError::from)?;
        Ok(session.batch(STATISTICS)?)
    }

    fn own_readings(&self) -> Vec<Reading> {
        let neighbours = &self.shared.neighbours;
        vec![
            Reading::count("cms_server_database_round_trips", &[], self.round_trips()),
            Reading::gauge("cms_server_database_connections", &[], self.shared.pool.open() as f64),
            Reading::gauge("cms_server_leader", &[], f64::from(u8::from(self.is_leader()))),
            Reading::gauge("cms_server_nodes", &[], (neighbours.others() + 1) as f64),
            Reading::gauge("cms_server_nodes_differing", &[], neighbours.warnings().len() as f64),
        ]
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.queue.finish();
    }
}
