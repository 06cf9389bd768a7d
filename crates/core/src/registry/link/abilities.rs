//! Abilities and their categories.

use super::super::abilities::{Ability, AbilityInput, AbilityPath, RequestTemplate, method_of};
use super::super::operations;
use super::super::resource::*;
use super::super::templates::{Template, TemplateReference};
use super::super::vocabulary::{HandlerRole, names as names_of};
use super::super::{Behaviour, Endpoint, Route};
use super::{ArgOrigin, Linker, extend};
use crate::model::Method;
use cms_declaration::{self as declaration, AbilityStep, SchemaDoc};
use cms_schema::Schema;
use indexmap::IndexMap;
use serde_json::Value;

impl Linker<'_> {
    /// Compiles the declared abilities; those that are not shown have to be right, too.
    pub(super) fn abilities(&mut self, resources: &[Resource], routes: &[Route]) -> IndexMap<String, Ability> {
        let declared = self.declared;
        for slug in declared.ability_categories.keys().filter(|slug| !is_name(slug)) {
            self.named_badly(&["ability_categories", slug], "a word such as `site`");
        }
        let mut abilities = IndexMap::new();
        for (name, ability) in &declared.abilities {
            if !name.split_once('/').is_some_and(|(space, own)| is_name(space) && is_name(own)) {
                self.named_badly(&["abilities", name], "a namespace and a word, such as `core/get-site-info`");
            }
            if let Some(compiled) = self.ability(name, ability, resources, routes)
                && ability.is_listed()
            {
                abilities.insert(name.clone(), compiled);
            }
        }
        for resource in resources.iter().filter(|resource| resource.has_operations()) {
            for (name, ability) in self.of_resource(resource, routes) {
                if !declared.abilities.contains_key(&name) {
                    abilities.insert(name, ability);
                }
            }
        }
        abilities
    }

    /// The abilities of a resource that has `ability` or `tools`.
    fn of_resource(&mut self, resource: &Resource, routes: &[Route]) -> Vec<(String, Ability)> {
        let key = if resource.declared.ability { "ability" } else { "tools" };
        let at = ["resources", &resource.name, key];
        if !is_name(&operations::word(&resource.name)) {
            let hint = "names of abilities hold lower-case letters, digits and hyphens; rename the resource";
            self.problem(
                &at,
                format!("`{}` cannot be part of the name of an ability", resource.name),
                Some(hint.into()),
            );
            return Vec::new();
        }
        let behaviours = names_of(&self.vocabulary.abilities);
        let Some(run) = behaviours.iter().position(|name| *name == operations::RUN) else { return Vec::new() };
        let handlers = &self.vocabulary.handlers;
        let handler = |endpoint: &Endpoint| handlers[endpoint.handler.0].name;
        let found = operations::operations(resource, routes, &handler, Behaviour(run));
        if found.is_empty() {
            let hint = "an ability needs a route for the collection or for an item";
            self.problem(&at, format!("`{}` has no operation", resource.name), Some(hint.into()));
        }
        found
    }

    fn named_badly(&mut self, path: &[&str], wanted: &str) {
        let hint = Some("names hold lower-case letters, digits and hyphens".into());
        self.problem(path, format!("the name has to be {wanted}"), hint);
    }

    fn ability(
        &mut self,
        name: &str,
        ability: &declaration::Ability,
        resources: &[Resource],
        routes: &[Route],
    ) -> Option<Ability> {
        let at = ["abilities", name];
        let declared = self.declared;
        let of_resources: Vec<String> =
            resources.iter().filter(|one| one.declared.ability).map(|one| operations::word(&one.name)).collect();
        let categories = declared.ability_categories.keys().chain(&of_resources);
        let categories: Vec<&str> = categories.map(String::as_str).collect();
        self.known(&extend(&at, "category"), "category", &ability.category, &categories);
        let input = self.ability_schema(name, "input_schema", &ability.input_schema);
        let output = self.ability_schema(name, "output_schema", &ability.output_schema);
        let inputs = property_names(&ability.input_schema);
        if let Some(select) = &ability.select {
            self.known(&extend(&at, "select"), "member of the input", select, &inputs);
        }
        let requests = self.ability_requests(&at, ability, &inputs, routes);
        let settings: Vec<&str> = resources
            .iter()
            .filter(|resource| resource.is_singleton())
            .flat_map(|resource| resource.properties.iter().map(|property| property.name.as_str()))
            .collect();
        for (member, source) in &ability.result {
            let at = [&at[..], &["result", member]].concat();
            if source.keys() != 1 {
                let hint = "write one of member, setting, fact, value";
                self.problem(&at, format!("`{member}` needs one source"), Some(hint.into()));
            }
            if let Some(step) = &source.step {
                let steps: Vec<&str> = ability.steps.iter().map(|step| step.name.as_str()).collect();
                self.known(&extend(&at, "step"), "step", step, &steps);
            }
            if let Some(setting) = &source.setting {
                self.known(&extend(&at, "setting"), "setting", setting, &settings);
            }
        }
        let behaviours = names_of(&self.vocabulary.abilities);
        let run = self.known(&extend(&at, "run"), "ability behaviour", &ability.run, &behaviours)?;
        let method = method_of(&ability.annotations);
        let input = input.map_or(AbilityInput::Nothing, AbilityInput::Fitting);
        Some(Ability {
            method,
            input,
            output,
            run: Behaviour(run),
            requests,
            listed: true,
            declared: ability.clone(),
            operation: None,
        })
    }

    fn ability_schema(&mut self, name: &str, key: &str, doc: &SchemaDoc) -> Option<Schema> {
        if doc.is_empty() {
            return None;
        }
        let at = ArgOrigin::Config(vec!["abilities".into(), name.to_owned(), key.to_owned()]);
        match Schema::compile(&Value::Object(doc.clone()), self.dialect) {
            Ok(schema) => Some(schema),
            Err(problems) => {
                for problem in problems {
                    self.report(&at, &problem.pointer, problem.message, problem.hint);
                }
                None
            }
        }
    }

    /// The requests of an ability: each path is one that a route answers, and what is in braces is there by then.
    fn ability_requests(
        &mut self,
        at: &[&str],
        ability: &declaration::Ability,
        inputs: &[&str],
        routes: &[Route],
    ) -> Vec<RequestTemplate> {
        let (request, steps) = (&ability.request, &ability.steps);
        if ability.run == "request" && request.is_some() != steps.is_empty() {
            let hint = "write request = { method = \"GET\", path = \"/…\" }, or steps";
            self.problem(&extend(at, "run"), "`request` needs the request to send, or steps", Some(hint.into()));
        }
        if ability.atomic && steps.is_empty() {
            self.problem(&extend(at, "atomic"), "only steps can be one commit", None);
        }
        if let Some(request) = request {
            let found = self.ability_request(&extend(at, "request"), request, inputs, routes);
            return found.map(|found| found.take_rest_of_input(ability)).into_iter().collect();
        }
        if steps.len() > MOST_STEPS {
            self.problem(&extend(at, "steps"), format!("an ability has {MOST_STEPS} steps at most"), None);
        }
        let mut known = inputs.to_vec();
        let mut requests = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let number = number.to_string();
            requests.extend(self.ability_step(
                &[at, &["steps", &number]].concat(),
                ability.atomic,
                step,
                &known,
                routes,
            ));
            known.push(&step.name);
        }
        requests
    }

    fn ability_step(
        &mut self,
        at: &[&str],
        atomic: bool,
        step: &AbilityStep,
        known: &[&str],
        routes: &[Route],
    ) -> Option<RequestTemplate> {
        if TemplateReference::parse(&step.name).is_none_or(|own| own.of != step.name)
            || known.contains(&step.name.as_str())
        {
            let hint = "a step has a word of its own, which is no member of the input";
            self.problem(&extend(at, "name"), format!("`{}` cannot name a step", step.name), Some(hint.into()));
        }
        let when = step.when.as_ref().and_then(|when| {
            let reference = TemplateReference::parse(when);
            let named = reference.as_ref().map_or(when.as_str(), |reference| &reference.of);
            self.known(&extend(at, "when"), MEMBER, named, known);
            reference
        });
        let AbilityStep { method, path, args, if_match, .. } = step.clone();
        let request = declaration::AbilityRequest { method, path, args, if_match };
        let request = self.ability_request(at, &request, known, routes)?;
        if atomic && request.method != Method::Get {
            let answers = |route: &Route, path: &str| route.matcher.is_match(path);
            let paths = request.path.samples();
            let found = routes.iter().filter(|route| paths.iter().any(|path| answers(route, path)));
            let mut endpoints =
                found.flat_map(|route| &route.endpoints).filter(|e| e.methods.contains(&request.method));
            if endpoints.next().is_some_and(|endpoint| endpoint.batch != Some(true)) {
                let message = format!("{} `{}` cannot be a part of one commit", request.method.as_str(), step.path);
                self.problem(&extend(at, "path"), message, Some("take `atomic` out".into()));
            }
        }
        Some(RequestTemplate { name: step.name.clone(), when, ..request })
    }

    /// One request: its path is one that a route answers, and `known` is what it may name.
    fn ability_request(
        &mut self,
        at: &[&str],
        request: &declaration::AbilityRequest,
        known: &[&str],
        routes: &[Route],
    ) -> Option<RequestTemplate> {
        let method = self.method(&extend(at, "method"), &request.method)?;
        let path = AbilityPath::parse(&request.path);
        for member in path.members() {
            let of = TemplateReference::parse(member).map_or_else(|| member.to_owned(), |reference| reference.of);
            self.known(&extend(at, "path"), MEMBER, &of, known);
        }
        let args: Vec<(String, Template)> =
            request.args.iter().map(|(name, value)| (name.clone(), Template::parse(value))).collect();
        for (name, template) in &args {
            for reference in template.references() {
                self.known(&[at, &["args", name]].concat(), MEMBER, &reference.of, known);
            }
        }
        let if_match = request.if_match.as_ref().map(|tag| Template::parse(&Value::String(tag.clone())));
        for reference in if_match.iter().flat_map(Template::references) {
            self.known(&extend(at, "if_match"), MEMBER, &reference.of, known);
        }
        let answers = |path: &String| {
            let of_method = |route: &&Route| route.endpoints.iter().any(|endpoint| endpoint.methods.contains(&method));
            routes.iter().filter(of_method).any(|route| route.matcher.is_match(path))
        };
        let samples = path.samples();
        if !samples.iter().any(answers) {
            let message = format!("no route answers {} `{}`", method.as_str(), request.path);
            self.problem(&extend(at, "path"), message, None);
        }
        // They could run each other without end.
        let runs = |route: &&Route| route.has_role(HandlerRole::RunAbility);
        if routes.iter().filter(runs).any(|route| samples.iter().any(|path| route.matcher.is_match(path))) {
            let hint = "write the requests of the other ability here";
            self.problem(&extend(at, "path"), "an ability cannot run abilities", Some(hint.into()));
        }
        Some(RequestTemplate { name: String::new(), when: None, method, path, args, if_match, apart: None })
    }
}

/// Most steps of an ability.
const MOST_STEPS: usize = 10;

/// The things that references of a request can name.
const MEMBER: &str = "member of the input or earlier step";

fn property_names(schema: &SchemaDoc) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// Lower-case letters, digits and single hyphens between them.
fn is_name(text: &str) -> bool {
    let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.split('-').all(word)
}
