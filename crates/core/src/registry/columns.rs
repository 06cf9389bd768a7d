//! Names of the tables and columns that the families share, and of the program's own tables, with their types: every other
//! module names them by these constants, so that a name that is spelled wrongly does not compile.

use cms_storage::plan::ColumnType;

/// The key of the shared tables.
pub const ID: &str = "id";

/// How often a row was changed.
pub use cms_storage::plan::VERSION;

/// Modules of tables: the name, the key where that is not [`ID`], and the other columns in the order of their definition.
macro_rules! tables {
    ($(
        $(#[$about:meta])*
        $module:ident $table:literal $(($key:ident = $key_column:literal))? {
            $($(#[$note:meta])* $name:ident: $kind:ident = $column:literal,)*
        }
    )*) => {$(
        $(#[$about])*
        pub mod $module {
            use super::ColumnType;
            pub const TABLE: &str = $table;
            $(pub const $key: &str = $key_column;)?
            $($(#[$note])* pub const $name: &str = $column;)*
            pub const COLUMNS: &[(&str, ColumnType)] = &[$(($name, ColumnType::$kind)),*];
        }
    )*};
}

tables! {
    /// Records of the content family.
    record "record" {
        KIND: Word = "kind",
        STATUS: Word = "status",
        STATUS_BEFORE: Word = "status_before",
        SLUG: Text = "slug",
        SLUG_BEFORE: Text = "slug_before",
        AUTHOR: Int = "author",
        PARENT: Int = "parent",
        MENU_ORDER: Int = "menu_order",
        DATE_LOCAL: Int = "date_local",
        DATE_UTC: Int = "date_utc",
        DATE_FLOATS: Int = "date_floats",
        MODIFIED_LOCAL: Int = "modified_local",
        MODIFIED_UTC: Int = "modified_utc",
        TITLE: Text = "title",
        TITLE_KEY: Key = "title_key",
        CONTENT: Text = "content",
        EXCERPT: Text = "excerpt",
        PASSWORD: Text = "password",
        COMMENT_STATUS: Word = "comment_status",
        PING_STATUS: Word = "ping_status",
        MIME: Text = "mime",
        FILE: Text = "file",
        GUID: Text = "guid",
        STICKY: Int = "sticky",
        FORMAT: Word = "format",
        TEMPLATE: Text = "template",
        FEATURED_MEDIA: Int = "featured_media",
        COMMENT_COUNT: Int = "comment_count",
        TRASHED_AT: Int = "trashed_at",
        EXTRA: Json = "extra",
    }

    /// Terms.
    term "term" {
        TAXONOMY: Word = "taxonomy",
        NAME: Text = "name",
        NAME_KEY: Key = "name_key",
        SLUG: Text = "slug",
        DESCRIPTION: Text = "description",
        PARENT: Int = "parent",
        COUNT: Int = "count",
        EXTRA: Json = "extra",
    }

    /// Users.
    user "user" {
        LOGIN: Text = "login",
        LOGIN_KEY: Key = "login_key",
        EMAIL: Text = "email",
        EMAIL_KEY: Key = "email_key",
        /// 1: the owner has not confirmed the address yet.
        EMAIL_PENDING: Int = "email_pending",
        /// Where messages go until then; empty: nowhere.
        EMAIL_BEFORE: Text = "email_before",
        NAME: Text = "name",
        NAME_KEY: Key = "name_key",
        FIRST_NAME: Text = "first_name",
        LAST_NAME: Text = "last_name",
        NICKNAME: Text = "nickname",
        SLUG: Text = "slug",
        URL: Text = "url",
        DESCRIPTION: Text = "description",
        LOCALE: Text = "locale",
        REGISTERED: Int = "registered",
        ROLES: Text = "roles",
        PASSWORD_HASH: Text = "password_hash",
        /// When a second factor has to be there; 0: nobody has been seen without one that is required.
        FACTOR_DUE: Int = "second_factor_due",
        EXTRA: Json = "extra",
    }

    /// Comments.
    comment "comment" {
        POST: Int = "post",
        PARENT: Int = "parent",
        AUTHOR: Int = "author",
        AUTHOR_NAME: Text = "author_name",
        AUTHOR_EMAIL: Text = "author_email",
        AUTHOR_URL: Text = "author_url",
        AUTHOR_IP: Text = "author_ip",
        AUTHOR_USER_AGENT: Text = "author_user_agent",
        DATE_LOCAL: Int = "date_local",
        DATE_UTC: Int = "date_utc",
        CONTENT: Text = "content",
        STATUS: Word = "status",
        STATUS_BEFORE: Word = "status_before",
        KIND: Word = "kind",
        KARMA: Int = "karma",
        EXTRA: Json = "extra",
    }

    /// Uploaded files. A row is written before its file and outlives it, so that nothing is lost from sight.
    file "file" (KEY = "key") {
        RECORD: Int = "record",
        AT: Int = "at",
    }

    /// Browser sessions.
    session "session" (HASH = "hash") {
        USER: Int = "user",
        CREATED: Int = "created",
        SEEN: Int = "seen",
        EXPIRES: Int = "expires",
        IP: Text = "ip",
        AGENT: Text = "agent",
        /// The identity provider that it began with; empty: with a password.
        PROVIDER: Text = "provider",
        /// The ID token of that login, for the logout there; empty where it is long.
        ID_TOKEN: Text = "id_token",
    }

    /// People at identity providers, by digests of issuer and subject, and their accounts here.
    login_identity "login_identity" (KEY = "key") {
        USER: Int = "user",
        ISSUER: Text = "issuer",
        SUBJECT: Text = "subject",
        CREATED: Int = "created",
    }

    /// Logins by identity providers that have succeeded, until no answer can belong to them any more.
    login_state "login_state" (ID = "id") {
        EXPIRES: Int = "expires",
    }

    /// Records that windows of the console have open; the key is that of the user's window.
    presence "presence" (KEY = "key") {
        USER: Int = "user",
        RESOURCE: Text = "resource",
        ITEM: Text = "item",
        SINCE: Int = "since",
        TAKEN: Int = "taken",
        EXPIRES: Int = "expires",
    }

    /// Links with which the password of an account is set, by the digests of their tokens.
    link "password_link" (HASH = "hash") {
        USER: Int = "user",
        EXPIRES: Int = "expires",
        BOUND: Text = "bound",
    }

    /// Second factors of accounts.
    factor "second_factor" (KEY = "key") {
        USER: Int = "user",
        KIND: Text = "kind",
        NAME: Text = "name",
        /// The secret that proofs are checked with, sealed.
        SECRET: Text = "secret",
        CREATED: Int = "created",
        LAST_USED: Int = "last_used",
        /// The number of the last proof. They rise, so none is good twice.
        PROOF: Int = "proof",
    }

    /// Recovery codes, by their digests.
    recovery "recovery_code" (HASH = "hash") {
        USER: Int = "user",
    }

    /// Credentials of programs: application passwords, and the tokens that a login has made.
    app_password "app_password" (KEY = "uuid") {
        USER: Int = "user",
        APP_ID: Text = "app_id",
        NAME: Text = "name",
        HASH: Key = "hash",
        CREATED: Int = "created",
        ORDINAL: Int = "ordinal",
        LAST_USED: Int = "last_used",
        LAST_IP: Text = "last_ip",
        EXPIRES: Int = "expires",
        READ_ONLY: Int = "read_only",
        RESOURCES: Text = "resources",
        /// Empty: all.
        ACTIONS: Text = "actions",
        /// 1: a token.
        TOKEN: Int = "token",
        /// 1: the token of a program that a person has connected. It ends before the connection does.
        CONNECTED: Int = "connected",
        TOKEN_ENDS: Int = "token_ends",
        /// Hash of what the program gets its next token for: a code at first, refresh tokens then.
        REFRESH: Text = "refresh",
        /// The request that the code is bound to, as JSON; empty when it has been used.
        PENDING: Text = "pending",
    }

    /// Programs that have registered themselves, or are described by a document.
    client "oauth_client" (KEY = "id") {
        NAME: Text = "name",
        /// Separated by spaces.
        REDIRECTS: Text = "redirects",
        CREATED: Int = "created",
        EXPIRES: Int = "expires",
        /// Address of the document; empty: the program has registered itself.
        DOCUMENT: Text = "document",
        /// When the document has to be read again.
        STALE: Int = "stale",
    }

    /// Links that show a record as it is being edited. A token is signed, and stored nowhere.
    preview "preview_link" (ID = "link") {
        RECORD: Int = "record",
        USER: Int = "user",
        CREATED: Int = "created",
        EXPIRES: Int = "expires",
    }

    /// Addresses that records had. They name the record, not another address, so that no chain of them is followed.
    old_address "old_address" {
        /// Where the slug was unique.
        SCOPE: Text = "scope",
        SLUG: Text = "slug",
        /// The date of the record at that time, on the site's clock.
        DATE: Int = "date_local",
        RECORD: Int = "record",
    }

    /// Messages that wait to be sent. Their texts are written when they are sent, so that no token is stored here.
    outbox "outbox" {
        KIND: Text = "kind",
        USER: Int = "user",
        ADDRESS: Text = "address",
        DATA: Text = "data",
        CREATED: Int = "created",
        DUE: Int = "due",
        ATTEMPTS: Int = "attempts",
    }
}

/// Values of editors for search engines, of records, terms and authors, where the resource has such properties.
pub mod seo {
    /// Texts, addresses and pictures, as one object.
    pub const VALUES: &str = "seo_values";
    /// Search engines leave the item out.
    pub const NOINDEX: &str = "noindex";
}

/// Addresses that were requested and that nothing has.
pub mod missing_address {
    pub const PATH: &str = "path";
    pub const HITS: &str = "hits";
    pub const LAST_HIT: &str = "last_hit";
    /// Requests of the last days.
    pub const DAYS: &str = "days";
    /// All of them.
    pub const ALL: [&str; 4] = [PATH, HITS, LAST_HIT, DAYS];
}

/// The change feed, which the storage keeps.
pub mod feed {
    pub const TABLE: &str = "change_feed";
    pub const SEQ: &str = "seq";
    /// Those that events are made of, in the order in which they are read.
    pub const ALL: [&str; 17] = [
        SEQ,
        "in_commit",
        "node",
        "at",
        "table",
        "kind",
        "id",
        "key",
        "action",
        "status_before",
        "status_after",
        "columns",
        "slug_before",
        "class",
        "author_before",
        "depth",
        "targets_before",
    ];
}

/// Receivers that are told of changes.
pub mod webhook {
    pub const NAME: &str = "name";
    pub const URL: &str = "url";
    pub const FORMAT: &str = "format";
    pub const RESOURCES: &str = "resources";
    pub const EVENTS: &str = "events";
    pub const STATUSES: &str = "statuses";
    pub const PRIVATE: &str = "private";
    pub const DEBOUNCE: &str = "debounce";
    pub const ENABLED: &str = "enabled";
    /// It is declared, under this name; empty: it was made by a request.
    pub const DECLARED: &str = "declared";
    /// The secrets that sign: the one of now, the one before, and until when that is valid.
    pub const SIGNING: &str = "signing";
    pub const SIGNING_BEFORE: &str = "signing_before";
    pub const SIGNING_UNTIL: &str = "signing_until";
    /// How it is going: see `features::webhooks`.
    pub const STATE: &str = "state";
    /// The number of the last entry of the feed that was delivered, or was none of its matter.
    pub const POSITION: &str = "position";
    pub const ATTEMPTS: &str = "attempts";
    /// When the next attempt, or what is gathered, is due.
    pub const DUE: &str = "due";
    /// Since when deliveries fail; null: they do not.
    pub const FAILING: &str = "failing_since";
    pub const ERROR: &str = "error";
    pub const SENT: &str = "last_sent";
    /// When something was sent last, delivered or not, and the status of the answer.
    pub const ATTEMPTED: &str = "last_attempt";
    pub const STATUS: &str = "last_status";
    /// It rebuilds the site when somebody presses a button.
    pub const REBUILD: &str = "rebuild";
    /// All of them.
    pub const ALL: [&str; 23] = [
        NAME,
        URL,
        FORMAT,
        RESOURCES,
        EVENTS,
        STATUSES,
        PRIVATE,
        DEBOUNCE,
        ENABLED,
        DECLARED,
        SIGNING,
        SIGNING_BEFORE,
        SIGNING_UNTIL,
        STATE,
        POSITION,
        ATTEMPTS,
        DUE,
        FAILING,
        ERROR,
        SENT,
        ATTEMPTED,
        STATUS,
        REBUILD,
    ];
}

/// Deliveries: messages that were sent to webhooks, or wait to be.
pub mod delivery {
    pub const WEBHOOK: &str = "webhook";
    /// Identifies the message for its receiver.
    pub const MESSAGE: &str = "message";
    /// Number of the newest event in it; 0: it is a test.
    pub const EVENT: &str = "event";
    pub const TYPE: &str = "type";
    pub const STATE: &str = "state";
    pub const ATTEMPTS: &str = "attempts";
    pub const CREATED: &str = "created";
    pub const SENT: &str = "sent";
    pub const STATUS: &str = "status";
    pub const ERROR: &str = "error";
    pub const REQUEST: &str = "request";
    pub const RESPONSE: &str = "response";
    /// The events in it, for another attempt.
    pub const EVENTS: &str = "events";
    /// All of them.
    pub const ALL: [&str; 13] =
        [WEBHOOK, MESSAGE, EVENT, TYPE, STATE, ATTEMPTS, CREATED, SENT, STATUS, ERROR, REQUEST, RESPONSE, EVENTS];
}

/// Changes that wait for a review, or were decided.
pub mod review {
    pub const RECORD: &str = "record";
    /// Name of the resource of the record.
    pub const RESOURCE: &str = "resource";
    /// The title of the record when the change was proposed.
    pub const TITLE: &str = "title";
    pub const USER: &str = "user";
    pub const CLIENT: &str = "client";
    /// Key of the credential; empty: there was none.
    pub const CREDENTIAL: &str = "credential";
    pub const STATE: &str = "state";
    pub const MEMBERS: &str = "members";
    pub const NOTE: &str = "note";
    pub const DECIDED_BY: &str = "decided_by";
    pub const CREATED: &str = "created";
    pub const CHANGED: &str = "changed";
    pub const DECIDED: &str = "decided";
    /// The version of the record that the change was made from.
    pub const BASE: &str = "base";
    /// The record as it would be, like the content of a revision.
    pub const CONTENT: &str = "content";

    /// States of a change.
    pub mod state {
        pub const WAITING: &str = "pending";
        pub const PUBLISHED: &str = "published";
        pub const WITHDRAWN: &str = "withdrawn";
    }

    /// All of them.
    pub const ALL: [&str; 15] = [
        RECORD, RESOURCE, TITLE, USER, CLIENT, CREDENTIAL, STATE, MEMBERS, NOTE, DECIDED_BY, CREATED, CHANGED, DECIDED,
        BASE, CONTENT,
    ];
}

/// Prompts: texts with places for arguments, which people choose in their assistants.
pub mod prompt {
    pub const NAME: &str = "name";
    pub const TITLE: &str = "title";
    pub const DESCRIPTION: &str = "description";
    pub const TEXT: &str = "text";
    pub const ARGUMENTS: &str = "arguments";
    pub const ENABLED: &str = "enabled";
    /// All of them.
    pub const ALL: [&str; 6] = [NAME, TITLE, DESCRIPTION, TEXT, ARGUMENTS, ENABLED];
}

/// Redirects that editors make.
pub mod redirect {
    pub const FROM: &str = "from";
    pub const TO: &str = "to";
    pub const STATUS: &str = "status";
    pub const ENABLED: &str = "enabled";
    /// The key that a path is looked up by.
    pub const PATTERN: &str = "pattern";
    /// The key that the path of the target would be looked up by.
    pub const LEADS: &str = "leads";
    pub const HITS: &str = "hits";
    pub const LAST_HIT: &str = "last_hit";
    /// All of them.
    pub const ALL: [&str; 8] = [FROM, TO, STATUS, ENABLED, PATTERN, LEADS, HITS, LAST_HIT];
}
