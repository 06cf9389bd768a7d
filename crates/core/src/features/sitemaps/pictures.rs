//! Pictures of the records of a part: the featured one and those of the content, as far as their files are here and everybody
//! may see them.

use crate::access::policy;
use crate::behaviours::files::address;
use crate::error::ApiError;
use crate::handlers::Work;
use crate::records::{self, Record, int, is_in, text, txt};
use crate::registry::Site;
use crate::registry::columns::{ID, file, record, seo};
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::request::percent_decode;
use crate::scope::{Principal, Scope};
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, Row};
use cms_text::tags;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use url::Url;

/// Most pictures that a part looks for. A part has at most 50 MB, by the rules of sitemaps.
const MOST_OF_PART: usize = 50_000;

/// Contents that are in memory at a time.
const CONTENTS: usize = 1_000;

/// The pictures of a part's records.
#[derive(Default)]
pub(super) struct PartPictures {
    /// Ids of files by record, in their order.
    of: HashMap<i64, Vec<i64>>,
    files: HashMap<i64, ListedFile>,
    most: usize,
}

struct ListedFile {
    url: String,
    modified: Option<i64>,
}

/// A picture as a record names it.
enum PictureName {
    Id(i64),
    Key(String),
}

impl PartPictures {
    /// At most `most` pictures for each of the rows: three statements, and one for each thousand contents.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn load(
        work: &Work<'_>,
        snapshot: &dyn Snapshot,
        resource: &Resource,
        rows: &[Row],
        most: usize,
    ) -> Result<PartPictures, ApiError> {
        let scope = work.scope;
        let Some(kind) = scope.registry.content_types().find(|kind| kind.supports("files")) else {
            return Ok(PartPictures::default());
        };
        if most == 0 || !resource.is_content() {
            return Ok(PartPictures::default());
        }
        let named = names(snapshot, scope, resource, rows, most)?;
        let keys: HashSet<&str> = named.iter().filter_map(|(_, name)| name.key()).collect();
        let owners = owners(snapshot, keys)?;
        let mut of: HashMap<i64, Vec<i64>> = HashMap::new();
        for (row, name) in &named {
            let file = match name {
                PictureName::Id(id) => Some(*id),
                PictureName::Key(key) => owners.get(key.as_str()).copied(),
            };
            let known = of.entry(*row).or_default();
            known.extend(file.filter(|file| *file != 0 && !known.contains(file)));
        }
        let files = files(snapshot, scope, kind, of.values().flatten().copied().collect())?;
        Ok(PartPictures { of, files, most })
    }

    /// The addresses of a record's pictures.
    pub(super) fn of(&self, record: i64) -> impl Iterator<Item = &str> {
        let ids = self.of.get(&record).into_iter().flatten();
        ids.filter_map(|id| self.files.get(id)).map(|file| file.url.as_str()).take(self.most)
    }

    /// The latest change of the files.
    pub(super) fn newest(&self) -> Option<i64> {
        self.files.values().filter_map(|file| file.modified).max()
    }
}

impl PictureName {
    fn key(&self) -> Option<&str> {
        match self {
            PictureName::Key(key) => Some(key),
            PictureName::Id(_) => None,
        }
    }
}

/// The pictures that the rows name, by row. A password protects those of its record.
fn names(
    snapshot: &dyn Snapshot,
    scope: &Scope,
    resource: &Resource,
    rows: &[Row],
    most: usize,
) -> Result<Vec<(i64, PictureName)>, ApiError> {
    let open =
        rows.iter().map(|row| Record { resource, row }).filter(|record| record.text(record::PASSWORD).is_empty());
    let open: Vec<Record<'_>> = open.collect();
    let mut named: Vec<(i64, PictureName)> = open
        .iter()
        .map(|record| (record.id(), PictureName::Id(record.int(record::FEATURED_MEDIA))))
        .filter(|(_, name)| !matches!(name, PictureName::Id(0)))
        .collect();
    let Some(folder) = MediaFolder::of(&scope.registry.site, &scope.registry.declaration.media.path) else {
        return Ok(named);
    };
    for open in open.chunks(CONTENTS) {
        let ids = is_in(ID, open.iter().map(Record::id));
        let contents: Vec<(i64, Arc<str>)> =
            snapshot.rows_as(&records::columns(record::TABLE, &[ID, record::CONTENT], ids))?;
        for (id, content) in contents {
            let (mut seen, left) = (HashSet::new(), MOST_OF_PART.saturating_sub(named.len()));
            let keys = tags::values(&content, &["img"], "src").filter_map(|url| folder.key(&url));
            let new = keys.filter(|key| seen.insert(key.clone())).take(most.min(left));
            named.extend(new.map(|key| (id, PictureName::Key(key))));
        }
    }
    Ok(named)
}

/// The folder of the site's files.
struct MediaFolder {
    site: Url,
    path: String,
}

impl MediaFolder {
    fn of(site: &Site, media: &str) -> Option<MediaFolder> {
        let url = Url::parse(&format!("{}/", site.url)).ok()?;
        Some(MediaFolder { path: format!("{}{media}/", site.base), site: url })
    }

    /// The key of the file at an address, whatever its scheme.
    fn key(&self, address: &str) -> Option<String> {
        let url = self.site.join(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let here = url.host() == self.site.host() && url.port() == self.site.port();
        let below = url.path().strip_prefix(&*self.path).filter(|_| here)?;
        percent_decode(below).map(|key| key.into_owned())
    }
}

/// The records that files belong to, by key.
fn owners(snapshot: &dyn Snapshot, keys: HashSet<&str>) -> Result<HashMap<String, i64>, ApiError> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let keys = Cond::In(name(file::KEY), keys.into_iter().map(txt).collect());
    Ok(snapshot.rows_as(&records::columns(file::TABLE, &[file::KEY, file::RECORD], keys))?)
}

/// The pictures among records of files that everybody may see, for any caller, and whose files are here.
fn files(
    snapshot: &dyn Snapshot,
    scope: &Scope,
    kind: &Resource,
    ids: HashSet<i64>,
) -> Result<HashMap<i64, ListedFile>, ApiError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let anyone = Scope { principal: Principal::default(), preview: None, ..scope.clone() };
    let plan = records::plan(kind, records::all([is_in(ID, ids), policy::visible(&anyone, kind)]));
    let wanted = [ID, record::MIME, record::FILE, record::MODIFIED_UTC, seo::NOINDEX];
    let wanted: Vec<usize> = wanted.iter().filter_map(|column| kind.column(column)).collect();
    let rows = records::read(snapshot, kind, plan, &wanted)?;
    let rows = rows.iter().map(|row| Record { resource: kind, row });
    let pictures =
        rows.filter(|record| record.text(record::MIME).starts_with("image/") && record.int(seo::NOINDEX) == 0);
    let pictures: Vec<Record<'_>> = pictures.collect();
    let owners = owners(snapshot, pictures.iter().map(|record| text(record.value(record::FILE))).collect())?;
    let here = pictures.into_iter().filter(|record| owners.get(record.text(record::FILE)) == Some(&record.id()));
    let listed = here.map(|record| {
        let url = address(&scope.registry, record.text(record::FILE));
        (int(record.value(ID)), ListedFile { url, modified: record.modified() })
    });
    Ok(listed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_of_addresses_below_the_folder_of_the_site() {
        let site = Url::parse("https://a.example:8443/below/").expect("an address");
        let folder = MediaFolder { site, path: "/below/files/".to_owned() };
        for (address, key) in [
            ("https://a.example:8443/below/files/2024/a%20b.png", Some("2024/a b.png")),
            ("http://a.example:8443/below/files/a.png?x=1#y", Some("a.png")),
            ("//a.example:8443/below/files/a.png", Some("a.png")),
            ("/below/files/%C3%BC.png", Some("ü.png")),
            ("files/a.png", Some("a.png")),
            ("/files/a.png", None),
            ("https://b.example:8443/below/files/a.png", None),
            ("https://a.example/below/files/a.png", None),
            ("data:image/png;base64,AAAA", None),
            ("/below/files/../other/a.png", None),
            ("/below/files/%FF.png", None),
            ("http://[", None),
        ] {
            assert_eq!(folder.key(address).as_deref(), key, "{address}");
        }
    }
}
