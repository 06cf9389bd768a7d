//! Versioning.

use crate::shared::{every_route, options, site};
use serde_json::Value;

fn namespaces() -> Vec<String> {
    let root = site().get("/");
    root.body["namespaces"].as_array().expect("a list").iter().map(|n| n.as_str().expect("a name").to_owned()).collect()
}

/// 1: a namespace is `vendor/version`, and the version is part of the route.
#[test]
fn a_namespace_is_vendor_and_version() {
    let site = site();
    for namespace in namespaces() {
        let (vendor, version) = namespace.split_once('/').expect("two parts");
        assert!(!vendor.is_empty() && version.chars().any(|c| c.is_ascii_digit()), "{namespace}");
        let described = site.get(&format!("/{namespace}"));
        assert_eq!(described.status, 200);
        assert_eq!(described.body["namespace"], namespace.as_str());
        for route in described.body["routes"].as_object().expect("routes").keys() {
            assert!(route.starts_with(&format!("/{namespace}")), "{route}");
        }
    }
}

/// 2: the list is in the root's `namespaces`; each route's own namespace is on it.
#[test]
fn the_root_lists_the_namespaces() {
    let site = site();
    let listed = namespaces();
    for (route, described) in site.get("/").body["routes"].as_object().expect("routes") {
        let namespace = described["namespace"].as_str().expect("a name");
        assert!(namespace.is_empty() || listed.iter().any(|n| n == namespace), "{route}: {namespace}");
    }
}

/// 3: `cms/v2` is the core's, `oembed/1.0` exists.
#[test]
fn the_core_and_oembed_are_there() {
    let listed = namespaces();
    assert!(listed.iter().any(|n| n == "cms/v2"), "{listed:?}");
    assert!(listed.iter().any(|n| n == "oembed/1.0"), "{listed:?}");
}

/// 4: resource schemas are JSON Schema draft 4.
#[test]
fn schemas_are_draft_4() {
    let site = site();
    for route in every_route(&site) {
        let schema = options(&site, &route)["schema"].take();
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-04/schema#", "{route}");
        // The document takes draft 3's `required: true` of a property too, which draft 4's own schema does not know.
        let plain = without_flags(&schema);
        assert!(
            jsonschema::draft4::meta::is_valid(&plain),
            "{route}: {:?}",
            jsonschema::draft4::meta::validate(&plain)
        );
    }
}

fn without_flags(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => map
            .iter()
            .filter(|(name, value)| !(name.as_str() == "required" && value.is_boolean()))
            .map(|(name, value)| (name.clone(), without_flags(value)))
            .collect(),
        Value::Array(list) => list.iter().map(without_flags).collect(),
        other => other.clone(),
    }
}

/// 5: search, themes, blocks, validation by schema and application passwords are all there.
#[test]
fn what_the_releases_brought_is_there() {
    let site = site();
    for route in ["/cms/v2/search", "/cms/v2/themes", "/cms/v2/blocks", "/cms/v2/users/1/application-passwords"] {
        assert_eq!(site.admin("OPTIONS", route, None).status, 200, "{route}");
    }
}

/// 6: routes without a namespace are possible.
#[test]
fn a_route_may_have_no_namespace() {
    let site = site();
    let root = site.get("/");
    assert_eq!(root.body["routes"]["/batch/v1"]["namespace"], "");
    assert_eq!(options(&site, "/batch/v1")["namespace"], "");
}
