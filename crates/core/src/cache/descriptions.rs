//! Descriptions of the service that were made already: each caller has places for some, and all together a size.

use super::documents::DocumentText;
use crate::error::ApiError;
use cms_base::pool::JobOwner;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Descriptions that one caller has had made and that are kept: each namespace in each format, for several passwords.
const MOST_OF_CALLER: usize = 64;

/// Bytes of all that are kept for callers. Callers with the same rights share one.
const MOST_BYTES: usize = 8 << 20;

/// Everything that a description depends on besides the declarations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DescriptionKey {
    pub namespace: String,
    pub yaml: bool,
    /// Of each endpoint in the order of the routes, whether the caller may use it; `None`: all are described.
    pub usable: Option<Vec<bool>>,
}

/// Descriptions that were made already. They follow from the declarations and from what is wanted.
#[derive(Default)]
pub struct Descriptions {
    made: Mutex<DescriptionCache>,
}

#[derive(Default)]
struct DescriptionCache {
    texts: HashMap<DescriptionKey, CachedDescription>,
    uses: u64,
}

struct CachedDescription {
    text: DocumentText,
    /// For whom it was made.
    owner: JobOwner,
    /// The number of its last use.
    used: u64,
}

impl DescriptionCache {
    fn get(&mut self, wanted: &DescriptionKey) -> Option<DocumentText> {
        self.uses += 1;
        let found = self.texts.get_mut(wanted)?;
        found.used = self.uses;
        Some(found.text.clone())
    }

    fn put(&mut self, wanted: DescriptionKey, text: DocumentText, owner: JobOwner) {
        let used = self.uses;
        self.texts.insert(wanted, CachedDescription { text, owner, used });
        while self.of(owner).count() > MOST_OF_CALLER {
            self.remove(owner);
        }
        while self.for_callers().map(|(_, made)| made.text.len()).sum::<usize>() > MOST_BYTES {
            let largest = self
                .for_callers()
                .map(|(_, made)| made.owner)
                .max_by_key(|owner| self.of(*owner).map(|(_, made)| made.text.len()).sum::<usize>());
            let Some(owner) = largest else { return };
            self.remove(owner);
        }
    }

    /// Those that depend on rights. There are few of the others.
    fn for_callers(&self) -> impl Iterator<Item = (&DescriptionKey, &CachedDescription)> {
        self.texts.iter().filter(|(wanted, _)| wanted.usable.is_some())
    }

    fn of(&self, owner: JobOwner) -> impl Iterator<Item = (&DescriptionKey, &CachedDescription)> {
        self.for_callers().filter(move |(_, made)| made.owner == owner)
    }

    /// Removes the one of an owner that was not used for longest.
    fn remove(&mut self, owner: JobOwner) {
        if let Some(oldest) = self.of(owner).min_by_key(|(_, made)| made.used).map(|(wanted, _)| wanted.clone()) {
            self.texts.remove(&oldest);
        }
    }
}

impl Descriptions {
    /// The description, which is made where it is not kept.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn text(
        &self,
        wanted: DescriptionKey,
        owner: JobOwner,
        make: impl FnOnce(&DescriptionKey) -> Result<Vec<u8>, ApiError>,
    ) -> Result<DocumentText, ApiError> {
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made().get(&wanted);
        if let Some(text) = found {
            return Ok(text);
        }
        let text: DocumentText = make(&wanted)?.into();
        made().put(wanted, text.clone(), owner);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_with_the_same_rights_share_a_description_and_each_has_places() {
        let kept = Descriptions::default();
        let wanted = |usable: Option<Vec<bool>>| DescriptionKey { namespace: String::new(), yaml: false, usable };
        let text = |owner: i64, usable: Option<Vec<bool>>, own: &str| {
            let text = kept.text(wanted(usable), JobOwner::user(owner), |_| Ok(own.as_bytes().to_vec()));
            String::from_utf8_lossy(&text.expect("a description")).into_owned()
        };
        assert_eq!(text(1, None, "all"), "all");
        assert_eq!(text(1, Some(vec![true]), "some"), "some");
        assert_eq!(text(2, Some(vec![true]), "made again"), "some");
        assert_eq!(text(1, Some(vec![false]), "none"), "none");
        for rights in 2..200 {
            text(2, Some(vec![true; rights]), "other");
        }
        assert_eq!(text(1, Some(vec![true]), "made again"), "some", "another caller has places of its own");
        let large = "x".repeat(1 << 20);
        for rights in 200..220 {
            text(3, Some(vec![true; rights]), &large);
        }
        assert_eq!(text(1, Some(vec![false]), "made again"), "none", "and bytes");
        assert_eq!(text(1, None, "made again"), "all");
        let made = kept.made.lock().expect("unpoisoned");
        assert!(made.of(JobOwner::user(2)).count() <= MOST_OF_CALLER);
        assert!(made.for_callers().map(|(_, made)| made.text.len()).sum::<usize>() <= MOST_BYTES);
    }
}
