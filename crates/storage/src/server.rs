//! Databases on a PostgreSQL server, where the program was built with the feature `postgres`. Without it, every address of
//! one is refused.

#[cfg(not(feature = "postgres"))]
use {
    super::migrate::{PendingChange, Schema},
    super::opening::{DatabaseOptions, OpenError, OpenedDatabase},
    super::plan::Layout,
    crate::error::StorageError,
    std::time::Duration,
};

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

#[cfg(feature = "postgres")]
pub use super::postgres::Postgres as DatabaseServer;

/// Refuses every address.
#[cfg(not(feature = "postgres"))]
pub struct DatabaseServer;

#[cfg(not(feature = "postgres"))]
impl DatabaseServer {
    fn absent<T>(url: &str) -> Result<T, OpenError> {
        Err(OpenError::Server {
            at: shown(url),
            cause: "this program was built without PostgreSQL".into(),
            hint: "Build it with the feature `postgres` (a default one), or name a file: storage.url = \"sqlite:FILE\".",
        })
    }

    pub fn start(url: &str, _: Duration) -> Result<(), OpenError> {
        DatabaseServer::absent(url)
    }

    pub fn serve(url: &str, _: DatabaseOptions, _: &Layout) -> Result<OpenedDatabase, OpenError> {
        DatabaseServer::absent(url)
    }

    pub fn rehearse(url: &str, _: &Layout) -> Result<Vec<PendingChange>, OpenError> {
        DatabaseServer::absent(url)
    }

    pub fn migrate(url: &str, _: &Layout, _: &[String]) -> Result<Vec<PendingChange>, OpenError> {
        DatabaseServer::absent(url)
    }

    pub fn connection(url: &str) -> Result<Box<dyn Schema>, OpenError> {
        DatabaseServer::absent(url)
    }

    pub fn examine(url: &str, _: &Layout) -> Result<Vec<String>, StorageError> {
        DatabaseServer::absent(url).map_err(|error| StorageError::Failed(error.to_string()))
    }
}
