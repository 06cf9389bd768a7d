//! The site itself: address, people, states of records, pages for people, themes.

use super::action::Action;
use crate::units::{Duration, OptionalSetting, Size, yes};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Name and address of the site.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Site {
    /// The platform's prefix in routes, headers and kinds.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9]{0,15}$"))]
    pub prefix: String,
    /// The site's address, with which every absolute URL begins; absent: the listener's.
    pub url: Option<String>,
    /// Shape of the address of a record.
    pub permalinks: String,
    /// The front end: where the site is read.
    pub front: FrontEnd,
    /// Search engines are told to leave the whole site out: `robots.txt` forbids every path, no sitemap is served, and every
    /// response has `X-Robots-Tag: noindex`. For a copy of a site that is being tried out.
    pub noindex: bool,
    /// Load the demo site into an empty database.
    pub demo: bool,
    /// Whether anonymous callers may list the authors of published content.
    pub list_authors: bool,
    /// Under `wp`: whether everybody may read menus, their published items, and the places of menus.
    pub public_menus: bool,
    /// Whether anonymous callers may comment, with a name and an e-mail address.
    pub anonymous_comments: bool,
    /// Application passwords: `https` (only where nobody can intercept them), `on`, `off`.
    pub application_passwords: AppPasswords,
    /// Which requests count as sent in a secure context, where some routes exist only: `https` (over HTTPS, or to a host
    /// called `localhost`), `always`.
    pub secure_context: SecureContext,
    /// Users and roles that may have application passwords; none named: everybody.
    pub application_passwords_for: UserSelection,
    /// Name of the resource with the audit trail; `false`: there is none.
    pub audit: OptionalSetting<String>,
    /// Longest login or e-mail address; a longer one is rejected without a lookup.
    pub max_login: Size,
    /// Longest account password; a longer one is rejected without hashing and cannot be set.
    pub max_password: Size,
    /// Application passwords that one user may have.
    pub max_application_passwords: u64,
    /// Entries of the audit trail that anonymous callers have caused (wrong logins); the oldest of them are removed.
    pub max_audit_anonymous: u64,
    /// Entries after which an older one about what happens often (contents that are published or deleted) is removed.
    pub max_audit_frequent: u64,
    /// Roles that can be stored: new ones, and changes of declared ones.
    pub max_stored_roles: u64,
    /// Cost of bcrypt for account passwords.
    #[schemars(extend("x-restart" = true))]
    pub bcrypt_cost: u32,
    /// JSONP callbacks are supported.
    pub jsonp: bool,
}

impl Default for Site {
    fn default() -> Self {
        Site {
            prefix: "cms".into(),
            url: None,
            permalinks: "/%year%/%monthnum%/%postname%/".into(),
            front: FrontEnd::default(),
            noindex: false,
            demo: false,
            list_authors: true,
            public_menus: false,
            anonymous_comments: false,
            application_passwords: AppPasswords::Https,
            secure_context: SecureContext::Https,
            application_passwords_for: UserSelection::default(),
            audit: OptionalSetting::OFF,
            max_login: Size::bytes_of(320),
            max_password: Size::kib(4),
            max_application_passwords: 100,
            max_audit_anonymous: 10_000,
            max_audit_frequent: 100_000,
            max_stored_roles: 100,
            bcrypt_cost: 10,
            jsonp: true,
        }
    }
}

/// Where the site is read. Links of items lead there; files and the REST interface stay at the site's address.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontEnd {
    /// Its address, such as `https://www.example.org`; absent: links lead to the site's own address.
    pub url: Option<String>,
    /// The address there at which an editor sees what is not published yet, such as
    /// `https://www.example.org/api/preview?token={token}&path={path}`: `{token}` is that of a preview link, `{path}` the path
    /// that the record will have, `{type}` and `{id}` name it.
    pub preview: Option<String>,
    /// Paths of items there, by resource: `posts = "/blog/{slug}"`. In braces stands a member of the item, or `path` (slugs from
    /// the topmost ancestor down), `author` (the author's slug), `category` (slugs of the oldest one, from the topmost down) or
    /// `date` with a part of it: `{date:%Y}`, `{start:%Y-%m}`.
    /// `{topic|general}` has a text for items without that member. Other resources have the paths that they have on the site.
    pub paths: IndexMap<String, String>,
}

/// How values are read and responses are shaped, where the contract and WordPress differ.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// A number is taken for a list of one item, and a boolean for a list of `1` or of nothing.
    pub scalars_as_lists: bool,
    /// A date may name a day that its month does not have: it means the days after the month. The hour 24 ends a day. An
    /// offset may lack its minutes, and the letter for UTC is a capital `Z`.
    pub lenient_dates: bool,
    /// URLs of comments end in a slash before the `#`, like those of records, also where a record is named by its id.
    pub slash_in_comment_urls: bool,
    /// Spaces separate the items of a list in a text, as commas do.
    pub space_separated_lists: bool,
    /// `_fields` reaches into lists by the positions of items (`_links.self.0.href`), blanks separate its names, what is left of
    /// an object when nothing of it is named is an empty list, and `_embedded` is a member only with `_embed`.
    pub select_positions: bool,
    /// An empty list is accepted as an empty object.
    pub empty_list_as_object: bool,
    /// Relations that lead to nothing are embedded, too, as empty lists.
    pub embed_empty_relations: bool,
    /// An error says that the login or the password that was sent is empty.
    pub explain_empty_credentials: bool,
    /// OPTIONS of a route that does not exist is an empty description, and only routes without values in their path have
    /// links in theirs.
    pub options_without_route: bool,
    /// A null for an argument whose types do not include it is read as its empty value, or as absent. Otherwise it is
    /// refused.
    pub null_as_empty: bool,
    /// The refusal of a value of the wrong type says what was sent, and how a text is written.
    pub explain_types: bool,
    /// A text of the format `uri` has to be an absolute address. Otherwise it may be empty or relative, and is
    /// cleaned: what its scheme does not allow is stored as an empty text.
    pub check_addresses: bool,
    /// Texts with `x-write` `text_field` or `textarea` are stored with `<` as `&lt;` and without what looks like a percent
    /// escape, as WordPress does with those of its own resources; so are texts of the formats `text-field` and `textarea-field`.
    /// Otherwise, and with `x-write` in properties that a site declares, texts are stored as they are sent, without markup.
    pub escape_text_fields: bool,
    /// Blanks around a number in a text are left out, and an integer beyond 64 bits is the nearest that has so many.
    pub lenient_numbers: bool,
    /// An empty text is a text where a text may be given. Otherwise the first type that fits decides.
    pub empty_text_as_text: bool,
    /// The path in `?rest_route=` has to begin with a slash.
    pub strict_route_parameter: bool,
    /// Responses to callers with credentials have every header that keeps old caches from storing them.
    pub full_no_cache: bool,
    /// Parameters that an endpoint does not have are refused, with the nearest name. A request asks for it with `?strict`.
    /// Parameters that begin with `_` belong to every endpoint.
    pub refuse_unknown_parameters: bool,
    /// A JSON object in a body with another `Content-Type` is refused with 415. Otherwise it is read as that type says.
    pub refuse_unlabelled_json: bool,
    /// Basic credentials that are wrong are refused with 401 on every route. Otherwise the caller is anonymous.
    pub refuse_wrong_credentials: bool,
    /// A file that is not taken is an error of the server (500) without the list of what is taken.
    pub refused_file_as_server_error: bool,
    /// Of several files in one field of a form, the last one is taken; otherwise they are refused.
    pub last_file_of_a_field: bool,
    /// Of a file that the server fetches, a request names the record that it belongs to; its other members are ignored.
    pub bare_fetched_files: bool,
    /// A refusal (403) names the capability that the caller lacks.
    pub name_missing_capability: bool,
    /// A revision or autosave holds title, content and excerpt alone, and an update does not store the state before it.
    /// Otherwise it holds everything that a form edits.
    pub revisions_of_texts: bool,
    /// A revision or autosave that is shown alone, and with its parent, has the link to it, whatever `_fields` requests.
    pub link_revisions: bool,
    /// A title within an object (`{"raw": ""}`) that is empty or `0` leaves the title as it is. An empty text by itself empties
    /// it.
    pub keep_titles: bool,
    /// The link of an item to itself lists the methods that the caller may use on the item (`targetHints`).
    pub target_hints: bool,
    /// Ids of captions, galleries, players and blocks that have a number are counted through all documents of a response.
    /// Otherwise each document begins with the first.
    pub numbers_across_documents: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect {
            scalars_as_lists: false,
            lenient_dates: false,
            slash_in_comment_urls: false,
            space_separated_lists: false,
            select_positions: false,
            empty_list_as_object: false,
            embed_empty_relations: true,
            explain_empty_credentials: true,
            options_without_route: false,
            null_as_empty: false,
            explain_types: true,
            check_addresses: true,
            escape_text_fields: false,
            lenient_numbers: false,
            empty_text_as_text: false,
            strict_route_parameter: false,
            full_no_cache: false,
            refuse_unknown_parameters: false,
            refuse_unlabelled_json: true,
            refuse_wrong_credentials: true,
            refused_file_as_server_error: false,
            last_file_of_a_field: false,
            bare_fetched_files: false,
            name_missing_capability: true,
            revisions_of_texts: false,
            link_revisions: false,
            keep_titles: false,
            target_hints: false,
            numbers_across_documents: false,
        }
    }
}

/// See [`Site::application_passwords`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AppPasswords {
    Https,
    On,
    Off,
}

/// See [`Site::secure_context`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SecureContext {
    Https,
    Always,
}

/// See [`Pages::fields`].
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoginFields {
    /// The login or e-mail address.
    pub login: String,
    /// The password.
    pub password: String,
    /// Whether the session is a long one.
    pub remember: String,
    /// The login or e-mail address of an account whose password is lost.
    pub lost: String,
}

impl Default for LoginFields {
    fn default() -> Self {
        LoginFields {
            login: "login".into(),
            password: "password".into(),
            remember: "remember".into(),
            lost: "login".into(),
        }
    }
}

/// Some users: by role or by login.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserSelection {
    /// Holders of one of these roles.
    pub roles: Vec<String>,
    /// Users with one of these logins.
    pub users: Vec<String>,
}

/// Pages for people. An address is a path, perhaps with one parameter of the query: `/login?act=out`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pages {
    /// They are served; otherwise people have no sessions, and programs obtain passwords from other programs. The page
    /// of the site's address is always served.
    pub enabled: bool,
    /// Clients that do not ask for HTML get the page of the site's address as JSON.
    pub home_as_json: bool,
    /// Records are shown at their own addresses as plain pages, unless a front end shows the site (`site.front`).
    pub reader: bool,
    /// Address of documentation that the home page names; `false`: none.
    pub docs: OptionalSetting<String>,
    /// Path of the page where people log in.
    pub login: String,
    /// Path that ends the session.
    pub logout: String,
    /// Own data, sessions and application passwords; those of others with `user=NUMBER`.
    pub profile: String,
    /// Where a user authorizes a program.
    pub authorize: String,
    /// Where a user connects a program that asks by OAuth, where a resource declares how (`options.oauth`).
    pub connect: String,
    /// Where people log in by an identity provider (`[login]`): the provider's name follows.
    pub provider: String,
    /// Where a person whose password is lost requests a link to set a new one (`[mail]`).
    pub lost: String,
    /// Where that link leads, with the parameter `token`.
    pub reset: String,
    /// Where a user sets up second factors.
    pub factors: String,
    /// Returns a fresh nonce to a session; `false`: nowhere.
    pub nonce: OptionalSetting<String>,
    /// Path of the page that shows the service's description and tries requests; `false`: nowhere.
    pub explorer: OptionalSetting<String>,
    /// Folder of the style and the script.
    pub assets: String,
    /// Parameter of the login that holds where to go afterwards.
    pub redirect: String,
    /// Names of the fields of the forms to log in and to request a link.
    pub fields: LoginFields,
    /// How long a session lasts.
    pub session_lifetime: Duration,
    /// How long a session lasts with "remember me".
    pub remember_lifetime: Duration,
    /// Largest form.
    pub max_body: Size,
    /// Sessions that one user may have at a time; the least recently used one ends.
    pub max_sessions: u64,
    /// Second factors that one user may have, recovery codes apart.
    pub max_factors: u64,
    /// Consecutive failed logins per account and network; then logins are answered 429. Codes of second factors count likewise.
    pub max_login_attempts: u32,
    /// Wait before the next attempt is checked.
    pub retry_after: Duration,
}

impl Pages {
    /// The same, with addresses below a path of the host.
    pub fn below(&self, base: &str) -> Pages {
        let place = |path: &String| if path.is_empty() { String::new() } else { format!("{base}{path}") };
        let offered = |path: &OptionalSetting<String>| {
            path.get().map_or_else(|| path.clone(), |path| OptionalSetting::on(place(path)))
        };
        Pages {
            login: place(&self.login),
            logout: place(&self.logout),
            profile: place(&self.profile),
            authorize: place(&self.authorize),
            connect: place(&self.connect),
            provider: place(&self.provider),
            lost: place(&self.lost),
            reset: place(&self.reset),
            factors: place(&self.factors),
            assets: place(&self.assets),
            nonce: offered(&self.nonce),
            explorer: offered(&self.explorer),
            ..self.clone()
        }
    }
}

impl Default for Pages {
    fn default() -> Self {
        Pages {
            enabled: true,
            home_as_json: true,
            reader: true,
            docs: OptionalSetting::OFF,
            login: "/login".into(),
            logout: "/logout".into(),
            profile: "/profile".into(),
            authorize: "/authorize".into(),
            connect: "/connect".into(),
            provider: "/login-with".into(),
            lost: "/lost-password".into(),
            reset: "/set-password".into(),
            factors: "/second-factor".into(),
            nonce: OptionalSetting::on("/nonce".into()),
            explorer: OptionalSetting::on("/explorer".into()),
            assets: "/assets".into(),
            redirect: "redirect".into(),
            fields: LoginFields::default(),
            session_lifetime: Duration::days(2),
            remember_lifetime: Duration::days(14),
            max_body: Size::kib(64),
            max_sessions: 50,
            max_factors: 10,
            max_login_attempts: 10,
            retry_after: Duration::seconds_of(30),
        }
    }
}

/// A role: a name for people and what its users may do.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Name for people.
    pub name: String,
    /// Capabilities of the holders; `*`: every one that the declarations name.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Some user always has it: the last one can neither lose it nor be deleted.
    #[serde(default)]
    pub required: bool,
    /// New users get it when no role is given; at most one role.
    #[serde(default)]
    pub default: bool,
    /// Users that an import creates get it; at most one role. Absent: they get the default.
    #[serde(default)]
    pub imported: bool,
    /// The role is as it is declared: nobody changes it in the console. A `required` role keeps what is declared anyway, and one
    /// that the environment or the command line sets is locked.
    #[serde(default)]
    pub locked: bool,
    /// Holders log in with a password; otherwise by an identity provider alone (`[login]`). Application passwords and connected
    /// programs are not concerned.
    #[serde(default = "yes")]
    pub password_login: bool,
    /// Whether logins by password need a second factor. Application passwords and tokens never do.
    #[serde(default)]
    pub second_factor: SecondFactor,
    /// How long holders who have none may go on without, since their first login without. Then all that they may do is to set
    /// one up. Absent: `7d`.
    #[serde(default)]
    pub second_factor_grace: Option<Duration>,
}

impl Role {
    /// How long holders may go on without a second factor; `None`: as long as they want.
    pub fn factor_grace(&self) -> Option<Duration> {
        let grace = self.second_factor_grace.unwrap_or(Duration::days(7));
        (self.second_factor == SecondFactor::Required).then_some(grace)
    }
}

/// Whether the holders of a role need a second factor.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecondFactor {
    /// Who wants one sets it up.
    #[default]
    Optional,
    Required,
}

/// The primitive capability that each [`Action`] needs. Actions on content: `create`, `edit`, `edit_others`,
/// `edit_published`, `edit_private`, `publish`, `read_private`, `delete`, `delete_others`, `delete_published`,
/// `delete_private`; on terms: `manage`, `edit`, `delete`, `assign`; on comments: `moderate`, `skip_limits`; on users:
/// `list`, `create`, `edit`, `delete`, `promote`; on plain resources: `read`, `create`, `edit`, `delete` and, with an
/// owner column, `edit_others`, `delete_others`. An absent action needs `do_not_allow`, but `read`, which is open to
/// everybody then, as is every action with an empty name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(transparent)]
pub struct CapabilityMap(#[schemars(with = "IndexMap<Action, String>")] pub IndexMap<String, String>);

/// A record state.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Name for people.
    pub label: String,
    /// Everybody may read such records.
    #[serde(default)]
    pub public: bool,
    /// Only readers of private records may.
    #[serde(default)]
    pub private: bool,
    /// Only those who may edit the record may.
    #[serde(default)]
    pub protected: bool,
    /// Requests cannot set it.
    #[serde(default)]
    pub internal: bool,
    /// A request may select it in lists.
    #[serde(default)]
    pub queryable: bool,
    /// Shown in the list of statuses.
    #[serde(default)]
    pub listed: bool,
    /// Records in this state have a date that may float until they are published.
    #[serde(default)]
    pub date_floating: bool,
    /// Records in this state have a slug: one is made from the title where none is chosen.
    #[serde(default)]
    pub claims_slug: bool,
    /// Lists leave out the comments of records in this state.
    #[serde(default)]
    pub hides_comments: bool,
    /// A record in this state is a draft: nobody comments on it, and autosaves of its author change the record itself. New
    /// records start in the first such state that is not internal.
    #[serde(default)]
    pub draft: bool,
    /// Records in this state wait for a user who may publish; other users do not choose their slugs.
    #[serde(default)]
    pub review: bool,
    /// Deleted records change to this state first; a restored record gets its former state and slug.
    #[serde(default)]
    pub trash: bool,
    /// Records in this state are as visible as their parents: the state of what supports `attached`.
    #[serde(default)]
    pub inherits: bool,
    /// The state in which records wait for this one until their date has come.
    #[serde(default)]
    pub schedules_to: Option<String>,
    /// The timed transition of records in this state.
    #[serde(default)]
    pub transition: Option<Transition>,
}

/// A state of comments.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommentStatus {
    /// Name for people; empty: made of its own name.
    pub label: String,
    /// Names that requests use; empty: its own name.
    pub names: Vec<String>,
    /// Shown to everybody who may read the record.
    pub public: bool,
    /// Left out of lists that do not request it. The comment stores the state before; the word `un` with the name of
    /// this state restores it.
    pub removed: bool,
    /// Deleted comments change to this state first.
    pub trash: bool,
}

/// Rules that hold back comments of callers who do not moderate.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Moderation {
    /// Shortest time between two comments of one person; `false`: none.
    pub min_interval: OptionalSetting<Duration>,
    /// Links that make a comment wait for a moderator; `false`: any number passes.
    pub hold_links: OptionalSetting<usize>,
}

/// A timed transition; the scheduler carries it out, with or without traffic.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// The time of the record from which it is counted.
    pub on: Moment,
    /// How long after that; `false`: never.
    #[serde(default = "at_once")]
    pub after: OptionalSetting<Duration>,
    /// The state that records then change to; absent: they are deleted for good.
    #[serde(default)]
    pub to: Option<String>,
}

/// A time of a record.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// Its date.
    Date,
    /// Its last change.
    Modified,
    /// When it was moved to the trash.
    Trashed,
}

/// A theme as the themes resource shows it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Theme {
    /// The theme that the site uses.
    #[serde(default)]
    pub active: bool,
    /// Members of the theme object beside `theme_supports`.
    #[serde(default)]
    pub header: Map<String, Value>,
    /// Features that the theme supports, as clients read them.
    #[serde(default)]
    pub supports: Map<String, Value>,
    /// Template files by the name that `template` holds.
    #[serde(default)]
    pub templates: IndexMap<String, String>,
}

fn at_once() -> OptionalSetting<Duration> {
    OptionalSetting::on(Duration::seconds_of(0))
}
