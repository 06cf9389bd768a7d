//! Digests of declarations: of everything, and of what the nodes over one database have to declare alike.

use cms_config::load::LoadedDeclaration;
use cms_config::schema_files::EntryFile;
use cms_declaration::{Declaration, Media, Site};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write};
use std::hash::{BuildHasher, Hash, Hasher};

/// Of everything that was read.
pub(super) fn fingerprint(loaded: &LoadedDeclaration) -> u64 {
    let mut hasher = foldhash::quality::FixedState::with_seed(0).build_hasher();
    loaded.texts().for_each(|text| text.hash(&mut hasher));
    hasher.finish()
}

/// Of everything but how one process listens, logs, stores and caches, however it is written.
pub(super) fn shared(loaded: &LoadedDeclaration) -> String {
    let mut digest = DigestWriter(Sha256::new());
    // Nothing fails to be digested.
    let _ = write_shared(&mut digest, loaded);
    digest.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_shared(to: &mut DigestWriter, loaded: &LoadedDeclaration) -> fmt::Result {
    let (declared, own) = (&*loaded.declaration, Media::default());
    let declared = Declaration {
        server: Default::default(),
        log: Default::default(),
        cache: Default::default(),
        storage: Default::default(),
        backup: Default::default(),
        translations: Default::default(),
        media: Media { url: None, workers: own.workers, queue: own.queue, ..declared.media.clone() },
        site: Site { url: None, ..declared.site.clone() },
        ..declared.clone()
    };
    write!(to, "{declared:?}")?;
    for (file, schema) in &loaded.schemas {
        write!(to, "{file} {schema}")?;
    }
    for (file, entries) in &loaded.entries {
        write!(to, "{file} ")?;
        match entries {
            EntryFile::Shipped(text) => to.write_str(text)?,
            EntryFile::Read(entries) => entries.iter().try_for_each(|entry| write!(to, "{entry}"))?,
        }
    }
    Ok(())
}

/// Digests what is written to it.
struct DigestWriter(Sha256);

impl Write for DigestWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}
