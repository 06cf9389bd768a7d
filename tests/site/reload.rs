//! Declarations can be changed while the server runs.

use super::server::{Server, until};

#[test]
fn sound_changes_are_taken_over_and_unsound_ones_are_not() {
    let server = Server::start();
    let echo = "[namespaces.try]\npath = \"try/v1\"\n\n[[routes]]\npath = \"/echo\"\nnamespace = \"try\"\nendpoints = [{ methods = [\"GET\"], handler = \"echo\", access = \"public\", with = { n = { type = \"integer\", description = \"A number.\" } } }]\n";
    assert_eq!(server.get("/try/v1/echo?n=5").status, 404);
    std::fs::write(server.path("site.toml"), echo.replace("[[routes]]", "[[\"+routes\"]]")).expect("a file");
    until("the new route answers", || server.get("/try/v1/echo?n=5").status == 200);
    assert_eq!(server.get("/try/v1/echo?n=5").body["params"]["n"], 5);
    std::fs::write(server.path("site.toml"), "[nonsense").expect("a file");
    server.log_until("the old declarations stay in force");
    assert_eq!(server.get("/try/v1/echo?n=5").status, 200, "the old declarations stay in force");
    std::fs::write(server.path("site.toml"), "").expect("a file");
    until("the route is gone", || server.get("/try/v1/echo?n=5").status == 404);
}

#[test]
fn a_half_typed_property_becomes_no_column() {
    let server = Server::start();
    let schema = std::fs::read_to_string(server.path("schemas/post.json")).expect("a file");
    let grown = schema.replacen(
        "\"properties\": {",
        "\"properties\": { \"subtit\": {\"type\": \"string\", \"description\": \"x\"},",
        1,
    );
    std::fs::write(server.path("schemas/post.json"), &grown).expect("a file");
    server.log_until("the old declarations stay in force");
    let options = server.ask("OPTIONS", "/cms/v2/posts", None, None);
    assert!(options.body["schema"]["properties"].get("subtit").is_none(), "tables follow only when that was asked for");
}
