//! The table of capabilities: which one each action on a resource needs, and what else asks for one.

use crate::access::policy;
use crate::error::ApiError;
use crate::features::console::label;
use crate::handlers::{Outcome, Work};
use cms_declaration::translations::Translator;
use serde_json::{Value, json};

/// The table.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (scope, registry) = (work.scope, &work.scope.registry);
    let tag = work.allowed.args().text("lang").unwrap_or_default();
    let translator = Translator::of(&registry.declaration.translations, tag);
    let guarded = registry.resources.iter().filter(|resource| !resource.capabilities.is_empty());
    let resources: Vec<Value> = guarded
        .map(|resource| {
            let label = label(resource);
            json!({"name": resource.name, "label": translator.translate(&label), "actions": resource.capabilities})
        })
        .collect();
    let uses = registry.capability_uses();
    let capabilities = registry.capabilities.iter().map(|name| {
        let places = uses.get(&**name).into_iter().flatten().collect::<Vec<_>>();
        json!({"name": &**name, "givable": policy::missing_of(scope, [&**name].into_iter()).is_none(), "uses": places})
    });
    let capabilities: Vec<Value> = capabilities.collect();
    Ok(Outcome { private: true, ..Outcome::ok(json!({"resources": resources, "capabilities": capabilities})) })
}
