//! Roles in force: those that people have stored over those of the declarations.
//!
//! It knows what is declared and what was stored, and neither where nor how.

use super::Registry;
use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// A role as it is in force.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveRole {
    pub name: String,
    /// In the order of declaration, or of storing.
    pub capabilities: IndexSet<Arc<str>>,
    /// Nothing that is stored applies to it.
    pub locked: bool,
    /// Some user always has it, and it keeps what is declared.
    pub required: bool,
    pub origin: RoleOrigin,
    /// Seconds for which its users may go on without a second factor; `None`: they need none.
    pub factor_grace: Option<i64>,
    /// Its users log in with a password.
    pub password_login: bool,
}

/// Where a role is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleOrigin {
    /// The declarations.
    Declared,
    /// The declarations, changed by what is stored.
    Changed,
    /// It is stored, and not declared.
    Stored,
}

impl RoleOrigin {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            RoleOrigin::Declared => "declared",
            RoleOrigin::Changed => "changed",
            RoleOrigin::Stored => "stored",
        }
    }
}

/// A role as it is stored.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct StoredRole {
    pub name: String,
    pub capabilities: IndexSet<String>,
}

/// Stored roles by name.
pub type StoredRoles = IndexMap<String, StoredRole>;

impl EffectiveRole {
    /// A number that equal roles share on every node.
    pub fn version(&self) -> i64 {
        let mut digest = Sha256::new();
        digest.update(&self.name);
        for capability in &self.capabilities {
            digest.update([0]);
            digest.update(capability.as_bytes());
        }
        let bytes = digest.finalize();
        // As the client reads it: a number in a tag has no sign.
        bytes.iter().take(7).fold(0, |number, byte| number << 8 | i64::from(*byte))
    }
}

/// See the module's description.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    all: IndexMap<String, EffectiveRole>,
    /// Sentences about what is stored and does not apply.
    pub left_out: Vec<String>,
}

impl Roles {
    /// Lays what is stored over what is declared. What cannot apply is left out.
    pub fn of(registry: &Registry, stored: &StoredRoles) -> Roles {
        let mut roles = Roles { all: registry.declared_roles.clone(), left_out: Vec::new() };
        for (slug, stored) in stored {
            roles.lay_over(registry, slug, stored);
        }
        roles
    }

    fn lay_over(&mut self, registry: &Registry, slug: &str, stored: &StoredRole) {
        let declared = self.all.get(slug);
        if declared.is_some_and(|role| role.locked) {
            self.left_out.push(format!("the stored role `{slug}` does not apply: it is locked where it is declared"));
            return;
        }
        let (known, unknown): (Vec<_>, Vec<_>) =
            stored.capabilities.iter().partition(|name| registry.capabilities.contains(name.as_str()));
        for name in unknown {
            self.left_out.push(format!("the stored role `{slug}` lists `{name}`, which no declaration names"));
        }
        let mut capabilities: IndexSet<Arc<str>> =
            declared.filter(|role| role.required).map(|role| role.capabilities.clone()).unwrap_or_default();
        capabilities.extend(known.into_iter().map(|name| Arc::from(name.as_str())));
        let (strict, by_provider) = (
            like(registry, &capabilities, |role| role.factor_grace.is_some()),
            like(registry, &capabilities, |role| !role.password_login),
        );
        let role = EffectiveRole {
            name: stored.name.clone(),
            locked: false,
            required: declared.is_some_and(|role| role.required),
            origin: declared.map_or(RoleOrigin::Stored, |_| RoleOrigin::Changed),
            factor_grace: declared.into_iter().chain(strict).filter_map(|role| role.factor_grace).min(),
            password_login: declared.into_iter().chain(by_provider).all(|role| role.password_login),
            capabilities,
        };
        self.all.insert(slug.to_owned(), role);
    }

    /// A role by name.
    pub fn get(&self, name: &str) -> Option<&EffectiveRole> {
        self.all.get(name)
    }

    /// Whether there is a role of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    /// All by name: those of the declarations first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &EffectiveRole)> {
        self.all.iter().map(|(name, role)| (name.as_str(), role))
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.keys().map(String::as_str)
    }

    /// The capabilities that a user with these roles has.
    pub fn capabilities(&self, roles: &[Arc<str>]) -> HashSet<Arc<str>> {
        let held = roles.iter().filter_map(|role| self.get(role));
        held.flat_map(|role| role.capabilities.iter().cloned()).collect()
    }
}

/// Declared roles that are strict, and give one of these capabilities that no other declared role gives: a role that gives it is
/// as strict, such as a copy.
fn like<'r>(
    registry: &'r Registry,
    capabilities: &IndexSet<Arc<str>>,
    strict: impl Fn(&EffectiveRole) -> bool,
) -> Vec<&'r EffectiveRole> {
    let (strict, open): (Vec<&EffectiveRole>, Vec<&EffectiveRole>) =
        registry.declared_roles.values().partition(|role| strict(role));
    let closed = |name: &&Arc<str>| !open.iter().any(|role| role.capabilities.contains(*name));
    let closed: Vec<&Arc<str>> = capabilities.iter().filter(closed).collect();
    strict.into_iter().filter(|role| closed.iter().any(|name| role.capabilities.contains(*name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::shipped;

    fn stored(slug: &str, capabilities: &[&str]) -> StoredRoles {
        let capabilities = capabilities.iter().map(|name| (*name).to_owned()).collect();
        [(slug.to_owned(), StoredRole { name: "Stored".into(), capabilities })].into()
    }

    #[test]
    fn what_is_stored_applies_where_it_may() {
        for (set, slug, capabilities, expected, left_out) in [
            ("site.demo=false", "editor", &["read"][..], Some("changed: read"), 0),
            ("site.demo=false", "proof", &["read", "edit_posts"], Some("stored: read edit_posts"), 0),
            ("site.demo=false", "proof", &["read", "gone", "*"], Some("stored: read"), 2),
            ("roles.subscriber.locked=true", "subscriber", &["read", "edit_posts"], Some("declared: read"), 1),
            ("roles.subscriber.capabilities=[\"read\"]", "subscriber", &["edit_posts"], Some("declared: read"), 1),
        ] {
            let roles = Roles::of(&shipped(&[set]), &stored(slug, capabilities));
            let shown = roles.get(slug).map(|role| {
                let names: Vec<&str> = role.capabilities.iter().map(|name| &**name).collect();
                format!("{}: {}", role.origin.name(), names.join(" "))
            });
            assert_eq!((shown.as_deref(), roles.left_out.len()), (expected, left_out), "{set} {slug}");
        }
    }

    #[test]
    fn a_required_role_keeps_what_is_declared() {
        let registry = shipped(&["capabilities.post.create=create_books"]);
        let roles = Roles::of(&registry, &stored("administrator", &["create_books"]));
        let all = roles.capabilities(&["administrator".into()]);
        assert!(all.contains("create_books") && all.contains("manage_options"));
    }

    #[test]
    fn a_copy_of_a_role_is_as_strict() {
        let registry = shipped(&[
            "login.providers.id.issuer=https://id.example.org",
            "login.providers.id.client=site",
            "roles.administrator.second_factor=required",
            "roles.administrator.password_login=false",
        ]);
        for (slug, capabilities, needs) in [
            ("proof", &["read", "edit_posts"][..], false),
            ("proof", &["read", "manage_options"], true),
            ("editor", &["read", "promote_users"], true),
            ("editor", &["read"], false),
            ("administrator", &["read"], true),
        ] {
            let roles = Roles::of(&registry, &stored(slug, capabilities));
            let role = roles.get(slug).unwrap();
            assert_eq!((role.factor_grace.is_some(), !role.password_login), (needs, needs), "{slug} {capabilities:?}");
        }
    }

    #[test]
    fn equal_roles_have_equal_versions() {
        let registry = shipped(&[]);
        let version = |capabilities: &[&str]| {
            let roles = Roles::of(&registry, &stored("proof", capabilities));
            roles.get("proof").map(EffectiveRole::version)
        };
        assert_eq!(version(&["read"]), version(&["read"]));
        assert_ne!(version(&["read"]), version(&["read", "edit_posts"]));
        assert!(version(&["read"]) > Some(0));
    }
}
