//! What only PostgreSQL is responsible for.
