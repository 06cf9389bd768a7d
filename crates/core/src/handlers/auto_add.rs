//! Records that are added to menus automatically: when one is first published, every menu with that option gets an
//! item.

use super::{Work, WrittenRow, items};
use crate::error::{ApiError, status};
use crate::model::Method;
use crate::records::{self, Record, eq};
use crate::registry::resource::Resource;
use crate::request::BodyParams;
use cms_declaration::Action;
use cms_storage::plan::{Cond, DbValue, Name};
use cms_storage::{ReadSet, Storage, TrackedStorage};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard};

/// Adds the items that `auto_add` of other resources declares for a record that was written; `before` is the state that it
/// was in. Only records without a parent are added, and only once. An item that cannot be added is left out: the record is
/// written.
pub async fn add_to_menus(
    work: &Work<'_>,
    resource: &Resource,
    written: &WrittenRow,
    before: &str,
) -> Result<(), ApiError> {
    let registry = &work.scope.registry;
    let public = |status: &str| registry.status_is(status, |status| status.public);
    let joining = |other: &&Resource| {
        other.declared.auto_add.as_ref().is_some_and(|auto_add| auto_add.resources.contains(&resource.name))
    };
    let Some(items) = registry.resources.iter().find(joining).filter(|_| !public(before)) else { return Ok(()) };
    let row = items::row_of(work, resource, written)?;
    let record = Record { resource, row: &row };
    if !public(record.text("status")) || record.int("parent") != 0 {
        return Ok(());
    }
    for (menu, place) in menus_without_record(work, items, record.id())? {
        let Some(reference) = &items.declared.reference else { continue };
        let Some(auto_add) = &items.declared.auto_add else { continue };
        let body = json!({
            &reference.class: reference.record, &reference.kind: resource.api_name, &reference.id: record.id(),
            &auto_add.menu: menu, "menu_order": place, "status": registry.published_status(),
        });
        let mut scope = work.scope.clone();
        // The user who publishes need not be allowed to change menus.
        let mut capabilities = (*scope.principal.capabilities).clone();
        let acts =
            [Action::Create, Action::Edit, Action::Publish, Action::EditPublished, Action::EditOthers, Action::Assign];
        capabilities.extend(acts.iter().map(|act| Arc::from(items.capability(*act))));
        capabilities.extend(registry.resource(&auto_add.menu).map(|menus| Arc::from(menus.capability(Action::Assign))));
        scope.principal.capabilities = Arc::new(capabilities);
        let body = BodyParams::Json(body.as_object().cloned().unwrap_or_default());
        let part = work.ask_in(scope, Method::Post, &items.path, json!({}), body).await;
        if status::is_error(part.status) {
            tracing::warn!(request = %work.scope.request_id, "no item for {} in menu {menu}: {}", record.id(), part.body);
        }
    }
    Ok(())
}

/// Which menus want new records, and what that was read from: most sites have none, so that it is read once.
#[derive(Default)]
pub struct AutoAddMenus(Mutex<Option<MenuIds>>);

/// Their numbers.
type MenuIds = (Arc<ReadSet>, Arc<[i64]>);

impl AutoAddMenus {
    fn auto_add_menus(&self, work: &Work<'_>, menus: &Resource, asked_by: &Name) -> Result<Arc<[i64]>, ApiError> {
        let storage = &work.scope.storage;
        let known = self.lock().clone();
        // A transaction may have changed them itself.
        if let Some((_, known)) =
            known.filter(|(read, _)| !work.scope.tentative && read.holds(&**storage, work.scope.now))
        {
            return Ok(known);
        }
        let tracked = TrackedStorage::new(storage.clone());
        let plan = records::plan(menus, eq(asked_by, DbValue::Int(1)));
        let found = tracked.snapshot()?.rows(&plan)?;
        let found: Arc<[i64]> = found.iter().map(|row| Record { resource: menus, row }.id()).collect();
        if let Some(read) = tracked.seen() {
            *self.lock() = Some((Arc::new(read), found.clone()));
        }
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, Option<MenuIds>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The menus that want the record and have no item for it, each with the place behind its items.
fn menus_without_record(work: &Work<'_>, items: &Resource, record: i64) -> Result<Vec<(i64, u64)>, ApiError> {
    let declared = items.declared.auto_add.as_ref().zip(items.declared.reference.as_ref());
    let Some((auto_add, reference)) = declared else { return Ok(Vec::new()) };
    let Some(menus) = work.scope.registry.resource(&auto_add.menu) else { return Ok(Vec::new()) };
    let columns = menus
        .plan_column(&auto_add.property)
        .zip(items.plan_column(&auto_add.menu))
        .zip(items.plan_column(&reference.id));
    let Some(((asked_by, of_menu), number)) = columns else { return Ok(Vec::new()) };
    let all = work.shared.menus.auto_add_menus(work, menus, &asked_by)?;
    let mut wanting = Vec::new();
    if all.is_empty() {
        return Ok(wanting);
    }
    let snapshot = work.scope.snapshot()?;
    for menu in all.iter().copied() {
        let own = eq(&of_menu, DbValue::Int(menu));
        let same = Cond::All(vec![own.clone(), eq(&number, DbValue::Int(record))]);
        if snapshot.count(&records::plan(items, same))? == 0 {
            wanting.push((menu, snapshot.count(&records::plan(items, own))? + 1));
        }
    }
    Ok(wanting)
}
