//! Patterns of routes, parsed: `/posts/(?P<id>[\d]+)` is the text `/posts/` and the parameter `id`.

/// A pattern: texts and parameters in turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathTemplate {
    pub parameters: Vec<Parameter>,
    /// The text after the last parameter.
    pub end: String,
}

/// A capture of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The text between the parameter before it and this one.
    pub before: String,
    pub name: String,
    /// The expression that its values match.
    pub class: String,
}

impl PathTemplate {
    /// Parses a pattern. Text outside captures is literal; its escapes are left out.
    pub fn of(pattern: &str) -> PathTemplate {
        let mut template = PathTemplate::default();
        let literal = |text: &str| text.replace('\\', "");
        let mut rest = pattern;
        while let Some((before, capture)) = rest.split_once("(?P<") {
            let (name, class) = capture.split_once('>').unwrap_or((capture, ""));
            let (class, after) = class.split_at(closing(class));
            let (before, name, class) = (literal(before), name.to_owned(), class.to_owned());
            template.parameters.push(Parameter { before, name, class });
            rest = after.get(1..).unwrap_or("");
        }
        template.end = literal(rest);
        template
    }

    /// The path with values in the places of its parameters.
    pub fn filled(&self, value: impl Fn(&Parameter) -> String) -> String {
        let fill = |path: String, parameter: &Parameter| path + &parameter.before + &value(parameter);
        self.parameters.iter().fold(String::new(), fill) + &self.end
    }

    /// As addresses with variables are written: `/posts/{id}`, each variable one segment.
    pub fn uri_template(&self) -> String {
        let variable = |(name, _): (String, &str)| format!("{{{name}}}");
        self.filled(|parameter| parameter.segments().into_iter().map(variable).collect::<Vec<_>>().join("/"))
    }

    /// The segments that are no parameters, without the namespace.
    pub fn words(&self, namespace: &str) -> Vec<String> {
        let path = self.uri_template();
        let below = path.trim_start_matches('/');
        let below = below.strip_prefix(namespace).unwrap_or(below);
        let words = below.split('/').filter(|segment| !segment.is_empty() && !segment.contains('{'));
        words.map(str::to_owned).collect()
    }
}

impl Parameter {
    /// The names and expressions of its segments: one whose values always contain a slash has several.
    pub fn segments(&self) -> Vec<(String, &str)> {
        let mut parts = Vec::new();
        let mut start = 0;
        for (at, _) in outside_groups(&self.class).filter(|(_, c)| *c == '/') {
            parts.push(self.class[start..at].trim_end_matches('\\'));
            start = at + 1;
        }
        parts.push(&self.class[start..]);
        let one = parts.len() == 1;
        let name = |at: usize| if one { self.name.clone() } else { format!("{}{}", self.name, at + 1) };
        parts.into_iter().enumerate().map(|(at, class)| (name(at), class)).collect()
    }
}

/// Where the group that is open at the start ends; the end of the text if it does not.
fn closing(class: &str) -> usize {
    outside_groups(class).find(|(_, c)| *c == ')').map_or(class.len(), |(at, _)| at)
}

/// The characters of an expression that are in no set and no group, and what ends the group around it.
fn outside_groups(class: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut depth, mut escaped, mut in_set) = (0_usize, false, false);
    class.char_indices().filter(move |(_, c)| {
        let literal = std::mem::take(&mut escaped);
        match c {
            _ if literal => depth == 0 && !in_set && *c == '/',
            '\\' => {
                escaped = true;
                false
            }
            '[' if !in_set => {
                in_set = true;
                false
            }
            ']' => {
                in_set = false;
                false
            }
            _ if in_set => false,
            '(' => {
                depth += 1;
                false
            }
            ')' if depth > 0 => {
                depth -= 1;
                false
            }
            _ => depth == 0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_become_names() {
        let check = |pattern: &str, path: &str, captures: &[(&str, &str)]| {
            let template = PathTemplate::of(pattern);
            let segments: Vec<_> = template.parameters.iter().flat_map(Parameter::segments).collect();
            let segments: Vec<(&str, &str)> = segments.iter().map(|(name, class)| (name.as_str(), *class)).collect();
            assert_eq!((template.uri_template().as_str(), segments.as_slice()), (path, captures), "{pattern}");
        };
        check("/cms/v2/posts", "/cms/v2/posts", &[]);
        check("/a/(?P<id>[\\d]+)", "/a/{id}", &[("id", "[\\d]+")]);
        check("/a/(?P<p>[\\d]+)/b/(?P<id>\\w+)", "/a/{p}/b/{id}", &[("p", "[\\d]+"), ("id", "\\w+")]);
        check("/u/(?P<u>(?:[\\d]+|me))/x", "/u/{u}/x", &[("u", "(?:[\\d]+|me)")]);
        check("/t/(?P<s>[^()\\]]+(?:\\/[^)]+)?)/v", "/t/{s}/v", &[("s", "[^()\\]]+(?:\\/[^)]+)?")]);
        check("/t/(?P<s>", "/t/{s}", &[("s", "")]);
        check("/i/(?P<n>[a-z/]+/[a-z](?:/x)?)", "/i/{n1}/{n2}", &[("n1", "[a-z/]+"), ("n2", "[a-z](?:/x)?")]);
        check("/i/(?P<n>[a]\\/[b])", "/i/{n1}/{n2}", &[("n1", "[a]"), ("n2", "[b]")]);
        check("/openapi\\.json", "/openapi.json", &[]);
    }

    #[test]
    fn words_are_the_literal_segments() {
        let words = |pattern: &str| PathTemplate::of(pattern).words("cms/v2").join(" ");
        assert_eq!(words("/cms/v2/posts/(?P<parent>[\\d]+)/revisions/(?P<id>[\\d]+)"), "posts revisions");
        assert_eq!(words("/batch/v1"), "batch v1");
    }
}
