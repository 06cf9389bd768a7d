//! XML-RPC on the wire: calls read, responses and faults written.
//!
//! Owns the refusals: document types, entities, other encodings, too much, too deep. It knows no method.

use super::value::{CompactTime, Value, elements, members};
use crate::error::XmlRpcFault;
use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use cms_text::base64;
use minijinja::value::ValueKind;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;

/// The most that is read of a call before it is refused.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Values inside one another.
    pub depth: usize,
    /// Values in all.
    pub values: usize,
    /// Values in one list, members of one structure, parameters.
    pub list: usize,
}

/// A call as sent.
#[derive(Debug)]
pub struct MethodCall {
    pub method: String,
    pub params: Vec<Value>,
}

/// Bytes of a tag: names are short, attributes unused.
const LONGEST_TAG: usize = 1024;

/// Reads a call.
///
/// # Errors
/// It is no XML, no call, or exceeds the limits.
pub fn read(body: &[u8], limits: CallLimits) -> Result<MethodCall, XmlRpcFault> {
    let text = std::str::from_utf8(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body));
    let text = text.map_err(|_| XmlRpcFault::Encoding)?;
    let mut cursor = CallReader { reader: Reader::from_str(text.trim_start()), limits, values: 0 };
    cursor.reader.config_mut().expand_empty_elements = true;
    cursor.call()
}

/// A response.
pub fn answer(value: &Value) -> Vec<u8> {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<methodResponse><params><param>");
    write(value, &mut out);
    out.push_str("</param></params></methodResponse>\n");
    out.into_bytes()
}

/// A fault.
pub fn fault(code: i64, message: &str) -> Vec<u8> {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<methodResponse><fault>");
    write(&fault_value(code, message), &mut out);
    out.push_str("</fault></methodResponse>\n");
    out.into_bytes()
}

/// A fault as a value: one of many results may be one.
pub fn fault_value(code: i64, message: &str) -> Value {
    Value::from_pairs([("faultCode", Value::from(code)), ("faultString", Value::from(message))])
}

struct CallReader<'x> {
    reader: Reader<&'x [u8]>,
    limits: CallLimits,
    values: usize,
}

/// The next event, when only elements and text count.
enum CallEvent {
    Enter(String),
    Leave,
    Text(String),
    End,
}

impl CallReader<'_> {
    fn call(&mut self) -> Result<MethodCall, XmlRpcFault> {
        self.enter("methodCall")?;
        let (mut method, mut params) = (None, Vec::new());
        while let Some(name) = self.child()? {
            match name.as_str() {
                "methodName" if method.is_none() => method = Some(self.text()?.trim().to_owned()),
                "params" => {
                    while let Some(name) = self.child()? {
                        expect(&name, "param")?;
                        self.enter("value")?;
                        params.push(self.value(1)?);
                        self.fits(params.len())?;
                        self.leave()?;
                    }
                }
                _ => return Err(XmlRpcFault::NotWellFormed),
            }
        }
        loop {
            match self.step()? {
                CallEvent::End => return Ok(MethodCall { method: method.unwrap_or_default(), params }),
                CallEvent::Text(text) if text.trim().is_empty() => {}
                _ => return Err(XmlRpcFault::NotWellFormed),
            }
        }
    }

    /// The value whose element was just entered; it is left.
    fn value(&mut self, depth: usize) -> Result<Value, XmlRpcFault> {
        self.values += 1;
        if depth > self.limits.depth || self.values > self.limits.values {
            return Err(XmlRpcFault::TooLarge);
        }
        // Text without a type is a string; white space counts only when there is nothing else.
        let mut bare = String::new();
        loop {
            match self.step()? {
                CallEvent::Text(text) => bare.push_str(&text),
                CallEvent::Leave => return Ok(Value::from(bare)),
                CallEvent::Enter(kind) => {
                    let value = self.typed(&kind, depth)?;
                    self.leave()?;
                    return Ok(value);
                }
                CallEvent::End => return Err(XmlRpcFault::NotWellFormed),
            }
        }
    }

    fn typed(&mut self, kind: &str, depth: usize) -> Result<Value, XmlRpcFault> {
        match kind {
            "string" => self.text().map(Value::from),
            "int" | "i4" | "i8" => {
                let text = self.text()?;
                text.trim().parse::<i64>().map(Value::from).map_err(|_| XmlRpcFault::InvalidParams)
            }
            "boolean" => match self.text()?.trim() {
                "1" | "true" => Ok(Value::from(true)),
                "0" | "false" | "" => Ok(Value::from(false)),
                _ => Err(XmlRpcFault::InvalidParams),
            },
            "double" => {
                let number = self.text()?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
                number.map(Value::from).ok_or(XmlRpcFault::InvalidParams)
            }
            "dateTime.iso8601" => self.text().map(|text| Value::from(super::value::to_rest_time(&text))),
            "base64" => {
                let text: String = self.text()?.split_ascii_whitespace().collect();
                base64::decode(text).map(Value::from_bytes).ok_or(XmlRpcFault::InvalidParams)
            }
            "nil" => {
                self.text()?;
                Ok(Value::from(()))
            }
            "array" => self.array(depth),
            "struct" => self.structure(depth),
            _ => Err(XmlRpcFault::NotWellFormed),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, XmlRpcFault> {
        let mut values = Vec::new();
        while let Some(name) = self.child()? {
            expect(&name, "data")?;
            while let Some(name) = self.child()? {
                expect(&name, "value")?;
                values.push(self.value(depth + 1)?);
                self.fits(values.len())?;
            }
        }
        Ok(Value::from(values))
    }

    fn structure(&mut self, depth: usize) -> Result<Value, XmlRpcFault> {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        while let Some(name) = self.child()? {
            expect(&name, "member")?;
            let (mut key, mut value) = (None, None);
            while let Some(name) = self.child()? {
                match name.as_str() {
                    "name" => key = Some(self.text()?),
                    "value" => value = Some(self.value(depth + 1)?),
                    _ => return Err(XmlRpcFault::NotWellFormed),
                }
            }
            let (Some(key), Some(value)) = (key, value) else { return Err(XmlRpcFault::NotWellFormed) };
            pairs.push((Value::from(key.trim()), value));
            self.fits(pairs.len())?;
        }
        // Of a repeated name the last value counts.
        Ok(Value::from_pairs(pairs))
    }

    fn fits(&self, length: usize) -> Result<(), XmlRpcFault> {
        if length > self.limits.list { Err(XmlRpcFault::TooLarge) } else { Ok(()) }
    }

    /// The name of the next child, entered; `None` once the element around it was left.
    fn child(&mut self) -> Result<Option<String>, XmlRpcFault> {
        loop {
            match self.step()? {
                CallEvent::Enter(name) => return Ok(Some(name)),
                CallEvent::Leave => return Ok(None),
                CallEvent::Text(text) if text.trim().is_empty() => {}
                CallEvent::Text(_) | CallEvent::End => return Err(XmlRpcFault::NotWellFormed),
            }
        }
    }

    fn enter(&mut self, wanted: &str) -> Result<(), XmlRpcFault> {
        let name = self.child()?.ok_or(XmlRpcFault::NotWellFormed)?;
        expect(&name, wanted)
    }

    /// Leaves the current element, which has no further children.
    fn leave(&mut self) -> Result<(), XmlRpcFault> {
        match self.child()? {
            None => Ok(()),
            Some(_) => Err(XmlRpcFault::NotWellFormed),
        }
    }

    /// The text of the current element, which is left.
    fn text(&mut self) -> Result<String, XmlRpcFault> {
        let mut whole = String::new();
        loop {
            match self.step()? {
                CallEvent::Text(text) => whole.push_str(&text),
                CallEvent::Leave => return Ok(whole),
                CallEvent::Enter(_) | CallEvent::End => return Err(XmlRpcFault::NotWellFormed),
            }
        }
    }

    fn step(&mut self) -> Result<CallEvent, XmlRpcFault> {
        loop {
            match self.reader.read_event().map_err(|_| XmlRpcFault::NotWellFormed)? {
                Event::Start(start) => {
                    if start.len() > LONGEST_TAG {
                        return Err(XmlRpcFault::TooLarge);
                    }
                    return Ok(CallEvent::Enter(start.name().into_inner().to_owned()));
                }
                Event::End(_) => return Ok(CallEvent::Leave),
                Event::Text(text) => return plain(&text.xml10_content()),
                Event::CData(text) => return plain(&text.xml10_content()),
                Event::GeneralRef(name) => {
                    return match name.resolve_char_ref() {
                        Ok(Some(char)) => plain(char.encode_utf8(&mut [0; 4])),
                        Ok(None) => resolve_xml_entity(&name).map_or(Err(XmlRpcFault::NotWellFormed), plain),
                        Err(_) => Err(XmlRpcFault::NotWellFormed),
                    };
                }
                Event::Decl(declared) => match declared.encoding() {
                    Some(Ok(name)) if !["utf-8", "utf8", "us-ascii"].iter().any(|n| name.eq_ignore_ascii_case(n)) => {
                        return Err(XmlRpcFault::Encoding);
                    }
                    _ => {}
                },
                // Declarations of a document type are never wanted, and expanding them is an attack on memory.
                Event::DocType(_) => return Err(XmlRpcFault::NotWellFormed),
                Event::Comment(_) | Event::PI(_) | Event::Empty(_) => {}
                Event::Eof => return Ok(CallEvent::End),
            }
        }
    }
}

fn expect(name: &str, wanted: &str) -> Result<(), XmlRpcFault> {
    if name == wanted { Ok(()) } else { Err(XmlRpcFault::NotWellFormed) }
}

fn plain(text: &str) -> Result<CallEvent, XmlRpcFault> {
    // XML has no such character, and not every database can store it.
    if text.contains('\0') { Err(XmlRpcFault::NotWellFormed) } else { Ok(CallEvent::Text(text.to_owned())) }
}

/// Responses nest as deep as their shapes, but documents may contain any JSON.
const DEEPEST_ANSWER: usize = 64;

fn write(value: &Value, out: &mut String) {
    write_at(value, out, 0);
}

fn write_at(value: &Value, out: &mut String, depth: usize) {
    out.push_str("<value>");
    match value.kind() {
        _ if depth > DEEPEST_ANSWER => out.push_str("<string></string>"),
        ValueKind::Bool => out.push_str(if value.is_true() { "<boolean>1</boolean>" } else { "<boolean>0</boolean>" }),
        ValueKind::Number => match value.as_i64().filter(|_| value.is_integer()) {
            Some(whole) => element("int", &whole.to_string(), out),
            None => element("double", &value.to_string(), out),
        },
        ValueKind::Bytes => element("base64", &STANDARD.encode(value.as_bytes().unwrap_or_default()), out),
        ValueKind::Seq | ValueKind::Iterable => {
            out.push_str("<array><data>");
            elements(value).iter().for_each(|element| write_at(element, out, depth + 1));
            out.push_str("</data></array>");
        }
        // Clients know a structure without members as a list.
        ValueKind::Map if elements(value).is_empty() => out.push_str("<array><data></data></array>"),
        ValueKind::Map => {
            out.push_str("<struct>");
            for (name, value) in members(value).iter().filter(|(_, value)| !value.is_undefined()) {
                out.push_str("<member>");
                element("name", name, out);
                write_at(value, out, depth + 1);
                out.push_str("</member>");
            }
            out.push_str("</struct>");
        }
        _ => match value.downcast_object_ref::<CompactTime>() {
            Some(moment) => element("dateTime.iso8601", moment.as_str(), out),
            // Few clients know `nil`: what is nothing is the empty text.
            None if value.is_none() => out.push_str("<string></string>"),
            None => element("string", value.as_str().unwrap_or_default(), out),
        },
    }
    out.push_str("</value>");
}

fn element(name: &str, text: &str, out: &mut String) {
    out.push('<');
    out.push_str(name);
    out.push('>');
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A parser would turn a lone carriage return into a line feed.
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(char),
            // These have no place in XML, not even as references.
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            char => out.push(char),
        }
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xmlrpc::value::{from_json, to_json};
    use proptest::prelude::*;
    use serde_json::json;

    const LIMITS: CallLimits = CallLimits { depth: 5, values: 20, list: 7 };

    fn call(params: &str) -> Result<serde_json::Value, XmlRpcFault> {
        let text = format!(
            "<?xml version=\"1.0\"?><methodCall><methodName>a.b</methodName><params>{params}</params></methodCall>"
        );
        read(text.as_bytes(), LIMITS).map(|called| to_json(&Value::from(called.params)).unwrap_or_default())
    }

    fn param(value: &str) -> String {
        format!("<param><value>{value}</value></param>")
    }

    #[test]
    fn values_are_read() {
        let check = |value: &str, expected: serde_json::Value| {
            assert_eq!(call(&param(value)), Ok(json!([expected])), "{value}");
        };
        check("plain &amp; <![CDATA[<b>]]> &#233;", json!("plain & <b> é"));
        check("", json!(""));
        check("<string> x\n</string>", json!(" x\n"));
        check(" <int> 7 </int> ", json!(7));
        check("<i4>-2147483648</i4>", json!(-2147483648));
        check("<boolean>1</boolean>", json!(true));
        check("<double>-1.5</double>", json!(-1.5));
        check("<dateTime.iso8601>20310102T03:04:05</dateTime.iso8601>", json!("2031-01-02T03:04:05"));
        check("<nil/>", json!(null));
        check("<array><data><value>a</value><value><int>1</int></value></data></array>", json!(["a", 1]));
        check("<array/>", json!([]));
        check(
            "<struct><member><name>k</name><value>1</value></member><member><name>k</name><value>2</value></member></struct>",
            json!({"k": "2"}),
        );
        check(
            "<struct><member><name>k</name><value><boolean>0</boolean></value></member></struct>",
            json!({"k": false}),
        );
        assert_eq!(call(""), Ok(json!([])));
        let bytes = read(
            format!(
                "<methodCall><methodName>m</methodName><params>{}</params></methodCall>",
                param("<base64>AAEC\n/w</base64>")
            )
            .as_bytes(),
            LIMITS,
        );
        assert_eq!(bytes.expect("reads").params[0].as_bytes(), Some(&[0, 1, 2, 255][..]));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let check = |text: &str, expected: XmlRpcFault| {
            assert_eq!(read(text.as_bytes(), LIMITS).map(|c| c.method).err(), Some(expected), "{text:.80}");
        };
        for broken in [
            "",
            "x",
            "<x",
            "<methodResponse/>",
            "<methodCall>",
            "<methodCall><methodName>a</methodCall>",
            "<methodCall></methodCall><more/>",
            "<methodCall>text</methodCall>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><methodCall><methodName>&b;</methodName></methodCall>",
            "<methodCall><methodName>&b;</methodName></methodCall>",
            "<methodCall><methodName>&#0;</methodName></methodCall>",
        ] {
            check(broken, XmlRpcFault::NotWellFormed);
        }
        check("<?xml version=\"1.0\" encoding=\"UTF-16\"?><methodCall/>", XmlRpcFault::Encoding);
        assert_eq!(read(b"<methodCall>\xff</methodCall>", LIMITS).map(|c| c.method).err(), Some(XmlRpcFault::Encoding));
        assert_eq!(call(&param("<int>1.5</int>")), Err(XmlRpcFault::InvalidParams));
        assert_eq!(call(&param("<double>NaN</double>")), Err(XmlRpcFault::InvalidParams));
        assert_eq!(call(&param("<blob/>")), Err(XmlRpcFault::NotWellFormed));
        let nested = |n: usize| format!("{}x{}", "<array><data><value>".repeat(n), "</value></data></array>".repeat(n));
        assert!(call(&param(&nested(4))).is_ok());
        assert_eq!(call(&param(&nested(5))), Err(XmlRpcFault::TooLarge));
        assert_eq!(call(&param(&nested(100_000))), Err(XmlRpcFault::TooLarge));
        // The twenty-first value, in lists that are short.
        let lists = |values: usize| {
            let list =
                |values: usize| param(&format!("<array><data>{}</data></array>", "<value>x</value>".repeat(values)));
            list(6) + &list(6) + &list(values - 15)
        };
        assert!(call(&lists(19)).is_ok() && call(&lists(20)).is_ok());
        assert_eq!(call(&lists(21)), Err(XmlRpcFault::TooLarge));
        let member = |n: usize| format!("<member><name>k{n}</name><value>x</value></member>");
        for n in [6, 7, 8] {
            let members: String = (0..n).map(member).collect();
            for long in [
                param("x").repeat(n),
                param(&format!("<array><data>{}</data></array>", "<value>x</value>".repeat(n))),
                param(&format!("<struct>{members}</struct>")),
                param(&format!("<struct>{}</struct>", member(1).repeat(n))),
            ] {
                assert_eq!(call(&long).is_ok(), n <= LIMITS.list, "{n}: {long:.60}");
            }
        }
        assert_eq!(call(&format!("<{}>", "x".repeat(5000))), Err(XmlRpcFault::TooLarge));
    }

    #[test]
    fn values_are_written() {
        let value = from_json(&json!({"a": [1, true, 1.5, null], "b": "<&>\r\u{1}"}));
        let text = String::from_utf8(answer(&value)).expect("UTF-8");
        let inner = "<value><struct><member><name>a</name><value><array><data><value><int>1</int></value>\
            <value><boolean>1</boolean></value><value><double>1.5</double></value><value><string></string></value>\
            </data></array></value></member><member><name>b</name><value><string>&lt;&amp;&gt;&#13;\u{fffd}</string></value>\
            </member></struct></value>";
        assert!(text.contains(inner), "{text}");
        let text = String::from_utf8(fault(403, "no")).expect("UTF-8");
        assert!(text.contains("<fault><value><struct><member><name>faultCode</name><value><int>403</int>"), "{text}");
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body: Vec<u8>, tail in "[<>/a-zA-Z&;#0-9 !\\[\\]]{0,80}") {
            let _ = read(&body, LIMITS);
            let _ = read(format!("<methodCall><params><param><value>{tail}").as_bytes(), LIMITS);
        }

        #[test]
        fn texts_come_back(text in "[^\\p{Cc}\u{fffe}\u{ffff}]{0,40}") {
            let written = String::from_utf8(answer(&Value::from(text.as_str()))).expect("UTF-8");
            let start = written.find("<param>").expect("a param");
            let end = written.find("</params>").expect("its end");
            prop_assert_eq!(call(&written[start..end]), Ok(json!([text])));
        }
    }
}
