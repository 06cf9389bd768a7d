//! Slugs: who claims which, and the smallest free suffix.
//!
//! `slug` holds one row for each claim. `slug_run` holds, for each base, the maximal runs of numbers that are claimed
//! as `base-n` (n from 2), however the claim came about. The smallest free suffix is the end of the first run plus one,
//! so 100,000 equal titles cost one lookup each.

use super::super::connection::Connection;
use super::super::plan::{Change, SlugClaim, WritePlan};
use super::super::statement::{Dialect, Result, int, params, text_at};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Who claims a slug: table's number and row's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    pub table: i64,
    pub id: i64,
}

/// A slug that may be claimed.
pub struct FreeSlug {
    pub slug: Arc<str>,
    /// Who holds the last candidate, when that needed a suffix.
    pub holder: Option<Owner>,
}

const OWNER: &str = "SELECT \"table\", id FROM slug WHERE scope = ?1 AND slug = ?2";
/// The same of many slugs, between [`BETWEEN`]. The limit makes the planner look each of them up, whatever it knows of the
/// table.
const OWNERS: &str = "SELECT wanted.slug, found.\"table\", found.id \
    FROM unnest(string_to_array(?2, chr(31))) AS wanted (slug), LATERAL (SELECT \"table\", id FROM slug \
    WHERE slug.scope = ?1 AND slug.slug = wanted.slug LIMIT 1) AS found";
/// The last two runs that start at a number or before.
const NEAR: &str = "SELECT lo, hi FROM slug_run WHERE scope = ?1 AND base = ?2 AND lo <= ?3 ORDER BY lo DESC LIMIT 2";
/// The same for many bases and numbers.
const ALL_NEAR: &str = "SELECT wanted.base, wanted.n, found.lo, found.hi \
    FROM unnest(string_to_array(?2, chr(31)), string_to_array(?3, chr(31))::bigint[]) AS wanted (base, n), \
    LATERAL (SELECT lo, hi FROM slug_run WHERE slug_run.scope = ?1 AND slug_run.base = wanted.base AND lo <= wanted.n \
    ORDER BY lo DESC LIMIT 2) AS found";
/// No slug has it.
const BETWEEN: &str = "\u{1f}";

type SlugScope = Arc<str>;

/// Claims as the open transaction sees them. What it reads or writes of them is remembered until it ends.
#[derive(Default)]
pub struct Claims {
    owners: HashMap<(SlugScope, Arc<str>), Option<Owner>>,
    /// Numbers that were claimed, by scope and base, and are not in `slug_run` yet.
    numbers: BTreeSet<(SlugScope, Arc<str>, i64)>,
    /// The last two runs that start at a number or before, where that was read and nothing of the base was written.
    near: HashMap<(SlugScope, Arc<str>, i64), Vec<Run>>,
}

/// First and last number.
type Run = (i64, i64);

/// The slugs that plans are going to claim, by scope, where reading all of them at once saves round trips.
pub fn wanted<'p>(
    conn: &dyn Connection,
    plans: impl Iterator<Item = &'p WritePlan>,
) -> BTreeMap<SlugScope, Vec<Arc<str>>> {
    let mut wanted: BTreeMap<SlugScope, Vec<Arc<str>>> = BTreeMap::new();
    if conn.dialect() == Dialect::Postgres {
        let puts = plans.flat_map(|plan| &plan.changes).filter_map(|change| match change {
            Change::Put(put) => put.slug.as_ref(),
            _ => None,
        });
        for (claim, scope) in puts.filter_map(|claim| Some((claim, claim.scope.as_ref()?))) {
            let named = claim.candidates.iter().filter(|candidate| ***candidate != *SlugClaim::ID);
            wanted.entry(scope.clone()).or_default().extend(named.cloned());
        }
    }
    wanted
}

/// These slugs are going to be claimed in the next transaction.
pub fn expect(conn: &dyn Connection, wanted: &BTreeMap<SlugScope, Vec<Arc<str>>>) {
    for (scope, slugs) in wanted {
        conn.expect(OWNERS, params![scope, &slugs.join(BETWEEN)]);
        let (bases, numbers) = numbered(slugs);
        if !bases.is_empty() {
            conn.expect(ALL_NEAR, params![scope, &bases.join(BETWEEN), &numbers.join(BETWEEN)]);
        }
    }
}

/// The bases of slugs that have numbers, and the numbers that follow.
fn numbered(slugs: &[Arc<str>]) -> (Vec<&str>, Vec<String>) {
    slugs.iter().filter_map(|slug| split(slug)).map(|(base, n)| (base, (n + 1).to_string())).unzip()
}

impl Claims {
    /// Reads who claims the slugs that are going to be claimed.
    pub fn read(conn: &dyn Connection, wanted: BTreeMap<SlugScope, Vec<Arc<str>>>) -> Result<Claims> {
        let mut claims = Claims::default();
        for (scope, slugs) in wanted {
            let found = conn.select(OWNERS, params![&scope, &slugs.join(BETWEEN)])?;
            let (bases, numbers) = numbered(&slugs);
            if !bases.is_empty() {
                let key = |base: &str, n: i64| (scope.clone(), Arc::from(base), n);
                let (all, after) = (bases.join(BETWEEN), numbers.join(BETWEEN));
                let runs = conn.select(ALL_NEAR, params![&scope, &all, &after])?;
                let unread = bases.iter().zip(&numbers).filter_map(|(base, n)| Some(key(base, n.parse().ok()?)));
                claims.near.extend(unread.map(|key| (key, Vec::new())));
                for row in runs {
                    let key = key(&text_at(&row, 0).unwrap_or_default(), int(&row, 1));
                    claims.near.entry(key).or_default().push((int(&row, 2), int(&row, 3)));
                }
            }
            claims.owners.extend(slugs.into_iter().map(|slug| ((scope.clone(), slug), None)));
            for row in found {
                let owner = Owner { table: int(&row, 1), id: int(&row, 2) };
                let slug = text_at(&row, 0).unwrap_or_else(|| "".into());
                claims.owners.insert((scope.clone(), slug), Some(owner));
            }
        }
        Ok(claims)
    }

    /// Who claims a slug.
    fn owner(&mut self, conn: &dyn Connection, scope: &SlugScope, slug: &Arc<str>) -> Result<Option<Owner>> {
        let key = (scope.clone(), slug.clone());
        if let Some(known) = self.owners.get(&key) {
            return Ok(*known);
        }
        let found = conn.first(OWNER, params![scope, slug])?;
        let owner = found.map(|row| Owner { table: int(&row, 0), id: int(&row, 1) });
        self.owners.insert(key, owner);
        Ok(owner)
    }

    /// The first candidate that is free or `own`; otherwise the last (`reserved`: in any case) with the smallest free
    /// suffix, of `longest` bytes at most.
    pub fn free(
        &mut self,
        conn: &dyn Connection,
        scope: &SlugScope,
        (candidates, claim): (&[Arc<str>], &SlugClaim),
        own: Option<&str>,
        is_own: impl Fn(&Owner) -> bool,
    ) -> Result<FreeSlug> {
        let mut holder = None;
        for candidate in candidates.iter().filter(|_| !claim.reserved) {
            holder = self.owner(conn, scope, candidate)?.filter(|o| !is_own(o));
            if holder.is_none() {
                return Ok(FreeSlug { slug: candidate.clone(), holder });
            }
        }
        let last = candidates.last().map_or("", |c| c);
        self.write_runs(conn)?;
        let slug = smallest_suffix(conn, scope, (last, claim.longest), own)?;
        Ok(FreeSlug { slug: slug.into(), holder })
    }

    /// Claims a slug that is free.
    pub fn claim(&mut self, conn: &dyn Connection, scope: &SlugScope, slug: &Arc<str>, owner: Owner) -> Result<()> {
        let text = "INSERT INTO slug (scope, slug, \"table\", id) VALUES (?1, ?2, ?3, ?4)";
        conn.send(text, params![scope, slug, owner.table, owner.id])?;
        self.owners.insert((scope.clone(), slug.clone()), Some(owner));
        if let Some((base, n)) = split(slug) {
            self.numbers.insert((scope.clone(), base.into(), n));
        }
        Ok(())
    }

    /// Gives a claim up.
    pub fn release(&mut self, conn: &dyn Connection, scope: &SlugScope, slug: &Arc<str>) -> Result<()> {
        conn.send("DELETE FROM slug WHERE scope = ?1 AND slug = ?2", params![scope, slug])?;
        self.owners.insert((scope.clone(), slug.clone()), None);
        match split(slug) {
            Some((base, n)) if !self.numbers.remove(&(scope.clone(), base.into(), n)) => {
                self.forget_runs(scope, base);
                part_run(conn, scope, base, n)
            }
            _ => Ok(()),
        }
    }

    /// Something of a base is written.
    fn forget_runs(&mut self, scope: &str, base: &str) {
        self.near.retain(|(of, other, _), _| (&**of, &**other) != (scope, base));
    }

    /// Brings `slug_run` to what is claimed: numbers that follow each other cost one statement.
    pub fn write_runs(&mut self, conn: &dyn Connection) -> Result<()> {
        let numbers: Vec<_> = std::mem::take(&mut self.numbers).into_iter().collect();
        let runs: Vec<_> = numbers
            .chunk_by(|(scope, base, n), (other, same, next)| (scope, base, n + 1) == (other, same, *next))
            .map(|run| (&run[0].0, &run[0].1, (run[0].2, run[run.len() - 1].2)))
            .collect();
        for of_base in runs.chunk_by(|(scope, base, _), (other, same, _)| (scope, base) == (other, same)) {
            let (scope, base, _) = of_base[0];
            let own: Vec<Run> = of_base.iter().map(|(.., run)| *run).collect();
            let near = self.near(conn, scope, base, &own)?;
            join_runs(conn, scope, base, &own, near)?;
            self.forget_runs(scope, base);
        }
        Ok(())
    }

    /// The runs that may touch others, none of whose numbers was claimed.
    fn near(
        &self,
        conn: &dyn Connection,
        scope: &SlugScope,
        base: &Arc<str>,
        own: &[Run],
    ) -> Result<BTreeMap<i64, i64>> {
        let mut near = BTreeMap::new();
        let mut unread = Vec::new();
        for (_, hi) in own {
            match self.near.get(&(scope.clone(), base.clone(), hi + 1)) {
                Some(known) => near.extend(known.iter().copied()),
                None => unread.push(params![scope, base, hi + 1].to_vec()),
            }
        }
        let read = conn.select_each(NEAR, &unread)?;
        near.extend(read.iter().flatten().map(|row| (int(row, 0), int(row, 1))));
        Ok(near)
    }
}

/// The claim that a row holds: scope and slug.
pub fn held(conn: &dyn Connection, owner: Owner) -> Result<Option<(Arc<str>, Arc<str>)>> {
    let text = "SELECT scope, slug FROM slug WHERE \"table\" = ?1 AND id = ?2";
    let row = conn.first(text, params![owner.table, owner.id])?;
    Ok(row.and_then(|row| text_at(&row, 0).zip(text_at(&row, 1))))
}

/// Base and number of `base-n`, written as suffixes are; every number has one after it.
fn split(slug: &str) -> Option<(&str, i64)> {
    let (base, digits) = slug.rsplit_once('-')?;
    if base.is_empty() || digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|n| (2..i64::MAX).contains(n)).map(|n| (base, n))
}

/// A longer number shortens the base, so numbers are looked through by their length.
fn smallest_suffix(
    conn: &dyn Connection,
    scope: &str,
    (slug, longest): (&str, usize),
    own: Option<&str>,
) -> Result<String> {
    let mut n: i64 = 2;
    loop {
        let digits = n.to_string();
        let base = shorten(slug, longest.saturating_sub(digits.len() + 1));
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

/// Adds runs, none of whose numbers was claimed. `near` are those that may touch them, by their first numbers.
fn join_runs(conn: &dyn Connection, scope: &str, base: &str, own: &[Run], mut near: BTreeMap<i64, i64>) -> Result<()> {
    for (mut lo, mut hi) in own.iter().copied() {
        if let Some(last) = near.remove(&(hi + 1)) {
            drop_run(conn, scope, base, hi + 1)?;
            hi = last;
        }
        if let Some((first, _)) = near.range(..lo).next_back().filter(|(_, last)| **last == lo - 1) {
            lo = *first;
        }
        near.insert(lo, hi);
        put_run(conn, scope, base, lo, hi)?;
    }
    Ok(())
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
