//! Messages to the owners of accounts, as rows that wait: what is to be sent, to whom, and why.
//!
//! A row is committed with what it reports, so that neither exists without the other, and it outlives the process. It
//! holds no text and no token: both are made when it is sent. It does not know how messages are sent.

use crate::records::{self, Record, columns, eq, txt};
use crate::registry::columns::{outbox as col, user};
use crate::registry::{Registry, name};
use crate::scope::Scope;
use cms_base::named;
use cms_declaration::Mail;
use cms_storage::plan::{Change, Cond, DbValue, Op, Put, Target};
use cms_storage::{Snapshot, StorageError};
use serde_json::{Value, json};

named! {
    /// The subject of a message.
    pub enum MessageSubject {
        /// Somebody has lost the password: a link to set another one, if there is such an account.
        Reset = "reset",
        /// A new account without a password.
        Invitation = "invitation",
        /// The account has another password.
        Password = "password",
        /// The account has another e-mail address.
        Email = "email",
        /// Its owner is to confirm the new one: the only message that goes there before that.
        Confirmation = "confirmation",
        /// The account has another application password.
        ApplicationPassword = "application_password",
        /// The second factors of the account were changed.
        SecondFactor = "second_factor",
        /// Somebody has sent a form; it goes to the addresses that the form names.
        Form = "form",
    }
}

impl MessageSubject {
    /// Whether such messages are sent.
    fn enabled(self, declared: &Mail) -> bool {
        let notices = &declared.notices;
        let wanted = match self {
            MessageSubject::Reset
            | MessageSubject::Invitation
            | MessageSubject::Confirmation
            | MessageSubject::Form => true,
            MessageSubject::Password => notices.password,
            MessageSubject::Email => notices.email,
            MessageSubject::ApplicationPassword => notices.application_password,
            MessageSubject::SecondFactor => notices.second_factor,
        };
        wanted && declared.url.get().is_some()
    }
}

/// A message that is to be sent.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    pub subject: MessageSubject,
    /// Whose account it concerns; 0: that follows from `data`.
    pub user: i64,
    /// Where it goes; empty: to the address that the account has when it is sent.
    pub address: &'a str,
    /// Values for its text.
    pub data: Value,
}

/// Whether people may request links to set a password: there is e-mail, and a page that the link leads to.
pub fn sends_links(registry: &Registry) -> bool {
    registry.declaration.mail.url.get().is_some() && registry.declaration.pages.enabled
}

/// The change that stores a message which is due at some second.
pub fn stored(message: &Message<'_>, now: i64, due: i64) -> Change {
    let set = records::set([
        (col::KIND, txt(message.subject.as_str())),
        (col::USER, DbValue::Int(message.user)),
        (col::ADDRESS, txt(message.address)),
        (col::DATA, txt(&message.data.to_string())),
        (col::CREATED, DbValue::Int(now)),
        (col::DUE, DbValue::Int(due)),
        (col::ATTEMPTS, DbValue::Int(0)),
    ]);
    Change::Put(Put::new(col::TABLE, Target::New, set))
}

/// Where messages to the owner of an account go: to its address, or as long as the owner has not confirmed that, to the
/// one before. So nobody makes the site write to other people, and a thief who changes the address gets none.
pub fn notification_address(account: Record<'_>) -> &str {
    account.text(if account.int(user::EMAIL_PENDING) == 0 { user::EMAIL } else { user::EMAIL_BEFORE })
}

/// Whether a new address has to be confirmed by its owner: where e-mail is sent, and the user has set it. Others, who may
/// edit the account, answer for it.
pub fn is_pending(scope: &Scope, account: Record<'_>) -> bool {
    scope.principal.id == account.id() && scope.registry.declaration.mail.url.get().is_some()
}

/// The change that notifies the owner of an account at the address that it has now; nothing where such notices are off or
/// the account has no address. `data` are further values for the text.
pub fn notification_change(scope: &Scope, subject: MessageSubject, account: Record<'_>, data: Value) -> Option<Change> {
    let owner = Owner { id: account.id(), login: account.text(user::LOGIN), address: notification_address(account) };
    let mut values = json!({"by": &*scope.principal.login, "ip": scope.peer.ip.map(|ip| ip.to_string())});
    if let (Some(values), Value::Object(further)) = (values.as_object_mut(), data) {
        values.extend(further);
    }
    notified(&scope.registry, subject, owner, values, scope.now)
}

/// The owner of an account.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    pub id: i64,
    pub login: &'a str,
    pub address: &'a str,
}

/// [`notice`] where there is no request.
pub fn notified(
    registry: &Registry,
    subject: MessageSubject,
    owner: Owner<'_>,
    mut data: Value,
    now: i64,
) -> Option<Change> {
    if owner.address.is_empty() || !subject.enabled(&registry.declaration.mail) {
        return None;
    }
    data["login"] = json!(owner.login);
    data["at"] = json!(now);
    Some(stored(&Message { subject, user: owner.id, address: owner.address, data }, now, now))
}

/// Messages that wait, and of these the requests for a link.
pub fn waiting(snapshot: &dyn Snapshot, subject: Option<MessageSubject>) -> Result<u64, StorageError> {
    let filter = subject.map_or_else(records::always, |subject| eq(col::KIND, txt(subject.as_str())));
    snapshot.count(&columns(col::TABLE, &["id"], filter))
}

/// Messages that wait, and of these the ones that are due and whose last attempt has failed.
pub fn backlog(snapshot: &dyn Snapshot, now: i64) -> Result<(u64, u64), StorageError> {
    let tried = Cond::Compare(name(col::ATTEMPTS), Op::Gt, DbValue::Int(0));
    let since = Cond::Compare(name(col::CREATED), Op::Le, DbValue::Int(now));
    let late = snapshot.count(&columns(col::TABLE, &["id"], Cond::All(vec![tried, since])))?;
    Ok((waiting(snapshot, None)?, late))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cms_declaration::units::OptionalSetting;

    #[test]
    fn subjects_have_names() {
        assert!(
            MessageSubject::ALL.into_iter().all(|subject| MessageSubject::parse(subject.as_str()) == Some(subject))
        );
        assert_eq!(MessageSubject::parse("other"), None);
    }

    #[test]
    fn each_kind_of_notice_has_a_switch() {
        let mut declared = Mail::default();
        assert!(!MessageSubject::ALL.into_iter().any(|subject| subject.enabled(&declared)), "off without an address");
        declared.url = OptionalSetting::on("file:outbox".into());
        assert!(MessageSubject::ALL.into_iter().all(|subject| subject.enabled(&declared)));
        declared.notices.email = false;
        assert!(!MessageSubject::Email.enabled(&declared) && MessageSubject::Password.enabled(&declared));
        assert!(MessageSubject::Confirmation.enabled(&declared), "without it, no address would be confirmed");
    }
}
