//! Wrong guesses of account passwords, and secrets that were right: who guesses too often waits, and who has proven a
//! secret before neither waits nor costs another slow hash.
//!
//! Kept in memory alone. Guesses count by where they come from together with whose account they aim at, and by where they
//! come from, so that nobody can lock an owner out from elsewhere. It knows no request and no password table.

use super::meter::{Bucket, Meter};
use hmac::{Hmac, Mac};
use quick_cache::sync::Cache;
use sha2::Sha256;
use std::net::IpAddr;
use std::sync::Arc;

/// Proven secrets that are remembered.
const MOST_PROVEN: usize = 1_000;

/// A whole network may guess so many times as often as one of its members about one account.
const NETWORK: i64 = 5;

/// How much guessing is borne.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Wrong guesses in a row.
    pub burst: i64,
    /// Seconds until one more is borne.
    pub pause: i64,
}

/// Where a guess comes from, and whose account it aims at; empty: anybody's.
type Guesser = (Option<IpAddr>, Arc<str>);

/// See the module's description.
pub struct Attempts {
    guessers: Meter<Guesser>,
    proven: Cache<[u8; 32], ()>,
    key: [u8; 32],
}

impl Default for Attempts {
    fn default() -> Attempts {
        Attempts { guessers: Meter::default(), proven: Cache::new(MOST_PROVEN), key: rand::random() }
    }
}

impl Attempts {
    /// Takes a guess from what is borne. A right guess is given back by [`Attempts::right`].
    ///
    /// # Errors
    /// There is none left: seconds until there is.
    pub fn take(&self, from: Option<IpAddr>, account: &str, patience: Patience, now: i64) -> Result<(), i64> {
        self.guessers.take(&buckets(from, account, patience), now)
    }

    /// Gives a guess back, for it was right, and forgets the wrong ones about this account from this place.
    pub fn right(&self, from: Option<IpAddr>, account: &str, patience: Patience) {
        let [own, all] = buckets(from, account, patience);
        self.guessers.forget(&own.key);
        self.guessers.give_back(&all);
    }

    /// Remembers that a secret fits a stored hash. Another stored hash is another secret to prove.
    pub fn prove(&self, secret: &str, stored: &str) {
        self.proven.insert(self.digest(secret, stored), ());
    }

    /// Whether a secret was proven before.
    pub fn is_proven(&self, secret: &str, stored: &str) -> bool {
        self.proven.get(&self.digest(secret, stored)).is_some()
    }

    fn digest(&self, secret: &str, stored: &str) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(stored.as_bytes());
        mac.update(b"\0");
        mac.update(secret.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

/// One network's guesses about one account, and about all accounts.
fn buckets(from: Option<IpAddr>, account: &str, patience: Patience) -> [Bucket<Guesser>; 2] {
    let from = from.map(network);
    [
        Bucket { key: (from, Arc::from(account)), pause: patience.pause, burst: patience.burst },
        Bucket {
            key: (from, Arc::from("")),
            pause: (patience.pause / NETWORK).max(1),
            burst: patience.burst.saturating_mul(NETWORK),
        },
    ]
}

/// Who has one IPv6 address has the whole /64.
pub(super) fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & !u128::from(u64::MAX)).into()),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { burst: 3, pause: 60 };

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().expect("an address"))
    }

    #[test]
    fn guesses_run_out_and_come_back() {
        let attempts = Attempts::default();
        let guess = |from: &str, account: &str, now: i64| attempts.take(ip(from), account, PATIENCE, now).is_ok();
        assert!((0..3).all(|_| guess("192.0.2.1", "ada", 1000)));
        assert!(!guess("192.0.2.1", "ada", 1000) && !guess("192.0.2.1", "ada", 1059));
        assert!(guess("192.0.2.2", "ada", 1000), "the owner elsewhere is not locked out");
        assert!(guess("192.0.2.1", "bob", 1000));
        assert!(guess("192.0.2.1", "ada", 1061) && !guess("192.0.2.1", "ada", 1061));
        attempts.right(ip("192.0.2.1"), "ada", PATIENCE);
        assert!(guess("192.0.2.1", "ada", 1061));
    }

    #[test]
    fn a_network_guesses_about_many_accounts_no_more_often() {
        let attempts = Attempts::default();
        let borne =
            (0..100).filter(|n| attempts.take(ip("2001:db8::1"), &format!("user{n}"), PATIENCE, 0).is_ok()).count();
        assert_eq!(borne, 15);
        assert_eq!(attempts.take(ip("2001:db8::ffff"), "ada", PATIENCE, 0), Err(12), "the same /64");
        assert!(attempts.take(ip("2001:db8:0:1::1"), "ada", PATIENCE, 0).is_ok());
        assert!(attempts.take(None, "ada", PATIENCE, 0).is_ok());
    }

    #[test]
    fn memory_is_bounded() {
        let attempts = Attempts::default();
        for n in 0..30_000u32 {
            let _ = attempts.take(Some(IpAddr::V4(n.into())), "ada", PATIENCE, 0);
        }
        assert!(attempts.guessers.len() < 11_000);
    }

    #[test]
    fn a_proven_secret_is_proven_for_its_hash_alone() {
        let attempts = Attempts::default();
        attempts.prove("secret", "hash");
        assert!(attempts.is_proven("secret", "hash"));
        for (secret, stored) in [("secret", "other"), ("Secret", "hash"), ("", "hash"), ("secret\0", "hash")] {
            assert!(!attempts.is_proven(secret, stored));
        }
        assert!(!Attempts::default().is_proven("secret", "hash"));
    }
}
