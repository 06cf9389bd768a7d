//! Error codes by name: those of the server, and those that the declarations add.

use crate::error::{Code, CodeStatus};
use cms_declaration::Declaration;

/// The error code of this name.
pub fn code_named(declaration: &Declaration, name: &str) -> Option<Code> {
    Code::parse(name).or_else(|| {
        let declared = declaration.codes.get(name)?;
        let fixed = if declared.bare { CodeStatus::Bare } else { CodeStatus::Fixed };
        Some(Code::declared(name, declared.status.map_or(CodeStatus::Denied, fixed), &declared.message))
    })
}

/// The names of all error codes.
pub fn code_names(declaration: &Declaration) -> impl Iterator<Item = &str> + Clone {
    Code::ALL.iter().map(|code| code.as_str()).chain(declaration.codes.keys().map(String::as_str))
}
