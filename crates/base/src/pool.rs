//! Threads for work that takes long, behind a queue that is bounded and shared fairly; turns of which each caller has one at a
//! time; and the memory that jobs share.
//!
//! # Places
//!
//! A job is done for somebody ([`JobOwner`]). Owners take turns, however many jobs each has waiting. None has more than
//! half of the places, and when all are taken, the owner with the most gives one up for one with fewer. So a caller who
//! fills the queue keeps nobody else out of it, and others wait for one job of that caller at a time. Where jobs wait for
//! somebody else, who may take all the time that there is, an owner has only some of the threads.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedMutexGuard, oneshot};

/// Whom a job is done for. A request gets its own from `Scope::job_owner`, which gives none while a transaction is open:
/// nothing that has to wait for a thread can be done there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobOwner(OwnerKey);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum OwnerKey {
    Program,
    User(i64),
    /// The network of an anonymous caller.
    Network(Option<IpAddr>),
}

impl JobOwner {
    /// The program itself: commands, imports from the command line.
    pub const PROGRAM: JobOwner = JobOwner(OwnerKey::Program);

    /// A user who is logged in.
    pub fn user(id: i64) -> JobOwner {
        JobOwner(OwnerKey::User(id))
    }

    /// Callers without credentials, by the network that they are in.
    pub fn network(network: Option<IpAddr>) -> JobOwner {
        JobOwner(OwnerKey::Network(network))
    }
}

/// Told whether it is carried out, or gives up its place.
type Job = Box<dyn FnOnce(JobTurn) + Send>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum JobTurn {
    Begins,
    GivesUp,
}

/// A few threads that carry out jobs.
pub struct Pool {
    shared: Arc<PoolState>,
}

struct PoolState {
    queue: Mutex<JobQueue>,
    changed: Condvar,
    /// Jobs that no thread has begun yet.
    waiting: AtomicUsize,
}

/// Jobs that wait, by owner; the owners in the order of their turns.
struct JobQueue {
    jobs: HashMap<JobOwner, VecDeque<Job>>,
    turns: VecDeque<JobOwner>,
    length: usize,
    most: usize,
    /// Jobs that threads carry out, by owner, and how many of one owner there are at most.
    running: HashMap<JobOwner, usize>,
    most_running: usize,
    closed: bool,
}

/// Why a job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// The queue is full, or its owner has as many jobs there as one may have.
    Busy,
    /// The job panicked, or the threads are gone.
    Failed,
}

impl JobQueue {
    fn new(most: usize, most_running: usize) -> JobQueue {
        JobQueue {
            jobs: HashMap::new(),
            turns: VecDeque::new(),
            length: 0,
            most: most.max(1),
            running: HashMap::new(),
            most_running: most_running.max(1),
            closed: false,
        }
    }

    /// Adds a job; the one that gives up its place for it.
    ///
    /// # Errors
    /// There is no place for it.
    fn push(&mut self, owner: JobOwner, job: Job) -> Result<Option<Job>, PoolError> {
        if self.closed {
            return Err(PoolError::Failed);
        }
        let own = self.jobs.get(&owner).map_or(0, VecDeque::len);
        if own >= self.most.div_ceil(2) {
            return Err(PoolError::Busy);
        }
        let removed = if self.length < self.most { None } else { Some(self.given_up(own)?) };
        if own == 0 {
            self.turns.push_back(owner);
        }
        self.jobs.entry(owner).or_default().push_back(job);
        self.length += 1;
        Ok(removed)
    }

    /// The newest job of the owner with the most, who keeps at least as many as one with `own` has with the new job.
    fn given_up(&mut self, own: usize) -> Result<Job, PoolError> {
        let most = self.jobs.iter().max_by_key(|(_, jobs)| jobs.len());
        let owner = most.filter(|(_, jobs)| jobs.len() > own + 1).map(|(owner, _)| *owner).ok_or(PoolError::Busy)?;
        let job = self.jobs.get_mut(&owner).and_then(VecDeque::pop_back).ok_or(PoolError::Busy)?;
        self.length -= 1;
        Ok(job)
    }

    /// The position of the first owner who may have a thread.
    fn turn(&self) -> Option<usize> {
        self.turns.iter().position(|owner| self.running.get(owner).is_none_or(|own| *own < self.most_running))
    }

    /// The oldest job of the owner whose turn it is. It runs until [`JobQueue::done`].
    fn pop(&mut self) -> Option<(JobOwner, Job)> {
        let owner = self.turns.remove(self.turn()?)?;
        let jobs = self.jobs.get_mut(&owner)?;
        let job = jobs.pop_front()?;
        if jobs.is_empty() {
            self.jobs.remove(&owner);
        } else {
            self.turns.push_back(owner);
        }
        self.length -= 1;
        *self.running.entry(owner).or_default() += 1;
        Some((owner, job))
    }

    /// A job of the owner has ended.
    fn done(&mut self, owner: JobOwner) {
        if let Some(own) = self.running.get_mut(&owner) {
            *own -= 1;
            if *own == 0 {
                self.running.remove(&owner);
            }
        }
    }
}

impl PoolState {
    fn queue(&self) -> MutexGuard<'_, JobQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job with its owner, as soon as there is one; `None` when there will be none for this thread.
    fn next(&self) -> Option<(JobOwner, Job)> {
        let idle = |queue: &mut JobQueue| queue.turn().is_none() && !queue.closed;
        self.changed.wait_while(self.queue(), idle).unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Pool {
    /// Starts `workers` threads, of which one owner has `own` at a time; `queue` jobs may wait.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(name: &str, (workers, own): (usize, usize), queue: usize) -> std::io::Result<Pool> {
        let queue = Mutex::new(JobQueue::new(queue, own));
        let shared = Arc::new(PoolState { queue, changed: Condvar::new(), waiting: AtomicUsize::new(0) });
        let pool = Pool { shared };
        for _ in 0..workers.max(1) {
            let shared = Arc::clone(&pool.shared);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared))?;
        }
        Ok(pool)
    }

    /// Jobs that no thread has begun yet.
    pub fn waiting(&self) -> usize {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Carries out a job; the caller waits without blocking a thread. A job whose caller is gone is left out.
    pub async fn run<T: Send + 'static>(
        &self,
        owner: JobOwner,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let (send, receive) = oneshot::channel();
        let place = QueueSlot::of(&self.shared);
        let job: Job = Box::new(move |turn| {
            drop(place);
            match turn {
                JobTurn::Begins if send.is_closed() => {}
                JobTurn::Begins => drop(send.send(Ok(job()))),
                JobTurn::GivesUp => drop(send.send(Err(PoolError::Busy))),
            }
        });
        let removed = self.shared.queue().push(owner, job)?;
        self.shared.changed.notify_one();
        if let Some(removed) = removed {
            removed(JobTurn::GivesUp);
        }
        receive.await.unwrap_or(Err(PoolError::Failed))
    }
}

impl Drop for Pool {
    /// The threads end when nothing waits any more.
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.changed.notify_all();
    }
}

/// A place in the queue, given back when a job begins, gives up or is refused.
struct QueueSlot(Arc<PoolState>);

impl QueueSlot {
    fn of(shared: &Arc<PoolState>) -> QueueSlot {
        shared.waiting.fetch_add(1, Ordering::Relaxed);
        QueueSlot(Arc::clone(shared))
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn work(shared: &PoolState) {
    while let Some((owner, job)) = shared.next() {
        // A job that panics must not end the thread: its caller sees a closed channel.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(JobTurn::Begins)));
        // No other thread has to be woken: this one takes what may run now.
        shared.queue().done(owner);
    }
}

/// Locks of owners, for work that each of them may do only once at a time.
#[derive(Default)]
pub struct OwnerTurns(Mutex<HashMap<JobOwner, Arc<tokio::sync::Mutex<()>>>>);

/// An owner's turn; the next one begins when it is dropped.
pub struct OwnerTurn {
    turns: Arc<OwnerTurns>,
    owner: JobOwner,
    /// There until the turn is dropped.
    guard: Option<OwnedMutexGuard<()>>,
}

impl OwnerTurns {
    /// Waits for the owner's turn.
    ///
    /// # Errors
    /// So many of the owner wait already, or it takes longer than this.
    pub async fn take(
        self: &Arc<OwnerTurns>,
        owner: JobOwner,
        most: usize,
        patience: Duration,
    ) -> Result<OwnerTurn, PoolError> {
        let own = Arc::clone(self.lock().entry(owner).or_default());
        // Beside the table and this one, each that waits or has its turn holds it.
        let crowded = Arc::strong_count(&own) > most + 2;
        let guard = match crowded {
            true => None,
            false => tokio::time::timeout(patience, own.lock_owned()).await.ok(),
        };
        // When this is dropped, an owner of whom nobody is left is taken out of the table.
        let turn = OwnerTurn { turns: Arc::clone(self), owner, guard };
        if turn.guard.is_some() { Ok(turn) } else { Err(PoolError::Busy) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobOwner, Arc<tokio::sync::Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OwnerTurn {
    fn drop(&mut self) {
        let mut turns = self.turns.lock();
        self.guard = None;
        if turns.get(&self.owner).is_some_and(|own| Arc::strong_count(own) == 1) {
            turns.remove(&self.owner);
        }
    }
}

/// Places that owners share, by owner.
#[derive(Debug, Default)]
pub struct OwnerShares(Mutex<ShareCounts>);

#[derive(Debug, Default)]
struct ShareCounts {
    all: usize,
    own: HashMap<JobOwner, usize>,
}

/// An owner's place, given back when this is dropped.
#[derive(Debug)]
pub struct OwnerPlace {
    shares: Arc<OwnerShares>,
    owner: JobOwner,
}

impl OwnerShares {
    /// Takes a place for the owner.
    ///
    /// # Errors
    /// The owner has `own` places, or all owners together have `all`.
    pub fn take(self: &Arc<OwnerShares>, owner: JobOwner, own: usize, all: usize) -> Result<OwnerPlace, PoolError> {
        let mut counts = self.lock();
        if counts.all >= all || counts.own.get(&owner).is_some_and(|taken| *taken >= own) {
            return Err(PoolError::Busy);
        }
        counts.all += 1;
        *counts.own.entry(owner).or_default() += 1;
        Ok(OwnerPlace { shares: Arc::clone(self), owner })
    }

    /// Places that are taken.
    pub fn taken(&self) -> usize {
        self.lock().all
    }

    fn lock(&self) -> MutexGuard<'_, ShareCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OwnerPlace {
    fn drop(&mut self) {
        let mut counts = self.shares.lock();
        counts.all -= 1;
        if let Some(own) = counts.own.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                counts.own.remove(&self.owner);
            }
        }
    }
}

/// Bytes that several jobs share: each takes what it may need before it begins, and waits until there is as much. In
/// order of arrival, so that a large job is not passed by small ones for ever.
#[derive(Debug, Default)]
pub struct Budget {
    /// Held by the thread that takes the next job.
    turn: Mutex<()>,
    taken: Mutex<u64>,
    freed: Condvar,
}

/// Bytes of a [`Budget`], given back when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    /// Takes bytes of at most `most`, as soon as they are free; `None` for more than there are at all. Who holds some
    /// must not take more.
    pub fn take(self: &Arc<Budget>, bytes: u64, most: u64) -> Option<Reservation> {
        if bytes > most {
            return None;
        }
        let _next = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |taken: &mut u64| taken.saturating_add(bytes) > most && *taken > 0;
        let mut taken = self.freed.wait_while(taken, full).unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_add(bytes);
        Some(Reservation { budget: Arc::clone(self), bytes })
    }

    /// Bytes that are taken now.
    pub fn taken(&self) -> u64 {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Gives back all but so many bytes.
    pub fn shrink_to(&mut self, bytes: u64) {
        let freed = self.bytes.saturating_sub(bytes);
        let mut taken = self.budget.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(freed);
        self.bytes -= freed;
        self.budget.freed.notify_all();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// Waits for a future on this thread, which has nothing else to do: the command line, threads that serve no requests, tests.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let bare = |_| tokio::runtime::Builder::new_current_thread().build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.or_else(bare).expect("a runtime without drivers needs nothing");
    runtime.block_on(future)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn jobs_are_done_refused_and_survived() {
        let pool = Pool::start("test", (1, 1), 2).expect("a thread");
        let run = |n: i64| pool.run(JobOwner::user(n), move || n);
        assert_eq!(run(7).await, Ok(7));
        let broken = pool.run(JobOwner::PROGRAM, || panic!("a job of the test"));
        assert_eq!(broken.await, Err::<(), _>(PoolError::Failed));
        let (begins, begun) = std::sync::mpsc::channel();
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let mut slow = Box::pin(pool.run(JobOwner::PROGRAM, move || {
            let _ = begins.send(());
            gate.recv().unwrap_or_default()
        }));
        assert!(futures_util::poll!(&mut slow).is_pending());
        begun.recv().expect("it occupies the thread");
        let mut first = Box::pin(run(1));
        assert!(futures_util::poll!(&mut first).is_pending());
        assert_eq!(run(1).await, Err(PoolError::Busy), "one owner has half of the places");
        let mut second = Box::pin(run(2));
        assert!(futures_util::poll!(&mut second).is_pending());
        assert_eq!((run(3).await, pool.waiting()), (Err(PoolError::Busy), 2), "refused jobs do not wait");
        drop(second);
        drop(open);
        assert_eq!((slow.await, first.await), (Ok(()), Ok(1)));
        assert_eq!((run(4).await, pool.waiting()), (Ok(4), 0), "a job whose caller is gone is left out");
    }

    #[test]
    fn owners_take_turns_and_the_one_with_the_most_gives_up_a_place() {
        let mut queue = JobQueue::new(8, 1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let job = |owner: i64| -> Job {
            let order = Arc::clone(&order);
            Box::new(move |turn| order.lock().expect("a lock").push((owner, turn == JobTurn::Begins)))
        };
        let mut push = |owner: i64| match queue.push(JobOwner::user(owner), job(owner)) {
            Ok(Some(removed)) => {
                removed(JobTurn::GivesUp);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => Err(error),
        };
        assert_eq!([1; 5].map(&mut push), [Ok(false), Ok(false), Ok(false), Ok(false), Err(PoolError::Busy)]);
        assert_eq!([2; 4].map(&mut push), [Ok(false); 4]);
        assert_eq!([3, 4, 3, 4].map(&mut push), [Ok(true); 4], "others find places");
        assert_eq!(push(3), Err(PoolError::Busy), "nobody has more than one more");
        assert_eq!(order.lock().expect("a lock").drain(..).filter(|(owner, _)| *owner > 2).count(), 0);
        while let Some((owner, job)) = queue.pop() {
            job(JobTurn::Begins);
            queue.done(owner);
        }
        let done: Vec<i64> = order.lock().expect("a lock").iter().map(|(owner, _)| *owner).collect();
        assert_eq!(done, [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!((queue.length, queue.turns.len(), queue.jobs.len(), queue.running.len()), (0, 0, 0, 0));
    }

    #[test]
    fn an_owner_has_only_some_of_the_threads() {
        let mut queue = JobQueue::new(16, 2);
        for owner in [1, 1, 1, 1, 2] {
            assert!(queue.push(JobOwner::user(owner), Box::new(|_| {})).is_ok());
        }
        let begin = |queue: &mut JobQueue| queue.pop().map(|(owner, _)| owner);
        let (one, two) = (Some(JobOwner::user(1)), Some(JobOwner::user(2)));
        assert_eq!([0; 4].map(|_| begin(&mut queue)), [one, two, one, None], "the third job of one owner waits");
        assert!(queue.push(JobOwner::user(2), Box::new(|_| {})).is_ok());
        assert_eq!([0; 2].map(|_| begin(&mut queue)), [two, None], "another one passes it");
        queue.done(JobOwner::user(1));
        assert_eq!([0; 2].map(|_| begin(&mut queue)), [one, None]);
    }

    #[tokio::test]
    async fn each_owner_has_one_turn_at_a_time() {
        let turns = Arc::new(OwnerTurns::default());
        let take = |n: i64| OwnerTurns::take(&turns, JobOwner::user(n), 1, Duration::from_secs(60));
        let (first, other) = (take(1).await.expect("a turn"), take(2).await.expect("a turn of another owner"));
        let mut second = Box::pin(take(1));
        assert!(futures_util::poll!(&mut second).is_pending());
        assert_eq!(take(1).await.err(), Some(PoolError::Busy), "one waits already");
        drop(first);
        let second = second.await.expect("a turn");
        let short = OwnerTurns::take(&turns, JobOwner::user(1), 1, Duration::ZERO);
        assert_eq!(short.await.err(), Some(PoolError::Busy), "patience ends");
        drop((second, other));
        assert_eq!(turns.lock().len(), 0);
    }

    #[test]
    fn no_owner_has_more_than_its_share() {
        let shares = Arc::new(OwnerShares::default());
        let take = |n: i64| shares.take(JobOwner::user(n), 2, 3);
        let (first, second) = (take(1), take(1));
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(take(1).err(), Some(PoolError::Busy), "two of three");
        let other = take(2);
        assert!(other.is_ok(), "another has places");
        assert_eq!(take(3).err(), Some(PoolError::Busy), "all are taken");
        drop(first);
        assert!(take(1).is_ok(), "given back");
        drop((second, other));
        let counts = shares.lock();
        assert_eq!((counts.all, counts.own.len()), (0, 0));
    }

    #[test]
    fn bytes_are_taken_and_given_back() {
        let budget = Arc::new(Budget::default());
        assert!(budget.take(11, 10).is_none(), "more than there is at all");
        let first = budget.take(10, 10).expect("all of it");
        std::thread::scope(|scope| {
            let (asks, asked) = std::sync::mpsc::channel();
            let budget = &budget;
            let waits = scope.spawn(move || {
                asks.send(()).expect("a listener");
                budget.take(1, 10).map(|taken| (budget.taken(), drop(taken)).0)
            });
            asked.recv().expect("a beginning");
            assert_eq!(budget.taken(), 10);
            drop(first);
            assert_eq!(waits.join().expect("an end"), Some(1));
        });
        assert_eq!(budget.taken(), 0);
        let mut result = budget.take(10, 10).expect("all of it");
        for (bytes, left) in [(4, 4), (7, 4), (0, 0)] {
            result.shrink_to(bytes);
            assert_eq!(budget.taken(), left, "a result that takes {bytes}");
        }
        // A panic gives back, too.
        let broken = std::panic::catch_unwind(|| {
            let _taken = budget.take(5, 10);
            panic!("a job of the test");
        });
        assert!(broken.is_err() && budget.taken() == 0);
    }
}
