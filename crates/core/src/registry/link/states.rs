//! States and roles that rules look for, and rows that are always there.

use super::{ArgOrigin, Linker, extend, nearest};
use crate::registry::args::Filter;
use crate::registry::columns;
use crate::registry::resource::Resource;
use cms_declaration::{CommentStatus, Role, SchemaDoc, SecondFactor, Status};
use serde_json::Value;

/// The query behaviour that selects records by their states.
const STATES: &str = "status";

impl Linker<'_> {
    /// A record keeps its slug through a transition that nobody asks for: where it claims one before, it does so after.
    pub(super) fn transitions(&mut self) {
        for (name, status) in &self.declared.statuses {
            if let Some(to) = status.transition.as_ref().and_then(|transition| transition.to.as_deref()) {
                self.transition(&["statuses", name, "transition", "to"], name, to);
            }
            if let Some(to) = status.schedules_to.as_deref() {
                let path = ["statuses", name.as_str(), "schedules_to"];
                self.transition(&path, name, to);
                let earlier = self.declared.statuses.iter().take_while(|(other, _)| *other != name);
                if let Some((other, _)) = earlier.into_iter().find(|(_, s)| s.schedules_to.as_deref() == Some(to)) {
                    self.problem(&path, format!("`{other}` schedules to `{to}` already, and only one state may"), None);
                }
            }
        }
    }

    fn transition(&mut self, path: &[&str], from: &str, to: &str) {
        let statuses = &self.declared.statuses;
        let names: Vec<&str> = statuses.keys().map(String::as_str).collect();
        if self.known(path, "status", to, &names).is_none() {
            return;
        }
        if statuses[to].claims_slug != statuses[from].claims_slug || to == from {
            let message = format!("records cannot come from `{from}` into `{to}` by themselves");
            let hint = "name another state with the same `claims_slug`".to_owned();
            self.problem(path, message, Some(hint));
        }
    }

    /// Checks that the states and roles that the families need are declared.
    pub(super) fn needed(&mut self, resources: &[Resource]) {
        let declared = self.declared;
        let content = || resources.iter().filter(|r| r.is_content());
        let comments = resources.iter().any(|r| r.is_comments());
        let record = |wanted: fn(&Status) -> bool| declared.statuses_where(wanted).next().is_some();
        let comment = |wanted: fn(&CommentStatus) -> bool| declared.comment_statuses_where(wanted).next().is_some();
        let trash = content().any(|r| r.declared.trash && !r.supports("attached"));
        let attached = content().any(|r| r.supports("attached"));
        for (needed, there, table, word) in [
            (content().next().is_some(), record(|s| s.public), "statuses", "`public`"),
            (content().next().is_some(), record(|s| s.draft && !s.internal), "statuses", "`draft` and not `internal`"),
            (trash, record(|s| s.trash), "statuses", "`trash`"),
            (attached, record(|s| s.inherits), "statuses", "`inherits`"),
            (comments, comment(|s| s.public), "comment_statuses", "`public`"),
            (comments, comment(|s| !s.public && !s.removed), "comment_statuses", "neither `public` nor `removed`"),
            (comments, comment(|s| s.trash), "comment_statuses", "`trash`"),
        ] {
            if needed && !there {
                let needs = if table == "statuses" { "content needs" } else { "comments need" };
                self.problem(&[table], format!("{needs} a status that is {word}, and none is"), None);
            }
        }
        for (word, marked) in
            [("default", (|role| role.default) as fn(&Role) -> bool), ("imported", |role| role.imported)]
        {
            let mut marked = declared.roles.iter().filter(|(_, role)| marked(role)).map(|(name, _)| name);
            let Some(first) = marked.next() else { continue };
            for name in marked {
                self.problem(&["roles", name, word], format!("the role `{first}` is `{word}` already"), None);
            }
        }
        self.second_factors();
    }

    /// Checks that those who need a second factor can set one up.
    fn second_factors(&mut self) {
        let declared = self.declared;
        for (name, role) in &declared.roles {
            let required = role.second_factor == SecondFactor::Required;
            if required && !declared.pages.enabled {
                let hint = "serve the pages (pages.enabled), or leave it `optional`".to_owned();
                let message = "nobody can set up a second factor without the pages".to_owned();
                self.problem(&["roles", name, "second_factor"], message, Some(hint));
            }
            if !required && role.second_factor_grace.is_some() {
                let hint = "set `second_factor = \"required\"`, or remove it".to_owned();
                let message = format!("the role `{name}` needs no second factor, so there is no time of grace");
                self.problem(&["roles", name, "second_factor_grace"], message, Some(hint));
            }
        }
    }

    /// Checks that the states that an argument sets or selects records by are declared: records in another state are in
    /// no list.
    pub(super) fn check_states(
        &mut self,
        doc: &SchemaDoc,
        resource: &Resource,
        filter: Option<&Filter>,
        aliases: &[(String, String)],
        place: &ArgOrigin,
    ) {
        let selects = match filter {
            Some(Filter::Query { behaviour, .. }) => self.vocabulary.queries[behaviour.0].name == STATES,
            Some(Filter::Column { column, .. }) => {
                resource.plan_column(columns::record::STATUS).as_ref() == Some(column)
            }
            Some(Filter::Fixed { .. } | Filter::Linked { .. } | Filter::Where(_)) | None => false,
        };
        let sets = doc.get("x-column").and_then(Value::as_str) == Some(columns::record::STATUS);
        if !selects && !sets {
            return;
        }
        let stored = |word: &str| -> String {
            let alias = aliases.iter().find(|(_, public)| public == word);
            alias.map_or_else(|| word.to_owned(), |(stored, _)| stored.clone())
        };
        let declared = self.declared;
        let items = doc.get("items");
        for (below, values) in [
            ("enum", doc.get("enum")),
            ("items/enum", items.and_then(|items| items.get("enum"))),
            ("default", doc.get("default")),
        ] {
            let values = match values {
                Some(Value::Array(list)) => list.as_slice(),
                Some(one) => std::slice::from_ref(one),
                None => &[],
            };
            for word in values.iter().filter_map(Value::as_str).filter(|word| !word.is_empty()) {
                let every = selects && word == "any";
                if !every && !declared.statuses.contains_key(&stored(word)) {
                    let hint = nearest(word, declared.statuses.keys().map(String::as_str));
                    let hint = hint.or_else(|| Some(format!("declare [statuses.{word}]")));
                    self.report(place, below, format!("unknown status `{word}`"), hint);
                }
            }
        }
    }

    /// Rows that are always there have the columns that are declared for them, and default terms a name.
    pub(super) fn seeds(&mut self, resources: &[Resource]) {
        for resource in resources {
            let path = ["resources", resource.name.as_str(), "seed"];
            for column in resource.declared.seed.keys() {
                self.column(resource, &extend(&path, column), column);
            }
            let named = resource.declared.seed.get(columns::term::NAME).is_some_and(|name| !name.is_empty());
            if resource.is_taxonomy() && resource.declared.default_setting.is_some() && !named {
                let message = format!("the default term of `{}` has no name", resource.name);
                self.problem(&path[..2], message, Some("declare seed = { name = \"…\" }".to_owned()));
            }
        }
    }
}
