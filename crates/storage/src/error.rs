//! Why a read fails.

/// Why a read failed.
#[derive(Clone, Debug, PartialEq)]
pub enum StorageError {
    /// The cause, for the log; a client sees an opaque 500.
    Failed(String),
    /// The reads of the request have used up their [`crate::ReadBudget`].
    TimedOut,
    /// The database is away; why, for the log.
    Unavailable(String),
}

impl StorageError {
    /// The read was recorded and will have a result when it is repeated: see [`crate::BatchedReads`].
    pub(crate) fn not_yet() -> StorageError {
        StorageError::Failed("not read yet".into())
    }
}

impl std::fmt::Display for StorageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StorageError::Failed(cause) | StorageError::Unavailable(cause) => f.write_str(cause),
            StorageError::TimedOut => f.write_str("the read took too long"),
        }
    }
}

impl std::error::Error for StorageError {}
