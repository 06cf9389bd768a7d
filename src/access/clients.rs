//! Programs that have registered themselves (RFC 7591): what is stored of them, how many there are, and when they go.
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
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, ReadPlan, Target};
use cms_storage::typed_row;
use std::sync::Arc;

/// How tokens begin by which a program manages its registration.
const MARK: &str = "cms-client.";

/// Longest name, in characters.
const LONGEST_NAME: usize = 100;

/// The last use is written again after this many seconds.
const REFRESH: i64 = 24 * 60 * 60;

typed_row! {
    col::TABLE;
    /// A registered program.
    pub struct Client {
        pub id: Arc<str> = col::KEY,
        pub name: Arc<str>,
        redirects: Arc<str>,
        pub created: i64,
        expires: i64,
    }
}

/// The properties that a program registers.
pub struct Registration {
    pub name: String,
    pub redirects: Vec<String>,
}

impl Registration {
    /// Checks what a program says of itself.
    ///
    /// # Errors
    /// A sentence about an address.
    pub fn checked(rules: &OAuthOptions, name: &str, redirects: Vec<String>) -> Result<Registration, String> {
        if redirects.is_empty() || redirects.len() > rules.redirects {
            return Err(format!("Give 1 to {} addresses in redirect_uris.", rules.redirects));
        }
        for address in &redirects {
            addresses::registered(address, &rules.schemes)
                .map_err(|why| format!("An address in redirect_uris {why}."))?;
        }
        // Characters that turn the direction of a text around would show another name.
        let shown = |c: &char| {
            !c.is_control()
                && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        };
        let name: String = name.chars().filter(shown).take(LONGEST_NAME).collect();
        Ok(Registration { name: name.trim().to_owned(), redirects })
    }

    fn columns(&self) -> [(&'static str, DbValue); 2] {
        [(col::NAME, txt(&self.name)), (col::REDIRECTS, txt(&join_words(self.redirects.iter().map(String::as_str))))]
    }
}

impl Client {
    /// The program with this id.
    pub fn find(scope: &Scope, id: &str) -> Result<Option<Client>, ApiError> {
        // Ids have this form, so others need no lookup.
        if uuid::Uuid::try_parse(id).is_err() {
            return Ok(None);
        }
        let found = first_of::<Client>(&*scope.snapshot()?, eq(col::KEY, txt(id)))?;
        Ok(found.filter(|client| client.expires > scope.now))
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

/// The changes that store a new program: its id comes first. Where there are too many, the oldest one goes that nobody has
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
    let id = uuid::Uuid::new_v4().to_string();
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
