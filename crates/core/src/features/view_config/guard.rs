//! The guard of view configurations: who edits the entities sees how they are listed.

use crate::access::{Decision, Guard, GuardInput, GuardRows, guard};
use crate::error::{ApiError, Code};
use crate::registry::Registry;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::BehaviourEntry;
use crate::registry::vocabulary::VIRTUAL;
use cms_declaration::{Action, EntityKind, Views};

/// Its rows of the table of guards.
pub const GUARDS: &[BehaviourEntry<Guard>] =
    &[guard("view_config.read", read, "Allows callers who may edit the entity that `kind` and `name` name.")
        .on(VIRTUAL)];

/// The resource that an entity is, where its kind is one of resources.
pub fn entity<'r>(registry: &'r Registry, kind: &EntityKind, name: &str) -> Option<&'r Resource> {
    registry.kinds(kind.family?).find(|resource| resource.api_name == *name)
}

/// Whether there is such an entity, and the caller has the capability for it.
fn read(input: &GuardInput<'_>) -> Decision {
    let views: &Views =
        input.resource()?.declared.options.views.as_ref().ok_or_else(|| ApiError::new(Code::Internal))?;
    let (kind, name) = (input.args.text("kind").unwrap_or_default(), input.args.text("name").unwrap_or_default());
    let capability = match views.kinds.get(kind) {
        None => views.capability.as_str(),
        Some(declared) if declared.family.is_none() => &declared.capability,
        Some(declared) => entity(input.registry(), declared, name)
            .ok_or_else(|| input.fail(Code::RecordInvalidId))?
            .capability(declared.act.unwrap_or(Action::Edit)),
    };
    match input.scope.principal.can(capability) {
        true => Ok(GuardRows::default()),
        false => Err(input.refuse(Code::CannotRead)),
    }
}
