//! Values of other programs for search engines, which are meta values of records and terms: taken over as `seo_values` and `noindex`. Which
//! keys are taken, and what their variables are here, is declared (`[seo.import]`, `[seo.variables]`).

use super::importer::Importer;
use cms_core::families::Columns;
use cms_core::records::txt;
use cms_core::registry::columns::seo;
use cms_core::registry::resource::Resource;
use cms_core::registry::seo::{LONGEST, web_address};
use cms_declaration::{SeoImport, SeoImportForm};
use cms_storage::plan::{DbValue, Input};
use cms_text::php;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Words that documents have; `index` and `follow` are what holds anyway.
const DIRECTIVES: [&str; 4] = ["noarchive", "nosnippet", "noimageindex", "notranslate"];

/// The values of an item.
#[derive(Default)]
struct ImportedSeo {
    values: Map<String, Value>,
    noindex: Option<bool>,
    directives: Vec<&'static str>,
}

impl Importer<'_> {
    /// The columns with what is said of an item whose meta values these are.
    pub(super) fn seo_columns(&mut self, resource: &Resource, meta: &[(String, String)]) -> Columns {
        let (Some(values), Some(noindex)) = (resource.plan_column(seo::VALUES), resource.plan_column(seo::NOINDEX))
        else {
            return Columns::new();
        };
        let declared = &self.registry.declaration.seo;
        let mut found = ImportedSeo::default();
        let given = declared.import.iter().filter_map(|(key, import)| {
            let (_, value) =
                meta.iter().find(|(own, value)| own == key && (import.form.is_own() || !value.is_empty()))?;
            Some((key, import, value))
        });
        let given: Vec<(&String, &SeoImport, &String)> = given.collect();
        let has_own = given.iter().any(|(_, import, _)| import.form.is_own());
        for (key, import, value) in given.into_iter().filter(|(_, import, _)| !has_own || import.form.is_own()) {
            let mut unknown = Vec::new();
            if self.seo_value(import, value, &mut found, &mut unknown).is_none() {
                *self.report.unfit.entry(key.clone()).or_default() += 1;
            }
            unknown.into_iter().for_each(|name| self.report.unknown_variable(&name));
        }
        if !found.directives.is_empty() {
            found.values.insert("directives".into(), json!(found.directives));
        }
        let mut columns = Columns::new();
        if !found.values.is_empty() {
            columns.push((values, Input::Value(txt(&Value::Object(found.values).to_string()))));
        }
        columns.extend(found.noindex.map(|index| (noindex, Input::Value(DbValue::Int(i64::from(index))))));
        columns
    }

    /// Takes a value over; `None`: it does not fit.
    fn seo_value(
        &self,
        import: &SeoImport,
        value: &str,
        found: &mut ImportedSeo,
        unknown: &mut Vec<String>,
    ) -> Option<()> {
        let switched = matches!(value, "1" | "on" | "true");
        let value = match import.form {
            SeoImportForm::TwoPercents | SeoImportForm::Percents | SeoImportForm::Hashes => {
                let variables = &self.registry.declaration.seo.variables;
                let text = translated(value, import.form, variables, unknown);
                json!(Some(text).filter(|text| text.chars().count() <= LONGEST)?)
            }
            SeoImportForm::Address => json!(web_address(value)?.to_string()),
            SeoImportForm::File => match value.parse().ok().map(|number| self.records.target(number))? {
                0 => return Some(()),
                id => json!(id),
            },
            SeoImportForm::Noindex => {
                found.noindex = found.noindex.or(if switched { Some(true) } else { (value == "2").then_some(false) });
                return Some(());
            }
            SeoImportForm::Nofollow => {
                if switched {
                    found.values.insert("nofollow".into(), json!(true));
                }
                return Some(());
            }
            SeoImportForm::Words => {
                found.take_words(value);
                return Some(());
            }
            SeoImportForm::Own => return found.take_own(php::unserialize(value)?),
            SeoImportForm::OwnNoindex => {
                found.noindex = Some(value == "1");
                return matches!(value, "" | "1").then_some(());
            }
        };
        let member = import.to?.name();
        found.values.entry(member).or_insert(value);
        Some(())
    }
}

impl ImportedSeo {
    /// Takes values that an export of this program has; `None`: some do not fit.
    fn take_own(&mut self, values: Value) -> Option<()> {
        // PHP writes an empty object as a list.
        let Value::Object(values) = values else { return php::is_empty(&values).then_some(()) };
        let is_directive = |one: &Value| one.as_str().is_some_and(|one| DIRECTIVES.contains(&one));
        let fits = |(name, value): &(String, Value)| match value {
            Value::String(text) if name == "canonical" => web_address(text).is_some(),
            Value::String(text) => text.chars().count() <= LONGEST,
            Value::Array(list) => name == "directives" && list.iter().all(is_directive),
            other => other.is_number() || other.is_boolean(),
        };
        let (fitting, others): (Vec<_>, Vec<_>) = values.into_iter().partition(fits);
        self.values.extend(fitting);
        others.is_empty().then_some(())
    }

    fn take_words(&mut self, value: &str) {
        let listed = php::texts(value);
        let plain: Vec<&str> = value.split(',').map(str::trim).collect();
        let words: Vec<&str> = if listed.is_empty() { plain } else { listed.iter().map(String::as_str).collect() };
        if words.contains(&"noindex") {
            self.noindex = self.noindex.or(Some(true));
        }
        if words.contains(&"nofollow") {
            self.values.insert("nofollow".into(), json!(true));
        }
        for word in DIRECTIVES.into_iter().filter(|word| words.contains(word)) {
            if !self.directives.contains(&word) {
                self.directives.push(word);
            }
        }
    }
}

/// A text whose variables are members of templates. Braces of its own name none.
fn translated(
    text: &str,
    form: SeoImportForm,
    variables: &IndexMap<String, String>,
    unknown: &mut Vec<String>,
) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, name, after)) = next_variable(rest, form) {
        out.push_str(&before.replace('{', "{ "));
        // The text in brackets says how a value is written.
        let word = name.split('(').next().unwrap_or(name);
        match variables.get(word) {
            Some(member) => out.push_str(member),
            None => unknown.push(match form {
                SeoImportForm::TwoPercents => format!("%%{word}%%"),
                SeoImportForm::Percents => format!("%{word}%"),
                _ => format!("#{word}"),
            }),
        }
        rest = after;
    }
    out.push_str(&rest.replace('{', "{ "));
    out.trim().to_owned()
}

/// The text before the next variable, the variable's name, and the text behind it.
fn next_variable(text: &str, form: SeoImportForm) -> Option<(&str, &str, &str)> {
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mark = match form {
        SeoImportForm::TwoPercents => "%%",
        SeoImportForm::Percents => "%",
        _ => "#",
    };
    for (at, _) in text.match_indices(mark) {
        let inside = &text[at + mark.len()..];
        let mut end = inside.find(|c: char| !named(c)).unwrap_or(inside.len());
        if inside[end..].starts_with('(') && form == SeoImportForm::Percents {
            end = inside.find(')').map_or(end, |bracket| bracket + 1);
        }
        let (name, after) = inside.split_at(end);
        let letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let after = if form == SeoImportForm::Hashes { Some(after) } else { after.strip_prefix(mark) };
        if let Some(after) = after.filter(|_| letter) {
            return Some((&text[..at], name, after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_several_values_are_taken_once() {
        let mut found = ImportedSeo::default();
        for value in ["noarchive,nosnippet", "noarchive, nofollow", "a:1:{i:0;s:9:\"nosnippet\";}"] {
            found.take_words(value);
        }
        assert_eq!(found.directives, ["noarchive", "nosnippet"]);
        assert_eq!((found.noindex, &found.values["nofollow"]), (None, &json!(true)));
    }

    #[test]
    fn variables_become_members() {
        let variables =
            [("title", "{title}"), ("sep", "{separator}"), ("sitename", "{site.title}"), ("post_title", "{title}")];
        let variables: IndexMap<String, String> =
            variables.into_iter().map(|(name, member)| (name.to_owned(), member.to_owned())).collect();
        for (form, text, expected, missing) in [
            (SeoImportForm::TwoPercents, "%%title%% %%sep%% %%sitename%%", "{title} {separator} {site.title}", vec![]),
            (SeoImportForm::TwoPercents, "50%% off %%title%%", "50%% off {title}", vec![]),
            (SeoImportForm::TwoPercents, "%%title%% %%cf_x%%", "{title}", vec!["%%cf_x%%"]),
            (SeoImportForm::TwoPercents, "a {title} 100 %", "a { title} 100 %", vec![]),
            (
                SeoImportForm::Percents,
                "%title% %sep% 5% of %date(F jS, Y)%",
                "{title} {separator} 5% of",
                vec!["%date%"],
            ),
            (SeoImportForm::Hashes, "#post_title | #1 #nothing", "{title} | #1", vec!["#nothing"]),
            (SeoImportForm::Hashes, "", "", vec![]),
        ] {
            let mut unknown = Vec::new();
            assert_eq!(translated(text, form, &variables, &mut unknown), expected, "{text}");
            assert_eq!(unknown, missing, "{text}");
        }
    }
}
