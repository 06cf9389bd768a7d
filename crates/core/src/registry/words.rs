//! Our own words in schemas and arguments (`x-…`), as types. Their descriptions are part of the reference.
//!
//! A document is read leniently here: a word of the wrong type counts as absent, because `link/words.rs` has reported it.

use super::resource::OnDelete;
use cms_declaration::FieldView;
use indexmap::IndexMap;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Words of a property of a resource's schema.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PropertyWords {
    /// Column that holds the value; default: the property's name.
    #[serde(rename = "x-column")]
    pub column: Option<String>,
    /// Read behaviour that computes the value.
    #[serde(rename = "x-read")]
    pub read: Option<String>,
    /// Write behaviour that turns an argument into what is stored.
    #[serde(rename = "x-write")]
    pub write: Option<String>,
    /// The value, always.
    #[serde(rename = "x-const", deserialize_with = "any")]
    pub constant: Option<Value>,
    /// The object of registered meta values.
    #[serde(rename = "x-meta")]
    pub meta: bool,
    /// The object of the values of field groups (`[field_groups]`), which `x-read` shows.
    #[serde(rename = "x-fields")]
    #[schemars(example = true)]
    pub fields: bool,
    /// The property holds keys of another resource's items.
    #[serde(rename = "x-relation")]
    pub relation: Option<RelationWord>,
    /// The handler provides the value.
    #[serde(rename = "x-handler-property")]
    pub handler_property: bool,
    /// Accepted in writes, never stored under its name and never shown.
    #[serde(rename = "x-input-only")]
    pub input_only: bool,
    /// Resource with declared entries whose keys are the allowed values.
    #[serde(rename = "x-options-from")]
    pub options_from: Option<String>,
    /// How a value is refused that `x-write` does not accept, or a text of which it leaves nothing.
    #[serde(rename = "x-refusal")]
    pub refusal: Option<RefusalWord>,
    /// Spelling of values in the API, by the stored value.
    #[serde(rename = "x-value-map")]
    pub value_map: IndexMap<String, String>,
    /// The column holds a digest of what the value is computed from, so that the value does not follow from the column.
    #[serde(rename = "x-stored-digest")]
    pub stored_digest: bool,
    /// Whether a record's password protects the value. Default: so it is for contents, excerpts and meta. Filters and counts
    /// use it for those who may edit the record; it is no sort key.
    #[serde(rename = "x-password-protected")]
    pub password_protected: Option<bool>,
    /// The capability that reading the value needs, beside the right to read the item: an action of the resource's
    /// capabilities (`edit_others`), or a capability as roles list it. Of an own property, or of a declared meta value.
    #[serde(rename = "x-read-capability")]
    #[schemars(example = &"edit_others")]
    pub read_capability: Option<String>,
    /// The same for writing the value; default: what reading it needs.
    #[serde(rename = "x-write-capability")]
    #[schemars(example = &"edit_others")]
    pub write_capability: Option<String>,
    /// Most bytes of a text, or of the JSON of a value that no schema describes.
    #[serde(rename = "x-max-bytes")]
    pub max_bytes: Option<u64>,
    /// Code of the refusal of a text that exceeds `x-max-bytes`.
    #[serde(rename = "x-too-long-code")]
    pub too_long_code: Option<String>,
    /// `false`: no argument of writes follows from the property; a table: changes to that argument.
    #[serde(rename = "x-args")]
    #[schemars(example = false)]
    pub args: Option<Value>,
    /// Changes to the argument that creates.
    #[serde(rename = "x-create-arg")]
    pub create_arg: Option<Map<String, Value>>,
    /// The property identifies rows of a resource with a table of its own.
    #[serde(rename = "x-key")]
    #[schemars(example = true)]
    pub key: bool,
    /// The column has an index.
    #[serde(rename = "x-index")]
    #[schemars(example = true)]
    pub index: bool,
    /// No two rows have the same value.
    #[serde(rename = "x-unique")]
    #[schemars(example = true)]
    pub unique: bool,
    /// Earlier name of the column; its values stay.
    #[serde(rename = "x-was")]
    #[schemars(example = &"pages")]
    pub was: Option<String>,
    /// The value of what is unset: responses show it where nothing is stored, and writes accept it whatever else
    /// the schema says. Without it, and without `default`, an own property that is unset is null, and the type includes
    /// `null`.
    #[serde(rename = "x-unset", deserialize_with = "any")]
    #[schemars(example = "")]
    pub unset: Option<Value>,
    /// The default is null, which TOML cannot express.
    #[serde(rename = "x-default-null")]
    pub default_null: bool,
    /// Keys of another resource's rows that refer to this one, newest first.
    #[serde(rename = "x-members")]
    pub members: Option<MembersWord>,
    /// Only the server uses the property: responses, OPTIONS and arguments leave it out.
    #[serde(rename = "x-hidden")]
    pub hidden: bool,
    /// The text that members of another property make together, in a form in which equal values are equal texts.
    #[serde(rename = "x-derived")]
    pub derived: Option<DerivedWord>,
    /// Lists can be filtered by the property (`where`), and counted by it (`_count_by`). The state of records needs no mark.
    #[serde(rename = "x-filterable")]
    #[schemars(example = true)]
    pub filterable: bool,
    /// Documents may lack the property: they have it only where there is a value.
    #[serde(rename = "x-optional")]
    pub optional: bool,
    /// Documents have the property where `_fields` names it, and not otherwise.
    #[serde(rename = "x-on-demand")]
    #[schemars(example = true)]
    pub on_demand: bool,
    /// Documents may have values that `enum` does not list.
    #[serde(rename = "x-open-enum")]
    pub open_enum: bool,
    /// Further types that the value may have in documents although OPTIONS does not list them.
    #[serde(rename = "x-shown-types")]
    pub shown_types: Vec<String>,
    /// Of declared entries: the value is an SVG drawing, of which only shapes are left.
    #[serde(rename = "x-drawing")]
    pub drawing: bool,
    /// How the console shows and edits the property; `resources.NAME.view.fields` outranks it.
    #[serde(rename = "x-view")]
    pub view: Option<FieldView>,
    /// The description is that of the owner's property of the same name.
    #[serde(rename = "x-inherit")]
    pub inherit: bool,
    /// A value as it is sent and shown: part of the examples of the OpenAPI description. A property without one has an
    /// example that follows from its default, its choices, its format, its bounds or its name. `{kind}` is the name of the
    /// kind in the API. Examples of requests send each member that has one; null in `x-args` keeps it out of them.
    #[serde(rename = "x-example", deserialize_with = "any")]
    pub example: Option<Value>,
}

/// See [`PropertyWords::refusal`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusalWord {
    /// Code of the failure of the parameter.
    pub code: String,
    /// Member of the failure's data that holds the refused value.
    #[serde(default)]
    pub member: Option<String>,
}

/// See [`PropertyWords::relation`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelationWord {
    /// The other resource.
    pub to: String,
    /// Name of the relation; default: kind and property.
    #[serde(default)]
    pub rel: Option<String>,
    /// Whether items that the caller may not see are refused.
    #[serde(default = "yes")]
    pub check: bool,
    /// Code of that refusal.
    #[serde(default)]
    pub code: Option<String>,
    /// Whether the items may be embedded.
    #[serde(default)]
    pub embeddable: bool,
    /// The effect on the row when the item is deleted for good: `clear` (default), `restrict`, `cascade` or `reassign`.
    #[serde(default)]
    pub on_delete: OnDelete,
}

/// See [`PropertyWords::members`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MembersWord {
    /// The other resource.
    pub of: String,
    /// Its property with the key of this row.
    pub by: String,
}

/// See [`PropertyWords::derived`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DerivedWord {
    /// The other property, whose value is an object.
    pub from: String,
    /// Its members, in order.
    pub members: IndexMap<String, DerivedMember>,
}

/// See [`DerivedWord::members`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DerivedMember {
    /// The value where the member is absent.
    pub default: String,
    /// Words that are written as others.
    pub words: IndexMap<String, String>,
}

/// Words of an argument. A property's argument has those of the property, too.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArgumentWords {
    /// The argument's role for the engine: `page`, `per_page`, `search`, `orderby`, ….
    #[serde(rename = "x-param")]
    pub param: Option<String>,
    /// The rows that the value selects: `{ column, op }` compares a column, or a relation, with the value; with `value`
    /// (`"now"` is the present moment), or with one of the operators `future` and `past`, a boolean argument selects the
    /// rows for which the comparison holds, or the others. `{ query = "a query behaviour" }` with its options.
    #[serde(rename = "x-filter")]
    pub filter: Option<Map<String, Value>>,
    /// Further names of the argument.
    #[serde(rename = "x-arg-aliases")]
    pub arg_aliases: Vec<String>,
    /// Spelling of values in the API, by the stored value.
    #[serde(rename = "x-value-map")]
    pub value_map: IndexMap<String, String>,
    /// A value that does not fit is reported when it would be written, after all else that can be wrong, with the code of
    /// the failed check.
    #[serde(rename = "x-late")]
    #[schemars(example = true)]
    pub late: bool,
    /// Further types that are accepted although OPTIONS does not list them.
    #[serde(rename = "x-also-types")]
    pub also_types: Vec<String>,
    /// A default that is checked like a value of the request: where it does not fit, the request has to give one.
    #[serde(rename = "x-checked-default", deserialize_with = "any")]
    pub checked_default: Option<Value>,
    /// How many words a search may have.
    #[serde(rename = "x-search-words")]
    pub search_words: Option<SearchWords>,
    /// Keywords of JSON Schema that hold although OPTIONS does not list them.
    #[serde(rename = "x-unlisted-bounds")]
    pub unlisted_bounds: Option<Map<String, Value>>,
    /// The value that the item has is accepted, whatever the schema says.
    #[serde(rename = "x-current")]
    #[schemars(example = true)]
    pub current: bool,
    /// The value names a template of the active theme, or none.
    #[serde(rename = "x-theme-template")]
    pub theme_template: bool,
    /// Keywords that OPTIONS shows beside those of the schema, or instead of them; they have no effect.
    #[serde(rename = "x-described")]
    pub described: Option<Map<String, Value>>,
    /// OPTIONS does not list the argument.
    #[serde(rename = "x-unlisted")]
    pub unlisted: bool,
    /// OPTIONS lists the choices as an object.
    #[serde(rename = "x-enum-as-object")]
    #[schemars(example = true)]
    pub enum_as_object: bool,
    /// Most bytes of a text, or of the JSON of a value that no schema describes.
    #[serde(rename = "x-max-bytes")]
    pub max_bytes: Option<u64>,
    /// The default is null, which TOML cannot express.
    #[serde(rename = "x-default-null")]
    pub default_null: bool,
    /// The text is JSON that fits the property of the argument's name; the value is what it says.
    #[serde(rename = "x-json")]
    pub json: Option<JsonWord>,
    /// The value names a declared size of pictures (`media.sizes`) or one of `also`, or lists several; or it is one of `alone`.
    #[serde(rename = "x-picture-sizes")]
    pub picture_sizes: Option<SizesWord>,
    /// The server requests this address: one to which `[outbound]` sends no requests is refused.
    #[serde(rename = "x-fetched")]
    pub fetched: bool,
    /// The capability that reading this meta value needs: see the words of properties.
    #[serde(rename = "x-read-capability")]
    #[schemars(example = &"edit_others")]
    pub read_capability: Option<String>,
    /// The capability that writing this meta value needs; default: what reading it needs.
    #[serde(rename = "x-write-capability")]
    #[schemars(example = &"edit_others")]
    pub write_capability: Option<String>,
    /// `false`: a record's password does not protect this meta value.
    #[serde(rename = "x-password-protected")]
    pub password_protected: Option<bool>,
    /// A value as it is sent: requests of the OpenAPI description have it as their example.
    #[serde(rename = "x-example", deserialize_with = "any")]
    pub example: Option<Value>,
}

/// See [`ArgumentWords::json`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JsonWord {
    /// Members that the property requires may be absent.
    pub partial: bool,
    /// Members that may not be sent.
    pub absent: Vec<String>,
}

/// See [`ArgumentWords::picture_sizes`].
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SizesWord {
    /// Names beside the sizes.
    pub also: Vec<String>,
    /// Names that stand in no list.
    pub alone: Vec<String>,
}

/// See [`ArgumentWords::search_words`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchWords {
    /// Words that are searched one by one.
    pub max: usize,
    /// How a search of more words is treated.
    pub overflow: Overflow,
    /// Words in small letters that are left out beside others.
    #[serde(default)]
    pub skipped: Vec<String>,
    /// A plus divides words, too.
    #[serde(default)]
    pub plus: bool,
}

/// See [`SearchWords::overflow`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    /// Refused with 400.
    Refuse,
    /// One phrase.
    Phrase,
}

impl PropertyWords {
    /// The words of a property's document.
    pub fn of(doc: &Value) -> PropertyWords {
        doc.as_object().map(gather).unwrap_or_default()
    }
}

impl ArgumentWords {
    /// The words of an argument's document.
    pub fn of(doc: &Map<String, Value>) -> ArgumentWords {
        gather(doc)
    }
}

/// The valid words of a document, as one value.
fn gather<W: Default + DeserializeOwned>(doc: &Map<String, Value>) -> W {
    let fields = fields_of::<W>();
    let ours =
        || doc.iter().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| is_word(key) && fields.contains(key));
    if ours().next().is_none() {
        return W::default();
    }
    // A document without invalid words, which is the usual case, is read once.
    let valid = || read_all(ours().filter(|(key, value)| read::<W>(key, value).is_ok())).unwrap_or_default();
    read_all(ours()).unwrap_or_else(|_| valid())
}

/// The words that a type has.
fn fields_of<W: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    // It asks for its fields, and nothing is read.
    let _ = W::deserialize(FieldNames(&mut fields));
    fields
}

/// Notes the fields of what is read from it.
struct FieldNames<'f>(&'f mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde_json::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Self::Error::custom(name))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("words are the fields of a type"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn read_all<'d, W: DeserializeOwned>(
    words: impl Iterator<Item = (&'d str, &'d Value)>,
) -> Result<W, serde_json::Error> {
    W::deserialize(MapDeserializer::new(words))
}

fn read<W: DeserializeOwned>(key: &str, value: &Value) -> Result<W, serde_json::Error> {
    read_all([(key, value)].into_iter())
}

/// Whether a keyword is one of ours.
pub fn is_word(key: &str) -> bool {
    key.starts_with("x-")
}

/// Whether every word of a document surely is one and has a value of its type. False says nothing: see [`check`].
pub fn all_fit(doc: &Map<String, Value>, in_schema: bool) -> bool {
    let (of_arguments, of_properties) = (fields_of::<ArgumentWords>(), fields_of::<PropertyWords>());
    let ours = doc.iter().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| is_word(key));
    let (arguments, others): (Vec<_>, Vec<_>) = ours.partition(|(key, _)| of_arguments.contains(key));
    others.iter().all(|(key, _)| in_schema && of_properties.contains(key))
        && read_all::<ArgumentWords>(arguments.into_iter()).is_ok()
        && read_all::<PropertyWords>(others.into_iter()).is_ok()
}

/// The problem of one word of a document; `in_schema`: in a resource's schema, where arguments follow from properties.
pub fn check(key: &str, value: &Value, in_schema: bool) -> Result<(), KeywordError> {
    let argument = read::<ArgumentWords>(key, value).map(drop);
    let found = match in_schema {
        true => argument.or_else(|_| read::<PropertyWords>(key, value).map(drop)),
        false => argument,
    };
    let Err(error) = found else { return Ok(()) };
    let known = names(in_schema);
    Err(match known.iter().any(|word| word.name == key) {
        true => KeywordError::Type(error.to_string()),
        false => KeywordError::Unknown(known.iter().map(|word| word.name.as_str()).collect()),
    })
}

/// See [`check`].
pub enum KeywordError {
    /// The value does not fit.
    Type(String),
    /// There is no such word; the words that exist.
    Unknown(Vec<&'static str>),
}

/// A word that schemas or arguments may have.
#[derive(Clone, Debug)]
pub struct KeywordEntry {
    pub name: String,
    pub doc: String,
    /// A value, where the shipped declarations have none to show.
    pub example: Option<Value>,
}

/// Every word with its description.
pub fn names(in_schema: bool) -> &'static [KeywordEntry] {
    static ARGUMENT: LazyLock<Vec<KeywordEntry>> = LazyLock::new(described::<ArgumentWords>);
    static ALL: LazyLock<Vec<KeywordEntry>> = LazyLock::new(|| {
        let mut all = described::<PropertyWords>();
        let more = ARGUMENT.iter().filter(|word| !all.iter().any(|known| known.name == word.name)).cloned();
        all.extend(more.collect::<Vec<_>>());
        all
    });
    if in_schema { &ALL } else { &ARGUMENT }
}

fn described<W: JsonSchema>() -> Vec<KeywordEntry> {
    let schema = schema_for!(W);
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let known = |(name, doc): (&String, &Value)| KeywordEntry {
        name: name.clone(),
        doc: doc["description"].as_str().unwrap_or_default().replace('\n', " "),
        example: doc["examples"].as_array().and_then(|examples| examples.first()).cloned(),
    };
    properties.map(known).collect()
}

/// A value of any type, null included.
fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_checked_one_by_one() {
        let outcome = |key: &str, value: Value, in_schema: bool| match check(key, &value, in_schema) {
            Ok(()) => "sound".to_owned(),
            Err(KeywordError::Type(message)) => message,
            Err(KeywordError::Unknown(_)) => "unknown".to_owned(),
        };
        assert_eq!(outcome("x-column", json!("title"), true), "sound");
        assert_eq!(outcome("x-column", json!("title"), false), "unknown");
        assert_eq!(outcome("x-wirte", json!("raw"), true), "unknown");
        assert_eq!(outcome("x-const", json!(null), true), "sound");
        assert!(outcome("x-column", json!(5), true).contains("expected a string"));
        assert!(outcome("x-relation", json!({"to": "posts", "on_delete": "explode"}), true).contains("explode"));
        assert!(outcome("x-search-words", json!({"max": 9}), false).contains("overflow"));
    }

    #[test]
    fn a_quick_look_finds_every_wrong_word() {
        let fits = |doc: Value, in_schema: bool| all_fit(doc.as_object().expect("an object"), in_schema);
        assert!(fits(json!({"type": 5, "x-column": "title", "x-param": "page", "x-const": null}), true));
        assert!(!fits(json!({"x-column": "title"}), false) && fits(json!({"x-param": "page"}), false));
        assert!(!fits(json!({"x-wirte": "raw"}), true) && !fits(json!({"x-column": 5, "x-param": "page"}), true));
        assert!(!fits(json!({"x-param": false}), true));
    }

    #[test]
    fn a_wrong_word_hides_no_other() {
        let words = PropertyWords::of(&json!({"type": "string", "x-column": "slug", "x-write": 5, "x-const": null}));
        assert_eq!((words.column.as_deref(), words.write, words.constant), (Some("slug"), None, Some(Value::Null)));
    }

    #[test]
    fn every_word_is_described() {
        for word in names(true) {
            assert!(!word.doc.is_empty(), "{}", word.name);
        }
    }
}
