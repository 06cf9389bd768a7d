//! The command line: subcommands, and the exit code.
//!
//! Other tools rely on the names here (issue: "The command line").

/// Prints a line. A closed pipe (`| head`) is no failure, so that output is not what the program ends of.
macro_rules! say {
    ($($text:tt)*) => {
        let _ = writeln!(std::io::stdout().lock(), $($text)*);
    };
}

/// The same to the standard error.
macro_rules! tell {
    ($($text:tt)*) => {
        let _ = writeln!(std::io::stderr().lock(), $($text)*);
    };
}

mod accounts;
mod backups;
mod compare;
mod declarations;
mod doctor;
mod export;
mod health;
mod import;
mod mcp;
mod new;
mod openapi;
pub mod reference;
mod reload;
mod roles;
mod serve;

pub use declarations::route_table;

use self::export::ExportArgs;
use crate::boot::{self, BootError, ConfigSource, Services};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use cms_config::{grammar, shipped};
use cms_core::registry::Registry;
use cms_core::registry::link::nearest;
use cms_core::scope::CredentialLimits;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The file that [`Command::Init`] writes for people to edit.
const CONFIG: &str = "routes.toml";

/// Serves a content site's REST contract from declarations.
#[derive(Debug, Parser)]
#[command(name = "cms-server", version)]
pub struct Cli {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Where the declarations are; every subcommand takes these.
#[derive(Args, Clone, Debug)]
pub struct SourceArgs {
    /// The declarations; without it, those inside the program.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Overrides a key of the declarations; repeatable.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

impl SourceArgs {
    /// An option of which clap has forgotten what stands before the command, since it stands behind it, too.
    fn forgotten(&self, given: impl Iterator<Item = OsString>) -> Option<&'static str> {
        let given: Vec<String> = given.map(|arg| arg.to_string_lossy().into_owned()).collect();
        let taken = [("--config", usize::from(self.config.is_some())), ("--set", self.sets.len())];
        let count = |option: &str| given.iter().filter(|arg| arg.split('=').next() == Some(option)).count();
        taken.into_iter().find(|(option, taken)| count(option) > *taken).map(|(option, _)| option)
    }
}

/// A command other than serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check the declarations and exit.
    Check {
        /// Check the database, too: integrity, references, counts, and what the next start would change in it. A
        /// server may use it meanwhile.
        #[arg(long)]
        data: bool,
        /// Print the outcome as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Bring the tables to the declarations. Changes that would lose values are refused. Stop the server first.
    Migrate {
        /// Print the changes and make none. A server may use the database meanwhile; its writes wait.
        #[arg(long)]
        dry_run: bool,
        /// Delete these values where they stand in the way; repeatable. The database is copied before.
        #[arg(long, value_name = "RESOURCE[.COLUMN]", conflicts_with = "dry_run")]
        drop: Vec<String>,
        /// Print the outcome as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Copy the database to a new file, also while the server runs, and check the copy.
    Backup {
        /// The new file; with --with-files a folder of backups. Default: backup.folder.
        file: Option<PathBuf>,
        /// Copy the uploaded files, too, into a folder of backups that share what has not changed.
        #[arg(long, requires = "file")]
        with_files: bool,
    },
    /// Replace the database by a backup; the old database is renamed. Stop the server first.
    Restore {
        /// A copy of the database, or one backup of a folder with its files.
        file: PathBuf,
        /// Only rehearse: check that the backup is whole and opens with the declarations. The server may run.
        #[arg(long)]
        verify: bool,
    },
    /// Copy the database into a new one, of SQLite or PostgreSQL, and compare both. Uploaded files are not copied. Stop the
    /// server first: what it writes meanwhile is not in the copy.
    Copy {
        /// The source; default: storage.url.
        #[arg(long, value_name = "URL")]
        from: Option<String>,
        /// The new database: sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE.
        #[arg(long, value_name = "URL")]
        to: String,
    },
    /// Print the routes with their methods, arguments and access.
    Routes {
        /// Print them as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the OpenAPI 3.1 description of the routes.
    Openapi {
        /// Print it as YAML.
        #[arg(long)]
        yaml: bool,
        /// Only the routes of this namespace.
        #[arg(long, value_name = "NAMESPACE")]
        namespace: Option<String>,
    },
    /// Print TypeScript declarations of documents, arguments, bodies and errors.
    Types,
    /// Print a client for TypeScript with these types.
    Client,
    /// Speak the Model Context Protocol over standard input and output, in the name of a user. The server may run meanwhile.
    Mcp {
        /// Login of the user.
        #[arg(long, value_name = "LOGIN")]
        user: String,
        /// Only read.
        #[arg(long)]
        read_only: bool,
        /// Only read and write drafts of the user.
        #[arg(long, conflicts_with = "read_only")]
        draft: bool,
        /// Reach only these resources (names as in routes.toml).
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        resources: Vec<String>,
    },
    /// Print the JSON Schema of routes.toml, for editors.
    Schema,
    /// Print the meaning of a word: a handler, guard, behaviour, renderer, schema word (`x-…`) or configuration key.
    Explain { word: String },
    /// Write the reference, the configuration keys and the metrics as Markdown into a folder.
    Docs { directory: PathBuf },
    /// Write the shipped declarations into a folder: routes.toml, which is yours, and schemas.
    Init {
        #[arg(default_value = ".")]
        directory: PathBuf,
        /// Replace the shipped files of the folder's schemas. routes.toml, site.toml and your own files stay.
        #[arg(long)]
        upgrade: bool,
    },
    /// Add to the declarations.
    #[command(subcommand)]
    New(NewCommand),
    /// Import a WordPress export (WXR), a dump of its database (SQL, .gz) or one that runs, or propose declarations for it.
    Import(ImportArgs),
    /// Export the site as WXR, which WordPress and `import` read, with all records, terms, values and comments (--wxr), and its
    /// uploaded files (--files). The server may run meanwhile.
    Export(ExportArgs),
    /// Send the same GETs to a site elsewhere and to this one, also while it runs, and print what differs.
    Compare(compare::CompareArgs),
    /// Check the running site from outside: whether proxies pass on what clients send.
    Doctor {
        /// Address of the site as clients use it; default: site.url.
        #[arg(long)]
        url: Option<String>,
        /// Certificates in PEM of the authority to trust, instead of the usual ones.
        #[arg(long, value_name = "FILE")]
        ca: Option<PathBuf>,
    },
    /// Ask the server that runs with these declarations on this machine whether it serves. For HEALTHCHECK and the like.
    Health,
    /// Print the completions of a shell.
    Completions { shell: Shell },
    /// Print the manual page, or write it and those of all subcommands into a folder.
    Man { directory: Option<PathBuf> },
    /// Manage users.
    #[command(subcommand)]
    User(UserCommand),
    /// Manage application passwords.
    #[command(subcommand)]
    AppPassword(AppPasswordCommand),
    /// Print the roles in force: those of the declarations, and what is stored over them.
    Roles {
        /// Print those that are stored as TOML, for the files.
        #[arg(long)]
        toml: bool,
    },
    /// E-mail.
    #[command(subcommand)]
    Mail(MailCommand),
    /// Print the newest entries of the audit trail.
    Audit {
        /// How many.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=100))]
        last: u16,
    },
    /// Print what runs where: version, addresses, database and its size, rows by resource.
    Status,
}

/// See [`Command::Import`].
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// The file, several exports of one site in any order, or the address of a site that runs: https://old.example.org.
    #[arg(value_name = "FILE|ADDRESS", required = true)]
    files: Vec<PathBuf>,
    /// Import nothing; write declarations for the content of the files into this folder. JSON of Advanced Custom Fields is read, too.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["attachments", "dry_run"])]
    propose: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Read everything, print the report, and write nothing.
    #[arg(long, conflicts_with = "attachments")]
    dry_run: bool,
    /// Import versions and autosaves of records, too.
    #[arg(long)]
    revisions: bool,
    /// Mend texts that were encoded twice, such as "fÃ¼r" for "für". The report counts them in any case.
    #[arg(long)]
    mend_encoding: bool,
    /// The beginning of the names of the site's tables, where a dump has several sites.
    #[arg(long, value_name = "PREFIX")]
    table_prefix: Option<String>,
    /// A folder with the uploads of the exported site; its files become those of the imported records.
    #[arg(long, value_name = "DIR")]
    attachments: Option<PathBuf>,
    /// Download the files that this folder does not have from where they are, before it is read.
    #[arg(long, requires = "attachments")]
    fetch: bool,
    /// Leave the addresses of files in texts as they are, which else become those that the files have here (site.url).
    #[arg(long, requires = "attachments")]
    keep_addresses: bool,
    /// Login of the account that gets records of authors that the file does not list. With an address: who reads the site there.
    #[arg(long, value_name = "LOGIN")]
    user: Option<String>,
    /// A file with the application password of that account, which is asked for or read from the standard input otherwise.
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// The file that an address is read into; default: HOST.sql. A later import goes on with it, or reads what has changed.
    #[arg(long, value_name = "FILE", requires = "user")]
    into: Option<PathBuf>,
    /// Milliseconds between two requests to an address. The site may ask for more (Retry-After).
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(..=60_000))]
    pause: u64,
}

/// See [`Command::New`].
#[derive(Debug, Subcommand)]
pub enum NewCommand {
    /// Write the schema of a new resource and append its lines to site.toml. Nothing is overwritten.
    Resource {
        /// Lower-case letters, digits and _, such as papers.
        name: String,
        /// The base resource that it extends: content, plain, term, or one of your own.
        #[arg(long, value_name = "BASE", default_value = "content")]
        like: String,
    },
}

/// See [`Command::User`].
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Print all users.
    List,
    /// Set a user's password, asked for at a prompt or read from the standard input. The user's sessions end.
    Passwd { login: String },
    /// Set a user's roles.
    Role {
        login: String,
        #[arg(required = true)]
        roles: Vec<String>,
    },
    /// Delete a user.
    #[command(group = clap::ArgGroup::new("records").required(true))]
    Delete {
        login: String,
        /// The user who gets the records.
        #[arg(long, group = "records", value_name = "LOGIN")]
        reassign: Option<String>,
        /// Delete the records, too.
        #[arg(long, group = "records")]
        delete_content: bool,
    },
    /// End all sessions of a user.
    Logout { login: String },
    /// Unlink a user from the people at identity providers whose account it is, so that another login there may take it, and end the user's
    /// sessions.
    Unlink { login: String },
    /// Take the second factors and recovery codes of a user away, who has lost them, and end the user's sessions.
    ResetFactor { login: String },
    /// Add a user; the password is asked for at a prompt, or read from the first line of the standard input.
    Add {
        login: String,
        email: String,
        /// A declared role; without it, the default one.
        #[arg(long)]
        role: Option<String>,
        /// Read the password from the standard input.
        #[arg(long)]
        password_stdin: bool,
        /// Read the hash of a password from the standard input, as WordPress stores it ($wp$2y$, $2y$, $P$). It is replaced
        /// by a newer one at the first login.
        #[arg(long, conflicts_with = "password_stdin")]
        hash_stdin: bool,
        /// Set no password: the user gets an e-mail with a link to set one.
        #[arg(long, conflicts_with_all = ["password_stdin", "hash_stdin"])]
        invite: bool,
    },
    /// Send a user an e-mail with a link to set a password.
    Invite { login: String },
}

/// See [`Command::Mail`].
#[derive(Debug, Subcommand)]
pub enum MailCommand {
    /// Send a test message, and wait until the mail server has taken it.
    Test { address: String },
}

/// See [`Command::AppPassword`].
#[derive(Debug, Subcommand)]
pub enum AppPasswordCommand {
    /// Print a user's application passwords. Their secrets are not stored.
    List { login: String },
    /// Revoke one, named by its UUID or its name.
    Revoke { login: String, password: String },
    /// Add an application password and print it, alone on a line.
    Add {
        login: String,
        name: String,
        /// Limit it to reading.
        #[arg(long)]
        read_only: bool,
        /// Limit it to reading and to drafts of its own.
        #[arg(long, conflicts_with = "read_only")]
        draft: bool,
        /// Limit it to these resources (names as in routes.toml).
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        resources: Vec<String>,
        /// Let it expire after so many days.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        days: Option<u16>,
    },
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(option) = cli.source.forgotten(std::env::args_os()) {
        let message = format!("`{option}` stands before and behind the command; write it behind the command only.");
        Cli::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    let source = ConfigSource { config: cli.source.config, sets: cli.source.sets };
    let done = match cli.command {
        None => serve::serve(&source),
        Some(Command::Check { data, json }) => declarations::check(&source, data, json),
        Some(Command::Migrate { dry_run, drop, json }) => declarations::migrate(&source, dry_run, &drop, json),
        Some(Command::Backup { file, with_files }) => backups::backup(&source, file, with_files),
        Some(Command::Restore { file, verify: true }) => backups::verify(&source, &file),
        Some(Command::Restore { file, verify: false }) => backups::restore(&source, &file),
        Some(Command::Copy { from, to }) => backups::copy(&source, from.as_deref(), &to),
        Some(Command::Doctor { url, ca }) => doctor::doctor(&source, url, ca.as_deref()),
        Some(Command::Health) => health::health(&source),
        Some(Command::Routes { json }) => declarations::routes(&source, json),
        Some(Command::Openapi { yaml, namespace }) => openapi::openapi(&source, yaml, namespace.as_deref()),
        Some(Command::Types) => openapi::types(&source),
        Some(Command::Client) => openapi::client(&source),
        Some(Command::Mcp { user, read_only, draft, resources }) => {
            mcp::mcp(&source, &user, (read_only, draft), &resources)
        }
        Some(Command::Schema) => schema(),
        Some(Command::Explain { word }) => explain(&word),
        Some(Command::Docs { directory }) => docs(&directory),
        Some(Command::Init { directory, upgrade }) => init(&directory, upgrade),
        Some(Command::Completions { shell }) => completions(shell),
        Some(Command::Man { directory }) => man(directory.as_deref()),
        Some(Command::New(NewCommand::Resource { name, like })) => new::resource(&source, &name, &like),
        Some(Command::Compare(args)) => compare::run(&source, &args),
        Some(Command::Import(args)) => import::run(&source, &args),
        Some(Command::Export(args)) => export::run(&source, &args),
        Some(Command::User(command)) => accounts::user(&source, command),
        Some(Command::Roles { toml }) => print_text(roles::roles(&source, toml)),
        Some(Command::Mail(MailCommand::Test { address })) => print_text(accounts::mail_test(&source, &address)),
        Some(Command::Audit { last }) => print_text(accounts::audit_trail(&source, last.into())),
        Some(Command::Status) => print_text(accounts::status(&source)),
        Some(Command::AppPassword(AppPasswordCommand::List { login })) => {
            print_text(accounts::app_password_list(&source, &login))
        }
        Some(Command::AppPassword(AppPasswordCommand::Revoke { login, password })) => {
            print_text(accounts::app_password_revoke(&source, &login, &password))
        }
        Some(Command::AppPassword(AppPasswordCommand::Add { login, name, read_only, draft, resources, days })) => {
            accounts::app_password_add(&source, (&login, &name), (read_only, draft), &resources, days)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The outcome was printed as JSON.
        Err(BootError::Reported) => ExitCode::FAILURE,
        Err(error) => {
            tell!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn linked(source: &ConfigSource) -> Result<Registry, BootError> {
    let loaded = source.load()?;
    let listen = loaded.declaration.server.listen.clone();
    boot::registry(&loaded, &listen)
}

/// The services over the database that the declarations name, which is there.
fn services(source: &ConfigSource) -> Result<(Registry, Services), BootError> {
    let registry = linked(source)?;
    present(&registry)?;
    opened(registry)
}

/// The same; where there is no database, this begins one, and says so: it may be the wrong folder.
fn services_or_new(source: &ConfigSource) -> Result<(Registry, Services), BootError> {
    let registry = linked(source)?;
    let place = boot::place(&registry.declaration)?;
    let new = place.file().filter(|path| !path.exists());
    let opened = opened(registry)?;
    if let Some(path) = new {
        tell!("{}: a new database", path.display());
    }
    Ok(opened)
}

/// The database is there: a command in the wrong folder leaves none behind.
fn present(registry: &Registry) -> Result<(), BootError> {
    let place = boot::place(&registry.declaration)?;
    let Some(path) = place.file().filter(|path| !path.exists()) else { return Ok(()) };
    let hint = "the first start of the server creates it; in another folder, name it with --config or storage.url";
    Err(BootError::Other(format!("{}: there is no such database\n  hint: {hint}", path.display())))
}

fn opened(registry: Registry) -> Result<(Registry, Services), BootError> {
    let _starting = boot::place(&registry.declaration)?.start()?;
    let storage = boot::open_briefly(&registry, true)?;
    let services = Services::start(storage, &registry)?;
    services.seed(&registry)?;
    Ok((registry, services))
}

fn schema() -> Result<(), BootError> {
    let text = serde_json::to_string_pretty(&reference::with_names(grammar::routes_document()));
    print(format!("{}\n", text.map_err(|e| BootError::Other(e.to_string()))?).as_bytes());
    Ok(())
}

fn explain(word: &str) -> Result<(), BootError> {
    print(reference::explain(word).map_err(BootError::Other)?.as_bytes());
    Ok(())
}

fn docs(directory: &Path) -> Result<(), BootError> {
    let files = [
        ("reference.md", reference::reference()),
        ("configuration.md", reference::configuration()),
        ("metrics.md", reference::metrics()),
    ];
    for (name, text) in files {
        let file = directory.join(name);
        std::fs::write(&file, text).map_err(|e| BootError::Other(format!("{}: {e}", file.display())))?;
        say!("{}", file.display());
    }
    Ok(())
}

fn init(directory: &Path, upgrade: bool) -> Result<(), BootError> {
    let failed = |error: shipped::InitError| BootError::Other(error.to_string());
    if upgrade {
        let old = shipped::upgrade(directory).map_err(failed)?;
        say!("{}: the old folder is {}", directory.join("schemas").display(), old.display());
        return Ok(());
    }
    for file in shipped::init(directory).map_err(failed)? {
        say!("{}", file.display());
    }
    tell!("next: edit {0}, then run `cms-server --config {0}`", directory.join(CONFIG).display());
    Ok(())
}

fn completions(shell: Shell) -> Result<(), BootError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut text);
    print(&text);
    Ok(())
}

fn man(directory: Option<&Path>) -> Result<(), BootError> {
    let failed = |error: std::io::Error| BootError::Other(error.to_string());
    match directory {
        Some(directory) => {
            std::fs::create_dir_all(directory).map_err(failed)?;
            clap_mangen::generate_to(Cli::command(), directory).map_err(failed)
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(failed)?;
            print(&text);
            Ok(())
        }
    }
}

/// To the standard output; a closed pipe (`| head`) is no failure.
fn print(text: &[u8]) {
    let _ = std::io::stdout().lock().write_all(text);
}

/// Prints the text of a command.
fn print_text(text: Result<String, BootError>) -> Result<(), BootError> {
    text.map(|text| print(text.as_bytes()))
}

/// The limits of a credential: whether it only reads, whether it only drafts, and what it reaches.
fn limits(
    registry: &Registry,
    (read_only, draft): (bool, bool),
    resources: &[String],
) -> Result<CredentialLimits, BootError> {
    if let Some(unknown) = resources.iter().find(|name| registry.resource(name).is_none()) {
        let hint = nearest(unknown, registry.resources.iter().map(|r| r.name.as_str())).unwrap_or_default();
        return Err(BootError::Other(format!("there is no resource `{unknown}` {hint}")));
    }
    Ok(CredentialLimits { read_only, draft, resources: resources.iter().map(|name| name.as_str().into()).collect() })
}
