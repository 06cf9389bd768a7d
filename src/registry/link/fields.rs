//! Field groups: whether their fields have places, and whether values could fit them.

use super::super::fields;
use super::Linker;
use cms_declaration::FieldKind;

impl Linker<'_> {
    /// Checks the groups of fields.
    pub(super) fn fields(&mut self) {
        let (declared, groups) = (self.declared, self.field_groups);
        for (name, group) in &declared.field_groups {
            for path in group.fields.keys() {
                let Some((outer, _)) = path.rsplit_once('.') else { continue };
                if group.fields.get(outer).is_none_or(|outer| outer.kind != FieldKind::Group) {
                    let message = format!("`{outer}` is no field of the type `group` that could hold `{path}`");
                    let hint = "declare it, or write the name without a dot";
                    self.problem(&["field_groups", name, "fields", path], message, Some(hint.into()));
                }
            }
        }
        for group in groups {
            let Some(message) = fields::problem(group, self.dialect) else { continue };
            self.problem(&["field_groups", &group.name, "fields"], format!("no value could fit: {message}"), None);
        }
    }
}
