//! Everything about files and signals that Unix does and other systems do not, or in another way. Sockets have their own such
//! module in the program, so that nothing else asks which system it runs on.

pub use system::{
    FileIdentity, give_way, identity, make_private, make_private_folder, outlive_file_limits, private, read_exact_at,
    signal, state,
};

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notes each SIGHUP until it is dropped.
pub struct Hangups {
    came: Arc<AtomicBool>,
    registration: system::Registration,
}

impl Hangups {
    /// From now on.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> io::Result<Hangups> {
        let came = Arc::default();
        let registration = system::register(&came)?;
        Ok(Hangups { came, registration })
    }

    /// Whether one came since this was last asked.
    pub fn take(&self) -> bool {
        self.came.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Hangups {
    fn drop(&mut self) {
        system::unregister(self.registration);
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions, set_permissions};
    use std::io;
    use std::os::unix::fs::{
        DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
    };
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use tokio::signal::unix::SignalKind;

    /// A ninth of the time that a usual thread gets.
    #[cfg(target_os = "linux")]
    const LOW_PRIORITY: i32 = 10;

    /// A file, under whatever name: its device and number.
    pub type FileIdentity = (u64, u64);

    /// Which file this is; `None` where the system does not say.
    pub fn identity(about: &Metadata) -> Option<FileIdentity> {
        Some((about.dev(), about.ino()))
    }

    /// The facts of a file that change when it is written or replaced.
    pub fn state(about: &Metadata) -> [i64; 7] {
        let [device, number, size] = [about.dev(), about.ino(), about.size()].map(u64::cast_signed);
        [device, number, size, about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()]
    }

    /// Makes a folder, and those above it, that only its owner may enter.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn make_private_folder(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    /// A file that these make may only be read and written by its owner.
    pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
        options.mode(0o600)
    }

    /// From here on only its owner may read and write a file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn make_private(path: &Path) -> io::Result<()> {
        set_permissions(path, Permissions::from_mode(0o600))
    }

    /// Reads at a place of a file, whatever other threads read there.
    ///
    /// # Errors
    /// Those of the file system, and an end before the buffer is full.
    pub fn read_exact_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
        file.read_exact_at(buffer, place)
    }

    /// A write beyond a limit on the size of files fails like one to a full disk; by default it would end the process.
    ///
    /// # Errors
    /// Those of the system.
    pub fn outlive_file_limits() -> io::Result<()> {
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()).map(drop)
    }

    /// Ends at SIGTERM or SIGINT.
    pub async fn signal() {
        let listen = tokio::signal::unix::signal;
        let (Ok(mut interrupt), Ok(mut terminate)) = (listen(SignalKind::interrupt()), listen(SignalKind::terminate()))
        else {
            return std::future::pending().await;
        };
        std::future::poll_fn(|context| match interrupt.poll_recv(context) {
            std::task::Poll::Ready(_) => std::task::Poll::Ready(()),
            std::task::Poll::Pending => terminate.poll_recv(context).map(|_| ()),
        })
        .await;
    }

    pub type Registration = signal_hook::SigId;

    pub fn register(came: &Arc<AtomicBool>) -> io::Result<Registration> {
        signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(came))
    }

    pub fn unregister(registration: Registration) {
        signal_hook::low_level::unregister(registration);
    }

    /// Has other threads go before this one where processors are busy. Only on Linux: elsewhere a priority is that of the process.
    pub fn give_way() {
        #[cfg(target_os = "linux")]
        // A thread that may not has the priority that it had.
        let _ = rustix::process::setpriority_process(None, LOW_PRIORITY);
    }
}

/// Where files have no modes of Unix, they have the rights of their folder; nobody but the owner of a folder can be named here.
#[cfg(not(unix))]
mod system {
    use std::fs::{File, Metadata, OpenOptions, create_dir_all};
    use std::io::{self, Read as _, Seek as _};
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::SystemTime;

    pub type FileIdentity = (u64, u64);

    pub fn give_way() {}

    pub fn identity(_about: &Metadata) -> Option<FileIdentity> {
        None
    }

    pub fn state(about: &Metadata) -> [i64; 7] {
        let since = |time: io::Result<SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
            (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()))
        };
        let ((modified, nanos), (made, made_nanos)) = (since(about.modified()), since(about.created()));
        [0, 0, about.len().cast_signed(), modified, nanos, made, made_nanos]
    }

    pub fn make_private_folder(path: &Path) -> io::Result<()> {
        create_dir_all(path)
    }

    pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub fn make_private(_path: &Path) -> io::Result<()> {
        Ok(())
    }

    pub fn read_exact_at(mut file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
        file.seek(io::SeekFrom::Start(place))?;
        file.read_exact(buffer)
    }

    pub fn outlive_file_limits() -> io::Result<()> {
        Ok(())
    }

    pub async fn signal() {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }

    /// There is no SIGHUP.
    pub type Registration = ();

    pub fn register(_came: &Arc<AtomicBool>) -> io::Result<Registration> {
        Ok(())
    }

    pub fn unregister(_registration: Registration) {}
}
