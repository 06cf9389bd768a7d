//! What has changed between two descriptions, and which of it breaks clients.
//!
//! A change is breaking if a request that was accepted is refused or does something else, or if a response has what a
//! client of the old description does not expect. The contract answers such a change with a new namespace, in which the
//! old one goes on (its part on versioning). Names that only generators of clients use (`operationId`, names of schemas)
//! and texts for people do not count. Nothing is read here; both descriptions are documents as [`super::document`] makes
//! them.

mod schemas;
#[cfg(test)]
mod tests;

use schemas::{Comparison, Difference, Direction};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Whether clients of the old description go on working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Breaking,
    Additive,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub effect: Effect,
    /// Method and path (`GET /cms/v2/posts`), a path alone, or a part that operations share.
    pub place: String,
    /// What changed there, as a sentence.
    pub what: String,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Breaking => "breaking",
            Effect::Additive => "additive",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}: {}", self.effect, self.place, self.what)
    }
}

/// All changes from the old description to the new one, in the order of the paths: those of the old description, then
/// the new ones.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut diff = Diff { comparison: Comparison::new(old, new), changes: Vec::new(), place: String::new() };
    diff.shared(old, new);
    let (before, after) = (object(&old["paths"]), object(&new["paths"]));
    for (path, item) in &before {
        diff.place.clone_from(path);
        match after.get(path) {
            Some(own) => diff.route(path, &object(item), &object(own)),
            None => diff.add(Effect::Breaking, "the route is removed"),
        }
    }
    for path in after.keys().filter(|path| !before.contains_key(*path)) {
        diff.place.clone_from(path);
        diff.add(Effect::Additive, "the route is new");
    }
    while let Some((name, differences)) = diff.comparison.next_embedded() {
        diff.place = format!("documents embedded as {name}");
        diff.members("member", differences, "");
    }
    diff.changes
}

/// The changes so far, and the place that is compared.
struct Diff<'a> {
    comparison: Comparison<'a>,
    changes: Vec<Change>,
    place: String,
}

impl<'a> Diff<'a> {
    /// A place has each change once: two contexts of a response, or two kinds of a body, may have the same.
    fn add(&mut self, effect: Effect, what: impl Into<String>) {
        let change = Change { effect, place: self.place.clone(), what: what.into() };
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    fn members(&mut self, kind: &str, differences: Vec<Difference>, end: &str) {
        for Difference { member, effect, what } in differences {
            match member.as_str() {
                "" => self.add(effect, format!("the {kind} {what}{end}")),
                member => self.add(effect, format!("{kind} `{member}` {what}{end}")),
            }
        }
    }

    /// What is not of a single route.
    fn shared(&mut self, old: &Value, new: &Value) {
        let base = |document: &Value| {
            let address = document["servers"][0]["url"].as_str().unwrap_or_default();
            let path =
                address.split_once("://").map_or(address, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
            path.trim_end_matches('/').to_owned()
        };
        let (before, after) = (base(old), base(new));
        if before != after {
            self.place = "all routes".to_owned();
            self.add(Effect::Breaking, format!("the REST base `{before}` becomes `{after}`"));
        }
        let schemes = |document: &Value| object(&document["components"]["securitySchemes"]);
        let (before, after) = (schemes(old), schemes(new));
        for (name, old) in &before {
            self.place = format!("authentication `{name}`");
            match after.get(name) {
                None => self.add(Effect::Breaking, "is removed"),
                Some(new) => {
                    let changed = ["type", "scheme", "in", "name"].iter().any(|key| old[key] != new[key]);
                    if changed {
                        self.add(Effect::Breaking, "is sent in another way");
                    }
                }
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            self.place = format!("authentication `{name}`");
            self.add(Effect::Additive, "is new");
        }
    }

    fn route(&mut self, path: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        for (method, operation) in old {
            self.place = format!("{} {path}", method.to_uppercase());
            match new.get(method) {
                Some(own) => self.operation(operation, own),
                None => self.add(Effect::Breaking, "the method is removed"),
            }
        }
        for method in new.keys().filter(|method| !old.contains_key(*method)) {
            self.place = format!("{} {path}", method.to_uppercase());
            self.add(Effect::Additive, "the method is new");
        }
    }

    fn operation(&mut self, old: &Value, new: &Value) {
        self.access(old, new);
        self.parameters(&old["parameters"], &new["parameters"]);
        self.body(&old["requestBody"], &new["requestBody"]);
        self.successes(&old["responses"], &new["responses"]);
        self.errors(&old["responses"], &new["responses"]);
    }

    /// Who may: whether callers without an account may is visible in the ways to authenticate; a sentence of the
    /// operation says the rest. Which of two sentences allows more is not visible.
    fn access(&mut self, old: &Value, new: &Value) {
        let open = |operation: &Value| list(&operation["security"]).iter().any(|way| object(way).is_empty());
        match (open(old), open(new)) {
            (true, false) => return self.add(Effect::Breaking, "anonymous callers are refused"),
            (false, true) => return self.add(Effect::Additive, "anonymous callers are allowed"),
            _ => {}
        }
        let who = |operation: &Value| operation["description"].as_str().unwrap_or_default().to_owned();
        let (before, after) = (who(old), who(new));
        if before != after {
            self.add(Effect::Breaking, format!("who may use it changes from \"{before}\" to \"{after}\""));
        }
    }

    fn parameters(&mut self, old: &Value, new: &Value) {
        let (before, after) = (by_name(old), by_name(new));
        for ((place, name), parameter) in &before {
            let called = called(place, name);
            let Some(own) = after.get(&(*place, *name)) else {
                self.add(Effect::Breaking, format!("{called} is removed"));
                continue;
            };
            match (parameter["required"] == true, own["required"] == true) {
                (false, true) => self.add(Effect::Breaking, format!("{called} is required")),
                (true, false) => self.add(Effect::Additive, format!("{called} is optional")),
                _ => {}
            }
            if ["style", "explode"].iter().any(|key| parameter[key] != own[key]) {
                self.add(Effect::Breaking, format!("{called} is written in another way"));
            }
            let differences = self.comparison.differences(&parameter["schema"], &own["schema"], Direction::Request);
            for Difference { member, effect, what } in differences {
                let of = if member.is_empty() { String::new() } else { format!(", `{member}`") };
                self.add(effect, format!("{called}{of} {what}"));
            }
        }
        for ((place, name), parameter) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            match parameter["required"] == true {
                true => self.add(Effect::Breaking, format!("{} is new and required", called(place, name))),
                false => self.add(Effect::Additive, format!("{} is new", called(place, name))),
            }
        }
    }

    fn body(&mut self, old: &Value, new: &Value) {
        let (before, after) = (object(&old["content"]), object(&new["content"]));
        match (before.is_empty(), after.is_empty()) {
            (true, true) => return,
            (true, false) if new["required"] == true => return self.add(Effect::Breaking, "a body is required"),
            (true, false) => return self.add(Effect::Additive, "a body is accepted"),
            (false, true) => return self.add(Effect::Breaking, "the body is ignored"),
            (false, false) => {}
        }
        match (old["required"] == true, new["required"] == true) {
            (false, true) => self.add(Effect::Breaking, "the body is required"),
            (true, false) => self.add(Effect::Additive, "the body is optional"),
            _ => {}
        }
        self.media_types("body", &before, &after);
        for (media_type, content) in &before {
            let Some(own) = after.get(media_type) else { continue };
            let differences = self.comparison.differences(&content["schema"], &own["schema"], Direction::Request);
            self.members("argument", differences, "");
        }
    }

    fn media_types(&mut self, of: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            self.add(Effect::Breaking, format!("the {of} is no longer `{name}`"));
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            self.add(Effect::Additive, format!("the {of} may be `{name}`"));
        }
    }

    /// Responses by status, without errors.
    fn successes(&mut self, old: &Value, new: &Value) {
        let good = |responses: &Value| {
            let mut all = object(responses);
            all.retain(|status, _| status.starts_with(['2', '3']));
            all
        };
        let (before, after) = (good(old), good(new));
        for (status, response) in &before {
            match after.get(status) {
                None => self.add(Effect::Breaking, format!("status {status} is removed")),
                Some(own) => self.response(response, own),
            }
        }
        for status in after.keys().filter(|status| !before.contains_key(*status)) {
            self.add(Effect::Breaking, format!("status {status} is new"));
        }
    }

    fn response(&mut self, old: &Value, new: &Value) {
        let (before, after) = (object(&old["headers"]), object(&new["headers"]));
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            self.add(Effect::Breaking, format!("header `{name}` of the response is removed"));
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            self.add(Effect::Additive, format!("header `{name}` of the response is new"));
        }
        let (before, after) = (object(&old["content"]), object(&new["content"]));
        self.media_types("response", &before, &after);
        let (contexts, own) = (object(&old["x-contexts"]), object(&new["x-contexts"]));
        if contexts.is_empty() || own.is_empty() {
            for (media_type, content) in &before {
                let Some(own) = after.get(media_type) else { continue };
                let differences = self.comparison.differences(&content["schema"], &own["schema"], Direction::Response);
                self.members("response member", differences, "");
            }
            return;
        }
        let shared: Vec<&String> = contexts.keys().filter(|context| own.contains_key(*context)).collect();
        let mut found: Vec<(Difference, Vec<&str>)> = Vec::new();
        for context in &shared {
            let (old, new) = (&contexts[*context], &own[*context]);
            for difference in self.comparison.differences(old, new, Direction::Response) {
                match found.iter_mut().find(|(known, _)| *known == difference) {
                    Some((_, contexts)) => contexts.push(context),
                    None => found.push((difference, vec![context])),
                }
            }
        }
        for (difference, contexts) in found {
            let end = match contexts.len() == shared.len() {
                true => String::new(),
                false => format!(" (context {})", contexts.join(", ")),
            };
            self.members("response member", vec![difference], &end);
        }
    }

    /// Error codes with the statuses that they are sent with. More codes are additive: every client has to expect one
    /// that it does not know.
    fn errors(&mut self, old: &Value, new: &Value) {
        let (before, after) = (codes(old), codes(new));
        for (code, statuses) in &before {
            match after.get(code) {
                None => self.add(Effect::Breaking, format!("error `{code}` is removed")),
                Some(own) if own != statuses => {
                    let written = |all: &BTreeSet<&str>| all.iter().copied().collect::<Vec<_>>().join(", ");
                    let (before, after) = (written(statuses), written(own));
                    self.add(Effect::Breaking, format!("error `{code}` has status {after}, not {before}"));
                }
                Some(_) => {}
            }
        }
        for code in after.keys().filter(|code| !before.contains_key(*code)) {
            self.add(Effect::Additive, format!("error `{code}` is new"));
        }
    }
}

fn codes(responses: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (status, response) in responses.as_object().into_iter().flatten() {
        let listed = &response["content"]["application/json"]["schema"]["properties"]["code"]["examples"];
        for code in list(listed).iter().filter_map(Value::as_str) {
            all.entry(code).or_default().insert(status);
        }
    }
    all
}

/// Parameters by place and name.
fn by_name(parameters: &Value) -> BTreeMap<(&str, &str), &Value> {
    let named = |one| Some(((text(one, "in")?, text(one, "name")?), one));
    list(parameters).iter().filter_map(named).collect()
}

fn called(place: &str, name: &str) -> String {
    match place {
        "header" => format!("header `{name}`"),
        "path" => format!("argument `{name}` of the path"),
        _ => format!("argument `{name}`"),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
