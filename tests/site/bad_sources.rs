//! Sources of an import that are cut, hostile, or odd. Each is refused whole, with its place and what to do, or comes in, and
//! the report has whatever is not as it was.

use super::dumps::{counts, imported, with};
use super::moves::{export, item};
use super::server::Server;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write as _;

/// Whether a source comes in, and what is told of it.
enum SourceOutcome {
    Refused(&'static str),
    Taken(&'static [&'static str]),
}

use SourceOutcome::{Refused, Taken};

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(content).expect("memory");
    packed.finish().expect("memory")
}

/// A dump with the rows of a statement for `wp_posts`, its columns and its values.
fn posts(columns: &str, rows: &str) -> Vec<u8> {
    with(&format!("INSERT INTO `wp_posts` ({columns}) VALUES {rows};\n")).into_bytes()
}

fn replaced(text: &str, from: &str, to: &[u8]) -> Vec<u8> {
    let (before, after) = text.split_once(from).expect("the mark");
    [before.as_bytes(), to, after.as_bytes()].concat()
}

/// Sources with the names of their files.
fn sources() -> Vec<(&'static str, Vec<u8>, SourceOutcome)> {
    const POST: &str = "ID,post_type,post_status,post_title,post_name";
    let whole = with("");
    let cut = |content: &[u8]| content[..content.len() - content.len() / 3].to_vec();
    let export = |items: &[String]| export("", &items.concat());
    let post = |more: &str| export(&[item(801, "post", more)]);
    let child = |id: i64, above: i64| item(id, "page", &format!("<wp:post_parent>{above}</wp:post_parent>"));
    let large = "x".repeat(100 << 20);
    let objects = "'O:8:\"stdClass\":1:{s:1:\"a\";R:1;}'),(71,11,'b','C:3:\"Bad\":2:{{}}'),(72,11,'deep','";
    let deep = "a:1:{i:0;".repeat(100_000);
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(b"INSERT INTO wp_posts (ID,post_type) VALUES (1,'").expect("memory");
    (0..4).for_each(|_| bomb.write_all(large.as_bytes()).expect("memory"));
    vec![
        ("cut.sql", cut(whole.as_bytes()), Refused("the dump ends inside the text that begins in line")),
        ("cut.sql.gz", cut(&packed(whole.as_bytes())), Refused("the packed file ends early")),
        ("cut.xml", cut(post("").as_bytes()), Refused("the file looks cut short or damaged: export it again")),
        (
            "two.sql",
            [&*whole, &whole.replace("`wp_", "`wp_2_")].concat().into(),
            Refused("name the one to take: --table-prefix"),
        ),
        (
            "no-ids.sql",
            posts("post_title,post_type", "('T','post')"),
            Refused("line 27: the table wp_posts has no column ID"),
        ),
        (
            "other-width.sql",
            with("INSERT INTO `wp_terms` VALUES (9,'T','t',0,1,2);\n").into(),
            Refused("line 27: a row of wp_terms has 6 values for 4 columns"),
        ),
        (
            "more-columns.sql",
            posts(&format!("extra,{POST}"), "(1,71,'post','publish','T','t')"),
            Taken(&["       2 post publish"]),
        ),
        (
            "long-value.sql",
            posts(POST, &format!("(71,'post','publish','{large}','t'),(72,'post','publish','T','u')")),
            Taken(&[
                "       2 post publish",
                "line 27: a row of wp_posts is left out: its post_title is longer than may be",
            ]),
        ),
        (
            "long-value.xml",
            post(&format!("<content:encoded>{large}</content:encoded>")).into(),
            Refused("line 7: a text is longer than 67108864 bytes"),
        ),
        (
            "other-bytes.sql",
            replaced(&with("INSERT INTO `wp_terms` VALUES (9,'MARK','t',0);\n"), "MARK", b"Gr\xfc\xdfe"),
            Taken(&["line 27: bytes of a text that are no characters are replaced by \u{fffd}"]),
        ),
        (
            "other-bytes.xml",
            replaced(&post("MARK"), "MARK", b"\xfc"),
            Refused("line 7: the text is not UTF-8 (save the file as UTF-8"),
        ),
        (
            "encoded-twice.xml",
            post("<content:encoded>GrÃ¼ÃŸe</content:encoded>").into(),
            Taken(&["1 texts were encoded twice: --mend-encoding mends them: the record 801: GrÃ¼ÃŸe was Grüße"]),
        ),
        (
            "objects.sql",
            with(&format!("INSERT INTO `wp_postmeta` VALUES (70,11,'a',{objects}{deep}');\n")).into(),
            Taken(&["stored and not shown: a (1), b (1)", "deep (1)"]),
        ),
        (
            "cycles.xml",
            export(&[child(801, 802), child(802, 801), child(803, 803)]).into(),
            Taken(&["       3 page publish"]),
        ),
        (
            "gone.xml",
            export(&[child(801, 806), child(802, 807)]).into(),
            Taken(&["       2 records are not there, and what pointed to them points to nothing: 806, 807"]),
        ),
        (
            "large-ids.xml",
            export(&[item((1 << 53) + 1, "post", ""), item(i64::MAX, "post", ""), child(803, i64::MAX)]).into(),
            Taken(&[
                "record 9007199254740993 is too large for programs that read JSON, and became 804",
                "9223372036854775807 is too large for programs that read JSON, and became 805; what pointed to it follows",
            ]),
        ),
        (
            "no-number.xml",
            post("").replace("<wp:post_id>801<", "<wp:post_id>99999999999999999999<").into(),
            Taken(&["99999999999999999999"]),
        ),
        (
            "archive.sql",
            b"PK\x03\x04 and more".to_vec(),
            Refused("this is a ZIP archive: unpack it, and name the file"),
        ),
        ("archive.sql.gz", packed(b"PK\x03\x04 and more"), Refused("no dump is in the packed file: unpack it")),
        ("packed.xml.gz", packed(post("").as_bytes()), Refused("no dump is in the packed file: unpack it")),
        ("twice.sql.gz", packed(&packed(whole.as_bytes())), Refused("no dump is in the packed file: unpack it")),
        ("bomb.sql.gz", bomb.finish().expect("memory"), Refused("the file unpacks to more than 200 times its size")),
    ]
}

#[test]
fn a_bad_source_is_refused_whole_or_comes_in_and_is_told() {
    let empty = Server::with(&["site.prefix=wp"]);
    for (file, content, expected) in sources() {
        match expected {
            Refused(why) => {
                let before = counts(&empty);
                let output = imported(&empty, file, &content, &[]);
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.code() == Some(1) && error.contains(why), "{file}: {error}");
                assert_eq!(counts(&empty), before, "{file}");
            }
            Taken(told) => {
                let server = Server::with(&["site.prefix=wp"]);
                let output = imported(&server, file, &content, &[]);
                let (report, error) =
                    (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                assert!(output.status.success(), "{file}: {error}");
                told.iter().for_each(|told| assert!(report.contains(told), "{file}, {told}: {report}"));
                for list in ["posts", "pages", "categories", "comments"] {
                    let shown = server.admin("GET", &format!("/wp/v2/{list}?per_page=100&_embed=1&context=edit"), None);
                    assert_eq!(shown.status, 200, "{file}, {list}: {}", shown.text);
                }
                let made = server.admin("POST", "/wp/v2/posts", Some(&json!({"title": "Next", "status": "publish"})));
                assert_eq!(made.status, 201, "{file}: {}", made.text);
            }
        }
    }
}
