//! States and roles that rules look for, and rows that are always there.

use super::{Declared, Linker, extend, nearest};
use crate::config::declaration::{CommentStatus, Family, Role, SchemaDoc, Status};
use crate::registry::args::Filter;
use crate::registry::columns;
use crate::registry::resource::Resource;
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
                    self.problem(&path, format!("`{other}` schedules to `{to}` already"), None);
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
            let hint = "the two differ, and agree on `claims_slug`".to_owned();
            self.problem(path, message, Some(hint));
        }
    }

    /// What the families look for among the declared states and roles has to be there.
    pub(super) fn needed(&mut self, resources: &[Resource]) {
        let declared = self.declared;
        let content = || resources.iter().filter(|r| r.family == Family::Content);
        let comments = resources.iter().any(|r| r.family == Family::Comment);
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
                self.problem(&[table], format!("the resources need a state that is {word}"), None);
            }
        }
        for (word, marked) in
            [("default", (|role| role.default) as fn(&Role) -> bool), ("imported", |role| role.imported)]
        {
            for (name, _) in declared.roles.iter().filter(|(_, role)| marked(role)).skip(1) {
                self.problem(&["roles", name, word], format!("another role is `{word}` already"), None);
            }
        }
    }

    /// What an argument sets a record's state to, or selects records by, has to be declared: records in another state are
    /// in no list.
    pub(super) fn check_states(
        &mut self,
        doc: &SchemaDoc,
        resource: &Resource,
        filter: Option<&Filter>,
        aliases: &[(String, String)],
        place: &Declared,
    ) {
        let selects = match filter {
            Some(Filter::Query { behaviour, .. }) => self.vocabulary.queries[behaviour.0].name == STATES,
            Some(Filter::Column { column, .. }) => {
                resource.plan_column(columns::record::STATUS).as_ref() == Some(column)
            }
            None => false,
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
            if resource.family == Family::Term && resource.declared.default_setting.is_some() && !named {
                let hint = "declare `seed = { name = \"…\" }`, too".to_owned();
                self.problem(&path[..2], "its default term has no name", Some(hint));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::load::load;

    /// What linking says of the shipped declaration with some keys set otherwise.
    fn problems(sets: &[&str]) -> Vec<String> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let loaded = load(None, &sets, []).unwrap_or_else(|problems| panic!("{sets:?} does not load: {problems:?}"));
        let linked = crate::registry::link::link(&loaded, &crate::engine::vocabulary(), "http://site.example");
        linked.err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn faults_in_states_and_roles_are_told() {
        let check = |sets: &[&str], expected: &str| {
            let problems = problems(sets);
            assert!(
                problems.iter().any(|problem| problem.contains(expected)),
                "{sets:?} should say `{expected}`, not {problems:#?}"
            );
        };
        check(&["statuses.publish.public=false"], "the resources need a state that is `public`");
        check(&["statuses.draft.draft=false"], "the resources need a state that is `draft` and not `internal`");
        check(&["statuses.trash.trash=false"], "the resources need a state that is `trash`");
        check(&["statuses.inherit.inherits=false"], "the resources need a state that is `inherits`");
        check(&["comment_statuses.approved.public=false"], "the resources need a state that is `public`");
        check(&["comment_statuses.hold.removed=true"], "a state that is neither `public` nor `removed`");
        check(&["comment_statuses.trash.trash=false"], "the resources need a state that is `trash`");
        check(&["statuses.publish.schedules_to=futur"], "did you mean `future`?");
        check(&["statuses.publish.schedules_to=draft"], "records cannot come from `publish` into `draft`");
        check(&["statuses.future.transition.to=future"], "records cannot come from `future` into `future`");
        check(&["statuses.private.schedules_to=future"], "`publish` schedules to `future` already");
        check(&["args.content_list.status.default=publis"], "unknown status `publis`");
        check(&["args.content_list.status.items.enum=[\"publish\", \"lent\"]"], "unknown status `lent`");
        check(&["schemas.post.properties.status.enum=[\"publish\", \"drfat\"]"], "did you mean `draft`?");
        check(&["resources.pages.endpoints.list.status.default=publishd"], "unknown status `publishd`");
        check(&["roles.editor.default=true"], "another role is `default` already");
        check(&["roles.editor.imported=true"], "another role is `imported` already");
        check(&["resources.categories.seed.nam=x"], "`categories` has no column `nam`");
        check(&["resources.categories.seed.name="], "its default term has no name");
    }

    #[test]
    fn the_shipped_states_have_no_faults() {
        assert_eq!(problems(&[]), Vec::<String>::new());
        assert_eq!(problems(&["site.prefix=wp"]), Vec::<String>::new());
    }
}
