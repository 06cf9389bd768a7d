//! Hashes of account passwords, made on a thread of their own, behind a queue with places for each caller.
//!
//! bcrypt over a keyed pre-hash of 64 characters, so that the whole password counts: bcrypt itself reads no more than 72
//! bytes. Of a plain bcrypt hash that another program made, the first 72 bytes count, as they did there. The caller
//! has limited the length of the password (`site.max_password`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_base::pool::{JobOwner, Pool, PoolError};
use hmac::{Hmac, Mac};
use md5::{Digest as _, Md5};
use sha2::Sha384;

/// Hashes that may wait; more are refused.
const QUEUE: usize = 64;

/// The marker of our hashes before bcrypt's own.
const MARK: &str = "$wp";

/// A thread that hashes.
pub struct Hasher {
    pool: Pool,
    cost: u32,
}

/// Why a hash was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashError {
    /// The queue is full.
    Busy,
    /// bcrypt refused, or the thread is gone.
    Failed,
}

impl From<PoolError> for HashError {
    fn from(error: PoolError) -> HashError {
        match error {
            PoolError::Busy => HashError::Busy,
            PoolError::Failed => HashError::Failed,
        }
    }
}

impl Hasher {
    /// Starts the thread; `cost` is bcrypt's (4 to 31).
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(cost: u32) -> std::io::Result<Hasher> {
        Ok(Hasher { pool: Pool::start("hasher", (1, 1), QUEUE)?, cost })
    }

    /// The hash of a new password.
    pub async fn hash(&self, owner: JobOwner, password: &str) -> Result<String, HashError> {
        let (password, cost) = (prehash(password), self.cost);
        self.pool
            .run(owner, move || bcrypt::hash(password, cost).map(|hash| format!("{MARK}{hash}")).ok())
            .await?
            .ok_or(HashError::Failed)
    }

    /// Whether a password matches a stored hash. An empty hash costs the same time and never matches. A wrong password
    /// for a portable hash, which is fast, costs that time, too: otherwise the time would reveal such accounts.
    pub async fn verify(&self, owner: JobOwner, password: &str, stored: &str) -> Result<bool, HashError> {
        let (plain, password, stored, cost) = (password.to_owned(), prehash(password), stored.to_owned(), self.cost);
        let done = self.pool.run(owner, move || match stored.strip_prefix(MARK) {
            Some(hash) => bcrypt::verify(password, hash).unwrap_or(false),
            None if stored.starts_with("$2") => bcrypt::verify(plain, &stored).unwrap_or(false),
            None if is_portable(&stored) && portable(&plain, &stored).is_some_and(|hash| same_text(&hash, &stored)) => {
                true
            }
            None => {
                let _ = bcrypt::hash(password, cost);
                false
            }
        });
        Ok(done.await?)
    }
}

/// Whether another program made the hash. It is replaced when its password is known.
pub fn is_foreign(stored: &str) -> bool {
    !stored.is_empty() && !stored.starts_with(MARK)
}

/// The highest cost of a hash that another program made. Verifying one takes about a second, and each further step twice as long.
const MOST_COST: u32 = 14;

/// Whether a text looks like a hash that can be verified, in a time that a login may take.
pub fn is_known(hash: &str) -> bool {
    let bcrypt = hash.strip_prefix(MARK).unwrap_or(hash);
    let cost =
        ["$2y$", "$2b$", "$2a$"].iter().find_map(|start| bcrypt.strip_prefix(start)?.split_once('$')?.0.parse().ok());
    let is_bcrypt = bcrypt.len() == 60 && cost.is_some_and(|cost: u32| cost <= MOST_COST);
    is_bcrypt || is_portable(hash) && hash.len() == 34
}

/// Hashes of the older kind: rounds of MD5 over a salt.
fn is_portable(stored: &str) -> bool {
    stored.starts_with("$P$") || stored.starts_with("$H$")
}

/// Most bytes that one portable hash processes: 4,096 bytes of a password over the usual 8,192 rounds are an eighth.
const MOST_DIGESTED: u64 = 256 << 20;

/// The hash of that kind that a password has with the salt and the rounds of another; nothing when that one is broken, or
/// when password and rounds together would take seconds.
fn portable(password: &str, stored: &str) -> Option<String> {
    const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let setting = stored.get(..12)?;
    let power = DIGITS.iter().position(|d| *d == setting.as_bytes()[3]).filter(|power| (7..=20).contains(power))?;
    if (password.len() as u64 + 16) << power > MOST_DIGESTED {
        return None;
    }
    let salt = &setting.as_bytes()[4..];
    let mut hash = Md5::new().chain_update(salt).chain_update(password.as_bytes()).finalize();
    for _ in 0..1_u32 << power {
        hash = Md5::new().chain_update(hash).chain_update(password.as_bytes()).finalize();
    }
    let mut out = setting.to_owned();
    for group in hash.chunks(3) {
        let value = group.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
        let letters = (0..=group.len()).map(|i| char::from(DIGITS[(value >> (6 * i)) as usize & 63]));
        out.extend(letters);
    }
    Some(out)
}

fn prehash(password: &str) -> String {
    let mut mac = Hmac::<Sha384>::new_from_slice(b"wp-sha384").expect("HMAC takes keys of any length");
    mac.update(password.trim().as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

/// Compares two texts in time that depends on their lengths alone.
pub fn same_text(a: &str, b: &str) -> bool {
    use subtle::ConstantTimeEq;
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_base::pool::wait;

    #[test]
    fn hashes_of_other_programs_are_verified() {
        let hasher = Hasher::start(4).expect("a thread");
        let verify =
            |password: &str, stored: &str| wait(hasher.verify(JobOwner::PROGRAM, password, stored)) == Ok(true);
        let long = "a long pass phrase ü";
        for (password, stored) in [
            ("test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
            ("test12345", "$H$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
            (long, "$2y$05$0HCypT4FfUPP74nmBGHK0uo2kFJLARKisSCtQnQLzuMuGdJMcOZ7a"),
            (long, "$wp$2y$05$teYVbUfrBl2iz4fpnkvsDeMbe0yqcQqK5K7KlcwJurm.oLVhhiDx6"),
        ] {
            assert!(is_known(stored), "{stored}");
            assert!(verify(password, stored), "{stored}");
            assert!(!verify(&format!("{password}x"), stored), "{stored}");
            assert!(!verify("", stored), "{stored}");
        }
    }

    #[test]
    fn broken_hashes_fit_nothing_and_cost_little() {
        for broken in ["$P$", "$P$9", "$P$zIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0", "$P$öIQRaTwm", "", "$2y$", "$wp$", "plain"]
        {
            assert_eq!(portable("test12345", broken), None, "{broken}");
            assert!(!is_known(broken) || broken.len() == 34, "{broken}");
        }
    }

    #[test]
    fn a_hash_that_takes_minutes_to_verify_is_not_known() {
        let of = |cost: &str| format!("$2y${cost}$0HCypT4FfUPP74nmBGHK0uo2kFJLARKisSCtQnQLzuMuGdJMcOZ7a");
        assert!(is_known(&of("14")));
        for cost in ["15", "31", "99", "1x", "-1"] {
            assert!(!is_known(&of(cost)), "{cost}");
        }
    }

    #[test]
    fn a_portable_hash_digests_no_more_than_its_bound() {
        let usual = "$P$BIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0";
        assert!(portable(&"x".repeat(4096), usual).is_some());
        assert!(portable(&"x".repeat(32_752), usual).is_some(), "at the bound");
        assert_eq!(portable(&"x".repeat(32_753), usual), None, "one byte above");
        let most_rounds = "$P$IIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0";
        assert_eq!(portable(&"x".repeat(4096), most_rounds), None);
    }

    #[test]
    fn the_whole_password_counts() {
        let hasher = Hasher::start(4).expect("a thread");
        let long = "x".repeat(4095);
        let hash = wait(hasher.hash(JobOwner::PROGRAM, &format!("{long}a"))).expect("a hash");
        assert_eq!(wait(hasher.verify(JobOwner::PROGRAM, &format!("{long}a"), &hash)), Ok(true));
        assert_eq!(wait(hasher.verify(JobOwner::PROGRAM, &format!("{long}b"), &hash)), Ok(false));
    }
}
