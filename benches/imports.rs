//! A made dump of a database is imported: `cargo bench --bench imports`. `BENCH_RECORDS=100000` is a dump of one gigabyte.
//!
//! Each record has some ten thousand bytes of text in blocks, five meta values, two terms and two comments, of two hundred
//! authors; every tenth one is a page below another. The table shows the seconds of three runs over the dump: the look at
//! it (`--propose`), the import into an empty site, and the second import, which brings nothing; each with the most memory that
//! the program has held at once. The dump, the site and what is staged are in a temporary folder (`TMPDIR`), which needs
//! four times the room of the dump.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const AUTHORS: usize = 200;
const TERMS: usize = 500;

/// Bytes of a record's text.
const TEXT: usize = 9800;

/// Between two looks at the memory of the program.
const PAUSE: Duration = Duration::from_millis(20);

fn main() -> io::Result<()> {
    let records = std::env::var("BENCH_RECORDS").ok().map_or(2000, |n| n.parse().expect("a number"));
    let folder = tempfile::TempDir::new()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let begun = Instant::now();
    dump(&folder.path().join("site.sql"), records)?;
    let bytes = folder.path().join("site.sql").metadata()?.len();
    println!("{records} records, {} MB, made in {:.1} s", bytes >> 20, begun.elapsed().as_secs_f64());
    run(folder.path(), &["init", "site"]);
    let (site, config, database) =
        (path("site"), path("site/routes.toml"), format!("storage.url=sqlite:{}", path("site.db")));
    let import = ["--config", &config, "--set", "site.prefix=wp", "--set", &database, "import", "site.sql"];
    println!("{:>14} {:>9} {:>9}", "", "seconds", "MB most");
    for (what, args) in
        [("propose", &["import", "site.sql", "--propose", &site][..]), ("import", &import), ("import again", &import)]
    {
        let (took, most, report) = run(folder.path(), args);
        println!("{what:>14} {:>9.1} {:>9}", took.as_secs_f64(), most >> 10);
        let posts = records - records / 10;
        assert!(what != "import" || report.contains(&format!("{posts:>8} post publish")), "{report}");
        assert!(what != "import again" || report.contains("       0 comments"), "{report}");
    }
    Ok(())
}

/// Runs the program to its end: how long it took, the most memory that it held in KB, and what it printed.
fn run(folder: &Path, args: &[&str]) -> (Duration, u64, String) {
    let begun = Instant::now();
    let report = folder.join("report");
    let into = File::create(&report).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cms-server"));
    let spawned = command.args(args).current_dir(folder).env("TMPDIR", folder).stdout(into).stderr(Stdio::inherit());
    let mut child = spawned.spawn().expect("the program");
    let mut most = 0;
    let status = loop {
        most = most.max(memory(&child));
        if let Some(status) = child.try_wait().expect("a state") {
            break status;
        }
        thread::sleep(PAUSE);
    };
    let took = begun.elapsed();
    let report = std::fs::read_to_string(report).expect("a report");
    assert!(status.success(), "{args:?}: {report}");
    (took, most, report)
}

/// The most memory in KB that a program has held until now; 0 where the system does not say.
fn memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    most.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Writes a dump as `mysqldump` does: rows of a table in statements of about a megabyte.
fn dump(file: &Path, records: usize) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    writeln!(out, "-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\nSET NAMES utf8mb4;")?;
    table(&mut out, "wp_options (option_name,option_value)", 4, |n| {
        let options = [
            ("home", "https://old.example"),
            ("siteurl", "https://old.example"),
            ("blogname", "The harbour"),
            ("x", "y"),
        ];
        format!("('{}','{}')", options[n].0, options[n].1)
    })?;
    table(&mut out, "wp_users (ID,user_login,user_email)", AUTHORS, |n| {
        format!("({},'user{n}','user{n}@x.example')", n + 1)
    })?;
    table(&mut out, "wp_terms", TERMS, |n| format!("({},'Term {n}','term-{n}',0)", n + 1))?;
    table(&mut out, "wp_term_taxonomy", TERMS, |n| {
        let taxonomy = if n % 2 == 0 { "category" } else { "post_tag" };
        format!("({0},{0},'{taxonomy}','Of {n}',0,0)", n + 1)
    })?;
    let columns = "wp_posts (ID,post_author,post_date,post_date_gmt,post_content,post_title,post_status,comment_status,\
        ping_status,post_name,post_modified,post_modified_gmt,post_parent,post_type)";
    table(&mut out, columns, records, |n| {
        let (kind, above) = if n % 10 == 9 { ("page", if n > 20 { n - 9 } else { 0 }) } else { ("post", 0) };
        let date = format!("2020-{:02}-{:02} 03:04:05", n % 12 + 1, n % 28 + 1);
        format!(
            "({},{},'{date}','{date}','{}','Record {n}','publish','open','open','record-{n}','{date}','{date}',{above},'{kind}')",
            n + 1,
            n % AUTHORS + 1,
            text(n)
        )
    })?;
    table(&mut out, "wp_postmeta (post_id,meta_key,meta_value)", records * 5, |n| {
        let (record, value) = (n / 5 + 1, n / 7);
        match n % 5 {
            0 => format!("({record},'pages','{value}')"),
            1 => format!("({record},'mood','calm {value}')"),
            2 => format!("({record},'tones','a:2:{{i:0;s:1:\\\"a\\\";i:1;i:{value};}}')"),
            3 => format!("({record},'_edit_last','1')"),
            _ => format!("({record},'_wp_old_slug','old-{value}')"),
        }
    })?;
    table(&mut out, "wp_term_relationships", records * 2, |n| format!("({},{},0)", n / 2 + 1, (n * 7) % TERMS + 1))?;
    let columns = "wp_comments (comment_ID,comment_post_ID,comment_author,comment_content,comment_date,comment_date_gmt,\
        comment_approved,comment_parent)";
    table(&mut out, columns, records * 2, |n| {
        let above = if n % 2 == 1 { n } else { 0 };
        let date = "2020-01-02 03:04:05";
        format!("({},{},'Ann','It\\'s good, says {n}','{date}','{date}','1',{above})", n + 1, n / 2 + 1)
    })?;
    writeln!(out, "-- Dump completed on 2026-01-02  3:04:05")?;
    out.flush()
}

/// Writes the rows of a table.
fn table(out: &mut impl Write, table: &str, rows: usize, row: impl Fn(usize) -> String) -> io::Result<()> {
    let mut length = 0;
    for n in 0..rows {
        let row = row(n);
        match length {
            0 => write!(out, "INSERT INTO {table} VALUES {row}")?,
            _ => write!(out, ",{row}")?,
        }
        length += row.len();
        if length > 1 << 20 || n + 1 == rows {
            writeln!(out, ";")?;
            length = 0;
        }
    }
    Ok(())
}

/// The text of a record: blocks with a picture of the site between them.
fn text(record: usize) -> String {
    const WORDS: [&str; 12] =
        ["tide", "harbour", "boat", "quay", "evening", "Wäsche", "light", "rope", "north", "gull", "sail", "water"];
    let mut text = String::with_capacity(TEXT + 400);
    let mut word = record;
    while text.len() < TEXT {
        text.push_str("<!-- wp:paragraph --><p>");
        for _ in 0..60 {
            word = word.wrapping_mul(2_654_435_761).wrapping_add(12_345) % (1 << 31);
            text.push_str(WORDS[(word >> 8) % WORDS.len()]);
            text.push(' ');
        }
        text.push_str("</p><!-- /wp:paragraph -->\\r\\n");
        text.push_str("<img src=\\\"https://old.example/wp-content/uploads/2020/01/tree.jpg\\\" alt=\\\"\\\" />");
    }
    text
}
