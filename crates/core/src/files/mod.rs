//! Where uploaded files live: objects under keys, in a folder by default.
//!
//! A key is a path of plain segments (`2026/11/tree.png`). This module owns keys, bytes and what a file is by its name and
//! contents; it knows no record and no request.

mod endings;
pub mod kinds;
pub mod names;

use bytes::Bytes;
use cms_base::platform;
use futures_util::StreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutPayload, WriteMultipart};
use once_cell::sync::OnceCell;
use std::fmt;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::AsyncWriteExt as _;

/// How much of a file is in memory at a time.
const CHUNK: usize = 128 << 10;

/// How much of a file is passed on at a time.
const PIECE: u64 = 1 << 20;

/// Files on their way in, below the folder; no key leads there.
const INCOMING: &str = ".incoming";

/// A file of the folder by which nodes recognise it; no key leads there.
const MARKER: &str = ".cms-server-folder";

/// Why a file cannot be had or put.
#[derive(Debug)]
pub struct FilesError(pub String);

impl fmt::Display for FilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FilesError {}

impl From<Error> for FilesError {
    fn from(error: Error) -> FilesError {
        FilesError(error.to_string())
    }
}

impl From<std::io::Error> for FilesError {
    fn from(error: std::io::Error) -> FilesError {
        FilesError(error.to_string())
    }
}

/// Metadata of a file that need no read of its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    pub size: u64,
    /// Quoted, as in a header; it changes whenever the contents do.
    pub etag: String,
    /// UTC seconds.
    pub modified: i64,
}

/// See the module's description.
pub struct Files {
    place: Backend,
    /// Created at first use: a site without files needs no folder.
    store: OnceCell<Arc<dyn ObjectStore>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Backend {
    Folder(PathBuf),
    Memory,
    /// `s3://bucket/prefix`; credentials and endpoint come from the usual `AWS_*` variables.
    #[cfg(feature = "s3")]
    Bucket(String),
}

impl Files {
    /// Files at `url` (`file:FOLDER`, `memory:`, `s3://BUCKET/PREFIX`); an empty one is a folder beside `database`, named after it.
    ///
    /// # Errors
    /// The address is of another form.
    pub fn at(url: &str, database: &Path) -> Result<Files, FilesError> {
        let place = match url {
            "" if database.as_os_str().to_string_lossy().starts_with(':') => Backend::Memory,
            "" => {
                let mut beside = database.as_os_str().to_owned();
                beside.push(".files");
                Backend::Folder(PathBuf::from(beside))
            }
            "memory:" => Backend::Memory,
            #[cfg(feature = "s3")]
            url if url.starts_with("s3://") => Backend::Bucket(url.to_owned()),
            #[cfg(not(feature = "s3"))]
            url if url.starts_with("s3://") => {
                let hint = "this build stores files in folders only; build it with `--features s3`";
                return Err(FilesError(format!("media.url `{url}`: {hint}")));
            }
            url => match url.strip_prefix("file:").map(|f| f.strip_prefix("//").unwrap_or(f)).filter(|f| !f.is_empty())
            {
                Some(folder) => Backend::Folder(PathBuf::from(folder)),
                None => {
                    return Err(FilesError(format!(
                        "media.url `{url}` is none of file:FOLDER, memory: and s3://BUCKET/PREFIX"
                    )));
                }
            },
        };
        Ok(Files { place, store: OnceCell::new() })
    }

    fn store(&self) -> Result<&Arc<dyn ObjectStore>, FilesError> {
        self.store.get_or_try_init(|| {
            Ok(match &self.place {
                Backend::Memory => Arc::new(InMemory::new()),
                #[cfg(feature = "s3")]
                Backend::Bucket(url) => bucket(url)?,
                Backend::Folder(folder) => {
                    private_folder(folder)?;
                    Arc::new(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true).with_automatic_cleanup(true))
                }
            })
        })
    }

    /// Bytes that are written to the store at a time.
    fn part(&self) -> usize {
        match &self.place {
            // A bucket takes no smaller parts.
            #[cfg(feature = "s3")]
            Backend::Bucket(_) => 5 << 20,
            _ => CHUNK,
        }
    }

    /// A folder for files on their way in, on the same disk where that is possible.
    pub fn incoming(&self) -> PathBuf {
        self.folder().map_or_else(std::env::temp_dir, |folder| folder.join(INCOMING))
    }

    /// By what another process recognises that it stores files in the same place: the text of a file in the folder that
    /// the first one makes (`make`), or the address of the bucket. `None` where there is no such file.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn place(&self, make: bool) -> Result<Option<String>, FilesError> {
        let folder = match &self.place {
            // Nobody else reads this memory.
            Backend::Memory => return Ok(Some(format!("memory of {}", std::process::id()))),
            #[cfg(feature = "s3")]
            Backend::Bucket(url) => return Ok(Some(url.clone())),
            Backend::Folder(folder) => folder,
        };
        let path = folder.join(MARKER);
        if make && !path.is_file() {
            private_folder(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            std::io::Write::write_all(&mut file, format!("{:032x}\n", rand::random::<u128>()).as_bytes())?;
            // Another process may be faster; then its file stays.
            let _ = file.persist_noclobber(&path);
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the folder takes files; one that is not there yet is made with the first file, if the one above takes it.
    ///
    /// # Errors
    /// It does not.
    pub fn try_folder(&self) -> Result<(), FilesError> {
        let there = self.folder().and_then(|folder| folder.ancestors().find(|folder| folder.is_dir()));
        there.map_or(Ok(()), |folder| Ok(tempfile::NamedTempFile::new_in(folder).map(drop)?))
    }

    fn folder(&self) -> Option<&Path> {
        match &self.place {
            Backend::Folder(folder) => Some(folder),
            _ => None,
        }
    }

    /// Metadata of a file; `None` when there is none.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn stat(&self, key: &str) -> Result<Option<Stat>, FilesError> {
        let Some(place) = place(key) else { return Ok(None) };
        let meta = match self.store()?.head(&place).await {
            Ok(meta) => meta,
            Err(Error::NotFound { .. }) => return Ok(None),
            // A folder, for example.
            Err(error) if self.folder().is_some() && is_missing(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let modified = meta.last_modified.timestamp();
        let tag = meta.e_tag.unwrap_or_else(|| format!("{modified:x}-{:x}", meta.size));
        let etag = if tag.contains('"') { tag } else { format!("\"{tag}\"") };
        Ok(Some(Stat { size: meta.size, etag, modified }))
    }

    /// A part of a file.
    ///
    /// # Errors
    /// There is no such file or part, or the store cannot be reached.
    pub async fn read(&self, key: &str, range: Range<u64>) -> Result<Bytes, FilesError> {
        Ok(self.store()?.get_range(&known(key)?, range).await?)
    }

    /// Passes a file on, piece by piece.
    ///
    /// # Errors
    /// There is no such file, it is shorter than `size`, or what takes the pieces fails.
    pub async fn each_piece(
        &self,
        key: &str,
        size: u64,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<(), FilesError> {
        let mut at = 0;
        while at < size {
            let end = size.min(at + PIECE);
            let piece = self.read(key, at..end).await?;
            take(&piece)?;
            at = end;
        }
        Ok(())
    }

    /// Stores bytes under a key; whole or not at all.
    ///
    /// # Errors
    /// The store does not take them.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FilesError> {
        self.store()?.put(&known(key)?, PutPayload::from(bytes)).await?;
        Ok(())
    }

    /// Stores a file under a key, chunk by chunk; whole or not at all.
    ///
    /// # Errors
    /// The file cannot be read, or the store does not take it.
    pub async fn put_file(&self, key: &str, file: &Path) -> Result<(), FilesError> {
        let mut file = std::fs::File::open(file)?;
        let size = file.metadata()?.len();
        // Read on this thread: a buffer that a thread for files allocates stays in the heap of that thread, and there are many.
        let mut next = || {
            let mut chunk = Vec::with_capacity(size.min(CHUNK as u64) as usize);
            file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk).map(|_| chunk)
        };
        let first = next()?;
        if first.len() < CHUNK {
            return self.put(key, first).await;
        }
        let upload = self.store()?.put_multipart(&known(key)?).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, self.part());
        let mut chunk: std::io::Result<Vec<u8>> = Ok(first);
        loop {
            match chunk {
                Ok(bytes) if bytes.is_empty() => break,
                Ok(bytes) => upload.put(bytes.into()),
                Err(error) => {
                    let _ = upload.abort().await;
                    return Err(error.into());
                }
            }
            upload.wait_for_capacity(2).await?;
            chunk = next();
        }
        upload.finish().await?;
        Ok(())
    }

    /// Copies a stored file to another key, over what is there; whole or not at all.
    ///
    /// # Errors
    /// There is no such file, or the store does not take the copy.
    pub async fn copy(&self, from: &str, to: &str) -> Result<(), FilesError> {
        match self.store()?.copy(&known(from)?, &known(to)?).await {
            // Not every file system has the links that a folder is copied with.
            Err(_) if self.folder().is_some() => self.put_file(to, &self.fetch(from).await?).await,
            done => Ok(done?),
        }
    }

    /// Copies a stored file to a temporary one that is deleted when it is dropped.
    ///
    /// # Errors
    /// There is no such file, or no place for the copy.
    pub async fn fetch(&self, key: &str) -> Result<tempfile::TempPath, FilesError> {
        let (file, path) = self.temporary()?.into_parts();
        let mut file = tokio::fs::File::from_std(file);
        let mut chunks = self.store()?.get(&known(key)?).await?.into_stream();
        while let Some(chunk) = chunks.next().await {
            file.write_all(&chunk?).await?;
        }
        file.flush().await?;
        Ok(path)
    }

    /// A temporary file on the disk of the files.
    ///
    /// # Errors
    /// There is no place for it.
    pub fn temporary(&self) -> Result<tempfile::NamedTempFile, FilesError> {
        if let Some(folder) = self.folder() {
            private_folder(folder)?;
        }
        let folder = self.incoming();
        std::fs::create_dir_all(&folder)?;
        Ok(tempfile::NamedTempFile::new_in(folder)?)
    }

    /// Deletes a file; one that is gone already is no error.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn delete(&self, key: &str) -> Result<(), FilesError> {
        let Some(place) = place(key) else { return Ok(()) };
        if let Some(folder) = self.folder() {
            clear_staged(&folder.join(key));
        }
        match self.store()?.delete(&place).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes what uploads that were cut off have left behind, if it is older than this.
    pub fn clear_incoming(&self, older: Duration) {
        if self.folder().is_none() {
            return;
        }
        let Ok(entries) = std::fs::read_dir(self.incoming()) else { return };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|meta| meta.modified());
            let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
            if age.is_some_and(|age| age >= older) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Creates the folder of files if it does not exist. A new one is for its owner alone, as the database is: whoever may
/// read a file requests it from the server, which knows whether it belongs to a draft. An existing folder keeps its
/// mode, so that an operator can open it to another program; files in it need no modes of their own, the folder
/// protects them.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        std::fs::create_dir_all(above)?;
    }
    platform::make_private_folder(folder)
}

/// Removes what a crash has left of a file that was being written: the folder's store writes to `name#1` (or the next
/// number that is free) before it moves that into its place.
fn clear_staged(file: &Path) {
    for n in 1u32.. {
        let mut staged = file.as_os_str().to_owned();
        staged.push(format!("#{n}"));
        if std::fs::remove_file(PathBuf::from(staged)).is_err() {
            return;
        }
    }
}

#[cfg(feature = "s3")]
fn bucket(url: &str) -> Result<Arc<dyn ObjectStore>, FilesError> {
    let (bucket, prefix) = url.trim_start_matches("s3://").split_once('/').unwrap_or((&url[5..], ""));
    let store = object_store::aws::AmazonS3Builder::from_env().with_bucket_name(bucket).build()?;
    Ok(match prefix.trim_matches('/') {
        "" => Arc::new(store),
        prefix => Arc::new(object_store::prefix::PrefixStore::new(store, prefix)),
    })
}

/// The object of a key; `None` for what cannot be one: empty or hidden segments, steps upwards.
fn place(key: &str) -> Option<Key> {
    // An object that is being written ends in `#` and a number.
    let staged =
        |segment: &str| segment.split_once('#').is_some_and(|(_, end)| end.bytes().all(|byte| byte.is_ascii_digit()));
    let plain = |segment: &str| {
        !segment.is_empty() && !segment.starts_with('.') && !segment.contains(['\\', '\0']) && !staged(segment)
    };
    if !key.split('/').all(plain) {
        return None;
    }
    Key::parse(key).ok()
}

/// Whether a file can be stored under this key.
pub fn is_key(key: &str) -> bool {
    place(key).is_some()
}

fn known(key: &str) -> Result<Key, FilesError> {
    place(key).ok_or_else(|| FilesError(format!("`{key}` is no key of a file")))
}

fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Generic { .. } | Error::InvalidPath { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        for fine in ["a.png", "2026/11/a-150x150.png", "x.php_.png", "a#1.png", "a b's +&%.png"] {
            assert!(place(fine).is_some(), "{fine}");
        }
        for wrong in
            ["", "/", "a//b", "../a", "a/../b", ".incoming/x", "a/.b", "a\\b", "a\0b", "/a", "a/", "a#1", "a#", "#1/a"]
        {
            assert!(place(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn addresses() {
        let folder = |url: &str, database: &str| Files::at(url, Path::new(database)).map(|f| f.place);
        let at = |path: &str| Some(Backend::Folder(path.into()));
        assert_eq!(folder("", "/x/site.db").ok(), at("/x/site.db.files"));
        assert_eq!(folder("file:up", "s").ok(), at("up"));
        assert_eq!(folder("file:///srv/up", "s").ok(), at("/srv/up"));
        assert_eq!(folder("memory:", "s").ok(), Some(Backend::Memory));
        assert!(folder("ftp://x", "s").is_err());
        assert_eq!(folder("s3://bucket/site", "s").is_ok(), cfg!(feature = "s3"));
    }

    #[test]
    fn a_folder_is_recognised() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| {
            Files::at(&format!("file:{}", dir.path().join(name).display()), Path::new("s")).expect("files")
        };
        assert_eq!(at("one").place(false).expect("read"), None);
        assert!(!dir.path().join("one").exists(), "a look makes nothing");
        let one = at("one").place(true).expect("made").expect("a text");
        assert_eq!(at("one").place(true).expect("read"), Some(one.clone()));
        assert_eq!(at("one").place(false).expect("read"), Some(one.clone()));
        assert!(at("other").place(true).expect("made").is_some_and(|other| other != one));
    }

    #[tokio::test]
    async fn files_come_and_go() {
        let dir = tempfile::tempdir().expect("a folder");
        let files = Files::at("", &dir.path().join("s.db")).expect("a fine address");
        assert_eq!(files.stat("a/b.txt").await.ok(), Some(None));
        let large: Vec<u8> = (0..CHUNK * 2 + 7).map(|i| i as u8).collect();
        let mut source = files.temporary().expect("a file");
        std::io::Write::write_all(&mut source, &large).expect("written");
        files.put_file("a/large.bin", source.path()).await.expect("stored");
        files.put("a/b.txt", b"hello".to_vec()).await.expect("stored");
        assert_eq!(files.stat("a/b.txt").await.expect("read").map(|s| s.size), Some(5));
        assert_eq!(files.stat("a").await.ok(), Some(None), "a folder is no file");
        assert_eq!(&files.read("a/b.txt", 1..3).await.expect("read")[..], b"el");
        let copy = files.fetch("a/large.bin").await.expect("copied");
        assert!(std::fs::read(&copy).expect("read") == large);
        std::fs::write(dir.path().join("s.db.files/a/b.txt#1"), "half").expect("written");
        files.delete("a/b.txt").await.expect("deleted");
        files.delete("a/b.txt").await.expect("deleted twice");
        assert!(!dir.path().join("s.db.files/a/b.txt#1").exists());
        assert_eq!(files.stat("a/b.txt").await.ok(), Some(None));
        assert!(files.put("../out.txt", Vec::new()).await.is_err());
        drop((source, copy));
        files.clear_incoming(Duration::ZERO);
        assert_eq!(std::fs::read_dir(files.incoming()).expect("a folder").count(), 0);
    }
}
