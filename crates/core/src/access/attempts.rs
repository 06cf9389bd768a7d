//! Failed guesses of secrets (passwords of accounts and of records), and proven secrets: a source that guesses too
//! often waits, and a source that has proven a secret before neither waits nor costs another slow hash.
//!
//! In memory only. It knows no password table.
//!
//! # Counted attempts
//!
//! A guess counts three times: for its source and its target, for its source, and for the wider network around it. A
//! source is an IPv4 address or an IPv6 /64, and the network around it the /24 or /48, which is what one customer of a
//! provider usually has. So nobody can lock an owner out from elsewhere, and nobody gets more guesses by naming more
//! accounts or by using more addresses of one network. The tables are bounded; see [`super::meter`] for what an
//! attacker gains by filling them.
//!
//! A proof counts for the source that gave it. Otherwise an attacker who has to wait could go on guessing:
//! every guess would be refused except the right one. For the same reason even the owner's own source may check only so
//! often while it waits ([`LOOKS`]): another person may be guessing behind the same address.

use super::meter::{Bucket, BucketHasher, BucketKey, Meter};
use crate::scope::Scope;
use cms_base::network;
use cms_declaration::units::Duration;
use quick_cache::sync::Cache;
use std::net::IpAddr;

/// Proven secrets that are cached, of 16 bytes each.
const MOST_PROVEN: usize = 1_000;

/// The guesses of a source over all accounts, as a multiple of those about one account.
const SOURCE: i64 = 5;

/// The guesses of a wider network, as a multiple of those of one source about one account.
const AROUND: i64 = 20;

/// While a source waits: the secrets that are compared with what it has proven, as a multiple of its guesses.
const LOOKS: i64 = 10;

/// How many guesses are allowed; times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct AttemptLimit {
    /// Consecutive wrong guesses.
    burst: i64,
    /// Until one more is allowed.
    pause: i64,
}

impl AttemptLimit {
    /// So many attempts in a row, then one after each pause.
    pub fn paused(burst: u32, pause: Duration) -> AttemptLimit {
        AttemptLimit { burst: burst.into(), pause: i64::try_from(pause.milliseconds()).unwrap_or(i64::MAX).max(1000) }
    }

    /// So many times as many in a row, then one after so many pauses.
    pub fn times(self, (burst, pause): (i64, i64)) -> AttemptLimit {
        AttemptLimit { burst: self.burst.saturating_mul(burst), pause: self.pause.saturating_mul(pause) }
    }

    /// A burst of this many guesses, then this many per minute.
    pub fn per_minute(burst: u32, guesses: u32) -> AttemptLimit {
        AttemptLimit { burst: burst.into(), pause: (60_000 / i64::from(guesses.max(1))).max(1) }
    }
}

/// The guesser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guesser {
    /// A caller at this address.
    Network(Option<IpAddr>),
    /// A user who is logged in.
    User(i64),
}

impl Guesser {
    /// Anonymous callers are identified by their networks, users by their ids.
    pub fn of(scope: &Scope) -> Guesser {
        match scope.principal.id {
            0 => Guesser::Network(scope.peer.ip),
            id => Guesser::User(id),
        }
    }

    /// The key of a source: addresses of one /64 are one source.
    pub(super) fn source(self) -> Vec<u8> {
        match self {
            Guesser::Network(None) => vec![0],
            Guesser::Network(Some(ip)) => octets(network::caller_address(ip)),
            Guesser::User(id) => id.to_le_bytes().to_vec(),
        }
    }

    /// The key of the network around a source.
    fn network_key(self) -> Vec<u8> {
        match self {
            Guesser::Network(Some(ip)) => octets(network::network_of(ip, 24, 48)),
            other => other.source(),
        }
    }
}

/// An address as bytes; those of the two kinds are of different lengths.
fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}

/// A secret that a caller gives for something.
#[derive(Clone, Copy)]
pub struct Guess<'a> {
    pub who: Guesser,
    /// Whose secret it is to be: an account, a record.
    pub about: &'a str,
    pub secret: &'a str,
    /// The hash that the secret is compared with, if known beforehand: another hash is another secret to prove.
    pub stored: &'a str,
}

/// Whether a guess may be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It counts until [`Attempts::right`] or [`Attempts::give_back`] is called.
    Counted,
    /// This secret was right before, from here; it counts nowhere.
    Proven,
}

/// See the module's description.
pub struct Attempts {
    keys: BucketHasher,
    guesses: Meter,
    /// Comparisons of secrets with proven ones, by sources that wait.
    looks: Meter,
    proven: Cache<BucketKey, ()>,
}

impl Default for Attempts {
    fn default() -> Attempts {
        Attempts {
            keys: BucketHasher::default(),
            guesses: Meter::default(),
            looks: Meter::default(),
            proven: Cache::new(MOST_PROVEN),
        }
    }
}

impl Attempts {
    /// Counts a guess, if it is allowed.
    ///
    /// # Errors
    /// There is none left: seconds until there is.
    pub fn count_guess(&self, guess: &Guess<'_>, patience: AttemptLimit, now: i64) -> Result<AttemptOutcome, i64> {
        let now = now.saturating_mul(1000);
        let seconds = |wait: i64| (wait + 999) / 1000;
        match self.guesses.add_drops(&self.buckets(guess, patience), now) {
            Ok(()) if self.is_proven(guess) => {
                self.uncount_guess(guess, patience);
                Ok(AttemptOutcome::Proven)
            }
            Ok(()) => Ok(AttemptOutcome::Counted),
            Err(wait) => {
                let look = self.comparison_bucket(guess, patience);
                self.looks.add_drops(std::slice::from_ref(&look), now).map_err(|_| seconds(wait))?;
                if !self.is_proven(guess) {
                    return Err(seconds(wait));
                }
                self.looks.remove_drop(&look);
                Ok(AttemptOutcome::Proven)
            }
        }
    }

    /// The guess was right: it is cached, and the wrong guesses of this source about the same target are deleted.
    pub fn right(&self, guess: &Guess<'_>, patience: AttemptLimit) {
        self.forget_guesses(guess, patience);
        self.proven.insert(self.proof(guess), ());
    }

    /// The guess was right, and is good once: the wrong guesses of this source about the same target are deleted.
    pub fn forget_guesses(&self, guess: &Guess<'_>, patience: AttemptLimit) {
        let [own, all, around] = self.buckets(guess, patience);
        self.guesses.forget(&own.key);
        self.guesses.remove_drop(&all);
        self.guesses.remove_drop(&around);
    }

    /// Counts something that a source does about an account, where no outcome is awaited: a request for a message.
    ///
    /// # Errors
    /// It has done so too often: seconds until the next time.
    pub fn count(
        &self,
        from: Option<IpAddr>,
        about: &str,
        (most, pause): (u32, Duration),
        now: i64,
    ) -> Result<(), i64> {
        let guess = Guess { who: Guesser::Network(from), about, secret: "", stored: "" };
        let buckets = self.buckets(&guess, AttemptLimit::paused(most, pause));
        self.guesses.add_drops(&buckets, now.saturating_mul(1000)).map_err(|wait| (wait + 999) / 1000)
    }

    /// Counts something that a caller does about an account that it may change: over all accounts there is no limit.
    ///
    /// # Errors
    /// It has done so too often: seconds until the next time.
    pub fn count_own(&self, who: Guesser, about: &str, limit: AttemptLimit, now: i64) -> Result<(), i64> {
        let [own, ..] = self.buckets(&Guess { who, about, secret: "", stored: "" }, limit);
        self.guesses.add_drops(&[own], now.saturating_mul(1000)).map_err(|wait| (wait + 999) / 1000)
    }

    /// The guess was neither right nor wrong.
    pub fn uncount_guess(&self, guess: &Guess<'_>, patience: AttemptLimit) {
        for bucket in self.buckets(guess, patience) {
            self.guesses.remove_drop(&bucket);
        }
    }

    /// Forgets a proven secret that is wrong by now.
    pub fn forget_proof(&self, guess: &Guess<'_>) {
        self.proven.remove(&self.proof(guess));
    }

    fn is_proven(&self, guess: &Guess<'_>) -> bool {
        self.proven.get(&self.proof(guess)).is_some()
    }

    fn proof(&self, guess: &Guess<'_>) -> BucketKey {
        let source = guess.who.source();
        self.keys.of(&[b"proof", &source, guess.about.as_bytes(), guess.stored.as_bytes(), guess.secret.as_bytes()])
    }

    /// One source's guesses about one account and about all, and those of the network around it.
    fn buckets(&self, guess: &Guess<'_>, patience: AttemptLimit) -> [Bucket; 3] {
        let (source, around) = (guess.who.source(), guess.who.network_key());
        let of = |key: BucketKey, times: i64| Bucket {
            key,
            pause: (patience.pause / times).max(1),
            burst: patience.burst.saturating_mul(times),
        };
        [
            of(self.keys.of(&[b"own", &source, guess.about.as_bytes()]), 1),
            of(self.keys.of(&[b"all", &source]), SOURCE),
            of(self.keys.of(&[b"around", &around]), AROUND),
        ]
    }

    fn comparison_bucket(&self, guess: &Guess<'_>, patience: AttemptLimit) -> Bucket {
        let key = self.keys.of(&[b"look", &guess.who.source(), guess.about.as_bytes()]);
        Bucket { key, pause: (patience.pause / LOOKS).max(1), burst: patience.burst.saturating_mul(LOOKS) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::meter::MOST;
    use super::*;

    fn patience() -> AttemptLimit {
        AttemptLimit::paused(3, Duration::seconds_of(60))
    }

    fn ip(text: &str) -> Guesser {
        Guesser::Network(text.parse().ok())
    }

    fn guess<'a>(from: &str, about: &'a str, secret: &'a str) -> Guess<'a> {
        Guess { who: ip(from), about, secret, stored: "hash" }
    }

    #[test]
    fn guesses_run_out_and_come_back() {
        let attempts = Attempts::default();
        let take =
            |from: &str, account: &str, now: i64| attempts.count_guess(&guess(from, account, "x"), patience(), now);
        let allowed = |from: &str, account: &str, now: i64| take(from, account, now).is_ok();
        assert!((0..3).all(|_| allowed("192.0.2.1", "ada", 1000)));
        assert_eq!((take("192.0.2.1", "ada", 1000), take("192.0.2.1", "ada", 1059)), (Err(60), Err(1)));
        assert!(allowed("192.0.2.2", "ada", 1000), "the owner elsewhere is not locked out");
        assert!(allowed("192.0.2.1", "bob", 1000));
        assert!(allowed("192.0.2.1", "ada", 1061) && !allowed("192.0.2.1", "ada", 1061));
        attempts.right(&guess("192.0.2.1", "ada", "x"), patience());
        assert!(allowed("192.0.2.1", "ada", 1061));
    }

    #[test]
    fn a_network_guesses_about_many_accounts_no_more_often() {
        let attempts = Attempts::default();
        let take = |from: &str, account: &str| attempts.count_guess(&guess(from, account, "x"), patience(), 0);
        let allowed =
            |from: &dyn Fn(u32) -> String| (0..100).filter(|n| take(&from(*n), &format!("user{n}")).is_ok()).count();
        assert_eq!(allowed(&|_| "2001:db8::1".into()), 15);
        assert_eq!(take("2001:db8::ffff", "ada"), Err(12), "the same /64");
        assert_eq!(allowed(&|n| format!("2001:db8:0:{n:x}::1")), 60 - 15, "all of a /48");
        assert_eq!(take("2001:db8:0:ffff::1", "ada"), Err(3));
        assert!(take("2001:db8:1::1", "ada").is_ok());
        assert_eq!(allowed(&|n| format!("192.0.2.{n}")), 60, "all of a /24");
        assert_eq!(take("::ffff:192.0.2.200", "ada"), Err(3));
        assert!(take("192.0.3.1", "ada").is_ok() && take("", "ada").is_ok());
    }

    #[test]
    fn filling_the_table_does_not_free_a_guessed_account() {
        let attempts = Attempts::default();
        let full = guess("192.0.2.1", "ada", "x");
        while attempts.count_guess(&full, patience(), 0).is_ok() {}
        for n in 0..2 * MOST as u32 {
            let who = Guesser::Network(Some(IpAddr::V4((n << 8).into())));
            let _ = attempts.count_guess(&Guess { who, ..full }, patience(), 0);
        }
        assert_eq!(attempts.guesses.len(), MOST);
        assert_eq!(attempts.count_guess(&full, patience(), 0), Err(60));
    }

    #[test]
    fn long_accounts_take_no_more_place() {
        let attempts = Attempts::default();
        let long = "x".repeat(1 << 20);
        assert!(attempts.count_guess(&guess("192.0.2.1", &long, &long), patience(), 0).is_ok());
        let buckets = attempts.buckets(&guess("192.0.2.1", &long, &long), patience());
        assert!(buckets.iter().all(|bucket| size_of_val(&bucket.key) == 16));
    }

    #[test]
    fn a_proven_secret_is_proven_for_its_hash_and_its_source_alone() {
        let attempts = Attempts::default();
        let right = guess("192.0.2.1", "ada", "secret");
        assert_eq!(attempts.count_guess(&right, patience(), 0), Ok(AttemptOutcome::Counted));
        attempts.right(&right, patience());
        let ask = |guess: Guess<'_>| attempts.count_guess(&guess, patience(), 0);
        assert!((0..100).all(|_| ask(right) == Ok(AttemptOutcome::Proven)), "it counts nowhere");
        for other in [
            Guess { stored: "other", ..right },
            Guess { secret: "Secret", ..right },
            Guess { who: ip("192.0.2.2"), ..right },
            Guess { who: Guesser::User(1), ..right },
            Guess { about: "bob", ..right },
        ] {
            assert_eq!(ask(other), Ok(AttemptOutcome::Counted));
            attempts.uncount_guess(&other, patience());
        }
        attempts.forget_proof(&right);
        assert_eq!(ask(right), Ok(AttemptOutcome::Counted));
    }

    #[test]
    fn what_has_no_outcome_is_counted_alike() {
        let attempts = Attempts::default();
        let limit = (2, Duration::seconds_of(60));
        let count = |from: &str, about: &str, now: i64| attempts.count(from.parse().ok(), about, limit, now);
        assert_eq!([0; 3].map(|now| count("192.0.2.1", "ada", now)), [Ok(()), Ok(()), Err(60)]);
        assert_eq!(count("192.0.2.2", "ada", 0), Ok(()), "requests of others do not keep the owner from it");
        assert_eq!((count("192.0.2.1", "ada", 59), count("192.0.2.1", "ada", 60)), (Err(1), Ok(())));
        let many = (0..100).filter(|n| count("192.0.2.9", &format!("user{n}"), 0).is_ok()).count();
        assert_eq!(many, 10, "of all accounts five times as many");
        let own = |about: &str, now: i64| attempts.count_own(Guesser::User(7), about, patience(), now);
        assert_eq!([0; 4].map(|now| own("ada", now)), [Ok(()), Ok(()), Ok(()), Err(60)]);
        assert!((0..100).all(|n| own(&format!("user{n}"), 0).is_ok()));
    }

    #[test]
    fn who_waits_cannot_go_on_guessing_what_the_owner_has_proven() {
        let attempts = Attempts::default();
        let right = guess("192.0.2.1", "ada", "secret");
        attempts.right(&right, patience());
        let ask = |guess: Guess<'_>, now: i64| attempts.count_guess(&guess, patience(), now);
        while ask(guess("192.0.2.1", "ada", "wrong"), 0).is_ok() {}
        assert_eq!(ask(right, 0), Ok(AttemptOutcome::Proven), "the owner behind the same address does not wait");
        assert_eq!(ask(guess("192.0.2.9", "ada", "secret"), 0), Ok(AttemptOutcome::Counted));
        let refused = (0..1000).filter(|n| ask(guess("192.0.2.1", "ada", &format!("wrong {n}")), 0).is_err()).count();
        assert_eq!(refused, 1000);
        assert_eq!(ask(right, 0), Err(60), "but then nothing is compared any more");
        assert_eq!(ask(right, 6), Ok(AttemptOutcome::Proven));
    }
}
