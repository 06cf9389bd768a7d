//! Rate limits by endpoint, and the arguments that leave totals unfiltered.

use super::super::Route;
use super::super::resource::*;
use super::Linker;

impl Linker<'_> {
    /// Tells each endpoint which of the declared limits count it.
    pub(super) fn limits(&mut self, routes: &mut [Route], resources: &[Resource]) {
        let declared = self.declared;
        for (index, (key, limit)) in declared.limits.iter().enumerate() {
            for (i, resource) in limit.resources.iter().enumerate() {
                self.resource_named(&["limits", key, "resources", &i.to_string()], resource);
            }
            let mut methods = Vec::new();
            for (i, method) in limit.methods.iter().enumerate() {
                methods.extend(self.method(&["limits", key, "methods", &i.to_string()], method));
            }
            for route in routes.iter_mut() {
                let named = |resource: Option<usize>| {
                    resource.is_some_and(|r| limit.resources.iter().any(|name| *name == resources[r].name))
                };
                if !limit.resources.is_empty() && !named(route.owner) && !named(route.resource) {
                    continue;
                }
                for endpoint in &mut route.endpoints {
                    // A request that only carries others is counted by these.
                    let counts = |method| methods.contains(method);
                    if !endpoint.envelope && (methods.is_empty() || endpoint.methods.iter().any(counts)) {
                        endpoint.limits.push(index);
                    }
                }
            }
        }
    }

    /// Checks that arguments which leave a total unfiltered are those of the resource's routes.
    pub(super) fn totals(&mut self, routes: &[Route], resources: &[Resource]) {
        for resource in resources {
            let own = routes.iter().filter(|route| route.owner == Some(resource.index));
            let args = own.flat_map(|route| &route.endpoints).flat_map(|endpoint| &endpoint.args.args);
            let names: Vec<&str> = args.map(|arg| arg.name.as_str()).collect();
            for (i, arg) in resource.declared.unfiltered_args.iter().enumerate() {
                let path = ["resources", &resource.name, "unfiltered_args", &i.to_string()];
                self.known(&path, "argument", arg, &names);
            }
        }
    }
}
