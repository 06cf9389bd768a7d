//! `compare`: the same GETs to an old site and to this one, and what differs.

mod differences;
mod sites;

use self::differences::{DifferenceKind, Differences};
use self::sites::{CollectionWalk, ComparedSite, OwnSite};
use super::{linked, present};
use crate::boot::{self, BootError, ConfigSource, Services};
use crate::import::remote::{RemoteSite, collection_path};
use clap::Args;
use cms_core::error::status;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// See [`super::Command::Compare`].
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// Address of the other site: https://old.example.org.
    site: String,
    /// Compare so many items of each collection, those with the lowest ids.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    most: u64,
    /// Milliseconds between two requests to the other site. It may ask for more (Retry-After).
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(..=60_000))]
    pause: u64,
    /// Print the outcome as JSON.
    #[arg(long)]
    json: bool,
}

/// The requests of a comparison: `compare.json`.
#[derive(Deserialize)]
struct ComparedRoutes {
    documents: Vec<ComparedDocument>,
    /// Collections that no document lists.
    collections: Vec<String>,
    /// Arguments of every page.
    query: Map<String, Value>,
    /// Members that are not looked at.
    ignored: Vec<String>,
}

/// A route with one document.
#[derive(Deserialize)]
struct ComparedDocument {
    path: String,
    #[serde(default)]
    query: Map<String, Value>,
    /// Its members name collections.
    #[serde(default)]
    lists: bool,
}

/// The comparison of a route.
#[derive(Default)]
struct ComparedRoute {
    path: String,
    compared: u64,
    /// Ids that only one site has.
    missing: u64,
    extra: u64,
    /// There are further items, which were not compared.
    cut: bool,
    /// Items whose ids are no numbers, which were not compared.
    unnumbered: u64,
    /// Why it was not compared.
    unlike: Option<String>,
}

/// A comparison on its way.
struct SiteComparison {
    ignored: Vec<String>,
    /// Addresses of both sites. One word replaces them in documents.
    addresses: [String; 2],
    most: u64,
    done: Vec<ComparedRoute>,
    differences: Differences,
}

/// Carries out the command.
pub(super) fn run(source: &ConfigSource, args: &CompareArgs) -> Result<(), BootError> {
    let registry = Arc::new(linked(source)?);
    present(&registry)?;
    let routes: ComparedRoutes =
        serde_json::from_str(include_str!("compare.json")).map_err(|error| BootError::Other(error.to_string()))?;
    let (outbound, prefix) = (&registry.declaration.outbound, &registry.site.prefix);
    let old = RemoteSite::new(outbound, &args.site, prefix, Duration::from_millis(args.pause))?;
    let services = Services::start(boot::open_briefly(&registry, false)?, &registry)?;
    let here = OwnSite::new(services.engine(registry.clone())?)?;
    let addresses = [&args.site, &registry.site.url].map(|address| address.trim_end_matches('/').to_owned());
    let (ignored, most) = (routes.ignored.clone(), args.most);
    let mut comparison =
        SiteComparison { ignored, addresses, most, done: Vec::new(), differences: Differences::default() };
    comparison.all(old, here, &routes, prefix)?;
    if args.json {
        say!("{}", comparison.to_json());
    } else {
        say!("{}", comparison.report());
    }
    Ok(())
}

impl SiteComparison {
    fn all(
        &mut self,
        mut old: impl ComparedSite,
        mut here: impl ComparedSite,
        routes: &ComparedRoutes,
        prefix: &str,
    ) -> Result<(), BootError> {
        let own = |path: &str| path.replace("{prefix}", prefix);
        let mut collections = Vec::new();
        for document in &routes.documents {
            let path = own(&document.path);
            let pair = (old.get(&path, &document.query)?, here.get(&path, &document.query)?);
            if document.lists && pair.0.status == status::OK {
                collections
                    .extend(pair.0.body.as_object().into_iter().flatten().filter_map(|(_, own)| collection_path(own)));
            }
            if self.alike(&path, pair.0.status, pair.1.status) {
                self.compare(&path, &path, pair.0.body, pair.1.body);
                self.done.push(ComparedRoute { path, compared: 1, ..ComparedRoute::default() });
            }
        }
        collections.extend(routes.collections.iter().map(|path| own(path)));
        for path in collections {
            let old = CollectionWalk::begin(&mut old, &path, &routes.query)?;
            let here = CollectionWalk::begin(&mut here, &path, &routes.query)?;
            if self.alike(&path, old.status, here.status) {
                self.collection(&path, old, here)?;
            }
        }
        Ok(())
    }

    /// Whether both sites show a route; where one does not, that is reported.
    fn alike(&mut self, path: &str, old: u16, here: u16) -> bool {
        let why = match (old, here) {
            (200, 200) => return true,
            (old, here) if old == here => format!("both sites respond with {old}"),
            (old, here) => format!("the old site responds with {old}, this one with {here}"),
        };
        self.done.push(ComparedRoute { path: path.to_owned(), unlike: Some(why), ..ComparedRoute::default() });
        false
    }

    /// Compares the items of a collection by their ids.
    fn collection(
        &mut self,
        path: &str,
        mut old: CollectionWalk<'_>,
        mut here: CollectionWalk<'_>,
    ) -> Result<(), BootError> {
        let mut route = ComparedRoute { path: path.to_owned(), ..ComparedRoute::default() };
        loop {
            let ids = (old.peek()?, here.peek()?);
            if ids == (None, None) {
                break;
            }
            if route.compared + route.missing + route.extra == self.most {
                route.cut = true;
                break;
            }
            // A site at its end has nothing before the other's next item.
            match ids.0.unwrap_or(i64::MAX).cmp(&ids.1.unwrap_or(i64::MAX)) {
                Ordering::Equal => {
                    route.compared += 1;
                    let of = ids.0.unwrap_or_default().to_string();
                    self.compare(path, &of, old.take(), here.take());
                }
                Ordering::Less => {
                    route.missing += 1;
                    let (item, of) = (old.take(), ids.0.unwrap_or_default().to_string());
                    self.differences.add(DifferenceKind::Missing, path, &of, (&title(&item), &Value::Null));
                }
                Ordering::Greater => {
                    route.extra += 1;
                    let (item, of) = (here.take(), ids.1.unwrap_or_default().to_string());
                    self.differences.add(DifferenceKind::Extra, path, &of, (&Value::Null, &title(&item)));
                }
            }
        }
        route.unnumbered = old.unnumbered + here.unnumbered;
        self.done.push(route);
        Ok(())
    }

    /// Compares two documents, with the same word for the address of their sites. Texts that have moved lead to the old one
    /// until that has the address of this one.
    fn compare(&mut self, place: &str, of: &str, old: Value, here: Value) {
        let [from, own] = &self.addresses;
        let pair = (&without_address(old, from), &without_address(without_address(here, own), from));
        self.differences.compare(place, of, &self.ignored, pair);
    }

    fn to_json(&self) -> Value {
        let routes = self.done.iter().map(|route| {
            json!({"path": route.path, "compared": route.compared, "missing": route.missing, "extra": route.extra,
                "cut": route.cut, "unnumbered": route.unnumbered, "unlike": route.unlike})
        });
        let routes: Vec<Value> = routes.collect();
        json!({"routes": routes, "differences": self.differences.to_json(), "count": self.differences.count()})
    }

    fn report(&self) -> String {
        let mut text = String::new();
        for route in &self.done {
            let cut = if route.cut { "; there are more, which --most leaves out" } else { "" };
            let unnumbered = match route.unnumbered {
                0 => String::new(),
                count => format!("; {count} without a number as id, which were not compared"),
            };
            let outcome = route.unlike.clone().unwrap_or_else(|| {
                let ComparedRoute { compared, missing, extra, .. } = route;
                format!("{compared} compared, {missing} missing, {extra} extra{cut}{unnumbered}")
            });
            let _ = writeln!(text, "{:<32} {outcome}", route.path);
        }
        format!("{text}{}{:>8} differences", self.differences, self.differences.count())
    }
}

/// The words by which people know an item.
fn title(item: &Value) -> Value {
    let names = [&item["title"]["rendered"], &item["name"], &item["slug"], &item["id"]];
    names.into_iter().find(|value| !value.is_null()).cloned().unwrap_or_default()
}

/// A document with the same word for the address of its site.
fn without_address(value: Value, address: &str) -> Value {
    match value {
        Value::String(text) => {
            let bare = address.split_once("//").map_or(address, |(_, bare)| bare);
            let text = text.replace(&format!("https://{bare}"), "{site}").replace(&format!("http://{bare}"), "{site}");
            Value::String(text)
        }
        Value::Array(list) => list.into_iter().map(|item| without_address(item, address)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, without_address(value, address))).collect()
        }
        other => other,
    }
}
