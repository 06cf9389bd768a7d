//! Redirects that editors make: what is written, so that none leads in a circle, to another one, or to what is no page.

use crate::error::{ApiError, Code, status};
use crate::families;
use crate::features::addresses::redirects::with_keys;
use crate::features::addresses::{PathPattern, RequestedAddress, exact_key, keys_of, missing};
use crate::handlers::{Handler, Outcome, Work, handler, items};
use crate::records::{self, Record, txt};
use crate::registry::columns::redirect as col;
use crate::registry::resource::Resource;
use crate::registry::vocabulary::{BehaviourEntry, PLAIN, ResponseKind};
use cms_storage::plan::{Change, Cond, DbValue, Op, ReadPlan};
use url::Url;

/// Its rows of the table of handlers.
pub const HANDLERS: &[BehaviourEntry<Handler>] = &[
    handler("redirect.create", |w| Box::pin(create(w)), "Makes a redirect that leads to a page and in no circle.")
        .fails(&[Code::CannotCreate, Code::DuplicateValue, Code::RedirectInvalid, Code::RedirectLoop])
        .responds(ResponseKind::Created)
        .on(PLAIN),
    handler("redirect.update", |w| Box::pin(update(w)), "Changes a redirect by the same rules.")
        .fails(&[
            Code::CannotEdit,
            Code::DuplicateValue,
            Code::PreconditionFailed,
            Code::RecordInvalidId,
            Code::RedirectInvalid,
            Code::RedirectLoop,
        ])
        .on(PLAIN)
        .item(),
];

/// Redirects whose targets are compared with a new path that fits many.
const MOST_COMPARED: u64 = 20_000;

/// Makes a redirect.
///
/// # Errors
/// Its path or its target is none; it leads in a circle or to another redirect.
async fn create(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let draft = RedirectDraft::of(work, resource, None)?;
    draft.check_chain(work, resource, None)?;
    let mut changes = families::plan_creation(&work.edit(resource, None)?)?;
    draft.set(resource, &mut changes);
    changes.extend(missing::answered(&work.scope.registry, &draft.pattern.key()));
    let written = work.insert(resource, changes).await?;
    items::created(work, resource, &written)
}

/// Changes a redirect.
///
/// # Errors
/// As [`create`].
async fn update(work: &Work<'_>) -> Result<Outcome, ApiError> {
    let resource = work.resource()?;
    let written = items::with_target(work, resource, async |row| {
        let record = Record { resource, row };
        let draft = RedirectDraft::of(work, resource, Some(record))?;
        draft.check_chain(work, resource, Some(record.id()))?;
        let mut changes = families::update(&work.edit(resource, Some(row))?, record)?;
        draft.set(resource, &mut changes);
        work.rewrite(record, changes).await
    })
    .await?;
    items::show_written(work, resource, written)
}

/// A redirect as it will be.
struct RedirectDraft {
    /// As it was given: an import finds it again by that.
    from: String,
    pattern: PathPattern,
    to: String,
    /// The target as a path of the site; `None`: it is elsewhere, or gone.
    path: Option<RequestedAddress>,
    enabled: bool,
}

impl RedirectDraft {
    fn of(work: &Work<'_>, resource: &Resource, record: Option<Record<'_>>) -> Result<RedirectDraft, ApiError> {
        let args = work.allowed.args();
        let text = |name: &str| match (args.explicit(name), record) {
            (Some(value), _) => value.as_str().unwrap_or_default().trim().to_owned(),
            (None, Some(record)) => record.text(name).to_owned(),
            (None, None) => args.text(name).unwrap_or_default().to_owned(),
        };
        let number = |name: &str| match (args.explicit(name), record) {
            (None, Some(record)) => record.int(name),
            _ => args.int(name).unwrap_or(0),
        };
        let enabled = match (args.explicit(col::ENABLED), record) {
            (None, Some(record)) => record.int(col::ENABLED) != 0,
            _ => args.flag(col::ENABLED),
        };
        let invalid = |why: &str| ApiError::new(resource.code(Code::RedirectInvalid)).with_message(why);
        let (from, to) = (text(col::FROM), text(col::TO));
        let pattern = PathPattern::parse(&from).map_err(invalid)?;
        let gone = number(col::STATUS) == i64::from(status::GONE);
        if gone && !to.is_empty() {
            return Err(invalid("What is gone (410) leads nowhere: leave out `to`."));
        }
        if !gone {
            check_target(&pattern, &to).map_err(invalid)?;
        }
        let sample = sample(&to);
        let path = if gone { None } else { RequestedAddress::of(work.scope, &sample) };
        Ok(RedirectDraft { from, pattern, to, path, enabled })
    }

    /// Sets the columns that follow from what is given.
    fn set(&self, resource: &Resource, changes: &mut [Change]) {
        let leads = self.path.as_ref().map(|path| exact_key(&path.path)).unwrap_or_default();
        let values = [
            (col::FROM, txt(&self.from)),
            (col::TO, txt(&self.to)),
            (col::PATTERN, txt(&self.pattern.key())),
            (col::LEADS, txt(&leads)),
        ];
        records::set_first(resource, changes, &values);
    }

    /// Refuses a redirect to another one, or from the target of another one.
    fn check_chain(&self, work: &Work<'_>, resource: &Resource, own: Option<i64>) -> Result<(), ApiError> {
        if !self.enabled {
            return Ok(());
        }
        let from = &self.from;
        let refused = |why: String| Err(ApiError::new(resource.code(Code::RedirectLoop)).with_message(why));
        if let Some(path) = &self.path {
            let keys = keys_of(&path.path);
            if keys.contains(&self.pattern.key()) {
                return refused(format!("This leads in a circle: {from} → {} → {from}.", self.to));
            }
            let rows = with_keys(work.scope, resource, keys.iter().map(|key| txt(key)).collect())?;
            let next = rows.iter().map(|row| Record { resource, row }).find(|next| Some(next.id()) != own);
            if let Some(next) = next {
                let (middle, end) = (next.text(col::FROM), next.text(col::TO));
                let back = RequestedAddress::of(work.scope, &sample(end));
                let circle = back.is_some_and(|back| keys_of(&back.path).contains(&self.pattern.key()));
                return refused(match circle {
                    true => format!("This leads in a circle: {from} → {middle} → {end}."),
                    false => format!("This leads to another redirect: {from} → {middle} → {end}. Write its target."),
                });
            }
        }
        match self.leading_here(work, resource, own)? {
            Some((other, target)) => refused(format!(
                "Another redirect leads here: {other} → {target} → {}. Change that one first.",
                if self.to.is_empty() { "(gone)" } else { &self.to }
            )),
            None => Ok(()),
        }
    }

    /// A redirect whose target has the path: where it leads from and to.
    fn leading_here(
        &self,
        work: &Work<'_>,
        resource: &Resource,
        own: Option<i64>,
    ) -> Result<Option<(String, String)>, ApiError> {
        let columns = resource.plan_column(col::LEADS).zip(resource.plan_column(col::ENABLED));
        let Some((leads, enabled)) = columns else { return Ok(None) };
        let key = self.pattern.key();
        let flexible = key.contains("{}") || key.ends_with("/*");
        let here = match flexible {
            true => Cond::Compare(leads, Op::Ne, txt("")),
            false => records::eq(&leads, txt(&key)),
        };
        let on = records::eq(&enabled, DbValue::Int(1));
        let plan = ReadPlan { limit: Some(MOST_COMPARED), ..records::plan(resource, records::all([here, on])) };
        let rows = work.scope.snapshot()?.rows(&plan)?;
        let others = rows.iter().map(|row| Record { resource, row }).filter(|other| Some(other.id()) != own);
        let mut leading = others.filter(|other| !flexible || keys_of(other.text(col::LEADS)).contains(&key));
        Ok(leading.next().map(|other| (other.text(col::FROM).to_owned(), other.text(col::TO).to_owned())))
    }
}

/// A target with something in the places of its names.
fn sample(target: &str) -> String {
    target.replace(['{', '}'], "").replace('*', "")
}

/// Whether a target is a page, here or elsewhere, as far as the pattern fills it.
fn check_target(pattern: &PathPattern, target: &str) -> Result<(), &'static str> {
    if target.is_empty() {
        return Err("A redirect needs a target: `to`, a path such as /new/ or an address.");
    }
    if target.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err("The target has characters that no address has.");
    }
    if !pattern.fills(target) {
        return Err("The target has a {name} or a * that the path does not have.");
    }
    if target.starts_with('/') {
        return if target.starts_with("//") { Err("A path begins with one slash.") } else { Ok(()) };
    }
    let web = Url::parse(&sample(target)).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let clear = web.is_some_and(|url| url.host_str().is_some_and(|host| !host.is_empty()) && url.username().is_empty());
    // A name in the host would let whoever asks choose where the redirect leads.
    let behind = target.split_once("//").map_or(target, |(_, behind)| behind);
    let host = behind.split('/').next().unwrap_or_default();
    if clear && !host.contains(['{', '*', '@']) {
        Ok(())
    } else {
        Err("The target is no page: write a path such as /new/, or an http or https address.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_pages() {
        let pattern = PathPattern::parse("/old/{id}/*").expect("a pattern");
        for (target, good) in [
            ("/new/", true),
            ("/new/{id}/*", true),
            ("https://www.example.org/new/{id}?x=1#top", true),
            ("http://elsewhere.example", true),
            ("", false),
            ("new", false),
            ("//elsewhere.example/", false),
            ("/\\elsewhere.example", false),
            ("/a b", false),
            ("/a\r\nSet-Cookie: x=y", false),
            ("/new/{other}", false),
            ("javascript:alert(1)", false),
            ("JavaScript:alert(1)", false),
            ("data:text/html,x", false),
            ("ftp://elsewhere.example/", false),
            ("https://", false),
            ("https://{id}/", false),
            ("https://{id}.example.org/", false),
            ("https://user@elsewhere.example/", false),
        ] {
            assert_eq!(check_target(&pattern, target).is_ok(), good, "{target}");
        }
    }
}
