//! Problems of the files that the server is started with.

use std::fmt;

/// Something wrong in a file that the server is started with. All of them are reported at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file as the user named it, or `command line` / `environment`.
    pub file: String,
    /// Line and column, both from 1; `None` for the whole file.
    pub place: Option<(usize, usize)>,
    /// The offending line as written, without its line feed.
    pub excerpt: Option<String>,
    /// The problem, as a sentence.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

impl Problem {
    /// Problems by place, each once: a fault that several resources inherit is reported for one of them.
    pub fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
        problems.sort();
        problems.dedup_by(|next, first| {
            next.file == first.file
                && next.place == first.place
                && next.hint == first.hint
                && next.place.is_some()
                && next.fault() == first.fault()
                || next == first
        });
        problems
    }

    /// The message without the resource that it is about.
    fn fault(&self) -> (&str, &str) {
        let about = |name: &str| name.starts_with("resources.") || name.starts_with("base_resources.");
        let mut quoted = self.message.split('`');
        match (quoted.next(), quoted.next()) {
            (Some(""), Some(name)) => ("", self.message.get(name.len() + 2..).unwrap_or_default()),
            _ => match self.message.trim_end_matches('`').rsplit_once('`') {
                Some((before, name)) if self.message.ends_with('`') && about(name) => (before, ""),
                _ => (&self.message, ""),
            },
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let (Some((line, column)), Some(excerpt)) = (self.place, &self.excerpt) {
            let gutter = line.to_string();
            write!(f, "\n  {gutter} | {excerpt}")?;
            write!(f, "\n  {} | {}^", " ".repeat(gutter.len()), " ".repeat(column.saturating_sub(1)))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}
