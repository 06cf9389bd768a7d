//! `export`: what the site adds to its theme, as a theme of its own.

use crate::error::{ApiError, status};
use crate::handlers::{Outcome, Work};
use crate::model::Method;
use crate::request::BodyParams;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

/// A ZIP with a page for each record of the declared folders (`options.folders`: a folder, and a resource of named
/// records), the site's styles (`options.styles`, a resource with one record) as `theme.json`, and the
/// header of the active theme as `style.css`.
pub async fn export(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let registry = &work.scope.registry;
    let options = &work.resource()?.declared.options;
    let mut files: Vec<(String, String)> = Vec::new();
    for (folder, resource) in &options.folders {
        let Some(resource) = registry.resource(resource) else { continue };
        let listed = work.ask(Method::Get, &resource.path, json!({"context": "edit"}), BodyParams::None).await;
        for record in listed.body.as_array().into_iter().flatten() {
            let (slug, content) = (record["slug"].as_str(), record["content"]["raw"].as_str());
            if let (Some(slug), Some(content)) = (slug, content) {
                files.push((format!("{folder}/{}.html", slug.replace(['/', '\\'], "-")), content.to_owned()));
            }
        }
    }
    files.push(("theme.json".into(), format!("{:#}\n", styles(work).await?)));
    let name = registry.active_theme();
    let theme = registry.declaration.themes.get(name);
    files.push(("style.css".into(), header(theme.map_or(&Map::new(), |theme| &theme.header))));
    let bytes = packed(&files).map_err(|error| work.scope.internal(&error))?;
    let disposition = format!("attachment; filename=\"{name}.zip\"");
    Ok(Outcome {
        status: status::OK,
        headers: vec![("Content-Disposition".into(), disposition)],
        other: Some(("application/zip", bytes)),
        private: true,
        ..Outcome::default()
    })
}

/// The settings and styles that the site itself stores.
async fn styles(work: &Work<'_>) -> Result<Value, ApiError> {
    let registry = &work.scope.registry;
    let resource = work.resource()?.declared.options.styles.as_deref();
    let mut kept = json!({"version": 3});
    if let Some(resource) = resource.and_then(|name| registry.resource(name))
        && let Some(id) = super::own_record(work, resource)?
    {
        let path = resource.item_path(&id.to_string());
        let record = work.ask(Method::Get, &path, json!({"context": "edit"}), BodyParams::None).await.body;
        for name in ["settings", "styles"] {
            if record[name].as_object().is_some_and(|members| !members.is_empty()) {
                kept[name] = record[name].clone();
            }
        }
    }
    Ok(kept)
}

/// The comment that a theme names itself with.
fn header(about: &Map<String, Value>) -> String {
    let mut out = String::from("/*\n");
    for (name, label) in [
        ("name", "Theme Name"),
        ("theme_uri", "Theme URI"),
        ("author", "Author"),
        ("author_uri", "Author URI"),
        ("description", "Description"),
        ("version", "Version"),
        ("textdomain", "Text Domain"),
    ] {
        if let Some(value) = about.get(name).and_then(Value::as_str).filter(|value| !value.is_empty()) {
            out.push_str(&format!("{label}: {}\n", value.replace("*/", "").replace(['\r', '\n'], " ")));
        }
    }
    out.push_str("*/\n");
    out
}

/// The name, or with a number where another entry has it already: drafts may share a slug, and an archive holds a name
/// once. Names that differ in case alone are the same to some systems.
fn unused(name: &str, taken: &mut HashSet<String>) -> String {
    let (stem, end) = name.rsplit_once('.').map_or((name, String::new()), |(stem, end)| (stem, format!(".{end}")));
    let mut candidates = std::iter::once(name.to_owned()).chain((2_u64..).map(|n| format!("{stem}-{n}{end}")));
    let free = candidates.find(|candidate| taken.insert(candidate.to_lowercase()));
    free.unwrap_or_else(|| name.to_owned())
}

fn packed(files: &[(String, String)]) -> Result<Vec<u8>, ZipError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut taken = HashSet::new();
    for (name, text) in files {
        zip.start_file(unused(name, &mut taken), options)?;
        zip.write_all(text.as_bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_name_get_numbers() {
        let files = ["a.html", "a.html", "A.html", "a-2.html", "b"].map(|name| (name.to_owned(), name.to_owned()));
        let bytes = packed(&files).expect("an archive");
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("an archive");
        let names: Vec<String> = (0..archive.len())
            .map(|i| archive.by_index(i).expect("an entry").name().expect("a name").to_string())
            .collect();
        assert_eq!(names, ["a.html", "a-2.html", "A-3.html", "a-2-2.html", "b"]);
    }
}
