//! Addresses of the site: which parameters name what, and what old addresses lead to.

use crate::units::{OptionalSetting, yes};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Further names of what is at an address of the site, beside what permalinks, `site.front.paths` and the `address` of resources say.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Addresses {
    /// Parameters of an address that name something, beside the `query_var` of resources: `/?cat=3`.
    pub parameters: IndexMap<String, AddressParameter>,
    /// The parameter with the number of a list's page.
    pub page: String,
    /// Records that are below others keep their old addresses, too.
    pub old_paths: bool,
    /// An address that nothing has leads to the published record whose slug begins with its last part.
    pub guesses: bool,
    /// Paths that lead to another path of the site (302).
    pub elsewhere: IndexMap<String, String>,
    /// The resource with the redirects that editors make.
    pub redirects: OptionalSetting<String>,
    /// The resource with the addresses that were requested and that nothing has.
    pub missing: OptionalSetting<String>,
    /// The value of `X-Redirect-By` where the site's own address leads elsewhere.
    pub redirect_by: OptionalSetting<String>,
}

impl Addresses {
    /// The parameter with the words of a search.
    pub fn words(&self) -> Option<&str> {
        let named = self.parameters.iter().find(|(_, parameter)| parameter.by == ParameterKind::Words);
        named.map(|(name, _)| name.as_str())
    }
}

impl Default for Addresses {
    fn default() -> Self {
        Addresses {
            parameters: IndexMap::new(),
            page: "paged".into(),
            old_paths: true,
            guesses: false,
            elsewhere: IndexMap::new(),
            redirects: OptionalSetting::OFF,
            missing: OptionalSetting::OFF,
            redirect_by: OptionalSetting::OFF,
        }
    }
}

/// A parameter of an address.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AddressParameter {
    /// The resource whose item it names; none where it names a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The meaning of its value.
    pub by: ParameterKind,
    /// Such an address leads to that of the item. Otherwise it is one more address of it.
    #[serde(default = "yes")]
    pub leads: bool,
}

/// The meaning of a parameter's value.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// The number of an item.
    Id,
    /// The slug of an item.
    Slug,
    /// The slugs of an item and of those above it.
    Path,
    /// Year, month and day in one number, or the first of them: `202405`.
    Date,
    Year,
    Month,
    Day,
    /// Words that are searched for.
    Words,
    /// The mark of a preview.
    Preview,
    /// The number of the record of a preview.
    PreviewId,
    /// The nonce of that preview: with another one than the caller's the response is an error (403).
    PreviewNonce,
}
