//! Abilities: operations that programs find by name and run, with schemas of what goes in and comes out.

use super::route::SchemaDoc;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A group of abilities.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AbilityCategory {
    /// Name for people.
    pub label: String,
    /// Subject of its abilities.
    pub description: String,
    /// Further members that clients read.
    #[serde(default)]
    pub meta: Map<String, Value>,
}

/// An operation that programs find by name and run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ability {
    /// Name for people.
    pub label: String,
    /// Its effect.
    pub description: String,
    /// Name of the declared category.
    pub category: String,
    /// Schema of the input; its `default` is the input of a call without one. Absent: the ability takes no input.
    #[serde(default)]
    pub input_schema: SchemaDoc,
    /// Schema of the result; absent: any value.
    #[serde(default)]
    pub output_schema: SchemaDoc,
    /// Facts about its effects that callers have to know.
    #[serde(default)]
    pub annotations: Annotations,
    /// Of interest to every program, not only to those of this site.
    #[serde(default)]
    pub public: bool,
    /// It is listed and can be run; absent: if it is `public`.
    #[serde(default)]
    pub show_in_rest: Option<bool>,
    /// Capability of the callers who may run it; absent: everybody, and the route of the request decides.
    #[serde(default)]
    pub capability: String,
    /// A named behaviour: `values`, `request`.
    #[serde(default = "request")]
    pub run: String,
    /// The request that the behaviour `request` sends.
    #[serde(default)]
    pub request: Option<AbilityRequest>,
    /// Several requests in its place, one after the other, ten at most; the first that is refused ends them. The
    /// effects of those before it stay.
    #[serde(default)]
    pub steps: Vec<AbilityStep>,
    /// The steps are one commit: where one is refused, nothing is written.
    #[serde(default)]
    pub atomic: bool,
    /// Members of the result and where each comes from. Of requests, without any: the whole last response but its links.
    #[serde(default)]
    pub result: IndexMap<String, ResultSource>,
    /// Member of the input that lists the members of the result; absent or empty in a call: all.
    #[serde(default)]
    pub select: Option<String>,
    /// It is a tool of its own in `[mcp]`, however many abilities there are.
    #[serde(default)]
    pub tool: bool,
}

fn request() -> String {
    "request".to_owned()
}

/// Facts about an ability's effects that callers have to know. The method of a call follows from them: GET for an
/// ability that only reads, DELETE for one that is destructive and idempotent, POST for every other.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Annotations {
    /// It changes nothing.
    pub readonly: Option<bool>,
    /// It may remove or overwrite something.
    pub destructive: Option<bool>,
    /// To run it again with the same input has no further effect.
    pub idempotent: Option<bool>,
    /// Further members that clients read.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A request to a route of this server, in the caller's name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AbilityRequest {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// Path below the REST base. `{NAME}` is replaced by that member of the input; the other members are arguments.
    pub path: String,
    /// Arguments that the declaration gives. `{NAME}` is a member of the input; a text that is nothing else is its value.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// The entity tag that the record has to have (`If-Match`), such as `{if_match}`. Without the member any will do.
    #[serde(default)]
    pub if_match: Option<String>,
}

/// One of several requests that an ability sends, in the caller's name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AbilityStep {
    /// How later steps and the result call its response.
    pub name: String,
    /// It is done only where this is there, and neither null, false nor empty: a member of the input, or of a response
    /// (`post.featured_media`).
    #[serde(default)]
    pub when: Option<String>,
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// Path below the REST base. `{NAME}` is replaced by that member of the input, `{STEP.MEMBER}` by one of a response.
    pub path: String,
    /// All arguments. `{NAME}` and `{STEP.MEMBER}` as in the path; a text that is nothing else is the value, and what is not
    /// there is no argument.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// The entity tag that the record has to have, such as `{post._etag}`: nobody has changed it since that step.
    #[serde(default)]
    pub if_match: Option<String>,
}

/// Where a member of a result comes from; one of the keys.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResultSource {
    /// Member of the response; a dot leads to a member of a member. `_etag` is its entity tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The step whose response has the member; absent: the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Value of a setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// A fact of the site or of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact: Option<Fact>,
    /// This value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// See [`ResultSource::fact`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The site's address.
    SiteUrl,
    /// The address of the REST base.
    RestUrl,
    /// The site's language as HTML writes it (`en-US`).
    LanguageTag,
    /// The name of the program.
    Program,
    /// The version of the program.
    Version,
}

impl Ability {
    /// Whether it is listed and can be run.
    pub fn is_listed(&self) -> bool {
        self.show_in_rest.unwrap_or(self.public)
    }
}

impl ResultSource {
    /// How many of its keys are given. `step` only says whose `member` it is.
    pub fn keys(&self) -> usize {
        let ResultSource { member, step: _, setting, fact, value } = self;
        let given = [member.is_some(), setting.is_some(), fact.is_some(), value.is_some()];
        given.into_iter().filter(|given| *given).count()
    }
}
