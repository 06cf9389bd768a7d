//! The grammar of `routes.toml`: what a user may write, as types.
//!
//! `cms-server schema` prints the JSON Schema of [`Declaration`]; the loader checks every file against it, so a field
//! added here is at once known to editors, to the boot's problem report and to the registry. Nothing is interpreted
//! here. In every string `{prefix}` and `{PREFIX}` stand for `site.prefix`. What a file may say beside the declaration
//! (`include`, `overlays`, `remove`) is in `grammar`. Types with defaults serialise, so that the defaults are in the
//! JSON Schema too.

use super::calls::XmlRpc;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON Schema (draft 4) with our `x-` words, as written.
pub type SchemaDoc = Map<String, Value>;

/// The whole of `routes.toml` after includes, overlays, environment and command line are merged.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    #[serde(default)]
    pub server: Server,
    #[serde(default)]
    pub storage: Storage,
    #[serde(default)]
    pub site: Site,
    #[serde(default)]
    pub media: Media,
    /// What other sites are asked.
    #[serde(default)]
    pub outbound: Outbound,
    /// Values of the settings resource on an empty database, by property.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// Roles by machine name.
    #[serde(default)]
    pub roles: IndexMap<String, Role>,
    /// What acts on an object need, by name; resources refer to one.
    #[serde(default)]
    pub capabilities: IndexMap<String, CapabilityMap>,
    /// Record states by neutral name.
    #[serde(default)]
    pub statuses: IndexMap<String, Status>,
    /// Namespaces by the name that resources refer to.
    #[serde(default)]
    pub namespaces: IndexMap<String, Namespace>,
    /// Reusable groups of arguments.
    #[serde(default)]
    pub args: IndexMap<String, ArgGroup>,
    /// Reusable sets of routes that a resource takes over with its own base, schema and arguments.
    #[serde(default)]
    pub families: IndexMap<String, Vec<Route>>,
    /// The resources, in the order in which their routes are tried and listed.
    #[serde(default)]
    pub resources: IndexMap<String, Resource>,
    /// Routes that belong to no resource.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Schema files that OPTIONS shows of routes that belong to no resource, by path; `/` is the root, `/NAMESPACE`
    /// one namespace.
    #[serde(default)]
    pub route_schemas: IndexMap<String, String>,
    /// Blocks that are made of other rows when a content is shown, by their full name (`core/latest-posts`).
    #[serde(default)]
    pub blocks: IndexMap<String, Made>,
    /// Shortcodes that are made of other rows.
    #[serde(default)]
    pub shortcodes: IndexMap<String, Made>,
    /// Themes; exactly one is active.
    #[serde(default)]
    pub themes: IndexMap<String, Theme>,
    /// Cross-origin rules of the REST base.
    #[serde(default)]
    pub cors: Cors,
    /// XML-RPC: the old interface on the same routes.
    #[serde(default)]
    pub xmlrpc: XmlRpc,
    /// How often callers may ask, by name.
    #[serde(default)]
    pub limits: IndexMap<String, Limit>,
    /// What values that clients send may hold where their schema sets no bound.
    #[serde(default)]
    pub bounds: Bounds,
    /// Pages for people: logging in, profiles, letting programs in.
    #[serde(default)]
    pub pages: Pages,
    /// Overlays of schema files: `schemas.<file stem>` is merged into the schema file of that name. Empty once loaded:
    /// the loader has merged them.
    #[serde(default)]
    pub schemas: IndexMap<String, SchemaDoc>,
}

/// Arguments by name: each a JSON Schema with `required`, `default` and our `x-` words
/// (`x-role`, `x-filter`, `x-aliases`, `x-names`, `x-bounds`: what holds beside the schema and OPTIONS does not list,
/// `x-words`: how many words a search may have).
pub type ArgGroup = IndexMap<String, SchemaDoc>;

/// How the server listens and what it accepts.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Address and port; port 0 takes a free one.
    pub listen: String,
    /// Worker threads; 0 takes one per core.
    pub workers: usize,
    /// Largest request body in bytes.
    pub max_body: usize,
    /// Largest query string in bytes.
    pub max_query: usize,
    /// Deepest nesting of a body or query.
    pub max_depth: usize,
    /// Seconds that a client has to send its head, and its body.
    pub read_timeout: u64,
    /// Seconds that an idle connection is kept.
    pub keep_alive: u64,
    /// Seconds that requests in flight get at shutdown.
    pub shutdown_timeout: u64,
    /// Networks of the proxies whose `X-Forwarded-*` headers are believed.
    pub trusted_proxies: Vec<String>,
    /// Megabytes of answers that are kept whole; 0 keeps none.
    pub answers_mb: usize,
    /// Bytes of HTML that the dynamic blocks and shortcodes of one content may make; the rest is left out.
    pub max_rendered: usize,
    /// Address of the listener for `/health` and `/metrics`; empty is off.
    pub admin_listen: String,
    /// Log one line per request.
    pub access_log: bool,
    /// Rebuild the registry when a declaration file changes.
    pub watch: bool,
}

impl Default for Server {
    fn default() -> Self {
        Server {
            listen: "127.0.0.1:8080".into(),
            workers: 0,
            max_body: 16 << 20,
            max_query: 60 << 10,
            max_depth: 64,
            read_timeout: 30,
            keep_alive: 30,
            shutdown_timeout: 30,
            trusted_proxies: Vec::new(),
            answers_mb: 32,
            max_rendered: 4 << 20,
            admin_listen: String::new(),
            access_log: true,
            watch: true,
        }
    }
}

/// What values that clients send may hold where their schema sets no bound of its own. More is answered 400.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// Characters of a text without `maxLength`.
    pub text: u64,
    /// Items of a list without `maxItems`, in arguments and in bodies; names in `_fields` and `_embed`.
    #[schemars(range(min = 1))]
    pub items: u64,
    /// Members of an object without `maxProperties`.
    pub members: u64,
    /// Bytes of JSON text of what no schema describes: members of free-form objects, lists without `items`.
    pub free: u64,
    /// Parents above a record or a term, counted upwards.
    pub ancestors: usize,
    /// Whether the arguments in OPTIONS list `maxLength` and `maxItems` of their properties. The schema in the same
    /// answer always lists them.
    pub shown: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { text: 65_535, items: 1000, members: 1000, free: 1 << 20, ancestors: 100, shown: true }
    }
}

/// Where rows live.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Storage {
    /// `sqlite:FILE`, relative to the working directory, or `sqlite::memory:`.
    pub url: String,
    /// When tables follow the declarations: `boot` (additive changes at start), `auto` (at reloads too), `never`.
    pub migrate: Migrate,
    /// Writes that may wait; more are answered 503.
    pub write_queue: usize,
    /// Megabytes of rendered documents kept in memory.
    pub cache_mb: usize,
    /// Seconds that the reads of one request may take together, those of embedded requests and of batches included; more is
    /// answered 503. 0: no bound.
    #[schemars(range(min = 0))]
    pub read_timeout: f64,
}

impl Default for Storage {
    fn default() -> Self {
        Storage {
            url: "sqlite:site.db".into(),
            migrate: Migrate::Boot,
            write_queue: 4096,
            cache_mb: 64,
            read_timeout: 5.0,
        }
    }
}

/// See [`Storage::migrate`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Migrate {
    Boot,
    Auto,
    Never,
}

/// What the site is called and where it stands.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Site {
    /// The platform's prefix in routes, headers and kinds.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9]{0,15}$"))]
    pub prefix: String,
    /// The site's address, which governs every absolute URL; empty takes the listener's.
    pub url: String,
    /// Shape of the address of a record.
    pub permalinks: String,
    /// Load the demo site into an empty database.
    pub demo: bool,
    /// Whether strangers may list the authors of published content.
    pub list_authors: bool,
    /// Whether strangers may comment; they say who they are.
    pub anonymous_comments: bool,
    /// Application passwords: `https` (only when the site is safe from listeners), `on`, `off`.
    pub application_passwords: AppPasswords,
    /// Whose application passwords they are limited to; nobody named: everybody has them.
    pub application_passwords_for: People,
    /// Name of the resource that keeps the audit trail; empty: none is kept.
    pub audit: String,
    /// Longest login or e-mail address in bytes: a longer one is wrong unread.
    pub max_login: usize,
    /// Longest account password in bytes: a longer one is wrong unread and cannot be set.
    pub max_password: usize,
    /// Application passwords that one user may have.
    pub max_application_passwords: u64,
    /// Entries of the audit trail that anonymous callers have caused (wrong logins); the oldest of them make room.
    pub max_audit_anonymous: u64,
    /// bcrypt's cost for account passwords.
    pub bcrypt_cost: u32,
    /// JSONP callbacks are honoured.
    pub jsonp: bool,
    /// Blanks separate the items of a list in a text, as commas do.
    pub blanks_separate: bool,
    /// An empty list is taken for an empty map.
    pub empty_list_is_map: bool,
    /// Relations that lead to nothing are embedded, too, as empty lists.
    pub embed_empty: bool,
    /// A refusal tells that the login or the password that was sent is empty.
    pub empty_credentials_told: bool,
    /// OPTIONS of a route that does not exist is an empty description, and only routes without values in their path have
    /// links in theirs.
    pub bare_options: bool,
}

impl Default for Site {
    fn default() -> Self {
        Site {
            prefix: "cms".into(),
            url: String::new(),
            permalinks: "/%year%/%monthnum%/%postname%/".into(),
            demo: false,
            list_authors: true,
            anonymous_comments: false,
            application_passwords: AppPasswords::Https,
            application_passwords_for: People::default(),
            audit: String::new(),
            max_login: 320,
            max_password: 4096,
            max_application_passwords: 100,
            max_audit_anonymous: 10_000,
            bcrypt_cost: 10,
            jsonp: true,
            blanks_separate: false,
            empty_list_is_map: false,
            embed_empty: true,
            empty_credentials_told: true,
            bare_options: false,
        }
    }
}

/// How often one caller may ask: by network where it is a stranger, by user otherwise. Beyond that requests are answered
/// 429. Only what is allowed and about to be done counts, and no answer that is at hand.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub callers: Callers,
    /// Methods that count; none named: all.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Resources that count, by their declared names; none named: all routes.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Requests at once.
    #[schemars(range(min = 1))]
    pub burst: u32,
    /// Requests a minute in the long run.
    #[schemars(range(min = 1))]
    pub per_minute: u32,
    /// Not applied.
    #[serde(default)]
    pub off: bool,
}

/// Whose requests a limit counts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Callers {
    All,
    Strangers,
    Known,
    /// Those who send credentials that are wrong: beyond the limit they are refused instead of being taken for strangers.
    Mistaken,
    /// Those who give a wrong password of a record, in a row: beyond the limit no password of that record is looked at.
    /// `methods` and `resources` do not matter.
    Guessing,
}

/// Pages for people. An address is a path, perhaps with one parameter of the query: `/login?act=out`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pages {
    /// They are served; otherwise people have no sessions, and programs are given passwords by other programs. The page of
    /// the site's address is always served.
    pub enabled: bool,
    /// Address of documentation that the page of the site's address names; empty: none.
    pub docs: String,
    pub login: String,
    pub logout: String,
    /// One's own data, sessions and application passwords; those of others with `user=NUMBER`.
    pub profile: String,
    /// Where a user lets a program in.
    pub authorize: String,
    /// Answers a fresh nonce to a session; empty: nowhere.
    pub nonce: String,
    /// Folder of the style and the script.
    pub assets: String,
    /// Parameter of the login that holds where to go afterwards.
    pub redirect: String,
    /// Fields of the login form: login, password, whether to be remembered.
    pub fields: [String; 3],
    /// Hours until a session ends.
    pub session_hours: u32,
    /// Days until a session ends that is to be remembered.
    pub remember_days: u32,
    /// Largest form in bytes.
    pub max_body: usize,
    /// Sessions that one user may have at a time; the one that was not used for longest ends.
    pub max_sessions: u64,
    /// Wrong passwords in a row that are borne from one place for one account.
    pub max_guesses: u32,
    /// Seconds until one more is borne.
    pub guess_pause: u32,
}

impl Default for Pages {
    fn default() -> Self {
        Pages {
            enabled: true,
            docs: String::new(),
            login: "/login".into(),
            logout: "/logout".into(),
            profile: "/profile".into(),
            authorize: "/authorize".into(),
            nonce: String::new(),
            assets: "/assets".into(),
            redirect: "redirect".into(),
            fields: ["login".into(), "password".into(), "remember".into()],
            session_hours: 48,
            remember_days: 14,
            max_body: 64 << 10,
            max_sessions: 50,
            max_guesses: 10,
            guess_pause: 30,
        }
    }
}

/// Uploaded files: where they live, what is taken, what is made of pictures.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Media {
    /// `file:FOLDER`, or `memory:` for tests; empty: a folder beside the database, named after it.
    pub url: String,
    /// Path below the site's address at which files are served.
    pub path: String,
    /// Largest file in bytes.
    pub max_upload: u64,
    /// Most pixels of a picture; looked up before anything is decoded.
    pub max_pixels: u64,
    /// Most frames of an animation.
    pub max_frames: u32,
    /// Bytes of memory that all pictures under work take together; what a picture may take is worked out from its head,
    /// and one that needs more than all of it is refused.
    pub max_memory: u64,
    /// Seconds that the work on one picture may take.
    pub timeout: u64,
    /// Threads that work on pictures.
    pub workers: usize,
    /// Pictures that may wait for them; more are answered 503.
    pub queue: usize,
    /// Pictures with a longer side than this are shown by a copy of this size; 0: never.
    pub largest: u32,
    /// Quality of JPEG files that are made here, 1 to 100.
    pub quality: u8,
    /// Seconds that a file may lie without a record before it is swept away.
    pub sweep_after: u64,
    /// Seconds that browsers and proxies may keep a file.
    pub max_age: u32,
    /// Smaller copies that are made of each picture, by name.
    pub sizes: IndexMap<String, PictureSize>,
    /// What is taken, by MIME type.
    pub types: IndexMap<String, FileType>,
}

impl Default for Media {
    fn default() -> Self {
        Media {
            url: String::new(),
            path: "/files".into(),
            max_upload: 64 << 20,
            max_pixels: 50_000_000,
            max_frames: 500,
            max_memory: 640 << 20,
            timeout: 120,
            workers: 2,
            queue: 64,
            largest: 2560,
            quality: 82,
            sweep_after: 600,
            max_age: 31_536_000,
            sizes: IndexMap::new(),
            types: IndexMap::new(),
        }
    }
}

/// What other sites are asked: nothing, unless `pages` or `providers` say so.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outbound {
    /// Whoever edits may have any public page asked for its title, icon, description and picture.
    pub pages: bool,
    /// Sites that tell how to show what they hold (oEmbed), by any name.
    pub providers: IndexMap<String, Provider>,
    /// Networks that may be asked although they are not public.
    pub networks: Vec<String>,
    /// Ports that may be asked.
    pub ports: Vec<u16>,
    /// Seconds that one question may take, redirections included.
    pub timeout: u64,
    /// Most redirections.
    pub redirects: u32,
    /// Bytes of an answer that are read.
    pub max_bytes: u64,
    /// Questions at the same time.
    pub workers: usize,
    /// Questions that may wait; more are answered 503.
    pub queue: usize,
}

impl Default for Outbound {
    fn default() -> Self {
        Outbound {
            pages: false,
            providers: IndexMap::new(),
            networks: Vec::new(),
            ports: vec![80, 443, 8080],
            timeout: 5,
            redirects: 3,
            max_bytes: 150 << 10,
            workers: 2,
            queue: 16,
        }
    }
}

/// A site that tells how to show what it holds.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// What it tells of: addresses with `*` for any text (`https://*.example.com/watch*`).
    pub addresses: Vec<String>,
    /// Where it is asked; `{format}` stands for `json`.
    pub endpoint: String,
}

/// A size that pictures are brought to. A side of 0 follows from the other.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct PictureSize {
    pub width: u32,
    pub height: u32,
    /// Exactly this size, what stands out is cut off; otherwise the picture is made to fit.
    pub crop: bool,
}

/// A type of file that is taken.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileType {
    /// Ends of file names; the first one is given to files that are named otherwise.
    pub extensions: Vec<String>,
    /// Further MIME types that the contents may look like.
    pub also: Vec<String>,
    /// Has no signature: any contents that are text will do.
    pub text: bool,
    /// Shown in the browser; otherwise offered as a download.
    pub inline: bool,
    /// Shown without scripts and without an origin.
    pub sandbox: bool,
    /// Not taken. An overlay switches the type on by saying false.
    pub off: bool,
}

/// Some of the people: by role or by login.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct People {
    pub roles: Vec<String>,
    pub users: Vec<String>,
}

/// See [`Site::application_passwords`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AppPasswords {
    Https,
    On,
    Off,
}

/// A role: a name for people and what its users may do.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Role {
    pub name: String,
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Somebody always has it: the last one can neither lose it nor be deleted.
    #[serde(default)]
    pub kept: bool,
}

/// The primitive capability that each act needs, by act. Acts of content: `create`, `edit`, `edit_others`,
/// `edit_published`, `edit_private`, `publish`, `read_private`, `delete`, `delete_others`, `delete_published`,
/// `delete_private`; of terms: `manage`, `edit`, `delete`, `assign`; of plain resources: `read`, `create`, `edit`,
/// `delete` and, with an owner column, `edit_others`, `delete_others`. An absent act needs `do_not_allow`; an empty
/// name is open to everybody.
pub type CapabilityMap = IndexMap<String, String>;

/// A record state.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {
    pub label: String,
    /// Anybody may read such records.
    #[serde(default)]
    pub public: bool,
    /// Only readers of private records may.
    #[serde(default)]
    pub private: bool,
    /// Only those who may edit the record may.
    #[serde(default)]
    pub protected: bool,
    /// Never chosen by people.
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
    /// The slug is claimed in this state.
    #[serde(default)]
    pub claims_slug: bool,
    /// Lists leave out the comments of records in this state.
    #[serde(default)]
    pub hides_comments: bool,
    /// What time does to records in this state.
    #[serde(default)]
    pub due: Option<Due>,
}

/// A transition that nobody asks for: it happens when its time has come, without traffic.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Due {
    /// The moment that counts.
    pub from: Moment,
    /// Days after it.
    #[serde(default)]
    pub days: u32,
    /// The state that records then come into. Absent: they are deleted for good; after 0 days, never.
    #[serde(default)]
    pub to: Option<String>,
}

/// A moment that is kept of a record.
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

/// A namespace, the leading part of its routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Namespace {
    /// `vendor/version`.
    pub path: String,
}

/// A route: a path pattern and its endpoints.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Path below the namespace; `{base}` is the resource's base; captures are `(?P<name>class)`.
    pub path: String,
    /// For routes outside a resource: the namespace's name; absent: the route stands alone.
    #[serde(default)]
    pub namespace: Option<String>,
    /// For routes outside a resource: whose schema OPTIONS shows and handlers use.
    #[serde(default)]
    pub resource: Option<String>,
    /// Served but not listed; nor is a namespace that has no other routes.
    #[serde(default)]
    pub hidden: bool,
    /// OPTIONS shows no schema although the resource has one.
    #[serde(default)]
    pub no_schema: bool,
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
}

/// One or more methods of a route that are answered alike.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    pub methods: Vec<String>,
    /// A named handler: `list`, `get`, `create`, `update`, `delete`, … (`cms-server routes` lists them).
    pub handler: String,
    /// A named guard, with the capability that it takes after a colon: `public`, `can:manage_options`, `content.read`.
    pub access: String,
    /// Codes of refusals that stand in for those of the guard and of the resource.
    #[serde(default)]
    pub codes: IndexMap<String, String>,
    /// Only for callers who edit something: others are refused, after the guard's own refusals.
    #[serde(default)]
    pub editors_only: bool,
    /// Groups of arguments: names of `[args]`; `@create` and `@update` derive them from the schema; `@key` from the path.
    #[serde(default)]
    pub args: Vec<String>,
    /// Arguments of this endpoint alone, or changes to those of the groups (merged key by key; `false` removes one).
    #[serde(default)]
    pub with: IndexMap<String, Value>,
    /// A name under which resources adjust the arguments of this endpoint (`resources.X.endpoints.NAME`).
    #[serde(default)]
    pub name: Option<String>,
    /// May take part in batches.
    #[serde(default)]
    pub batch: bool,
    /// Takes a file: the body may be as large as `media.max_upload` and goes to disk.
    #[serde(default)]
    pub file: bool,
    /// Makes, changes or takes away what callers prove who they are with: closed to limited application passwords.
    #[serde(default)]
    pub credentials: bool,
    /// Only carries other requests, each of which is judged by itself.
    #[serde(default)]
    pub envelope: bool,
    /// How long caches may keep what it answers strangers; without it nothing is said of that.
    #[serde(default)]
    pub cache: Option<Cache>,
    /// What is recorded of it in the audit trail.
    #[serde(default)]
    pub audit: Option<Audit>,
}

/// How long caches may keep an answer, in seconds. Answers to credentials and to passwords of records are never kept.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// In browsers.
    #[serde(default)]
    pub max_age: u32,
    /// In caches that many share; absent: as in browsers.
    #[serde(default)]
    pub shared: Option<u32>,
    /// How much longer an old answer may be given while a new one is fetched.
    #[serde(default)]
    pub stale: Option<u32>,
    /// Names the header that tells shared caches what the answer shows (`Surrogate-Key`, `Cache-Tag`): the collection, and
    /// `collection/id` for one item, so that they can be told to forget it.
    #[serde(default)]
    pub keys: Option<String>,
}

/// What the audit trail says of a request that has written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    pub event: String,
    /// Recorded only when one of these arguments is given; none named: always. Their names are recorded.
    #[serde(default)]
    pub args: Vec<String>,
    /// Those of them whose values are recorded too.
    #[serde(default)]
    pub values: Vec<String>,
    /// The argument that says what it is about, where the path does not.
    #[serde(default)]
    pub subject: Option<String>,
}

/// Which machinery the rows of a resource get (docs/data-model.md).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Status, trash, slug, author, dates, revisions, terms, comments; rows in `record`.
    Content,
    /// A table of its own: columns from the schema.
    Plain,
    Term,
    Comment,
    User,
    /// One document of settings.
    Singleton,
    /// The declarations themselves.
    Catalogue,
    /// Answers that a handler composes.
    Virtual,
}

/// A resource: schema, storage, routes and rules.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    pub family: Family,
    /// Schema file, relative to the file that declares it.
    pub schema: String,
    /// File with what a handler composes its answers of, relative to the file that declares it: an object whose members
    /// count as if they stood in `about`.
    #[serde(default)]
    pub data: Option<String>,
    /// Name of the declared namespace.
    pub namespace: String,
    /// Last part of the collection's path; default: the resource's name.
    #[serde(default)]
    pub base: Option<String>,
    /// Families of routes that it takes over.
    #[serde(default)]
    pub routes: Vec<String>,
    /// Neutral name of the record kind or taxonomy, as stored; default: the resource's name.
    #[serde(default)]
    pub kind: Option<String>,
    /// How the kind is written on the wire (`{prefix}_block`); default: the kind.
    #[serde(default)]
    pub wire: Option<String>,
    /// Name of the declared capability map.
    #[serde(default)]
    pub capabilities: Option<String>,
    /// Adjustments of arguments by endpoint name (`list`, `get`, `create`, `update`, `delete`): merged key by key into
    /// the family's, `false` removes one.
    #[serde(default)]
    pub endpoints: IndexMap<String, IndexMap<String, Value>>,
    /// What each value of `orderby` sorts by: a column, or `@include`, `@slugs`, `@relevance`.
    #[serde(default)]
    pub sort: IndexMap<String, String>,
    /// Name of the query that leads to an item by its id (`/?p=12`); default `p`.
    #[serde(default)]
    pub plain_query: Option<String>,
    /// New records are closed to comments and pings, whatever the settings say.
    #[serde(default)]
    pub closed_by_default: bool,
    /// Columns that `search` looks into, by the name that `search_columns` gives them. Columns that only the edit context
    /// shows are looked into only for callers who may edit the rows; the same holds for `sort` and filters.
    #[serde(default)]
    pub search: IndexMap<String, String>,
    /// Arguments that may not be empty in some rows.
    #[serde(default)]
    pub required: Vec<Required>,
    /// The record or term, of any kind, that a row stands for.
    #[serde(default)]
    pub stands_for: Option<StandsFor>,
    /// Records that get a row standing for them when they are first published.
    #[serde(default)]
    pub joins: Option<Joins>,
    /// Columns that exports carry as meta values: what an import puts into each.
    #[serde(default)]
    pub imported: IndexMap<String, Imported>,
    /// Items are known by the active theme and their slug (`theme//slug`), not by number; those in the trash by nothing.
    #[serde(default)]
    pub named: bool,
    /// Columns of a record that is always there: made at boot where there is none of the kind, but some content.
    #[serde(default)]
    pub always: IndexMap<String, String>,
    /// Records go to the trash before they are gone; otherwise a deletion has to be forced.
    #[serde(default = "yes")]
    pub trash: bool,
    /// The name alone tells terms apart: no two have the same, and the slug always follows it.
    #[serde(default)]
    pub unique_names: bool,
    /// Part of the search route under this subtype.
    #[serde(default)]
    pub searchable: bool,
    /// Has parents of its own kind.
    #[serde(default)]
    pub hierarchical: bool,
    /// Machinery of the content family that it takes part in: `title`, `editor`, `excerpt`, `author`, `thumbnail`,
    /// `comments`, `trackbacks`, `custom-fields`, `revisions`, `sticky`, `post-formats`, `page-attributes`; `attached`: its
    /// records take the state of the one that they hang on; `files`: they stand for uploaded files; …
    #[serde(default)]
    pub supports: Vec<String>,
    /// Resources of the term family whose terms its records carry.
    #[serde(default)]
    pub taxonomies: Vec<String>,
    /// Address of an item on the site: `permalinks` (the site's shape), `path` (by parents), `attached` (below the record
    /// that it hangs on), `plain` (`?p=`),
    /// or a template such as `/category/{path}/`.
    #[serde(default)]
    pub address: Option<String>,
    /// Links of an item.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Registered meta by key.
    #[serde(default)]
    pub meta: IndexMap<String, Meta>,
    /// A term or record that always exists; the name of the setting that holds its id (`default_category`).
    #[serde(default)]
    pub default_setting: Option<String>,
    /// Owner column of plain resources (an integer property that holds a user).
    #[serde(default)]
    pub owner: Option<String>,
    /// How totals are counted: `readable` (what the caller may see) or `unfiltered`.
    #[serde(default)]
    pub total: Total,
    /// Arguments that a request may give while its total is `unfiltered`. Any other that selects rows makes the total
    /// `readable`: it would tell what is in rows that the caller may not see.
    #[serde(default)]
    pub unfiltered_with: Vec<String>,
    /// A page beyond the end is an error (true) or an empty list (false).
    #[serde(default)]
    pub strict_pages: bool,
    /// How long caches may keep what its own routes answer strangers; an endpoint's own `cache` outranks it.
    #[serde(default)]
    pub cache: Option<Cache>,
    /// What hangs below another resource's items: documents have all properties of those, and this schema's.
    #[serde(default)]
    pub of_owner: bool,
    /// Codes that differ from the family's, by the family's code (`rest_post_invalid_id = "rest_invalid_id"`).
    #[serde(default)]
    pub codes: IndexMap<String, String>,
    /// Statuses that differ from the catalogue's, by code.
    #[serde(default)]
    pub code_status: IndexMap<String, u16>,
    /// What the resource says of itself in the lists of types and taxonomies.
    #[serde(default)]
    pub about: Map<String, Value>,
    /// Extra members of the link objects in the OPTIONS schema (`links`), as written.
    #[serde(default)]
    pub schema_links: Vec<Value>,
}

/// See [`Resource::required`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Required {
    /// Column that may not be empty.
    pub column: String,
    /// Texts that other columns hold then.
    #[serde(default)]
    pub when: IndexMap<String, String>,
    /// Code of the refusal.
    pub code: String,
}

/// See [`Declaration::blocks`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// Who makes it: `records`, `archive`, `terms`, `cloud`, `tree`, `comments`, `notes`, `piece`, `query`,
    /// `query.records`, `query.nothing`, `record.title`, `record.date`, `record.excerpt`, `record.picture`, `record.author`,
    /// `record.terms`, `record.link`, `menu`, `menu.item`, `menu.branch`, `menu.home`, `search`, `gallery`, `player.audio`,
    /// `player.video`, `site.title`, `site.tagline`.
    pub by: String,
    /// The resource whose rows it shows.
    #[serde(default)]
    pub of: Option<String>,
}

/// See [`Resource::imported`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// Key of the meta value.
    pub meta: String,
    /// What the value is.
    #[serde(default, rename = "as")]
    pub kind: ImportedAs,
}

/// See [`Imported`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum ImportedAs {
    /// Itself.
    #[default]
    Text,
    /// A list of words, serialised by PHP.
    Words,
    /// The number that a record has in the export.
    Record,
    /// The platform's name of a kind or taxonomy.
    Kind,
    /// The number, in the export, of what the row stands for (`stands_for`).
    StoodFor,
}

/// See [`Resource::stands_for`]: three columns name a thing, and four classes tell what kind of thing it is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StandsFor {
    /// Column with the class.
    pub class: String,
    /// Column with the neutral name of the kind or taxonomy.
    pub kind: String,
    /// Column with the number.
    pub id: String,
    /// Class of rows that stand for records.
    pub record: String,
    /// Class of rows that stand for terms.
    pub term: String,
    /// Class of rows that stand for all records of a kind.
    pub archive: String,
    /// What people call the classes that stand for no single thing.
    #[serde(default)]
    pub labels: IndexMap<String, String>,
}

/// See [`Resource::joins`]: the resource's rows are items of menus.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joins {
    /// Resource of the menus, and property with the menu of an item.
    pub to: String,
    /// Property of a menu that wants such records.
    pub asked_by: String,
    /// Resources whose records join.
    pub of: Vec<String>,
}

/// See [`Resource::total`].
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Total {
    #[default]
    Readable,
    Unfiltered,
}

/// A link of an item.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub rel: String,
    /// Resource that it points to, or `@record` or `@term`: what the row stands for; absent: `href`.
    #[serde(default)]
    pub to: Option<String>,
    /// Column (or `column of another row`) with the key of the item it points to; absent: the collection.
    #[serde(default)]
    pub key: Option<String>,
    /// Query of a collection link: argument to column.
    #[serde(default)]
    pub query: IndexMap<String, String>,
    /// Address relative to the REST base, with `{column}` places; `{self}` is the item.
    #[serde(default)]
    pub href: Option<String>,
    #[serde(default)]
    pub embeddable: bool,
    /// Further members of the link object.
    #[serde(default)]
    pub attrs: Map<String, Value>,
    /// When it is shown; all given conditions hold.
    #[serde(default)]
    pub when: When,
}

/// The closed list of predicates on a link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// This column is neither null, zero nor empty.
    pub set: Option<String>,
    /// Only in this context.
    pub context: Option<String>,
    /// The caller may do this act on the item (see [`CapabilityMap`]).
    pub act: Option<String>,
    /// The caller has this primitive capability.
    pub can: Option<String>,
    /// The record has at least one revision.
    pub revised: bool,
    /// The item has at least one child of its kind.
    pub children: bool,
}

/// A registered meta key.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// JSON Schema of one value.
    pub schema: SchemaDoc,
    /// One value (true) or a list.
    #[serde(default = "yes")]
    pub single: bool,
}

/// A theme as the themes resource shows it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Theme {
    #[serde(default)]
    pub active: bool,
    /// Members of the theme object beside `theme_supports`.
    #[serde(default)]
    pub about: Map<String, Value>,
    #[serde(default)]
    pub supports: Map<String, Value>,
    /// Template files by the name that `template` holds.
    #[serde(default)]
    pub templates: IndexMap<String, String>,
}

/// Cross-origin rules.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// Any origin may read without credentials.
    pub any: bool,
    /// Origins that may send credentials.
    pub origins: Vec<String>,
    /// Every origin is echoed with credentials allowed (harmless only because a cookie without a nonce is a stranger).
    pub reflect: bool,
    pub allow_headers: Vec<String>,
    pub expose_headers: Vec<String>,
    /// Seconds that a preflight's answer may be kept.
    pub max_age: u32,
}

fn yes() -> bool {
    true
}
