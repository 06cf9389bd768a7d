//! Timed transitions of records and the ends of other rows, on time and without traffic; entries of the audit trail that are too
//! many.
//!
//! The rules are the `transition` of declared states and the `retention` of plain resources. A thread sleeps until the next one is due and is woken by writes;
//! at startup everything that fell due meanwhile is done before the first response. It knows nothing of requests and
//! callers.

use crate::boot::{BootError, Services};
use arc_swap::ArcSwap;
use cms_base::clock::Clock;
use cms_base::metrics::{Counter, Reading};
use cms_base::pool::wait;
use cms_core::access::audit::FrequentEntries;
use cms_core::access::grants::ending_rows;
use cms_core::families::content::columns;
use cms_core::families::removal::{RemovalContext, RemovalError};
use cms_core::records::{self, Record, ordered, txt, words};
use cms_core::registry::resource::Resource;
use cms_core::registry::tables::moment_column;
use cms_core::registry::{Registry, name};
use cms_core::scope::{Settings, read_settings};
use cms_storage::plan::{Change, CommitError, Committed, Cond, DbValue, Name, Op, ReadPlan, WritePlan};
use cms_storage::{Database, Storage};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// Records that are read at once to be deleted.
const AT_ONCE: u64 = 100;

/// Between two runs, however many writes there are.
const PAUSE: Duration = Duration::from_millis(200);

/// Seconds until the next attempt after one that failed.
const RETRY: i64 = 2;

/// The result of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundSummary {
    /// Records that changed their state or were deleted.
    pub records: u64,
    /// When there is something to do next, in UTC seconds.
    pub next: Option<i64>,
}

/// Carries out what is due at `now` (UTC seconds). Records of one rule change in one commit. `stuck` are records that
/// cannot be deleted because others refer to them; they are left alone.
pub fn carry_out(
    registry: &Registry,
    storage: &dyn Storage,
    now: i64,
    stuck: &mut HashSet<i64>,
) -> Result<RoundSummary, BootError> {
    let mut done = RoundSummary::default();
    for rule in rules(registry) {
        let until = now.saturating_sub(rule.after);
        done.records += match rule.to {
            Some(to) => rule.move_on(storage, to, until)?,
            None => rule.delete(registry, storage, until, stuck)?,
        };
        let later = rule.first(storage, Op::Gt, until)?.map(|moment| moment.saturating_add(rule.after));
        done.next = [done.next, later].into_iter().flatten().min();
    }
    if registry.takes_tokens() {
        for (table, column, rows) in ending_rows() {
            let next = sweep(storage, (table, column), rows, now)?;
            done.next = [done.next, next].into_iter().flatten().min();
        }
    }
    for rule in retentions(registry) {
        done.records += rule.delete(registry, storage, now.saturating_sub(rule.after))?;
        let later =
            rule.first(storage, now.saturating_sub(rule.after))?.map(|moment| moment.saturating_add(rule.after));
        done.next = [done.next, later].into_iter().flatten().min();
    }
    Ok(done)
}

/// Deletes rows whose moment has passed; the moment of the next one.
fn sweep(storage: &dyn Storage, (table, column): (&str, &str), rows: Cond, now: i64) -> Result<Option<i64>, BootError> {
    let compared = |op, moment| Cond::All(vec![rows.clone(), Cond::Compare(name(column), op, DbValue::Int(moment))]);
    let first = |filter| {
        records::first_by::<i64>(
            &*storage.snapshot()?,
            ordered(records::columns(table, &[column], filter), column, false),
        )
    };
    if first(compared(Op::Le, now))?.is_some() {
        let change = Change::RemoveWhere { table: name(table), filter: compared(Op::Le, now) };
        commit(storage, vec![change]).map_err(BootError::Commit)?;
    }
    Ok(first(compared(Op::Gt, now))?)
}

/// Rows of a plain resource that are deleted some time after a moment.
struct RetentionRule<'r> {
    resource: &'r Resource,
    column: Name,
    /// Seconds.
    after: i64,
}

fn retentions(registry: &Registry) -> impl Iterator<Item = RetentionRule<'_>> {
    registry.resources.iter().filter_map(|resource| {
        let declared = resource.declared.retention.as_ref()?;
        let (column, after) = (resource.plan_column(&declared.on)?, declared.after.get()?.seconds_signed());
        Some(RetentionRule { resource, column, after })
    })
}

impl RetentionRule<'_> {
    /// The first moment after another one.
    fn first(&self, storage: &dyn Storage, moment: i64) -> Result<Option<i64>, BootError> {
        let later = Cond::Compare(self.column.clone(), Op::Gt, DbValue::Int(moment));
        let plan = ordered(records::columns(&self.resource.table, &[&*self.column], later), &self.column, false);
        Ok(records::first_by(&*storage.snapshot()?, plan)?)
    }

    /// Rows that something refers to stay until the next round.
    fn delete(&self, registry: &Registry, storage: &dyn Storage, until: i64) -> Result<u64, BootError> {
        let (mut deleted, mut stuck) = (0, HashSet::new());
        let settings = read_settings(registry, storage)?;
        loop {
            let past = Cond::Compare(self.column.clone(), Op::Le, DbValue::Int(until));
            let left = Cond::Not(Box::new(records::is_in("id", stuck.iter().copied())));
            let plan = records::plan(self.resource, Cond::All(vec![past, left]));
            let rows = storage.snapshot()?.rows(&ReadPlan { limit: Some(AT_ONCE), ..plan })?;
            if rows.is_empty() {
                return Ok(deleted);
            }
            for row in &rows {
                deleted += remove(registry, storage, &settings, Record { resource: self.resource, row }, &mut stuck)?;
            }
        }
    }
}

/// Deletes a row with what its deletion implies: 1, or 0 where it stays.
fn remove(
    registry: &Registry,
    storage: &dyn Storage,
    settings: &Settings,
    record: Record<'_>,
    stuck: &mut HashSet<i64>,
) -> Result<u64, BootError> {
    let resource = record.resource;
    let deciding = RemovalContext { registry, snapshot: &*storage.snapshot()?, settings, heir: None, left: &[] };
    let changes = match deciding.plan(record) {
        Ok(changes) => changes,
        Err(RemovalError::Storage(error)) => return Err(error.into()),
        Err(RemovalError::PointedTo { .. } | RemovalError::DefaultTerm) => {
            tracing::warn!("{} {} cannot be deleted: it is referred to", resource.name, record.id());
            stuck.insert(record.id());
            return Ok(0);
        }
    };
    match commit(storage, changes) {
        Ok(_) => Ok(1),
        // Another writer changed it just now; the next round sees what it is.
        Err(CommitError::Stale) => Ok(0),
        Err(CommitError::Refused { tag, .. }) => {
            tracing::warn!("{} {} cannot be deleted: {tag}", resource.name, record.id());
            stuck.insert(record.id());
            Ok(0)
        }
        Err(error) => Err(BootError::Commit(error)),
    }
}

/// A transition by time.
struct TransitionRule<'r> {
    from: &'r str,
    column: &'static str,
    /// Seconds.
    after: i64,
    to: Option<&'r str>,
    resources: Vec<&'r Resource>,
}

fn rules(registry: &Registry) -> Vec<TransitionRule<'_>> {
    let declared =
        registry.declaration.statuses.iter().filter_map(|(from, status)| Some((from, status.transition.as_ref()?)));
    declared
        .filter_map(|(from, transition)| Some((from, transition, transition.after.get()?.seconds_signed())))
        .map(|(from, transition, after)| TransitionRule {
            from,
            column: moment_column(transition.on),
            after,
            to: transition.to.as_deref(),
            // A record that stands for a file is deleted with its file.
            resources: registry.content_types().filter(|r| !r.supports("files")).collect(),
        })
        .collect()
}

impl TransitionRule<'_> {
    /// Records in the state whose moment is known and compares so with `moment`.
    fn filter(&self, op: Op, moment: i64) -> Cond {
        Cond::All(vec![
            words(columns::KIND, self.resources.iter().map(|r| &*r.kind)),
            records::eq(columns::STATUS, txt(self.from)),
            Cond::Compare(name(self.column), Op::Gt, DbValue::Int(0)),
            Cond::Compare(name(self.column), op, DbValue::Int(moment)),
        ])
    }

    /// The first moment of these records.
    fn first(&self, storage: &dyn Storage, op: Op, moment: i64) -> Result<Option<i64>, BootError> {
        let plan =
            ordered(records::columns(columns::TABLE, &[self.column], self.filter(op, moment)), self.column, false);
        Ok(records::first_by(&*storage.snapshot()?, plan)?)
    }

    fn move_on(&self, storage: &dyn Storage, to: &str, until: i64) -> Result<u64, BootError> {
        if self.first(storage, Op::Le, until)?.is_none() {
            return Ok(0);
        }
        let set = vec![(name(columns::STATUS), txt(to))];
        let change = Change::UpdateWhere { table: name(columns::TABLE), filter: self.filter(Op::Le, until), set };
        Ok(commit(storage, vec![change]).map_err(BootError::Commit)?.touched)
    }

    fn delete(
        &self,
        registry: &Registry,
        storage: &dyn Storage,
        until: i64,
        stuck: &mut HashSet<i64>,
    ) -> Result<u64, BootError> {
        if self.first(storage, Op::Le, until)?.is_none() {
            return Ok(0);
        }
        let mut deleted = 0;
        let settings = read_settings(registry, storage)?;
        for resource in &self.resources {
            loop {
                let left = Cond::Not(Box::new(records::is_in("id", stuck.iter().copied())));
                let plan = records::plan(resource, Cond::All(vec![self.filter(Op::Le, until), left]));
                let rows = storage.snapshot()?.rows(&ReadPlan { limit: Some(AT_ONCE), ..plan })?;
                for row in &rows {
                    deleted += remove(registry, storage, &settings, Record { resource, row }, stuck)?;
                }
                if rows.is_empty() {
                    break;
                }
            }
        }
        Ok(deleted)
    }
}

/// Removes entries of the audit trail that are too many.
fn shorten_audit(frequent: &FrequentEntries, storage: &dyn Storage) -> Result<(), BootError> {
    if let Some(outdated) = frequent.outdated(storage)? {
        commit(storage, vec![outdated]).map_err(BootError::Commit)?;
    }
    Ok(())
}

fn commit(storage: &dyn Storage, changes: Vec<Change>) -> Result<Committed, CommitError> {
    wait(storage.commit(WritePlan::new(changes)))
}

// ------------------------------------------------------------------------------------------------ on time

/// Everything that the thread works with.
struct Job {
    registry: Arc<Registry>,
    storage: Arc<dyn Database>,
    frequent: Option<FrequentEntries>,
}

impl Job {
    fn new(registry: Arc<Registry>, storage: Arc<dyn Database>) -> Job {
        let frequent = FrequentEntries::declared(&registry);
        Job { registry, storage, frequent }
    }

    /// How often records have been written, entries of the audit trail, and rows that end by themselves.
    fn written(&self) -> (u64, u64, u64) {
        let version = |table: &Name| self.storage.scope_version(table);
        let tokens = ending_rows().map(|(table, ..)| name(table));
        let tokens = tokens.into_iter().filter(|_| self.registry.takes_tokens()).map(|table| version(&table));
        let ending = retentions(&self.registry).map(|rule| version(&rule.resource.table)).chain(tokens);
        (
            version(&name(columns::TABLE)),
            self.frequent.as_ref().map_or(0, |frequent| version(frequent.table())),
            ending.fold(0, u64::wrapping_add),
        )
    }
}

/// Carries out what is due until the process ends.
pub struct Scheduler {
    job: Arc<ArcSwap<Job>>,
    progress: Arc<SchedulerStatus>,
    thread: Thread,
}

/// How far the thread has come.
pub struct SchedulerStatus {
    clock: Arc<dyn Clock>,
    /// When the next transition is due, in UTC seconds; 0: there is none.
    due: AtomicI64,
    done: Counter,
}

impl SchedulerStatus {
    fn note(&self, done: RoundSummary) {
        self.due.store(done.next.unwrap_or(0), Ordering::Relaxed);
        self.done.add(done.records);
    }

    /// How many transitions were carried out.
    pub fn transitions(&self) -> u64 {
        self.done.get()
    }

    /// The readings of it on `/metrics`.
    pub fn readings(&self) -> [Reading; 2] {
        let lag = match self.due.load(Ordering::Relaxed) {
            0 => 0,
            due => self.clock.now().saturating_sub(due).max(0),
        };
        [
            Reading::gauge("cms_server_scheduler_lag_seconds", &[], lag as f64),
            Reading::count("cms_server_scheduler_transitions", &[], self.done.get()),
        ]
    }
}

impl Scheduler {
    /// Carries out what is due now, and starts the thread for what follows.
    ///
    /// # Errors
    /// The database cannot be read or written; no thread.
    pub fn start(registry: Arc<Registry>, services: &Services) -> Result<Scheduler, BootError> {
        let (storage, clock) = (services.storage.clone(), services.clock.clone());
        let progress = Arc::new(SchedulerStatus { clock, due: AtomicI64::new(0), done: Counter::default() });
        progress.note(carry_out(&registry, &*storage, progress.clock.now(), &mut HashSet::new())?);
        let job = Arc::new(ArcSwap::from_pointee(Job::new(registry, storage)));
        let (own, reached) = (job.clone(), progress.clone());
        let handle = thread::Builder::new().name("due".into()).spawn(move || keep(&own, &reached));
        let handle = handle.map_err(|e| BootError::Other(format!("no thread for what falls due: {e}")))?;
        let scheduler = Scheduler { job, progress, thread: handle.thread().clone() };
        scheduler.job.load().storage.wake(scheduler.thread.clone());
        Ok(scheduler)
    }

    /// How far it has come.
    pub fn progress(&self) -> &Arc<SchedulerStatus> {
        &self.progress
    }

    /// Continues with other declarations.
    pub fn take(&self, registry: Arc<Registry>, storage: Arc<dyn Database>) {
        storage.wake(self.thread.clone());
        self.job.store(Arc::new(Job::new(registry, storage)));
        self.thread.unpark();
    }
}

fn keep(jobs: &ArcSwap<Job>, progress: &SchedulerStatus) {
    let mut stuck = HashSet::new();
    let (mut due, mut audit) =
        (RoundStep::new("what is due has to wait"), RoundStep::new("the audit trail was not shortened"));
    loop {
        let job = jobs.load_full();
        // Read first, so that what is written during the run requires another.
        let (written, leads) = (job.written(), job.storage.leads());
        let mut next = None;
        if leads {
            let done = due.run(|| carry_out(&job.registry, &*job.storage, progress.clock.now(), &mut stuck));
            done.into_iter().for_each(|done| progress.note(done));
            let shortened =
                audit.run(|| job.frequent.as_ref().map_or(Ok(()), |frequent| shorten_audit(frequent, &*job.storage)));
            let retry = (done.is_none() || shortened.is_none()).then(|| progress.clock.now() + RETRY);
            next = [retry, done.and_then(|done| done.next)].into_iter().flatten().min();
        } else {
            progress.note(RoundSummary::default());
        }
        thread::sleep(PAUSE);
        let same =
            || Arc::ptr_eq(&job, &jobs.load()) && job.storage.leads() == leads && (!leads || job.written() == written);
        while same() && next.is_none_or(|next| next > progress.clock.now()) {
            progress.clock.park_until(next);
        }
    }
}

/// A step of every round, whatever becomes of the other steps.
struct RoundStep {
    /// The line of the log when it fails.
    failure: &'static str,
    /// It failed the last time, which the log has.
    failed: bool,
}

impl RoundStep {
    fn new(failure: &'static str) -> RoundStep {
        RoundStep { failure, failed: false }
    }

    /// Does it; a failure is logged once, until it succeeds.
    fn run<T>(&mut self, step: impl FnOnce() -> Result<T, BootError>) -> Option<T> {
        let done = step();
        let failed = std::mem::replace(&mut self.failed, done.is_err());
        done.inspect_err(|error| {
            if !failed {
                tracing::warn!("{}: {error}", self.failure);
            }
        })
        .ok()
    }
}
