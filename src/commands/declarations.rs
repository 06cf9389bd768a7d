//! `check`, `migrate` and `routes`: what the declarations say, and what the database has to become for them.

use super::{linked, present, print};
use crate::boot::{self, BootError, ConfigSource};
use cms_config::Problem;
use cms_config::check::nearest;
use cms_config::load::{LoadedDeclaration, load};
use cms_config::shipped;
use cms_core::features::console::texts;
use cms_core::model::Method;
use cms_core::openid::provider::OpenIdProvider;
use cms_core::registry::resource::Resource;
use cms_core::registry::{Endpoint, Registry};
use cms_core::scope::read_settings;
use cms_declaration::translations::Translator;

use cms_storage::place::Place;
use cms_storage::{Migrated, OpenError, PendingChange};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;

/// Texts without a translation that a warning names.
const MOST_NAMED: usize = 20;

/// The result of [`check`].
#[derive(Default)]
struct CheckReport {
    problems: Vec<Problem>,
    resources: usize,
    routes: usize,
    methods: usize,
    warnings: Vec<String>,
    data: Option<CheckedData>,
}

/// The result of `check --data`.
struct CheckedData {
    database: String,
    /// Problems in it, in sentences.
    found: Vec<String>,
    /// Changes that the next start would make: for people, and as JSON.
    plan: String,
    changes: Vec<Value>,
    /// Some of the changes would lose values.
    refused: bool,
}

/// See [`super::Command::Check`].
pub(super) fn check(source: &ConfigSource, data: bool, json: bool) -> Result<(), BootError> {
    if !json {
        return checked(source, data)?.print();
    }
    let checked = match checked(source, data) {
        Err(BootError::Problems(problems)) => CheckReport { problems, ..CheckReport::default() },
        other => other?,
    };
    report(&checked.json(), checked.is_sound())
}

fn checked(source: &ConfigSource, data: bool) -> Result<CheckReport, BootError> {
    let loaded = source.load()?;
    let registry = boot::registry(&loaded, &loaded.declaration.server.listen)?;
    let methods = boot::calls(&loaded)?.map_or(0, |_| loaded.declaration.xmlrpc.methods.len());
    let unheld = registry.unassigned_capabilities().into_iter().map(|(capability, place)| {
        format!("no role has the capability `{capability}`, which {place} asks for: everybody is refused there")
    });
    let unindexed = registry.unindexed_criteria().into_iter().map(|slow| {
        let of = match slow.listed == slow.resource {
            true => String::new(),
            false => format!(" `{}` of `{}`", slow.property, slow.resource),
        };
        format!(
            "lists of `{}` can be filtered by `{}`, which has no index: where there are many rows, add \
             \"x-index\": true to the property{of}",
            slow.listed, slow.criterion
        )
    });
    let unasked = unasked(&loaded, &registry)?.into_iter().map(|(capability, role, near)| {
        let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        format!("the role `{role}` has the capability `{capability}`, which nothing asks for{hint}")
    });
    let flat = registry.resources.iter().filter(|r| r.declared.hierarchical && r.property("parent").is_none());
    let flat = flat.filter(|resource| resource.is_taxonomy()).map(|resource| {
        format!(
            "resources.{} is hierarchical, and its schema has no property `parent`: nobody sees or sets what is above a \
             term; declare one, or take `schema = \"schemas/category.json\"`",
            resource.name
        )
    });
    let folder = source.config.as_deref().map(|config| config.parent().unwrap_or(Path::new("")));
    let outdated = folder.and_then(shipped::outdated).into_iter();
    let unheld = outdated.chain(logins(&registry)).chain(unheld).chain(unasked).chain(flat);
    let mut warnings: Vec<String> = unheld.chain(unindexed).chain(translations(&loaded, &registry)).collect();
    let data = match data {
        false => None,
        true => {
            present(&registry)?;
            let place = boot::place(&registry.declaration)?;
            let mut found = place.examine(&registry.layout)?;
            let changes = place.rehearse(&registry.layout)?;
            // Where the tables do not follow the declarations yet, the plan says what becomes of the values.
            if found.is_empty() && changes.is_empty() {
                found.extend(place.contradictions(&registry.layout)?);
                warnings.extend(read_settings(&registry, &*boot::open_briefly(&registry, false)?)?.roles.left_out);
            }
            Some(CheckedData {
                database: place.shown(),
                found,
                plan: plan(&registry, &changes),
                refused: changes.iter().any(|change| change.refused.is_some()),
                changes: changes.iter().map(|change| change_json(&registry, change)).collect(),
            })
        }
    };
    let (resources, routes) = (registry.resources.len(), registry.routes.len());
    Ok(CheckReport { problems: Vec::new(), resources, routes, methods, warnings, data })
}

/// Capabilities of roles that nothing asks for, but those of the shipped roles; see [`Registry::unused_capabilities`].
fn unasked(
    loaded: &LoadedDeclaration,
    registry: &Registry,
) -> Result<Vec<(String, String, Option<String>)>, BootError> {
    let shipped = |role: &str, at: usize| loaded.is_verbatim(&["roles", role, "capabilities", &at.to_string()]);
    let mut found = registry.unused_capabilities(shipped);
    if !found.is_empty() {
        let prefix = format!("site.prefix={}", loaded.declaration.site.prefix);
        let shipped = load(None, &[prefix], []).map_err(BootError::Problems)?.declaration;
        let known = |name: &String| shipped.roles.values().any(|role| role.capabilities.contains(name));
        found.retain(|(name, _, _)| !known(name));
    }
    Ok(found)
}

/// Ways to log in that do not work, or that may leave nobody any.
fn logins(registry: &Registry) -> Vec<String> {
    let declared = &registry.declaration;
    let providers = OpenIdProvider::declared(registry);
    let unreadable = providers.iter().filter_map(|own| own.unreadable_secret().map(str::to_owned));
    let without = declared.roles.iter().filter(|(_, role)| role.required && !role.password_login);
    let locked = without.filter(|_| declared.login.break_glass.get().is_none()).map(|(role, _)| {
        format!("nobody with the role `{role}` can log in on a day when no provider answers: name an account in login.break_glass")
    });
    unreadable.chain(locked).collect()
}

/// Translations of one's own files that translate nothing, and how many texts their languages lack.
fn translations(loaded: &LoadedDeclaration, registry: &Registry) -> Vec<String> {
    let mut warnings = Vec::new();
    for (language, texts) in &registry.declaration.translations {
        let touched = !loaded.is_untouched(&["translations", language]);
        let own = |text: &&String| touched && !loaded.is_shipped(&["translations", language, text]);
        let own: Vec<&String> = texts.keys().filter(own).collect();
        if own.is_empty() {
            continue;
        }
        let known = texts::all(registry, false);
        let lost = own.iter().filter(|text| !known.contains(text.as_str()));
        warnings.extend(lost.map(|text| {
            let near = nearest(text, known.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
            format!("`translations.{language}` has `{text}`, which is no text of the console or of a block{hint}")
        }));
        let translator = Translator::of(&registry.declaration.translations, language);
        let lacks = texts::all(registry, true).into_iter().filter(|text| translator.get(text).is_none());
        let lacks: Vec<String> = lacks.collect();
        if !lacks.is_empty() {
            let first: Vec<String> = lacks.iter().take(MOST_NAMED).map(|text| format!("`{text}`")).collect();
            let first = first.join(", ");
            warnings.push(format!(
                "`translations.{language}` lacks {} texts of the console and the blocks: {first} …",
                lacks.len()
            ));
        }
    }
    warnings
}

impl CheckReport {
    fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.data.as_ref().is_none_or(|data| data.found.is_empty() && !data.refused)
    }

    fn print(&self) -> Result<(), BootError> {
        let CheckReport { resources, routes, methods, .. } = self;
        say!("{resources} resources, {routes} routes, {methods} XML-RPC methods: sound");
        for warning in &self.warnings {
            tell!("warning: {warning}");
        }
        let Some(CheckedData { database, found, plan, .. }) = &self.data else { return Ok(()) };
        for finding in found {
            tell!("{}: {finding}", database);
        }
        if found.is_empty() {
            say!("{}: whole", database);
        }
        if !plan.is_empty() {
            say!("The next start changes the tables:");
            print(plan.as_bytes());
        }
        match (found.len(), self.is_sound()) {
            (_, true) => Ok(()),
            (0, _) => Err(BootError::Other("some changes would lose values; the server does not start".into())),
            (found, _) => Err(BootError::Other(format!("{found} problems found; restore a backup, or ask for help"))),
        }
    }

    fn json(&self) -> Value {
        let problem = |p: &Problem| {
            let place = p.place.map(|(line, column)| json!({"line": line, "column": column}));
            json!({"file": p.file, "place": place, "message": p.message, "hint": p.hint})
        };
        let data = self
            .data
            .as_ref()
            .map(|data| json!({"database": data.database, "problems": data.found, "changes": data.changes}));
        json!({
            "sound": self.is_sound(), "resources": self.resources, "routes": self.routes, "methods": self.methods,
            "problems": self.problems.iter().map(problem).collect::<Vec<_>>(), "warnings": self.warnings, "data": data,
        })
    }
}

/// See [`super::Command::Migrate`].
pub(super) fn migrate(source: &ConfigSource, dry_run: bool, drops: &[String], json: bool) -> Result<(), BootError> {
    let registry = linked(source)?;
    present(&registry)?;
    let place = boot::place(&registry.declaration)?;
    if dry_run {
        let planned = place.rehearse(&registry.layout)?;
        let refused = planned.iter().any(|change| change.refused.is_some());
        return match json {
            true => report(&migration_json(&registry, &planned, None, false), !refused),
            false => dry_run_text(&registry, &planned, refused),
        };
    }
    place.unused()?;
    let drops = resolved(&registry, &place, drops)?;
    // Tables that are deleted on purpose are copied in any case.
    let copy = registry.declaration.storage.copy_before_migration || !drops.is_empty();
    let Migrated { changes, copy } = match place.migrate(&registry.layout, &drops, copy) {
        Err(OpenError::Destructive { changes, .. }) if json => {
            return report(&migration_json(&registry, &changes, None, false), false);
        }
        other => other?,
    };
    if json {
        return report(&migration_json(&registry, &changes, copy.as_deref(), true), true);
    }
    if let Some(copy) = copy {
        say!("The database as it was is {}", copy.display());
    }
    print_plan(&registry, &changes)
}

fn print_plan(registry: &Registry, changes: &[PendingChange]) -> Result<(), BootError> {
    if changes.is_empty() {
        say!("{}: the tables are as declared", boot::place(&registry.declaration)?.shown());
    }
    print(plan(registry, changes).as_bytes());
    Ok(())
}

fn dry_run_text(registry: &Registry, planned: &[PendingChange], refused: bool) -> Result<(), BootError> {
    print_plan(registry, planned)?;
    match refused {
        true => Err(BootError::Other("some changes would lose values; the server does not start".into())),
        false => Ok(()),
    }
}

/// The names in `--drop` as storage knows them. A resource may be named instead of its table.
fn resolved(registry: &Registry, place: &Place, drops: &[String]) -> Result<Vec<String>, BootError> {
    if drops.is_empty() {
        return Ok(Vec::new());
    }
    let planned = place.rehearse(&registry.layout)?;
    let known: Vec<&str> = planned.iter().filter_map(|change| change.refused.as_ref()?.drop.as_deref()).collect();
    let resolve = |wanted: &String| {
        let (name, column) = wanted.split_once('.').map_or((wanted.as_str(), None), |(n, c)| (n, Some(c)));
        let resource = registry.resource(name);
        let tables = resource.into_iter().flat_map(|r| [Some(&*r.table), r.extension.as_deref()]).flatten();
        let mut names = tables.chain([name]).map(|table| match column {
            Some(column) => format!("{table}.{column}"),
            None => table.to_owned(),
        });
        names.find(|name| known.contains(&name.as_str())).ok_or_else(|| {
            let names: Vec<String> = known.iter().map(|drop| drop_name(registry, drop)).collect();
            let what = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            BootError::Other(format!("--drop {wanted}: nothing in the way has this name; there is {what}"))
        })
    };
    drops.iter().map(resolve).collect()
}

/// The name of a table or of `table.column` for `--drop`, by resource where the table is one resource's own.
fn drop_name(registry: &Registry, drop: &str) -> String {
    let (table, rest) = drop.split_at(drop.find('.').unwrap_or(drop.len()));
    let own = |r: &&Resource| r.extension.as_deref() == Some(table) || r.is_plain() && &*r.table == table;
    let resource = registry.resources.iter().find(own);
    resource.map_or_else(|| drop.to_owned(), |resource| format!("{}{rest}", resource.name))
}

/// The changes, one a line, and below a refused one what resolves it.
fn plan(registry: &Registry, changes: &[PendingChange]) -> String {
    changes.iter().map(|change| format!("  {change}\n{}", ways(registry, change).concat())).collect()
}

fn ways(registry: &Registry, change: &PendingChange) -> Vec<String> {
    let Some(refusal) = &change.refused else { return Vec::new() };
    let was = refusal.drop.as_deref().and_then(|drop| Some(drop.split_once('.')?.1)).unwrap_or_default();
    let renamed = refusal
        .new_names
        .iter()
        .map(|new| format!("      to move the values to `{new}`, write at that property: \"x-was\": \"{was}\"\n"));
    let dropped = refusal
        .drop
        .iter()
        .map(|drop| format!("      to delete the values: cms-server migrate --drop {}\n", drop_name(registry, drop)));
    let other = refusal.remedy.iter().map(|remedy| format!("      {remedy}\n"));
    other.chain(renamed).chain(dropped).collect()
}

fn change_json(registry: &Registry, change: &PendingChange) -> Value {
    let refused = change.refused.as_ref().map(|refusal| {
        let drop = refusal.drop.as_deref().map(|drop| drop_name(registry, drop));
        json!({"reason": refusal.why, "drop": drop, "new_names": refusal.new_names, "remedy": refusal.remedy})
    });
    json!({"table": change.table, "change": change.what, "refused": refused})
}

/// `copy`: the database as it was. `applied`: the changes are made.
fn migration_json(registry: &Registry, changes: &[PendingChange], copy: Option<&Path>, applied: bool) -> Value {
    let changes: Vec<Value> = changes.iter().map(|change| change_json(registry, change)).collect();
    let place = boot::place(&registry.declaration).ok().map(|place| place.shown());
    json!({"database": place, "changes": changes, "applied": applied, "copy": copy})
}

/// Prints an outcome as JSON. One that is not good ends the program with a failure and says no more.
fn report(outcome: &impl Serialize, good: bool) -> Result<(), BootError> {
    let text = serde_json::to_string_pretty(outcome).map_err(|e| BootError::Other(e.to_string()))?;
    print(format!("{text}\n").as_bytes());
    if good { Ok(()) } else { Err(BootError::Reported) }
}

/// A method of a route.
#[derive(Serialize)]
struct RouteLine {
    methods: Vec<&'static str>,
    path: String,
    handler: &'static str,
    /// The guard and its parameter, as declarations write them.
    access: String,
    args: Vec<RouteLineArg>,
}

#[derive(Serialize)]
struct RouteLineArg {
    name: String,
    required: bool,
}

/// See [`super::Command::Routes`].
pub(super) fn routes(source: &ConfigSource, json: bool) -> Result<(), BootError> {
    let registry = linked(source)?;
    if json {
        return report(&rows(&registry), true);
    }
    let lines: Vec<String> = route_table(&registry).into_iter().map(|line| line + "\n").collect();
    print(lines.concat().as_bytes());
    Ok(())
}

/// A line for each method of each route: method, path, handler, access, arguments. Golden tests read it, too.
pub fn route_table(registry: &Registry) -> Vec<String> {
    let line = |row: RouteLine| {
        let args: Vec<String> =
            row.args.iter().map(|arg| format!("{}{}", arg.name, if arg.required { "*" } else { "" })).collect();
        let RouteLine { path, handler, access, .. } = &row;
        format!("{:<18} {path}  {handler} [{access}] {}", row.methods.join(","), args.join(" "))
    };
    rows(registry).into_iter().map(line).collect()
}

fn rows(registry: &Registry) -> Vec<RouteLine> {
    let vocabulary = cms_core::engine::vocabulary();
    let endpoints = registry.routes.iter().flat_map(|route| route.endpoints.iter().map(move |e| (&route.pattern, e)));
    let row = |(pattern, endpoint): (&String, &Endpoint)| {
        let (guard, param) = (vocabulary.guards[endpoint.guard.0].name, &endpoint.guard_param);
        let args = endpoint.args.args.iter();
        RouteLine {
            methods: endpoint.methods.iter().copied().map(Method::as_str).collect(),
            path: pattern.clone(),
            handler: vocabulary.handlers[endpoint.handler.0].name,
            access: if param.is_empty() { guard.to_owned() } else { format!("{guard}:{param}") },
            args: args.map(|arg| RouteLineArg { name: arg.name.clone(), required: arg.required }).collect(),
        }
    };
    endpoints.map(row).collect()
}
