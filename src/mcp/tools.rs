//! Abilities as tools: what is offered, how it is described, and calls.

use super::Mcp;
use super::messages::{INVALID_PARAMS, RpcError};
use cms_core::access::audit::Event;
use cms_core::access::{drafts, identity};
use cms_core::engine::Engine;
use cms_core::error::status;
use cms_core::handlers::proposals;
use cms_core::model::Method;
use cms_core::openapi::schemas::{Side, modern};
use cms_core::registry::abilities::{Ability, RequestTemplate};
use cms_core::registry::operations;
use cms_core::registry::vocabulary::HandlerRole;
use cms_core::registry::{Endpoint, Registry, Route};
use cms_core::request::BodyParams;
use cms_core::request::call::{Call, SubResponse};
use cms_core::scope::{CredentialLimits, Scope};
use cms_declaration::SchemaDoc;
use cms_text::hex::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::HashSet;

/// The name in the audit trail of a call of a tool that does not only read.
const CALLED: &str = "tool_called";

/// Longest name of a tool.
const LONGEST: usize = 128;

/// The code of an input that an ability does not take.
const INVALID_INPUT: &str = "ability_invalid_input";

const DISCOVER: &str = "discover-abilities";
const DESCRIBE: &str = "describe-ability";
const EXECUTE: &str = "execute-ability";

/// An ability as a tool.
#[derive(Debug)]
pub(super) struct Tool {
    ability: String,
    method: Method,
    reads: bool,
    capability: String,
    /// Route and endpoint of each request that it always sends, by their positions.
    sends: Vec<(usize, usize)>,
    /// It is offered by itself, however many there are.
    pub chosen: bool,
    /// The input is the member `input` of the arguments: it is no object.
    wrapped: bool,
    /// As lists show it.
    document: Value,
    /// The whole schema of the arguments, where lists show a shorter one.
    input: Option<Value>,
}

/// Longest schema of a member of an argument that lists show, as JSON.
const LONGEST_MEMBER: usize = 300;

/// The tools that find, describe and run abilities.
pub(super) fn finders() -> Vec<String> {
    [DISCOVER, DESCRIBE, EXECUTE].map(str::to_owned).to_vec()
}

/// Path of the collection of abilities: what is before the name in the route that runs one.
pub(super) fn collection(registry: &Registry) -> Option<String> {
    let name = registry.route_with(HandlerRole::RunAbility)?.template.parameters.first()?;
    Some(name.before.trim_end_matches('/').to_owned())
}

/// Every ability that may be a tool, by the tool's name.
pub(super) fn offered(registry: &Registry) -> Vec<(String, Tool)> {
    if collection(registry).is_none() {
        return Vec::new();
    }
    let destructive = registry.declaration.mcp.destructive;
    let mut taken: HashSet<String> = finders().into_iter().collect();
    let empty_lists = registry.declaration.dialect.empty_list_as_object;
    let abilities = registry.abilities.iter();
    let offered =
        abilities.filter(|(_, ability)| destructive || ability.declared.annotations.destructive != Some(true));
    offered
        .map(|(name, ability)| {
            let own = tool_name(name, &taken);
            taken.insert(own.clone());
            let sends = sent(registry, ability);
            let schemas = operations::schemas(ability, &registry.resources, &registry.routes);
            let tool = Tool { sends, ..Tool::of((&own, name), ability, &schemas, empty_lists) };
            (own, tool)
        })
        .collect()
}

/// Where the requests go that an ability sends in any case.
fn sent(registry: &Registry, ability: &Ability) -> Vec<(usize, usize)> {
    let always = ability.requests.iter().filter(|request| request.when.is_none());
    let place = |request: &RequestTemplate| {
        let paths = request.path.samples();
        let matches = |route: &Route| paths.iter().any(|path| route.matcher.is_match(path));
        let takes = |endpoint: &Endpoint| endpoint.methods.contains(&request.method);
        let found = registry.routes.iter().enumerate().filter(|(_, route)| matches(route));
        found.filter_map(|(at, route)| Some((at, route.endpoints.iter().position(takes)?))).next()
    };
    always.filter_map(place).collect()
}

/// A name of letters, digits and hyphens. One that is too long or taken ends in a digest of the ability's.
fn tool_name(ability: &str, taken: &HashSet<String>) -> String {
    let plain = ability.replace('/', "-");
    if plain.len() <= LONGEST && !taken.contains(&plain) {
        return plain;
    }
    let digest = hex(&Sha256::digest(ability.as_bytes())[..6]);
    let room = LONGEST - digest.len() - 1;
    format!("{}-{digest}", plain.get(..room).unwrap_or(&plain))
}

impl Tool {
    fn of(
        (name, ability): (&str, &str),
        compiled: &Ability,
        [takes, gives]: &[Cow<'_, SchemaDoc>; 2],
        empty_lists: bool,
    ) -> Tool {
        let declared = &compiled.declared;
        let (whole, wrapped) = input_schema(takes);
        let input = shortened(&whole);
        let mut annotations = Map::new();
        annotations.insert("title".into(), json!(declared.label));
        let own = &declared.annotations;
        for (hint, value) in [
            ("readOnlyHint", own.readonly),
            ("destructiveHint", own.destructive),
            ("idempotentHint", own.idempotent),
            ("openWorldHint", Some(false)),
        ] {
            annotations.extend(value.map(|value| (hint.to_owned(), json!(value))));
        }
        let mut document = json!({
            "name": name,
            "title": declared.label,
            "description": declared.description,
            "inputSchema": input,
            "annotations": annotations,
        });
        if let Some(output) = output_schema(gives, empty_lists) {
            document["outputSchema"] = output;
        }
        Tool {
            ability: ability.to_owned(),
            method: compiled.method,
            reads: compiled.method == Method::Get,
            capability: declared.capability.clone(),
            sends: Vec::new(),
            chosen: declared.tool,
            wrapped,
            input: (document["inputSchema"] != whole).then_some(whole),
            document,
        }
    }

    /// Whether the caller may run it, as far as that does not depend on the input.
    fn open_to(&self, scope: &Scope) -> bool {
        let caller = &scope.principal;
        let capable = self.capability.is_empty() || caller.capabilities.contains(&*self.capability);
        capable && caller.limits.as_ref().is_none_or(|limits| self.is_within(limits, &scope.registry))
    }
}

impl Tool {
    /// Whether a limited password is good for it: what sends no request belongs to no resource.
    fn is_within(&self, limits: &CredentialLimits, registry: &Registry) -> bool {
        let admitted = |(route, endpoint): &(usize, usize)| {
            let route = &registry.routes[*route];
            limits.admit(registry, route, &route.endpoints[*endpoint])
        };
        (self.reads || !limits.read_only)
            && self.sends.iter().all(admitted)
            && (limits.resources.is_empty() || !self.sends.is_empty())
    }
}

/// The schema of the arguments, and whether the input is only a member of them.
fn input_schema(declared: &Map<String, Value>) -> (Value, bool) {
    if declared.is_empty() {
        return (json!({"type": "object", "properties": {}, "additionalProperties": false}), false);
    }
    let mut schema = modern(&Value::Object(declared.clone()), Side::Request);
    plain_formats(&mut schema);
    match schema["type"] == "object" {
        true => (schema, false),
        false => (json!({"type": "object", "properties": {"input": schema}, "required": ["input"]}), true),
    }
}

/// A schema of arguments whose members have no long schemas of their own, but the names that these have: assistants read
/// all tools before they use one. The ability checks the whole schema.
fn shortened(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let args = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut);
    let members = args.filter_map(|arg| arg.get_mut("properties")?.as_object_mut()).flat_map(Map::values_mut);
    for member in members.filter(|member| member.to_string().len() > LONGEST_MEMBER) {
        let Some(names) = member.get("properties").and_then(Value::as_object) else { continue };
        let names = names.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let description = member["description"].as_str().unwrap_or_default();
        let description = format!("{description} Members: {names}.").trim().to_owned();
        *member = json!({"type": "object", "description": description});
    }
    schema
}

/// The schema of structured results, which are objects; `None` where anything may come.
fn output_schema(declared: &Map<String, Value>, empty_lists: bool) -> Option<Value> {
    if declared.is_empty() {
        return None;
    }
    let mut schema = modern(&Value::Object(declared.clone()), Side::Response { empty_lists });
    plain_formats(&mut schema);
    without_sentences(&mut schema);
    if let Some(map) = schema.as_object_mut().filter(|_| declared.get("type") == Some(&json!("object"))) {
        map.insert("type".into(), json!("object"));
        map.shift_remove("maxItems");
        return Some(schema);
    }
    let member = member_of(declared.get("type") == Some(&json!("array")));
    Some(json!({"type": "object", "properties": {member: schema}, "required": [member]}))
}

/// The member in which a result is that is no object.
fn member_of(list: bool) -> &'static str {
    if list { "items" } else { "value" }
}

/// Leaves out what describes members for people: programs check results, and the abilities themselves describe them.
fn without_sentences(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            // A member may have this name; its schema is no text.
            map.retain(|name, value| name != "description" || !value.is_string());
            map.values_mut().for_each(without_sentences);
        }
        Value::Array(list) => list.iter_mut().for_each(without_sentences),
        _ => {}
    }
}

/// Leaves out formats that JSON Schema does not have.
fn plain_formats(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("format") == Some(&json!("date-time-local")) {
                map.shift_remove("format");
            }
            map.values_mut().for_each(plain_formats);
        }
        Value::Array(list) => list.iter_mut().for_each(plain_formats),
        _ => {}
    }
}

impl Mcp {
    /// The tools that the caller may use.
    pub(super) fn list_tools(&self, scope: &Scope) -> Value {
        let offer = self.offer();
        let shown = offer.listed.iter().filter_map(|name| match offer.tools.get(name) {
            Some(tool) => tool.open_to(scope).then(|| tool.shown_to(scope, tool.document.clone())),
            None => finder(name),
        });
        json!({"tools": shown.collect::<Vec<_>>()})
    }

    /// Calls a tool. A refusal of the ability is a result with `isError`.
    pub(super) async fn call_tool(
        &self,
        engine: &Engine,
        scope: &Scope,
        name: &str,
        arguments: Option<&Value>,
    ) -> Result<Value, RpcError> {
        let arguments = match arguments {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(RpcError::new(INVALID_PARAMS, "The arguments are not an object.")),
        };
        let offer = self.offer();
        if let Some(tool) = offer.tools.get(name).filter(|_| offer.listed.iter().any(|listed| listed == name)) {
            return Ok(self.run(engine, scope, tool, arguments).await);
        }
        if !offer.finders {
            return Err(unknown(name));
        }
        if let Some(refused) = misplaced(name, &arguments) {
            return Ok(said(&refused));
        }
        let wanted = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        let of_name = || offer.tools.values().find(|tool| tool.ability == wanted);
        let none = || said(&format!("There is no ability `{wanted}` that is a tool. Find one with {DISCOVER}."));
        match name {
            DISCOVER => Ok(done(self.found(scope, &arguments))),
            DESCRIBE => {
                let tool = of_name().filter(|tool| tool.open_to(scope));
                Ok(tool.map_or_else(none, |tool| done(tool.shown_to(scope, tool.described()))))
            }
            EXECUTE => match of_name() {
                Some(tool) => {
                    let input = arguments.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
                    Ok(self.run(engine, scope, tool, input).await)
                }
                None => Ok(none()),
            },
            _ => Err(unknown(name)),
        }
    }

    /// The abilities that have a word in their name or description.
    fn found(&self, scope: &Scope, arguments: &Map<String, Value>) -> Value {
        let word = arguments.get("search").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let mut found: Vec<&Tool> = self.offer().tools.values().filter(|tool| tool.open_to(scope)).collect();
        found.retain(|tool| {
            let description = tool.document["description"].as_str().unwrap_or_default();
            tool.ability.contains(&word) || description.to_lowercase().contains(&word)
        });
        found.sort_by_key(|tool| &tool.ability);
        let shown = found.iter().map(|tool| json!({"name": tool.ability, "description": tool.document["description"]}));
        json!({"abilities": shown.collect::<Vec<_>>()})
    }

    /// The result of an ability, run by a request to its route.
    async fn run(&self, engine: &Engine, scope: &Scope, tool: &Tool, mut arguments: Map<String, Value>) -> Value {
        let input = match tool.wrapped {
            true => arguments.shift_remove("input").unwrap_or_default(),
            false => Value::Object(arguments),
        };
        let declared = tool.input.as_ref().unwrap_or(&tool.document["inputSchema"]);
        let declared = if tool.wrapped { &declared["properties"]["input"] } else { declared };
        if let Some(stray) = stray_member(declared, &input, "") {
            return said(&format!(
                "The input has a member `{stray}`, which is not taken: leave it out. ({INVALID_INPUT})"
            ));
        }
        let takes_none = tool.document["inputSchema"]["properties"] == json!({});
        let mut brought = Map::new();
        if !(takes_none && input == json!({})) {
            brought.insert("input".into(), input);
        }
        if !tool.reads {
            let caller = &scope.principal;
            let (login, path) = (&*caller.login, self.path.as_str());
            let event =
                Event { name: CALLED, user: caller.id, login, path, subject: &tool.ability, ..Event::default() };
            identity::record(scope, &event).await;
        }
        let path = format!("{}/{}/run", self.offer().abilities, tool.ability);
        let scope = &Scope { tool: true, ..scope.clone() };
        let part = send(engine, scope, tool.method, &path, brought).await;
        match part.status {
            status::ACCEPTED if drafts::only_drafts(scope) => {
                let told = json!({"type": "text", "text": proposals::told(&part.body)});
                let mut result = done(part.body);
                if let Some(content) = result["content"].as_array_mut() {
                    content.insert(0, told);
                }
                result
            }
            ended if status::is_success(ended) => done(part.body),
            _ => said(&refusal(&part.body)),
        }
    }
}

/// The first member of an argument that its schema does not name: routes would leave it out. Arguments themselves are the
/// ability's matter.
fn stray_member(schema: &Value, value: &Value, at: &str) -> Option<String> {
    match value {
        Value::Object(members) => {
            let known = schema["properties"].as_object().filter(|known| !known.is_empty())?;
            let open = match &schema["additionalProperties"] {
                Value::Null | Value::Bool(false) => {
                    ["patternProperties", "oneOf", "anyOf", "allOf"].iter().any(|word| schema.get(word).is_some())
                }
                _ => true,
            };
            members.iter().find_map(|(name, value)| {
                let place = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                match known.get(name) {
                    Some(schema) => stray_member(schema, value, &place),
                    None => (!at.is_empty() && !open).then(|| place.chars().take(200).collect()),
                }
            })
        }
        Value::Array(items) => {
            let schema = schema.get("items").filter(|schema| schema.is_object())?;
            items.iter().find_map(|item| stray_member(schema, item, at))
        }
        _ => None,
    }
}

/// Why a tool that finds, describes or runs abilities takes no such arguments.
fn misplaced(name: &str, arguments: &Map<String, Value>) -> Option<String> {
    let tool = finder(name)?;
    let schema = &tool["inputSchema"];
    let known = schema["properties"].as_object()?;
    for (given, value) in arguments {
        let Some(declared) = known.get(given) else {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            let given: String = given.chars().take(100).collect();
            return Some(format!("`{name}` takes no argument `{given}`; it takes {}.", known.join(", ")));
        };
        let fits = if declared["type"] == "object" { value.is_object() } else { value.is_string() };
        if !fits {
            return Some(format!("The argument `{given}` is to be of the type {}.", declared["type"]));
        }
    }
    let missing = schema["required"].as_array()?.iter().filter_map(Value::as_str);
    let mut missing = missing.filter(|wanted| !arguments.contains_key(*wanted));
    missing.next().map(|wanted| format!("The argument `{wanted}` is missing."))
}

impl Tool {
    /// A description as it holds for a caller: what a credential that only drafts changes may become a review.
    fn shown_to(&self, scope: &Scope, mut document: Value) -> Value {
        if !self.reads
            && drafts::only_drafts(scope)
            && let Some(map) = document.as_object_mut()
        {
            map.shift_remove("outputSchema");
        }
        document
    }

    fn described(&self) -> Value {
        let mut document = self.document.clone();
        document["name"] = json!(self.ability);
        if let Some(whole) = &self.input {
            document["inputSchema"] = whole.clone();
        }
        document
    }
}

fn unknown(name: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("There is no tool `{name}`."))
}

/// A request to a route in the caller's name.
pub(super) async fn send(
    engine: &Engine,
    scope: &Scope,
    method: Method,
    path: &str,
    arguments: Map<String, Value>,
) -> SubResponse {
    let reads = matches!(method, Method::Get | Method::Delete);
    let (query, body) = if reads { (arguments, BodyParams::None) } else { (Map::new(), BodyParams::Json(arguments)) };
    let call = Call::internal(method, path, query, body);
    engine.part(scope, &call, false).await
}

/// The message of an error, with what is wrong with each argument, and its code.
pub(super) fn refusal(body: &Value) -> String {
    let params = body["data"]["params"].as_object();
    let each: Vec<&str> = params.into_iter().flatten().filter_map(|(_, text)| text.as_str()).collect();
    let message = body["message"].as_str().unwrap_or("The request failed.");
    let code = body["code"].as_str().unwrap_or_default();
    let step = body["data"]["step"].as_str().map(|step| {
        let written = body["data"]["written"].as_array().into_iter().flatten().filter_map(Value::as_str);
        match written.collect::<Vec<_>>()[..] {
            [] => format!("The step `{step}` failed; nothing was written."),
            ref written => {
                format!("The step `{step}` failed; what was written before it stays: {}.", written.join(", "))
            }
        }
    });
    let each: Vec<&str> = each.into_iter().chain(step.as_deref()).collect();
    [message].into_iter().chain(each).collect::<Vec<_>>().join(" ") + &format!(" ({code})")
}

fn done(result: Value) -> Value {
    let text = result.to_string();
    let structured = match result {
        Value::Object(_) => result,
        other => json!({member_of(other.is_array()): other}),
    };
    json!({"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": false})
}

fn said(message: &str) -> Value {
    json!({"content": [{"type": "text", "text": message}], "isError": true})
}

/// A tool that finds, describes or runs abilities.
fn finder(name: &str) -> Option<Value> {
    let named = json!({"type": "string", "description": "Name of the ability, such as `posts/list`."});
    let (title, description, properties, required, reads) = match name {
        DISCOVER => (
            "Find abilities",
            "Lists what this site can do, by name, with a sentence about each.",
            json!({"search": {"type": "string", "description": "A word of the name or the description."}}),
            json!([]),
            true,
        ),
        DESCRIBE => (
            "Describe an ability",
            "Responds with the schemas of an ability and what is known of its effects. Read it before you run one.",
            json!({"name": named}),
            json!(["name"]),
            true,
        ),
        EXECUTE => (
            "Run an ability",
            "Runs an ability and responds with its result.",
            json!({"name": named, "arguments": {"type": "object", "description": "What the ability takes."}}),
            json!(["name"]),
            false,
        ),
        _ => return None,
    };
    let input =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let annotations = json!({"title": title, "readOnlyHint": reads, "openWorldHint": false});
    Some(
        json!({"name": name, "title": title, "description": description, "inputSchema": input, "annotations": annotations}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_short_and_distinct() {
        let taken: HashSet<String> = ["a-b-c".to_owned()].into();
        assert_eq!(tool_name("posts/list", &taken), "posts-list");
        let other = tool_name("a-b/c", &taken);
        assert!(other.starts_with("a-b-c-") && other.len() == 18, "{other}");
        let long = tool_name(&format!("a/{}", "b".repeat(300)), &taken);
        assert_eq!(long.len(), LONGEST);
    }

    #[test]
    fn results_are_objects() {
        assert_eq!(done(json!([1]))["structuredContent"], json!({"items": [1]}));
        assert_eq!(done(json!("a"))["structuredContent"], json!({"value": "a"}));
        assert_eq!(done(json!({"a": 1}))["structuredContent"], json!({"a": 1}));
        let list = json!({"type": "array", "items": {"type": "string", "format": "date-time"}});
        let schema = output_schema(list.as_object().expect("an object"), false).expect("a schema");
        assert_eq!(schema["properties"]["items"], json!({"items": {"type": "string"}, "type": "array"}));
        let long = json!({"type": "object", "description": "How.", "properties": {"eq": {"description": "x".repeat(400)}, "ne": {}}});
        let schema = json!({"properties": {"where": {"properties": {"date": long, "tag": {"type": "object"}}}}});
        let short = json!({"type": "object", "description": "How. Members: eq, ne."});
        let shown = json!({"properties": {"where": {"properties": {"date": short, "tag": {"type": "object"}}}}});
        assert_eq!(shortened(&schema), shown);
        let nested = json!({"properties": {"title": {"properties": {"raw": {}}}, "free": {"type": "object"}, "open": {
            "properties": {"a": {}}, "additionalProperties": true}, "list": {"items": {"properties": {"a": {}}}}}});
        for (given, stray) in [
            (json!({"title": {"raw": 1}, "free": {"b": 1}, "open": {"b": 1}, "other": {}}), None),
            (json!({"title": {"row": 1}}), Some("title.row")),
            (json!({"list": [{"a": 1}, {"b": 1}]}), Some("list.b")),
        ] {
            assert_eq!(stray_member(&nested, &given, "").as_deref(), stray, "{given}");
        }
        let (schema, wrapped) = input_schema(json!({"type": "string"}).as_object().expect("an object"));
        assert!(wrapped && schema["properties"]["input"]["type"] == "string");
    }
}
