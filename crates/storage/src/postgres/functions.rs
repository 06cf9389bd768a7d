//! Functions that statements call and PostgreSQL does not bring, and the index of parts of words.

use super::super::plan::Name;
use super::super::sql::{FOLD, PATTERN};
use super::super::statement::{Result, Statements as _};
use super::writer::PgConnection;
use unicode_normalization::char::is_combining_mark;

/// Collations whose lower case is Unicode's, best first.
const LOWER: &str = "SELECT collname::text FROM pg_collation \
    WHERE collname IN ('und-x-icu', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'en_US.UTF-8') \
    AND collencoding IN (-1, pg_char_to_encoding('UTF8')) \
    ORDER BY array_position(ARRAY['und-x-icu', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'en_US.UTF-8'], collname::text)";

/// Makes the functions.
pub fn create(conn: &PgConnection) -> Result<()> {
    let lower = conn.text(LOWER, &[])?.unwrap_or_else(|| "default".into());
    let marks = marks();
    // Folding goes as in `cms_text::fold`. At the end of a word this sigma would become another letter.
    conn.batch(&format!(
        "CREATE OR REPLACE FUNCTION {FOLD}(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fold$ \
         SELECT CASE WHEN octet_length($1) = length($1) THEN lower($1 COLLATE \"C\") ELSE \
         normalize(regexp_replace(lower(translate(regexp_replace(normalize($1, NFD) COLLATE \"C\", '{marks}', '', 'g'), \
         'Σ', 'σ') COLLATE \"{lower}\") COLLATE \"C\", '{marks}', '', 'g'), NFC) COLLATE \"C\" END $fold$; \
         CREATE OR REPLACE FUNCTION {PATTERN}(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $pattern$ \
         SELECT '%' || replace(replace(replace($1, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%' $pattern$; \
         CREATE OR REPLACE FUNCTION cms_members(text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $members$ \
         SELECT CASE jsonb_typeof($1::jsonb) WHEN 'array' THEN $1::jsonb \
         WHEN 'object' THEN jsonb_path_query_array($1::jsonb, '$.*') ELSE jsonb_build_array($1::jsonb) END $members$"
    ))
}

/// A regular expression for one combining mark.
fn marks() -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in
        (0x300..0x20000u32).chain(0xE0100..0xE01F0).filter(|c| char::from_u32(*c).is_some_and(is_combining_mark))
    {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == code => *end = code,
            _ => ranges.push((code, code)),
        }
    }
    let ranges: Vec<String> = ranges.iter().map(|(first, last)| format!("\\U{first:08X}-\\U{last:08X}")).collect();
    format!("[{}]", ranges.concat())
}

/// The schema that holds the extension for indexes of parts of words; `None` where it cannot be had.
pub fn trigrams(conn: &PgConnection) -> Result<Option<Name>> {
    let schema = "SELECT n.nspname::text FROM pg_opclass o JOIN pg_namespace n ON n.oid = o.opcnamespace \
        WHERE o.opcname = 'gin_trgm_ops'";
    if let Some(schema) = conn.text(schema, &[])? {
        return Ok(Some(schema));
    }
    conn.batch("SAVEPOINT extension")?;
    // Other schemas of the database can use it there, too.
    let public = conn.exists("SELECT 1 FROM pg_namespace WHERE nspname = 'public'", &[])?;
    let create = if public { "CREATE EXTENSION pg_trgm SCHEMA public" } else { "CREATE EXTENSION pg_trgm" };
    if let Err(error) = conn.batch(create) {
        conn.batch("ROLLBACK TO extension; RELEASE extension")?;
        tracing::warn!(
            "searches read every row: the extension pg_trgm cannot be created ({error}). Ask the database's administrator \
             for CREATE EXTENSION pg_trgm; the index follows at the next start"
        );
        return Ok(None);
    }
    conn.batch("RELEASE extension")?;
    conn.text(schema, &[])
}
