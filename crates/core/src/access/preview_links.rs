//! Links that show a record as it is being edited to whoever holds their token.
//!
//! A token is the id of a link with a keyed hash of that and of the record, so it is good for no other record, and the table
//! alone opens nothing. The link itself is a row: it can be listed and taken back. It shows no more than the user who made
//! it may edit at that moment.

use super::hashing::same_text;
use super::identity::{Identity, principal};
use super::policy;
use crate::error::ApiError;
use crate::records::{self, Record, columns, eq, ordered};
use crate::registry::columns::preview as col;
use crate::registry::name;
use crate::registry::resource::Resource;
use crate::scope::Scope;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cms_declaration::Action;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, ReadPlan, Row, Target};
use cms_storage::typed_row;
use std::sync::Arc;

/// Bytes of a link's id.
const BYTES: usize = 16;

/// Links that a record has at most; another one ends the oldest.
const MOST: u64 = 100;

/// A link that is valid: the record, and who made the link.
pub struct PreviewLink {
    pub row: Row,
    pub user: i64,
}

impl Identity {
    /// A new link of the caller to a record, valid until `expires`: its id, its token, and the changes that store it.
    pub fn new_preview(
        &self,
        scope: &Scope,
        record: Record<'_>,
        expires: i64,
    ) -> Result<(String, String, Vec<Change>), ApiError> {
        let link = URL_SAFE_NO_PAD.encode(rand::random::<[u8; BYTES]>());
        let set = records::set([
            (col::RECORD, DbValue::Int(record.id())),
            (col::USER, DbValue::Int(scope.principal.id)),
            (col::CREATED, DbValue::Int(scope.now)),
            (col::EXPIRES, DbValue::Int(expires)),
        ]);
        let ended = Cond::Compare(name(col::EXPIRES), Op::Le, DbValue::Int(scope.now));
        let mut changes = vec![Change::RemoveWhere { table: name(col::TABLE), filter: ended }];
        let own = ordered(columns(col::TABLE, &[col::ID], of(record.id())), col::CREATED, true);
        let oldest = ReadPlan { offset: MOST - 1, limit: Some(MOST), ..own };
        let keys: Vec<DbValue> = scope.snapshot()?.rows_as(&oldest)?;
        if !keys.is_empty() {
            changes.push(Change::RemoveWhere { table: name(col::TABLE), filter: Cond::In(name(col::ID), keys) });
        }
        changes.push(Change::Put(Put::new(col::TABLE, Target::Keyed(records::txt(&link)), set)));
        let token = self.preview_token(&link, record.resource, record.id());
        Ok((link, token, changes))
    }

    /// The link of a token that is good for the record of this id; `None`: it is for another one or nobody's, it has ended, or
    /// the user who made it may not edit the record any more.
    pub fn preview(
        &self,
        scope: &Scope,
        resource: &Resource,
        id: i64,
        token: &str,
    ) -> Result<Option<PreviewLink>, ApiError> {
        // A token that this server has not made is told without a look at the database.
        let Some((link, _)) = token.split_once('.') else { return Ok(None) };
        if !resource.is_content() || !same_text(&self.preview_token(link, resource, id), token) {
            return Ok(None);
        }
        let snapshot = scope.snapshot()?;
        let valid = Cond::All(vec![eq(col::ID, records::txt(link)), of(id), lasting(scope)]);
        let Some(user) = records::first(&*snapshot, col::TABLE, &[col::USER], valid)? else { return Ok(None) };
        let Some(users) = scope.registry.users() else { return Ok(None) };
        let user = records::find(&*snapshot, users, &user)?;
        let row = records::find(&*snapshot, resource, &DbValue::Int(id))?;
        let Some((user, row)) = user.zip(row) else { return Ok(None) };
        let maker = Record { resource: users, row: &user };
        let scope = Scope { principal: principal(&scope.settings, maker), ..scope.clone() };
        let record = Record { resource, row: &row };
        let shown = policy::may(&scope, Action::Edit, record)? && !is_trashed(&scope, record);
        Ok(shown.then(|| PreviewLink { user: maker.id(), row: row.clone() }))
    }

    fn preview_token(&self, link: &str, resource: &Resource, id: i64) -> String {
        format!("{link}.{}", self.digest(&format!("preview|{link}|{}|{id}", resource.kind)))
    }
}

/// The record that a token says it is for. Whether it is good for that is another question.
pub fn record_of(scope: &Scope, token: &str) -> Result<Option<i64>, ApiError> {
    let Some((link, _)) = token.split_once('.') else { return Ok(None) };
    let known = eq(col::ID, records::txt(link));
    Ok(records::first(&*scope.snapshot()?, col::TABLE, &[col::RECORD], known)?)
}

/// Whether a record is in the trash, where it has no preview.
pub fn is_trashed(scope: &Scope, record: Record<'_>) -> bool {
    scope.registry.status_is(record.text("status"), |status| status.trash)
}

typed_row! {
    col::TABLE;
    /// A link as it is listed.
    pub struct PreviewLinkRow {
        pub link: Arc<str>,
        pub user: i64,
        pub created: i64,
        pub expires: i64,
    }
}

/// The links to a record that have not ended, the newest first.
pub fn of_record(scope: &Scope, record: i64) -> Result<Vec<PreviewLinkRow>, ApiError> {
    let plan = records::select::<PreviewLinkRow>(Cond::All(vec![of(record), lasting(scope)]));
    Ok(scope.snapshot()?.rows_as(&ReadPlan { limit: Some(MOST), ..ordered(plan, col::CREATED, true) })?)
}

/// The change that takes back a link to a record.
pub fn revoked(record: i64, link: &str) -> Change {
    let filter = Cond::All(vec![eq(col::ID, records::txt(link)), of(record)]);
    Change::RemoveWhere { table: name(col::TABLE), filter }
}

/// The change that ends every link that a user has made.
pub fn ended(user: &DbValue) -> Change {
    Change::RemoveWhere { table: name(col::TABLE), filter: eq(col::USER, user.clone()) }
}

fn of(record: i64) -> Cond {
    eq(col::RECORD, DbValue::Int(record))
}

fn lasting(scope: &Scope) -> Cond {
    Cond::Compare(name(col::EXPIRES), Op::Gt, DbValue::Int(scope.now))
}
