//! Error codes by name: those of the server, and those that the declarations add.

use crate::config::declaration::{Declaration, ErrorCode};
use crate::error::{Code, Status};

impl Declaration {
    /// The error code of this name.
    pub fn code(&self, name: &str) -> Option<Code> {
        Code::parse(name).or_else(|| self.codes.get(name).map(|declared| code(name, declared)))
    }

    /// The names of all error codes.
    pub fn code_names(&self) -> impl Iterator<Item = &str> + Clone {
        Code::ALL.iter().map(|code| code.as_str()).chain(self.codes.keys().map(String::as_str))
    }
}

fn code(name: &str, declared: &ErrorCode) -> Code {
    let fixed = if declared.bare { Status::Bare } else { Status::Fixed };
    Code::declared(name, declared.status.map_or(Status::Denied, fixed), &declared.message)
}
