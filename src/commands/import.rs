//! `import`: another site's content into this one, or the declarations that it asks for.

use super::accounts::{OperatorClient, secret_line};
use super::{ImportArgs, linked, opened, services_or_new};
use crate::boot::{self, BootError, ConfigSource, Services};
use crate::import::items::ExportSummary;
use crate::import::live::{self, LiveSite};
use crate::import::propose;
use crate::import::remote::RemoteSite;
use crate::import::report_lines::ReportLines;
use crate::import::source::ExportSource;
use crate::import::{
    self, ImportReport, RedirectOutcome, SiteImport, WidgetOutcome, addresses, attachments, fetch, progress_bar,
};
use cms_base::pool::wait;
use cms_core::families::text_column;
use cms_core::model::Method;
use cms_core::records::txt;
use cms_core::registry::Registry;
use cms_storage::plan::{Change, Put, Target, WritePlan};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use url::Url;

/// The report on its way: people read each part as soon as it is there, programs the whole at the end.
struct ReportOutput {
    json: bool,
    lines: ReportLines,
}

impl ReportOutput {
    fn add(&mut self, lines: ReportLines) {
        if self.json {
            self.lines.append(lines);
        } else {
            say!("{lines}");
        }
    }

    fn note(&mut self, text: impl Into<String>) {
        let mut lines = ReportLines::default();
        lines.note(text);
        self.add(lines);
    }
}

/// Carries out the command.
pub(super) fn run(source: &ConfigSource, args: &ImportArgs) -> Result<(), BootError> {
    let progress = progress_bar();
    let is_address =
        |file: &&PathBuf| file.to_str().is_some_and(|it| it.starts_with("https://") || it.starts_with("http://"));
    let address = args.files.iter().find(is_address).map(|file| file.display().to_string());
    let mut files = args.files.clone();
    let live = match address {
        Some(address) if files.len() > 1 => {
            return Err(BootError::Other(format!("{address}: name the address of a site alone")));
        }
        Some(address) => {
            let (file, live) = read_site(source, args, &address, &progress)?;
            files = vec![file];
            Some(live)
        }
        None => None,
    };
    if let Some(folder) = &args.propose {
        return propose_declarations(source, args, &files, folder);
    }
    let mut output = ReportOutput { json: args.json, lines: ReportLines::default() };
    let done = import_files(source, args, &files, live, &progress, &mut output);
    // The report of what came in before an error is printed, too.
    if args.json && (done.is_ok() || output.lines.has_any()) {
        say!("{}", Value::Object(output.lines.to_json()));
    }
    done
}

/// Imports what is not only looked at.
fn import_files(
    source: &ConfigSource,
    args: &ImportArgs,
    files: &[PathBuf],
    live: Option<LiveSite>,
    progress: &ProgressBar,
    output: &mut ReportOutput,
) -> Result<(), BootError> {
    live.iter().flat_map(LiveSite::notes).filter(|_| args.json).for_each(|note| output.note(note));
    if let Some(since) = live.as_ref().filter(|live| live.is_empty()).and_then(LiveSite::since) {
        output.note(format!("nothing has changed since {since}"));
        return Ok(());
    }
    let content = ExportSource::open(files, args.table_prefix.as_deref(), progress)?;
    let user = args.user.as_deref().filter(|_| live.is_none());
    let options = SiteImport {
        user,
        dry_run: args.dry_run,
        renew: live.as_ref().is_some_and(|live| live.since().is_some()),
        revisions: args.revisions,
        mends: args.mend_encoding,
    };
    if args.dry_run {
        let (_folder, registry, services) = rehearsal(source)?;
        let (mut report, summary) = import::import(&registry, &services, &content, options, progress)?;
        summary.redirects.iter().for_each(|_| report.redirect(RedirectOutcome::Made));
        summary.widgets.iter().for_each(|_| report.widget(WidgetOutcome::Made));
        output.add(report.lines());
        output.note("nothing was written");
        return Ok(());
    }
    let (registry, services) = services_or_new(source)?;
    let (mut report, summary) = import::import(&registry, &services, &content, options, progress)?;
    if args.attachments.is_some() {
        report.files_follow();
    }
    if let Err(error) = services.storage.gather_statistics() {
        tracing::warn!("the database has not gathered its statistics yet, queries may be slow until it has: {error}");
    }
    let operator = OperatorClient::over(Arc::new(registry), services)?;
    make_redirects(&operator, &summary, &mut report)?;
    make_widgets(&operator, &summary, &mut report)?;
    output.add(report.lines());
    if let Some(live) = live {
        live.imported()?;
    }
    match &args.attachments {
        Some(folder) => bring_files(&operator, args, folder, &summary, output),
        None => Ok(()),
    }
}

/// Brings the files of imported records.
fn bring_files(
    operator: &OperatorClient,
    args: &ImportArgs,
    folder: &Path,
    summary: &ExportSummary,
    output: &mut ReportOutput,
) -> Result<(), BootError> {
    let (registry, services) = (&operator.registry, &operator.services);
    if args.fetch {
        output.add(fetch::fetch(registry, services, folder, &progress_bar())?.lines());
    }
    let brought = attachments::bring(registry, services, folder)?;
    output.add(brought.lines());
    if !args.keep_addresses {
        let sites = [summary.base_url.as_str(), summary.site_url.as_str()];
        output.add(addresses::rewrite(registry, services, &sites, &brought.other_names)?.lines());
    }
    Ok(())
}

/// Reads a site that runs into a dump.
fn read_site(
    source: &ConfigSource,
    args: &ImportArgs,
    address: &str,
    progress: &ProgressBar,
) -> Result<(PathBuf, LiveSite), BootError> {
    let wrong = |why: String| BootError::Other(format!("{address}: {why}"));
    let login = args.user.as_deref();
    let login = login.ok_or_else(|| wrong("name an administrator of the site with --user".to_owned()))?;
    let password = match &args.password_file {
        Some(file) => {
            fs::read_to_string(file).map_err(|error| BootError::Other(format!("{}: {error}", file.display())))?
        }
        None => secret_line(&format!("Application password of {login}: "))?,
    };
    let url = Url::parse(address).map_err(|error| wrong(error.to_string()))?;
    let file = PathBuf::from(format!("{}.sql", url.host_str().unwrap_or("site")));
    let file = args.into.clone().unwrap_or(file);
    let registry = linked(source)?;
    let pause = Duration::from_millis(args.pause);
    let site = RemoteSite::new(&registry.declaration.outbound, address, "wp", pause)?;
    let live = live::read(site.with_login(login, password.trim())?, address, &file, progress)?;
    for note in live.notes() {
        tell!("{note}");
    }
    tell!("{}: what was read", file.display());
    Ok((file, live))
}

/// A database in which nothing is written: the one that is there, or an empty one in a temporary folder.
fn rehearsal(source: &ConfigSource) -> Result<(Option<TempDir>, Registry, Services), BootError> {
    let registry = linked(source)?;
    if boot::place(&registry.declaration)?.file().is_none_or(Path::exists) {
        let services = Services::start(boot::open_briefly(&registry, false)?, &registry)?;
        return Ok((None, registry, services));
    }
    let folder = TempDir::new().map_err(|error| BootError::Other(error.to_string()))?;
    let mut source = source.clone();
    source.sets.push(format!("storage.url=sqlite:{}", folder.path().join("rehearsal.db").display()));
    let (registry, services) = opened(linked(&source)?)?;
    Ok((Some(folder), registry, services))
}

/// Makes the redirects of a source by the route that makes them, so that its rules hold.
fn make_redirects(
    operator: &OperatorClient,
    summary: &ExportSummary,
    report: &mut ImportReport,
) -> Result<(), BootError> {
    let declared = operator.registry.declaration.addresses.redirects.get();
    let resource = declared.and_then(|name| operator.registry.resource(name));
    let Some(resource) = resource.filter(|_| !summary.redirects.is_empty()) else { return Ok(()) };
    let here = operator.all(&resource.path, json!({"_fields": "from", "orderby": "id"}))?;
    let mut here: HashSet<String> = here.iter().filter_map(|row| Some(row["from"].as_str()?.to_owned())).collect();
    for redirect in &summary.redirects {
        let mut body = json!(redirect);
        let from = body["from"].as_str().unwrap_or_default().trim().to_owned();
        // A target on the old site is on this one now.
        let to = body["to"].as_str().and_then(|to| to.strip_prefix(&summary.base_url)).map(str::to_owned);
        if let Some(path) = to.filter(|path| path.starts_with('/')) {
            body["to"] = Value::String(path);
        }
        if !here.insert(from.clone()) {
            report.redirect(RedirectOutcome::Known);
            continue;
        }
        report.redirect(match operator.ask(Method::Post, &resource.path, json!({}), body) {
            Ok(_) => RedirectOutcome::Made,
            Err(error) => RedirectOutcome::Refused(format!("{from}: {error}")),
        });
    }
    Ok(())
}

/// Makes the widgets of a source by the route that makes them, so that their types decide on their settings.
fn make_widgets(
    operator: &OperatorClient,
    summary: &ExportSummary,
    report: &mut ImportReport,
) -> Result<(), BootError> {
    let registry = &operator.registry;
    let found = registry.resources.iter().find_map(|own| Some((own, own.declared.options.widgets.as_ref()?)));
    if summary.widgets.is_empty() {
        return Ok(());
    }
    let Some((resource, options)) = found else {
        let count = summary.widgets.len();
        report.widget(WidgetOutcome::Refused(format!("all {count}: no resource here has widgets")));
        return Ok(());
    };
    let here = operator.ask(Method::Get, &resource.path, json!({"_fields": "id"}), Value::Null)?;
    let here: HashSet<&str> = here.as_array().into_iter().flatten().filter_map(|row| row["id"].as_str()).collect();
    let is_declared =
        |area: &str| registry.resource(&options.places).is_some_and(|own| registry.entry(own, area).is_some());
    // Each comes before those that are there.
    for widget in summary.widgets.iter().rev() {
        let id = &widget.id;
        if here.contains(id.as_str()) {
            report.widget(WidgetOutcome::Known);
            continue;
        }
        let area = widget.area.as_ref().unwrap_or(&options.unused);
        let body = json!({"id": id, "sidebar": area, "instance": {"raw": widget.settings}});
        report.widget(match operator.ask(Method::Post, &resource.path, json!({}), body) {
            Ok(_) if is_declared(area) => WidgetOutcome::Made,
            Ok(_) => {
                // It is shown there once the area is declared.
                let target = Target::Existing { key: txt(id), expect: None };
                let put = Put::new(resource.table.clone(), target, vec![text_column("sidebar", area)]);
                let plan = WritePlan::new(vec![Change::Put(put)]);
                wait(operator.services.storage.commit(plan)).map_err(BootError::Commit)?;
                WidgetOutcome::Hidden(area.clone())
            }
            Err(error) => WidgetOutcome::Refused(format!("{id}: {error}")),
        });
    }
    Ok(())
}

/// Writes the declarations that files of another site ask for.
fn propose_declarations(
    source: &ConfigSource,
    args: &ImportArgs,
    files: &[PathBuf],
    folder: &Path,
) -> Result<(), BootError> {
    // The names that are taken are those of the dialect that the proposal declares.
    let mut source = source.clone();
    source.sets.push("site.prefix=wp".to_owned());
    let report = propose::propose(&linked(&source)?, files, args.table_prefix.as_deref(), folder)?;
    if args.json {
        say!("{}", report.to_json());
    } else {
        say!("{report}");
    }
    Ok(())
}
