//! Documents that follow from the declarations, as files: `UPDATE_EXPECT=1 cargo test` rewrites them, a review reads
//! what changed.

use super::server::{Server, stdout};
use expect_test::expect_file;

#[test]
fn the_route_table() {
    for prefix in ["cms", "wp"] {
        let table = stdout(&["routes", "--set", &format!("site.prefix={prefix}")], "");
        expect_file![format!("../../fixtures/golden/routes.{prefix}.txt")].assert_eq(&table);
    }
}

#[test]
fn options_documents() {
    let server = Server::start();
    for route in ["posts", "blocks", "categories", "settings", "search", "themes"] {
        let answer = server.ask("OPTIONS", &format!("/cms/v2/{route}"), None, None);
        assert_eq!(answer.status, 200);
        let text = serde_json::to_string_pretty(&answer.body).expect("JSON").replace(&server.site, "{site}");
        expect_file![format!("../../fixtures/golden/options.{route}.json")].assert_eq(&format!("{text}\n"));
    }
}
