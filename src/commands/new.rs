//! `new resource`: a schema file and the lines of `site.toml` that serve it.

use crate::boot::{self, BootError, ConfigSource};
use cms_config::check::suggestion;
use cms_config::load::LoadedDeclaration;
use cms_declaration::Family;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder of new schema files, beside the main file.
const SCHEMAS: &str = "schemas";

/// The overlay that the lines are appended to, beside the main file.
const SITE: &str = "site.toml";

/// Adds a resource that extends a base resource. Existing files are never overwritten, and if the declarations are not
/// sound afterwards, nothing stays written.
///
/// # Errors
/// The name is taken or cannot be one, the declarations are not sound, or a file cannot be written.
pub(super) fn resource(source: &ConfigSource, name: &str, like: &str) -> Result<(), BootError> {
    let Some(config) = &source.config else {
        let hint = "name the declarations with --config routes.toml; `cms-server init DIRECTORY` writes them";
        return Err(BootError::Other(format!("there is no file to add to\n  hint: {hint}")));
    };
    let texts = texts(&load_without_problems(source)?, name, like)?;
    let folder = config.parent().unwrap_or(Path::new(""));
    let mut written = ScaffoldFiles::default();
    let done = written.all(folder, name, &texts).and_then(|()| check_declared(source, name));
    if let Err(error) = done {
        written.undo();
        return Err(error);
    }
    say!("{}", written.schema.unwrap_or_default().display());
    say!("{}", folder.join(SITE).display());
    Ok(())
}

/// The declarations, which have no problem.
fn load_without_problems(source: &ConfigSource) -> Result<LoadedDeclaration, BootError> {
    let loaded = source.load()?;
    boot::registry(&loaded, &loaded.declaration.server.listen)?;
    boot::calls(&loaded)?;
    Ok(loaded)
}

fn check_declared(source: &ConfigSource, name: &str) -> Result<(), BootError> {
    if load_without_problems(source)?.declaration.resources.contains_key(name) {
        return Ok(());
    }
    let hint = format!("list it in `overlays`: {{ file = \"{SITE}\", optional = true }}");
    Err(BootError::Other(format!("the declarations do not read {SITE}\n  hint: {hint}")))
}

/// The texts to write: the schema, and the lines of `site.toml`.
struct ScaffoldTexts {
    schema: String,
    site: String,
}

fn texts(loaded: &LoadedDeclaration, name: &str, like: &str) -> Result<ScaffoldTexts, BootError> {
    let refused = |message: String, hint: &str| Err(BootError::Other(format!("{message}\n  hint: {hint}")));
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.len() > 40 || !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(word) {
        return refused(
            format!("`{name}` cannot be the name of a resource"),
            "write lower-case letters, digits and _: papers",
        );
    }
    let declared = &loaded.declaration;
    if declared.resources.contains_key(name) || declared.base_resources.contains_key(name) {
        return refused(
            format!("there is a resource `{name}` already"),
            "choose another name, or change it in site.toml",
        );
    }
    let Some(base) = declared.base_resources.get(like) else {
        let hint = suggestion(like, declared.base_resources.keys().map(String::as_str)).unwrap_or_default();
        return refused(format!("there is no base resource `{like}`"), &hint);
    };
    let reference = match base.schema.strip_prefix(&format!("{SCHEMAS}/")) {
        Some(beside) => beside.to_owned(),
        None => format!("../{}", base.schema),
    };
    let (site, properties) = match base.family {
        Family::Content => (include_str!("new/content.toml"), include_str!("new/none.json")),
        Family::Term => (include_str!("new/term.toml"), include_str!("new/none.json")),
        Family::Plain => (include_str!("new/plain.toml"), include_str!("new/plain.json")),
        _ => return refused(format!("resources like `{like}` are more than two files"), "extend it in site.toml"),
    };
    let places = [("{name}", name), ("{base}", like), ("{reference}", &reference)];
    let filled = |text: &str| places.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value));
    Ok(ScaffoldTexts { schema: filled(properties), site: filled(site) })
}

/// The files written so far.
#[derive(Default)]
struct ScaffoldFiles {
    schema: Option<PathBuf>,
    /// `site.toml`, and its length before; `None` if it is new.
    site: Option<(PathBuf, Option<u64>)>,
}

impl ScaffoldFiles {
    fn all(&mut self, folder: &Path, name: &str, texts: &ScaffoldTexts) -> Result<(), BootError> {
        let schema = folder.join(SCHEMAS).join(format!("{name}.json"));
        new_file(&schema, &texts.schema).map_err(|error| failed(&schema, &error))?;
        self.schema = Some(schema);
        let site = folder.join(SITE);
        let before = fs::metadata(&site).ok().map(|about| about.len());
        self.site = Some((site.clone(), before));
        append(&site, &texts.site).map_err(|error| failed(&site, &error))
    }

    /// Restores the files. A file that cannot be restored is left: the error that led here is reported.
    fn undo(self) {
        if let Some(schema) = self.schema {
            let _ = fs::remove_file(schema);
        }
        match self.site {
            Some((site, Some(before))) => {
                let _ = File::options().write(true).open(site).and_then(|file| file.set_len(before));
            }
            Some((site, None)) => {
                let _ = fs::remove_file(site);
            }
            None => {}
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> BootError {
    let why = match error.kind() {
        io::ErrorKind::AlreadyExists => "exists already; nothing was written".to_owned(),
        _ => format!("cannot be written: {error}"),
    };
    BootError::Other(format!("{} {why}", path.display()))
}

fn new_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    File::options().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

/// Appends lines after an empty one.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let before = match fs::read_to_string(path) {
        Ok(before) => before,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let gap = match before.as_str() {
        "" => "",
        before if before.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let mut file = File::options().create(true).append(true).open(path)?;
    file.write_all(format!("{gap}{text}").as_bytes())
}
