//! The accounts of a staged dump, with the parts that no export has: hashes of passwords, roles, values.

use super::records::{ItemReader, RowValues};
use crate::import::dates::{DateZone, moment};
use crate::import::items::{AccountDetails, Author, ExportItem, FileFault, ReadError};
use crate::import::names::reason;
use cms_storage::{StagedRead, StagedValue};
use cms_text::php;
use serde_json::Value;

const USER: [&str; 8] =
    ["ID", "user_login", "user_pass", "user_nicename", "user_email", "user_url", "user_registered", "display_name"];

/// Meta keys whose values are columns of an account here.
const COLUMNS: [&str; 5] = ["first_name", "last_name", "nickname", "description", "locale"];

impl<E, P: FnMut(u64), F: FnMut(ExportItem) -> Result<(), E>> ItemReader<'_, P, F> {
    /// Hands on the accounts: those of the site, where several share them.
    pub(super) fn accounts(&mut self) -> Result<(), ReadError<E>> {
        let dump = self.dump;
        let Some(table) = dump.table("users") else { return Ok(()) };
        let read = StagedRead { table: &table, columns: &USER, of: None, order: "ID" };
        dump.staged.file.each(&read, |row| {
            self.tick();
            match self.account(RowValues::of(row))? {
                Some(author) => self.deliver(ExportItem::Author(author)),
                None => Ok(()),
            }
        })
    }

    fn account(&mut self, mut row: RowValues) -> Result<Option<Author>, FileFault> {
        let dump = self.dump;
        let site = &dump.site;
        let (id, login) = (row.int(), row.word());
        if login.is_empty() {
            self.summary.leave_out("accounts: they have no login", 1);
            return Ok(None);
        }
        let mut meta = dump.meta("usermeta", ("user_id", id))?;
        let key = format!("{}capabilities", site.prefix);
        let granted = meta.iter().find(|(own, _)| *own == key).map(|(_, value)| value.clone());
        if site.is_network && granted.is_none() && !self.owns_records(id)? {
            self.summary.leave_out("accounts of other sites of the network", 1);
            return Ok(None);
        }
        self.count_taken("usermeta", meta.len());
        let mut own = |wanted: &str| {
            let place = meta.iter().position(|(key, _)| key == wanted);
            place.map(|place| meta.remove(place).1).unwrap_or_default()
        };
        let [first_name, last_name, nickname, description, locale] = COLUMNS.map(&mut own);
        let password_hash = row.word();
        let slug = row.word();
        let email = row.word();
        let mut account = AccountDetails {
            password_hash,
            roles: self.roles(&granted.unwrap_or_default()),
            slug,
            nickname,
            url: row.word(),
            description,
            locale,
            registered: moment(&row.word(), DateZone::Utc).ok().flatten(),
            meta: Vec::new(),
        };
        for (key, value) in meta {
            // Each site of a network has such keys of its own.
            let is_other = key.ends_with("_capabilities") || key.ends_with("_user_level");
            match reason(&dump.vocabulary.left_out.user_meta, &key) {
                Some((_, why)) => self.summary.leave_out(format!("values of accounts: {why}"), 1),
                None if is_other || key == format!("{}capabilities", site.prefix) => {}
                None => account.meta.push((key, value)),
            }
        }
        let display_name = row.text();
        let account = Some(Box::new(account));
        Ok(Some(Author { id: Some(id), login, email, display_name, first_name, last_name, account }))
    }

    fn owns_records(&self, account: i64) -> Result<bool, FileFault> {
        let Some(table) = self.dump.table("posts") else { return Ok(false) };
        Ok(self.dump.staged.file.has(&table, "post_author", &StagedValue::Int(account))?)
    }

    /// The roles among the rights that an account was granted. Single rights stand beside them.
    fn roles(&mut self, granted: &str) -> Vec<String> {
        let Some(Value::Object(rights)) = php::unserialize(granted) else { return Vec::new() };
        let known = &self.dump.site.roles;
        let on = rights.into_iter().filter(|(_, on)| matches!(on, Value::Bool(true)) || on.as_i64() == Some(1));
        let (roles, single): (Vec<String>, Vec<String>) =
            on.map(|(word, _)| word).partition(|word| known.is_empty() || known.contains(word));
        self.summary.leave_out("rights that single accounts have beside their roles", single.len() as u64);
        roles
    }
}
