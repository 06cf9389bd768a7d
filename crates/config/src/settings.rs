//! `--set KEY=VALUE` and `CMS_SECTION__KEY=VALUE` as declarations of one key each.
//!
//! It does not know what any key means.

use super::grammar::FILE_KEYS;
use super::parse_toml;
use super::read::Reader;
use super::tree::{DEPTH, Data, Member, Node, Span, Table};

/// The name of `--set` arguments in problems.
pub const COMMAND_LINE: &str = "command line";

/// The name of environment variables in problems.
pub const ENVIRONMENT: &str = "environment";

/// Prefix of the environment variables that override keys: `CMS_SITE__PREFIX` is `site.prefix`.
const VARIABLE: &str = "CMS_";

/// The option that precedes a setting where it is shown.
const FLAG: &str = "--set ";

/// Settings of the environment and then of the command line, in the order of application.
pub fn settings(
    reader: &mut Reader<'_>,
    sets: &[String],
    env: impl IntoIterator<Item = (String, String)>,
) -> Vec<Node> {
    let mut out = environment(reader, env);
    out.extend(command_line(reader, sets));
    out
}

fn environment(reader: &mut Reader<'_>, env: impl IntoIterator<Item = (String, String)>) -> Vec<Node> {
    let counts = |name: &str| name.starts_with(VARIABLE) && name.contains("__");
    let mut variables: Vec<(String, String)> = env.into_iter().filter(|(name, _)| counts(name)).collect();
    variables.sort();
    let lines: Vec<String> = variables.iter().map(|(name, value)| one_line(&format!("{name}={value}"))).collect();
    let source = reader.sources.add(ENVIRONMENT, lines.join("\n"));
    let mut out = Vec::new();
    let mut start = 0;
    for ((name, value), line) in variables.iter().zip(&lines) {
        let path = name[VARIABLE.len()..].to_lowercase().split("__").map(str::to_owned).collect();
        let key = Span { source, start, end: start + name.len() };
        out.extend(setting(reader, path, key, value, start + line.len()));
        start += line.len() + 1;
    }
    out
}

fn command_line(reader: &mut Reader<'_>, sets: &[String]) -> Vec<Node> {
    let lines: Vec<String> = sets.iter().map(|set| one_line(&format!("{FLAG}{set}"))).collect();
    let source = reader.sources.add(COMMAND_LINE, lines.join("\n"));
    let mut out = Vec::new();
    let mut start = 0;
    for (set, line) in sets.iter().zip(&lines) {
        out.extend(set_argument(reader, set, Span { source, start: start + FLAG.len(), end: start + line.len() }));
        start += line.len() + 1;
    }
    out
}

fn set_argument(reader: &mut Reader<'_>, set: &str, place: Span) -> Option<Node> {
    // A quoted segment may contain the sign; the first one that leaves a key before it is the separator.
    let signs = set.char_indices().filter(|(_, c)| *c == '=');
    let found = signs.map(|(at, _)| at).find_map(|at| Some((at, parse_toml::parse_key(&set[..at])?)));
    let Some((at, path)) = found else {
        let hint = Some("--set KEY=VALUE, with a dotted key: --set site.prefix=wp".to_owned());
        reader.report(place, "this does not set a key", hint);
        return None;
    };
    let key = Span { end: place.start + at, ..place };
    setting(reader, path, key, &set[at + 1..], place.end)
}

/// `end` is where the value ends in the text that is shown.
fn setting(reader: &mut Reader<'_>, path: Vec<String>, key: Span, value: &str, end: usize) -> Option<Node> {
    if path.first().is_some_and(|first| FILE_KEYS.contains(&first.as_str())) {
        reader.report(key, format!("`{}` can be given in files only", path[0]), None);
        return None;
    }
    if path.iter().any(String::is_empty) || path.len() > DEPTH {
        reader.report(key, "this does not name a key", None);
        return None;
    }
    let place = Span { start: key.end + 1, end, ..key };
    let text = Node { data: Data::String(value.to_owned()), span: place };
    let mut node = parse_toml::parse_value(value, place).unwrap_or(text);
    for name in path.into_iter().rev() {
        node = Node { data: Data::Table(Table::from([(name, Member { key, node })])), span: key };
    }
    Some(node)
}

/// A setting is shown on one line; spaces in place of line breaks keep columns correct.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::super::source::Origin;
    use super::*;

    fn settled(sets: &[&str], env: &[(&str, &str)]) -> Vec<String> {
        let mut reader = Reader::new(Origin::Texts { label: "", files: &[] });
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let env = env.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let nodes = settings(&mut reader, &sets, env);
        assert_eq!(reader.problems, []);
        nodes.iter().map(|node| node.to_value().to_string()).collect()
    }

    #[test]
    fn values_are_toml_or_else_strings() {
        let check = |set: &str, expected: &str| assert_eq!(settled(&[set], &[]), [expected], "{set}");
        check("site.prefix=wp", r#"{"site":{"prefix":"wp"}}"#);
        check("site.prefix=\"wp\"", r#"{"site":{"prefix":"wp"}}"#);
        check("server.listen=127.0.0.1:9000", r#"{"server":{"listen":"127.0.0.1:9000"}}"#);
        check("storage.url=sqlite:site.db", r#"{"storage":{"url":"sqlite:site.db"}}"#);
        check("site.demo=true", r#"{"site":{"demo":true}}"#);
        check("server.workers=2", r#"{"server":{"workers":2}}"#);
        check("cors.origins=[\"a\", \"b\"]", r#"{"cors":{"origins":["a","b"]}}"#);
        check("site = { demo = true }", r#"{"site":{"demo":true}}"#);
        check("site.url=", r#"{"site":{"url":""}}"#);
        check("site.url=a=b", r#"{"site":{"url":"a=b"}}"#);
        check("site.url=a\nb", r#"{"site":{"url":"a\nb"}}"#);
        check("settings.\"a.b=c\"=d", r#"{"settings":{"a.b=c":"d"}}"#);
        check("settings.title=true story", r#"{"settings":{"title":"true story"}}"#);
        check("settings.n=99999999999999999999", r#"{"settings":{"n":"99999999999999999999"}}"#);
    }

    #[test]
    fn variables_name_sections_and_keys() {
        let check = |name: &str, value: &str, expected: &[&str]| assert_eq!(settled(&[], &[(name, value)]), expected);
        check("CMS_SITE__PREFIX", "wp", &[r#"{"site":{"prefix":"wp"}}"#]);
        check("CMS_SERVER__MAX_BODY", "1", &[r#"{"server":{"max_body":1}}"#]);
        check("CMS_ROLES__EDITOR__NAME", "Boss", &[r#"{"roles":{"editor":{"name":"Boss"}}}"#]);
        check("CMS_HOME", "x", &[]);
        check("MY_CMS__X", "x", &[]);
        check("cms_site__prefix", "x", &[]);
    }

    #[test]
    fn the_command_line_comes_last() {
        let found = settled(&["site.prefix=b"], &[("CMS_SITE__PREFIX", "a")]);
        assert_eq!(found, [r#"{"site":{"prefix":"a"}}"#, r#"{"site":{"prefix":"b"}}"#]);
    }
}
