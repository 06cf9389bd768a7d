//! Where what is declared was written: names with files and lines.

use super::load::LoadedDeclaration;
use super::tree::{Node, Table};
use std::sync::Arc;

/// Something that is declared, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationPlace {
    /// Such as `resources.posts`; a part with a dot is in quotes.
    pub name: String,
    pub file: Arc<str>,
    /// From 1.
    pub line: usize,
}

impl LoadedDeclaration {
    /// Lists the declared things in order: sections, members of sections that name things, and properties of schemas.
    pub fn places(&self) -> Vec<DeclarationPlace> {
        let mut places = Vec::new();
        for (section, member) in members(Some(&self.root)) {
            let inner = || members(Some(&member.node)).map(|(name, inner)| (name, &inner.node));
            if inner().next().is_none() || inner().any(|(_, node)| node.as_table().is_none()) {
                places.push(self.place_of(&[section]));
                continue;
            }
            for (name, _) in inner() {
                places.push(self.place_of(&[section, name]));
                let resource = self.declaration.resources.get(name).filter(|_| section == "resources");
                places.extend(resource.into_iter().flat_map(|resource| self.properties(name, &resource.schema)));
            }
        }
        places
    }

    fn place_of(&self, path: &[&str]) -> DeclarationPlace {
        let quoted = |part: &&str| if part.contains('.') { format!("\"{part}\"") } else { (*part).to_owned() };
        let (file, line) = self.sources.line(self.root.locate_key(path));
        DeclarationPlace { name: path.iter().map(quoted).collect::<Vec<_>>().join("."), file, line }
    }

    /// The properties of a resource's schema.
    fn properties(&self, resource: &str, schema: &str) -> Vec<DeclarationPlace> {
        let Some(tree) = self.schema_trees.get(schema) else { return Vec::new() };
        let place = |property: &String| {
            let (file, line) = self.sources.line(tree.locate_key(&["properties", property]));
            DeclarationPlace { name: format!("resources.{resource}.properties.{property}"), file, line }
        };
        tree.child("properties").and_then(Node::as_table).into_iter().flat_map(Table::keys).map(place).collect()
    }
}

fn members(node: Option<&Node>) -> impl Iterator<Item = (&str, &super::tree::Member)> {
    node.and_then(Node::as_table).into_iter().flatten().map(|(name, member)| (name.as_str(), member))
}

#[cfg(test)]
mod tests {
    use crate::load::attempt;
    use crate::source::Origin;

    #[test]
    fn declarations_have_files_and_lines() {
        let files = crate::shipped::FILES.iter().copied();
        let own = [
            ("site.toml", "[site]\ndemo = false\n\n[resources.notes]\nextends = \"plain\"\nschema = \"note.json\"\n"),
            (
                "note.json",
                "{\"type\": \"object\", \"properties\": {\n\"id\": {\"type\": \"integer\"},\n\"a.b\": {\"type\": \"string\"}}}",
            ),
        ];
        let files: Vec<(&str, &str)> = files.chain(own).collect();
        let loaded = attempt(Origin::Texts { label: "", files: &files }, &[], []).outcome.expect("sound");
        let places = loaded.places();
        let at = |name: &str| {
            let found = places.iter().find(|place| place.name == name);
            found.map(|place| (&*place.file, place.line))
        };
        assert_eq!(at("resources.notes"), Some(("site.toml", 4)));
        assert_eq!(at("resources.notes.properties.id"), Some(("note.json", 2)));
        assert!(at("roles.editor").is_some_and(|(file, line)| file == "schemas/core/11-roles.toml" && line > 10));
        assert!(at("server").is_some() && at("server.listen").is_none());
        assert_eq!(
            at("abilities.\"core/get-site-info\"").or(at("abilities.core/get-site-info")).map(|at| at.0),
            Some("schemas/abilities.toml")
        );
    }
}
