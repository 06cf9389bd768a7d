//! Field groups: whether their fields have places, and whether values could fit them.

use super::super::fields;
use super::Linker;
use cms_declaration::FieldKind;

impl Linker<'_> {
    /// Checks the groups of fields.
    pub(super) fn fields(&mut self) {
        let (declared, groups) = (self.declared, self.field_groups);
        for (name, group) in &declared.field_groups {
            for (path, field) in &group.fields {
                let outer = path.rsplit_once('.').map(|(outer, _)| outer);
                let around = outer.and_then(|outer| group.fields.get(outer)).map(|outer| outer.kind);
                let place = ["field_groups", name, "fields", path];
                if let Some(outer) = outer.filter(|_| !around.is_some_and(FieldKind::holds_fields)) {
                    let message = format!("`{outer}` is no field that could hold `{path}`");
                    let hint =
                        "declare it with the type `group`, `repeater` or `layout`, or write the name without a dot";
                    self.problem(&place, message, Some(hint.into()));
                } else if (field.kind == FieldKind::Layout) != (around == Some(FieldKind::FlexibleContent)) {
                    let message = "layouts are directly inside flexible content, and nothing else is";
                    self.problem(&place, message, None);
                }
            }
        }
        for group in groups {
            let Some(message) = fields::problem(group, self.dialect) else { continue };
            self.problem(&["field_groups", &group.name, "fields"], format!("no value could fit: {message}"), None);
        }
    }
}
