//! The command line that other tools rely on.

use super::free_port::free_address;
use super::server::{Server, program, run, stdout};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Stdio;
use tempfile::TempDir;

#[test]
fn subcommands_do_what_they_say() {
    assert!(stdout(&["check"], "").contains("sound"));
    let routes = stdout(&["routes"], "");
    assert!(routes.contains("/cms/v2/posts/(?P<id>[\\d]+)"), "{routes}");
    assert!(stdout(&["routes", "--set", "site.prefix=wp"], "").contains("/wp/v2/posts"));
    let schema: serde_json::Value = serde_json::from_str(&stdout(&["schema"], "")).expect("a JSON Schema");
    assert!(schema["properties"].get("resources").is_some());
}

/// Every subcommand in the program's help, with those below it: `user add`.
fn subcommands() -> Vec<String> {
    fn below(path: &str) -> Vec<String> {
        let words: Vec<&str> = path.split_whitespace().chain(["--help"]).collect();
        let help = stdout(&words, "");
        let Some((_, listed)) = help.split_once("Commands:\n") else { return Vec::new() };
        let names =
            listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
        let names = names.filter(|name| *name != "help").map(|name| format!("{path} {name}").trim().to_owned());
        names.flat_map(|name| [vec![name.clone()], below(&name)].concat()).collect()
    }
    below("")
}

#[test]
fn completions_and_manual_pages_name_every_subcommand() {
    let all = subcommands();
    assert!(all.len() >= 14 && all.contains(&"app-password add".to_owned()), "{all:?}");
    for shell in ["bash", "zsh", "fish"] {
        let text = stdout(&["completions", shell], "");
        for name in all.iter().flat_map(|path| path.split(' ')) {
            assert!(text.contains(name), "{shell}: {name}");
        }
        for option in ["config", "password-stdin", "read-only", "attachments"] {
            assert!(text.contains(option), "{shell}: --{option}");
        }
    }
    let page = stdout(&["man"], "");
    assert!(page.contains(".TH cms-server 1") && page.contains("\\-\\-config"), "{page}");
    let folder = TempDir::new().expect("a temporary folder");
    let pages = folder.path().join("man1");
    stdout(&["man", pages.to_str().expect("a path")], "");
    for path in &all {
        let own = path.replace(' ', "-");
        assert!(path.contains(' ') || page.contains(&own.replace('-', "\\-")), "{path} in {page}");
        let text = std::fs::read_to_string(pages.join(format!("cms-server-{own}.1"))).expect(path);
        assert!(text.contains(".SH NAME"), "{text}");
    }
    assert!(!run(&["completions", "tcl"], "").status.success());
}

#[test]
fn init_writes_the_shipped_files_and_overwrites_nothing() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path().to_str().expect("a path");
    let listed = stdout(&["init", at], "");
    assert!(listed.contains("routes.toml"));
    assert!(!run(&["init", at], "").status.success());
    let config = folder.path().join("routes.toml");
    stdout(&["check", "--config", config.to_str().expect("a path")], "");
}

#[test]
fn an_upgrade_replaces_the_shipped_files_and_check_says_when_one_is_due() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let at = folder.path().to_str().expect("a path");
    stdout(&["init", at], "");
    let config = path("routes.toml");
    let config = config.to_str().expect("a path");
    let warned = || {
        let output = run(&["check", "--config", config], "");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(warned(), "");
    let mine = std::fs::read_to_string(config).expect("a file").replace("A new site", "The lamp");
    std::fs::write(config, &mine).expect("a file");
    std::fs::write(path("schemas/core/version.txt"), "0.0.9").expect("a file");
    let posts = path("schemas/core/20-posts.toml");
    let text = std::fs::read_to_string(&posts).expect("a file");
    std::fs::write(&posts, text.replace("order = 10", "order = 11")).expect("a file");
    let warning = warned();
    assert!(warning.contains("schemas/core is older than this program (0.0.9 <"), "{warning}");
    assert!(stdout(&["init", "--upgrade", at], "").contains("schemas.before-1"));
    assert_eq!(warned(), "");
    assert_eq!(std::fs::read_to_string(config).expect("a file"), mine);
    // A mistake in an included file has its place there.
    std::fs::write(&posts, format!("{text}\n[resources.posts.colour]\n")).expect("a file");
    let output = run(&["check", "--config", config], "");
    let place = format!("schemas/core/20-posts.toml:{}:18: there is no key `colour`", text.lines().count() + 2);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(&place), "{place}: {said}");
}

/// Versions before `schemas/core` had everything in one long file.
#[test]
fn declarations_in_one_long_file_still_start() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    stdout(&["init", folder.path().to_str().expect("a path")], "");
    let config = path("routes.toml");
    let args = ["routes", "--json", "--config", config.to_str().expect("a path")];
    // Without their order: the tables that are joined below are sorted.
    let routes = || -> BTreeSet<String> {
        let listed: Vec<serde_json::Value> = serde_json::from_str(&stdout(&args, "")).expect("JSON");
        listed.iter().map(|route| format!("{} {} {}", route["methods"], route["path"], route["handler"])).collect()
    };
    let before = routes();
    assert!(before.len() > 50, "{before:?}");
    let mut files: Vec<_> =
        std::fs::read_dir(path("schemas/core")).expect("a folder").flatten().map(|f| f.path()).collect();
    files.sort();
    let mut whole = toml::Table::new();
    for file in
        files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "toml")).chain([config.clone()])
    {
        let text = std::fs::read_to_string(file).expect("a file").replace("\"../", "\"schemas/");
        join(&mut whole, text.parse().expect("TOML"));
    }
    whole.remove("include");
    std::fs::write(&config, whole.to_string()).expect("a file");
    std::fs::remove_dir_all(path("schemas/core")).expect("was there");
    assert_eq!(routes(), before);
    let refused = run(&["init", "--upgrade", folder.path().to_str().expect("a path")], "");
    assert!(!refused.status.success(), "its own long file would not fit new schemas");
}

/// Tables join key by key, arrays one after the other.
fn join(base: &mut toml::Table, more: toml::Table) {
    for (key, value) in more {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(base)), toml::Value::Table(more)) => join(base, more),
            (Some(toml::Value::Array(base)), toml::Value::Array(more)) => base.extend(more),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

#[test]
fn problems_are_all_told_and_nothing_is_started() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path().to_str().expect("a path");
    stdout(&["init", at], "");
    let site = "[resources.posts]\nsort = { title = \"titel\" }\n[resources.pages]\nrooutes = [\"content\"]\n\n[[route_sets.crud]]\npath = \"x(\"\nendpoints = [{ methods = [\"GET\"], handler = \"lsit\", access = \"public\" }]\n";
    std::fs::write(folder.path().join("site.toml"), site).expect("a file");
    let config = folder.path().join("routes.toml");
    let output = run(&["--config", config.to_str().expect("a path"), "--set", "server.listen=127.0.0.1:0"], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("site.toml:4:1") && said.contains("routes"), "{said}");
    std::fs::write(folder.path().join("site.toml"), site.replace("rooutes", "routes")).expect("a file");
    let output = run(&["check", "--config", config.to_str().expect("a path")], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`titel`") && said.contains("did you mean `title`"), "{said}");
}

#[test]
fn a_port_in_use_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = TempDir::new().expect("a temporary folder");
    let db = format!("storage.url=sqlite:{}/x.db", folder.path().display());
    let output = run(&["--set", &format!("server.listen={address}"), "--set", &db], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("another program listens there"), "{said}");
    assert!(!folder.path().join("x.db").exists(), "nothing is half-started");
}

#[test]
fn an_option_on_both_sides_of_a_command_is_refused() {
    let set = ["--set", "site.prefix=wp"];
    for (given, option) in [
        ([&set[..], &["routes"], &set].concat(), Some("--set")),
        (vec!["--set=site.prefix=wp", "routes", "--set", "site.demo=false"], Some("--set")),
        (vec!["--config", "routes.toml", "routes", "--config=site.toml"], Some("--config")),
        ([&["routes"], &set[..], &set].concat(), None),
        ([&set[..], &set, &["routes"]].concat(), None),
        ([&set[..], &["routes", "--config", "routes.toml"]].concat(), None),
    ] {
        let output = run(&given, "");
        let said = String::from_utf8_lossy(&output.stderr);
        let refused = option.is_some_and(|option| said.contains(&format!("`{option}` stands before and behind")));
        assert_eq!((output.status.success(), refused), (option.is_none(), option.is_some()), "{given:?}: {said}");
    }
}

#[test]
fn unfit_databases_are_told_and_left_alone() {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("x.db");
    let check = |content: &[u8], part: &str| {
        std::fs::write(&file, content).expect("a file");
        let db = format!("storage.url=sqlite:{}", file.display());
        let output = run(&["--set", "server.listen=127.0.0.1:0", "--set", &db], "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(part), "{said}");
        assert_eq!(std::fs::read(&file).expect("the file"), content);
    };
    check(&[b'x'; 5000], "not a valid database");
    let missing = format!("storage.url=sqlite:{}/no/such/x.db", folder.path().display());
    let output = run(&["--set", "server.listen=127.0.0.1:0", "--set", &missing], "");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no folder"));
    let output = run(&["--set", "server.listen=127.0.0.1:0", "--set", "storage.url=mysql:x"], "");
    assert!(String::from_utf8_lossy(&output.stderr).contains("sqlite:FILE"));
}

#[test]
fn users_and_passwords_can_be_added() {
    let server = Server::start();
    let db = server.storage();
    let args = ["--set", db.as_str()];
    let with = |more: &[&str], input: &str| run(&[&args[..], more].concat(), input);
    assert!(
        with(&["user", "add", "zoe", "zoe@example.org", "--role", "editor", "--password-stdin"], "a password\n")
            .status
            .success()
    );
    assert!(!with(&["user", "add", "zoe", "z@example.org", "--password-stdin"], "a password\n").status.success());
    assert!(
        !with(&["user", "add", "yan", "y@example.org", "--role", "pirate", "--password-stdin"], "x\n").status.success()
    );
    let secret = with(&["app-password", "add", "zoe", "phone"], "");
    let secret = String::from_utf8_lossy(&secret.stdout).trim().to_owned();
    assert_eq!(secret.len(), 29, "24 letters and digits in groups of four");
    let me = server.ask("GET", "/cms/v2/users/me?context=edit", Some(&("zoe".into(), secret)), None);
    assert_eq!((me.status, &me.body["roles"][0]), (200, &serde_json::json!("editor")), "{}", me.text);
}

#[test]
fn an_empty_database_gets_an_administrator_and_the_demo_site() {
    let folder = TempDir::new().expect("a temporary folder");
    let db = format!("storage.url=sqlite:{}/x.db", folder.path().display());
    let mut child = program()
        .args(["--set", "server.listen=127.0.0.1:0", "--set", &db])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = String::new();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().expect("a pipe")));
    while !said.contains("ready in") {
        said.push_str(&lines.next().expect("more lines").expect("a line"));
        said.push('\n');
    }
    let url = said.rsplit_once("ms: ").expect("the address").1.trim().to_owned();
    assert!(said.contains("administrator is `admin` with the password"), "{said}");
    assert_eq!(posts(&url), 12, "the demo site");
    child.kill().expect("a running process");
    child.wait().expect("a killed process");
}

/// Starts the program with nothing but a free port; what it says until it is ready, and then until a request is logged.
fn default_start(folder: &std::path::Path) -> (Vec<String>, String) {
    let mut child = program()
        .args(["--set", "server.listen=127.0.0.1:0", "--set", "site.bcrypt_cost=4"])
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().expect("a pipe")));
    let mut said = Vec::new();
    let mut first = String::new();
    for line in lines.by_ref().map(|line| line.expect("a line")) {
        if let Some((_, url)) = line.split_once(" ms: ") {
            // Its line in the log ends what is said.
            first = ureq::get(format!("{url}cms/v2/posts?_fields=id"))
                .call()
                .expect("a response")
                .body_mut()
                .read_to_string()
                .expect("text");
            said.push(line);
        } else if line.contains("method=GET") {
            break;
        } else {
            said.push(line);
        }
    }
    child.kill().expect("a running process");
    child.wait().expect("a killed process");
    (said, first)
}

#[test]
fn a_start_in_an_empty_folder_says_in_five_lines_what_there_is() {
    let folder = TempDir::new().expect("a temporary folder");
    let (said, posts) = default_start(folder.path());
    assert!(posts.starts_with("[{\"id\":"), "{posts}");
    let data = folder.path().canonicalize().expect("a folder").join("site.db").display().to_string();
    let parts = [
        &["new database", "`admin` with the password"][..],
        &["ready in", "/cms-json/"],
        &["console: http://127.0.0.1:", "/admin"],
        &["data: ", &data, "cms-server init", "--config routes.toml"],
        &["cms-server app-password add"],
    ];
    assert_eq!(said.len(), parts.len(), "{said:#?}");
    for (line, parts) in said.iter().zip(parts) {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}: {parts:?}");
    }
    let written = program().arg("init").current_dir(folder.path()).output().expect("it runs");
    assert!(written.status.success() && folder.path().join("routes.toml").is_file(), "{written:?}");
    let (said, _) = default_start(folder.path());
    assert_eq!(said.len(), 4, "{said:#?}");
    assert!(said[2].contains("routes.toml in this folder is not used"), "{said:#?}");
}

#[test]
fn a_server_is_asked_whether_it_serves() {
    let server = Server::start();
    let address = server.site.trim_start_matches("http://").split('/').next().expect("an address").to_owned();
    let asked = |listen: &str| run(&["health", "--set", &format!("server.listen={listen}")], "");
    let said = asked(&address);
    assert_eq!(String::from_utf8_lossy(&said.stdout), format!("http://{address}/cms-json/: 200\n"));
    let free = free_address();
    let said = asked(&free.to_string());
    assert!(!said.status.success() && String::from_utf8_lossy(&said.stderr).contains(&free.to_string()), "{said:?}");
}

#[test]
fn a_site_moves_into_a_new_database() {
    let folder = TempDir::new().expect("a temporary folder");
    let url = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let (first, second) = (url("first.db"), url("second.db"));
    let with = |url: &str, words: &[&str]| {
        let set = format!("storage.url={url}");
        run(&[&["--set", &set], words].concat(), "an account password\n")
    };
    let add = ["user", "add", "anna", "anna@example.org", "--role", "administrator", "--password-stdin"];
    assert!(with(&first, &add).status.success());
    let copied = with(&first, &["copy", "--to", &second]);
    let text = String::from_utf8_lossy(&copied.stdout).into_owned();
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    assert!(text.contains(" user ") && text.contains("equal to"), "{text}");
    let users = |url: &str| String::from_utf8_lossy(&with(url, &["user", "list"]).stdout).into_owned();
    assert!(users(&second).contains("anna@example.org"));
    assert_eq!(users(&second), users(&first));
    assert!(with(&second, &["check", "--data"]).status.success());
    for (from, to, why) in [
        (&*first, &*second, "the target holds a site already"),
        (&*url("none.db"), &*url("new.db"), "there is no such file"),
        (&*first, "mysql://localhost/site", "is not of the form sqlite:FILE or postgres://"),
    ] {
        let refused = with(&second, &["copy", "--from", from, "--to", to]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains(why), "{said}");
    }
}

#[test]
fn accounts_are_managed_from_the_command_line() {
    let server = Server::start();
    let db = server.storage();
    let with = |more: &[&str], input: &str| {
        let output = run(&[&["--set", db.as_str()], more].concat(), input);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let zoe = server.user("zoe", "editor");
    let post = server.ask("POST", "/cms/v2/posts", Some(&zoe), Some(&json!({"title": "Hers", "status": "publish"})));
    assert_eq!(post.status, 201, "{}", post.text);

    let (_, users, _) = with(&["user", "list"], "");
    assert!(users.starts_with("id  login") && users.contains("zoe@example.org") && users.contains("editor"), "{users}");
    let (_, listed, _) = with(&["app-password", "list", "zoe"], "");
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(with(&["app-password", "revoke", "zoe", "tests"], "").0);
    assert_eq!(server.ask("GET", "/cms/v2/users/me", Some(&zoe), None).status, 401);
    assert!(!with(&["app-password", "revoke", "zoe", "tests"], "").0, "there is none any more");

    let (done, _, said) = with(&["user", "passwd", "zoe"], "short\n");
    assert!(!done && said.contains("at least 8 characters"), "{said}");
    let (done, said, _) = with(&["user", "passwd", "zoe"], "a longer password\n");
    assert!(done && said.contains("sessions were ended"), "{said}");
    let (done, said, _) = with(&["user", "role", "zoe", "author"], "");
    assert!(done && said == "zoe: author\n", "{said}");
    let (done, _, said) = with(&["user", "role", "zoe", "pirate"], "");
    assert!(!done && !said.is_empty());
    assert!(with(&["user", "logout", "zoe"], "").0);
    let (done, _, said) = with(&["user", "role", "admin", "author"], "");
    assert!(!done, "the last administrator stays one: {said}");
    let (done, _, said) = with(&["user", "delete", "zoe"], "");
    assert!(!done && said.contains("--reassign"), "{said}");
    assert!(with(&["user", "delete", "zoe", "--reassign", "admin"], "").0);
    assert_eq!(server.get(&format!("/cms/v2/posts/{}", post.body["id"])).body["author"], 1, "the post stays");
    assert!(!with(&["user", "logout", "zoe"], "").0, "there is no such user any more");

    let (_, trail, _) = with(&["audit", "--last", "10"], "");
    assert!(trail.contains("command line") && trail.contains("logout"), "{trail}");
    let (_, status, _) = with(&["status"], "");
    assert!(status.contains("version") && status.contains("database") && status.contains("posts"), "{status}");
}

/// How many posts a site shows.
fn posts(url: &str) -> usize {
    let mut found = ureq::get(format!("{url}cms/v2/posts?per_page=100")).call().expect("an answer");
    let found: serde_json::Value = serde_json::from_reader(found.body_mut().as_reader()).expect("JSON");
    found.as_array().expect("a list").len()
}

/// Serves a database until it is ready; what was said until then, with the address.
fn first_start(db: &str, sets: &[&str]) -> (std::process::Child, String, String) {
    let mut args = vec!["--set", "server.listen=127.0.0.1:0", "--set", "site.bcrypt_cost=4", "--set", db];
    args.extend(sets.iter().flat_map(|set| ["--set", set]));
    let mut child = program().args(args).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut said = String::new();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().expect("a pipe")));
    while !said.contains("ready in") {
        said.push_str(&lines.next().expect("more lines").expect("a line"));
        said.push('\n');
    }
    std::thread::spawn(move || lines.count());
    let url = said.rsplit_once("ms: ").expect("the address").1.trim().to_owned();
    (child, said, url)
}

#[test]
fn a_user_who_is_there_before_the_first_start_changes_nothing_of_it() {
    let folder = TempDir::new().expect("a temporary folder");
    let db = format!("storage.url=sqlite:{}/x.db", folder.path().display());
    let add = |login: &str, role: &str| {
        let args = ["--set", &db, "user", "add", login, &format!("{login}@example.org"), "--role", role];
        let added = run(&[&args[..], &["--password-stdin"]].concat(), "a password\n");
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        String::from_utf8_lossy(&added.stderr).into_owned()
    };
    assert!(add("admin", "editor").contains("x.db: a new database"), "the wrong folder is noticed");
    let (mut child, said, url) = first_start(&db, &["site.demo=true"]);
    assert!(said.contains("administrator is `admin2` with the password"), "{said}");
    assert_eq!(posts(&url), 12, "the demo site");
    child.kill().expect("a running process");
    child.wait().expect("a killed process");
    let (mut child, said, _) = first_start(&db, &["site.demo=true"]);
    assert!(!said.contains("administrator"), "only once: {said}");
    child.kill().expect("a running process");
    child.wait().expect("a killed process");

    let folder = TempDir::new().expect("a temporary folder");
    let db = format!("storage.url=sqlite:{}/x.db", folder.path().display());
    let args = ["--set", &db, "user", "add", "zoe", "zoe@example.org", "--role", "administrator", "--password-stdin"];
    assert!(run(&args, "a password\n").status.success());
    let (mut child, said, url) = first_start(&db, &["site.demo=true"]);
    assert!(!said.contains("administrator"), "there is one: {said}");
    assert_eq!(posts(&url), 12);
    child.kill().expect("a running process");
    child.wait().expect("a killed process");
}

#[test]
fn commands_in_a_wrong_folder_leave_no_database() {
    let folder = TempDir::new().expect("a temporary folder");
    let db = format!("storage.url=sqlite:{}/x.db", folder.path().display());
    let copy = folder.path().join("copy.db");
    let copy = copy.to_str().expect("a path");
    for command in [
        &["backup", copy][..],
        &["check", "--data"],
        &["doctor"],
        &["app-password", "add", "admin", "x"],
        &["restore", copy],
    ] {
        let output = run(&[&["--set", db.as_str()], command].concat(), "");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("there is no such"), "{command:?}: {said}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
        assert!(left.is_empty(), "{command:?} leaves {left:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path().to_str().expect("a path");
    for command in [
        &["check"][..],
        &["schema"],
        &["routes"],
        &["explain", "list"],
        &["completions", "bash"],
        &["man"],
        &["docs", at],
        &["init", at],
    ] {
        let mut child =
            program().args(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("panicked"), "{command:?}: {said}");
    }
}

#[test]
fn check_tells_what_nobody_may_do() {
    let with = |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let output = run(&["check"].into_iter().chain(sets).collect::<Vec<_>>(), "");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(with(&[]), "");
    let warned = with(&["capabilities.post.create=create_books"]);
    assert!(warned.contains("no role has the capability `create_books`, which capabilities.post.create"), "{warned}");
    assert_eq!(with(&["capabilities.post.create=create_books", "roles.administrator.capabilities=[\"*\"]"]), "");
}
