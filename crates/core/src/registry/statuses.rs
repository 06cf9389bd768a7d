//! Properties of states: every rule uses what the declarations say of a state, never its name.

use super::Registry;
use cms_declaration::{CommentStatus, Status};

/// The state of records for a purpose is the first one declared for it; linking sees to it that there is one.
impl Registry {
    /// Whether something is true of a state; of one that is not declared nothing is.
    pub fn status_is(&self, status: &str, wanted: impl Fn(&Status) -> bool) -> bool {
        self.status(status).is_some_and(wanted)
    }

    /// The state of what is published at once.
    pub fn published_status(&self) -> &str {
        self.declaration.statuses_where(|status| status.public).next().unwrap_or_default()
    }

    /// The state of a new record when the request gives none.
    pub fn draft_status(&self) -> &str {
        self.declaration.statuses_where(|status| status.draft && !status.internal).next().unwrap_or_default()
    }

    /// The state of records in the trash.
    pub fn trash_status(&self) -> &str {
        self.declaration.statuses_where(|status| status.trash).next().unwrap_or_default()
    }

    /// The state of records that follow their parent.
    pub fn inherited_status(&self) -> &str {
        self.declaration.statuses_where(|status| status.inherits).next().unwrap_or_default()
    }

    /// The state that records in this one wait for.
    pub fn scheduled_for(&self, status: &str) -> Option<&str> {
        let waited_for = |other: &Status| other.schedules_to.as_deref() == Some(status);
        let mut all = self.declaration.statuses.iter();
        all.find(|(_, other)| waited_for(other)).map(|(name, _)| name.as_str())
    }

    /// Published, or about to be when its date has come.
    pub fn is_published_or_scheduled(&self, status: &str) -> bool {
        self.status_is(status, |status| status.public) || self.scheduled_for(status).is_some()
    }

    /// Whether records or comments have a state of this name.
    pub fn has_state(&self, name: &str) -> bool {
        self.declaration.statuses.contains_key(name) || self.declaration.comment_statuses.contains_key(name)
    }

    /// The state of comments that requests call so: each of the names that is declared, or else its own.
    pub fn comment_status_called(&self, word: &str) -> Option<&str> {
        let called = |name: &str, status: &CommentStatus| match &status.names[..] {
            [] => name == word,
            names => names.iter().any(|name| name == word),
        };
        let all = self.declaration.comment_statuses.iter();
        all.filter(|(name, status)| called(name, status)).map(|(name, _)| name.as_str()).next()
    }

    /// The state of comments that a write means by a word: its own name is accepted, too.
    pub fn comment_status_named(&self, word: &str) -> Option<&str> {
        let own = self.declaration.comment_statuses.get_key_value(word).map(|(name, _)| name.as_str());
        own.or_else(|| self.comment_status_called(word))
    }

    /// Whether something is true of a state of comments.
    pub fn comment_status_is(&self, status: &str, wanted: impl Fn(&CommentStatus) -> bool) -> bool {
        self.declaration.comment_statuses.get(status).is_some_and(wanted)
    }

    /// The state of comments that show.
    pub fn approved_comment_status(&self) -> &str {
        self.declaration.comment_statuses_where(|status| status.public).next().unwrap_or_default()
    }

    /// The state of comments that wait for a moderator.
    pub fn held_comment_status(&self) -> &str {
        self.declaration.comment_statuses_where(|status| !status.public && !status.removed).next().unwrap_or_default()
    }

    /// The state of comments in the trash.
    pub fn trashed_comment_status(&self) -> &str {
        self.declaration.comment_statuses_where(|status| status.trash).next().unwrap_or_default()
    }

    /// The role of users that an import brings; without one they have the default.
    pub fn imported_role(&self) -> Option<&str> {
        let imported = self.declaration.roles.iter().find(|(_, role)| role.imported);
        imported.map(|(name, _)| name.as_str()).or_else(|| self.default_role())
    }

    /// The role that some user always has.
    pub fn required_role(&self) -> Option<&str> {
        self.declaration.roles.iter().find(|(_, role)| role.required).map(|(name, _)| name.as_str())
    }

    /// The role that new users have when none is given.
    pub fn default_role(&self) -> Option<&str> {
        self.declaration.roles.iter().find(|(_, role)| role.default).map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::shipped;

    #[test]
    fn each_purpose_has_its_state() {
        let registry = shipped(&[]);
        assert_eq!(registry.published_status(), "publish");
        assert_eq!(registry.draft_status(), "draft", "not the internal one");
        assert_eq!(registry.trash_status(), "trash");
        assert_eq!(registry.inherited_status(), "inherit");
        assert_eq!(registry.approved_comment_status(), "approved");
        assert_eq!(registry.held_comment_status(), "hold");
        assert_eq!(registry.trashed_comment_status(), "trash");
        assert_eq!(registry.default_role(), Some("subscriber"));
        assert_eq!(registry.imported_role(), Some("author"));
        assert_eq!(registry.required_role(), Some("administrator"));
    }

    #[test]
    fn what_waits_for_its_date_is_out() {
        let registry = shipped(&[]);
        let check =
            |status: &str, expected: bool| assert_eq!(registry.is_published_or_scheduled(status), expected, "{status}");
        check("publish", true);
        check("future", true);
        check("private", false);
        check("draft", false);
        check("unheard-of", false);
        assert_eq!(registry.scheduled_for("future"), Some("publish"));
        assert_eq!(registry.scheduled_for("publish"), None);
    }

    #[test]
    fn states_of_comments_have_names() {
        let registry = shipped(&[]);
        let check = |word: &str, called: Option<&str>, named: Option<&str>| {
            assert_eq!(registry.comment_status_called(word), called, "{word} in a query");
            assert_eq!(registry.comment_status_named(word), named, "{word} in a write");
        };
        check("approve", Some("approved"), Some("approved"));
        check("1", Some("approved"), Some("approved"));
        check("approved", None, Some("approved"));
        check("hold", Some("hold"), Some("hold"));
        check("0", Some("hold"), Some("hold"));
        check("spam", Some("spam"), Some("spam"));
        check("trash", Some("trash"), Some("trash"));
        check("purple", None, None);
    }
}
