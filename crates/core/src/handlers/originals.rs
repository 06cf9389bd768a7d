//! Records that are there before anybody writes them (`originals`): in lists, and how an update brings one back.

use super::Work;
use crate::access::policy;
use crate::error::ApiError;
use crate::records::{self, Record, txt};
use crate::registry::args::{Arg, Filter, FilterOp};
use crate::registry::columns::record;
use crate::registry::name;
use crate::registry::resource::Resource;
use cms_declaration::Action;
use cms_storage::Snapshot;
use cms_storage::plan::{Cond, DbValue, Op, Row};
use serde_json::Value;

/// The declared originals that nobody has written yet, as far as the arguments select them by their columns. They
/// follow the rows.
pub fn unwritten(work: &Work<'_>, snapshot: &dyn Snapshot) -> Result<Vec<Row>, ApiError> {
    let (resource, scope) = (work.resource()?, work.scope);
    if resource.originals.is_empty() {
        return Ok(Vec::new());
    }
    let (args, set) = (work.allowed.args(), &work.endpoint.args);
    let text = |row: &Row| Record { resource, row }.text(record::SLUG).to_owned();
    let slugs: Vec<String> = resource.originals.iter().map(text).collect();
    let there = Cond::Compare(name(record::STATUS), Op::Ne, txt(scope.registry.trash_status()));
    let named = records::words(record::SLUG, slugs.iter().map(String::as_str));
    let taken = Cond::All(vec![records::own_rows(resource), named, there]);
    let taken: Vec<DbValue> = snapshot.rows_as(&records::columns(&resource.table, &[record::SLUG], taken))?;
    let selects = |row: &Row, arg: &Arg| match (&arg.filter, args.explicit(&arg.name)) {
        (Some(Filter::Column { column, op: FilterOp::Compare(Op::Eq), .. }), Some(wanted)) => {
            let plain = column.split_once('.').map_or(&**column, |(_, plain)| plain);
            match (Record { resource, row }).value(plain) {
                DbValue::Int(own) => wanted.as_i64() == Some(*own),
                DbValue::Text(own) => wanted.as_str() == Some(&**own),
                _ => false,
            }
        }
        _ => true,
    };
    let mut unwritten = Vec::new();
    for row in &resource.originals {
        let mine = Record { resource, row };
        let fits = !taken.contains(mine.value(record::SLUG)) && set.args.iter().all(|arg| selects(row, arg));
        if fits && policy::may(scope, Action::Read, mine)? {
            unwritten.push(row.clone());
        }
    }
    Ok(unwritten)
}

/// Whether an update brings the original back (`reverts`).
pub fn reverts(work: &Work<'_>, resource: &Resource) -> bool {
    let given = |(member, wanted): (&String, &String)| {
        work.sources().get(member).and_then(Value::as_str) == Some(wanted.as_str())
    };
    !resource.originals.is_empty() && resource.declared.reverts.iter().any(given)
}
