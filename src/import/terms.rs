//! Users and terms of an export.

use super::importer::{Importer, WAITING, parent_key};
use super::items::{AccountDetails, Author, Term, TermRef};
use super::records::neutral;
use crate::boot::BootError;
use cms_core::access::hashing;
use cms_core::families::{Columns, term, text_column, user};
use cms_core::records::txt;
use cms_core::registry::name;
use cms_core::registry::resource::Resource;
use cms_storage::plan::{Change, DbValue, Input, Put, Target};
use cms_text::html_policy::{self, Policy};
use cms_text::{php, sanitize, slug};
use serde_json::Value;

/// The taxonomy whose terms are formats: a record has its format in a column.
pub(super) const FORMATS: &str = "post_format";

impl<'a> Importer<'a> {
    pub(super) fn author(&mut self, author: Author) -> Result<(), BootError> {
        let key = slug::title_key(&author.login);
        let number = author.id.unwrap_or(0);
        let (id, _) = self.users.take("user", number);
        if let Some(here) = self.account_of(&author, &key) {
            self.users.moved.insert((number, 0), here);
            self.authors.get_or_insert_default().insert(key, here);
            if number > 0 && number != here {
                self.report.moved("user", number, here);
            }
            return Ok(());
        }
        if !self.remember(format!("user:{}", author.login), "user", id) {
            // The account was deleted since.
            self.authors.get_or_insert_default().insert(key, self.importing);
            return Ok(());
        }
        self.authors.get_or_insert_default().insert(key.clone(), id);
        if number > 0 && number != id {
            self.report.moved("user", number, id);
        }
        let email = self.address(&author, &key);
        let shown = if author.display_name.is_empty() { &author.login } else { &author.display_name };
        let mut set = vec![
            text_column(user::columns::EMAIL, &email),
            text_column(user::columns::NAME, shown),
            text_column(user::columns::FIRST_NAME, &author.first_name),
            text_column(user::columns::LAST_NAME, &author.last_name),
        ];
        let account = author.account.as_deref();
        match account {
            Some(account) => self.account_columns(account, &mut set),
            None => set.push(user::roles_column(self.registry.imported_role())),
        }
        let target = Target::Keyed(DbValue::Int(id));
        // A login without letters that addresses can have makes none.
        let wished = account.map(|account| slug::user_slug(&account.slug)).filter(|slug| !slug.is_empty());
        let slug = wished.or_else(|| slug::user_slug(&author.login).is_empty().then(|| format!("user-{id}")));
        let registered = account.and_then(|account| account.registered).unwrap_or(self.now);
        let values = account.map(|account| account.meta.as_slice()).unwrap_or_default();
        self.judge_meta(self.registry.users(), values, &[]);
        let put = user::put(target, &author.login, registered, slug, set);
        self.pending.push(Change::Put(Put { meta: super::records::meta(values), ..put }));
        self.addresses.insert(slug::title_key(&email), (author.login, None));
        self.logins.insert(key, id);
        self.report.users += 1;
        Ok(())
    }

    /// The parts of a new account that a database has. Roles that nothing here declares give no rights.
    fn account_columns(&mut self, account: &AccountDetails, set: &mut Columns) {
        let (declared, unknown): (Vec<&str>, Vec<&str>) =
            account.roles.iter().map(String::as_str).partition(|role| self.settings.roles.contains(role));
        for role in unknown {
            *self.report.roles.entry(role.to_owned()).or_default() += 1;
        }
        set.push(match declared.is_empty() {
            true => user::roles_column(self.registry.default_role()),
            false => user::roles_column(declared),
        });
        match account.password_hash.as_str() {
            hash if hashing::is_known(hash) => {
                self.report.passwords += 1;
                set.push(text_column(user::columns::PASSWORD_HASH, hash));
            }
            _ => self.report.no_passwords += 1,
        }
        let biography = html_policy::sanitise(&account.description, Policy::biographies());
        let url = sanitize::clean_url(&account.url);
        let texts = [
            (user::columns::URL, url.as_str()),
            (user::columns::NICKNAME, &account.nickname),
            (user::columns::DESCRIPTION, &biography),
            (user::columns::LOCALE, &account.locale),
        ];
        let given = texts.into_iter().filter(|(_, text)| !text.is_empty());
        set.extend(given.map(|(column, text)| text_column(column, text)));
    }

    /// The account that an author is: the one with the login, else one that was here before and has the address.
    fn account_of(&mut self, author: &Author, key: &str) -> Option<i64> {
        if let Some(here) = self.logins.get(key) {
            return Some(*here);
        }
        let email = slug::title_key(&author.email);
        let (login, id) = self.addresses.get(&email).filter(|_| !email.is_empty())?;
        let (login, id) = (login.clone(), (*id)?);
        let address = &author.email;
        let text = || format!("the author {} is the account {login}, which has the address {address}", author.login);
        self.report.accounts.add(text);
        Some(id)
    }

    /// The address of a new account. Every account has one of its own: what is missing or taken is replaced by one that can
    /// never receive.
    fn address(&mut self, author: &Author, key: &str) -> String {
        let taken = |email: &str| self.addresses.contains_key(&slug::title_key(email));
        if !author.email.is_empty() && !taken(&author.email) {
            return author.email.clone();
        }
        let local = slug::user_slug(key);
        let local = if local.is_empty() { "user" } else { &local };
        let numbered = (2_u64..).map(|n| format!("{local}-{n}@invalid"));
        let email = std::iter::once(format!("{local}@invalid")).chain(numbered).find(|email| !taken(email));
        let email = email.unwrap_or_default();
        let why = match author.email.as_str() {
            "" => "has no address in the file".to_owned(),
            given => format!("has the address {given} of another author"),
        };
        self.report
            .accounts
            .add(|| format!("the author {} {why}, and gets {email} until it has its own", author.login));
        email
    }

    /// The resource of a taxonomy, if one is declared for it.
    pub(super) fn taxonomy(&self, exported: &str) -> Option<&'a Resource> {
        self.registry.taxonomies().find(|r| *r.kind == *exported || *r.kind == *neutral(exported))
    }

    /// The stored name of a taxonomy: one that is not declared keeps its name.
    pub(super) fn taxonomy_kind(&self, exported: &str) -> String {
        self.taxonomy(exported).map_or_else(|| exported.to_owned(), |resource| resource.kind.to_string())
    }

    pub(super) fn term(&mut self, term: Term) -> Option<i64> {
        if term.taxonomy == FORMATS {
            return None;
        }
        self.note_translations(&term);
        let (taxonomy, kind) = (self.taxonomy(&term.taxonomy), self.taxonomy_kind(&term.taxonomy));
        let slug = if term.slug.is_empty() { slug::sanitize_title(&term.name) } else { term.slug.clone() };
        let number = term.id.unwrap_or(0);
        self.judge_meta(taxonomy, &term.meta, &[]);
        let here = self.slugs.get(&(kind.clone(), slug.clone())).copied().filter(|_| !slug.is_empty());
        if let Some(id) = here {
            self.terms.take("term", number);
            if self.waits(&parent_key(id)) {
                self.parents.push((kind.clone(), id, term.parent_slug));
            }
            if number > 0 && number != id {
                self.report.moved("term", number, id);
            }
            // Of a term that no import brought, what it has stays, and the values of the file are added.
            if self.remember(format!("term:{kind}:{slug}"), "term", id) {
                self.report.known += 1;
                if !term.meta.is_empty() {
                    let target = Target::Existing { key: DbValue::Int(id), expect: None };
                    let meta = super::records::meta(&term.meta);
                    self.pending.push(Change::Put(Put { meta, ..Put::new(term::columns::TABLE, target, Vec::new()) }));
                }
            }
            return Some(id);
        }
        let id = match term.id {
            Some(id) => self.terms.take("term", id).0,
            None => {
                self.next_term += 1;
                self.next_term - 1
            }
        };
        if number > 0 && number != id {
            self.report.moved("term", number, id);
        }
        let slug = if slug.is_empty() { id.to_string() } else { slug };
        self.remember(format!("term:{kind}:{slug}"), "term", id);
        let mut set = vec![text_column(term::columns::DESCRIPTION, &term.description)];
        set.extend(taxonomy.into_iter().flat_map(|taxonomy| self.seo_columns(taxonomy, &term.meta)));
        let key = DbValue::Int(id);
        let target = match self.seeds.get(&*kind) == Some(&id) {
            true => Target::Existing { key, expect: None },
            false => Target::Keyed(key),
        };
        let put = term::put(&name(&kind), target, &term.name, &slug, set);
        self.pending.push(Change::Put(Put { meta: super::records::meta(&term.meta), ..put }));
        if !term.parent_slug.is_empty() {
            self.remember_as(&parent_key(id), WAITING, id);
            self.parents.push((kind.clone(), id, term.parent_slug));
        }
        self.slugs.insert((kind.clone(), slug), id);
        match taxonomy {
            Some(_) => self.report.terms += 1,
            None => *self.report.hidden_terms.entry(kind).or_default() += 1,
        }
        Some(id)
    }

    /// The languages of the terms that a group of translations names.
    fn note_translations(&mut self, group: &Term) {
        let languages = self.registry.languages.as_ref();
        if languages.is_some_and(|languages| languages.import.term_groups == group.taxonomy)
            && let Some(Value::Object(members)) = php::unserialize(&group.description)
        {
            let numbered = members.into_iter().filter_map(|(language, number)| Some((language, number.as_i64()?)));
            self.spoken.extend(numbered.map(|(language, number)| (group.slug.clone(), language, number)));
        }
    }

    /// Sets the languages of terms.
    pub(super) fn speak(&mut self) {
        let Some(languages) = &self.registry.languages else { return };
        for (group, language, number) in std::mem::take(&mut self.spoken) {
            let Some(id) = self.numbered.get(&number).copied() else { continue };
            let kind = self.slugs.iter().find(|(_, own)| **own == id).map(|((kind, _), _)| kind.clone());
            let Some(taxonomy) = kind.and_then(|kind| self.registry.taxonomies().find(|r| *r.kind == *kind)) else {
                continue;
            };
            let values = [(&languages.column, language), (&languages.group, group)];
            let set: Columns = values
                .iter()
                .filter_map(|(column, text)| Some((taxonomy.plan_column(column)?, Input::Value(txt(text)))))
                .collect();
            if !set.is_empty() {
                let target = Target::Existing { key: DbValue::Int(id), expect: None };
                self.pending.push(Change::Put(Put::new(taxonomy.table.clone(), target, set)));
            }
        }
    }

    /// The id of a term that a record carries; one that the file does not list is made.
    pub(super) fn carried(&mut self, term: &TermRef) -> Option<i64> {
        let slug = if term.slug.is_empty() { slug::sanitize_title(&term.name) } else { term.slug.clone() };
        if let Some(id) = self.slugs.get(&(self.taxonomy_kind(&term.taxonomy), slug.clone())) {
            return Some(*id);
        }
        self.term(Term { taxonomy: term.taxonomy.clone(), slug, name: term.name.clone(), ..Term::default() })
    }
}
