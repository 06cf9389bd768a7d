//! `roles`: the roles in force, and those that are stored as the files would declare them.

use super::accounts::table;
use super::services;
use crate::boot::{BootError, ConfigSource};
use crate::import::propose::toml_text;
use cms_core::registry::Registry;
use cms_core::registry::roles::{EffectiveRole, RoleOrigin, Roles};
use cms_core::scope::read_settings;
use cms_declaration::units::Duration;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;

/// See [`super::Command::Roles`].
pub(super) fn roles(source: &ConfigSource, toml: bool) -> Result<String, BootError> {
    let (registry, services) = services(source)?;
    let roles = read_settings(&registry, &*services.storage)?.roles;
    for left_out in &roles.left_out {
        tell!("warning: {left_out}");
    }
    Ok(if toml { declarations(&registry, &roles) } else { table(&rows(&roles)) })
}

fn rows(roles: &Roles) -> Vec<Vec<String>> {
    let head = ["role", "name", "origin", "locked", "capabilities"].map(str::to_owned).to_vec();
    let row = |(slug, role): (&str, &EffectiveRole)| {
        let locked = if role.locked { "yes" } else { "" };
        let count = role.capabilities.len().to_string();
        vec![slug.to_owned(), role.name.clone(), role.origin.name().to_owned(), locked.to_owned(), count]
    };
    std::iter::once(head).chain(roles.iter().map(row)).collect()
}

/// The stored roles as a file declares them, with the second factor that their capabilities require.
fn declarations(registry: &Registry, roles: &Roles) -> String {
    let mut out = String::new();
    for (slug, role) in roles.iter().filter(|(_, role)| role.origin != RoleOrigin::Declared) {
        let declared = registry.declared_roles.get(slug).and_then(|role| role.factor_grace);
        let grace = role.factor_grace.filter(|_| declared != role.factor_grace);
        let grace = grace.map(|seconds| Duration::seconds_of(seconds.unsigned_abs()).to_string());
        let capabilities: Vec<&str> = role.capabilities.iter().map(|name| &**name).collect();
        let members = [
            ("name", json!(role.name)),
            ("capabilities", json!(capabilities)),
            ("password_login", json!(Some(false).filter(|_| !role.password_login))),
            ("second_factor", json!(grace.as_ref().map(|_| "required"))),
            ("second_factor_grace", json!(grace)),
        ];
        let members = members.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{gap}[roles.{}]\n{}", toml_text::key(slug), toml_text::members(&members).join("\n"));
    }
    out
}
