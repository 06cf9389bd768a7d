//! Abilities compiled from their declarations: how each is called, what it takes and gives, and its document.

use super::Behaviour;
use super::templates::{Template, TemplateReference};
use crate::model::Method;
use cms_declaration::{self as declaration, AbilityCategory, Annotations, SchemaDoc};
use cms_schema::{Schema, draft4};
use serde_json::{Map, Value, json};

/// An ability that programs can run.
#[derive(Clone, Debug)]
pub struct Ability {
    /// The method of a call.
    pub method: Method,
    pub input: AbilityInput,
    /// Schema of the result; `None`: any value.
    pub output: Option<Schema>,
    pub run: Behaviour,
    /// The requests that it sends, in their order.
    pub requests: Vec<RequestTemplate>,
    /// REST lists and runs it; otherwise it is for tools alone.
    pub listed: bool,
    /// As declared. That of an operation has no schemas: see [`super::operations::schemas`].
    pub declared: declaration::Ability,
    /// The operation of a resource that it is.
    pub operation: Option<OperationPlace>,
}

/// An endpoint as an ability.
#[derive(Clone, Copy, Debug)]
pub struct OperationPlace {
    /// Positions of the resource, the route and the endpoint in it.
    pub resource: usize,
    pub route: usize,
    pub endpoint: usize,
    /// `list`, `get` and so on.
    pub verb: &'static str,
}

/// A request that an ability sends.
#[derive(Clone, Debug)]
pub struct RequestTemplate {
    /// The name of its response; empty where it is the only request.
    pub name: String,
    /// It is sent only where this is there, and neither null, false nor empty.
    pub when: Option<TemplateReference>,
    pub method: Method,
    pub path: AbilityPath,
    pub args: Vec<(String, Template)>,
    /// The entity tag that its target has to have.
    pub if_match: Option<Template>,
    /// Members of the input that are no arguments of it; `None`: none of them is.
    pub apart: Option<Vec<String>>,
}

/// The input of an ability.
#[derive(Clone, Debug)]
pub enum AbilityInput {
    Nothing,
    /// A value that fits the schema.
    Fitting(Schema),
    /// An object of arguments of the route, by name; the route checks their values.
    Arguments(Vec<String>),
}

/// A path with places for members of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbilityPath(pub Vec<PathPiece>);

/// See [`AbilityPath`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPiece {
    Literal(String),
    Member(String),
}

impl AbilityPath {
    /// Reads a template: what is in braces is a member of the input.
    pub fn parse(template: &str) -> AbilityPath {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some((head, (name, tail))) = rest.split_once('{').and_then(|(h, t)| Some((h, t.split_once('}')?))) {
            pieces.extend([PathPiece::Literal(head.to_owned()), PathPiece::Member(name.to_owned())]);
            rest = tail;
        }
        pieces.push(PathPiece::Literal(rest.to_owned()));
        AbilityPath(pieces)
    }

    /// The members that it names.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            PathPiece::Member(name) => Some(name.as_str()),
            PathPiece::Literal(_) => None,
        })
    }

    /// The path with values in its places; `None` where there is none, or one that is more than a name.
    pub fn filled(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let name = |text: &String| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        self.0
            .iter()
            .map(|piece| match piece {
                PathPiece::Literal(text) => Some(text.clone()),
                PathPiece::Member(member) => value(member).filter(name),
            })
            .collect()
    }
}

impl AbilityPath {
    /// The path with a number and with a word in its places.
    pub fn samples(&self) -> [String; 2] {
        ["1", "a"].map(|value| self.filled(|_| Some(value.to_owned())).unwrap_or_default())
    }
}

impl RequestTemplate {
    /// As the only request of an ability: members of the input that nothing else takes are its arguments.
    pub fn take_rest_of_input(self, ability: &declaration::Ability) -> RequestTemplate {
        let templates = self.args.iter().map(|(_, template)| template).chain(&self.if_match);
        let named = templates.flat_map(Template::references).map(|reference| reference.of.as_str());
        let apart = self.path.members().chain(named).chain(ability.select.as_deref()).map(str::to_owned).collect();
        RequestTemplate { apart: Some(apart), ..self }
    }
}

/// The document of an ability that lists show, with the schemas of its input and its result.
pub fn ability_document(ability: &declaration::Ability, [input, output]: [&SchemaDoc; 2]) -> Map<String, Value> {
    let Annotations { readonly, destructive, idempotent, more } = &ability.annotations;
    let mut annotations = Map::new();
    for (name, value) in [("readonly", readonly), ("destructive", destructive), ("idempotent", idempotent)] {
        annotations.insert(name.to_owned(), json!(value));
    }
    annotations.extend(more.clone());
    let document = json!({
        "label": ability.label,
        "description": ability.description,
        "category": ability.category,
        "input_schema": draft4(&Value::Object(input.clone())),
        "output_schema": draft4(&Value::Object(output.clone())),
        "meta": {"annotations": annotations, "public": ability.public, "show_in_rest": ability.is_listed()},
    });
    document.as_object().cloned().unwrap_or_default()
}

/// The document of a category of abilities that lists show.
pub fn category_document(category: &AbilityCategory) -> Map<String, Value> {
    let document = json!({"label": category.label, "description": category.description, "meta": category.meta});
    document.as_object().cloned().unwrap_or_default()
}

/// The method of a call.
pub fn method_of(annotations: &Annotations) -> Method {
    match (annotations.readonly, annotations.destructive, annotations.idempotent) {
        (Some(true), ..) => Method::Get,
        (_, Some(true), Some(true)) => Method::Delete,
        _ => Method::Post,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_takes_names_and_nothing_that_leads_elsewhere() {
        let path = AbilityPath::parse("/v2/posts/{id}/revisions/{revision}");
        assert_eq!(path.members().collect::<Vec<_>>(), ["id", "revision"]);
        let filled = |id: &str| path.filled(|name| Some(if name == "id" { id.to_owned() } else { "7".to_owned() }));
        assert_eq!(filled("12").as_deref(), Some("/v2/posts/12/revisions/7"));
        for odd in ["", "1/..", "1?x=y", "a b", "%2e"] {
            assert_eq!(filled(odd), None, "{odd}");
        }
        assert_eq!(path.filled(|_| None), None);
        assert_eq!(AbilityPath::parse("/v2/settings").filled(|_| None).as_deref(), Some("/v2/settings"));
    }

    #[test]
    fn the_method_follows_from_the_effects() {
        let method = |readonly, destructive, idempotent| {
            method_of(&Annotations { readonly, destructive, idempotent, more: Map::new() })
        };
        assert_eq!(method(Some(true), Some(true), Some(true)), Method::Get);
        assert_eq!(method(Some(false), Some(true), Some(true)), Method::Delete);
        assert_eq!(method(None, Some(true), None), Method::Post);
        assert_eq!(method(None, None, Some(true)), Method::Post);
    }
}
