//! Tests say here that they are left out because something is missing.

use std::io::Write as _;

/// The reason of tests that need a PostgreSQL server.
pub const SERVER: &str = "CMS_TEST_POSTGRES names no server";

/// Says so past the capture of output, so that `.ci/run` counts and names it. With `CI_STRICT=1` the test fails; but where
/// `CMS_TEST_POSTGRES` is there and empty, another lane runs it with a server.
pub fn left_out(missing: &str) {
    let test = std::thread::current().name().unwrap_or("main").to_owned();
    // In one piece, since tests run beside each other.
    let _ = std::io::stderr().write_all(format!("left out: {test}: {missing}\n").as_bytes());
    let elsewhere = missing == SERVER && std::env::var_os("CMS_TEST_POSTGRES").is_some();
    let strict = std::env::var("CI_STRICT").is_ok_and(|strict| strict == "1");
    assert!(elsewhere || !strict, "{missing}, and CI_STRICT=1");
}
