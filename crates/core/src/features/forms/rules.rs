//! Rules that follow from the tags of a form, in their order: they are shown to clients and applied to what these send.

use super::form::Form;
use cms_text::dates::relative_day;
use cms_text::form_tags::FormTag;
use cms_text::sanitize::{SCHEMES, is_email};
use cms_text::time::{format_local, parse_datetime};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Characters of a line without `maxlength`.
const LINE: u64 = 400;
/// Characters of a text of several lines without `maxlength`.
const LINES: u64 = 2000;
/// Bytes of a file without `limit`.
const FILE: u64 = 1 << 20;

/// Types of fields whose rules are shown together, in this order.
const GROUPS: [&[&str]; 6] =
    [&["checkbox", "radio"], &["date"], &["file"], &["number", "range"], &["select"], &["text", "email", "url", "tel"]];

/// Digits of a telephone number.
const DIGITS: std::ops::RangeInclusive<usize> = 6..=15;

/// A condition on the values of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition<'f> {
    Required,
    RequiredFile,
    MinLength(u64),
    MaxLength(u64),
    Email,
    Url,
    Tel,
    Number,
    MinNumber(&'f str),
    MaxNumber(&'f str),
    Date,
    MinDate(Cow<'f, str>),
    MaxDate(Cow<'f, str>),
    Enum(Vec<&'f str>),
    MaxItems(usize),
    File(Vec<&'f str>),
    MaxFileSize(u64),
}

/// A condition, the field that it is about, and what people are told when it does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule<'f> {
    pub field: &'f str,
    pub condition: Condition<'f>,
    pub error: &'f str,
}

/// The rules of all tags, in the order in which clients know them.
pub fn rules<'f>(form: &'f Form<'f>) -> Vec<Rule<'f>> {
    let (tags, texts) = (&form.tags, &form.texts);
    let mut all = Vec::new();
    let kinds = |kinds: &'static [&'static str]| tags.iter().filter(move |tag| kinds.contains(&tag.kind));
    for group in GROUPS {
        kinds(group).for_each(|tag| own_rules(tag, form, &mut all));
    }
    kinds(&["textarea"]).for_each(|tag| own_rules(tag, form, &mut all));
    for group in [&["checkbox", "radio"][..], &["select"]] {
        for tag in kinds(group).filter(|tag| !tag.has("free_text")) {
            let values = tag.pairs().map(|(shown, _)| shown);
            let values =
                values.skip(usize::from(tag.has("first_as_label"))).filter(|value| !value.is_empty()).collect();
            all.push(Rule { field: tag.name, condition: Condition::Enum(values), error: texts.get("invalid_choice") });
        }
    }
    all
}

fn own_rules<'f>(tag: &FormTag<'f>, form: &'f Form<'f>, all: &mut Vec<Rule<'f>>) {
    let mut rule = |condition: Condition<'f>, error: &str| {
        all.push(Rule { field: tag.name, condition, error: form.texts.get(error) });
    };
    if tag.required || tag.kind == "radio" {
        let required = if tag.kind == "file" { Condition::RequiredFile } else { Condition::Required };
        rule(required, "invalid_required");
    }
    match tag.kind {
        "checkbox" | "radio" if tag.kind == "radio" || tag.has("exclusive") => {
            rule(Condition::MaxItems(1), "too_many_items");
        }
        "date" => {
            rule(Condition::Date, "invalid_date");
            let bound = |option: &str| tag.option(option).and_then(|words| day_of(words, form.now));
            bound("min").into_iter().for_each(|day| rule(Condition::MinDate(day), "date_too_early"));
            bound("max").into_iter().for_each(|day| rule(Condition::MaxDate(day), "date_too_late"));
        }
        "file" => {
            rule(Condition::File(file_types(tag)), "upload_file_type_invalid");
            rule(Condition::MaxFileSize(size(tag).unwrap_or(FILE)), "upload_file_too_large");
        }
        "number" | "range" => {
            rule(Condition::Number, "invalid_number");
            let usual = |bound| (tag.kind == "range").then_some(bound);
            let bound = |option: &str| tag.option(option).filter(|bound| is_number(bound));
            bound("min")
                .or(usual("0"))
                .into_iter()
                .for_each(|bound| rule(Condition::MinNumber(bound), "number_too_small"));
            bound("max")
                .or(usual("100"))
                .into_iter()
                .for_each(|bound| rule(Condition::MaxNumber(bound), "number_too_large"));
        }
        "text" | "email" | "url" | "tel" | "textarea" => {
            match tag.kind {
                "email" => rule(Condition::Email, "invalid_email"),
                "url" => rule(Condition::Url, "invalid_url"),
                "tel" => rule(Condition::Tel, "invalid_tel"),
                _ => {}
            }
            let length = |option: &str| tag.option(option).and_then(|length| length.parse().ok());
            length("minlength").into_iter().for_each(|most| rule(Condition::MinLength(most), "invalid_too_short"));
            // `40/100` is a width and a length.
            let short = || tag.options.iter().find_map(|option| option.split_once('/')?.1.parse().ok());
            let usual = if tag.kind == "textarea" { LINES } else { LINE };
            let most = length("maxlength").or_else(short).unwrap_or(usual);
            rule(Condition::MaxLength(most), "invalid_too_long");
        }
        _ => {}
    }
}

impl Condition<'_> {
    /// Whether it is another one tomorrow: its bound is named by words such as `today`.
    pub fn depends_on_today(&self) -> bool {
        matches!(self, Condition::MinDate(Cow::Owned(_)) | Condition::MaxDate(Cow::Owned(_)))
    }

    /// The rule as clients read it.
    pub fn document(&self, field: &str, error: &str) -> Value {
        let (name, threshold, accept) = match self {
            Condition::Required => ("required", None, None),
            Condition::RequiredFile => ("requiredfile", None, None),
            Condition::MinLength(length) => ("minlength", Some(json!(length)), None),
            Condition::MaxLength(length) => ("maxlength", Some(json!(length)), None),
            Condition::Email => ("email", None, None),
            Condition::Url => ("url", None, None),
            Condition::Tel => ("tel", None, None),
            Condition::Number => ("number", None, None),
            Condition::MinNumber(bound) => ("minnumber", Some(json!(bound)), None),
            Condition::MaxNumber(bound) => ("maxnumber", Some(json!(bound)), None),
            Condition::Date => ("date", None, None),
            Condition::MinDate(day) => ("mindate", Some(json!(day)), None),
            Condition::MaxDate(day) => ("maxdate", Some(json!(day)), None),
            Condition::Enum(values) => ("enum", None, Some(json!(values))),
            Condition::MaxItems(most) => ("maxitems", Some(json!(most)), None),
            Condition::File(types) => ("file", None, Some(types.iter().map(|kind| json!(dotted(kind))).collect())),
            Condition::MaxFileSize(bytes) => ("maxfilesize", Some(json!(bytes)), None),
        };
        let mut document = json!({"rule": name, "field": field});
        threshold.into_iter().for_each(|threshold| document["threshold"] = threshold);
        accept.into_iter().for_each(|accept| document["accept"] = accept);
        document["error"] = json!(error);
        document
    }

    /// Whether values that are no files meet it. Nothing but `Required` is asked of what is empty.
    pub fn holds(&self, values: &[String]) -> bool {
        let mut given = values.iter().map(String::as_str).filter(|value| !value.is_empty());
        let length = || values.iter().map(|value| value.encode_utf16().count() as u64).sum::<u64>();
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        match self {
            Condition::Required => given.next().is_some(),
            Condition::MinLength(least) => given.next().is_none() || length() >= *least,
            Condition::MaxLength(most) => length() <= *most,
            Condition::Email => given.all(is_email),
            Condition::Url => given.all(is_url),
            Condition::Tel => given.all(is_tel),
            Condition::Number => given.all(is_number),
            // Another rule tells what is no number.
            Condition::MinNumber(least) => !given.any(|value| number(value) < number(least)),
            Condition::MaxNumber(most) => !given.any(|value| number(value) > number(most)),
            Condition::Date => given.all(is_date),
            Condition::MinDate(first) => !given.any(|day| is_date(day) && day < &**first),
            Condition::MaxDate(last) => !given.any(|day| is_date(day) && day > &**last),
            Condition::Enum(allowed) => {
                let allowed: BTreeSet<&str> = allowed.iter().copied().collect();
                given.all(|value| allowed.contains(value))
            }
            Condition::MaxItems(most) => given.count() <= *most,
            Condition::RequiredFile | Condition::File(_) | Condition::MaxFileSize(_) => true,
        }
    }

    /// Whether a file meets it, by its name and its size. `media` says whether a media type such as `image/*` has an ending.
    pub fn holds_for(&self, name: &str, size: u64, media: &dyn Fn(&str, &str) -> bool) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        let fits = |kind: &&str| match kind.contains('/') {
            true => media(kind, &ending),
            false => kind.trim_start_matches('.').eq_ignore_ascii_case(&ending),
        };
        match self {
            Condition::File(types) => !ending.is_empty() && types.iter().any(fits),
            Condition::MaxFileSize(most) => size <= *most,
            _ => true,
        }
    }
}

/// The types that a field for files takes: endings, or media types.
fn file_types<'f>(tag: &FormTag<'f>) -> Vec<&'f str> {
    match tag.option("filetypes") {
        Some(types) => types.split('|').filter(|kind| !kind.is_empty()).collect(),
        None => vec!["audio/*", "video/*", "image/*"],
    }
}

fn dotted(kind: &str) -> String {
    if kind.contains('/') || kind.starts_with('.') { kind.to_owned() } else { format!(".{kind}") }
}

/// `limit:1mb`, `limit:500kb`, `limit:1000`.
fn size(tag: &FormTag<'_>) -> Option<u64> {
    let text = tag.option("limit")?.to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// An address with a scheme that people follow. What looks like the port of a host is none.
fn is_url(text: &str) -> bool {
    let is_port = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':').is_some_and(|(scheme, rest)| SCHEMES.contains(&scheme) && !is_port(rest))
}

/// Digits, after a plus perhaps, with what people write between them.
fn is_tel(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace() && !"()/.*#-".contains(*c)).collect();
    let digits = bare.strip_prefix('+').unwrap_or(&bare);
    DIGITS.contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    let written = text.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
    let is_broken = text.starts_with('+') || text.ends_with('.') || text.contains(".e") || text.contains(".E");
    written && !is_broken && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The day that a bound names, as it is or by words such as `today+7days`; their blanks are underscores.
fn day_of(bound: &str, now: i64) -> Option<Cow<'_, str>> {
    if is_date(bound) {
        return Some(Cow::Borrowed(bound));
    }
    let mut day = format_local(relative_day(&bound.replace('_', " "), now)?);
    day.truncate("2031-05-17".len());
    Some(Cow::Owned(day))
}

/// `2031-05-17`, a day that there is.
fn is_date(text: &str) -> bool {
    text.len() == 10
        && parse_datetime(&format!("{text}T00:00:00")).is_some_and(|day| format_local(day.wall).starts_with(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_recognised() {
        for (check, good, bad) in [
            (
                is_number as fn(&str) -> bool,
                &["1", "-1", "1.5", ".5", "1e3", "-2.5E-3"][..],
                &["", "x", "+1", "1,5", "inf", "NaN", "1e999", "0x1", " 1", "5.", "5.e3"][..],
            ),
            (
                is_tel,
                &["+49 (30) 123-45", "110112", "030/12.34"],
                &["", "abc", "+", "12+3456", "123456a", "12345", "1234567890123456"],
            ),
            (
                is_date,
                &["2026-02-28", "2024-02-29"],
                &["", "2026-02-30", "2026-2-3", "5/5/2026", "2026-02-28T10:00:00"],
            ),
            (
                is_url,
                &["https://a.example", "mailto:a@b.example", "https:", "urn:x:y", "irc://x"],
                &["", "nourl", "javascript:alert(1)", "//x.example", "HTTPS://a.example", "tel:110"],
            ),
        ] {
            assert!(good.iter().all(|text| check(text)), "{good:?}");
            let wrong: Vec<_> = bad.iter().filter(|text| check(text)).collect();
            assert!(wrong.is_empty(), "{wrong:?}");
        }
    }

    #[test]
    fn lengths_count_as_browsers_count_them() {
        let text = |text: &str| vec![text.to_owned()];
        assert!(Condition::MaxLength(2).holds(&text("😀")) && !Condition::MaxLength(1).holds(&text("😀")));
        assert!(Condition::MinLength(2).holds(&text("")) && !Condition::MinLength(2).holds(&text("a")));
    }

    #[test]
    fn files_are_judged_by_name_and_size() {
        let media = |kind: &str, ending: &str| kind == "image/*" && ending == "png";
        let types = Condition::File(vec!["txt", ".PDF", "image/*"]);
        for (name, fits) in
            [("a.txt", true), ("a.TXT", true), ("a.pdf", true), ("a.png", true), ("a.exe", false), ("txt", false)]
        {
            assert_eq!(types.holds_for(name, 1, &media), fits, "{name}");
        }
        assert!(!Condition::MaxFileSize(10).holds_for("a.txt", 11, &media));
        let limit = |text: &'static str| size(&FormTag { options: vec![text], ..FormTag::default() });
        assert_eq!(
            [limit("limit:1kb"), limit("limit:2MB"), limit("limit:7"), limit("limit:x")],
            [Some(1024), Some(2 << 20), Some(7), None]
        );
    }
}
