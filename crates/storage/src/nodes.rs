//! The facts that processes on one database have to agree on, as short as they can show each other.
//!
//! Each node names the session on which it listens after its facts. The server lists the sessions that there are, so
//! nobody has to write that a node lives, and nothing is left of one that has ended. A name has 63 bytes, so facts are
//! digests: others see that they differ, and by which fact.

use sha2::{Digest as _, Sha256};

/// Bytes of a session's name that a PostgreSQL server shows.
const LENGTH: usize = 63;

/// How the name of every node's session begins.
pub const FIRST: &str = "cms-server ";

/// Seconds by which the clocks of two nodes may differ.
const CLOCKS: u64 = 5;

/// Bytes of a version that are shown.
const VERSION: usize = 10;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text for a fact that a node does not know.
const UNKNOWN: &str = "...";

/// Three letters that differ, most likely, where texts do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest(String);

impl Digest {
    /// Of any text.
    pub fn of(text: impl AsRef<[u8]>) -> Digest {
        let digest = Sha256::digest(text);
        Digest(digest[..UNKNOWN.len()].iter().map(|byte| char::from(LETTERS[usize::from(byte & 63)])).collect())
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFacts {
    /// The name that the operator gave it, or the end of it.
    pub name: String,
    pub version: String,
    /// Distinguishes processes.
    pub process: Digest,
    /// Of what nodes have to declare alike.
    pub declarations: Digest,
    /// Of the prefix and the address of the site.
    pub site: Digest,
    /// Of the secrets that it has read.
    pub secrets: Digest,
    /// Of the place of uploaded files, where that is known.
    pub files: Option<Digest>,
    /// Seconds by which its clock is ahead of the database's.
    pub clock: i64,
}

/// The nodes of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// Seconds by which the clock of this process is ahead of the database's.
    pub clock: i64,
    /// Those that serve.
    pub serving: Vec<NodeFacts>,
}

impl NodeFacts {
    /// The name of its session, for the nodes of a schema.
    pub fn session(&self, schema: &str) -> String {
        let files = self.files.as_ref().map_or(UNKNOWN, |files| &files.0);
        let digests: [&str; 6] =
            [&Digest::of(schema).0, &self.process.0, &self.declarations.0, &self.site.0, &self.secrets.0, files];
        let fits = |text: &str| text.chars().filter(|c| c.is_ascii_alphanumeric() || ".-_+".contains(*c)).collect();
        let (version, name): (String, String) = (fits(&self.version), fits(&self.name));
        let text = format!("{FIRST}{} {} {} ", digests.concat(), part(&version, VERSION, false), self.clock);
        let left = LENGTH.saturating_sub(text.len());
        text + part(&name, left, true)
    }

    /// From the name of a session; `None` where it is none of a node of this schema.
    pub fn read(session: &str, schema: &str) -> Option<NodeFacts> {
        let mut parts = session.strip_prefix(FIRST)?.splitn(4, ' ');
        let (digests, version, clock, name) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let digest = |n: usize| digests.get(n * UNKNOWN.len()..(n + 1) * UNKNOWN.len()).map(|text| Digest(text.into()));
        let facts = NodeFacts {
            name: name.to_owned(),
            version: version.to_owned(),
            process: digest(1)?,
            declarations: digest(2)?,
            site: digest(3)?,
            secrets: digest(4)?,
            files: digest(5).filter(|files| files.0 != UNKNOWN),
            clock: clock.parse().ok()?,
        };
        (digest(0)? == Digest::of(schema)).then_some(facts)
    }

    /// In what another node differs from this one, in sentences without an end.
    pub fn differences(&self, other: &NodeFacts) -> Vec<String> {
        let mut found = Vec::new();
        let mut add = |differs: bool, what: &dyn Fn() -> String| found.extend(differs.then(what));
        let version = part(&self.version, VERSION, false);
        add(other.version != version, &|| format!("runs version {} (this one {version})", other.version));
        add(other.site != self.site, &|| "has another site.url or site.prefix".into());
        add(other.declarations != self.declarations, &|| "has other declarations".into());
        add(other.secrets != self.secrets, &|| "has other secrets: the database was replaced, restart it".into());
        let files = other.files.is_some() && self.files.is_some() && other.files != self.files;
        add(files, &|| {
            "stores uploads in another place: all nodes need one folder that they mount, or one bucket (media.url)"
                .into()
        });
        let ahead = other.clock.saturating_sub(self.clock);
        let direction = if ahead > 0 { "ahead" } else { "behind" };
        add(ahead.unsigned_abs() > CLOCKS, &|| {
            format!("has a clock that is {} seconds {direction}: synchronise the clocks (NTP)", ahead.unsigned_abs())
        });
        found
    }

    /// The warning to an operator about another node, if it differs.
    pub fn warning(&self, other: &NodeFacts) -> Option<String> {
        let found = self.differences(other);
        (!found.is_empty()).then(|| format!("the node {} {}", other.name, found.join("; it ")))
    }
}

/// At most so many bytes of an ASCII text, of its end or its beginning.
fn part(text: &str, most: usize, end: bool) -> &str {
    let over = text.len().saturating_sub(most);
    if end { &text[over..] } else { &text[..text.len() - over] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> NodeFacts {
        NodeFacts {
            name: "web-1".into(),
            version: "0.1.0".into(),
            process: Digest::of("1"),
            declarations: Digest::of("declarations"),
            site: Digest::of("site"),
            secrets: Digest::of("secrets"),
            files: Some(Digest::of("files")),
            clock: 0,
        }
    }

    #[test]
    fn facts_fit_into_the_name_of_a_session() {
        let long = NodeFacts {
            name: "a-very-long-name-of-a-container-é'\"-7d9f8b-x2k".into(),
            version: "10.20.30-alpha.40+build".into(),
            clock: -12_345,
            ..facts()
        };
        for (facts, name) in
            [(facts(), "web-1"), (long, "ner--7d9f8b-x2k"), (NodeFacts { files: None, ..facts() }, "web-1")]
        {
            let session = facts.session("public");
            assert!(session.len() <= LENGTH && session.is_ascii(), "{session}");
            let read = NodeFacts::read(&session, "public").expect("facts");
            assert_eq!(read.name, name, "{session}");
            assert_eq!(read.session("public"), session);
            assert_eq!(facts.differences(&read), [""; 0]);
            assert_eq!(NodeFacts::read(&session, "other"), None);
        }
        for other in ["cms-server", "cms-server x", "cms-server é é é é", "psql"] {
            assert_eq!(NodeFacts::read(other, "public"), None);
        }
    }

    #[test]
    fn each_difference_is_named() {
        for (other, said) in [
            (NodeFacts { version: "0.2.0".into(), ..facts() }, "version 0.2.0 (this one 0.1.0)"),
            (NodeFacts { declarations: Digest::of("x"), ..facts() }, "other declarations"),
            (NodeFacts { site: Digest::of("x"), ..facts() }, "site.url or site.prefix"),
            (NodeFacts { secrets: Digest::of("x"), ..facts() }, "other secrets"),
            (NodeFacts { files: Some(Digest::of("x")), ..facts() }, "in another place"),
            (NodeFacts { clock: 6, ..facts() }, "6 seconds ahead"),
            (NodeFacts { clock: -3600, ..facts() }, "3600 seconds behind"),
        ] {
            assert_eq!(facts().differences(&other).len(), 1, "{said}");
            let warning = facts().warning(&other).expect(said);
            assert!(warning.starts_with("the node web-1 ") && warning.contains(said), "{warning}");
        }
        for same in [
            NodeFacts { files: None, ..facts() },
            NodeFacts { clock: 5, ..facts() },
            NodeFacts { process: Digest::of("2"), name: "web-2".into(), ..facts() },
        ] {
            assert_eq!(facts().warning(&same), None);
        }
    }
}
