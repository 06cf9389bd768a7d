//! Messages by e-mail to whoever a form names. What was sent is stored anyway; addresses come from the form alone, so that nobody
//! makes the site write to others.

use super::form::Form;
use super::submission::Submission;
use crate::access::outbox::{self, Message, MessageSubject};
use crate::error::ApiError;
use crate::scope::Scope;
use cms_storage::plan::Change;
use cms_text::sanitize::is_email;
use serde_json::{Map, Value, json};

/// Recipients of one form.
const MOST_RECIPIENTS: usize = 5;

/// Lines of a text.
const MOST_LINES: usize = 500;

/// The changes that put the notices of a message into the outbox; none where the form asks for none, e-mail is off or too
/// much waits.
pub fn of(
    scope: &Scope,
    form: &Form<'_>,
    submission: &Submission<'_>,
    values: &Map<String, Value>,
) -> Result<Vec<Change>, ApiError> {
    let declared = &scope.registry.declaration.mail;
    let inactive = form.mail.get("active") == Some(&Value::Bool(false));
    if inactive || form.is_on("skip_mail") || declared.url.get().is_none() {
        return Ok(Vec::new());
    }
    if outbox::waiting(&*scope.snapshot()?, Some(MessageSubject::Form))? >= declared.queue {
        tracing::warn!(request = %scope.request_id, "a form's message is stored, but no notice of it: mail.queue is full");
        return Ok(Vec::new());
    }
    let text = |member: &str| form.mail.get(member).and_then(Value::as_str).unwrap_or_default();
    let (subject, body) = (submission.filled(text("subject")), submission.filled(text("body")));
    let lines: Vec<String> = match body.trim() {
        "" => values.iter().map(|(field, value)| format!("{field}: {}", plain(value))).collect(),
        body => body.lines().map(str::to_owned).collect(),
    };
    let lines: Vec<&String> = lines.iter().take(MOST_LINES).collect();
    let subject = if subject.trim().is_empty() { form.title.to_owned() } else { subject };
    let to_each = recipients(text("recipient")).take(MOST_RECIPIENTS).map(|address| {
        let data = json!({"subject": subject, "lines": lines, "form": form.title, "at": scope.now});
        let message = Message { subject: MessageSubject::Form, user: 0, address, data };
        outbox::stored(&message, scope.now, scope.now)
    });
    Ok(to_each.collect())
}

/// A value as a line.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

/// The addresses of `Desk <desk@example.org>, other@example.org`.
fn recipients(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(bare_address).filter(|address| is_email(address))
}

/// The address of `Desk <desk@example.org>`.
fn bare_address(one: &str) -> &str {
    one.rsplit_once('<').map_or(one, |(_, address)| address.trim_end().trim_end_matches('>')).trim()
}

#[cfg(test)]
mod tests {
    use super::recipients;

    #[test]
    fn recipients_are_addresses_alone() {
        let all: Vec<&str> = recipients("Desk <desk@example.org>, b@example.org,[your-email], x").collect();
        assert_eq!(all, ["desk@example.org", "b@example.org"]);
    }
}
