//! Reading a request: query string, body, method override here; its route, arguments, `_fields` and conditions beside it.
//!
//! Owns the reading of brackets and percent signs (contract: "Global request parameters"). It knows neither sockets
//! nor routes nor what any parameter means; it only refuses what cannot be read at all.

pub mod args;
pub mod call;
pub mod conditional;
pub mod fields;
pub mod route;

use crate::error::{ApiError, Code};
use crate::model::{CSV, LINES, Method, RecordFormat, Request, Upload};
use indexmap::IndexMap;
use memchr::memmem;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Most values of one JSON body, lists and maps included. A value takes up to some 600 bytes of memory and as little as two
/// bytes of a body: without a bound, a body of 16 MiB would fill gigabytes.
const MOST_VALUES: usize = 50_000;

/// Most values of one query or form. Each takes microseconds, and no form has as many fields; PHP reads a thousand.
const MOST_FIELDS: usize = 10_000;

/// Nesting that is followed whatever the declarations allow; what is deeper would need a larger stack.
const DEEPEST: usize = 127;

/// The parameters that a body gives.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyParams {
    /// No body, or one whose media type has no parameters (a file, for example).
    None,
    /// A JSON object, values typed.
    Json(Map<String, Value>),
    /// A form: decoded like a query, every leaf a string.
    Form(Map<String, Value>),
    /// Files, and the fields that were sent beside them.
    Upload(Box<Upload>),
}

impl BodyParams {
    /// A parameter by its name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            BodyParams::Json(members) | BodyParams::Form(members) => members.get(name),
            BodyParams::Upload(upload) => upload.fields.get(name),
            BodyParams::None => None,
        }
    }

    /// The names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let members = match self {
            BodyParams::Json(members) | BodyParams::Form(members) => Some(members),
            BodyParams::Upload(upload) => Some(&upload.fields),
            BodyParams::None => None,
        };
        members.into_iter().flat_map(Map::keys).map(String::as_str)
    }
}

/// Decodes a query string or a form.
///
/// `a[]=1&a[]=2` and `a[k]=v` nest, `+` is a blank, a key without `=` is empty, and of a repeated key the last value
/// wins. Whatever is keyed 0 to n-1, in this order, becomes a list, everything else a map; leaves are strings. Fails with
/// 400 on bytes that are no UTF-8, on NUL, on keys of more than `max_depth` parts and on more than ten thousand values.
/// Linear in the length of `raw`.
pub fn decode_query(raw: &str, max_depth: usize) -> Result<Map<String, Value>, ApiError> {
    let mut tree = QueryTree::new(max_depth);
    for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (decode_part(key)?, decode_part(value)?);
        tree.insert(&key, value.into_owned())?;
    }
    Ok(tree.into_values())
}

/// Builds the parameters of a form of parts from its pairs, by the rules of [`decode_query`].
///
/// # Errors
/// 400 for a NUL, for names that nest too deep and for too many values.
pub fn decode_fields(pairs: Vec<(String, String)>, max_depth: usize) -> Result<Map<String, Value>, ApiError> {
    let mut tree = QueryTree::new(max_depth);
    for (key, value) in pairs {
        if key.contains('\0') || value.contains('\0') {
            return Err(unreadable("The form"));
        }
        tree.insert(&key, value)?;
    }
    Ok(tree.into_values())
}

/// Decodes percent signs, once. `None` when the outcome is no UTF-8 or holds a NUL.
pub fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    decode_text(text, false)
}

/// Decodes a path, once. A slash that was sent encoded stays so: it is part of a name and separates nothing. `None` as
/// for [`percent_decode`].
pub fn decode_path(path: &str) -> Option<String> {
    if !path.contains('%') {
        return percent_decode(path).map(Cow::into_owned);
    }
    let kept = path.replace("%2F", "%252F").replace("%2f", "%252f");
    percent_decode(&kept).map(Cow::into_owned)
}

/// The method that the request is handled as: a POST may name another one by `_method` in the query or, after that, by
/// the header `X-HTTP-Method-Override`. `None` when the name is no method, which no route has.
pub fn effective_method(request: &Request) -> Option<Method> {
    if request.method != Method::Post {
        return Some(request.method);
    }
    match (request.query.get("_method"), request.header("x-http-method-override")) {
        (Some(Value::String(name)), _) => Method::parse(&name.to_ascii_uppercase()),
        (Some(_), _) => None,
        (None, Some(name)) => Method::parse(&name.trim().to_ascii_uppercase()),
        (None, None) => Some(Method::Post),
    }
}

/// The parameters in the body, by its content type.
///
/// A JSON list has no names and so gives no parameters, as null and an empty body do. Broken JSON, JSON nested deeper
/// than `max_depth` and other lone values are `rest_invalid_json`, a NUL fails as in a query; of a repeated member the last one counts. A form fails
/// like [`decode_query`] and counts only for the methods that write. A body without a type is taken for a form, as
/// WordPress does, except on POST, where PHP has parsed it already.
pub fn body_params(request: &Request, max_depth: usize) -> Result<BodyParams, ApiError> {
    if let Some(upload) = &request.upload {
        let mut upload = Box::new(upload.clone());
        if request.body.is_empty() {
            return Ok(BodyParams::Upload(upload));
        }
        // A body that is a file and has parameters, too.
        if let BodyParams::Json(fields) | BodyParams::Form(fields) = typed_params(request, max_depth)? {
            upload.fields = fields;
        }
        return Ok(BodyParams::Upload(upload));
    }
    typed_params(request, max_depth)
}

/// Whether a request may contain a file, by its head: any body but plain parameters.
pub fn may_bring_file(request: &Request) -> bool {
    let kind = request.header("content-type").map(media_type);
    let parameters = kind.as_deref().is_some_and(|k| is_json(k) || k == "application/x-www-form-urlencoded");
    request.method == Method::Post && (!parameters || request.header("content-disposition").is_some())
}

/// Whether the body of such a request has parameters although it is a file.
pub fn is_parameters(content_type: Option<&str>) -> bool {
    content_type.map(media_type).is_some_and(|k| is_json(&k) || k == "application/x-www-form-urlencoded")
}

/// How the records of a body are written, where it has records one after the other.
pub fn record_format(content_type: Option<&str>) -> Option<RecordFormat> {
    match &*media_type(content_type?) {
        LINES => Some(RecordFormat::Lines),
        CSV => Some(RecordFormat::Csv),
        _ => None,
    }
}

/// Whether the body is a form with parts.
pub fn is_form_of_parts(content_type: Option<&str>) -> bool {
    content_type.map(media_type).is_some_and(|k| k == "multipart/form-data")
}

fn typed_params(request: &Request, max_depth: usize) -> Result<BodyParams, ApiError> {
    if request.body.is_empty() {
        return Ok(BodyParams::None);
    }
    let writes = writes(effective_method(request));
    match request.header("content-type").map(media_type).as_deref() {
        Some(kind) if is_json(kind) => json_params(&request.body, max_depth),
        Some("application/x-www-form-urlencoded") if writes => form_params(&request.body, max_depth),
        None if writes && request.method != Method::Post => form_params(&request.body, max_depth),
        _ => Ok(BodyParams::None),
    }
}

/// Whether a body that counts as anything else is a JSON object: clients forget the header.
pub fn is_unlabelled_json(request: &Request) -> bool {
    let object = request.body.trim_ascii_start().starts_with(b"{");
    let kind = request.header("content-type").map(media_type);
    let read = matches!(kind.as_deref(), None | Some("text/plain" | "application/x-www-form-urlencoded"));
    request.upload.is_none() && object && read && serde_json::from_slice::<serde::de::IgnoredAny>(&request.body).is_ok()
}

fn form_params(body: &[u8], max_depth: usize) -> Result<BodyParams, ApiError> {
    let text = std::str::from_utf8(body).map_err(|_| unreadable("The form"))?;
    decode_query(text, max_depth).map(BodyParams::Form)
}

fn writes(method: Option<Method>) -> bool {
    matches!(method, Some(Method::Post | Method::Put | Method::Patch | Method::Delete))
}

/// The media type in lower case, without its parameters.
pub fn media_type(header: &str) -> String {
    header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is one of JSON.
pub fn is_json(kind: &str) -> bool {
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn json_params(body: &[u8], max_depth: usize) -> Result<BodyParams, ApiError> {
    match json_value(body, max_depth)? {
        Value::Object(members) => Ok(BodyParams::Json(members)),
        Value::Array(_) | Value::Null => Ok(BodyParams::None),
        _ => {
            let message = "The JSON body is a lone value; parameters come in an object.".to_owned();
            Err(invalid_json(message, JsonFault::Syntax))
        }
    }
}

/// The value of a JSON text, of bounded depth and number of values, without a NUL in its texts.
///
/// # Errors
/// It is none, or more than that: 400.
pub fn json_value(body: &[u8], max_depth: usize) -> Result<Value, ApiError> {
    json_text("The body", body, max_depth)
}

/// The bytes that programs of Windows write before a text in UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// As [`json_value`], of a text that errors call `what`.
///
/// # Errors
/// The text is no JSON, or more than is read.
pub fn json_text(what: &str, text: &[u8], max_depth: usize) -> Result<Value, ApiError> {
    let max_depth = max_depth.min(DEEPEST);
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match extent(text) {
        Extent { depth, .. } if depth > max_depth => {
            let message = format!("{what} is nested deeper than the {max_depth} levels that this server reads.");
            return Err(invalid_json(message, JsonFault::Depth));
        }
        Extent { values, .. } if values > MOST_VALUES => return Err(too_many(MOST_VALUES)),
        _ => {}
    }
    match serde_json::from_slice(text) {
        // An escape is the only way to write one.
        Ok(value) if memmem::find(text, b"\\u0000").is_some() && holds_nul(&value) => Err(unreadable(what)),
        Ok(value) => Ok(value),
        Err(error) => {
            let fault = JsonFault::of(&error, text);
            let (wrong, line, column) = (fault.what(), error.line(), error.column());
            let message = format!("{what} is announced as JSON but has {wrong} at line {line}, column {column}.");
            Err(invalid_json(message, fault))
        }
    }
}

/// The fault of a body, by the number that clients know (`data.json_error_code`).
#[derive(Clone, Copy)]
enum JsonFault {
    Depth = 1,
    Syntax = 4,
    NotUtf8 = 5,
    TooLarge = 7,
    LoneSurrogate = 10,
}

impl JsonFault {
    fn of(error: &serde_json::Error, body: &[u8]) -> JsonFault {
        if std::str::from_utf8(body).is_err() {
            return JsonFault::NotUtf8;
        }
        // serde_json does not expose its kinds; the sentence is all there is.
        let sentence = error.to_string();
        if sentence.contains("surrogate") || sentence.contains("hex escape") {
            JsonFault::LoneSurrogate
        } else if sentence.contains("out of range") {
            JsonFault::TooLarge
        } else {
            JsonFault::Syntax
        }
    }

    fn what(self) -> &'static str {
        match self {
            JsonFault::Depth => "too many levels",
            JsonFault::Syntax => "a mistake",
            JsonFault::NotUtf8 => "bytes that are not UTF-8",
            JsonFault::TooLarge => "a number that is too large",
            JsonFault::LoneSurrogate => "half of a surrogate pair",
        }
    }
}

fn invalid_json(message: String, fault: JsonFault) -> ApiError {
    ApiError::new(Code::InvalidJson)
        .with("json_error_code", Value::from(fault as u8))
        .with("json_error_message", Value::from(message.as_str()))
        .with_message(message)
}

/// Whether a text or a name in the value holds a NUL.
/// Whether a text in a value has a NUL, which databases do not store.
pub fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(holds_nul),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn too_many(most: usize) -> ApiError {
    let message = format!("The request has more than the {most} values that this server reads.");
    ApiError::new(Code::BadRequest).with_message(message)
}

/// How much a JSON text holds.
struct Extent {
    /// Brackets inside one another.
    depth: usize,
    /// Values, or more than there are: a bracket and a comma count for one each.
    values: usize,
}

/// The extent that follows from brackets and commas outside strings. Computed before parsing, so that nothing deep or
/// large is ever built.
fn extent(json: &[u8]) -> Extent {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut extent = Extent { depth: 0, values: 1 };
    for byte in json {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => {
                depth += 1;
                extent.depth = extent.depth.max(depth);
                extent.values += 1;
            }
            (false, b',') => extent.values += 1,
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    extent
}

fn decode_part(text: &str) -> Result<Cow<'_, str>, ApiError> {
    decode_text(text, true).ok_or_else(|| unreadable("The query"))
}

fn unreadable(what: &str) -> ApiError {
    ApiError::new(Code::BadRequest).with_message(format!("{what} holds bytes that are no UTF-8 text, or a NUL."))
}

fn decode_text(text: &str, plus_is_blank: bool) -> Option<Cow<'_, str>> {
    let decoded = if text.bytes().any(|b| b == b'%' || (plus_is_blank && b == b'+')) {
        Cow::Owned(String::from_utf8(decode_bytes(text.as_bytes(), plus_is_blank)).ok()?)
    } else {
        Cow::Borrowed(text)
    };
    (!decoded.contains('\0')).then_some(decoded)
}

/// A percent sign without two hex digits is itself.
fn decode_bytes(text: &[u8], plus_is_blank: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let hex = |offset| text.get(at + offset).and_then(|b| char::from(*b).to_digit(16));
        match (byte, hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', ..) if plus_is_blank => bytes.push(b' '),
            _ => bytes.push(byte),
        }
        at += 1;
    }
    bytes
}

/// A value while it is decoded: order of arrival, and for each level the number that `[]` takes next.
enum Node {
    Leaf(String),
    Branch(Branch),
}

#[derive(Default)]
struct Branch {
    entries: IndexMap<String, Node>,
    next: u64,
}

impl Node {
    fn into_value(self) -> Value {
        match self {
            Node::Leaf(text) => Value::String(text),
            Node::Branch(branch) => branch.into_value(),
        }
    }
}

impl Branch {
    fn into_value(self) -> Value {
        if self.entries.keys().zip(0..).all(|(key, place)| canonical_index(key) == Some(place)) {
            return Value::Array(self.entries.into_values().map(Node::into_value).collect());
        }
        Value::Object(self.entries.into_iter().map(|(key, node)| (key, node.into_value())).collect())
    }

    fn claim(&mut self, part: &str) -> String {
        if part.is_empty() {
            self.next += 1;
            return (self.next - 1).to_string();
        }
        if let Some(index) = canonical_index(part) {
            self.next = self.next.max(index + 1);
        }
        part.to_owned()
    }
}

/// The number that this key is the canonical spelling of (`7`, not `07`), within what a list can hold.
fn canonical_index(key: &str) -> Option<u64> {
    let canonical = key.len() < 10 && key.bytes().all(|b| b.is_ascii_digit()) && (key == "0" || !key.starts_with('0'));
    canonical.then(|| key.parse().ok()).flatten()
}

/// All that is built of one query or form, within its bounds.
struct QueryTree {
    root: Branch,
    max_depth: usize,
    /// Values that may still follow.
    room: usize,
}

impl QueryTree {
    fn new(max_depth: usize) -> QueryTree {
        QueryTree { root: Branch::default(), max_depth: max_depth.min(DEEPEST), room: MOST_FIELDS }
    }

    fn insert(&mut self, key: &str, value: String) -> Result<(), ApiError> {
        let Some((mut own, parts)) = split_key(key) else { return Ok(()) };
        let max_depth = self.max_depth;
        if parts.len() + 1 > max_depth {
            let message =
                format!("A key of the query is nested deeper than the {max_depth} levels that this server reads.");
            return Err(ApiError::new(Code::BadRequest).with_message(message));
        }
        // A part that is there already counts again: what is bounded is the work, too.
        self.room = self.room.checked_sub(parts.len() + 1).ok_or_else(|| too_many(MOST_FIELDS))?;
        let mut branch = &mut self.root;
        for part in parts {
            let node = branch.entries.entry(own).or_insert_with(|| Node::Branch(Branch::default()));
            if let Node::Leaf(_) = node {
                *node = Node::Branch(Branch::default());
            }
            let Node::Branch(inner) = node else { unreachable!("a leaf was replaced just now") };
            own = inner.claim(part);
            branch = inner;
        }
        branch.entries.insert(own, Node::Leaf(value));
        Ok(())
    }

    fn into_values(self) -> Map<String, Value> {
        self.root.entries.into_iter().map(|(key, node)| (key, node.into_value())).collect()
    }
}

/// The plain name and the bracketed parts. As PHP has it, blanks before the name count for nothing, blanks and dots in it
/// are underscores, and so is a bracket that is never closed; text behind a closing bracket is dropped. `None`: there is
/// no name.
fn split_key(key: &str) -> Option<(String, Vec<&str>)> {
    let key = key.trim_start_matches(' ');
    let (name, mut rest) = key.split_at(key.find('[').unwrap_or(key.len()));
    if name.is_empty() {
        return None;
    }
    let mut name = name.replace([' ', '.'], "_");
    let mut parts = Vec::new();
    while let Some((part, behind)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        parts.push(part);
        rest = behind;
    }
    if let (true, Some(unclosed)) = (parts.is_empty(), rest.strip_prefix('[')) {
        name.push('_');
        name.push_str(unclosed);
    }
    Some((name, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Peer;
    use proptest::prelude::*;
    use serde_json::json;
    use std::time::{Duration, Instant};

    fn request(method: Method, query: &str, headers: &[(&str, &str)], body: &[u8]) -> Request {
        Request {
            id: "t".into(),
            method,
            path: "/".into(),
            raw_query: query.into(),
            query: decode_query(query, 64).expect("test queries are readable"),
            headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            body: body.to_vec(),
            upload: None,
            goes_on: false,
            peer: Peer::default(),
        }
    }

    #[test]
    fn queries() {
        let check = |raw: &str, expected: Value| {
            assert_eq!(decode_query(raw, 4).map(Value::Object).map_err(|e| e.status()), Ok(expected), "{raw}");
        };
        check("", json!({}));
        check("&&=x&a=1", json!({"a": "1"}));
        check("a=1&a=2", json!({"a": "2"}));
        check("a&b=", json!({"a": "", "b": ""}));
        check("a=x+y%2Bz%C3%A9", json!({"a": "x y+zé"}));
        check("a=%zz%4", json!({"a": "%zz%4"}));
        check("a=b=c", json!({"a": "b=c"}));
        check("a[]=1&a[]=2", json!({"a": ["1", "2"]}));
        check("a%5B%5D=1", json!({"a": ["1"]}));
        check("a[k]=v&a[l]=w", json!({"a": {"k": "v", "l": "w"}}));
        check("a[0][x]=1&a[0][y]=2&a[1][x]=3", json!({"a": [{"x": "1", "y": "2"}, {"x": "3"}]}));
        check("a[1]=y&a[0]=x", json!({"a": {"1": "y", "0": "x"}}));
        check("a[]=1&b=2&a[]=3", json!({"a": ["1", "3"], "b": "2"}));
        check("a[0]=x&a[0]=y", json!({"a": ["y"]}));
        check("a[2]=x&a[]=y", json!({"a": {"2": "x", "3": "y"}}));
        check("a[00]=x", json!({"a": {"00": "x"}}));
        check("a[99999999999999999999]=x", json!({"a": {"99999999999999999999": "x"}}));
        check("a=1&a[]=2", json!({"a": ["2"]}));
        check("a[]=2&a=1", json!({"a": "1"}));
        check("per[page=1&[y]=2&b]=3&c[=4&=5", json!({"per_page": "1", "b]": "3", "c_": "4"}));
        check("per.page=1&+a%20b=2", json!({"per_page": "1", "a_b": "2"}));
        check("a[x]tail=1", json!({"a": {"x": "1"}}));
    }

    #[test]
    fn queries_that_cannot_be_read() {
        let many = "a&".repeat(MOST_FIELDS + 1);
        for raw in ["a=%ff", "%ff=1", "a=%00", "a[%00]=1", "a[1][2][3][4]=x", &many] {
            assert_eq!(decode_query(raw, 4).map_err(|e| e.status()), Err(400), "{raw:.50}");
        }
        assert!(decode_query(&format!("a{}=1", "[x]".repeat(200)), usize::MAX).is_err());
    }

    #[test]
    fn values_are_counted_in_forms_and_in_json() {
        let form = |text: &str| decode_query(text, 64).map(|_| ()).map_err(|e| e.status());
        let json = |text: &str| json_params(text.as_bytes(), 64).map(|_| ()).map_err(|e| e.status());
        let fields =
            |n: usize| decode_fields(vec![("a[b]".into(), String::new()); n], 64).map(|_| ()).map_err(|e| e.status());
        // Each of these has two parts.
        for (pairs, expected) in [(MOST_FIELDS / 2, Ok(())), (MOST_FIELDS / 2 + 1, Err(400))] {
            assert_eq!(form(&"a[]&".repeat(pairs)), expected, "{pairs}");
            assert_eq!(fields(pairs), expected, "{pairs}");
        }
        // The object, the list, and as many commas as items but one: the last text holds none that counts.
        let listed = |items: usize| format!("{{\"a\":[{}\",,[\\\",\"]}}", "0,".repeat(items - 1));
        for (items, expected) in
            [(MOST_VALUES - 3, Ok(())), (MOST_VALUES - 2, Ok(())), (MOST_VALUES - 1, Err(400)), (1 << 20, Err(400))]
        {
            assert_eq!(json(&listed(items)), expected, "{items}");
        }
        assert_eq!(json(&format!("[{}[]]", "[],".repeat(MOST_VALUES / 2))), Err(400));
        assert_eq!(form(&["a", &"[]".repeat(63), "&"].concat().repeat(MOST_FIELDS / 64 + 1)), Err(400));
    }

    #[test]
    fn hostile_queries_take_linear_time() {
        let many: [fn(usize) -> String; 4] = [
            |_| "a[]=1".into(),
            |i| format!("a[{i}]=1"),
            |i| format!("k{i}=1"),
            |i| format!("a[{}][x]=1", 1_000_000 - i),
        ];
        for pair in many {
            let raw = (0..3_000).map(pair).collect::<Vec<_>>().join("&");
            let started = Instant::now();
            assert!(decode_query(&raw, 64).is_ok());
            assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
        }
    }

    #[test]
    fn methods() {
        let check = |method, query: &str, header: Option<&str>, expected| {
            let headers: Vec<_> = header.map(|value| ("x-http-method-override", value)).into_iter().collect();
            assert_eq!(effective_method(&request(method, query, &headers, b"")), expected, "{query} {header:?}");
        };
        check(Method::Post, "", None, Some(Method::Post));
        check(Method::Post, "_method=delete", Some("PUT"), Some(Method::Delete));
        check(Method::Post, "", Some("put"), Some(Method::Put));
        check(Method::Post, "_method=BREW", Some("PUT"), None);
        check(Method::Post, "_method=", None, None);
        check(Method::Post, "_method[]=PUT", None, None);
        check(Method::Get, "_method=DELETE", Some("PUT"), Some(Method::Get));
    }

    #[test]
    fn bodies() {
        let check = |kind: &str, body: &str, expected: Result<BodyParams, &str>| {
            let headers = [("content-type", kind)];
            let found = body_params(&request(Method::Post, "", &headers, body.as_bytes()), 3);
            assert_eq!(found.map_err(|e| e.code().as_str()), expected, "{kind}: {body}");
        };
        let map = |value: Value| value.as_object().cloned().expect("an object");
        let json = "application/json";
        check(json, "", Ok(BodyParams::None));
        check(json, "{\"a\":1}", Ok(BodyParams::Json(map(json!({"a": 1})))));
        check("Application/VND.x+JSON; charset=utf-8", "{}", Ok(BodyParams::Json(Map::new())));
        // Files from Windows begin with a mark.
        check(json, "\u{feff}{}", Ok(BodyParams::Json(Map::new())));
        for nameless in ["null", "[]", "[1]"] {
            check(json, nameless, Ok(BodyParams::None));
        }
        for lone in ["5", "\"x\"", "true", " \n"] {
            check(json, lone, Err("rest_invalid_json"));
        }
        check("text/json", "{\"a\":1}", Ok(BodyParams::None));
        for broken in ["{", "{\"a\":1}x", "{'a':1}", "{\"a\":\"\\ud800\"}"] {
            check(json, broken, Err("rest_invalid_json"));
        }
        check(json, "{\"a\":[[1]]}", Ok(BodyParams::Json(map(json!({"a": [[1]]})))));
        check(json, "{\"a\":[[[1]]]}", Err("rest_invalid_json"));
        check(json, "{\"a\":\"[[[[\\\"[[\"}", Ok(BodyParams::Json(map(json!({"a": "[[[[\"[["})))));
        check(json, &"[".repeat(1_000_000), Err("rest_invalid_json"));
        let form = "application/x-www-form-urlencoded; charset=UTF-8";
        check(form, "a[]=1&b=x+y", Ok(BodyParams::Form(map(json!({"a": ["1"], "b": "x y"})))));
        check(form, "a=%00", Err("rest_bad_request"));
        check("text/plain", "a=1", Ok(BodyParams::None));
        check("multipart/form-data; boundary=x", "--x", Ok(BodyParams::None));
    }

    #[test]
    fn broken_json_says_what_is_wrong() {
        let check = |body: &[u8], expected: u8| {
            let error = body_params(&request(Method::Post, "", &[("content-type", "application/json")], body), 200);
            let error = error.expect_err("broken").body();
            assert_eq!(error["data"]["json_error_code"], json!(expected), "{error}");
            assert_eq!(error["data"]["json_error_message"], error["message"]);
        };
        check(b"{\"a\":", 4);
        check(b"{\"a\":1,}", 4);
        check(b"{\"a\":\"\\uzzzz\"}", 4);
        check(b"{\"a\":\"\xff\"}", 5);
        check(b"{\"a\":\"\\ud800\"}", 10);
        check(b"{\"a\":\"\\ud800x\"}", 10);
        check(b"{\"a\":\"\\udc00\"}", 10);
        check("[".repeat(201).as_bytes(), 1);
        check("[".repeat(150).as_bytes(), 1);
    }

    #[test]
    fn an_encoded_slash_is_part_of_a_name() {
        let check = |path: &str, expected: Option<&str>| assert_eq!(decode_path(path).as_deref(), expected, "{path}");
        check("/a%20b+c", Some("/a b+c"));
        check("/posts%2F1%2f", Some("/posts%2F1%2f"));
        check("/a%2525", Some("/a%25"));
        check("/%ff", None);
        check("/%00", None);
    }

    #[test]
    fn broken_json_names_the_place() {
        let headers = [("content-type", "application/json")];
        let error = body_params(&request(Method::Post, "", &headers, b"{\n \"a\": }"), 9).expect_err("broken");
        assert!(error.message().contains("line 2, column 7"), "{}", error.message());
    }

    #[test]
    fn a_form_counts_only_for_writes() {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        assert_eq!(body_params(&request(Method::Get, "", &headers, b"a=1"), 9), Ok(BodyParams::None));
        assert_eq!(body_params(&request(Method::Post, "_method=GET", &headers, b"a=1"), 9), Ok(BodyParams::None));
        // Without a type: what WordPress makes of it.
        assert_eq!(body_params(&request(Method::Post, "", &[], b"a=1"), 9), Ok(BodyParams::None));
        let put = body_params(&request(Method::Put, "", &[], b"a=1"), 9);
        assert_eq!(put.map(|body| body.get("a").cloned()), Ok(Some(json!("1"))));
    }

    proptest! {
        #[test]
        fn nothing_panics(raw in "\\PC*|[ab0-2\\[\\]&=+%f]{0,60}", body: Vec<u8>, depth in 0usize..6) {
            let _ = decode_query(&raw, depth);
            for kind in ["application/json", "application/x-www-form-urlencoded"] {
                let _ = body_params(&request(Method::Post, "", &[("content-type", kind)], &body), depth);
            }
        }

        #[test]
        fn plain_pairs_come_back(pairs in prop::collection::btree_map("[a-z]{1,8}", "[a-z0-9]{0,8}", 0..9)) {
            let raw = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("&");
            let decoded = decode_query(&raw, 8).expect("plain pairs are readable");
            prop_assert_eq!(decoded.len(), pairs.len());
            for (key, value) in pairs {
                prop_assert_eq!(decoded.get(&key).and_then(Value::as_str), Some(value.as_str()));
            }
        }
    }
}
