//! Fields that not everybody may read or write who may do so with their item: no way out shows them to the others, and
//! no way in changes them.

use super::events::EventReader;
use super::mcp;
use super::own_types::{folder, make};
use super::server::{Answer, Server};
use super::webhooks::HookReceiver;
use super::xmlrpc::call_as;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

type Caller = (String, String);

/// The value of the fields: no response to somebody without the capability may contain it.
const SECRET: &str = "zqxsecretzqx";

const SITE: &str = r#"
[roles.administrator]
"+capabilities" = ["view_margins", "edit_margins"]

[roles.editor]
"+capabilities" = ["export", "import", "list_users"]

# As an editor, and sees margins.
[roles.keeper]
name = "Keeper"
capabilities = ["read", "edit_posts", "edit_others_posts", "edit_published_posts", "publish_posts", "view_margins", "export"]

# As an editor, and writes margins without seeing them.
[roles.clerk]
name = "Clerk"
capabilities = ["read", "edit_posts", "edit_others_posts", "edit_published_posts", "publish_posts", "edit_margins"]

[schemas.post.properties]
margin = { description = "Margin.", type = "string", x-index = true, x-filterable = true, x-read-capability = "view_margins", x-write-capability = "edit_margins" }
facts = { description = "Facts.", type = "object", additionalProperties = true, x-read-capability = "view_margins", x-write-capability = "edit_margins" }
partners = { description = "Partners.", type = "array", items = { type = "integer" }, x-filterable = true, x-relation = { to = "p_firms", embeddable = true }, x-read-capability = "view_margins", x-write-capability = "edit_margins" }
main_partner = { description = "The first partner.", type = "integer", x-relation = { to = "p_firms", embeddable = true }, x-read-capability = "view_margins", x-write-capability = "edit_margins" }
locked = { description = "Everybody reads it.", type = "string", x-write-capability = "edit_margins" }

[resources.posts]
sort = { margin = "margin" }
search = { margin = "margin" }

[resources.posts.endpoints.list]
orderby = { enum = ["date", "id", "include", "relevance", "title", "margin"] }
search_columns = { items = { enum = ["title", "content", "excerpt", "margin"] } }
margin = { type = "string", x-filter = { column = "margin", op = "eq" } }
fee = { type = "string", x-filter = { query = "meta", key = "fee" } }

[resources.posts.meta]
fee = { schema = { description = "Fee.", type = "string", x-read-capability = "view_margins", x-write-capability = "edit_margins" } }
open = { schema = { description = "Everybody writes it.", type = "string" } }
footnotes = { schema = { description = "Footnotes.", type = "string", x-read-capability = "view_margins" } }

[resources.posts.seo]
title = ["{title} {margin}"]

[resources.posts.podcast.item]
subtitle = "{margin}"
"#;

fn declared() -> TempDir {
    let firm = json!({
        "name": {"type": "string"},
        "rating": {"type": "string", "x-filterable": true, "x-read-capability": "edit_others", "x-unique": true},
        "posts": {"type": "array", "items": {"type": "integer"}, "readonly": true, "x-members": {"of": "posts", "by": "main_partner"}},
    });
    let folder = folder(&[("p_firms", "plain", firm, "")]);
    let file = folder.path().join("site.toml");
    let site = fs::read_to_string(&file).expect("a file");
    let site = site.replace("edit_others = \"edit_posts\"", "edit_others = \"view_margins\"");
    fs::write(file, site + SITE).expect("a file");
    folder
}

struct Deals {
    server: Server,
    firm: i64,
    post: i64,
}

impl Deals {
    /// A published post with a value in each field, changed once, and a firm that it refers to.
    fn start(sets: &[&str]) -> Deals {
        let server = Server::over(declared(), sets);
        let firm = make(&server, "p_firms", json!({"title": "A firm", "rating": SECRET}));
        let notes = json!([{"id": "a", "content": format!("note {SECRET}")}]).to_string();
        let bound = r#"<!-- wp:paragraph {"metadata":{"bindings":{"content":{"source":"core/post-meta","args":{"key":"fee"}}}}} --><p>-</p><!-- /wp:paragraph --><!-- wp:footnotes /-->"#;
        let body = json!({
            "title": "A deal", "content": bound, "status": "publish", "margin": SECRET, "facts": {"why": SECRET},
            "partners": [firm], "main_partner": firm, "locked": "as it is",
            "meta": {"fee": SECRET, "open": "open", "footnotes": notes},
        });
        let made = server.admin("POST", "/cms/v2/posts", Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        let post = made.body["id"].as_i64().expect("an id");
        let deals = Deals { server, firm, post };
        let changed = deals.server.admin("PUT", &deals.route(), Some(&json!({"margin": format!("{SECRET} 2")})));
        assert_eq!(changed.status, 200, "{}", changed.text);
        deals
    }

    fn route(&self) -> String {
        format!("/cms/v2/posts/{}", self.post)
    }

    fn ask(&self, who: &Caller, method: &str, route: &str, body: Value) -> Answer {
        self.server.ask(method, route, Some(who), Some(&body).filter(|body| !body.is_null()))
    }

    /// The post as administrators read it.
    fn stored(&self) -> Value {
        self.server.admin("GET", &format!("{}?context=edit", self.route()), None).body
    }
}

fn is_hidden(answer: &Answer, about: &str) {
    assert!(!answer.text.contains(SECRET), "{about}: {}", answer.text);
    assert!(answer.status < 500, "{about}: {}", answer.text);
}

#[test]
fn no_way_out_shows_a_field_to_those_who_may_not_read_it() {
    let deals = Deals::start(&["mcp.path=/mcp"]);
    let Deals { server, firm, post } = &deals;
    let editor = server.user("edda", "editor");
    let keeper = server.user("kim", "keeper");
    let (autosave, item) = (format!("{}/autosaves", deals.route()), deals.route());
    // Another person's autosave, and a revision that holds the first value.
    let saved = deals.ask(&server.admin, "POST", &autosave, json!({"margin": format!("{SECRET} 3"), "title": "B"}));
    assert_eq!(saved.status, 200, "{}", saved.text);
    let revisions = server.admin("GET", &format!("{item}/revisions"), None);
    let revision = revisions.body[0]["id"].as_i64().unwrap_or_else(|| panic!("{}", revisions.text));

    // The routes, and whether those who may read the fields see the value there.
    let shown: &[(String, bool)] = &[
        ("/cms/v2/posts".into(), true),
        ("/cms/v2/posts?context=edit".into(), true),
        ("/cms/v2/posts?context=embed".into(), true),
        (format!("/cms/v2/posts?_fields=margin&include={post}"), true),
        ("/cms/v2/posts?_embed".into(), true),
        ("/cms/v2/posts?_envelope".into(), true),
        (format!("/cms/v2/posts?search={SECRET}"), true),
        ("/cms/v2/posts?search=deal&_highlight=1".into(), true),
        (item.clone(), true),
        (format!("{item}?context=edit"), true),
        (format!("{item}?context=embed"), true),
        (format!("{item}?_fields=margin"), true),
        (format!("{item}?_fields=facts.why,meta.fee"), true),
        (format!("{item}?_fields=content"), true),
        (format!("{item}?_blocks=1"), true),
        (format!("{item}/revisions"), true),
        (format!("{item}/revisions?context=edit"), true),
        (format!("{item}/revisions/{revision}"), true),
        (autosave.clone(), true),
        ("/own/v1/p_firms".into(), true),
        (format!("/own/v1/p_firms/{firm}"), true),
        (format!("/own/v1/p_firms/{firm}?context=edit"), true),
        ("/server/v1/export".into(), true),
        ("/cms/v2/search?search=deal".into(), false),
        (format!("/cms/v2/search?search={SECRET}"), false),
    ];
    for (route, is_shown) in shown {
        for who in [Some(&editor), None] {
            let answer = server.ask("GET", route, who, None);
            is_hidden(&answer, &format!("{route} as {:?}", who.map(|who| &who.0)));
        }
        // After the response to the others, so that none is cached for everybody.
        let answer = server.ask("GET", route, Some(&keeper), None);
        assert_eq!(answer.text.contains(SECRET), *is_shown, "{route}: {} {}", answer.status, answer.text);
        is_hidden(&server.ask("GET", route, Some(&editor), None), &format!("{route} again"));
    }
    let empty = server.ask("GET", &format!("/cms/v2/posts?search={SECRET}"), Some(&editor), None);
    assert_eq!(empty.body, json!([]), "{}", empty.text);

    // Nothing of a field is learnt by what selects and orders rows either.
    for query in [
        format!("margin={SECRET}"),
        format!("fee={SECRET}"),
        format!("where[margin]={SECRET}"),
        format!("where[partners][any]={firm}"),
        "where[partners][set]=true".into(),
        "_count_by=margin".into(),
        "_count_by=partners".into(),
        "orderby=margin".into(),
        "order_by=-margin".into(),
        "order_by=date,margin".into(),
        "where[main_partner.rating]=a".into(),
    ] {
        let route = format!("/cms/v2/posts?{query}");
        let codes: &[&str] = match query.contains("order") {
            true => &["rest_forbidden_orderby"],
            // A relation that nobody may follow has no criteria: they are unknown.
            false => &["rest_forbidden_param", "rest_invalid_param"],
        };
        let refused = server.ask("GET", &route, Some(&editor), None);
        assert!(matches!(refused.status, 400 | 403) && codes.contains(&refused.code()), "{query}: {}", refused.text);
        let refused = server.get(&route);
        assert!(matches!(refused.status, 400 | 401) && codes.contains(&refused.code()), "{query}: {}", refused.text);
        assert!(!refused.text.contains(&format!("\"id\":{post}")), "{query}");
        if refused.code() != "rest_invalid_param" {
            let open = server.ask("GET", &route, Some(&keeper), None);
            assert_eq!(open.status, 200, "{query}: {}", open.text);
        }
    }

    // Relations: their keys, the links to what they lead to, and the way back.
    let relations = |who: &Caller| -> Value {
        let shown = server.ask("GET", &item, Some(who), None).body;
        let firm = server.ask("GET", &format!("/own/v1/p_firms/{firm}"), Some(who), None).body;
        json!([
            shown["partners"],
            shown["_links"]["partners"].is_array(),
            shown["_links"]["main_partner"].is_array(),
            firm["posts"]
        ])
    };
    assert_eq!(relations(&keeper), json!([[firm], true, true, [post]]));
    assert_eq!(relations(&editor), json!([null, false, false, []]));

    // Pages, feeds and heads for search engines.
    for path in ["/?p=", "/feed/", "/cms-json/server/v1/resolve?url=/?p="] {
        let path = if path.ends_with('=') { format!("{path}{post}") } else { path.to_owned() };
        is_hidden(&server.send("GET", &format!("{}{path}", server.site), None, None, &[]), &path);
    }

    // Collections as lines.
    let lines = |who: &Caller| {
        let url = format!("{}/cms/v2/posts", server.rest);
        server.send("GET", &url, Some(who), None, &[("accept", "application/x-ndjson")])
    };
    assert_eq!(lines(&editor).status, 200, "{}", lines(&editor).text);
    is_hidden(&lines(&editor), "lines");
    assert!(lines(&keeper).text.contains(SECRET), "{}", lines(&keeper).text);

    // Programs: tools, records as resources, and XML-RPC with its list of all values.
    for (name, arguments) in [("posts-list", json!({})), ("posts-get", json!({"id": post}))] {
        let called =
            |who: &Caller| mcp::asked(server, who, "tools/call", json!({"name": name, "arguments": arguments}));
        assert!(!called(&editor).to_string().contains(SECRET), "{name}: {}", called(&editor));
        assert!(called(&keeper).to_string().contains(SECRET), "{name}: {}", called(&keeper));
    }
    for method in ["wp.getPost", "metaWeblog.getPost"] {
        let params = |who: &Caller| match method {
            "wp.getPost" => call_as(server, who, method, &[json!(post.to_string())]),
            _ => super::xmlrpc::raw(server, method, &[json!(post.to_string()), json!(who.0), json!(who.1)]),
        };
        assert!(!params(&editor).to_string().contains(SECRET), "{method}: {}", params(&editor));
        assert!(params(&keeper).to_string().contains(SECRET), "{method}: {}", params(&keeper));
    }

    // An import finds no items by a value that the caller may not see.
    let url = format!("{}/own/v1/p_firms/import?upsert=rating", server.rest);
    let line = ("application/x-ndjson", json!({"rating": SECRET, "title": "x"}).to_string().into_bytes());
    let refused = server.send("POST", &url, Some(&editor), Some(line), &[]);
    assert_eq!((refused.status, refused.code()), (403, "rest_forbidden"), "{}", refused.text);
}

#[test]
fn events_name_a_field_to_those_alone_who_may_read_it() {
    let receiver = HookReceiver::start();
    let networks = [r#"outbound.networks=["127.0.0.0/8"]"#.to_owned(), format!("outbound.ports=[{}]", receiver.port)];
    let deals = Deals::start(&[&*networks[0], &*networks[1]]);
    let server = &deals.server;
    let (editor, keeper) = (server.user("edda", "editor"), server.user("kim", "keeper"));
    let mut streams: Vec<EventReader> =
        [Some(&editor), Some(&keeper), None].into_iter().map(|who| EventReader::open(server, "", who)).collect();
    streams.iter_mut().for_each(|stream| drop(stream.position()));
    let hook = json!({"name": "A", "url": receiver.url("/a"), "resources": ["posts"]});
    let made = server.admin("POST", "/server/v1/webhooks", Some(&hook));
    assert_eq!(made.status, 201, "{}", made.text);
    let body = json!({"margin": format!("{SECRET} 4"), "partners": [], "excerpt": "new"});
    assert_eq!(server.admin("PUT", &deals.route(), Some(&body)).status, 200);
    let told: Vec<Value> = streams.iter_mut().map(|stream| stream.of("posts").1).collect();
    let names = |event: &Value, name: &str| event["changed"].as_array().is_some_and(|all| all.contains(&json!(name)));
    for (event, sees) in told.iter().zip([false, true, false]) {
        assert_eq!((names(event, "excerpt"), names(event, "partners")), (true, sees), "{event}");
        assert!(!event.to_string().contains(SECRET), "{event}");
    }
    let firm = format!("/own/v1/p_firms/{}", deals.firm);
    let changed = server.admin("PUT", &firm, Some(&json!({"title": "Another", "rating": format!("{SECRET} 5")})));
    assert_eq!(changed.status, 200, "{}", changed.text);
    for (stream, sees) in streams.iter_mut().zip([false, true, false]) {
        let event = stream.of("p_firms").1;
        assert_eq!((names(&event, "title"), names(&event, "rating")), (true, sees), "{event}");
        assert!(!event.to_string().contains(SECRET), "{event}");
    }
    // A webhook without a user receives what everybody reads.
    let sent = receiver.wait("/a", 1)[0].json().to_string();
    assert!(sent.contains("excerpt") && !sent.contains("partners") && !sent.contains(SECRET), "{sent}");
}

#[test]
fn who_may_not_write_a_field_is_refused_and_keeps_what_is_stored() {
    let deals = Deals::start(&["mcp.path=/mcp"]);
    let server = &deals.server;
    let [editor, keeper, clerk] =
        [("edda", "editor"), ("kim", "keeper"), ("cleo", "clerk")].map(|(login, role)| server.user(login, role));
    let before = deals.stored();
    let other = json!({"why": "other"});
    let meta = |value: &str| json!({"meta": {"fee": value, "open": "open"}});
    let writes: &[(&str, Value, &[&str])] = &[
        ("margin", json!({"title": "x", "margin": "other"}), &["margin"]),
        ("null", json!({"margin": null}), &["margin"]),
        (
            "several",
            json!({"facts": other, "partners": [], "main_partner": null}),
            &["facts", "partners", "main_partner"],
        ),
        ("meta", meta("other"), &["meta.fee"]),
        ("no meta", json!({"meta": {"fee": ""}}), &["meta.fee"]),
        ("locked", json!({"locked": "other"}), &["locked"]),
    ];
    let refused = |answer: &Answer, names: &[&str], about: &str| {
        assert_eq!((answer.status, answer.code()), (403, "rest_forbidden_field"), "{about}: {}", answer.text);
        for name in names {
            assert!(answer.body["data"]["params"][name].is_string(), "{about}: {}", answer.text);
            assert!(
                answer.body["message"].as_str().is_some_and(|said| said.contains(name)),
                "{about}: {}",
                answer.text
            );
        }
        assert!(!answer.text.contains(SECRET), "{about}: {}", answer.text);
    };
    for (about, body, names) in writes {
        for who in [&editor, &keeper] {
            refused(&deals.ask(who, "PUT", &deals.route(), body.clone()), names, about);
            refused(&deals.ask(who, "POST", &format!("{}/autosaves", deals.route()), body.clone()), names, about);
            let mut new = body.clone();
            new["title"] = json!("New");
            refused(&deals.ask(who, "POST", "/cms/v2/posts", new), names, about);
        }
    }
    // The value that is stored is refused, too, to those who may not read it: otherwise they could guess it.
    refused(&deals.ask(&editor, "PUT", &deals.route(), json!({"margin": before["margin"]})), &["margin"], "a guess");
    assert_eq!(deals.stored(), before, "nothing was written");

    // A document may be sent back as it was read, and what is not sent stays.
    for who in [&editor, &keeper, &clerk] {
        let read = deals.ask(who, "GET", &format!("{}?context=edit", deals.route()), Value::Null).body;
        let members = ["title", "content", "excerpt", "margin", "facts", "partners", "main_partner", "locked", "meta"];
        let mut back: Value =
            members.iter().filter_map(|name| Some(((*name).to_owned(), read.get(*name)?.clone()))).collect();
        back["title"] = json!(format!("Written by {}", who.0));
        let written = deals.ask(who, "PUT", &deals.route(), back);
        assert_eq!(written.status, 200, "{}: {}", who.0, written.text);
        let now = deals.stored();
        for name in &members[3..] {
            assert_eq!(now[*name], before[*name], "{name} by {}", who.0);
        }
        assert_eq!(now["title"]["raw"], format!("Written by {}", who.0));
    }
    // Who may write without reading replaces a value, and is not shown it.
    let written = deals.ask(&clerk, "PUT", &deals.route(), json!({"margin": "by the clerk", "meta": {"fee": "5"}}));
    assert_eq!(
        (written.status, &written.body["margin"], &written.body["meta"]["fee"]),
        (200, &Value::Null, &Value::Null)
    );
    let now = deals.stored();
    assert_eq!((&now["margin"], &now["meta"]["fee"]), (&json!("by the clerk"), &json!("5")));

    // An autosave of somebody who sees none of the fields takes none of them away.
    let saved = deals.ask(&editor, "POST", &format!("{}/autosaves", deals.route()), json!({"title": "Saved"}));
    assert_eq!((saved.status, &saved.body["margin"]), (200, &Value::Null), "{}", saved.text);
    let batch = json!({"requests": [{"method": "PUT", "path": deals.route(), "body": {"margin": "x"}}]});
    let done = deals.ask(&editor, "POST", "/batch/v1", batch);
    assert_eq!(done.body["responses"][0]["body"]["code"], "rest_forbidden_field", "{}", done.text);
    let tool = json!({"name": "posts-update", "arguments": {"id": deals.post, "margin": "x"}});
    let called = mcp::asked(server, &editor, "tools/call", tool)["result"].clone();
    assert!(called["isError"] == true && called.to_string().contains("You may not write margin"), "{called}");
    assert_eq!(deals.stored()["margin"], "by the clerk");
    let removed = call_as(
        server,
        &editor,
        "wp.editPost",
        &[json!(deals.post.to_string()), json!({"custom_fields": [{"key": "fee", "value": "x"}]})],
    );
    assert_eq!(deals.stored()["meta"]["fee"], "5", "{removed}");
}

#[test]
fn a_capability_that_is_taken_hides_a_field_at_once() {
    let deals = Deals::start(&[]);
    let keeper = deals.server.user("kim", "keeper");
    let routes = [deals.route(), "/cms/v2/posts?context=edit".to_owned(), "/cms/v2/posts?_embed".to_owned()];
    for route in routes.iter().chain(&routes) {
        let shown = deals.ask(&keeper, "GET", route, Value::Null);
        assert!(shown.text.contains(SECRET), "{route}: {}", shown.text);
    }
    let left = json!({"capabilities": ["read", "edit_posts", "edit_others_posts", "edit_published_posts"]});
    let changed = deals.server.admin("POST", "/server/v1/roles/keeper", Some(&left));
    assert_eq!(changed.status, 200, "{}", changed.text);
    for route in &routes {
        is_hidden(&deals.ask(&keeper, "GET", route, Value::Null), route);
    }
}

#[test]
fn a_change_of_a_field_that_waits_is_published_by_those_who_may_write_it() {
    let deals = Deals::start(&[]);
    let server = &deals.server;
    let (editor, drafting) = (server.user("edda", "editor"), super::draft_only::drafting(server));
    let change = json!({"title": "Proposed", "margin": format!("{SECRET} 5")});
    let sent = deals.ask(&drafting, "PUT", &deals.route(), change);
    assert_eq!(sent.status, 202, "{}", sent.text);
    let route = format!("/server/v1/reviews/{}", sent.body["id"]);
    let read = |who: &Caller| deals.ask(who, "GET", &route, Value::Null);
    let members = |answer: &Answer| -> Vec<String> {
        let list = answer.body["difference"].as_array().unwrap_or_else(|| panic!("{}", answer.text)).iter();
        list.filter_map(|one| one["member"].as_str().map(str::to_owned)).collect()
    };
    let seen = read(&editor);
    is_hidden(&seen, "a review");
    assert_eq!(members(&seen), ["title"]);
    assert_eq!(members(&read(&server.admin)), ["title", "margin"]);
    let decision = json!({"state": "published", "seen": seen.body["seen"]});
    let refused = deals.ask(&editor, "POST", &route, decision.clone());
    assert_eq!((refused.status, refused.code()), (403, "rest_forbidden_field"), "{}", refused.text);
    assert!(refused.text.contains("margin"), "{}", refused.text);
    let done = deals.ask(&server.admin, "POST", &route, decision);
    assert_eq!(done.status, 200, "{}", done.text);
    let now = deals.stored();
    assert_eq!((&now["title"]["raw"], &now["margin"]), (&json!("Proposed"), &json!(format!("{SECRET} 5"))));
}

#[test]
fn descriptions_show_what_the_caller_may_do_with_a_field() {
    let deals = Deals::start(&[]);
    let server = &deals.server;
    let [editor, keeper, clerk] =
        [("edda", "editor"), ("kim", "keeper"), ("cleo", "clerk")].map(|(login, role)| server.user(login, role));
    // Of a property and of a meta value: whether the schema has it, whether it is read-only there, and whether requests
    // that write have an argument for it.
    for (who, property, argument) in [
        (Some(&server.admin), Some(false), true),
        (Some(&keeper), Some(true), false),
        (Some(&clerk), None, true),
        (Some(&editor), None, false),
        (None, None, false),
    ] {
        for route in [deals.route(), "/cms/v2/posts".to_owned()] {
            let described = server.ask("OPTIONS", &route, who, None).body;
            let schema = &described["schema"]["properties"];
            let endpoints = described["endpoints"].as_array().expect("a list").iter();
            let writing: Vec<&Value> = endpoints.filter(|one| one["methods"].to_string().contains("POST")).collect();
            for (own, args) in [
                (&schema["margin"], &writing[0]["args"]["margin"]),
                (&schema["meta"]["properties"]["fee"], &writing[0]["args"]["meta"]["properties"]["fee"]),
            ] {
                let read_only = own.is_object().then(|| own["readonly"] == true);
                assert_eq!((read_only, args.is_object()), (property, argument), "{who:?} {route}: {own} {args}");
            }
            assert_eq!((schema["locked"]["readonly"] == true, schema["title"]["readonly"] == true), (!argument, false));
        }
    }
    // A document may lack what its reader may not read, in the description for programs as in the types that follow from it.
    let openapi = server.admin("GET", "/openapi.json", None);
    let post = &openapi.body["components"]["schemas"]["Post"];
    let required = post["required"].as_array().unwrap_or_else(|| panic!("{}", post)).clone();
    for (name, is_required) in [("margin", false), ("partners", false), ("locked", true), ("title", true)] {
        assert!(post["properties"][name].is_object(), "{name}");
        assert_eq!(required.contains(&json!(name)), is_required, "{name}");
    }
    let described = |who: &Caller| {
        let list = server.ask("GET", "/console/v1/description", Some(who), None);
        let mut found = list.body["resources"].as_array().unwrap_or_else(|| panic!("{}", list.text)).iter();
        let posts = found.find(|one| one["name"] == "posts").expect("posts");
        format!("{} {}", posts["fields"], posts["view"])
    };
    assert!(described(&keeper).contains("\"margin\"") && described(&keeper).contains("main_partner"));
    let other = described(&editor);
    for name in ["margin", "facts", "partners", "main_partner"] {
        assert!(!other.contains(&format!("\"{name}\"")), "{name}: {other}");
    }
    assert!(other.contains("\"locked\""), "{other}");
}
