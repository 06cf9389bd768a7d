//! `mcp`: the Model Context Protocol over standard input and output, a message on each line.

use super::{limits, services};
use crate::boot::{BootError, ConfigSource};
use crate::mcp::{Mcp, McpHeaders, McpResponse};
use cms_base::pool::wait;
use cms_core::access::identity;
use cms_core::records::{self, Record, eq, txt};
use cms_core::scope::{CredentialLimits, Principal};
use cms_text::slug::title_key;
use std::io::{BufRead, Read as _, Write};
use std::sync::Arc;

/// See [`super::Command::Mcp`].
pub(super) fn mcp(
    source: &ConfigSource,
    login: &str,
    actions: (bool, bool),
    resources: &[String],
) -> Result<(), BootError> {
    let (registry, services) = services(source)?;
    let limits = limits(&registry, actions, resources)?;
    let registry = Arc::new(registry);
    let engine = services.engine(registry.clone())?;
    let failed = |error: cms_core::error::ApiError| BootError::Other(error.message().to_owned());
    let mut caller = {
        let scope = engine.scope_of(Principal::default()).map_err(failed)?;
        let users = registry.users();
        let users = users.ok_or_else(|| BootError::Other("no resource has users".to_owned()))?;
        let found = records::plan(users, eq("login_key", txt(&title_key(login))));
        let rows = scope.snapshot().and_then(|snapshot| Ok(snapshot.rows(&found)?)).map_err(failed)?;
        let row = rows.first().ok_or_else(|| BootError::Other(format!("there is no user `{login}`")))?;
        identity::principal(&scope.settings, Record { resource: users, row })
    };
    caller.limits = (limits != CredentialLimits::default()).then(|| Arc::new(limits));
    let mcp = Mcp::new(registry.clone());
    let most = registry.declaration.mcp.max_body.bytes();
    let (input, output) = (std::io::stdin(), std::io::stdout());
    let mut input = input.lock();
    while let Some(line) = line(&mut input, most).map_err(|error| BootError::Other(error.to_string()))? {
        // The time and the settings are those of now.
        let scope = engine.scope_of(caller.clone()).map_err(failed)?;
        let body = match wait(mcp.answer(&engine, &scope, &McpHeaders::default(), &line)) {
            McpResponse::Nothing => continue,
            McpResponse::Done(body) | McpResponse::Failed { body, .. } => body,
        };
        let mut output = output.lock();
        // Nobody reads any more.
        if writeln!(output, "{body}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    Ok(())
}

/// The next line that is not empty; `None` at the end. Of a line that is too long the rest is left out, so that it is no
/// message.
fn line(input: &mut impl BufRead, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == most {
            input.skip_until(b'\n')?;
            return Ok(Some(b"{".to_vec()));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_an_end() {
        let mut input = &b"{}\n\n  \n[1,2,3,4,5]\n{\"a\":1}\nrest"[..];
        let mut lines = Vec::new();
        while let Some(line) = line(&mut input, 9).expect("is readable") {
            lines.push(String::from_utf8(line).expect("is text").trim().to_owned());
        }
        assert_eq!(lines, ["{}", "{", "{\"a\":1}", "rest"]);
    }
}
