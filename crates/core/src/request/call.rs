//! A request on its way through the stages, and the response of one that is inside another.

use super::BodyParams;
use super::conditional::Preconditions;
use crate::error::ApiError;
use crate::model::Method;
use serde_json::{Map, Value};

/// A request on its way through the stages, from outside or from another request.
#[derive(Clone)]
pub struct Call {
    pub method: Method,
    pub path: String,
    pub query: Map<String, Value>,
    pub raw_query: String,
    /// Broken bodies are reported only after a route has matched.
    pub body: Result<BodyParams, ApiError>,
    pub expects: Preconditions,
    /// The caller accepts rendered text as well as a document.
    pub text: bool,
    /// The caller accepts a collection as lines.
    pub lines: bool,
    /// Changes of single meta values of the row that is written; no request from outside has any.
    pub custom_fields: Vec<CustomField>,
}

impl Call {
    /// A request that the program makes itself: it accepts a document and expects nothing of its target.
    pub fn internal(method: Method, path: &str, query: Map<String, Value>, body: BodyParams) -> Call {
        Call {
            method,
            path: path.to_owned(),
            query,
            raw_query: String::new(),
            body: Ok(body),
            expects: Preconditions::default(),
            text: false,
            lines: false,
            custom_fields: Vec::new(),
        }
    }
}

/// A change of one meta value, whatever its key: one more value, another one in the place of the one with this number,
/// or, without a key, its removal.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomField {
    pub number: Option<i64>,
    pub key: Option<String>,
    pub value: Value,
}

/// The finished response of a request inside another.
pub struct SubResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Value,
    /// The version of the row that is shown, where it is one row that has versions.
    pub version: Option<i64>,
}
