//! Items that bring files: a member of a property holds addresses, and names of files in the form, which are stored and
//! replaced by their addresses (`options.uploads`).

use super::files::{file_store, refusal, undo_on_failure};
use super::{Outcome, Work, items};
use crate::access::failure;
use crate::error::{ApiError, Code, refuse_if};
use crate::families::RowEdit;
use crate::families::content::{self, FileDefaults};
use crate::families::file::{self, FileSource, PictureOptions};
use crate::model::UploadFile;
use crate::registry::resource::Resource;
use crate::request::BodyParams;
use cms_declaration::UploadedMembers;
use cms_schema::ParamFailure;
use serde_json::{Value, json};
use url::Url;

/// `file.create_with`: 201, the new item.
///
/// # Errors
/// An address is none, a file is named by none, or it is of a type that is not accepted.
pub async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let options = resource.declared.options.uploads.as_ref().ok_or_else(|| ApiError::new(Code::Internal))?;
    let edit = work.edit(resource, None)?;
    let mut args = work.allowed.args().clone();
    let mut value = args.get(&options.property).cloned().unwrap_or_default();
    let sent: &[UploadFile] = match work.body {
        BodyParams::Upload(upload) if upload.form => &upload.files,
        _ => &[],
    };
    let named = named(&value[&options.member]);
    checked(options, &named, sent)?;
    let (mut addresses, mut keys) = (Vec::new(), Vec::new());
    for name in named {
        match sent.iter().find(|file| file.field == name) {
            None => addresses.push(Value::from(name)),
            Some(sent) => match stored(work, resource, options, sent).await {
                Ok((address, key)) => {
                    addresses.push(Value::from(address));
                    keys.push(key);
                }
                Err(error) => return undo_on_failure(work, Err(error), keys).await,
            },
        }
    }
    if addresses.len() > 1 {
        value[&options.member] = Value::Array(addresses);
    } else if let Some(only) = addresses.pop() {
        value[&options.member] = only;
    }
    args.replace(&options.property, value);
    let edit = RowEdit { args: &args, ..edit };
    let brought = FileDefaults { changes: file::owned_by_new(&keys), ..FileDefaults::default() };
    let made = match content::plan_creation(&edit, brought) {
        Ok(changes) => work.insert(resource, changes).await,
        Err(error) => Err(error),
    };
    let written = undo_on_failure(work, made, keys).await?;
    items::created(work, resource, &written)
}

/// The addresses and the names of files that are sent.
fn named(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(one) => vec![one.clone()],
        _ => Vec::new(),
    }
}

/// Each entry is an address or names a file, and each file is named.
fn checked(options: &UploadedMembers, named: &[String], sent: &[UploadFile]) -> Result<(), ApiError> {
    let place = format!("{}[{}]", options.property, options.member);
    let invalid = |message: String| {
        let failure = Code::InvalidParam.failure_of(&options.property);
        Err(ApiError::invalid(vec![ParamFailure { message, ..failure }]))
    };
    let is_address = |text: &str| Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    for name in named {
        if name.trim().is_empty() {
            return invalid(format!("{place} cannot hold empty texts."));
        }
        if !is_address(name) && !sent.iter().any(|file| file.field == *name) {
            return invalid(format!("{place}: {name} is neither an address nor the name of a file that was sent."));
        }
    }
    match sent.iter().find(|file| !named.contains(&file.field)) {
        Some(file) => invalid(format!("The file {} has to be named in {place}.", file.field)),
        None => Ok(()),
    }
}

/// Stores a file: its address and its key.
async fn stored(
    work: &Work<'_>,
    resource: &Resource,
    options: &UploadedMembers,
    sent: &UploadFile,
) -> Result<(String, String), ApiError> {
    let media = &work.scope.registry.declaration.media;
    let known =
        file::any_recognised(&sent.name, sent.path(), media).filter(|(_, kind)| options.types.contains(&kind.mime));
    let (base, kind) = known.ok_or_else(|| {
        let message = format!("Only files of these types are taken: {}.", options.types.join(", "));
        failure(resource, Code::UploadTypeRefused).with_message(message).with("types", json!(options.types))
    })?;
    refuse_if(sent.size > media.max_upload.bytes(), Code::UploadTooLarge)?;
    let source =
        FileSource { path: sent.path(), size: sent.size, meta: None, making: PictureOptions::all(""), kept: None };
    let kept = file_store(work)?.keep(source, &base, &kind, &options.folder).await;
    let kept = kept.map_err(|error| refusal(work, error, Code::UploadTypeRefused))?;
    Ok((kept.url, kept.file))
}
