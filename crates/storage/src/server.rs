//! Databases on a PostgreSQL server, where the program was built with the feature `postgres`. Without it, every address of
//! one is refused.

use super::migrate::{PendingChange, Schema};
use super::opening::{DatabaseOptions, OpenError};
use super::plan::Layout;
use crate::database::Database;
use crate::error::StorageError;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// A database that was opened, and what was changed in its tables.
pub type Opened = (Arc<dyn Database>, Vec<PendingChange>);

/// The address without the password and without options.
pub fn shown(url: &str) -> String {
    let Ok(mut parsed) = url::Url::parse(url) else { return "storage.url".into() };
    // Only an address that can have none has no password.
    let _ = parsed.set_password(None);
    parsed.set_query(None);
    parsed.to_string()
}

/// The name of the database.
pub fn name(url: &str) -> String {
    let name = url::Url::parse(url).ok().map(|url| url.path().trim_matches('/').to_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "site".into())
}

pub use engine::{connection, examine, migrate, open, rehearse, start};

#[cfg(feature = "postgres")]
mod engine {
    use super::super::postgres::{PgOptions, Postgres};
    use super::*;

    /// See [`Place::start`](super::super::place::Place::start).
    pub fn start(url: &str, patience: Duration) -> Result<Box<dyn Any>, OpenError> {
        Ok(Box::new(Postgres::start(url, patience)?))
    }

    /// Opens a database and brings it to the layout.
    pub fn open(url: &str, options: DatabaseOptions, layout: &Layout) -> Result<Opened, OpenError> {
        let DatabaseOptions { migrate, queue, connections, feed, .. } = options;
        let options = PgOptions { migrate, queue, connections, feed, ..PgOptions::new(url) };
        let opened = Postgres::open(&options, layout)?;
        let applied = opened.applied().to_vec();
        Ok((Arc::new(opened), applied))
    }

    /// See [`Place::rehearse`](super::super::place::Place::rehearse).
    pub fn rehearse(url: &str, layout: &Layout) -> Result<Vec<PendingChange>, OpenError> {
        Postgres::rehearse(url, layout)
    }

    /// See [`Place::migrate`](super::super::place::Place::migrate).
    pub fn migrate(url: &str, layout: &Layout, drops: &[String]) -> Result<Vec<PendingChange>, OpenError> {
        Postgres::migrate(url, layout, drops)
    }

    /// A connection that copies, to a database that may have no tables.
    pub fn connection(url: &str) -> Result<Box<dyn Schema>, OpenError> {
        Ok(Box::new(Postgres::connection(url)?))
    }

    /// See [`Place::examine`](super::super::place::Place::examine).
    pub fn examine(url: &str, layout: &Layout) -> Result<Vec<String>, StorageError> {
        Postgres::examine(url, layout)
    }
}

#[cfg(not(feature = "postgres"))]
mod engine {
    use super::*;

    fn absent(url: &str) -> OpenError {
        OpenError::Server {
            at: shown(url),
            cause: "this program was built without PostgreSQL".into(),
            hint: "Build it with the feature `postgres` (a default one), or name a file: storage.url = \"sqlite:FILE\".",
        }
    }

    pub fn start(url: &str, _: Duration) -> Result<Box<dyn Any>, OpenError> {
        Err(absent(url))
    }

    pub fn open(url: &str, _: DatabaseOptions, _: &Layout) -> Result<Opened, OpenError> {
        Err(absent(url))
    }

    pub fn rehearse(url: &str, _: &Layout) -> Result<Vec<PendingChange>, OpenError> {
        Err(absent(url))
    }

    pub fn migrate(url: &str, _: &Layout, _: &[String]) -> Result<Vec<PendingChange>, OpenError> {
        Err(absent(url))
    }

    pub fn connection(url: &str) -> Result<Box<dyn Schema>, OpenError> {
        Err(absent(url))
    }

    pub fn examine(url: &str, _: &Layout) -> Result<Vec<String>, StorageError> {
        Err(StorageError::Failed(absent(url).to_string()))
    }
}
