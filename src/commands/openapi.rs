//! `openapi`, `types`, `client`: the description of the routes, its types, and a client with them.

use super::{linked, print};
use crate::boot::{BootError, ConfigSource};
use cms_core::engine;
use cms_core::openapi::{Selection, document, typescript, yaml};
use serde_json::Value;

/// See [`super::Command::Openapi`].
pub(super) fn openapi(source: &ConfigSource, as_yaml: bool, namespace: Option<&str>) -> Result<(), BootError> {
    let registry = linked(source)?;
    if let Some(wanted) = namespace.filter(|wanted| !registry.namespaces.iter().any(|own| own == wanted)) {
        let all = registry.namespaces.join(", ");
        return Err(BootError::Other(format!("there is no namespace `{wanted}`; there are {all}")));
    }
    let selection = Selection { namespace, endpoints: &|_, _| true, server: &registry.site.rest_url };
    let described = document(&registry, &engine::vocabulary(), &selection);
    let text = match as_yaml {
        true => yaml(&described).map_err(|error| BootError::Other(error.to_string()))?,
        false => format!("{described:#}\n"),
    };
    print(text.as_bytes());
    Ok(())
}

/// See [`super::Command::Types`].
pub(super) fn types(source: &ConfigSource) -> Result<(), BootError> {
    print(typescript::types(&whole(source)?).as_bytes());
    Ok(())
}

/// See [`super::Command::Client`].
pub(super) fn client(source: &ConfigSource) -> Result<(), BootError> {
    print(typescript::client(&whole(source)?).as_bytes());
    Ok(())
}

fn whole(source: &ConfigSource) -> Result<Value, BootError> {
    let registry = linked(source)?;
    let selection = Selection { namespace: None, endpoints: &|_, _| true, server: &registry.site.rest_url };
    Ok(document(&registry, &engine::vocabulary(), &selection))
}
