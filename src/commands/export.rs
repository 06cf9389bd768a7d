//! `export`: the way back to WordPress, or to another server.

use super::{linked, present};
use crate::boot::{self, BootError, ConfigSource, Services};
use crate::export::{self, ExportOptions, files};
use clap::Args;
use cms_text::time::parse_datetime;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// See [`super::Command::Export`].
#[derive(Args, Debug)]
#[group(id = "target", required = true, multiple = true, args = ["wxr", "files"])]
pub struct ExportArgs {
    /// The file to write records into, as WXR. One that is there stays, and is an error.
    #[arg(long, value_name = "FILE")]
    wxr: Option<PathBuf>,
    /// The folder to copy uploaded files into, with the names that WordPress has below wp-content/uploads. Files that are there
    /// stay; an export that was ended goes on.
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
    /// Only records of this content type; repeatable.
    #[arg(long = "type", value_name = "NAME", requires = "wxr")]
    types: Vec<String>,
    /// Only records that were changed on this day or later (UTC).
    #[arg(long, value_name = "YYYY-MM-DD", requires = "wxr")]
    since: Option<String>,
    /// Begin another file after so many megabytes.
    #[arg(long, value_name = "MB", requires = "wxr")]
    part_size: Option<u64>,
}

/// Carries out the command.
pub(super) fn run(source: &ConfigSource, args: &ExportArgs) -> Result<(), BootError> {
    let since = args.since.as_deref().map(|day| {
        let moment = parse_datetime(&format!("{day}T00:00:00"));
        moment.map(|moment| moment.wall).ok_or_else(|| BootError::Other(format!("{day} is no day: write 2026-05-01")))
    });
    let part = args.part_size.map(|size| size.max(1).saturating_mul(1 << 20));
    let options = ExportOptions { types: args.types.clone(), since: since.transpose()?, part };
    let registry = Arc::new(linked(source)?);
    present(&registry)?;
    let services = Services::start(boot::open_briefly(&registry, false)?, &registry)?;
    if let Some(file) = &args.wxr {
        say!("{}", export::export(&registry, &services, file, &options)?);
    }
    if let Some(folder) = &args.files {
        say!("{}", files::copy_all(&registry, &services, folder)?);
    }
    Ok(())
}
