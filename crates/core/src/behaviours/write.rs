//! Behaviours that normalise an argument before it is stored.

use super::{WriteBehaviour, WriteContext};
use crate::error::{ApiError, Code};
use crate::records;
use crate::registry::resource::{Property, PropertyKind, Resource};
use crate::registry::vocabulary::BehaviourEntry;
use crate::scope::Scope;
use cms_schema::ParamFailure;
use cms_storage::plan::DbValue;
use cms_text::html_policy::{self, Policy};
use cms_text::{blocks, font, sanitize, slug, strip, time};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

const fn write(name: &'static str, run: WriteBehaviour, doc: &'static str) -> BehaviourEntry<WriteBehaviour> {
    BehaviourEntry::new(name, run, doc)
}

/// Every write behaviour by name.
pub const WRITES: &[BehaviourEntry<WriteBehaviour>] = &[
    write("raw", raw, "The text as it came.").example(r#""code": {"type": "string", "x-write": "raw"}"#),
    write("html", html, "Markup: as it came from callers who may write any, otherwise the allowed elements only."),
    write(
        "title_html",
        title_html,
        "A title: as `html`, but other callers may write phrases only; blanks around it are removed.",
    ),
    write("escaped", escaped, "Text, stored as the HTML that shows it."),
    write("biography", biography, "Phrases from every caller, also from those who may write any markup."),
    write("slug", slugged, "A slug made from the text."),
    write(
        "text_field",
        text_field,
        "One line of plain text as it is sent: tags, line breaks and control characters are removed.",
    ),
    write("name", name_field, "A name in plain text."),
    write(
        "textarea",
        textarea,
        "Several lines of plain text as they are sent: tags and control characters are removed.",
    ),
    write("email", email, "An e-mail address without characters that no address has."),
    write("url", url, "An address of an allowed scheme."),
    write("css.families", css_families, "Names of fonts as CSS lists them: quoted where they have to be."),
    write("css.descriptors", css_descriptors, "What CSS says of a font: texts of one line, addresses, names of fonts."),
    write("time", seconds, "A date and time as UTC seconds; without a zone it is in the site's zone."),
    write("words", words, "A list of words in one column."),
    write("class_names", class_names, "A list of class names; characters that no class name has are removed."),
    write("entries", entries, "Names of declared entries of the resource that `x-options-from` names."),
    write("kind", kind, "A type or taxonomy by its name in the API."),
    write("comment_html", comment_html, "A comment's markup: phrases, whose links are marked as user content."),
    write("language", language, "The slug of a declared language; any other word is the default one."),
    write("area", area, "An area of template parts of the active theme; any other word is the first area."),
    write(
        "style_sheet",
        style_sheet,
        "Styles as JSON, whose own style sheet (`css`) cannot end the element that it is in.",
    ),
    write("time_zone", time_zone, "A setting: a time zone that exists."),
    write(
        "time_zone.kept",
        time_zone_or_stored,
        "A setting: the name of a time zone; another text leaves the setting as it is.",
    ),
    write(
        "url.kept",
        url_or_stored,
        "A setting: an address with HTTP or HTTPS; another text leaves the setting as it is.",
    ),
    write("date_format", date_format, "How dates or times are written, without markup."),
    write("absolute", absolute, "A number without its sign."),
    write("page_size", page_size, "How many are on a page: -1 for all, other numbers without their sign, at least 1."),
    write("default_term", default_term, "A setting: the number of a term that exists."),
    write("comment_status", comment_status, "A status of comments by any of its names."),
];

/// The stored value of a property without a behaviour.
pub fn default_write(scope: &Scope, property: &Property, value: &Value) -> DbValue {
    match (property.kind, value) {
        (PropertyKind::Time, Value::String(given)) => match time::parse_datetime(given) {
            Some(moment) => DbValue::Int(moment.in_zone(&scope.settings.zone).0),
            None => DbValue::Null,
        },
        // A number that is 0 where there is none.
        (PropertyKind::Integer, Value::Null) if !property.nullable => DbValue::Int(0),
        (_, Value::Null) => DbValue::Null,
        (PropertyKind::Json, value) => text(&value.to_string()),
        (_, Value::Bool(b)) => DbValue::Int(i64::from(*b)),
        (PropertyKind::Number, Value::Number(n)) => n.as_f64().map_or(DbValue::Null, DbValue::Real),
        (_, Value::Number(n)) => n.as_i64().map_or_else(|| text(&n.to_string()), DbValue::Int),
        (_, Value::String(s)) => text(s),
        (_, other) => text(&other.to_string()),
    }
}

fn text(text: &str) -> DbValue {
    DbValue::Text(Arc::from(text))
}

/// The text of a value.
fn inner(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) => Cow::Owned(number.to_string()),
        Value::Bool(true) => Cow::Borrowed("1"),
        _ => Cow::Borrowed(""),
    }
}

fn raw(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&inner(value)))
}

/// Markup: unchanged from users with `unfiltered_html`, through an allow-list and without style sheets from the rest.
fn html(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&allowed_html(writing.scope, &inner(value))))
}

/// Markup as the caller may write it.
pub fn allowed_html(scope: &Scope, markup: &str) -> String {
    if scope.principal.can("unfiltered_html") {
        return markup.to_owned();
    }
    let clean = html_policy::sanitise(markup, Policy::posts());
    blocks::change_attributes(&clean, without_css)
}

/// The attributes of a block without a style sheet of its own; `None` where there is none.
fn without_css(mut attributes: Value) -> Option<Value> {
    let style = attributes.get_mut("style")?.as_object_mut()?;
    style.shift_remove("css")?;
    if style.is_empty() {
        attributes.as_object_mut()?.shift_remove("style");
    }
    Some(attributes)
}

/// A title: markup as in [`html`], but from the rest only phrases; without white space around what was written.
fn title_html(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let title = inner(value);
    if writing.scope.principal.can("unfiltered_html") {
        return Ok(text(title.trim()));
    }
    Ok(text(&html_policy::sanitise(title.trim(), Policy::phrases())))
}

/// Biographies: phrases, whoever writes.
fn biography(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&html_policy::sanitise(&inner(value), Policy::biographies())))
}

/// Text that is stored as the HTML that shows it.
fn escaped(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&sanitize::esc_html(&inner(value))))
}

fn css_families(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&font::families(&inner(value))))
}

fn css_descriptors(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&font::descriptors(value).to_string()))
}

fn slugged(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&slug::sanitize_title(&inner(value))))
}

fn text_field(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&sanitize::text_field(&inner(value), is_escaped(writing))))
}

/// Whether plain texts are stored as WordPress stores those of its own resources.
fn is_escaped(writing: &WriteContext<'_>) -> bool {
    writing.scope.registry.declaration.dialect.escape_text_fields && !writing.property.own
}

/// Names of people and things.
fn name_field(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&sanitize::name(&inner(value))))
}

fn textarea(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&sanitize::text_area(&inner(value), is_escaped(writing))))
}

fn email(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&sanitize::sanitize_email(&inner(value))))
}

fn url(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&sanitize::clean_url(&inner(value))))
}

/// A moment as UTC seconds; without a zone it is the site's wall clock.
fn seconds(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let Some(given) = value.as_str() else { return Ok(DbValue::Null) };
    let parsed = time::parse_datetime(given)
        .ok_or_else(|| ApiError::invalid_one(&writing.property.name, "This is no date and time."))?;
    let utc = match parsed.offset {
        Some(offset) => parsed.wall - i64::from(offset),
        None => writing.scope.settings.zone.local_to_utc(parsed.wall),
    };
    Ok(DbValue::Int(utc))
}

fn time_zone(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let zone = inner(value);
    match time::Zone::parse(&zone) {
        Some(_) => Ok(text(&zone)),
        None => Err(ApiError::invalid_one(
            &writing.property.name,
            "This is no time zone; name a city, such as Europe/Madrid.",
        )),
    }
}

fn time_zone_or_stored(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let zone = inner(value);
    let named = zone.is_empty() || time::Zone::parse(&zone).is_some_and(|zone| zone.is_named());
    Ok(text(if named { &zone } else { stored(writing) }))
}

fn url_or_stored(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let url = inner(value);
    let scheme = ["http://", "https://"].iter().find(|scheme| {
        url.as_bytes().get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    });
    match scheme.filter(|scheme| url.len() > scheme.len()) {
        Some(_) => Ok(text(&sanitize::clean_url(&url))),
        None => Ok(text(stored(writing))),
    }
}

/// The setting before the write.
fn stored<'s>(writing: &WriteContext<'s>) -> &'s str {
    writing.scope.settings.text(&writing.property.name)
}

fn date_format(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(text(&html_policy::sanitise(&strip::strip_tags(&inner(value)), Policy::phrases())))
}

fn absolute(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(DbValue::Int(value.as_i64().unwrap_or_default().saturating_abs()))
}

fn page_size(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    Ok(DbValue::Int(match value.as_i64().unwrap_or_default() {
        0 => 1,
        -1 => -1,
        size => size.saturating_abs(),
    }))
}

fn default_term(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let id = DbValue::Int(value.as_i64().unwrap_or_default());
    let mut taxonomies = writing.scope.registry.taxonomies();
    let default = |taxonomy: &&Resource| taxonomy.declared.default_setting.as_deref() == Some(&writing.property.name);
    if let Some(taxonomy) = taxonomies.find(default)
        && records::find(&*writing.scope.snapshot()?, taxonomy, &id)?.is_none()
    {
        let message = Code::SettingInvalidDefaultCategory.message();
        return Err(ApiError::invalid_one(&writing.property.name, message));
    }
    Ok(id)
}

fn words(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(text(&records::join_words(list)))
}

/// Words of letters, digits, `-` and `_`; other characters are left out, and a word of others alone is empty.
fn class_names(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let kept = |word: &str| -> String {
        word.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    Ok(text(&list.map(kept).collect::<Vec<_>>().join(" ")))
}

/// Words that name declared entries of the resource that the property's `x-options-from` names.
fn entries(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let registry = &writing.scope.registry;
    let among = writing.property.among.as_deref().and_then(|name| registry.resource(name));
    let known = |word: &str| among.is_some_and(|resource| registry.entry(resource, word).is_some());
    let given = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    match given.clone().find(|word| !known(word)) {
        Some(word) => Err(refused(writing.property, word, format!("`{word}` is not declared."))),
        None => Ok(text(&records::join_words(given))),
    }
}

/// The refusal of a value that a property does not take.
pub fn refused(property: &Property, value: &str, message: String) -> ApiError {
    let Some(refusal) = &property.refusal else { return ApiError::invalid_one(&property.name, message) };
    let data = refusal.member.as_ref().map_or(Value::Null, |member| json!({member: value}));
    let (name, reason) = (property.name.clone(), Some(refusal.code.as_str()));
    ApiError::invalid(vec![ParamFailure { name, message, reason, data }])
}

/// A kind or taxonomy by its name in the API; what is none stays as it was written.
fn kind(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let api_name = inner(value);
    let known = writing.scope.registry.resource_by_api_name(&api_name);
    Ok(text(known.map_or(&*api_name, |r| &*r.kind)))
}

/// Phrases; links in them are marked as user-generated.
fn comment_html(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let markup = inner(value);
    Ok(text(&match writing.scope.principal.can("unfiltered_html") {
        true => html_policy::mark_links(&markup),
        false => comment_phrases(&markup),
    }))
}

/// The markup of a comment whose author may not write any.
pub fn comment_phrases(markup: &str) -> String {
    html_policy::mark_links(&html_policy::sanitise(markup, Policy::comments()))
}

/// An area of the active theme.
fn area(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let declared = &writing.scope.registry.declaration;
    let areas = declared
        .themes
        .values()
        .find(|theme| theme.active)
        .and_then(|theme| theme.header.get("default_template_part_areas"));
    let mut known = areas.and_then(Value::as_array).into_iter().flatten().filter_map(|area| area["area"].as_str());
    let wanted = inner(value);
    let first = known.clone().next().unwrap_or(&wanted).to_owned();
    Ok(text(known.find(|area| **area == *wanted).unwrap_or(&first)))
}

/// The language that a text names.
fn language(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let wanted = inner(value);
    let languages = writing.scope.registry.languages.as_ref();
    Ok(text(languages.map_or(&wanted, |languages| languages.named(&wanted))))
}

/// Styles whose own style sheet can be written into a page.
fn style_sheet(_: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    match value.get("css") {
        None | Some(Value::Null) => {}
        Some(Value::String(css)) if sanitize::ends_style_element(css) => {
            return Err(ApiError::new(Code::CustomCssMarkup));
        }
        Some(Value::String(_)) => {}
        Some(_) => return Err(ApiError::new(Code::CustomCssType)),
    }
    Ok(text(&value.to_string()))
}

/// A state of comments by any of its names; null for a word that names none.
fn comment_status(writing: &WriteContext<'_>, value: &Value) -> Result<DbValue, ApiError> {
    let status = writing.scope.registry.comment_status_named(value.as_str().unwrap_or_default());
    Ok(status.map_or(DbValue::Null, text))
}
