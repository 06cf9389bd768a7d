//! The values that somebody sends with a form: whether they are taken, and what becomes of them.

use super::form::Form;
use super::rules::{Condition, rules};
use super::traps;
use crate::access::identity::Identity;
use crate::model::{Upload, UploadFile};
use crate::scope::Scope;
use cms_declaration::{FormOptions, FormOutcome};
use cms_text::form_tags::FormTag;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Most values of one field.
const MOST_VALUES: usize = 100;

/// Shortest name by which a browser calls itself.
const SHORTEST_AGENT: usize = 2;

/// The values and files of a form.
pub struct Submission<'s> {
    scope: &'s Scope,
    form: &'s Form<'s>,
    declared: &'s FormOptions,
    identity: &'s Identity,
    /// By the names of fields; those alone that the form has.
    values: BTreeMap<&'s str, Vec<String>>,
    upload: &'s Upload,
}

/// A field whose value is not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldProblem<'s> {
    pub field: &'s str,
    pub message: &'s str,
    /// The `id` of its element.
    pub id: Option<&'s str>,
}

impl<'s> Submission<'s> {
    /// Takes from a request what the form asks for.
    pub fn of(
        scope: &'s Scope,
        form: &'s Form<'s>,
        declared: &'s FormOptions,
        identity: &'s Identity,
        upload: &'s Upload,
    ) -> Submission<'s> {
        let value = |tag: &FormTag<'s>| (tag.name, texts(upload.fields.get(tag.name), longest(scope)));
        let values = form.tags.iter().map(value).collect();
        Submission { scope, form, declared, identity, values, upload }
    }

    /// The values of a field; none where it was not sent.
    fn values(&self, field: &str) -> &[String] {
        self.values.get(field).map_or(&[], Vec::as_slice)
    }

    /// Whether the message is taken, and the problems of its fields: first who sends it, then the values, then what has to be
    /// accepted, then whether a program sent it, then files.
    pub fn judge(&self) -> (FormOutcome, Vec<FieldProblem<'s>>) {
        if self.form.is_on(SUBSCRIBERS_ONLY) && self.scope.principal.id == 0 {
            return (FormOutcome::Closed, Vec::new());
        }
        let problems = self.problems();
        if !problems.is_empty() {
            return (FormOutcome::Invalid, problems);
        }
        if !self.form.is_on(AS_VALUES) && !self.unaccepted().is_empty() {
            return (FormOutcome::Unaccepted, Vec::new());
        }
        if self.is_spam() {
            return (FormOutcome::Spam, Vec::new());
        }
        let problems = self.file_problems();
        let outcome = if problems.is_empty() { FormOutcome::Sent } else { FormOutcome::Invalid };
        (outcome, problems)
    }

    /// The first problem of each field.
    fn problems(&self) -> Vec<FieldProblem<'s>> {
        let (mut found, mut told) = (Vec::new(), HashSet::new());
        let mut tell = |field: &'s str, message: &'s str| {
            if told.insert(field) {
                found.push(self.problem(field, message));
            }
        };
        for rule in rules(self.form) {
            let is_file = self.form.of_kind("file").any(|tag| tag.name == rule.field);
            if !is_file && !rule.condition.holds(self.values(rule.field)) {
                tell(rule.field, rule.error);
            }
        }
        for tag in self.form.of_kind("quiz").filter(|tag| !tag.values.is_empty()) {
            let given = self.values(tag.name).first().map_or("", String::as_str);
            let proof = self.upload.fields.get(&format!("{}{}", self.declared.quiz, tag.name));
            let proof = proof.and_then(Value::as_str).unwrap_or_default();
            if !traps::is_answer(self.identity, self.form, tag.name, given, proof) {
                tell(tag.name, self.form.texts.get("quiz_answer_not_correct"));
            }
        }
        if self.form.is_on(AS_VALUES) {
            self.unaccepted().into_iter().for_each(|tag| tell(tag.name, self.form.texts.get("accept_terms")));
        }
        found
    }

    fn problem(&self, field: &'s str, message: &'s str) -> FieldProblem<'s> {
        let tag = self.form.tags.iter().find(|tag| tag.name == field);
        FieldProblem { field, message, id: tag.and_then(|tag| tag.option("id")) }
    }

    /// The fields of consent that are not as they have to be.
    fn unaccepted(&self) -> Vec<&'s FormTag<'s>> {
        let asked = self.form.of_kind("acceptance").filter(|tag| !tag.has("optional"));
        let ticked = |tag: &FormTag<'_>| self.values(tag.name).iter().any(|value| !matches!(value.as_str(), "" | "0"));
        asked.filter(|tag| ticked(tag) == tag.has("invert")).collect()
    }

    /// Whether a program has sent it, as far as that shows.
    fn is_spam(&self) -> bool {
        let trapped =
            self.form.of_kind("honeypot").any(|tag| self.values(tag.name).iter().any(|text| !text.is_empty()));
        let moment = self.upload.fields.get(&self.declared.shown).and_then(Value::as_str).unwrap_or_default();
        // Names that begin so are the route's own: places, proofs.
        let said = self.upload.fields.iter().filter(|(name, _)| !name.starts_with('_'));
        let said = said.flat_map(|(_, value)| texts(Some(value), longest(self.scope))).map(|text| text.to_lowercase());
        let said: Vec<String> = said.collect();
        let mut words = self.declared.disallowed.iter().map(|word| word.trim().to_lowercase());
        trapped
            || self.scope.agent.chars().count() < SHORTEST_AGENT
            || !traps::took_its_time(self.identity, self.form, moment, self.scope.now)
            || words.any(|word| !word.is_empty() && said.iter().any(|text| text.contains(&word)))
    }

    /// The file of a field, where one was sent.
    fn file(&self, field: &str) -> Option<&'s UploadFile> {
        self.upload.files.iter().rfind(|file| file.field == field && !file.name.is_empty())
    }

    fn file_problems(&self) -> Vec<FieldProblem<'s>> {
        let types = &self.scope.registry.declaration.media.types;
        let media = |wanted: &str, ending: &str| {
            let fits = |mime: &str| match wanted.strip_suffix('*') {
                Some(start) => mime.starts_with(start),
                None => mime == wanted,
            };
            types.iter().any(|(mime, kind)| fits(mime) && kind.extensions.iter().any(|own| own == ending))
        };
        let rules = rules(self.form);
        let mut found = Vec::new();
        for tag in self.form.of_kind("file") {
            let file = self.file(tag.name);
            let broken =
                rules.iter().filter(|rule| rule.field == tag.name).find(|rule| match (&rule.condition, file) {
                    (Condition::RequiredFile, file) => file.is_none(),
                    (condition, Some(file)) => !condition.holds_for(&file.name, file.size, &media),
                    (_, None) => false,
                });
            found.extend(broken.map(|rule| self.problem(tag.name, rule.error)));
        }
        found
    }

    /// The values that are stored, by field: one is a text, several are a list.
    pub fn stored_values(&self) -> Map<String, Value> {
        let kept = |name: &str| self.form.tags.iter().any(|tag| tag.name == name && !UNSTORED.contains(&tag.kind));
        let given = self.values.iter().filter(|(name, values)| kept(name) && !values.is_empty());
        given
            .map(|(name, values)| {
                let value = match values.as_slice() {
                    [one] => json!(one),
                    several => json!(several),
                };
                ((*name).to_owned(), value)
            })
            .collect()
    }

    /// The files of the form's fields.
    pub fn files(&self) -> impl Iterator<Item = &'s UploadFile> {
        self.form.of_kind("file").filter_map(|tag| self.file(tag.name))
    }

    /// A text with the values of fields in the place of their names: `New: [subject]`.
    pub fn filled(&self, text: &str) -> String {
        self.form.tags.iter().fold(text.to_owned(), |text, tag| {
            let place = format!("[{}]", tag.name);
            if text.contains(&place) { text.replace(&place, &self.values(tag.name).join(", ")) } else { text }
        })
    }
}

/// The setting by which consent that is missing is the problem of a field.
const AS_VALUES: &str = "acceptance_as_validation";

/// The setting by which only those who are logged in may send a form.
const SUBSCRIBERS_ONLY: &str = "subscribers_only";

/// Types of fields whose values nobody needs afterwards.
const UNSTORED: [&str; 3] = ["quiz", "honeypot", "file"];

/// Characters of the longest text.
fn longest(scope: &Scope) -> usize {
    usize::try_from(scope.registry.declaration.bounds.max_length).unwrap_or(usize::MAX)
}

/// The texts that a field of a request has, without blanks around them.
fn texts(value: Option<&Value>, longest: usize) -> Vec<String> {
    let clean = |text: &str| -> String {
        let visible = text.trim().chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t'));
        visible.take(longest.saturating_add(1)).collect()
    };
    match value {
        Some(Value::String(text)) => vec![clean(text)],
        Some(Value::Array(list)) => list.iter().take(MOST_VALUES).filter_map(Value::as_str).map(clean).collect(),
        Some(Value::Object(members)) => {
            members.values().take(MOST_VALUES).filter_map(Value::as_str).map(clean).collect()
        }
        _ => Vec::new(),
    }
}
