//! Pages for people: the site's address, login and logout, lost passwords, profiles, authorization of programs.
//!
//! Contract: "Authentication" 2, 7; "Application passwords" (the authorization page). A page changes data by
//! a request to the API in the name of the logged-in user, so that permissions, checks and errors are those of REST.
//! Every form carries a nonce of its session; nothing but passkeys needs a script. Addresses and names of fields are declared.

mod authorize;
mod connect;
mod console;
mod explorer;
mod factors;
mod first_list;
mod home;
mod inner;
mod login;
mod media;
mod packed;
mod passkeys;
mod profile;
mod provider;
mod readers;
mod reading;
mod replies;
mod reset;
mod templates;
mod well_known;

use cms_core::access::addresses;
use cms_core::access::audit::{self, Event};
use cms_core::access::identity;
use cms_core::access::sessions::Purpose;
use cms_core::engine::Engine;
use cms_core::error::{ApiError, Code, status};
use cms_core::model::{Method, Payload, Reply, Request};
use cms_core::openid::provider::OpenIdProvider;
use cms_core::records::{self, Record};
use cms_core::registry::Registry;
use cms_core::registry::languages::Languages;
use cms_core::request::call::{Call, SubResponse};
use cms_core::request::conditional::Preconditions;
use cms_core::request::{BodyParams, body_params};
use cms_core::scope::{Principal, Scope};
use cms_declaration as declaration;
use cms_declaration::translations::{Sentence, Translator};
use cms_storage::plan::{Change, DbValue};
use cms_text::sanitize::unescape;
use minijinja::Environment;
pub use profile::SHORTEST_PASSWORD;
use replies::{found, headers, said, said_in, see_other};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use templates::ASSETS;

const HTML: &str = "text/html; charset=UTF-8";

/// Paths of the site's address; a route in `?rest_route=` takes precedence over the page.
const HOME: [&str; 2] = ["/", "/index.php"];

/// See the module's description. Addresses are paths on the host: they begin with the path of the site's address.
pub struct Pages {
    base: String,
    declared: declaration::Pages,
    /// Address of the console, where it is served.
    console: Option<String>,
    /// Paths that redirect to the console.
    redirects: Vec<String>,
    readers: readers::Readers,
    well_known: well_known::WellKnown,
    /// People can connect programs.
    connects: bool,
    /// Identity providers that people log in by.
    providers: Vec<OpenIdProvider>,
    /// Languages of the site's contents.
    languages: Option<Languages>,
    templates: Environment<'static>,
}

/// Members of what a page shows that are texts of the program, or lists of them.
const TEXTS: [&str; 5] = ["problem", "notice", "purpose", "lines", "link_text"];

/// Which page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageKind {
    Home,
    Login,
    Logout,
    Profile,
    Authorize,
    Connect,
    Lost,
    Reset,
    Factors,
    /// Login by an identity provider.
    Provider(provider::ProviderPath),
    Nonce,
    Explorer,
    /// Another address of the console.
    ToConsole,
    Asset(usize),
    Packed(usize),
    Console(console::ConsolePath),
}

/// One request for a page.
struct PageContext<'a> {
    pages: &'a Pages,
    engine: &'a Engine,
    request: &'a Request,
    /// The caller is the session's user, or anonymous.
    scope: Scope,
    /// Fields of the form that was sent.
    form: Map<String, Value>,
}

impl Pages {
    /// The declared pages. When they are off, what is left is the page of the site's address and that of addresses that
    /// nothing has.
    pub fn new(registry: &Registry) -> Pages {
        let base = registry.site.base.clone();
        let declared = registry.declaration.pages.below(&base);
        let console = console::address(registry);
        let redirects = if console.is_some() { registry.declaration.console.redirects.as_slice() } else { &[] };
        let redirects = redirects.iter().map(|path| format!("{base}{path}")).collect();
        let templates = templates::environment(registry);
        let (readers, languages) = (readers::Readers::new(registry), registry.languages.clone());
        let well_known = well_known::WellKnown::new(registry);
        Pages {
            base,
            declared,
            console,
            redirects,
            readers,
            well_known,
            connects: registry.oauth().is_some(),
            providers: OpenIdProvider::declared(registry),
            languages,
            templates,
        }
    }

    /// Whether a page has this path below the site's address. What others lead to is known when it is read.
    pub fn serves(&self, path: &str, reads: bool) -> bool {
        let place = self.on_host(path);
        self.is_home(path)
            || reads && self.well_known.serves(path)
            || reads && self.readers.leads()
            || self.addresses().any(|(address, _)| address.split('?').next() == Some(&*place))
            || self.asset(&place).is_some()
            || self.provider(&place).is_some()
            || console::part(self.console.as_deref(), &place).is_some()
            || self.readers.place(path, false).is_some()
    }

    /// Whether a path below the site's address is that address, in one of the languages.
    fn is_home(&self, path: &str) -> bool {
        let below = self.languages.as_ref().map_or(path, |languages| languages.split(path).1);
        HOME.contains(&below)
    }

    fn on_host<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if self.base.is_empty() { path.into() } else { format!("{}{path}", self.base).into() }
    }

    /// Most bytes of a form.
    pub fn max_body(&self) -> usize {
        self.declared.max_body.as_usize()
    }

    /// Handles a request for a page, by its path below the site's address.
    pub async fn serve(&self, engine: &Engine, mut request: Request) -> Reply {
        if let Some(reply) = self.well_known.reply(&request.path) {
            return reply;
        }
        if let Some(reply) = readers::serve(self, engine, &request).await {
            return reply;
        }
        let below = request.path.clone();
        request.path.insert_str(0, &self.base);
        let place = self.place(&request);
        if (place.is_none() || place == Some(PageKind::Home))
            && let Some(reply) = readers::visit(self, engine, &Request { path: below, ..request.clone() }).await
        {
            return reply;
        }
        let Some(place) = place else {
            return cms_core::engine::error_reply(&ApiError::new(Code::NoRoute));
        };
        if let PageKind::Packed(index) = place {
            return explorer::PACKED[index].reply(request.header("accept-encoding"));
        }
        if let PageKind::Console(console::ConsolePath::File(index)) = place {
            return console::file(index, request.header("accept-encoding"));
        }
        if let PageKind::Asset(index) = place {
            let (_, media_type, text) = ASSETS[index];
            return Reply {
                status: status::OK,
                headers: Vec::new(),
                payload: Payload::Other { media_type, bytes: text.as_bytes().to_vec() },
            };
        }
        match PageContext::of(self, engine, &request) {
            Ok(visit) => visit.answer(place).await,
            Err(error) => cms_core::engine::error_reply(&error),
        }
    }

    /// The page for an address that nothing has.
    pub fn not_found(&self, rest_url: &str) -> Reply {
        home::not_found(self, rest_url)
    }

    fn render(&self, template: &str, data: Value) -> Result<Vec<u8>, minijinja::Error> {
        let data = minijinja::Value::from(minijinja::value::Serde(data));
        self.templates.get_template(template)?.render(data).map(String::into_bytes)
    }

    fn addresses(&self) -> impl Iterator<Item = (&str, PageKind)> {
        let declared = &self.declared;
        [
            (declared.logout.as_str(), PageKind::Logout),
            (declared.nonce.get().map_or("", String::as_str), PageKind::Nonce),
            (declared.login.as_str(), PageKind::Login),
            (declared.profile.as_str(), PageKind::Profile),
            (declared.authorize.as_str(), PageKind::Authorize),
            (if self.connects { declared.connect.as_str() } else { "" }, PageKind::Connect),
            (declared.lost.as_str(), PageKind::Lost),
            (declared.reset.as_str(), PageKind::Reset),
            (declared.factors.as_str(), PageKind::Factors),
            (declared.explorer.get().map_or("", String::as_str), PageKind::Explorer),
        ]
        .into_iter()
        .chain(self.redirects.iter().map(|path| (path.as_str(), PageKind::ToConsole)))
        .filter(|(address, _)| declared.enabled && !address.is_empty())
    }

    /// The requested page; an address with a parameter takes precedence over the same path without.
    fn place(&self, request: &Request) -> Option<PageKind> {
        let fits = |address: &str| match address.split_once('?') {
            None => address == request.path,
            Some((path, pair)) => {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                path == request.path && request.query.get(key).and_then(Value::as_str) == Some(value)
            }
        };
        let (with, without): (Vec<_>, Vec<_>) = self.addresses().partition(|(address, _)| address.contains('?'));
        let found = with.into_iter().chain(without).find(|(address, _)| fits(address)).map(|(_, place)| place);
        let below = request.path.strip_prefix(&*self.base).unwrap_or(&request.path);
        let home = || self.is_home(below).then_some(PageKind::Home);
        let console = || console::part(self.console.as_deref(), &request.path).map(PageKind::Console);
        let provider = || self.provider(&request.path).map(PageKind::Provider);
        found.or_else(|| self.asset(&request.path)).or_else(provider).or_else(home).or_else(console)
    }

    fn provider(&self, path: &str) -> Option<provider::ProviderPath> {
        provider::part(self, path).filter(|_| self.declared.enabled)
    }

    fn asset(&self, path: &str) -> Option<PageKind> {
        let file = path.strip_prefix(self.declared.assets.as_str())?.strip_prefix('/')?;
        let packed = || explorer::PACKED.iter().position(|asset| asset.name == file).map(PageKind::Packed);
        ASSETS.iter().position(|(name, ..)| *name == file).map(PageKind::Asset).or_else(packed)
    }
}

impl<'a> PageContext<'a> {
    fn of(pages: &'a Pages, engine: &'a Engine, request: &'a Request) -> Result<PageContext<'a>, ApiError> {
        let mut scope = engine.anonymous(request)?;
        scope.principal = engine.identity().session(&scope, request)?.unwrap_or_default();
        let depth = scope.registry.declaration.server.max_depth;
        let form = match body_params(request, depth)? {
            BodyParams::Form(fields) => fields,
            BodyParams::Upload(upload) if upload.form => upload.fields,
            _ => Map::new(),
        };
        Ok(PageContext { pages, engine, request, scope, form })
    }

    async fn answer(&self, place: PageKind) -> Reply {
        let writes = match self.request.method {
            Method::Get | Method::Head => false,
            Method::Post => true,
            _ => return self.message(status::NOT_FOUND, "Nothing here", &["There is no page at this address."]),
        };
        if writes && self.sent_by_another_site() {
            return self.message(
                status::FORBIDDEN,
                "Not taken",
                &["This form was sent by another site, so it was not accepted."],
            );
        }
        // A login has no session yet, so it has no nonce; every other form does.
        if writes && place != PageKind::Login && self.known() && !self.token_fits() {
            let lines = ["This form is too old, or it is not from here. Go back, load the page again and repeat it."];
            return self.message(status::FORBIDDEN, "Not taken", &lines);
        }
        match (place, writes) {
            (PageKind::Home, false) => home::show(self),
            (PageKind::Home, true) => {
                self.message(status::NOT_FOUND, "Nothing here", &["There is no page at this address."])
            }
            (PageKind::Login, false) => login::ask(self, status::OK, None),
            (PageKind::Login, true) => login::log_in(self).await,
            (PageKind::Provider(provider::ProviderPath::Begin(at)), false) => provider::begin(self, at).await,
            (PageKind::Provider(provider::ProviderPath::Back(at)), false) => provider::back(self, at).await,
            (PageKind::Nonce, false) => self.nonce(),
            (PageKind::Explorer, false) => explorer::show(self),
            (PageKind::ToConsole, false) => found(self.pages.console.as_deref().unwrap_or(HOME[0])),
            (PageKind::Logout, true) => login::log_out(self).await,
            (PageKind::Lost, false) => reset::ask(self),
            (PageKind::Lost, true) => reset::request(self).await,
            (PageKind::Reset, false) => reset::open(self),
            (PageKind::Reset, true) => reset::set(self).await,
            _ if !self.known() => self.to_login(),
            (PageKind::Factors, false) => factors::show(self, status::OK, None),
            (PageKind::Factors, true) => factors::change(self).await,
            (PageKind::Logout, false) => self.page(status::OK, "Log out", "logout.html", json!({})),
            _ if self.scope.principal.lacks_factor => see_other(&self.pages.declared.factors),
            (PageKind::Console(_), false) => console::show(self).await,
            (PageKind::Profile, false) => profile::show(self, profile::Notice::default()).await,
            (PageKind::Profile, true) => profile::change(self).await,
            (PageKind::Authorize, false) => authorize::ask(self),
            (PageKind::Authorize, true) => authorize::decide(self).await,
            (PageKind::Connect, false) => connect::ask(self).await,
            (PageKind::Connect, true) => connect::decide(self).await,
            _ => self.message(status::NOT_FOUND, "Nothing here", &["There is no page at this address."]),
        }
    }

    fn known(&self) -> bool {
        self.scope.principal.is_logged_in()
    }

    /// The browser reports that another site caused this request, or does not report which one did: a sandboxed frame
    /// sends `Origin: null`, and so does a page of ours that hides its origin.
    fn sent_by_another_site(&self) -> bool {
        let (site, host) = (self.request.header("sec-fetch-site"), self.request.header("host"));
        let own = |origin: &str| {
            origin.split_once("://").zip(host).is_some_and(|((_, origin), host)| origin.eq_ignore_ascii_case(host))
        };
        match (site, self.request.header("origin")) {
            (Some(site), Some("null")) => site != "same-origin",
            (Some(site), _) => !matches!(site, "same-origin" | "none"),
            (None, Some(origin)) => !own(origin),
            (None, None) => false,
        }
    }

    /// Whether the logged-in user may have application passwords.
    fn caller_available(&self) -> bool {
        self.available_for(self.scope.principal.id).unwrap_or(false)
    }

    /// Whether a user may have application passwords; nothing when there is no such user.
    fn available_for(&self, user: i64) -> Option<bool> {
        let users = self.scope.registry.users()?;
        let row = records::find(&*self.scope.snapshot().ok()?, users, &DbValue::Int(user)).ok()??;
        Some(identity::available_for(&self.scope.registry, Record { resource: users, row: &row }))
    }

    fn token_fits(&self) -> bool {
        let token = self.field("token");
        self.engine.identity().nonce_fits(&self.scope.principal, Purpose::Form, token, self.scope.now)
    }

    /// A field of the form; empty when it is absent.
    fn field(&self, name: &str) -> &str {
        self.form.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A parameter of the address; empty when it is absent.
    fn parameter(&self, name: &str) -> &str {
        self.request.query.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The audit trail's entry of what the user did on this page.
    fn happened(&self, event: &str, who: &Principal, subject: &str) -> Option<Change> {
        let path = &self.request.path;
        let event = Event { name: event, user: who.id, login: &who.login, path, subject, ..Event::default() };
        audit::entry(&self.scope, &event)
    }

    /// The address of the console, for a caller for whom it has something to do.
    fn console_of(&self, caller: &Principal) -> Option<String> {
        self.pages.console.clone().filter(|_| console::is_for(&self.scope.registry, caller))
    }

    /// To the login, with the requested address in its parameter, unless that is too long for an address.
    fn to_login(&self) -> Reply {
        let pages = &self.pages.declared;
        if self.request.raw_query.len() > addresses::LONGEST {
            return found(&pages.login);
        }
        let query = if self.request.raw_query.is_empty() { "" } else { "?" };
        let origin = self.scope.registry.site.origin();
        found(&self.leading(&pages.login, &format!("{origin}{}{query}{}", self.request.path, self.request.raw_query)))
    }

    /// The address of a page from where people go on to another place.
    fn leading(&self, page: &str, place: &str) -> String {
        let redirect = &self.pages.declared.redirect;
        let kept: String = url::form_urlencoded::Serializer::new(String::new()).append_pair(redirect, place).finish();
        let mark = if page.contains('?') { '&' } else { '?' };
        format!("{page}{mark}{kept}")
    }

    fn nonce(&self) -> Reply {
        let fresh = self.engine.identity().fresh_nonce(&self.scope).map(|(_, nonce)| nonce);
        let status = if fresh.is_some() { status::OK } else { status::BAD_REQUEST };
        let bytes = fresh.unwrap_or_else(|| "0".into()).into_bytes();
        Reply { status, headers: Vec::new(), payload: Payload::Other { media_type: HTML, bytes } }
    }

    // ---------------------------------------------------------------------------------------- requests, responses

    /// A request to the API in the name of the logged-in user.
    async fn rest(&self, method: Method, path: &str, query: Value, body: Value) -> SubResponse {
        let call = Call {
            method,
            path: path.to_owned(),
            query: query.as_object().cloned().unwrap_or_default(),
            raw_query: String::new(),
            body: Ok(if method == Method::Get {
                BodyParams::None
            } else {
                BodyParams::Json(body.as_object().cloned().unwrap_or_default())
            }),
            expects: Preconditions::default(),
            text: false,
            lines: false,
            custom_fields: Vec::new(),
        };
        self.engine.part(&self.scope, &call, false).await
    }

    /// A page, with what every page shows.
    fn page(&self, status: u16, title: &str, template: &str, data: Value) -> Reply {
        self.page_towards(status, title, template, data, "")
    }

    /// A page whose form may lead to further addresses.
    fn page_towards(&self, status: u16, title: &str, template: &str, data: Value, further: &str) -> Reply {
        let pages = &self.pages.declared;
        let caller = &self.scope.principal;
        let language = console::language(self);
        let translator = Translator::of(&self.scope.registry.declaration.translations, &language);
        let common = json!({"lang": language, "title": translator.translate(title), "site": self.site_name(), "assets": pages.assets, "caller": &*caller.login, "console": self.console_of(caller), "profile": pages.profile, "logout": pages.logout, "token": self.known().then(|| self.engine.identity().nonce(caller, Purpose::Form, self.scope.now))});
        let mut shown = common.as_object().cloned().unwrap_or_default();
        shown.extend(data.as_object().cloned().unwrap_or_default());
        for member in TEXTS {
            if let Some(value) = shown.get_mut(member) {
                in_language(value, &|text| translator.translate(text).to_owned());
            }
        }
        match self.pages.render(template, Value::Object(shown)) {
            Ok(bytes) => {
                let headers = headers(further);
                Reply { status, headers, payload: Payload::Other { media_type: HTML, bytes } }
            }
            Err(error) => cms_core::engine::error_reply(&self.scope.internal(&error)),
        }
    }

    /// A text of the program in the language of the browser.
    fn translate(&self, text: &str) -> String {
        Translator::of(&self.scope.registry.declaration.translations, &console::language(self))
            .translate(text)
            .to_owned()
    }

    /// The same, with its value.
    fn say(&self, sentence: &Sentence) -> String {
        sentence.said(|text| self.translate(text))
    }

    fn site_name(&self) -> String {
        let title = self.scope.settings.text("title");
        if title.is_empty() { self.scope.registry.site.url.clone() } else { unescape(title) }
    }

    fn message(&self, status: u16, title: &str, lines: &[&str]) -> Reply {
        self.page(status, title, "message.html", json!({"lines": lines}))
    }

    fn failure(&self, error: &ApiError) -> Reply {
        self.message(error.status(), "That did not work", &[error.message()])
    }
}

/// Replaces a text, or each of a list.
fn in_language(value: &mut Value, say: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = say(text),
        Value::Array(list) => list.iter_mut().for_each(|one| in_language(one, say)),
        _ => {}
    }
}
