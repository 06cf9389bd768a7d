//! The reader of a database dump: the site of a WordPress as mysqldump, mariadb-dump and phpMyAdmin write its tables.
//!
//! The dump is read once, as a stream, into a temporary file ([`stage`]); from there come the items that an export has, as often
//! as they are asked for, with what an export does not tell: settings, roles, hashes of passwords, redirects. Each part that
//! is not taken is counted. Values that PHP has serialised stay texts here.

mod accounts;
mod charset;
mod lexer;
mod records;
mod redirects;
mod site;
mod stage;
mod statements;
mod tables;
mod widgets;

pub(super) use self::charset::windows_1252;
use self::records::{ItemReader, RowValues};
use self::site::DumpSite;
pub use self::stage::DumpLimits;
use self::stage::StagedTables;
use self::tables::DumpVocabulary;
use super::items::{ExportItem, ExportSummary, FileFault, ReadError, SourcePart};
use crate::import::source::ZIP;
use cms_core::request::BYTE_ORDER_MARK;
use cms_storage::{StagedRead, StagedValue};
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// The first bytes of a file that gzip has packed.
pub(super) const PACKED: &[u8] = &[0x1f, 0x8b];

/// Bytes of the buffers that a dump is read through.
const BUFFER: usize = 1 << 18;

/// A packed file becomes at most so many times as long, once it is longer than [`ALWAYS`]. No dump of texts packs better.
const MOST_UNPACKED: u64 = 200;
const ALWAYS: u64 = 256 << 20;

/// See the module.
pub struct SqlDump {
    vocabulary: DumpVocabulary,
    staged: StagedTables,
    site: DumpSite,
    limits: DumpLimits,
}

impl SqlDump {
    /// Stages a dump of so many bytes, packed or not. `prefix` names the tables of the site where there are several.
    ///
    /// # Errors
    /// It is no dump, or cut short, or of several sites.
    pub fn stage(
        input: impl Read + 'static,
        length: u64,
        prefix: Option<&str>,
        limits: DumpLimits,
    ) -> Result<SqlDump, FileFault> {
        let fault = |message: String| FileFault { line: 0, message, hint: "" };
        let vocabulary = DumpVocabulary::shipped().map_err(fault)?;
        let input = unpacked(input, length).map_err(|error| fault(error.to_string()))?;
        let staged = stage::stage(input, limits, &vocabulary, prefix)?;
        let site = DumpSite::of(&staged, &vocabulary, prefix)?;
        Ok(SqlDump { vocabulary, staged, site, limits })
    }

    /// How many rows a reading goes through.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn length(&self) -> Result<u64, FileFault> {
        let mut length = 0;
        for name in ["users", "term_taxonomy", "posts"] {
            length += self.count(name)?;
        }
        Ok(length)
    }

    /// Passes each item of a part on, authors and terms first. `progress` gets the rows so far.
    ///
    /// # Errors
    /// The temporary file cannot be read, or the sink refuses.
    pub fn read<E>(
        &self,
        part: SourcePart,
        progress: impl FnMut(u64),
        each: impl FnMut(ExportItem) -> Result<(), E>,
    ) -> Result<ExportSummary, ReadError<E>> {
        let mut reader = ItemReader::new(self, part, progress, each);
        if part == SourcePart::Items {
            reader.accounts()?;
            reader.terms()?;
        }
        reader.records()?;
        Ok(reader.finish()?)
    }

    /// The name of a table in the dump, if it is there.
    fn table(&self, name: &str) -> Option<String> {
        let prefix = if self.vocabulary.is_shared(name) { &self.site.accounts } else { &self.site.prefix };
        self.staged.tables.contains(&(prefix.clone(), name.to_owned())).then(|| format!("{prefix}{name}"))
    }

    fn count(&self, name: &str) -> Result<u64, FileFault> {
        Ok(self.table(name).map_or(Ok(0), |table| self.staged.file.count(&table))?)
    }

    /// The rows of a table whose column has a number, as they came; none where the table is not there.
    fn rows(&self, name: &str, columns: &[&str], of: (&str, i64)) -> Result<Vec<Vec<StagedValue>>, FileFault> {
        let Some(table) = self.table(name) else { return Ok(Vec::new()) };
        let value = StagedValue::Int(of.1);
        let read = StagedRead { table: &table, columns, of: Some((of.0, &value)), order: of.0 };
        Ok(self.staged.file.all(&read)?)
    }

    /// The meta values of something: pairs of key and value.
    fn meta(&self, name: &str, of: (&str, i64)) -> Result<Vec<(String, String)>, FileFault> {
        let rows = self.rows(name, &["meta_key", "meta_value"], of)?;
        let pair = |row| {
            let mut row = RowValues::of(row);
            (row.text(), row.text())
        };
        Ok(rows.into_iter().map(pair).collect())
    }
}

/// A dump as it is read: unpacked, without a mark of its encoding.
fn unpacked(input: impl Read + 'static, length: u64) -> io::Result<BufReader<Box<dyn Read>>> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let packed = input.fill_buf()?.starts_with(PACKED);
    let input: Box<dyn Read> = match packed {
        true => {
            let left = ALWAYS.saturating_add(length.saturating_mul(MOST_UNPACKED));
            Box::new(UnpackedReader { input: MultiGzDecoder::new(input), left })
        }
        false => Box::new(input),
    };
    let mut input = BufReader::with_capacity(BUFFER, input);
    let begins = input.fill_buf()?;
    if begins.starts_with(&[0xff, 0xfe]) || begins.starts_with(&[0xfe, 0xff]) {
        let hint = "make it with --result-file=site.sql instead of >, or save it as UTF-8";
        return Err(io::Error::other(format!("the dump is in UTF-16 ({hint})")));
    }
    if packed && [ZIP, PACKED, b"<"].iter().any(|other| begins.starts_with(other)) {
        return Err(io::Error::other("no dump is in the packed file: unpack it, and name the file that is in it"));
    }
    let mark = if begins.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    input.consume(mark);
    Ok(input)
}

/// The content of a packed file, up to a length.
struct UnpackedReader<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for UnpackedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(format!(
                "the file unpacks to more than {MOST_UNPACKED} times its size: unpack it yourself"
            ))
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::charset::DumpCharset;
    use super::*;
    use crate::import::items::{ExportRecord, ImportedSetting};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::convert::Infallible;
    use std::io::{Cursor, Write as _};

    /// A site as mysqldump writes it, its tables in the order of their names.
    const SITE: &str = include_str!("../../../fixtures/site.sql");

    fn staged(dump: impl AsRef<[u8]>, prefix: Option<&str>) -> Result<SqlDump, FileFault> {
        let dump = dump.as_ref().to_vec();
        let length = dump.len() as u64;
        SqlDump::stage(Cursor::new(dump), length, prefix, DumpLimits { value: 4000, row: 8000 })
    }

    fn items(dump: &SqlDump) -> (Vec<ExportItem>, ExportSummary) {
        let (mut items, mut last) = (Vec::new(), 0);
        let summary = dump.read(
            SourcePart::Items,
            |rows| last = rows,
            |item| {
                items.push(item);
                Ok::<(), Infallible>(())
            },
        );
        assert_eq!(last, dump.length().expect("a number"));
        (items, summary.expect("the dump is sound"))
    }

    fn records(items: &[ExportItem]) -> Vec<&ExportRecord> {
        let mut records = Vec::new();
        for item in items {
            if let ExportItem::Record(record) = item {
                records.push(&**record);
            }
        }
        records
    }

    #[test]
    fn records_come_joined() {
        let (items, _) = items(&staged(SITE, None).expect("a dump"));
        let records = records(&items);
        assert_eq!(records.iter().map(|record| record.id).collect::<Vec<_>>(), [11, 12, 13]);
        let post = records[0];
        assert_eq!(post.content, "Line\r\nnext 🌊 \\ 'q' nul");
        assert_eq!((post.author_login.as_str(), post.sticky, post.password.as_str()), ("bo", true, "pass"));
        assert_eq!((post.date_local, post.date_utc), (Some(1_704_168_000), Some(1_704_164_400)));
        assert_eq!(post.modified_utc, Some(1_704_250_800));
        let meta: Vec<(&str, &str)> = post.meta.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(meta, [("mood", "calm"), ("list", "a:1:{i:0;s:2:\"é\";}"), ("blob", "My")]);
        let terms: Vec<&str> = post.terms.iter().map(|term| term.slug.as_str()).collect();
        assert_eq!(terms, ["tides", "spring"]);
        let comments: Vec<_> =
            post.comments.iter().map(|own| (own.id, own.parent, own.user_id, own.kind.as_str())).collect();
        assert_eq!(comments, [(21, 0, 2, "comment"), (22, 21, 0, "comment")]);
        assert_eq!((post.comments[0].content.as_str(), post.comments[0].agent.as_str()), ("It's \"good\"", "Firefox"));
        assert_eq!(post.comments[0].meta, [("rating".to_owned(), "5".to_owned())]);
        assert_eq!((records[1].parent, records[1].menu_order, records[1].date_utc), (11, 3, None));
        let address = "https://old.example/wp-content/uploads/2024/01/Tree é.jpg";
        assert_eq!(records[2].attachment_url.as_deref(), Some(address));
    }

    #[test]
    fn accounts_and_terms_come_first() {
        let (items, _) = items(&staged(SITE, None).expect("a dump"));
        let [ExportItem::Author(ada), ExportItem::Author(bo), ExportItem::Term(tides), ExportItem::Term(spring), ..] =
            &*items
        else {
            panic!("{items:?}");
        };
        assert_eq!((ada.id, ada.login.as_str(), ada.first_name.as_str()), (Some(1), "ada", "Ada"));
        let account = ada.account.as_deref().expect("an account");
        assert!(account.password_hash.starts_with("$P$") && account.roles == ["administrator"], "{account:?}");
        assert_eq!((account.slug.as_str(), account.registered, account.meta.len()), ("ada-a", Some(1_577_934_245), 0));
        let account = bo.account.as_deref().expect("an account");
        assert_eq!((account.roles.as_slice(), account.registered), (&["customer".to_owned()][..], None));
        assert_eq!(account.meta, [("shoe_size".to_owned(), "43".to_owned())]);
        assert_eq!((tides.id, tides.description.as_str(), tides.meta.len()), (Some(3), "Of <b>tides</b>", 1));
        assert_eq!((spring.name.as_str(), spring.parent_slug.as_str()), ("Spring &amp; neap", "tides"));
    }

    #[test]
    fn whatever_stays_out_is_counted() {
        let (_, summary) = items(&staged(SITE, None).expect("a dump"));
        let told: Vec<String> = summary.left_out.iter().map(|(what, count)| format!("{count} {what}")).collect();
        assert_eq!(
            told,
            [
                "1 comments of records that are left out or not there",
                "1 options: WordPress makes them again when they are gone",
                "1 options: no setting here has them",
                "1 records in the state auto-draft: nobody has saved them",
                "1 rights that single accounts have beside their roles",
                "2 rows of the table wp_links: nothing here is like it",
                "1 terms of category: they have no name",
                "1 terms of link_category: they belong to links, which are not taken",
                "1 values of accounts that are left out or not there",
                "1 values of accounts: sessions and passwords of programs end with the move",
                "1 values of accounts: they say how the screens of WordPress look",
                "1 values of comments that are left out or not there",
                "2 values of records that are left out or not there",
            ]
        );
        let warnings: Vec<String> = summary.warnings.lines().collect();
        let expected = [
            "line 19: a row of wp_postmeta is left out: its meta_key is missing",
            "line 20: NUL characters are left out of a text",
            "the record 13: soon is no date",
        ];
        assert_eq!(warnings, expected);
    }

    #[test]
    fn options_are_the_site() {
        let (_, summary) = items(&staged(SITE, None).expect("a dump"));
        let told = (summary.title.as_str(), summary.base_url.as_str(), summary.language.as_str());
        assert_eq!(told, ("The & harbour", "https://old.example", "de_DE"));
        let settings: Vec<(&str, ImportedSetting)> =
            summary.settings.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let expected = [
            ("default_category", ImportedSetting::Term(3)),
            ("page_on_front", ImportedSetting::Record(12)),
            ("timezone", ImportedSetting::Text("UTC+2".into())),
        ];
        assert_eq!(settings, expected);
        assert_eq!((summary.authors, summary.comments), (2, 2));
    }

    #[test]
    fn other_programs_and_prefixes_are_read_the_same() {
        let expected = items(&staged(SITE, None).expect("a dump")).0;
        let same = |dump: &[u8], prefix: Option<&str>| {
            let (read, summary) = items(&staged(dump, prefix).expect("a dump"));
            assert_eq!(read, expected, "{:?}", summary.left_out);
        };
        let prefixed = SITE.replace("`wp_", "`x7_").replace("'wp_", "'x7_");
        same(prefixed.as_bytes(), None);
        same(prefixed.as_bytes(), Some("x7_"));
        same(SITE.replace("INTO `wp_", "INTO wp_").replace("` VALUES", " VALUES").as_bytes(), None);
        same(&[BYTE_ORDER_MARK, SITE.as_bytes()].concat(), None);
        same(SITE.replace('\n', "\r\n").as_bytes(), None);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(SITE.as_bytes()).expect("memory");
        let packed = packed.finish().expect("memory");
        same(&packed, None);
        for length in [packed.len() / 2, packed.len() - 4] {
            let fault = staged(&packed[..length], None).err().expect("a fault").to_string();
            assert!(fault.contains("the packed file ends early"), "{fault}");
        }
        // phpMyAdmin names the columns, in whatever order.
        let named = "-- phpMyAdmin SQL Dump\nSET NAMES utf8mb4;\nINSERT INTO `wp_terms` (`slug`, `term_id`, `extra`, `name`) VALUES\n\
                     ('tides', 3, 1, 'Tides'),\n('spring', 4, 1, 'Spring &amp; neap'),\n('blogroll', 5, 0, 'Blogroll');\n";
        let begins = SITE.find("INSERT INTO `wp_terms`").expect("the table");
        let ends = begins + SITE[begins..].find(";\n").expect("the end");
        same([&SITE[..begins], named, &SITE[ends + 2..]].concat().as_bytes(), None);
    }

    #[test]
    fn dumps_in_latin_1_are_read() {
        let latin: Vec<u8> =
            "INSERT INTO wp_posts (ID,post_type,post_title) VALUES (1,'post','Gr\u{fc}\u{df}e \u{80}'),(2,'post','"
                .chars()
                .map(|letter| u8::try_from(u32::from(letter)).expect("a byte"))
                .collect();
        let dump = [b"SET NAMES latin1;\n", &*latin, "Grüße');".as_bytes()].concat();
        let (items, summary) = items(&staged(dump, None).expect("a dump"));
        let titles: Vec<&str> = records(&items).iter().map(|record| record.title.as_str()).collect();
        assert_eq!(titles, ["Grüße €", "Grüße"]);
        let warnings: Vec<String> = summary.warnings.lines().collect();
        assert_eq!(warnings, ["1 texts of the dump are in UTF-8, although it says latin1: they are read so"]);
    }

    /// A character whose second byte looks like a backslash hides no quote. Bytes that are written as digits are UTF-8.
    #[test]
    fn texts_of_dumps_in_other_character_sets() {
        for (charset, title) in [
            ("cp1251", "Привет"),
            ("latin2", "zażółć"),
            ("gbk", "縗'\\ 中文"),
            ("big5", "功許蓋"),
            ("sjis", "表示ソフト'ｱ"),
            ("ujis", "日本語"),
            ("euckr", "한국어"),
        ] {
            let DumpCharset::Other(encoding) = DumpCharset::named(charset, 1).expect("it is known") else {
                panic!("{charset}")
            };
            let escaped = title.replace('\\', "\\\\").replace('\'', "\\'");
            // As MySQL's client writes it, which knows what one character is.
            let (bytes, _, unknown) = encoding.encode(&escaped);
            assert!(!unknown, "{charset} has {title}");
            let begin =
                format!("SET NAMES {charset};\nINSERT INTO wp_posts (ID,post_type,post_title) VALUES (1,'post','");
            let end = b"'),(2,'post',0x476EC3BC);";
            let dump = [begin.as_bytes(), &bytes, end].concat();
            let (items, summary) = items(&staged(dump, None).expect("a dump"));
            let titles: Vec<&str> = records(&items).iter().map(|record| record.title.as_str()).collect();
            assert_eq!(titles, [title, "Gnü"], "{charset}");
            assert_eq!(summary.warnings.lines().count(), 0, "{charset}");
        }
    }

    #[test]
    fn faults_name_their_place() {
        let post = "INSERT INTO wp_posts (ID,post_type) VALUES (1,'post');\n";
        let two = [post, &post.replace("wp_", "wp_2_")].concat();
        let table: [(&str, Option<&str>, &str); 12] = [
            ("SELECT 1;", None, "this is no dump of a WordPress database"),
            (&two, None, "the dump has several sites, whose tables begin with `wp_`, `wp_2_`"),
            (&two, Some("wp_3_"), "the dump has no rows of a table wp_3_posts"),
            (post, Some("x_"), "the dump has no rows of a table x_posts"),
            ("\nINSERT INTO wp_posts (post_type) VALUES ('x');", None, "line 2: the table wp_posts has no column ID"),
            (
                "INSERT INTO wp_posts (ID,post_type) VALUES (1);",
                None,
                "line 1: a row of wp_posts has 1 values for 2 columns",
            ),
            ("INSERT INTO wp_posts VALUES (1,'x');", None, "line 1: a row of wp_posts has 2 values for 23 columns"),
            ("SET NAMES keybcs2;", None, "line 1: the character set keybcs2 is not read"),
            (
                "CREATE TABLE wp_posts (ID int);\nCREATE TABLE wp_posts (ID int);",
                None,
                "line 2: the table wp_posts is made a second",
            ),
            ("INSERT INTO wp_posts (ID,post_type) VALUES (1,'po", None, "line 1: the dump ends inside the text"),
            ("INSERT INTO wp_yoast VALUES (1,'po'),(2", None, "line 1: the dump ends inside a statement"),
            ("\u{feff}", None, "this is no dump of a WordPress database"),
        ];
        for (dump, prefix, expected) in table {
            let fault = staged(dump, prefix).err().expect(dump).to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
        let fault = staged(b"\xff\xfe-\0-\0", None).err().expect("a fault").to_string();
        assert!(fault.starts_with("the dump is in UTF-16"), "{fault}");
    }

    #[test]
    fn rows_that_are_none_are_left_out_and_told() {
        let long = "x".repeat(5000);
        let half = "x".repeat(3000);
        let dump = format!(
            "INSERT INTO wp_posts (ID,post_type,post_content,post_parent) VALUES (1,'post','a',''),\n(2,'post','{long}',0),\n\
             (99999999999999999999,'post','',0),(NULL,'post','',0);\nINSERT INTO wp_postmeta VALUES (1,1,'a','{half}'),\n\
             (2,1,'b','{half}'),(3,1,'c','{half}');\nINSERT INTO wp_posts (ID,post_type,post_title) VALUES (4,'post','Four');\n"
        );
        let (items, summary) = items(&staged(dump, None).expect("a dump"));
        let ids: Vec<i64> = records(&items).iter().map(|record| record.id).collect();
        assert_eq!(ids, [4]);
        let warnings: Vec<String> = summary.warnings.lines().collect();
        assert_eq!(
            warnings,
            [
                "line 2: a row of wp_posts is left out: its post_content is longer than may be",
                "line 3: a row of wp_posts is left out: its ID is no number that an id can be",
                "line 3: a row of wp_posts is left out: its ID is missing",
                "the record 1 is left out: with its values it has more than 8000 bytes",
            ]
        );
    }

    #[test]
    fn a_network_gives_the_site_that_is_named() {
        let of = |prefix: &str| {
            format!(
                "INSERT INTO {prefix}posts (ID,post_type,post_author) VALUES (1,'post',3);\nINSERT INTO {prefix}options VALUES \
                 (1,'siteurl','https://{prefix}.example','yes');\nINSERT INTO {prefix}postmeta VALUES (1,1,'_wp_attached_file','a');\n"
            )
        };
        let accounts = "INSERT INTO n_users (ID,user_login) VALUES (1,'both'),(2,'other'),(3,'owner');\nINSERT INTO n_usermeta VALUES \
                        (1,1,'n_2_capabilities','a:1:{s:6:\"editor\";b:1;}'),(2,1,'n_capabilities','a:1:{s:6:\"author\";b:1;}'),\
                        (3,2,'n_capabilities','a:1:{s:6:\"author\";b:1;}');\n";
        let dump = [&of("n_"), &of("n_2_"), &of("n_11_"), accounts].concat();
        let network = staged(&dump, Some("n_2_")).expect("a dump");
        let (items, summary) = items(&network);
        let logins: Vec<(&str, Vec<&str>)> = items
            .iter()
            .filter_map(|item| match item {
                ExportItem::Author(author) => {
                    let roles = author.account.iter().flat_map(|account| &account.roles).map(String::as_str);
                    Some((author.login.as_str(), roles.collect()))
                }
                ExportItem::Term(_) | ExportItem::Record(_) => None,
            })
            .collect();
        assert_eq!(logins, [("both", vec!["editor"]), ("owner", vec![])]);
        assert_eq!(records(&items)[0].author_login, "owner");
        assert_eq!(network.site.uploads, "https://n_2_.example/wp-content/uploads/sites/2");
        assert_eq!(summary.left_out["accounts of other sites of the network"], 1);
        assert_eq!(summary.left_out["rows of the table n_11_posts: it is not of this site"], 1);
        let first = staged(&dump, Some("n_")).expect("a dump");
        assert_eq!(first.site.uploads, "https://n_.example/wp-content/uploads");
    }

    #[test]
    fn redirects_of_the_plugin_are_taken_as_far_as_ours_are_like_them() {
        let columns = "id,url,regex,status,action_type,action_code,action_data,match_type,title";
        let dump = format!(
            "INSERT INTO wp_posts (ID,post_type) VALUES (1,'post');\nINSERT INTO wp_redirection_items ({columns}) VALUES \
             (1,'/old/',0,'enabled','url',301,'/new/','url','Moved'),(2,'/gone',0,'disabled','error',410,'','url',NULL),\
             (3,'/a(.*)',1,'enabled','url',301,'/b','url',''),(4,'/r',0,'enabled','random',301,'','url',''),\
             (5,'/l',0,'enabled','url',301,'/x','login','');"
        );
        let (_, summary) = items(&staged(dump, None).expect("a dump"));
        let told: Vec<String> = summary.redirects.iter().map(|own| format!("{own:?}")).collect();
        assert_eq!(
            told,
            [
                r#"{"enabled": "true", "from": "/old/", "note": "Moved", "status": "301", "to": "/new/"}"#,
                r#"{"enabled": "false", "from": "/gone", "note": "", "status": "410", "to": ""}"#,
            ]
        );
        assert_eq!(summary.left_out["redirects: they are regular expressions, or have conditions"], 2);
        assert_eq!(summary.left_out["redirects: they do something else than to lead to an address"], 1);
    }
}
