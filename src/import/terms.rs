//! Users and terms of an export.

use super::importer::Importer;
use super::records::neutral;
use super::wxr::{self, TermRef};
use crate::boot::BootError;
use crate::config::declaration::Family;
use crate::families::{term, text_column, user};
use crate::registry::resource::Resource;
use crate::storage::plan::{Change, DbValue, Target};
use crate::text::slug;

impl<'a> Importer<'a> {
    pub(super) fn author(&mut self, author: wxr::Author) -> Result<(), BootError> {
        let key = slug::title_key(&author.login);
        let (id, _) = self.users.take("user", author.id.unwrap_or(0));
        if let Some(here) = self.logins.get(&key).copied() {
            self.users.moved.insert((author.id.unwrap_or(0), 0), here);
            self.authors.get_or_insert_default().insert(key, here);
            return Ok(());
        }
        self.authors.get_or_insert_default().insert(key.clone(), id);
        if !self.remember(format!("user:{}", author.login), "user", id) {
            return Ok(());
        }
        // Every account has an address; one that is missing gets one that can never receive.
        let email = if author.email.is_empty() { format!("{key}@invalid") } else { author.email.clone() };
        let shown = if author.display_name.is_empty() { &author.login } else { &author.display_name };
        let now = self.services.clock.now();
        let set = vec![
            text_column(user::columns::EMAIL, &email),
            text_column(user::columns::NAME, shown),
            text_column(user::columns::FIRST_NAME, &author.first_name),
            text_column(user::columns::LAST_NAME, &author.last_name),
            user::roles_column(self.registry.imported_role()),
        ];
        let target = Target::Keyed(DbValue::Int(id));
        self.pending.push(Change::Put(user::put(target, &author.login, now, None, set)));
        self.logins.insert(key, id);
        self.report.users += 1;
        Ok(())
    }

    /// The neutral name of a taxonomy, if a resource is declared for it.
    pub(super) fn taxonomy(&self, exported: &str) -> Option<&'a Resource> {
        self.registry.family(Family::Term).find(|r| *r.kind == *exported || *r.kind == *neutral(exported))
    }

    pub(super) fn term(&mut self, term: wxr::Term) -> Option<i64> {
        let Some(taxonomy) = self.taxonomy(&term.taxonomy) else {
            *self.report.left_out.entry(term.taxonomy).or_default() += 1;
            return None;
        };
        let kind = taxonomy.kind.to_string();
        let slug = if term.slug.is_empty() { slug::sanitize_title(&term.name) } else { term.slug.clone() };
        if let Some(id) = self.slugs.get(&(kind.clone(), slug.clone())).copied() {
            self.terms.take("term", term.id.unwrap_or(0));
            self.report.known += 1;
            return Some(id);
        }
        let id = match term.id {
            Some(id) => self.terms.take("term", id).0,
            None => {
                self.next_term += 1;
                self.next_term - 1
            }
        };
        self.remember(format!("term:{kind}:{slug}"), "term", id);
        let set = vec![text_column(term::columns::DESCRIPTION, &term.description)];
        let target = Target::Keyed(DbValue::Int(id));
        self.pending.push(Change::Put(term::put(taxonomy, target, &term.name, &slug, set)));
        if !term.parent_slug.is_empty() {
            self.parents.push((kind.clone(), id, term.parent_slug));
        }
        self.slugs.insert((kind, slug), id);
        self.report.terms += 1;
        Some(id)
    }

    /// The id of a term that a record carries; one that the file does not list is made.
    pub(super) fn carried(&mut self, term: &TermRef) -> Option<i64> {
        let taxonomy = self.taxonomy(&term.taxonomy)?;
        if let Some(id) = self.slugs.get(&(taxonomy.kind.to_string(), term.slug.clone())) {
            return Some(*id);
        }
        self.term(wxr::Term {
            taxonomy: term.taxonomy.clone(),
            slug: term.slug.clone(),
            name: term.name.clone(),
            ..wxr::Term::default()
        })
    }
}
