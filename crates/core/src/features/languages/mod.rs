//! The languages of a site's contents, as documents: the declared entries with what follows from them. Members are declared
//! (`options.languages`); which language a record has is [`crate::registry::languages`]'s matter.

use crate::error::{ApiError, Code};
use crate::handlers::{Handler, Outcome, Work, sync_handler};
use crate::registry::languages::{Languages, tag};
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, ResponseKind, VIRTUAL};
use cms_declaration::{LanguageMember, LanguageOptions};
use serde_json::{Map, Value, json};

/// Options that its handlers read.
const OPTIONS: &[&str] = &["languages", "entries", "key"];

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    sync_handler("language.list", list, "Lists the languages of the site's contents.")
        .responds(ResponseKind::List)
        .settings(OPTIONS)
        .on(VIRTUAL),
    sync_handler("language.get", get, "Responds with one language.")
        .fails(&[Code::RecordInvalidId])
        .settings(OPTIONS)
        .on(VIRTUAL),
];

/// All of them, in the order in which they are declared.
///
/// # Errors
/// No languages are declared: 500.
pub fn list(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let all = LanguageList::of(work)?;
    let entries = work.scope.registry.entries(all.resource).iter().enumerate();
    Ok(Outcome::ok(entries.map(|(at, entry)| all.document(at, entry)).collect()))
}

/// The one that the path names.
///
/// # Errors
/// There is none of this name.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let all = LanguageList::of(work)?;
    let wanted = work.captures.values().next_back().and_then(Value::as_str).unwrap_or_default();
    let mut entries = work.scope.registry.entries(all.resource).iter().enumerate();
    let found = entries.find(|(_, entry)| entry["slug"] == *wanted);
    let (at, entry) = found.ok_or_else(|| ApiError::new(all.resource.code(Code::RecordInvalidId)))?;
    Ok(Outcome::ok(all.document(at, entry)))
}

/// The declared languages of the site at an address.
struct LanguageList<'a> {
    resource: &'a Resource,
    options: &'a LanguageOptions,
    languages: &'a Languages,
    site: &'a str,
}

impl<'a> LanguageList<'a> {
    fn of(work: &Work<'a>) -> Result<LanguageList<'a>, ApiError> {
        let resource = work.resource()?;
        let missing = || ApiError::new(Code::Internal);
        let options = resource.declared.options.languages.as_ref().ok_or_else(missing)?;
        let languages = work.scope.registry.languages.as_ref().ok_or_else(missing)?;
        Ok(LanguageList { resource, options, languages, site: &work.scope.registry.site.front })
    }

    /// A language; `at` is its place among all.
    fn document(&self, at: usize, entry: &Value) -> Value {
        let text = |member: &str| entry[member].as_str().unwrap_or_default();
        let slug = text("slug");
        let value = |member: LanguageMember| match member {
            LanguageMember::Id => json!(at + 1),
            LanguageMember::Name => json!(text("name")),
            LanguageMember::Slug => json!(slug),
            LanguageMember::Locale => json!(text("locale")),
            LanguageMember::Tag => json!(tag(entry)),
            LanguageMember::Rtl => json!(entry["rtl"].as_bool().unwrap_or(false)),
            LanguageMember::Home => match self.languages.part(slug) {
                Some(part) => json!(format!("{}/{part}/", self.site)),
                None => json!(format!("{}/", self.site)),
            },
            LanguageMember::Default => json!(slug == self.languages.default),
        };
        let own = self.options.members.iter().map(|(name, member)| (name.clone(), value(*member)));
        let fixed = self.options.constants.iter().map(|(name, value)| (name.clone(), value.clone()));
        Value::Object(own.chain(fixed).collect::<Map<_, _>>())
    }
}
