//! The error codes that an operation may end with: those of each stage, and those that its guard and its handler name.

use super::DescriptionBuilder;
use super::parameters::has_body;
use crate::error::{Code, CodeStatus, status};
use crate::model::Method;
use crate::registry::args::ArgRole;
use crate::registry::resource::{Property, PropertySource};
use crate::registry::{Endpoint, Route};
use cms_declaration::ItemKey;
use cms_schema::reasons;
use serde_json::Value;
use std::collections::BTreeSet;

/// Those of every request.
const GENERAL: &[Code] = &[
    Code::InvalidCredentials,
    Code::InvalidNonce,
    Code::AppPasswordLimited,
    Code::EmptyUsername,
    Code::EmptyPassword,
    Code::BadRequest,
    Code::UriTooLong,
    Code::TooManyRequests,
    Code::Internal,
    Code::ReadTimeout,
    Code::StorageReadOnly,
];

/// Those of requests for the root and the namespaces.
pub(super) fn of_index() -> impl Iterator<Item = (Code, u16)> {
    GENERAL.iter().flat_map(|code| statuses(*code).into_iter().map(|status| (*code, status)))
}

impl DescriptionBuilder<'_> {
    /// The codes of all stages with the statuses that they are sent with, as the endpoint and its resource rename them. A
    /// failed check of a single argument is [`Code::InvalidParam`]; the checks are not listed.
    pub(super) fn codes(&self, route: &Route, endpoint: &Endpoint, method: Method) -> Vec<(Code, u16)> {
        let (handler, guard) = (self.handler(endpoint), self.vocabulary.guards[endpoint.guard.0]);
        let mut codes = GENERAL.to_vec();
        // A guard with a capability behind its name refuses those who lack it.
        codes.extend(guard.param.map(|_| Code::Forbidden));
        codes.extend(endpoint.editors_only.then_some(Code::CannotView));
        codes.extend(endpoint.export.as_ref().map(|_| Code::Forbidden));
        codes.extend((!endpoint.args.args.is_empty()).then_some(Code::InvalidParam));
        let late = endpoint.args.args.iter().filter(|arg| arg.late);
        codes.extend(late.flat_map(|arg| checks_of(&arg.shown)));
        if endpoint.args.args.iter().any(|arg| arg.required) {
            codes.push(Code::MissingParam);
        }
        codes.extend(endpoint.args.role(ArgRole::Preview).map(|_| Code::PreviewInvalid));
        if has_body(method) {
            codes.extend([Code::InvalidJson, Code::PayloadTooLarge]);
            codes.extend(self.registry.declaration.dialect.refuse_unlabelled_json.then_some(Code::UnlabelledJson));
        }
        if method != Method::Get {
            codes.extend([Code::Busy, Code::OutcomeUnknown]);
        }
        let resource = route.resource.map(|index| &self.registry.resources[index]);
        let owner = route.owner.map(|index| &self.registry.resources[index]);
        // Resources below items of another one fail as those do: the autosave of an own draft changes the draft.
        let family = owner.or(resource).map(|of| of.family);
        let of_family = handler.fails_of.iter().filter(|(of, _)| Some(*of) == family).flat_map(|(_, codes)| *codes);
        codes.extend(guard.fails.iter().chain(handler.fails).chain(of_family));
        if self.proposed(route, endpoint).is_some() {
            codes.extend([Code::ProposalNoChanges, Code::ReviewsFull]);
        }
        if let Some(resource) = resource.filter(|_| has_body(method)) {
            codes.extend(resource.not_empty.iter().map(|(_, code)| *code));
            codes.extend(resource.relations.iter().filter_map(|relation| relation.missing));
            of_values(&resource.properties, &mut codes);
            codes.extend((!owner.unwrap_or(resource).guarded.is_empty()).then_some(Code::ForbiddenField));
        }
        // A value that has to be an entry of another resource.
        let filters = resource.into_iter().flat_map(|resource| resource.declared.options.filters.values());
        let among = filters.filter_map(|filter| self.registry.resource(filter.among.as_deref()?));
        codes.extend(among.map(|among| among.code(Code::RecordInvalidId)));
        codes.extend(resource.and_then(|resource| resource.within.as_ref()).map(|(_, code)| *code));
        // Names of items may have slashes: an address below an item that does not fit may be that of an item.
        let has_paths = owner.is_some_and(|owner| owner.declared.key == ItemKey::ThemeAndSlug);
        codes.extend(has_paths.then_some(Code::CannotView));
        // The resource, the one above it and the endpoint rename codes; not every refusal passes through all of them.
        let names = |code: Code| {
            let of_resources = [resource, owner].into_iter().flatten().map(move |of| of.code(code));
            let all = std::iter::once(code).chain(of_resources);
            all.map(|code| endpoint.codes.get(&code).copied().unwrap_or(code)).chain([code])
        };
        let bare = resource.filter(|_| handler.bare).map(|resource| &resource.bare_in_updates);
        let sent = |code: Code| -> Vec<u16> {
            let declared = resource.and_then(|resource| resource.status_of_codes.get(&code));
            match declared.copied().or_else(|| bare?.contains(&code).then_some(status::INTERNAL)) {
                Some(status) => vec![status],
                None => statuses(code),
            }
        };
        let renamed = endpoint.codes.values().copied();
        let named = codes.into_iter().flat_map(names).chain(renamed);
        let mut all: Vec<(Code, u16)> =
            named.flat_map(|code| sent(code).into_iter().map(move |status| (code, status))).collect();
        let others = handler.fails_at.iter().filter(|(of, ..)| of.is_none() || *of == family);
        all.extend(others.flat_map(|(_, code, status)| names(*code).map(move |code| (code, *status))));
        if endpoint.forwards {
            all.extend(self.forwarded(method));
        }
        all
    }

    /// The codes of the requests that abilities of this method send.
    fn forwarded(&self, method: Method) -> Vec<(Code, u16)> {
        let abilities = self.registry.abilities.values().filter(|ability| ability.listed && ability.method == method);
        let codes = abilities.flat_map(|ability| &ability.requests).flat_map(|request| {
            let (method, paths) = (&request.method, request.path.samples());
            let answers = |route: &&Route| paths.iter().any(|path| route.matcher.is_match(path));
            let endpoints = self.registry.routes.iter().filter(answers).flat_map(|route| {
                let own = route.endpoints.iter().filter(|own| own.methods.contains(method) && !own.forwards);
                own.map(move |endpoint| (route, endpoint))
            });
            endpoints.map(|(route, endpoint)| self.codes(route, endpoint, *method)).next().unwrap_or_default()
        });
        codes.collect()
    }
}

/// The statuses that a code may be sent with.
fn statuses(code: Code) -> Vec<u16> {
    match code.status() {
        CodeStatus::Fixed(status) | CodeStatus::Bare(status) => vec![status],
        CodeStatus::Denied => vec![status::UNAUTHORIZED, status::FORBIDDEN],
    }
}

/// The codes of the checks that a schema makes.
fn checks_of(schema: &Value) -> Vec<Code> {
    let mut found = BTreeSet::new();
    reasons(schema, &mut found);
    found.into_iter().map(Code::of_check).collect()
}

/// How values are refused that the schema alone does not refuse.
fn of_values(properties: &[Property], codes: &mut Vec<Code>) {
    for property in properties {
        codes.extend(property.refusal.as_ref().map(|refusal| refusal.code));
        codes.extend(property.longest.map(|(_, code)| code));
        if let PropertySource::Object(members) = &property.source {
            of_values(members, codes);
        }
    }
}
