//! Texts of messages: templates of plain text whose first line is the subject.

use minijinja::{AutoEscape, Environment};
use serde_json::Value;
use std::sync::LazyLock;

/// Longest value in a message, in characters.
const LONGEST: usize = 2000;

/// By kind, in the order of their names.
const TEMPLATES: [(&str, &str); 9] = [
    ("application_password", include_str!("templates/application_password.txt")),
    ("confirmation", include_str!("templates/confirmation.txt")),
    ("email", include_str!("templates/email.txt")),
    ("form", include_str!("templates/form.txt")),
    ("invitation", include_str!("templates/invitation.txt")),
    ("password", include_str!("templates/password.txt")),
    ("reset", include_str!("templates/reset.txt")),
    ("second_factor", include_str!("templates/second_factor.txt")),
    ("test", include_str!("templates/test.txt")),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // A value is part of one line: it forges neither a header nor a sentence of the message.
    environment.set_formatter(|out, _, value| {
        let text = if value.is_undefined() || value.is_none() { String::new() } else { value.to_string() };
        Ok(out.write_str(&one_line(&text))?)
    });
    for (kind, text) in TEMPLATES {
        environment.add_template(kind, text).expect("the shipped templates are sound; a test renders each");
    }
    environment
});

/// A message without its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailContent {
    pub subject: String,
    pub body: String,
}

/// The letter of a kind with these values.
///
/// # Errors
/// There is no template for it; for the log.
pub fn render(kind: &str, data: Value) -> Result<MailContent, String> {
    let template = ENVIRONMENT.get_template(kind).map_err(|error| error.to_string())?;
    let text =
        template.render(minijinja::Value::from(minijinja::value::Serde(data))).map_err(|error| error.to_string())?;
    let (subject, body) = text.split_once('\n').unwrap_or((&text, ""));
    Ok(MailContent { subject: subject.trim().to_owned(), body: format!("{}\n", body.trim()) })
}

/// A text without characters that begin a line, end one or change its direction.
fn one_line(text: &str) -> String {
    let space = |c: char| match c {
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().take(LONGEST).map(space).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_template_is_a_subject_and_a_text() {
        for (kind, _) in TEMPLATES {
            let data = json!({"site": "The \"Site\" & more", "url": "https://a.example", "login": "ada", "link": "https://a.example/?token=T",
                "lifetime": "1 hour", "by": "admin", "ip": "192.0.2.1", "when": "2026-01-31 09:05", "name": "phone", "change": "added: phone", "new": "new@a.example", "lost": "https://a.example/lost"});
            let letter = render(kind, data).expect(kind);
            assert!(letter.subject.contains("The \"Site\" & more"), "{kind}: {}", letter.subject);
            assert!(
                letter.body.len() > 40 && !letter.body.contains("{{") && !letter.body.contains("\n\n\n"),
                "{}",
                letter.body
            );
            assert!(letter.body.lines().all(|line| line.len() < 990), "{kind}");
        }
        assert!(render("other", json!({})).is_err());
    }

    #[test]
    fn a_value_is_part_of_one_line() {
        assert_eq!(one_line("a\r\nb\u{2028}c\u{202e}d\0e\tf"), "a  b c d e f");
        let letter = render("test", json!({"site": "x\nBcc: y"})).expect("a template");
        assert!(letter.subject.contains("x Bcc: y"), "{}", letter.subject);
    }
}
