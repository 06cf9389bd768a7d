//! Patterns of routes as path templates: `/posts/(?P<id>[\d]+)` becomes `/posts/{id}`.

/// A pattern as a description writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathTemplate {
    /// `/cms/v2/posts/{id}`.
    pub path: String,
    /// The parameters of the path, in order.
    pub parameters: Vec<Parameter>,
}

/// A segment of a path that a capture matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// The capture that it is a part of. One that always contains a slash has several: a parameter is one segment.
    pub capture: String,
    /// The expression that its values match.
    pub class: String,
}

impl PathTemplate {
    /// Reads a pattern of a route. Text outside captures is literal; its escapes are left out.
    pub fn of(pattern: &str) -> PathTemplate {
        let mut template = PathTemplate::default();
        let mut rest = pattern;
        while let Some((before, capture)) = rest.split_once("(?P<") {
            template.path.push_str(&literal(before));
            let (name, class) = capture.split_once('>').unwrap_or((capture, ""));
            let end = closing(class);
            template.capture(name, &class[..end]);
            rest = class.get(end + 1..).unwrap_or("");
        }
        template.path.push_str(&literal(rest));
        template
    }

    fn capture(&mut self, capture: &str, class: &str) {
        let segments = segments(class);
        for (i, class) in segments.iter().enumerate() {
            let name = if segments.len() == 1 { capture.to_owned() } else { format!("{capture}{}", i + 1) };
            if i > 0 {
                self.path.push('/');
            }
            self.path.push_str(&format!("{{{name}}}"));
            self.parameters.push(Parameter { name, capture: capture.to_owned(), class: (*class).to_owned() });
        }
    }

    /// Whether the path contains the value of an argument.
    pub fn holds(&self, argument: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.capture == argument)
    }

    /// The segments that are no captures, without the namespace.
    pub fn words(&self, namespace: &str) -> Vec<String> {
        let below = self.path.trim_start_matches('/');
        let below = below.strip_prefix(namespace).unwrap_or(below);
        let words = below.split('/').filter(|segment| !segment.is_empty() && !segment.contains('{'));
        words.map(str::to_owned).collect()
    }
}

fn literal(text: &str) -> String {
    text.replace('\\', "")
}

/// Where the group that is open at the start ends; the end of the text if it does not.
pub fn closing(class: &str) -> usize {
    outside_groups(class).find(|(_, c)| *c == ')').map_or(class.len(), |(at, _)| at)
}

/// The parts of an expression between slashes that are in no group.
fn segments(class: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in outside_groups(class).filter(|(_, c)| *c == '/') {
        parts.push(class[start..at].trim_end_matches('\\'));
        start = at + 1;
    }
    parts.push(&class[start..]);
    parts
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
            let parameters = template.parameters.iter();
            let found: Vec<(&str, &str)> = parameters.map(|one| (one.name.as_str(), one.class.as_str())).collect();
            assert_eq!((template.path.as_str(), found.as_slice()), (path, captures), "{pattern}");
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
