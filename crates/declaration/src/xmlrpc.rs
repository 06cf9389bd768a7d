//! The grammar of the `[xmlrpc]` section: methods of the old interface, written as requests to the REST routes.
//!
//! Nothing is interpreted here; `xmlrpc` defines what an expression or a shape means.

use super::units::{Duration, Size};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// XML-RPC: where it is, what it accepts, and its methods.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct XmlRpc {
    /// Whether it is served at all.
    pub enabled: bool,
    /// Path of its address.
    pub path: String,
    /// Account passwords are accepted, too; application passwords always are, where they are available.
    pub account_passwords: bool,
    /// Consecutive wrong account passwords per account and network.
    pub max_login_attempts: u32,
    /// Wait before the next attempt is checked.
    pub retry_after: Duration,
    /// Largest call.
    pub max_body: Size,
    /// Deepest nesting of values.
    pub max_depth: usize,
    /// Most values in one call.
    pub max_values: usize,
    /// Most values in one list or structure, and most words of one text.
    pub max_list: usize,
    /// Most text in a response.
    pub max_response: Size,
    /// Most calls in one `system.multicall`.
    pub max_calls: usize,
    /// Most items that one list returns.
    pub max_items: usize,
    /// How lists of the REST routes are read page by page.
    pub paging: Paging,
    /// Families of methods by the names that editors know them by, the preferred one first.
    pub apis: Vec<String>,
    /// Fault codes that differ from the HTTP status, by error code or by status.
    pub faults: IndexMap<String, i64>,
    /// Steps that several methods take, by name.
    pub routines: IndexMap<String, Vec<XmlRpcStep>>,
    /// Shapes of results that several methods return, by name.
    pub shapes: IndexMap<String, Value>,
    /// Methods by name, in the order in which they are listed.
    pub methods: IndexMap<String, XmlRpcMethod>,
}

impl Default for XmlRpc {
    fn default() -> Self {
        XmlRpc {
            enabled: false,
            path: "/xmlrpc.php".into(),
            account_passwords: true,
            max_login_attempts: 10,
            retry_after: Duration::seconds_of(60),
            max_body: Size::mib(16),
            max_depth: 16,
            max_values: 20_000,
            max_list: 1000,
            max_response: Size::mib(32),
            max_calls: 50,
            max_items: 1000,
            paging: Paging::default(),
            apis: Vec::new(),
            faults: IndexMap::new(),
            routines: IndexMap::new(),
            shapes: IndexMap::new(),
            methods: IndexMap::new(),
        }
    }
}

/// The arguments that page through a list.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Paging {
    /// Argument that holds the length of a page.
    pub size: String,
    /// Argument that holds the number of the page, from 1.
    pub page: String,
    /// The longest page.
    pub max: usize,
}

impl Default for Paging {
    fn default() -> Self {
        Paging { size: "per_page".into(), page: "page".into(), max: 100 }
    }
}

/// A method.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct XmlRpcMethod {
    /// Its parameters in order: `name`, `name: kind`, and `name?` for those that may be absent. Kinds: `any`, `id`,
    /// `int`, `text`, `flag`, `list`, `struct`, `bytes`. `@login` and `@secret` identify the caller; without them
    /// anybody may call.
    pub params: Vec<String>,
    /// Takes exactly these parameters, numbers not as texts; anything else is fault 400.
    pub strict: bool,
    /// Fault codes of this method that differ from those of others, by error code or by status.
    pub faults: IndexMap<String, i64>,
    /// Steps of the method, in order.
    pub steps: Vec<XmlRpcStep>,
    /// Shape of the result.
    pub result: Value,
    /// Another method that does the same.
    pub same_as: Option<String>,
    /// An expression for a list of calls that are carried out one after the other; the method returns their results.
    pub many: Option<String>,
}

/// One step of a method; exactly one of `let`, `use`, `refuse`, `find`, `meta`, `each`, `get`, `post`, `delete` says what
/// it does.
/// Everything that is not a name is an expression.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct XmlRpcStep {
    /// The step is skipped unless this is true.
    pub when: Option<String>,
    /// Names for the values of shapes.
    #[serde(rename = "let")]
    pub bind: IndexMap<String, Value>,
    /// The steps of a routine.
    #[serde(rename = "use")]
    pub routine: Option<String>,
    /// Ends the call with this error code.
    pub refuse: Option<String>,
    /// Finds the record of the content family with this id, whatever its kind.
    pub find: Option<String>,
    /// Reads the meta values of these documents, whatever their keys: by id a list of `id` (of the value), `key` and
    /// `value`. Only for documents that the caller may edit; no route shows them.
    pub meta: Option<String>,
    /// The resource of the documents, in `meta`.
    pub resource: Option<String>,
    /// Does `steps` for each element of a list.
    pub each: Option<String>,
    /// Name of the element, in `each`.
    pub item: Option<String>,
    /// Steps that are carried out for each element, in `each`.
    pub steps: Vec<XmlRpcStep>,
    /// Shape whose values are collected, in `each`; those that are undefined are left out.
    pub collect: Option<Value>,
    /// Path below the REST base that is read.
    pub get: Option<String>,
    /// Path below the REST base that is posted to.
    pub post: Option<String>,
    /// Path below the REST base that is deleted.
    pub delete: Option<String>,
    /// Shape of the query.
    pub query: Option<Value>,
    /// Shape of the JSON body.
    pub body: Option<Value>,
    /// Shape of a file that is sent as a form with the body's members beside it: `field`, `name`, `bytes`.
    pub file: Option<Value>,
    /// Shape of a list of changes of single meta values of what is written: `key` and `value` for a further one, `id`,
    /// `key` and `value` for another value in its place, `id` alone for its removal.
    pub custom_fields: Option<Value>,
    /// Relations that are embedded in what comes back.
    pub embed: Option<String>,
    /// How many items of a list are wanted: pages are read until that many are there.
    pub number: Option<String>,
    /// How many items of the list are skipped.
    pub skip: Option<String>,
    /// Name for the length of the whole list.
    pub total: Option<String>,
    /// Errors that leave the value undefined instead of ending the call.
    pub tolerate: Vec<String>,
    /// Name for the data of a tolerated error.
    pub failed: Option<String>,
    /// Name for the result of the step.
    #[serde(rename = "as")]
    pub name: Option<String>,
}
