//! A picture at an address, taken as if it had been uploaded: from the files of this site, or from another site where
//! `[outbound]` allows it.

use super::files::file_store;
use super::{SharedServices, Work};
use crate::error::{ApiError, Code, refuse_if, status};
use crate::files::kinds;
use crate::model::UploadFile;
use crate::outbound::FetchError;
use crate::request::decode_path;
use crate::scope::Scope;
use cms_schema::ParamFailure;
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// The argument that holds the address.
pub const ADDRESS: &str = "url";

impl SharedServices {
    /// Whether the server may request an address: one of this site, or one that `[outbound]` sends requests to.
    ///
    /// # Errors
    /// It may not: why.
    pub fn fetches(&self, scope: &Scope, name: &str, address: &str) -> Result<(), Box<ParamFailure>> {
        let refused = |why: &str| {
            let failure = Code::UploadInvalidUrl.failure_of(name);
            Err(Box::new(ParamFailure { message: format!("Not fetched: {why}."), ..failure }))
        };
        let Ok(url) = Url::parse(address) else { return refused("not an address") };
        if own_path(scope, &url).is_some() {
            return Ok(());
        }
        match self.outbound.allowed(&url) {
            Err(FetchError::Address(why)) => refused(why),
            _ => Ok(()),
        }
    }
}

/// The picture at an address.
///
/// # Errors
/// Its name is not that of a picture, nothing is there, or it is too large.
pub async fn picture(work: &Work<'_>, address: &str) -> Result<UploadFile, ApiError> {
    let invalid = || ApiError::new(Code::UploadInvalidUrl);
    let url = Url::parse(address).map_err(|_| invalid())?;
    let media = &work.scope.registry.declaration.media;
    let name = url.path_segments().and_then(|mut segments| segments.next_back()).map(decoded).unwrap_or_default();
    let kind = name.rsplit_once('.').and_then(|(_, end)| kinds::by_extension(end, media));
    if !kind.is_some_and(|(mime, _)| mime.starts_with("image/")) {
        return Err(invalid());
    }
    let (file, size) = match own_path(work.scope, &url) {
        Some(path) => own(work, &path).await?,
        None => of_another_site(work, &url).await?,
    };
    Ok(UploadFile { field: String::new(), name, size, file: Arc::new(file) })
}

/// A file of this site.
async fn own(work: &Work<'_>, path: &str) -> Result<(tempfile::TempPath, u64), ApiError> {
    let media = &work.scope.registry.declaration.media;
    let store = file_store(work)?;
    let files = &store.media.files;
    let key = path.strip_prefix(&media.path).and_then(|key| key.strip_prefix('/'));
    let stat = match key {
        Some(key) => files.stat(key).await.map_err(|error| work.scope.internal(&error))?,
        None => None,
    };
    let (Some(key), Some(stat)) = (key, stat) else { return Err(absent(status::NOT_FOUND)) };
    refuse_if(stat.size > media.max_upload.bytes(), Code::UploadTooLarge)?;
    let file = files.fetch(key).await.map_err(|error| work.scope.internal(&error))?;
    Ok((file, stat.size))
}

async fn of_another_site(work: &Work<'_>, url: &Url) -> Result<(tempfile::TempPath, u64), ApiError> {
    let outbound = &work.shared.outbound;
    if !outbound.files() {
        let why = "This site does not fetch files of other sites.";
        return Err(ApiError::new(Code::UploadInvalidUrl).with_message(why));
    }
    let media = &work.scope.registry.declaration.media;
    let store = file_store(work)?;
    let into = store.media.files.temporary().map_err(|error| work.scope.internal(&error))?;
    let fetched = outbound.download(store.owner, url, into, media.max_upload.bytes()).await.map_err(failed)?;
    Ok((fetched.file, fetched.size))
}

fn failed(refused: FetchError) -> ApiError {
    match refused {
        FetchError::Address(_) => ApiError::invalid_for(ADDRESS, Code::UploadInvalidUrl),
        FetchError::Busy => {
            ApiError::new(Code::Busy).with_message("Too many requests to other sites are in progress; try again.")
        }
        FetchError::Status(status) => absent(status),
        FetchError::TooLarge => ApiError::new(Code::UploadTooLarge),
        FetchError::Nothing(why) => {
            tracing::debug!("another site did not respond: {why}");
            ApiError::new(Code::FetchFailed)
        }
    }
}

/// Another status than 200.
fn absent(status: u16) -> ApiError {
    ApiError::new(Code::FetchStatus).with("code", json!(status))
}

/// The path of an address of this site.
fn own_path(scope: &Scope, url: &Url) -> Option<String> {
    let site = Url::parse(&scope.registry.site.url).ok()?;
    let below = url.path().strip_prefix(site.path().trim_end_matches('/'))?;
    (url.origin() == site.origin() && below.starts_with('/')).then(|| decoded(below))
}

fn decoded(path: &str) -> String {
    decode_path(path).unwrap_or_default()
}
