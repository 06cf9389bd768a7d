//! The names of behaviours that declarations may use, and what people and the linker know of each.
//!
//! The functions are in tables beside their code ([`BehaviourEntry`]); a description is part of each entry, so no behaviour
//! exists without one. The linker, the reference, the editor schema and `cms-server explain` read the descriptions.

use crate::error::Code;
use cms_declaration::{Action, Family};

/// Families whose resources have rows.
pub const ROWS: &[Family] = &[Family::Content, Family::Plain, Family::Term, Family::Comment, Family::User];

/// Content types: posts, pages, files and others of their kind.
pub const CONTENT: &[Family] = &[Family::Content];
/// Taxonomies.
pub const TAXONOMY: &[Family] = &[Family::Term];
/// Accounts.
pub const USERS: &[Family] = &[Family::User];
/// Comments.
pub const COMMENTS: &[Family] = &[Family::Comment];
/// Resources with a table of their own.
pub const PLAIN: &[Family] = &[Family::Plain];
/// Settings.
pub const SINGLETON: &[Family] = &[Family::Singleton];
/// The declarations themselves.
pub const CATALOGUE: &[Family] = &[Family::Catalogue];
/// Responses that a handler composes.
pub const VIRTUAL: &[Family] = &[Family::Virtual];

/// A function that declarations name.
#[derive(Clone, Copy)]
pub struct BehaviourEntry<F> {
    pub is: Description,
    pub run: F,
}

/// Of a handler: for which purpose other parts look for its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerRole {
    Autosave,
    Batch,
    ConsoleDescription,
    Feed,
    Get,
    OAuthRegister,
    OAuthRevoke,
    OAuthToken,
    Robots,
    RevokeCredential,
    RunAbility,
    SiteHealth,
    Sitemap,
    TokenCheck,
    Update,
    Visit,
}

/// Of a query: its effect on the list beside its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEffect {
    /// `authors` limits the list to those who may write, among whom everybody who writes may choose.
    Authors,
    /// It selects by content: sticky records are not added to what it selects.
    Content,
    /// Empty terms above full ones are shown, and not counted.
    HidesEmpty,
    /// Its values are states, which not every caller may request.
    States,
    /// As [`ListEffect::Content`]; several may be joined by "or".
    Terms,
}

/// The description of a behaviour, without its function.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// As declarations write it.
    pub name: &'static str,
    /// One or two sentences: what it does.
    pub doc: &'static str,
    /// Families of the resources that it works on; none: any route, also one without a resource.
    pub serves: &'static [Family],
    pub role: Option<HandlerRole>,
    pub effect: Option<ListEffect>,
    /// For guards: the rows that they load. For handlers: the rows that the guard must have loaded.
    pub rows: RowSet,
    /// Options of the resource (`options.NAME`) that a handler reads.
    pub settings: &'static [&'static str],
    /// Further keys of a query's declaration, with their meaning.
    pub options: &'static [(&'static str, &'static str)],
    /// The parameter after a colon behind the name (`can:CAPABILITY`).
    pub param: Option<&'static str>,
    /// A use of it, where the shipped declarations have none to show.
    pub example: Option<&'static str>,
    /// For handlers: what a successful response contains.
    pub responds: ResponseKind,
    /// The errors that it ends requests with, as they are called before an endpoint or a resource renames them; those of a
    /// handler are also those of its guard where the guard names none.
    pub fails: &'static [Code],
    /// Those of resources of one family.
    pub fails_of: &'static [(Family, &'static [Code])],
    /// Those that are sent with another status than that of their code; of resources of the family, or of any.
    pub fails_at: &'static [(Option<Family>, Code, u16)],
    /// For handlers: codes that the resource lists in `bare_in_updates` are sent with 500.
    pub bare: bool,
    /// For guards: the action that callers have to be able to do with some records of the kind.
    pub needs: Option<Action>,
    /// For guards: they pass only callers who edit records of some kind, or moderate.
    pub editors: bool,
    /// For guards: they keep credentials that only draft to drafts of their own.
    pub drafts: bool,
    /// For handlers: another media type of responses and errors, where the request asks for it.
    pub also: Option<&'static str>,
    /// For guards: whether anonymous callers may pass.
    pub anonymous: AnonymousAccess,
}

/// The content of a successful response of a handler. "The document" is that of the route's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseKind {
    /// The document.
    #[default]
    Document,
    /// 201: the document, and its address in `Location`.
    Created,
    /// A list of documents; with the number of all of them in headers.
    Page,
    /// A list of documents.
    List,
    /// An object with documents by their keys.
    ByKey,
    /// The deleted item: `deleted` and `previous`.
    Deleted,
    /// As [`ResponseKind::Deleted`], or the document where it went to the trash.
    Trashed,
    /// This status and JSON of this schema.
    Json(u16, &'static str),
    /// Bytes of this media type.
    Bytes(&'static str),
}

/// Whether a guard lets anonymous callers pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnonymousAccess {
    /// It refuses them.
    #[default]
    Never,
    /// It may let them pass.
    Perhaps,
    /// It may where the resource asks for no capability to read.
    WhereReadable,
    /// It lets everybody pass.
    Always,
}

/// Rows that a guard hands to the handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSet {
    /// The item that the path names.
    pub item: bool,
    /// The item that it belongs to: a revision's record, an application password's user.
    pub parent: bool,
}

impl Description {
    /// Whether it works on resources of a family.
    pub fn fits(&self, family: Family) -> bool {
        self.serves.is_empty() || self.serves.contains(&family)
    }
}

/// Families for people.
pub fn families(families: &[Family]) -> String {
    families.iter().map(Family::to_string).collect::<Vec<_>>().join(", ")
}

impl RowSet {
    /// Whether these are all that are needed.
    pub fn cover(self, needed: RowSet) -> bool {
        (self.item || !needed.item) && (self.parent || !needed.parent)
    }

    /// For people.
    pub fn text(self) -> &'static str {
        match (self.item, self.parent) {
            (false, false) => "none",
            (true, false) => "item",
            (false, true) => "parent",
            (true, true) => "item, parent",
        }
    }
}

impl<F: Copy> BehaviourEntry<F> {
    /// A behaviour for any resource, without options.
    pub const fn new(name: &'static str, run: F, doc: &'static str) -> BehaviourEntry<F> {
        let rows = RowSet { item: false, parent: false };
        BehaviourEntry {
            is: Description {
                name,
                doc,
                serves: &[],
                role: None,
                effect: None,
                rows,
                settings: &[],
                options: &[],
                param: None,
                example: None,
                responds: ResponseKind::Document,
                fails: &[],
                fails_of: &[],
                fails_at: &[],
                bare: false,
                needs: None,
                editors: false,
                drafts: false,
                also: None,
                anonymous: AnonymousAccess::Never,
            },
            run,
        }
    }

    /// It works on resources of these families.
    pub const fn on(mut self, families: &'static [Family]) -> BehaviourEntry<F> {
        self.is.serves = families;
        self
    }

    /// It loads, or needs, the item that the path names.
    pub const fn item(mut self) -> BehaviourEntry<F> {
        self.is.rows.item = true;
        self
    }

    /// It loads, or needs, the item that the named one belongs to.
    pub const fn parent(mut self) -> BehaviourEntry<F> {
        self.is.rows.parent = true;
        self
    }

    /// Other parts look for its routes.
    pub const fn role(mut self, role: HandlerRole) -> BehaviourEntry<F> {
        self.is.role = Some(role);
        self
    }

    /// It has this effect on the list.
    pub const fn effect(mut self, effect: ListEffect) -> BehaviourEntry<F> {
        self.is.effect = Some(effect);
        self
    }

    /// It reads these options of the resource.
    pub const fn settings(mut self, settings: &'static [&'static str]) -> BehaviourEntry<F> {
        self.is.settings = settings;
        self
    }

    /// Its declaration may say this.
    pub const fn options(mut self, options: &'static [(&'static str, &'static str)]) -> BehaviourEntry<F> {
        self.is.options = options;
        self
    }

    /// It is used like this; the shipped declarations do not use it.
    pub const fn example(mut self, example: &'static str) -> BehaviourEntry<F> {
        self.is.example = Some(example);
        self
    }

    /// A successful response contains this.
    pub const fn responds(mut self, responds: ResponseKind) -> BehaviourEntry<F> {
        self.is.responds = responds;
        self
    }

    /// Its responses and errors may be of this media type instead of JSON.
    pub const fn also(mut self, media_type: &'static str) -> BehaviourEntry<F> {
        self.is.also = Some(media_type);
        self
    }

    /// It ends requests with these errors.
    pub const fn fails(mut self, codes: &'static [Code]) -> BehaviourEntry<F> {
        self.is.fails = codes;
        self
    }

    /// It ends requests for resources of a family with these errors.
    pub const fn fails_of(mut self, codes: &'static [(Family, &'static [Code])]) -> BehaviourEntry<F> {
        self.is.fails_of = codes;
        self
    }

    /// It ends requests with these errors, whose statuses are not those of their codes.
    pub const fn fails_at(mut self, codes: &'static [(Option<Family>, Code, u16)]) -> BehaviourEntry<F> {
        self.is.fails_at = codes;
        self
    }

    /// Codes in the `bare_in_updates` of the resource are sent with 500.
    pub const fn bare(mut self) -> BehaviourEntry<F> {
        self.is.bare = true;
        self
    }

    /// It passes only callers with the capability for this action.
    pub const fn needs(mut self, action: Action) -> BehaviourEntry<F> {
        self.is.needs = Some(action);
        self
    }

    /// It passes only callers who edit records of some kind, or moderate.
    pub const fn editors(mut self) -> BehaviourEntry<F> {
        self.is.editors = true;
        self
    }

    /// Of a guard: it keeps credentials that only draft to drafts of their own.
    pub const fn drafts(mut self) -> BehaviourEntry<F> {
        self.is.drafts = true;
        self
    }

    /// Anonymous callers may pass.
    pub const fn anonymous(mut self, anonymous: AnonymousAccess) -> BehaviourEntry<F> {
        self.is.anonymous = anonymous;
        self
    }

    /// This follows its name.
    pub const fn param(mut self, param: &'static str) -> BehaviourEntry<F> {
        self.is.param = Some(param);
        self
    }
}

/// The number of rows in several tables.
pub const fn rows<F>(tables: &[&[BehaviourEntry<F>]]) -> usize {
    let (mut count, mut table) = (0, 0);
    while table < tables.len() {
        count += tables[table].len();
        table += 1;
    }
    count
}

/// Several tables as one, in their order. The first one has rows.
pub const fn joined<F: Copy, const N: usize>(tables: &[&[BehaviourEntry<F>]]) -> [BehaviourEntry<F>; N] {
    let mut all = [tables[0][0]; N];
    let (mut at, mut table) = (0, 0);
    while table < tables.len() {
        let mut row = 0;
        while row < tables[table].len() {
            all[at] = tables[table][row];
            at += 1;
            row += 1;
        }
        table += 1;
    }
    all
}

/// Descriptions of one table, in its order: a behaviour's position is the same here and there.
pub fn descriptions<F: Copy>(table: &[BehaviourEntry<F>]) -> Vec<Description> {
    table.iter().map(|named| named.is).collect()
}

/// The names that declarations may use, in the order of the tables that implement them.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    pub handlers: Vec<Description>,
    pub guards: Vec<Description>,
    pub reads: Vec<Description>,
    pub writes: Vec<Description>,
    pub queries: Vec<Description>,
    pub renderers: Vec<Description>,
    pub abilities: Vec<Description>,
}

impl Vocabulary {
    /// Every kind of behaviour: what it is called, and its members.
    pub fn kinds(&self) -> [(BehaviourKind, &[Description]); 7] {
        [
            (BehaviourKind::Handler, &self.handlers),
            (BehaviourKind::Guard, &self.guards),
            (BehaviourKind::Read, &self.reads),
            (BehaviourKind::Write, &self.writes),
            (BehaviourKind::Query, &self.queries),
            (BehaviourKind::Renderer, &self.renderers),
            (BehaviourKind::Ability, &self.abilities),
        ]
    }
}

/// The kind of a behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BehaviourKind {
    Handler,
    Guard,
    Read,
    Write,
    Query,
    Renderer,
    Ability,
}

/// The names alone.
pub fn names(descriptions: &[Description]) -> Vec<&'static str> {
    descriptions.iter().map(|description| description.name).collect()
}
