//! The declared types and styles of blocks, by block.

use super::super::entries;
use super::super::resource::Resource;
use super::Linker;
use cms_config::check::suggestion;
use cms_config::schema_files::EntryFile;
use cms_declaration::{BlockSupports, Declaration, ExcerptPart, StyleGroup};
use cms_text::block_css::FluidWidths;
use cms_text::block_source::BlockType;
use cms_text::block_styles::{BlockClass, BlockStyle, BlockStyles, Excerpt, WrapperStyles};
use cms_text::layout::{BlockLayout, LayoutRules};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

impl Linker<'_> {
    /// Checks the types of blocks that the declaration names (`block_types`); those that are shipped are sound.
    pub(super) fn block_types(&mut self, resources: &[Resource]) {
        let Some(wanted) = &self.declared.block_types else { return };
        let Some(at) = self.resource_named(&["block_types"], wanted) else { return };
        let shipped = ["block_types", "block_attributes"].iter().all(|table| self.loaded.is_untouched(&[table]));
        if shipped && self.has_shipped_entries(&resources[at]) {
            return;
        }
        let entries = entries::declared(self.declared, &self.loaded.entries, &resources[at]);
        let (types, problems) = block_types(self.declared, &entries);
        for AttributeProblem { entry, name, attribute, why } in problems {
            let place = ["resources", wanted, "options", "entries", &entry.to_string(), "attributes", &attribute];
            self.problem(&place, format!("the attribute `{attribute}` of `{name}`: {why}"), None);
        }
        for name in self.declared.block_attributes.keys().filter(|name| *name != "*") {
            if !types.contains_key(name) {
                let message = format!("there is no type of blocks `{name}`");
                let hint = suggestion(name, types.keys().map(String::as_str));
                self.problem(&["block_attributes", name], message, hint);
            }
        }
    }

    /// Whether a resource has the entries of the shipped file that it is shipped with, and no others.
    fn has_shipped_entries(&self, resource: &Resource) -> bool {
        let file = resource.declared.entries_file.as_ref().and_then(|file| self.loaded.entries.get(file));
        matches!(file, Some(EntryFile::Shipped(_)))
            && self.loaded.is_verbatim(&["resources", &resource.name, "entries_file"])
            && self.declared.resources[&resource.name].options.entries.is_empty()
    }
}

/// An attribute of a type of blocks that cannot be read.
pub(in super::super) struct AttributeProblem {
    /// The place of the type among the entries.
    entry: usize,
    name: String,
    attribute: String,
    why: String,
}

/// The types of blocks with their attributes, and the attributes that cannot be read. `entries`: the types as declared.
pub(in super::super) fn block_types(
    declared: &Declaration,
    entries: &[Value],
) -> (HashMap<String, BlockType>, Vec<AttributeProblem>) {
    let (mut types, mut problems) = (HashMap::new(), Vec::new());
    for (at, entry) in entries.iter().enumerate() {
        let Some(name) = entry["name"].as_str() else { continue };
        match BlockType::compile(&block_attributes(declared, name, entry["attributes"].as_object())) {
            Ok(compiled) => drop(types.insert(name.to_owned(), compiled)),
            Err((attribute, why)) => {
                problems.push(AttributeProblem { entry: at, name: name.to_owned(), attribute, why });
            }
        }
    }
    (types, problems)
}

/// The attributes of a type with the changes that are declared.
fn block_attributes(declared: &Declaration, name: &str, own: Option<&Map<String, Value>>) -> Map<String, Value> {
    let mut all = own.cloned().unwrap_or_default();
    for (of, changes) in &declared.block_attributes {
        for (attribute, change) in changes {
            if of != name && (of != "*" || !all.contains_key(attribute)) {
                continue;
            }
            if let Some(doc) = all.entry(attribute.clone()).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
            {
                doc.extend(change.clone());
            }
        }
    }
    all
}

/// `block_classes`, `block_supports` and `block_styles` in one.
pub(super) fn block_styles(declared: &Declaration) -> BlockStyles {
    let (classes, supports, styles) = (&declared.block_classes, &declared.block_supports, &declared.block_styles);
    let text = |text: Option<&String>| text.map(|text| Value::from(text.as_str()));
    let style = |name: &String| {
        let can = supports.get(name).map_or_else(BlockSupports::default, BlockSupports::clone);
        let class = classes.get(name).map(|class| BlockClass {
            class: class.class.clone(),
            elements: class.elements.clone(),
            last: class.last,
        });
        BlockStyle {
            class,
            layout: can
                .layout
                .map(|default| BlockLayout { default: Value::Object(default), gap: text(styles.gaps.get(name)) }),
            variations: styles.variations.get(name).cloned().unwrap_or_default(),
            numbered: can.numbered_class,
            aspect_ratio: can.aspect_ratio,
            position: can.position,
            visibility: can.visibility,
            css: can.css,
            element_colors: can.element_colors,
            width: can.width,
            filled: can.filled,
            sourced: can.sourced,
            opened_by: can.opened_by,
            data_id: can.data_id,
            numbers_pictures: can.numbers_pictures,
            paragraphs: can.paragraphs,
            inside: can.inside,
            duotone: can.duotone,
            styled: WrapperStyles {
                colors: !can.unstyled.contains(&StyleGroup::Colors),
                typography: !can.unstyled.contains(&StyleGroup::Typography),
                border: !can.unstyled.contains(&StyleGroup::Border),
                spacing: !can.unstyled.contains(&StyleGroup::Spacing),
            },
            excerpt: can.excerpt.map(|part| match part {
                ExcerptPart::Text => Excerpt::Text,
                ExcerptPart::Inside => Excerpt::Inside,
            }),
        }
    };
    let names: HashSet<&String> = classes.keys().chain(supports.keys()).chain(styles.variations.keys()).collect();
    let blocks: HashMap<String, BlockStyle> = names.into_iter().map(|name| (name.clone(), style(name))).collect();
    let gap = text(styles.gap.as_ref()).unwrap_or(Value::Null);
    let fluid = styles.fluid.filter(|fluid| fluid.widest > fluid.narrowest);
    let fluid = fluid.map(|fluid| FluidWidths { narrowest: fluid.narrowest.into(), widest: fluid.widest.into() });
    BlockStyles {
        blocks,
        layouts: LayoutRules { gap, root_padding: styles.root_padding },
        fluid,
        duotones: styles.duotones.clone(),
    }
}
