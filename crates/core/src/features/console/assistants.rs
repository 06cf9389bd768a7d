//! Programs that act for people: where they connect, and their credentials with the last use. Those of everybody for who edits
//! users, otherwise the caller's own.

use crate::access::grants::is_pending;
use crate::error::ApiError;
use crate::handlers::{Outcome, Work};
use crate::records::{self, Record, any, eq};
use crate::registry::Endpoint;
use crate::registry::columns::{app_password as col, user};
use crate::registry::vocabulary::HandlerRole;
use cms_declaration::Action;
use cms_storage::plan::{Cond, DbValue, ReadPlan};
use cms_storage::typed_row;
use cms_text::time::format_local;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most credentials that are listed: those that were used last.
const MOST: u64 = 200;

typed_row! {
    col::TABLE;
    /// A credential of a program.
    struct ProgramRow {
        uuid: Arc<str> = col::KEY,
        user: i64,
        name: Arc<str>,
        created: i64,
        last_used: i64,
        last_ip: Arc<str>,
        expires: i64,
        read_only: bool,
        actions: Arc<str>,
        resources: Arc<str>,
        connected: bool,
    }
}

/// The address of the Model Context Protocol, and the credentials.
///
/// # Errors
/// The database cannot be read.
pub fn get(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let (scope, registry) = (work.scope, &work.scope.registry);
    let users = registry.users();
    let all = users.is_some_and(|users| scope.principal.has(users.capability(Action::Edit)));
    let own = || eq(col::USER, DbValue::Int(scope.principal.id));
    // Tokens of logins are for people's own devices.
    let programs = any([eq(col::CONNECTED, DbValue::Int(1)), eq(col::TOKEN, DbValue::Int(0))]);
    let mut filter = vec![programs, records::not(is_pending())];
    filter.extend((!all).then(own));
    let plan = records::ordered(records::select::<ProgramRow>(Cond::All(filter)), col::LAST_USED, true);
    let snapshot = scope.snapshot()?;
    let rows: Vec<ProgramRow> = snapshot.rows_as(&ReadPlan { limit: Some(MOST), ..plan })?;
    let people = match users {
        Some(users) => {
            snapshot.rows(&records::plan(users, records::is_in(&users.key, rows.iter().map(|row| row.user))))?
        }
        None => Vec::new(),
    };
    let name = |id: i64| {
        let found = users.and_then(|users| {
            let mut records = people.iter().map(|row| Record { resource: users, row });
            records.find(|record| record.id() == id)
        });
        found.map_or_else(String::new, |record| record.text(user::NAME).to_owned())
    };
    let moment = |at: i64| (at != 0).then(|| format!("{}Z", format_local(at)));
    let shown = rows.iter().map(|row| {
        let kind = match (row.read_only, &*row.actions) {
            (true, _) => "read",
            (false, "") => "write",
            (false, _) => "draft",
        };
        json!({
            "uuid": &*row.uuid, "user": row.user, "user_name": name(row.user), "name": &*row.name, "connected": row.connected,
            "scope": kind, "resources": row.resources.split_whitespace().collect::<Vec<_>>(),
            "created": moment(row.created), "last_used": moment(row.last_used), "last_ip": &*row.last_ip,
            "expires": moment(row.expires),
        })
    });
    let revokes = |endpoint: &Endpoint| endpoint.role == Some(HandlerRole::RevokeCredential);
    let credentials = registry.routes.iter().find(|route| route.endpoints.iter().any(revokes));
    let credentials = credentials.and_then(|route| route.owner).map(|index| &registry.resources[index]);
    let path = registry.declaration.mcp.path.get();
    let site = registry.site.url.trim_end_matches('/');
    let body = json!({
        "address": path.map(|path| format!("{site}{path}")),
        "oauth": registry.oauth().is_some(),
        "programs": shown.collect::<Vec<Value>>(),
        "credentials": credentials.map(|resource| &resource.name),
        "trail": registry.declaration.site.audit.get(),
    });
    Ok(Outcome { private: true, uncached: true, ..Outcome::ok(body) })
}
