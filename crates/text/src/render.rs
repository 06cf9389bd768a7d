//! From what an author wrote to what a reader gets: content, titles, excerpts, comments.
//!
//! Owns the order in which the parts of this module are applied. It must not know who reads or whether they may: that
//! is decided before anything is rendered. Everything is a function of its arguments, so results can be stored.

use super::autop::{autop, shortcode_unautop};
use super::balance::close_open_tags;
use super::block_styles::{BlockStyles, Excerpt};
use super::blocks::{Block, BlockOptions, DynamicRenderer, has_blocks, parse, render_blocks};
use super::clickable::make_clickable;
use super::dress::{self, UniqueNames};
use super::markup::{Piece, is_space, pieces, spans};
use super::sanitize::fix_numeric_entities;
use super::shortcode::{self, ShortcodeExpander, Shortcodes};
use super::site_links::SiteLinks;
use super::smilies::convert_smilies;
use super::strip::strip_all_tags;
use super::texturize::texturize;
use std::borrow::Cow;

/// Words of an automatic excerpt.
pub const EXCERPT_WORDS: usize = 55;
/// Bytes of a content that an automatic excerpt is made from: they contain its words many times over.
pub const EXCERPT_SOURCE: usize = 64 << 10;
/// Ends an automatic excerpt that was cut.
const CUT: &str = " [&hellip;]";
/// Ends the part of a content that lists show.
const MORE: &str = "<!--more";
const NEXT_PAGE: &str = "<!--nextpage-->";

/// Everything that rendering depends on besides the text.
#[derive(Clone, Copy)]
pub struct RenderOptions<'a> {
    /// Whether text smilies become emoji (the site's `use_smilies`).
    pub smilies: bool,
    /// Makes shortcodes that need records; without it they leave nothing.
    pub shortcodes: Option<ShortcodeExpander<'a>>,
    /// Makes dynamic blocks; without it they show their inside.
    pub blocks: Option<DynamicRenderer<'a>>,
    /// Declared styles of blocks.
    pub styles: Option<&'a BlockStyles>,
    /// The names that the document has used before this text.
    pub unique: Option<&'a UniqueNames>,
    /// The text is a part of a content with blocks: paragraphs are only those that are written.
    pub part: bool,
    /// Words of an excerpt that is made from the content.
    pub excerpt_words: usize,
    /// Where links to the site lead; without it, to the site.
    pub links: Option<&'a SiteLinks>,
}

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        RenderOptions {
            smilies: true,
            shortcodes: None,
            blocks: None,
            styles: None,
            unique: None,
            part: false,
            excerpt_words: EXCERPT_WORDS,
            links: None,
        }
    }
}

/// `content.rendered`.
pub fn render_content(raw: &str, options: &RenderOptions) -> String {
    let classic = !options.part && !has_blocks(raw);
    let own = UniqueNames::default();
    let unique = options.unique.unwrap_or(&own);
    let text = fix_numeric_entities(raw);
    let text = if text.contains("wp-note") { Cow::Owned(dress::strip_editor_notes(&text)) } else { text };
    let text = shortcode::expand_embeds(&text);
    let text = shortcode::plain_addresses(&text);
    let blocks = BlockOptions { dynamic: options.blocks, styles: options.styles, unique: Some(unique), around: None };
    let text = if text.contains("<!--") { Cow::Owned(render_blocks(&text, &blocks)) } else { text };
    let text = texturize(&text);
    let text = if classic { Cow::Owned(autop(&text)) } else { text };
    let text = unwrap_shortcodes(&text);
    let text = defer_images(&text);
    let text =
        if text.contains('[') { shortcode::expand(&text, options.shortcodes, unique) } else { text.into_owned() };
    linked(smile(&spell_wordpress(&text), options), options)
}

/// `title.rendered`.
pub fn render_title(raw: &str) -> String {
    let ends = |c: char| is_space(c) || c == '\0';
    texturize(raw).trim_matches(ends).replace("Wordpress", "WordPress")
}

/// `excerpt.rendered`: the author's own, or the beginning of the content.
pub fn render_excerpt(excerpt_raw: &str, content_raw: &str, options: &RenderOptions) -> String {
    match excerpt_raw {
        "" => excerpt_html(&plain_excerpt(content_raw, options.excerpt_words, options), options),
        own => excerpt_html(own, options),
    }
}

/// The same, from a content that is rendered already and [`shows_itself`].
pub fn excerpt_of_rendered(rendered: &str, options: &RenderOptions) -> String {
    excerpt_html(&beginning_of(rendered, options.excerpt_words), options)
}

fn excerpt_html(text: &str, options: &RenderOptions) -> String {
    let text = texturize(text);
    let text = autop(&smile(&text, options));
    let text = unwrap_shortcodes(&text);
    linked(defer_images(&text), options)
}

/// The first words of a content as plain text, with ` [&hellip;]` when there are more. Only text before the "more" mark
/// and on the first page counts, of that the first [`EXCERPT_SOURCE`] bytes; shortcodes and blocks that are not prose
/// are left out.
pub fn plain_excerpt(content_raw: &str, words: usize, options: &RenderOptions) -> String {
    beginning_of(&rendered_prose(content_raw, options), words)
}

/// The first paragraph of a content that has text, as plain text; empty where there is none.
pub fn first_paragraph(content_raw: &str, options: &RenderOptions) -> String {
    let rendered = rendered_prose(content_raw, options);
    let paragraphs = rendered.split("<p").skip(1).filter(|rest| rest.starts_with(['>', ' ', '\n', '\t']));
    let text = |rest: &str| {
        let inside = rest.split_once('>').map_or("", |(_, inside)| inside);
        strip_all_tags(inside.split("</p").next().unwrap_or_default())
    };
    paragraphs.map(text).find(|text| !text.is_empty()).unwrap_or_default()
}

/// The beginning of a content, rendered: see [`plain_excerpt`].
fn rendered_prose(content_raw: &str, options: &RenderOptions) -> String {
    let content = beginning(content_raw);
    let content = content.split(NEXT_PAGE).next().unwrap_or_default();
    let content = match content.split_once(MORE) {
        // Tags that the rest would have closed are closed here.
        Some((teaser, _)) => Cow::Owned(close_open_tags(teaser)),
        None => Cow::Borrowed(content),
    };
    let content = if content.contains('[') { Cow::Owned(shortcode::strip(&content)) } else { content };
    let content = if has_blocks(&content) { Cow::Owned(prose_blocks(&content, options)) } else { content };
    render_content(&content, &RenderOptions { shortcodes: None, ..*options })
}

/// Whether an excerpt is made from the very HTML of a content: nothing in it is left out or rendered in another way.
pub fn is_own_excerpt(content_raw: &str) -> bool {
    content_raw.len() <= EXCERPT_SOURCE && !content_raw.contains('[') && !content_raw.contains("<!--")
}

fn beginning_of(rendered: &str, words: usize) -> String {
    first_words(&rendered.replace("]]>", "]]&gt;"), words, CUT)
}

/// The beginning of a content, for its excerpt. A tag or comment that would be cut is left out.
fn beginning(content: &str) -> &str {
    if content.len() <= EXCERPT_SOURCE {
        return content;
    }
    let most = EXCERPT_SOURCE.min(content.len());
    let end = (0..=most).rev().find(|at| content.is_char_boundary(*at)).unwrap_or(0);
    let start = &content[..end];
    match start.rfind('<') {
        Some(at) if !start[at..].contains('>') => &start[..at],
        _ => start,
    }
}

/// The first words of a text without its markup, and `more` where it goes on.
pub fn first_words(text: &str, words: usize, more: &str) -> String {
    let text = strip_all_tags(text);
    let mut all = text.split([' ', '\n', '\r', '\t']).filter(|w| !w.is_empty());
    let mut out = all.by_ref().take(words).collect::<Vec<_>>().join(" ");
    if all.next().is_some() {
        out.push_str(more);
    }
    out
}

/// `content.rendered` of a comment.
pub fn comment_content(raw: &str, options: &RenderOptions) -> String {
    let text = make_clickable(raw);
    let text = texturize(&text);
    let text = smile(&text, options);
    let text = close_open_tags(&text);
    linked(spell_wordpress(&autop(&text)), options)
}

/// The finished text, whose links lead to where the site is read.
fn linked(text: Cow<'_, str>, options: &RenderOptions) -> String {
    match options.links.map(|links| links.in_markup(&text)) {
        Some(Cow::Owned(linked)) => linked,
        _ => text.into_owned(),
    }
}

/// A shortcode that is a paragraph by itself has no paragraph around it.
fn unwrap_shortcodes(text: &str) -> Cow<'_, str> {
    let codes = Shortcodes::of(text);
    shortcode_unautop(text, |at| codes.end(at))
}

fn smile<'a>(text: &'a str, options: &RenderOptions) -> Cow<'a, str> {
    if options.smilies { convert_smilies(text) } else { Cow::Borrowed(text) }
}

/// The name of that product is written with a capital P at the start of a word.
fn spell_wordpress(text: &str) -> Cow<'_, str> {
    if !text.contains("Wordpress") {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("Wordpress");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let word_start = out.ends_with([' ', '>', '(']) || out.ends_with("&#8216;") || out.ends_with("&#8220;");
        out.push_str(if word_start { "WordPress" } else { "Wordpress" });
        out.push_str(part);
    }
    Cow::Owned(out)
}

/// Images and frames of known size load late; images decode in the background.
fn defer_images(text: &str) -> Cow<'_, str> {
    if !text.contains("<img ") && !text.contains("<iframe ") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for span in spans(text) {
        match span {
            // Pictures that are commented out count, as they do in the reference.
            Piece::Markup(comment) if comment.starts_with("<!--") => {
                out.push_str("<!--");
                for inside in pieces(&comment[4..]) {
                    push_deferred(inside, &mut out);
                }
            }
            other => push_deferred(other, &mut out),
        }
    }
    Cow::Owned(out)
}

fn push_deferred(piece: Piece, out: &mut String) {
    let (name, tag) = match piece {
        Piece::Markup(tag) if tag.starts_with("<img ") => (4, tag),
        Piece::Markup(tag) if tag.starts_with("<iframe ") => (7, tag),
        Piece::Markup(other) | Piece::Text(other) => return out.push_str(other),
    };
    out.push_str(&tag[..name]);
    if tag.contains(" src=\"") {
        let sized = tag.contains(" width=\"") && tag.contains(" height=\"");
        // A picture that is closed at first is fetched late anyway.
        if sized && !tag.contains(" loading=") && !tag.contains(" fetchpriority=\"low\"") {
            out.push_str(" loading=\"lazy\"");
        }
        if tag.starts_with("<img ") && !tag.contains(" decoding=") {
            out.push_str(" decoding=\"async\"");
        }
    }
    out.push_str(&tag[name..]);
}

/// The text of the blocks that an excerpt is made from; which they are is declared.
fn prose_blocks(content: &str, options: &RenderOptions) -> String {
    parse(content).iter().map(|block| prose(block, options)).collect()
}

fn prose(block: &Block, options: &RenderOptions) -> String {
    let (Some(name), styles) = (block.name.as_deref(), options.styles) else { return block.inside() };
    match styles.and_then(|styles| styles.of(name)?.excerpt) {
        _ if block.is_hidden() => String::new(),
        Some(Excerpt::Text) if block.inner().all(|inner| is_prose_within(inner, styles)) => {
            use_names(block, options);
            block.inside()
        }
        // Without blocks inside, what is written there is all there is.
        Some(Excerpt::Inside) if block.inner().next().is_none() => block.inside(),
        Some(Excerpt::Inside) => block.inner().map(|inner| prose(inner, options)).collect(),
        _ => String::new(),
    }
}

/// Takes the names that a block of an excerpt would use if it were shown: in WordPress it is shown and its markup removed.
fn use_names(block: &Block, options: &RenderOptions) {
    let shown = BlockOptions { dynamic: None, styles: options.styles, unique: options.unique, around: None };
    if let Some(name) = block.name.as_deref().filter(|_| dress::has_decoration(block.attrs, None)) {
        dress::Decoration::of(name, &block.attributes(), &shown);
    }
    block.inner().for_each(|inner| use_names(inner, options));
}

/// A block that holds a picture, items, or blocks within blocks is left out as a whole.
fn is_prose_within(block: &Block, styles: Option<&BlockStyles>) -> bool {
    let of = |name: &str| styles.and_then(|styles| styles.of(name)?.excerpt);
    block.name.as_deref().is_none_or(|name| of(name) == Some(Excerpt::Text) && block.inner().next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_rendered() {
        fn check(raw: &str, expected: &str) {
            assert_eq!(render_content(raw, &RenderOptions::default()), expected, "{raw}");
        }
        check("", "");
        check("Words here.", "<p>Words here.</p>\n");
        check("a < b & c > d", "<p>a < b &#038; c > d</p>\n");
        check("He said \"yes\" twice.", "<p>He said &#8220;yes&#8221; twice.</p>\n");
        check("<strong>Firm</strong> and <em>soft</em>", "<p><strong>Firm</strong> and <em>soft</em></p>\n");
        check("<!-- wp:paragraph -->\n<p>Boxed</p>\n<!-- /wp:paragraph -->", "\n<p>Boxed</p>\n");
        check("<!-- cms:paragraph -->\n<p>Boxed</p>\n<!-- /cms:paragraph -->", "\n<p>Boxed</p>\n");
        check(
            "<img src=\"a.png\" width=\"3\" height=\"4\">",
            "<p><img loading=\"lazy\" decoding=\"async\" src=\"a.png\" width=\"3\" height=\"4\"></p>\n",
        );
        check("[gallery]", "\n");
        check("Wordpress xWordpress", "<p>WordPress xWordpress</p>\n");
    }

    #[test]
    fn the_first_paragraph_with_text_counts() {
        for (raw, expected) in [
            ("", ""),
            ("One.\n\nTwo.", "One."),
            ("<h2>Head</h2>\n<p class=\"a\"> </p><pre>x</pre><p>A <em>word</em> &amp; more</p>", "A word &amp; more"),
            ("[gallery]\n\nText", "Text"),
            ("<p", ""),
        ] {
            let styles = BlockStyles::sample();
            let options = RenderOptions { styles: Some(&styles), ..RenderOptions::default() };
            assert_eq!(first_paragraph(raw, &options), expected, "{raw}");
        }
    }

    #[test]
    fn smilies_are_a_setting() {
        let off = RenderOptions { smilies: false, ..RenderOptions::default() };
        assert_eq!(render_content(":)", &RenderOptions::default()), "<p>🙂</p>\n");
        assert_eq!(render_content(":)", &off), "<p>:)</p>\n");
    }

    #[test]
    fn titles_are_rendered() {
        fn check(raw: &str, expected: &str) {
            assert_eq!(render_title(raw), expected, "{raw}");
        }
        check("This & that", "This &#038; that");
        check("It's fine", "It&#8217;s fine");
        check("<b>Bold</b>", "<b>Bold</b>");
        check(" x ", "x");
    }

    #[test]
    fn excerpts_are_cut() {
        fn check(own: &str, content: &str, expected: &str) {
            let styles = BlockStyles::sample();
            let options = RenderOptions { styles: Some(&styles), ..RenderOptions::default() };
            assert_eq!(render_excerpt(own, content, &options), expected, "{content}");
        }
        check("Cut here.", "Words", "<p>Cut here.</p>\n");
        check("", "<strong>Firm</strong> and <em>soft</em>", "<p>Firm and soft</p>\n");
        check("", "a < b & c > d", "<p>a < b &#038; c > d</p>\n");
        check("", "<!-- wp:paragraph -->\n<p>Ring us</p>\n<!-- /wp:paragraph -->", "<p>Ring us</p>\n");
        check("", "", "");
        check("", "a <!--more--> b", "<p>a</p>\n");
        // More than is read is as good as all, and a cut leaves no half of a tag.
        let prose = "\"Seagulls\" don't wait...\n\n".repeat(EXCERPT_SOURCE);
        let options = RenderOptions::default();
        assert_eq!(plain_excerpt(&prose, 9, &options), plain_excerpt(&prose[..2_600], 9, &options));
        let mark = format!("Words{}<b title=\"x\">more</b> words", " ".repeat(EXCERPT_SOURCE - 9));
        assert_eq!(plain_excerpt(&mark, 9, &options), "Words");
        let long = "w ".repeat(56);
        check("", &long, &format!("<p>{}w [&hellip;]</p>\n", "w ".repeat(54)));
    }

    #[test]
    fn comments_are_rendered() {
        fn check(raw: &str, expected: &str) {
            assert_eq!(comment_content(raw, &RenderOptions::default()), expected, "{raw}");
        }
        check("<b>Bold</b> <span>plain</span>", "<p><b>Bold</b> <span>plain</span></p>\n");
        check("Good morning.", "<p>Good morning.</p>\n");
        check("<b>unclosed", "<p><b>unclosed</b></p>\n");
    }
}
