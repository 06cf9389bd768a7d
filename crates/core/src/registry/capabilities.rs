//! Capabilities as the declarations name them: what actions, endpoints and links ask for, and which roles give it.

use super::{Registry, Route};
use crate::registry::guarded::GuardedField;
use crate::registry::resource::Resource;
use crate::registry::roles::EffectiveRole;
use cms_config::check::nearest;
use cms_declaration::{CapabilityMap, Declaration};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// In the list of a role it stands for every capability that the declarations name.
pub const ALL: &str = "*";

/// The capability that nobody has, on purpose.
pub const NOBODY: &str = "do_not_allow";

/// Every capability that the declarations name.
pub fn named(
    roles: &IndexMap<String, EffectiveRole>,
    declared: &Declaration,
    resources: &[Resource],
    routes: &[Route],
) -> BTreeSet<Arc<str>> {
    let mut named: BTreeSet<Arc<str>> = declared
        .capabilities
        .values()
        .flat_map(|CapabilityMap(needed)| needed.values())
        .map(|name| Arc::from(name.as_str()))
        .collect();
    named.extend(asked_for(resources, routes).map(|(name, _)| Arc::from(name)));
    named.extend(roles.values().flat_map(|role| role.capabilities.iter().cloned()));
    named.retain(|name| ![ALL, NOBODY, ""].contains(&&**name));
    named
}

/// Gives roles with [`ALL`] every capability that the declarations name.
pub fn expand_roles(
    mut roles: IndexMap<String, EffectiveRole>,
    named: &BTreeSet<Arc<str>>,
) -> IndexMap<String, EffectiveRole> {
    for role in roles.values_mut().filter(|role| role.capabilities.iter().any(|name| **name == *ALL)) {
        role.capabilities = named.iter().cloned().collect();
    }
    roles
}

/// The capabilities that resources, endpoints and links ask for, with the place that says so.
fn asked_for<'r>(resources: &'r [Resource], routes: &'r [Route]) -> impl Iterator<Item = (&'r str, String)> {
    let acts = resources.iter().flat_map(|resource| {
        let map = resource.declared.capabilities.as_deref().unwrap_or_default();
        let acts = resource.capabilities.iter();
        acts.map(move |(act, name)| (name.as_str(), format!("capabilities.{map}.{act}")))
    });
    let guards = routes.iter().flat_map(|route| {
        let guarded = route.endpoints.iter().filter(|endpoint| !endpoint.guard_param.is_empty());
        guarded.map(|endpoint| {
            (endpoint.guard_param.as_str(), format!("access = \"can:{}\" of {}", endpoint.guard_param, route.pattern))
        })
    });
    let links = resources.iter().flat_map(|resource| {
        let named = resource.links.iter().filter_map(|link| link.when.can.as_deref());
        named.map(|name| (name, format!("the links of resources.{}", resource.name)))
    });
    let fields = resources.iter().flat_map(|resource| {
        let needed = |field: &'r GuardedField| {
            [("reading", &field.rights.read), ("writing", &field.rights.write)].map(|(what, name)| (what, name, field))
        };
        let needed = resource.guarded.iter().flat_map(needed);
        needed.map(|(what, name, field)| {
            (name.as_str(), format!("{what} `{}` of resources.{}", field.name(), resource.name))
        })
    });
    acts.chain(guards).chain(links).chain(fields)
}

impl Registry {
    /// The capabilities that something asks for, each with the places that ask.
    pub fn capability_uses(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (name, place) in asked_for(&self.resources, &self.routes) {
            uses.entry(name).or_default().insert(place);
        }
        uses
    }

    /// Capabilities that something asks for and no role gives, each with the first place that asks: everybody is refused
    /// there, administrators too.
    pub fn unassigned_capabilities(&self) -> Vec<(String, String)> {
        let held =
            |name: &str| self.declared_roles.values().any(|role| role.capabilities.iter().any(|own| **own == *name));
        let mut found: Vec<(String, String)> = asked_for(&self.resources, &self.routes)
            .filter(|(name, _)| !name.is_empty() && *name != NOBODY && !held(name))
            .map(|(name, place)| (name.to_owned(), place))
            .collect();
        found.sort();
        found.dedup_by(|a, b| a.0 == b.0);
        found
    }

    /// Capabilities that a role gives and nothing asks for, but those that `known` accepts, which takes the role and the place in
    /// its list: each with the role, and the nearest one that something asks for.
    pub fn unused_capabilities(&self, known: impl Fn(&str, usize) -> bool) -> Vec<(String, String, Option<String>)> {
        let asked: BTreeSet<&str> = asked_for(&self.resources, &self.routes).map(|(name, _)| name).collect();
        let mut found = Vec::new();
        for (role, declared) in &self.declaration.roles {
            let idle =
                |(at, name): &(usize, &String)| **name != *ALL && !asked.contains(name.as_str()) && !known(role, *at);
            found.extend(declared.capabilities.iter().enumerate().filter(idle).map(|(_, name)| {
                let near = nearest(name, asked.iter().copied()).map(str::to_owned);
                (name.clone(), role.clone(), near)
            }));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::shipped;

    #[test]
    fn roles_give_every_shipped_capability() {
        for prefix in ["site.prefix=cms", "site.prefix=wp"] {
            assert_eq!(shipped(&[prefix]).unassigned_capabilities(), Vec::new(), "{prefix}");
        }
    }

    #[test]
    fn what_no_role_gives_is_found() {
        let found = shipped(&["capabilities.post.create=create_books"]).unassigned_capabilities();
        assert_eq!(found, [("create_books".to_owned(), "capabilities.post.create".to_owned())]);
    }

    #[test]
    fn a_star_gives_everything_that_is_named() {
        let sets = ["capabilities.post.create=create_books", "roles.administrator.capabilities=[\"*\"]"];
        let registry = shipped(&sets);
        assert_eq!(registry.unassigned_capabilities(), Vec::new());
        let has = |name: &str| registry.declared_roles["administrator"].capabilities.contains(name);
        assert!(has("create_books") && has("edit_others_posts") && has("manage_options") && has("read"));
        assert!(!has("*") && !has("do_not_allow"));
    }
}
