//! HTML written piece by piece: text is escaped where it is written.
//!
//! Owns the one way in which rendering makes markup. Tags come from literals in the program, values and texts go
//! through a method that escapes them, so that a value cannot end the attribute or element around it. It must not know
//! what the markup means.

use super::html_policy::{Policy, sanitise};
use super::phrase::pieces;
use super::sanitize::{esc_html, push_esc_html};
use std::fmt::{Display, Write as _};

/// A stretch of HTML under construction.
///
/// `html.raw("<a").attr("href", address).raw(">").text(name).raw("</a>")`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Nothing yet.
    pub fn new() -> Html {
        Html::default()
    }

    /// HTML that is safe already: what the sanitiser let through when it was written, or a rendered property of a
    /// document. The only way around the escaping; `tests/tidy.rs` counts who takes it.
    pub fn rendered(html: impl Into<String>) -> Html {
        Html(html.into())
    }

    /// A foreign text with the markup that a policy allows.
    pub fn sanitised(text: &str, policy: &Policy) -> Html {
        Html(sanitise(text, policy))
    }

    /// Markup of the program itself. A literal: nothing that a client sent can be in it.
    pub fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Text between tags. Entities in it stay what they are.
    pub fn text(&mut self, text: &str) -> &mut Html {
        push_esc_html(&mut self.0, text);
        self
    }

    /// Text between tags with every special character escaped: entities in the text become text.
    pub fn text_as_it_is(&mut self, text: &str) -> &mut Html {
        self.push_escaped(text);
        self
    }

    /// JSON inside a script element. Signs that could end the element are written as escapes.
    pub fn json(&mut self, value: &serde_json::Value) -> &mut Html {
        for c in value.to_string().chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(self.0, "\\u{:04x}", u32::from(c));
                }
                other => self.0.push(other),
            }
        }
        self
    }

    /// ` name="value"`.
    pub fn attr(&mut self, name: &'static str, value: &str) -> &mut Html {
        self.quoted(name, value, '"')
    }

    /// Several attributes, those that have a value.
    pub fn attrs(&mut self, all: &[(&'static str, String)]) -> &mut Html {
        for (name, value) in all {
            self.attr_if(name, value);
        }
        self
    }

    /// ` name="value"` with every special character escaped: entities in the value become text.
    pub fn attr_text(&mut self, name: &'static str, value: &str) -> &mut Html {
        self.raw(" ").raw(name).raw("=\"");
        self.push_escaped(value);
        self.raw("\"")
    }

    fn push_escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&apos;"),
                other => self.0.push(other),
            }
        }
    }

    /// ` name="value"` where there is a value.
    pub fn attr_if(&mut self, name: &'static str, value: &str) -> &mut Html {
        if value.is_empty() { self } else { self.attr(name, value) }
    }

    /// ` name="address"`, with ampersands as the reference writes them in the addresses that it makes.
    pub fn address(&mut self, name: &'static str, address: &str) -> &mut Html {
        self.raw(" ").raw(name).raw("=\"");
        self.0.push_str(&esc_address(address));
        self.raw("\"")
    }

    /// ` name='address'`, where clients have always been sent single quotes.
    pub fn address_in_single_quotes(&mut self, name: &'static str, address: &str) -> &mut Html {
        self.raw(" ").raw(name).raw("='");
        self.0.push_str(&esc_address(address));
        self.raw("'")
    }

    /// An address as text, spelled as [`Html::address`] spells it.
    pub fn address_text(&mut self, address: &str) -> &mut Html {
        self.0.push_str(&esc_address(address));
        self
    }

    /// ` name='value'`, where clients have always been sent single quotes.
    pub fn attr_in_single_quotes(&mut self, name: &'static str, value: &str) -> &mut Html {
        self.quoted(name, value, '\'')
    }

    /// Text with HTML in its places, such as `{title}`.
    pub fn phrase(&mut self, text: &str, values: &[(&str, &Html)]) -> &mut Html {
        for (before, name) in pieces(text) {
            self.text(before);
            if let Some((_, value)) = values.iter().find(|(known, _)| Some(*known) == name) {
                self.html(value);
            }
        }
        self
    }

    /// A number, between tags or within a value that [`Html::raw`] opened.
    pub fn number(&mut self, number: impl Number) -> &mut Html {
        let _ = write!(self.0, "{number}");
        self
    }

    /// Other HTML.
    pub fn html(&mut self, html: &Html) -> &mut Html {
        self.0.push_str(&html.0);
        self
    }

    /// The HTML so far.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn quoted(&mut self, name: &'static str, value: &str, quote: char) -> &mut Html {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push('=');
        self.0.push(quote);
        push_esc_html(&mut self.0, value);
        self.0.push(quote);
        self
    }
}

fn esc_address(address: &str) -> String {
    esc_html(address).replace("&amp;", "&#038;")
}

impl AsRef<str> for Html {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<Html> for String {
    fn from(html: Html) -> String {
        html.0
    }
}

impl Display for Html {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A type that [`Html::number`] takes: no text is one.
pub trait Number: Display {}

impl Number for u32 {}
impl Number for u64 {}
impl Number for i64 {}
impl Number for usize {}
impl Number for f64 {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_leave_their_place() {
        let hostile = "\"'><script>alert(1)</script>&amp; & \u{0}";
        let mut html = Html::new();
        html.raw("<a")
            .attr("title", hostile)
            .attr_in_single_quotes("class", hostile)
            .raw(">")
            .text(hostile)
            .raw("</a>");
        let escaped = "&quot;&#039;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp; &amp; \u{0}";
        assert_eq!(html.as_str(), format!("<a title=\"{escaped}\" class='{escaped}'>{escaped}</a>"));
    }

    #[test]
    fn json_cannot_end_the_script_around_it() {
        let mut html = Html::new();
        html.json(&serde_json::json!({"a": "</script><!-- & \u{2028}"})).text_as_it_is("<&lt;>");
        let escaped = "{\"a\":\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\"}&lt;&amp;lt;&gt;";
        assert_eq!(html.as_str(), escaped);
    }

    #[test]
    fn what_is_empty_has_no_attribute() {
        let mut html = Html::new();
        html.raw("<a").attr_if("rel", "").attr_if("target", "_blank").raw(">").number(-5_i64).number(1.5);
        assert_eq!(html.as_str(), "<a target=\"_blank\">-51.5");
    }
}
