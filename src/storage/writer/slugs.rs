//! Slugs: who claims which, and the smallest free suffix.
//!
//! `slug` holds one row for each claim. `slug_run` holds, for each base, the maximal runs of numbers that are claimed
//! as `base-n` (n from 2), however the claim came about. The smallest free suffix is the end of the first run plus one,
//! so 100,000 equal titles cost one lookup each.

use super::super::connection::{Connection, Result, int, params, text_at};
use super::super::plan::SlugClaim;
use std::sync::Arc;

/// The most bytes a slug may have.
const LONGEST: usize = 200;

/// Who claims a slug: table's number and row's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub table: i64,
    pub id: i64,
}

/// A slug that may be claimed.
pub struct Free {
    pub slug: Arc<str>,
    /// Who holds the last candidate, when that needed a suffix.
    pub holder: Option<Owner>,
}

const OWNER: &str = "SELECT \"table\", id FROM slug WHERE scope = ?1 AND slug = ?2";

/// One of these is going to be claimed.
pub fn expect(conn: &dyn Connection, scope: &str, candidates: &[Arc<str>]) {
    for candidate in candidates.iter().filter(|candidate| ***candidate != *SlugClaim::ID) {
        conn.expect(OWNER, params![scope, candidate]);
    }
}

/// Who claims a slug.
pub fn owner(conn: &dyn Connection, scope: &str, slug: &str) -> Result<Option<Owner>> {
    Ok(conn.first(OWNER, params![scope, slug])?.map(|row| Owner { table: int(&row, 0), id: int(&row, 1) }))
}

/// The claim that a row holds: scope and slug.
pub fn held(conn: &dyn Connection, owner: Owner) -> Result<Option<(Arc<str>, Arc<str>)>> {
    let text = "SELECT scope, slug FROM slug WHERE \"table\" = ?1 AND id = ?2";
    let row = conn.first(text, params![owner.table, owner.id])?;
    Ok(row.and_then(|row| text_at(&row, 0).zip(text_at(&row, 1))))
}

/// The first candidate that is free or `own`; otherwise the last with the smallest free suffix.
pub fn free(
    conn: &dyn Connection,
    scope: &str,
    candidates: &[Arc<str>],
    own: Option<&str>,
    is_own: impl Fn(&Owner) -> bool,
) -> Result<Free> {
    let mut holder = None;
    for candidate in candidates {
        holder = owner(conn, scope, candidate)?.filter(|o| !is_own(o));
        if holder.is_none() {
            return Ok(Free { slug: candidate.clone(), holder });
        }
    }
    let last = candidates.last().map_or("", |c| c);
    let slug = smallest_suffix(conn, scope, last, own)?;
    Ok(Free { slug: slug.into(), holder })
}

/// Claims a slug that is free.
pub fn claim(conn: &dyn Connection, scope: &str, slug: &str, owner: Owner) -> Result<()> {
    let text = "INSERT INTO slug (scope, slug, \"table\", id) VALUES (?1, ?2, ?3, ?4)";
    conn.send(text, params![scope, slug, owner.table, owner.id])?;
    match split(slug) {
        Some((base, n)) => join_runs(conn, scope, base, n),
        None => Ok(()),
    }
}

/// Gives a claim up.
pub fn release(conn: &dyn Connection, scope: &str, slug: &str) -> Result<()> {
    conn.send("DELETE FROM slug WHERE scope = ?1 AND slug = ?2", params![scope, slug])?;
    match split(slug) {
        Some((base, n)) => part_run(conn, scope, base, n),
        None => Ok(()),
    }
}

/// Base and number of `base-n`, written as suffixes are.
fn split(slug: &str) -> Option<(&str, i64)> {
    let (base, digits) = slug.rsplit_once('-')?;
    if base.is_empty() || digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|n| *n >= 2).map(|n| (base, n))
}

/// A longer number shortens the base, so numbers are looked through by their length.
fn smallest_suffix(conn: &dyn Connection, scope: &str, slug: &str, own: Option<&str>) -> Result<String> {
    let mut n: i64 = 2;
    loop {
        let digits = n.to_string();
        let base = shorten(slug, LONGEST - digits.len() - 1);
        let next_length = 10i64.saturating_pow(digits.len() as u32);
        let own = own.and_then(split).filter(|(b, k)| *b == base && *k >= n && *k < next_length);
        match run_around(conn, scope, base, n)? {
            Some((lo, hi)) if lo <= n && n <= hi => match own {
                Some((_, k)) if k <= hi => return Ok(format!("{base}-{k}")),
                _ => n = (hi + 1).min(next_length),
            },
            _ => return Ok(format!("{base}-{n}")),
        }
    }
}

/// At most `most` bytes of the slug, cut between characters (encoded ones too) and not after a hyphen.
fn shorten(slug: &str, most: usize) -> &str {
    if slug.len() <= most {
        return slug;
    }
    let mut end = most;
    while !slug.is_char_boundary(end) {
        end -= 1;
    }
    let mut cut = &slug[..end];
    if let Some(at) = cut.rfind('%').filter(|at| cut.len() - at < 3) {
        cut = &cut[..at];
    }
    cut.trim_end_matches('-')
}

/// The last run that starts at `n` or before.
fn run_around(conn: &dyn Connection, scope: &str, base: &str, n: i64) -> Result<Option<(i64, i64)>> {
    let text = "SELECT lo, hi FROM slug_run WHERE scope = ?1 AND base = ?2 AND lo <= ?3 ORDER BY lo DESC LIMIT 1";
    Ok(conn.first(text, params![scope, base, n])?.map(|row| (int(&row, 0), int(&row, 1))))
}

fn join_runs(conn: &dyn Connection, scope: &str, base: &str, n: i64) -> Result<()> {
    let (mut lo, mut hi) = (n, n);
    let near = "SELECT lo, hi FROM slug_run WHERE scope = ?1 AND base = ?2 AND lo <= ?3 ORDER BY lo DESC LIMIT 2";
    for run in conn.select(near, params![scope, base, n + 1])?.iter().map(|row| (int(row, 0), int(row, 1))) {
        if run.0 == n + 1 {
            hi = run.1;
            drop_run(conn, scope, base, run.0)?;
        } else if run.1 == n - 1 {
            lo = run.0;
        }
    }
    put_run(conn, scope, base, lo, hi)
}

fn part_run(conn: &dyn Connection, scope: &str, base: &str, n: i64) -> Result<()> {
    let Some((lo, hi)) = run_around(conn, scope, base, n)?.filter(|(_, hi)| *hi >= n) else { return Ok(()) };
    if lo == n {
        drop_run(conn, scope, base, lo)?;
    } else {
        put_run(conn, scope, base, lo, n - 1)?;
    }
    if hi > n {
        put_run(conn, scope, base, n + 1, hi)?;
    }
    Ok(())
}

fn drop_run(conn: &dyn Connection, scope: &str, base: &str, lo: i64) -> Result<()> {
    let text = "DELETE FROM slug_run WHERE scope = ?1 AND base = ?2 AND lo = ?3";
    conn.send(text, params![scope, base, lo])
}

fn put_run(conn: &dyn Connection, scope: &str, base: &str, lo: i64, hi: i64) -> Result<()> {
    let text = "INSERT INTO slug_run (scope, base, lo, hi) VALUES (?1, ?2, ?3, ?4) \
        ON CONFLICT (scope, base, lo) DO UPDATE SET hi = excluded.hi";
    conn.send(text, params![scope, base, lo, hi])
}
