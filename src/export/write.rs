//! Writes WXR 1.2, the export format of WordPress, with the vocabulary that [`crate::import::wxr`] reads.

use crate::import::items::{Author, Comment, ExportItem, ExportRecord, Term};
use cms_text::dates::format_php_date;
use cms_text::time::format_local;
use cms_text::xml::writable;
use quick_xml::Writer;
use quick_xml::events::{BytesCData, BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io;

/// The date that stands for none.
const ZERO: &str = "0000-00-00 00:00:00";

/// The vocabularies of the format.
const VOCABULARIES: [(&str, &str); 5] = [
    ("xmlns:excerpt", "http://wordpress.org/export/1.2/excerpt/"),
    ("xmlns:content", "http://purl.org/rss/1.0/modules/content/"),
    ("xmlns:wfw", "http://wellformedweb.org/CommentAPI/"),
    ("xmlns:dc", "http://purl.org/dc/elements/1.1/"),
    ("xmlns:wp", "http://wordpress.org/export/1.2/"),
];

/// Facts about the site.
pub struct ExportedSite {
    pub title: String,
    pub description: String,
    /// As feeds write it: `en-US`.
    pub language: String,
    pub url: String,
}

/// A file that is being written.
pub struct WxrWriter<W: io::Write>(Writer<W>);

impl WxrWriter<Vec<u8>> {
    /// Goes on with a file that was begun: as [`WxrWriter::begin`], whose text is in another piece.
    ///
    /// # Errors
    /// See above.
    pub fn go_on(site: &ExportedSite) -> io::Result<WxrWriter<Vec<u8>>> {
        let mut begun = WxrWriter::begin(Vec::new(), site)?;
        begun.0.get_mut().clear();
        Ok(begun)
    }
}

impl<W: io::Write> WxrWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the output, here and below.
    pub fn begin(out: W, site: &ExportedSite) -> io::Result<WxrWriter<W>> {
        let mut this = WxrWriter(Writer::new_with_indent(out, b'\t', 1));
        this.event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let attributes = std::iter::once(("version", "2.0")).chain(VOCABULARIES);
        this.event(Event::Start(BytesStart::new("rss").with_attributes(attributes)))?;
        this.start("channel")?;
        this.plain("title", &site.title)?;
        this.plain("link", &site.url)?;
        this.plain("description", &site.description)?;
        this.plain("language", &site.language)?;
        this.plain("wp:wxr_version", "1.2")?;
        this.plain("wp:base_site_url", &site.url)?;
        this.plain("wp:base_blog_url", &site.url)?;
        Ok(this)
    }

    /// Where it is written.
    pub fn output(&self) -> &W {
        self.0.get_ref()
    }

    /// Ends the file.
    pub fn end(mut self) -> io::Result<W> {
        self.close("channel")?;
        self.close("rss")?;
        Ok(self.0.into_inner())
    }

    /// Ends a piece, after which the file goes on.
    pub fn into_output(self) -> W {
        self.0.into_inner()
    }

    pub fn item(&mut self, item: &ExportItem) -> io::Result<()> {
        match item {
            ExportItem::Author(author) => self.author(author),
            ExportItem::Term(term) => self.term(term),
            ExportItem::Record(record) => self.record(record),
        }
    }

    fn author(&mut self, author: &Author) -> io::Result<()> {
        self.start("wp:author")?;
        self.number("wp:author_id", author.id.unwrap_or(0))?;
        self.text("wp:author_login", &author.login)?;
        self.text("wp:author_email", &author.email)?;
        self.text("wp:author_display_name", &author.display_name)?;
        self.text("wp:author_first_name", &author.first_name)?;
        self.text("wp:author_last_name", &author.last_name)?;
        self.close("wp:author")
    }

    fn term(&mut self, term: &Term) -> io::Result<()> {
        let (element, slug, name, description) = match term.taxonomy.as_str() {
            "category" => ("wp:category", "wp:category_nicename", "wp:cat_name", "wp:category_description"),
            "post_tag" => ("wp:tag", "wp:tag_slug", "wp:tag_name", "wp:tag_description"),
            _ => ("wp:term", "wp:term_slug", "wp:term_name", "wp:term_description"),
        };
        self.start(element)?;
        self.number("wp:term_id", term.id.unwrap_or(0))?;
        if element == "wp:term" {
            self.text("wp:term_taxonomy", &term.taxonomy)?;
        }
        self.text(slug, &term.slug)?;
        match element {
            "wp:category" => self.text("wp:category_parent", &term.parent_slug)?,
            "wp:term" => self.text("wp:term_parent", &term.parent_slug)?,
            _ => {}
        }
        self.text(name, &term.name)?;
        if !term.description.is_empty() {
            self.text(description, &term.description)?;
        }
        self.meta("wp:termmeta", &term.meta)?;
        self.close(element)
    }

    fn record(&mut self, record: &ExportRecord) -> io::Result<()> {
        self.start("item")?;
        self.text("title", &record.title)?;
        self.plain("link", &record.link)?;
        let published = record.date_utc.or(record.date_local).unwrap_or(0);
        self.plain("pubDate", &format_php_date(published, "D, d M Y H:i:s +0000", "en"))?;
        self.text("dc:creator", &record.author_login)?;
        self.with("guid", [("isPermaLink", "false")], Event::Text(BytesText::new(&writable(&record.guid))))?;
        self.plain("description", "")?;
        self.text("content:encoded", &record.content)?;
        self.text("excerpt:encoded", &record.excerpt)?;
        self.number("wp:post_id", record.id)?;
        self.date("wp:post_date", record.date_local)?;
        self.date("wp:post_date_gmt", record.date_utc)?;
        self.date("wp:post_modified", record.modified_local)?;
        self.date("wp:post_modified_gmt", record.modified_utc)?;
        self.text("wp:comment_status", &record.comment_status)?;
        self.text("wp:ping_status", &record.ping_status)?;
        self.text("wp:post_name", &record.slug)?;
        self.text("wp:status", &record.status)?;
        self.number("wp:post_parent", record.parent)?;
        self.number("wp:menu_order", record.menu_order)?;
        self.text("wp:post_type", &record.kind)?;
        self.text("wp:post_password", &record.password)?;
        self.number("wp:is_sticky", i64::from(record.sticky))?;
        if let Some(url) = &record.attachment_url {
            self.text("wp:attachment_url", url)?;
        }
        for term in &record.terms {
            let attributes = [("domain", &*term.taxonomy), ("nicename", &*term.slug)];
            self.event(Event::Start(BytesStart::new("category").with_attributes(attributes)))?;
            self.cdata(&term.name)?;
            self.close("category")?;
        }
        self.meta("wp:postmeta", &record.meta)?;
        for comment in &record.comments {
            self.comment(comment)?;
        }
        self.close("item")
    }

    fn comment(&mut self, comment: &Comment) -> io::Result<()> {
        self.start("wp:comment")?;
        self.number("wp:comment_id", comment.id)?;
        self.text("wp:comment_author", &comment.author)?;
        self.text("wp:comment_author_email", &comment.email)?;
        self.plain("wp:comment_author_url", &comment.url)?;
        self.text("wp:comment_author_IP", &comment.ip)?;
        self.date("wp:comment_date", comment.date_local)?;
        self.date("wp:comment_date_gmt", comment.date_utc)?;
        self.text("wp:comment_content", &comment.content)?;
        self.text("wp:comment_approved", &comment.approved)?;
        self.text("wp:comment_type", &comment.kind)?;
        self.number("wp:comment_parent", comment.parent)?;
        self.number("wp:comment_user_id", comment.user_id)?;
        self.meta("wp:commentmeta", &comment.meta)?;
        self.close("wp:comment")
    }

    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.0.write_event(event)
    }

    fn start(&mut self, name: &str) -> io::Result<()> {
        self.event(Event::Start(BytesStart::new(name)))
    }

    fn close(&mut self, name: &str) -> io::Result<()> {
        self.event(Event::End(BytesEnd::new(name)))
    }

    fn with<'t>(
        &mut self,
        name: &str,
        attributes: impl IntoIterator<Item = (&'t str, &'t str)>,
        inside: Event<'_>,
    ) -> io::Result<()> {
        self.event(Event::Start(BytesStart::new(name).with_attributes(attributes)))?;
        self.event(inside)?;
        self.close(name)
    }

    /// A text in CDATA sections: more than one where it has the mark that ends one. Carriage returns are references beside
    /// them: as characters, whoever reads XML takes them for a part of line ends.
    fn cdata(&mut self, text: &str) -> io::Result<()> {
        for (place, text) in writable(text).split('\r').enumerate() {
            if place > 0 {
                self.event(Event::Text(BytesText::from_escaped("&#13;")))?;
            }
            BytesCData::escaped(text).try_for_each(|section| self.event(Event::CData(section)))?;
        }
        Ok(())
    }

    fn text(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.start(name)?;
        self.cdata(text)?;
        self.close(name)
    }

    fn plain(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.with(name, [], Event::Text(BytesText::new(&writable(text))))
    }

    fn number(&mut self, name: &str, number: i64) -> io::Result<()> {
        self.plain(name, &number.to_string())
    }

    fn date(&mut self, name: &str, seconds: Option<i64>) -> io::Result<()> {
        let text = seconds.map_or_else(|| ZERO.to_owned(), |seconds| format_local(seconds).replace('T', " "));
        self.text(name, &text)
    }

    fn meta(&mut self, name: &str, values: &[(String, String)]) -> io::Result<()> {
        for (key, value) in values {
            self.start(name)?;
            self.text("wp:meta_key", key)?;
            self.text("wp:meta_value", value)?;
            self.close(name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::items::{ExportSummary, TermRef};
    use crate::import::wxr::{self, WxrLimits};
    use proptest::prelude::*;

    fn read(text: &str) -> (Vec<ExportItem>, ExportSummary) {
        let mut items = Vec::new();
        let each = |item| {
            items.push(item);
            Ok::<(), std::convert::Infallible>(())
        };
        let summary = wxr::read(text.as_bytes(), &WxrLimits::default(), |_| {}, each).expect("an export");
        (items, summary)
    }

    fn whole(items: &[ExportItem]) -> String {
        let mut out = Vec::new();
        let site = ExportedSite {
            title: "A & B".into(),
            description: "<x>".into(),
            language: "en-GB".into(),
            url: "https://a.example/?x=1&y=2".into(),
        };
        let mut writer = WxrWriter::begin(&mut out, &site).expect("memory");
        items.iter().for_each(|item| writer.item(item).expect("memory"));
        writer.end().expect("memory");
        String::from_utf8(out).expect("text")
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(text in "(\\PC|[\\]\\[<>&\n\t]|\\]\\]>){0,40}", number in 1..1_000_000_i64) {
            let text = text.trim().to_owned();
            let word = "a-word".to_owned();
            let meta = vec![("key".to_owned(), text.clone()), ("key".to_owned(), "a:1:{i:0;s:1:\"x\";}".to_owned())];
            let items = [
                ExportItem::Author(Author { id: Some(number), login: word.clone(), display_name: text.clone(), ..Author::default() }),
                ExportItem::Term(Term { id: Some(number), taxonomy: "genre".into(), slug: word.clone(), name: format!("n{text}"),
                    description: text.clone(), meta: meta.clone(), ..Term::default() }),
                ExportItem::Record(Box::new(ExportRecord {
                    id: number, title: text.clone(), content: text.clone(), excerpt: text.clone(), guid: "https://a.example/?p=1".into(),
                    link: "https://a.example/a/".into(), date_local: Some(number), date_utc: Some(number + 3600), modified_local: Some(number),
                    modified_utc: Some(number), author_login: word.clone(), slug: word.clone(), status: "publish".into(), kind: "post".into(),
                    password: word.clone(), sticky: true, comment_status: "open".into(), ping_status: "closed".into(),
                    terms: vec![TermRef { taxonomy: "genre".into(), slug: word.clone(), name: format!("n{text}") }], meta,
                    comments: vec![Comment { id: number, author: word.clone(), content: format!("c{text}"), date_local: Some(1), date_utc: Some(1),
                        approved: "1".into(), kind: "comment".into(), ..Comment::default() }],
                    ..ExportRecord::default()
                })),
            ];
            let (mut found, summary) = read(&whole(&items));
            prop_assert_eq!(summary.base_url.as_str(), "https://a.example/?x=1&y=2");
            prop_assert!(summary.warnings.listed.is_empty(), "{:?}", summary.warnings);
            for item in &mut found {
                if let ExportItem::Record(record) = item {
                    record.line = 0;
                }
            }
            prop_assert_eq!(found, items.to_vec());
        }
    }
}
