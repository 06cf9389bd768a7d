//! Names of the tables and columns that the families share: every other module names them by these constants, so that a
//! name that is spelled wrongly does not compile.

/// The key of the shared tables.
pub const ID: &str = "id";

/// How often a row was changed.
pub use cms_storage::plan::VERSION;

/// Records of the content family.
pub mod record {
    pub const TABLE: &str = "record";
    pub const KIND: &str = "kind";
    pub const STATUS: &str = "status";
    pub const STATUS_BEFORE: &str = "status_before";
    pub const SLUG: &str = "slug";
    pub const SLUG_BEFORE: &str = "slug_before";
    pub const AUTHOR: &str = "author";
    pub const PARENT: &str = "parent";
    pub const MENU_ORDER: &str = "menu_order";
    pub const DATE_LOCAL: &str = "date_local";
    pub const DATE_UTC: &str = "date_utc";
    pub const DATE_FLOATS: &str = "date_floats";
    pub const MODIFIED_LOCAL: &str = "modified_local";
    pub const MODIFIED_UTC: &str = "modified_utc";
    pub const TITLE: &str = "title";
    pub const TITLE_KEY: &str = "title_key";
    pub const CONTENT: &str = "content";
    pub const EXCERPT: &str = "excerpt";
    pub const PASSWORD: &str = "password";
    pub const COMMENT_STATUS: &str = "comment_status";
    pub const PING_STATUS: &str = "ping_status";
    pub const MIME: &str = "mime";
    pub const FILE: &str = "file";
    pub const GUID: &str = "guid";
    pub const STICKY: &str = "sticky";
    pub const FORMAT: &str = "format";
    pub const TEMPLATE: &str = "template";
    pub const FEATURED_MEDIA: &str = "featured_media";
    pub const COMMENT_COUNT: &str = "comment_count";
    pub const TRASHED_AT: &str = "trashed_at";
    pub const EXTRA: &str = "extra";
}

/// Terms.
pub mod term {
    pub const TABLE: &str = "term";
    pub const TAXONOMY: &str = "taxonomy";
    pub const NAME: &str = "name";
    pub const NAME_KEY: &str = "name_key";
    pub const SLUG: &str = "slug";
    pub const DESCRIPTION: &str = "description";
    pub const PARENT: &str = "parent";
    pub const COUNT: &str = "count";
    pub const EXTRA: &str = "extra";
}

/// Users.
pub mod user {
    pub const TABLE: &str = "user";
    pub const LOGIN: &str = "login";
    pub const LOGIN_KEY: &str = "login_key";
    pub const EMAIL: &str = "email";
    pub const EMAIL_KEY: &str = "email_key";
    /// 1: the owner has not confirmed the address yet.
    pub const EMAIL_PENDING: &str = "email_pending";
    /// Where messages go until then; empty: nowhere.
    pub const EMAIL_BEFORE: &str = "email_before";
    pub const NAME: &str = "name";
    pub const NAME_KEY: &str = "name_key";
    pub const FIRST_NAME: &str = "first_name";
    pub const LAST_NAME: &str = "last_name";
    pub const NICKNAME: &str = "nickname";
    pub const SLUG: &str = "slug";
    pub const URL: &str = "url";
    pub const DESCRIPTION: &str = "description";
    pub const LOCALE: &str = "locale";
    pub const REGISTERED: &str = "registered";
    pub const ROLES: &str = "roles";
    pub const PASSWORD_HASH: &str = "password_hash";
    pub const EXTRA: &str = "extra";
}

/// Comments.
pub mod comment {
    pub const TABLE: &str = "comment";
    pub const POST: &str = "post";
    pub const PARENT: &str = "parent";
    pub const AUTHOR: &str = "author";
    pub const AUTHOR_NAME: &str = "author_name";
    pub const AUTHOR_EMAIL: &str = "author_email";
    pub const AUTHOR_URL: &str = "author_url";
    pub const AUTHOR_IP: &str = "author_ip";
    pub const AUTHOR_USER_AGENT: &str = "author_user_agent";
    pub const DATE_LOCAL: &str = "date_local";
    pub const DATE_UTC: &str = "date_utc";
    pub const CONTENT: &str = "content";
    pub const STATUS: &str = "status";
    pub const STATUS_BEFORE: &str = "status_before";
    pub const KIND: &str = "kind";
    pub const KARMA: &str = "karma";
    pub const EXTRA: &str = "extra";
}

/// Uploaded files.
pub mod file {
    pub const TABLE: &str = "file";
    pub const KEY: &str = "key";
    pub const RECORD: &str = "record";
    pub const AT: &str = "at";
}

/// Links with which the password of an account is set, by the digests of their tokens.
pub mod link {
    pub const TABLE: &str = "password_link";
    pub const HASH: &str = "hash";
    pub const USER: &str = "user";
    pub const EXPIRES: &str = "expires";
    pub const BOUND: &str = "bound";
}

/// Credentials of programs: application passwords, and the tokens that a login has made.
pub mod app_password {
    pub const TABLE: &str = "app_password";
    pub const KEY: &str = "uuid";
    pub const USER: &str = "user";
    pub const ORDINAL: &str = "ordinal";
    pub const EXPIRES: &str = "expires";
    /// 1: a token.
    pub const TOKEN: &str = "token";
}

/// Links that show a record as it is being edited.
pub mod preview {
    pub const TABLE: &str = "preview_link";
    pub const ID: &str = "link";
    pub const RECORD: &str = "record";
    pub const USER: &str = "user";
    pub const CREATED: &str = "created";
    pub const EXPIRES: &str = "expires";
}

/// Addresses that records had.
pub mod old_address {
    pub const TABLE: &str = "old_address";
    /// Where the slug was unique.
    pub const SCOPE: &str = "scope";
    pub const SLUG: &str = "slug";
    /// The date of the record at that time, on the site's clock.
    pub const DATE: &str = "date_local";
    pub const RECORD: &str = "record";
}

/// The change feed, which the storage keeps.
pub mod feed {
    pub const TABLE: &str = "change_feed";
    pub const SEQ: &str = "seq";
    /// Those that events are made of, in the order in which they are read.
    pub const ALL: [&str; 15] = [
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
    ];
}

/// Receivers that are told of changes.
pub mod webhook {
    pub const NAME: &str = "name";
    pub const URL: &str = "url";
    pub const FORMAT: &str = "format";
    pub const RESOURCES: &str = "resources";
    pub const EVENTS: &str = "events";
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
    /// When the next attempt is due.
    pub const DUE: &str = "due";
    /// Since when deliveries fail; null: they do not.
    pub const FAILING: &str = "failing_since";
    pub const ERROR: &str = "error";
    pub const SENT: &str = "last_sent";
    /// All of them.
    pub const ALL: [&str; 19] = [
        NAME,
        URL,
        FORMAT,
        RESOURCES,
        EVENTS,
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

/// Messages that wait to be sent.
pub mod outbox {
    pub const TABLE: &str = "outbox";
    pub const KIND: &str = "kind";
    pub const USER: &str = "user";
    pub const ADDRESS: &str = "address";
    pub const DATA: &str = "data";
    pub const CREATED: &str = "created";
    pub const DUE: &str = "due";
    pub const ATTEMPTS: &str = "attempts";
}
