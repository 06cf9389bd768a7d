//! Programs that have registered themselves (RFC 7591) or are described by a document ([`super::client_documents`]): what is stored
//! of them, how many there are, and when they go.
//!
//! Everybody may register a program, so a registration grants nothing and is nobody's word: the name is what the program
//! calls itself. How it is connected is the matter of [`super::grants`].

use super::addresses;
use super::grants;
use super::hashing::same_text;
use super::identity::Identity;
use crate::error::ApiError;
use crate::records::{columns, eq, first_of, join_words, ordered, set, split_words, txt};
use crate::registry::columns::client as col;
use crate::registry::name;
use crate::scope::Scope;
use cms_declaration::OAuthOptions;
use cms_declaration::translations::Sentence;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, ReadPlan, Target};
use cms_storage::typed_row;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::Arc;

/// How tokens begin by which a program manages its registration.
const MARK: &str = "cms-client.";

/// Longest name, in characters.
const LONGEST_NAME: usize = 100;

/// Why no further program is taken.
pub const FULL: &str = "This site has as many connected programs as it may; an administrator of it can tell more.";

/// The last use is written again after this many seconds.
const REFRESH: i64 = 24 * 60 * 60;

typed_row! {
    col::TABLE;
    /// A registered program.
    pub struct Client {
        /// Its id here. A program with a document calls itself otherwise: [`Client::own_id`].
        pub id: Arc<str> = col::KEY,
        pub name: Arc<str>,
        redirects: Arc<str>,
        pub created: i64,
        expires: i64,
        /// Address of its document; empty: it has none.
        pub document: Arc<str>,
        stale: i64,
    }
}

/// The id here of the program that calls itself so: a UUID, which other tables and clients of WordPress expect. That of a program
/// with a document is made from the address.
pub fn id_here(id: &str) -> Cow<'_, str> {
    if addresses::document(id).is_none() {
        return id.into();
    }
    let digest: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string().into()
}

/// Where a description of a program was read.
pub struct DocumentSource {
    pub address: String,
    /// Seconds since 1970 at which it has to be read again.
    pub stale: i64,
}

/// The properties that a program registers.
pub struct Registration {
    pub name: String,
    pub redirects: Vec<String>,
    /// The document that says so; `None`: the program has said it itself.
    pub document: Option<DocumentSource>,
}

impl Registration {
    /// Checks what a program says of itself: an object with the members of RFC 7591.
    ///
    /// # Errors
    /// The error of RFC 7591, and a sentence about it.
    pub fn checked(rules: &OAuthOptions, said: &Value) -> Result<Registration, (&'static str, Sentence)> {
        let wrong = |why: Sentence| ("invalid_client_metadata", why);
        let list = |member: &str| match &said[member] {
            Value::Null => Ok(Vec::new()),
            value => {
                let texts =
                    value.as_array().and_then(|all| all.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
                texts.ok_or_else(|| wrong(Sentence::about("{value} is no list of texts.", member)))
            }
        };
        if list("response_types")?.iter().any(|one| *one != "code") {
            return Err(wrong("The only response type is code.".into()));
        }
        let grants = list("grant_types")?;
        if !grants.is_empty() && !grants.contains(&"authorization_code") {
            return Err(wrong("Programs are connected by authorization_code alone.".into()));
        }
        let redirects = list("redirect_uris")?;
        let unfit = |why: Sentence| ("invalid_redirect_uri", why);
        if redirects.is_empty() || redirects.len() > rules.redirects {
            return Err(unfit(Sentence::about("Give 1 to {value} addresses in redirect_uris.", rules.redirects)));
        }
        for address in &redirects {
            addresses::registered(address, &rules.schemes)
                .map_err(|why| unfit(Sentence::about("An address in redirect_uris {value}.", why)))?;
        }
        // Characters that turn the direction of a text around would show another name.
        let shown = |c: &char| {
            !c.is_control()
                && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        };
        let name = said["client_name"].as_str().unwrap_or_default();
        let name: String = name.chars().filter(shown).take(LONGEST_NAME).collect();
        let redirects = redirects.into_iter().map(str::to_owned).collect();
        Ok(Registration { name: name.trim().to_owned(), redirects, document: None })
    }

    fn columns(&self) -> [(&'static str, DbValue); 4] {
        let (document, stale) = self.document.as_ref().map_or(("", 0), |source| (&*source.address, source.stale));
        [
            (col::NAME, txt(&self.name)),
            (col::REDIRECTS, txt(&join_words(self.redirects.iter().map(String::as_str)))),
            (col::DOCUMENT, txt(document)),
            (col::STALE, DbValue::Int(stale)),
        ]
    }
}

impl Client {
    /// The program that calls itself so.
    pub fn find(scope: &Scope, id: &str) -> Result<Option<Client>, ApiError> {
        let key = id_here(id);
        // Ids have this form, so others need no lookup.
        if uuid::Uuid::try_parse(&key).is_err() {
            return Ok(None);
        }
        let documents = scope.registry.oauth().is_some_and(|(_, rules)| rules.documents.enabled);
        let found = first_of::<Client>(&*scope.snapshot()?, eq(col::KEY, txt(&key)))?;
        let own = |client: &Client| client.own_id() == id && (documents || client.document.is_empty());
        Ok(found.filter(|client| client.expires > scope.now && own(client)))
    }

    /// The id by which it calls itself: the address of its document, where it has one.
    pub fn own_id(&self) -> &str {
        if self.document.is_empty() { &self.id } else { &self.document }
    }

    /// Whether its document has to be read again.
    pub fn is_stale(&self, now: i64) -> bool {
        !self.document.is_empty() && self.stale <= now
    }

    /// Where it may have people redirected.
    pub fn redirects(&self) -> Vec<Arc<str>> {
        split_words(&self.redirects)
    }

    /// The change that notes a use, where the last one was a while before.
    pub fn used(&self, rules: &OAuthOptions, now: i64) -> Option<Change> {
        let until = now.saturating_add(rules.idle.seconds_signed());
        (until - self.expires >= REFRESH).then(|| self.put(set([(col::EXPIRES, DbValue::Int(until))])))
    }

    /// The change that replaces what it has registered.
    pub fn replaced(&self, registration: &Registration) -> Change {
        self.put(set(registration.columns()))
    }

    /// The changes that end the registration, and what people have connected by it.
    pub fn removed(&self) -> Vec<Change> {
        let own = Change::Remove { table: name(col::TABLE), key: txt(&self.id), expect: None };
        vec![own, grants::ended(&self.id)]
    }

    fn put(&self, set: Vec<(cms_storage::plan::Name, cms_storage::plan::Input)>) -> Change {
        Change::Put(Put::new(col::TABLE, Target::Existing { key: txt(&self.id), expect: None }, set))
    }
}

/// The changes that store a new program: its id here comes first. Where there are too many, the oldest one goes that nobody has
/// connected; `None`: all of them are connected.
pub fn registered(
    scope: &Scope,
    rules: &OAuthOptions,
    registration: &Registration,
) -> Result<Option<(String, Vec<Change>)>, ApiError> {
    let unused = scope.now.saturating_add(rules.unused.seconds_signed());
    let snapshot = scope.snapshot()?;
    let count = snapshot.count(&columns(col::TABLE, &[col::KEY], crate::records::always()))?;
    let mut changes = Vec::new();
    if count >= rules.clients {
        let waiting = Cond::Compare(name(col::EXPIRES), Op::Le, DbValue::Int(unused));
        let oldest = ordered(columns(col::TABLE, &[col::KEY], waiting), col::EXPIRES, false);
        let keys: Vec<DbValue> = snapshot.rows_as(&ReadPlan { limit: Some(count - rules.clients + 1), ..oldest })?;
        if keys.is_empty() {
            return Ok(None);
        }
        changes.push(Change::RemoveWhere { table: name(col::TABLE), filter: Cond::In(name(col::KEY), keys) });
    }
    let id = match &registration.document {
        None => uuid::Uuid::new_v4().to_string(),
        Some(source) => {
            // Another tab may have read it, too, or the row has ended.
            let id = id_here(&source.address).into_owned();
            changes.push(Change::RemoveWhere { table: name(col::TABLE), filter: eq(col::KEY, txt(&id)) });
            id
        }
    };
    let own = [(col::CREATED, DbValue::Int(scope.now)), (col::EXPIRES, DbValue::Int(unused))];
    let set = set(registration.columns().into_iter().chain(own));
    changes.push(Change::Put(Put::new(col::TABLE, Target::Keyed(txt(&id)), set)));
    Ok(Some((id, changes)))
}

/// Whether a token of a header looks like one that manages a registration.
pub fn is_client_token(text: &str) -> bool {
    text.starts_with(MARK)
}

impl Identity {
    /// The token by which a program manages its registration. It is made from the id and the key, and stored nowhere.
    pub fn client_token(&self, id: &str) -> String {
        format!("{MARK}{}", self.digest(&format!("client|{id}")))
    }

    /// Whether a token is that of a registration.
    pub fn client_token_fits(&self, id: &str, token: &str) -> bool {
        same_text(&self.client_token(id), token)
    }
}
