//! Requests to receivers: the declared form filled with events, and the signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cms_core::model::{WEBHOOK_DEPTH, WEBHOOK_HEADERS};
use cms_core::outbound::OutgoingRequest;
use cms_core::registry::link::parts::webhook_secret;
use cms_declaration::WebhookFormat;
use hmac::{Hmac, Mac};
use indexmap::IndexSet;
use serde_json::{Map, Value, json};
use sha2::Sha256;
use std::sync::Arc;

/// Events that are told at once.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookMessage {
    /// The same in every attempt.
    pub id: String,
    /// Events in their order, at least one.
    pub events: Vec<Arc<Value>>,
}

impl WebhookMessage {
    /// The newest event.
    fn newest(&self) -> &Value {
        self.events.last().map_or(&Value::Null, |event| event)
    }

    /// The number of the newest event.
    pub fn seq(&self) -> i64 {
        self.newest()["id"].as_i64().unwrap_or(0)
    }

    /// The type of the newest event.
    pub fn kind(&self) -> &str {
        self.newest()["type"].as_str().unwrap_or_default()
    }

    /// How many webhooks, one after the other, led to it, with itself.
    pub fn depth(&self) -> i64 {
        self.events.iter().filter_map(|event| event["depth"].as_i64()).max().unwrap_or(1)
    }

    /// The body in a form, with the secret.
    fn body(&self, format: &WebhookFormat, secret: &str) -> String {
        if let ([event], Some(Value::String(form))) = (&*self.events, &format.body)
            && form == "{event}"
        {
            return event.to_string();
        }
        let filling = FormValues { message: self, format, secret };
        format.body.as_ref().map(|body| filling.value(body).to_string()).unwrap_or_default()
    }

    /// The request in a form, at a moment (UTC seconds), with the secrets that are valid.
    pub fn request(&self, format: &WebhookFormat, secrets: &[&str], now: i64) -> OutgoingRequest {
        let secret = secrets.first().copied().unwrap_or_default();
        let (filling, body) = (FormValues { message: self, format, secret }, self.body(format, secret));
        let mut headers = Vec::new();
        if format.body.is_some() {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        headers.extend(format.headers.iter().map(|(name, value)| (name.clone(), header(&filling.text(value)))));
        headers.push((WEBHOOK_DEPTH.into(), self.depth().to_string()));
        if format.signed {
            let values = [self.id.clone(), now.to_string(), signatures(secrets, &self.id, now, &body)];
            headers.extend(WEBHOOK_HEADERS.map(str::to_owned).into_iter().zip(values));
        }
        let method = if format.method.is_empty() { "POST".to_owned() } else { format.method.clone() };
        OutgoingRequest { method, headers, body: body.into_bytes() }
    }
}

/// The names that texts of a form may have.
const NAMES: [&str; 11] =
    ["depth", "type", "resource", "kind", "record", "slug", "link", "keys", "addresses", "all", "secret"];

/// Whether all requests of a form are the same, whatever happened: none of its texts names something of an event.
pub fn tells_nothing(format: &WebhookFormat) -> bool {
    let told = NAMES.iter().filter(|name| !["depth", "secret"].contains(name)).map(|name| format!("{{{name}}}"));
    format.body.is_none() && !told.into_iter().any(|name| format.headers.values().any(|text| text.contains(&name)))
}

struct FormValues<'a> {
    message: &'a WebhookMessage,
    format: &'a WebhookFormat,
    secret: &'a str,
}

impl FormValues<'_> {
    fn value(&self, form: &Value) -> Value {
        match form {
            Value::String(text) => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
                Some("event") => self.event(),
                Some(name) if NAMES.contains(&name) => self.named(name),
                _ => Value::String(self.text(text)),
            },
            Value::Array(list) => Value::Array(list.iter().map(|form| self.value(form)).collect()),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, form)| (name.clone(), self.value(form))).collect())
            }
            other => other.clone(),
        }
    }

    /// The event, or all of them as one.
    fn event(&self) -> Value {
        let newest = self.message.newest();
        if self.message.events.len() == 1 {
            return newest.clone();
        }
        let events = self.message.events.iter().map(|event| (**event).clone());
        let mut all = Map::new();
        for member in ["version", "id"] {
            all.insert(member.into(), newest[member].clone());
        }
        all.insert("type".into(), json!("several"));
        all.insert("time".into(), newest["time"].clone());
        all.insert("keys".into(), self.named("keys"));
        all.insert("events".into(), events.collect());
        Value::Object(all)
    }

    fn named(&self, name: &str) -> Value {
        let newest = self.message.newest();
        match name {
            "secret" => json!(self.secret),
            "depth" => json!(self.message.depth()),
            "keys" => self.texts(&["/keys"]),
            "addresses" => self.texts(&["/addresses/front", "/addresses/rest"]),
            "all" => json!(self.message.events.iter().any(|event| event["addresses"]["all"] == true)),
            "kind" => {
                let kind = newest["kind"].as_str().unwrap_or_default();
                json!(self.format.kinds.get(kind).map_or(kind, String::as_str))
            }
            "slug" | "link" if newest[name].is_null() => newest[&*format!("previous_{name}")].clone(),
            name => newest[name].clone(),
        }
    }

    /// All texts of lists of the events, each of them once.
    fn texts(&self, lists: &[&str]) -> Value {
        let events = self.message.events.iter();
        let found = events.flat_map(|event| lists.iter().filter_map(|list| event.pointer(list)?.as_array()).flatten());
        found.filter_map(Value::as_str).collect::<IndexSet<_>>().into_iter().collect()
    }

    /// A text with values in the places of names. What a value has of that form stays as it is.
    fn text(&self, form: &str) -> String {
        let (mut text, mut rest) = (String::new(), form);
        while let Some((before, behind)) = rest.split_once('{') {
            text.push_str(before);
            match behind.split_once('}').filter(|(name, _)| NAMES.contains(name)) {
                Some((name, after)) => {
                    text.push_str(&plain(&self.named(name)));
                    rest = after;
                }
                None => {
                    text.push('{');
                    rest = behind;
                }
            }
        }
        text + rest
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// A text as the value of a header.
fn header(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
}

/// A signature for each secret: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in Base64.
fn signatures(secrets: &[&str], id: &str, now: i64, body: &str) -> String {
    let signature = |secret: &&str| {
        let key = webhook_secret(secret)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
        mac.update(format!("{id}.{now}.{body}").as_bytes());
        Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    };
    secrets.iter().filter_map(signature).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(events: &[Value]) -> WebhookMessage {
        WebhookMessage {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek".into(),
            events: events.iter().cloned().map(Arc::new).collect(),
        }
    }

    #[test]
    fn signatures_are_those_of_the_specification() {
        // The example of the specification's libraries.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let signature = signatures(&[secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let both = signatures(&[secret, "another-secret"], "a", 1, "");
        assert_eq!(both.split(' ').filter(|one| one.starts_with("v1,")).count(), 2, "{both}");
    }

    #[test]
    fn forms_are_filled() {
        let event = json!({"id": 7, "type": "gone", "kind": "post_tag", "record": 3, "slug": null, "previous_slug": "{secret}", "keys": ["tags", "tags/3"]});
        let other =
            json!({"id": 6, "type": "updated", "kind": "post", "record": 2, "slug": "a", "keys": ["posts", "tags"]});
        let format = WebhookFormat {
            headers: [("Surrogate-Key".to_owned(), "{keys}".to_owned()), ("X".to_owned(), "a{b}\r\n{slug}".to_owned())]
                .into(),
            body: Some(json!({"a": "{kind}", "b": ["{record}", "{record}!", "{unknown}"], "c": 1, "d": "{link}"})),
            kinds: [("post_tag".to_owned(), "tag".to_owned())].into(),
            ..WebhookFormat::default()
        };
        let request = message(&[other.clone(), event.clone()]).request(&format, &["s3cret"], 1);
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!(body, json!({"a": "tag", "b": [3, "3!", "{unknown}"], "c": 1, "d": null}));
        let headers: Vec<&str> = request.headers.iter().skip(1).map(|(_, value)| value.as_str()).collect();
        assert_eq!(headers, ["posts tags tags/3", "a{b}??{secret}", "1"]);
        let whole = WebhookFormat { body: Some(json!("{event}")), ..WebhookFormat::default() };
        let one = message(std::slice::from_ref(&event)).request(&whole, &[], 1);
        assert_eq!(serde_json::from_slice::<Value>(&one.body).expect("JSON"), event);
        let both = message(&[other, event]).request(&whole, &[], 1);
        let both: Value = serde_json::from_slice(&both.body).expect("JSON");
        assert_eq!(
            (&both["type"], &both["id"], both["events"].as_array().map(Vec::len)),
            (&json!("several"), &json!(7), Some(2))
        );
        let build = message(&[json!({})]).request(&WebhookFormat::default(), &[], 1);
        assert_eq!((build.method.as_str(), build.body.len()), ("POST", 0));
        assert_eq!(build.headers, [(WEBHOOK_DEPTH.to_owned(), "1".to_owned())]);
        let deep = message(&[json!({"depth": 2}), json!({"depth": 1})]).request(&WebhookFormat::default(), &[], 1);
        assert_eq!(deep.headers, [(WEBHOOK_DEPTH.to_owned(), "2".to_owned())]);
    }
}
