//! What stands in a content for other rows: galleries, lists of records or terms, reusable pieces.
//!
//! Which blocks and shortcodes there are, who makes them and of which resource is declared (`[blocks]`, `[shortcodes]`);
//! this is the table of makers. Each reads for itself, so a record with such parts costs statements of its own, and its
//! document is not kept beyond the answer (`asks`). Of records and pieces only published ones show, whoever asks; of pictures
//! those that the reader may see. What an author wrote into a part is text: it is escaped, and no address is a script.

use crate::access::acts;
use crate::config::declaration::{Declaration, Made};
use crate::fields::Fields;
use crate::prepare::{Item, View, documents};
use crate::records::{self, among, eq, txt};
use crate::registry::name;
use crate::registry::resource::{Context, Resource};
use crate::storage::plan::{Cond, DbValue, Op, Order};
use crate::text::blocks::{Block, has_blocks, parse};
use crate::text::dates;
use crate::text::render::{self, RenderOptions};
use crate::text::sanitize::{clean_url, esc_attr, esc_html};
use crate::text::shortcode::Shortcode;
use crate::text::time::{Civil, format_local};
use serde_json::Value;
use std::cell::Cell;
use std::fmt::Write as _;

/// Pieces in pieces in pieces: beyond that, nothing is shown.
const MOST_DEPTH: u8 = 4;
/// Parts of one content, those in its pieces included: beyond that, nothing is shown.
const MOST_PARTS: u32 = 200;
/// Rows of a list at most, whatever an author asks for.
const MOST_ROWS: u64 = 100;
/// Months or years of an archive at most.
const MOST_SPANS: usize = 1000;

/// What a maker is given: what the author wrote, and where the rows are.
pub struct Part<'a> {
    item: &'a Item<'a>,
    /// The resource that is declared for it.
    of: Option<&'a Resource>,
    attributes: Value,
    within: Within<'a>,
}

/// Where a part stands.
#[derive(Clone, Copy)]
struct Within<'a> {
    /// How many pieces it stands in.
    depth: u8,
    /// Parts that may still be made.
    left: &'a Cell<u32>,
}

/// Makes the HTML of a part; `None` shows nothing.
type Maker = fn(&Part<'_>) -> Option<String>;

/// Every maker by the name that declarations use.
pub const MAKERS: &[(&str, Maker)] = &[
    ("gallery", gallery),
    ("player.audio", |part| player(part, "audio")),
    ("player.video", |part| player(part, "video")),
    ("records", latest),
    ("archive", archive),
    ("terms", terms),
    ("cloud", cloud),
    ("piece", piece),
    ("site.title", |part| site(part, "title")),
    ("site.tagline", |part| site(part, "description")),
];

/// Whether rendering a content asks for other rows.
pub fn asks(declared: &Declaration, content: &str) -> bool {
    fn within(declared: &Declaration, block: &Block) -> bool {
        block.name.as_deref().is_some_and(|name| declared.blocks.contains_key(name))
            || block.inner().any(|inner| within(declared, inner))
    }
    let code = |name: &String| content.contains(&format!("[{name}"));
    (content.contains('[') && declared.shortcodes.keys().any(code))
        || (has_blocks(content) && parse(content).iter().any(|block| within(declared, block)))
}

/// A content as HTML, with what stands in it for other rows.
pub fn content(item: &Item<'_>, raw: &str, options: &RenderOptions<'_>) -> String {
    nested(item, raw, options, Within { depth: 0, left: &Cell::new(MOST_PARTS) })
}

/// One block as a page shows it; `None`: nothing makes such a block.
pub fn block(item: &Item<'_>, block_name: &str, attributes: Value) -> Option<String> {
    let made = item.scope.registry.declaration.blocks.get(block_name)?;
    let within = Within { depth: 0, left: &Cell::new(MOST_PARTS) };
    Some(make(item, made, attributes, within).unwrap_or_default())
}

fn nested(item: &Item<'_>, raw: &str, options: &RenderOptions<'_>, within: Within<'_>) -> String {
    let declared = &item.scope.registry.declaration;
    let blocks = |block: &Block, _: &str| {
        let made = declared.blocks.get(block.name.as_deref()?)?;
        Some(make(item, made, block.attributes(), within).unwrap_or_default())
    };
    let shortcodes = |code: &Shortcode| {
        let made = declared.shortcodes.get(code.name)?;
        let attributes = code.attrs().map(|(k, v)| (k.to_lowercase(), Value::from(v))).collect();
        make(item, made, Value::Object(attributes), within)
    };
    render::render_content(raw, &RenderOptions { shortcodes: Some(&shortcodes), blocks: Some(&blocks), ..*options })
}

fn make(item: &Item<'_>, made: &Made, attributes: Value, within: Within<'_>) -> Option<String> {
    within.left.set(within.left.get().checked_sub(1)?);
    let (_, maker) = MAKERS.iter().find(|(known, _)| *known == made.by)?;
    let of = made.of.as_deref().and_then(|of| item.scope.registry.resource(of));
    maker(&Part { item, of, attributes, within })
}

// ---------------------------------------------------------------------------------------------------- what is asked

impl Part<'_> {
    fn text(&self, key: &str) -> &str {
        self.attributes[key].as_str().unwrap_or("")
    }

    fn flag(&self, key: &str) -> bool {
        let value = &self.attributes[key];
        *value == true || matches!(value.as_str(), Some("true" | "1"))
    }

    fn number(&self, key: &str, otherwise: u64) -> u64 {
        let value = &self.attributes[key];
        value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()).unwrap_or(otherwise)
    }

    /// Numbers in a list, or in a text between commas.
    fn numbers(&self, key: &str) -> Vec<i64> {
        match &self.attributes[key] {
            Value::String(text) => text.split(',').filter_map(|n| n.trim().parse().ok()).collect(),
            Value::Array(list) => list.iter().filter_map(|v| v.as_i64().or_else(|| v["id"].as_i64())).collect(),
            one => one.as_i64().into_iter().collect(),
        }
    }

    /// Documents of rows of the declared resource.
    fn documents(&self, filter: Cond, order: Vec<Order>, most: u64, fields: &str) -> Vec<Value> {
        let Some(resource) = self.of else { return Vec::new() };
        let scope = self.item.scope;
        let mut plan = records::plan(resource, Cond::All(vec![records::own_rows(resource), filter]));
        (plan.order, plan.limit) = (order, Some(most.min(MOST_ROWS)));
        let fields = Fields::parse(Some(&Value::from(fields)));
        let view = View { context: Context::VIEW, fields: &fields, password: None, links: false };
        let read = || {
            let snapshot = scope.snapshot()?;
            let rows = snapshot.rows(&plan)?;
            documents(scope, &*snapshot, resource, &rows, &view)
        };
        read().unwrap_or_default()
    }

    /// A number of a counted condition.
    fn count(&self, filter: Cond) -> u64 {
        let Some(resource) = self.of else { return 0 };
        let plan = records::plan(resource, Cond::All(vec![records::own_rows(resource), filter]));
        self.item.scope.snapshot().and_then(|snapshot| Ok(snapshot.count(&plan)?)).unwrap_or_default()
    }
}

/// Rows in a state that everybody sees.
fn published(part: &Part<'_>) -> Cond {
    let statuses = &part.item.scope.registry.declaration.statuses;
    records::words("status", statuses.iter().filter(|(_, status)| status.public).map(|(name, _)| name.as_str()))
}

/// Classes of a block: its own, then what the author added, then its name.
fn classes(part: &Part<'_>, own: &str, block: &str) -> String {
    let all = [own, part.text("className"), block];
    all.iter().filter(|c| !c.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

// ---------------------------------------------------------------------------------------------------- makers

/// `[gallery]`: pictures by number, or those that hang on the record.
fn gallery(part: &Part<'_>) -> Option<String> {
    let own = part.item.record.id();
    let wanted = match part.numbers("ids") {
        ids if ids.is_empty() => part.numbers("include"),
        ids => ids,
    };
    let pictures = Cond::Compare(name("mime"), Op::Gt, txt("image/"));
    let pictures = Cond::All(vec![pictures, Cond::Compare(name("mime"), Op::Lt, txt("image0"))]);
    let (filter, order) = if wanted.is_empty() {
        let of = part.numbers("id").first().copied().unwrap_or(own);
        let without = Cond::Not(Box::new(among("id", part.numbers("exclude"))));
        let order = vec![Order::Column(name("menu_order"), false), Order::Column(name("id"), false)];
        (Cond::All(vec![eq("parent", DbValue::Int(of)), without, pictures]), order)
    } else {
        let order = Order::Given(name("id"), wanted.iter().copied().map(DbValue::Int).collect());
        (Cond::All(vec![among("id", wanted), pictures]), vec![order])
    };
    let filter = Cond::All(vec![filter, acts::visible(part.item.scope, part.of?)]);
    let found = part.documents(filter, order, MOST_ROWS, "id,link,title,caption,alt_text,source_url,media_details");
    if found.is_empty() {
        return None;
    }
    let size = Some(part.text("size")).filter(|size| !size.is_empty()).unwrap_or("thumbnail");
    let columns = part.number("columns", 3);
    let mut out =
        format!("<div class='gallery galleryid-{own} gallery-columns-{columns} gallery-size-{}'>", esc_attr(size));
    for picture in &found {
        let shown = &picture["media_details"]["sizes"][size];
        let file = clean_url(picture["source_url"].as_str().unwrap_or(""));
        let source = shown["source_url"].as_str().unwrap_or(&file);
        let sides = if shown.is_object() { shown } else { &picture["media_details"] };
        let sides = match (sides["width"].as_u64(), sides["height"].as_u64()) {
            (Some(width), Some(height)) => format!(" width=\"{width}\" height=\"{height}\""),
            _ => String::new(),
        };
        let image = format!(
            "<img{sides} src=\"{}\" class=\"attachment-{size} size-{size}\" alt=\"{}\" decoding=\"async\" loading=\"lazy\" />",
            esc_attr(source),
            esc_attr(picture["alt_text"].as_str().unwrap_or("")),
            size = esc_attr(size),
        );
        let target = match part.text("link") {
            "none" => None,
            "file" => Some(file.as_str()),
            _ => picture["link"].as_str(),
        };
        let image = target.map_or(image.clone(), |target| format!("<a href='{}'>{image}</a>", esc_attr(target)));
        let _ = write!(
            out,
            "<figure class='gallery-item'>\n\t\t\t<div class='gallery-icon '>\n\t\t\t\t{image}\n\t\t\t</div>"
        );
        let caption = picture["caption"]["rendered"].as_str().unwrap_or("").trim();
        let caption = caption.strip_prefix("<p>").and_then(|c| c.strip_suffix("</p>")).unwrap_or(caption);
        if !caption.is_empty() {
            let _ = write!(
                out,
                "\n\t\t\t\t<figcaption class='wp-caption-text gallery-caption'>\n\t\t\t\t{caption}\n\t\t\t\t</figcaption>"
            );
        }
        out.push_str("</figure>");
    }
    out.push_str("\n\t\t</div>\n");
    Some(out)
}

/// `[audio]` and `[video]`: the browser's own player.
fn player(part: &Part<'_>, element: &str) -> Option<String> {
    const KINDS: &[(&str, &str)] = &[
        ("mp3", "audio/mpeg"),
        ("ogg", "audio/ogg"),
        ("flac", "audio/flac"),
        ("m4a", "audio/mpeg"),
        ("wav", "audio/wav"),
        ("mp4", "video/mp4"),
        ("m4v", "video/mp4"),
        ("webm", "video/webm"),
        ("ogv", "video/ogg"),
    ];
    let named = KINDS.iter().map(|(end, _)| part.text(end)).find(|text| !text.is_empty());
    let address = Some(part.text("src")).filter(|src| !src.is_empty()).or(named)?;
    let end = address.split(['?', '#']).next()?.rsplit('.').next()?.to_lowercase();
    let kind = KINDS.iter().find(|(known, kind)| *known == end && kind.starts_with(element))?.1;
    let address = Some(clean_url(address)).filter(|address| !address.is_empty())?;
    let address = esc_attr(&address);
    let sides = match (element, part.number("width", 640), part.number("height", 360)) {
        ("video", width, height) => format!(" width=\"{width}\" height=\"{height}\" preload=\"metadata\""),
        _ => " preload=\"none\" style=\"width: 100%;\"".to_owned(),
    };
    Some(format!(
        "<{element} class=\"wp-{element}-shortcode\"{sides} controls=\"controls\"><source type=\"{kind}\" src=\"{address}\" />\
         <a href=\"{address}\">{address}</a></{element}>"
    ))
}

/// A list of the newest records, or in another order.
fn latest(part: &Part<'_>) -> Option<String> {
    let column = match part.text("orderBy") {
        "title" => "title_key",
        "modified" => "modified_local",
        _ => "date_local",
    };
    let descending = part.text("order") != "asc";
    let mut filter = vec![published(part)];
    let terms = part.numbers("categories");
    if !terms.is_empty() {
        let relation = part.of?.relations.iter().find(|relation| relation.many)?;
        filter.push(Cond::Linked { rel: relation.rel.clone(), dst: terms });
    }
    if let Some(author) = part.numbers("selectedAuthor").first() {
        filter.push(eq("author", DbValue::Int(*author)));
    }
    let order = vec![Order::Column(name(column), descending), Order::Column(name("id"), descending)];
    let shown = part.number("postsToShow", 5);
    let excerpt = if part.flag("displayPostContent") { ",excerpt" } else { "" };
    let found = part.documents(Cond::All(filter), order, shown, &format!("id,link,title,date,date_gmt{excerpt}"));
    let mut own = "wp-block-latest-posts__list".to_owned();
    if part.text("postLayout") == "grid" {
        let _ = write!(own, " is-grid columns-{}", part.number("columns", 3));
    }
    if part.flag("displayPostDate") {
        own.push_str(" has-dates");
    }
    let mut out = format!("<ul class=\"{}\">", esc_attr(&classes(part, &own, "wp-block-latest-posts")));
    for record in &found {
        let title = record["title"]["rendered"].as_str().filter(|t| !t.is_empty()).unwrap_or("(no title)");
        let link = esc_attr(record["link"].as_str().unwrap_or(""));
        let _ = write!(out, "<li><a class=\"wp-block-latest-posts__post-title\" href=\"{link}\">{title}</a>");
        if part.flag("displayPostDate") {
            let moment = crate::text::time::parse_datetime(record["date"].as_str().unwrap_or(""));
            let local = moment.map_or(0, |m| m.in_zone(&part.item.scope.settings.zone).0);
            let offset = part.item.scope.settings.zone.local_to_utc(local);
            let _ = write!(
                out,
                "<time datetime=\"{}{}\" class=\"wp-block-latest-posts__post-date\">{}</time>",
                format_local(local),
                offset_text(local - offset),
                dates::named(local, "%B %-d, %Y")
            );
        }
        if let Some(excerpt) = record["excerpt"]["rendered"].as_str() {
            let text = excerpt.trim().trim_start_matches("<p>").trim_end_matches("</p>");
            let _ = write!(out, "<div class=\"wp-block-latest-posts__post-excerpt\">{text}</div>");
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>");
    Some(out)
}

fn offset_text(seconds: i64) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", seconds.abs() / 3600, seconds.abs() / 60 % 60)
}

/// The months, or years, that records were published in, the newest first.
fn archive(part: &Part<'_>) -> Option<String> {
    let yearly = part.text("type") == "yearly";
    let mut rows = Vec::new();
    let mut before = i64::MAX;
    while rows.len() < MOST_SPANS {
        let earlier = Cond::Compare(name("date_local"), Op::Lt, DbValue::Int(before));
        let newest = vec![Order::Column(name("date_local"), true)];
        let found = part.documents(Cond::All(vec![published(part), earlier]), newest, 1, "date");
        let Some(date) = found.first().and_then(|d| crate::text::time::parse_datetime(d["date"].as_str()?)) else {
            break;
        };
        let local = date.in_zone(&part.item.scope.settings.zone).0;
        let mut first = Civil::of(local);
        (first.day, first.hour, first.minute, first.second) = (1, 0, 0, 0);
        if yearly {
            first.month = 1;
        }
        let path = if yearly { format!("{:04}", first.year) } else { format!("{:04}/{:02}", first.year, first.month) };
        let label = if yearly { format!("{:04}", first.year) } else { dates::named(local, "%B %Y") };
        let begins = first.seconds()?;
        let count = part.flag("showPostCounts").then(|| {
            let from = Cond::Compare(name("date_local"), Op::Ge, DbValue::Int(begins));
            let to = Cond::Compare(name("date_local"), Op::Lt, DbValue::Int(before));
            part.count(Cond::All(vec![published(part), from, to]))
        });
        rows.push((format!("{}/{path}/", part.item.scope.registry.site.url), label, count));
        before = begins;
    }
    let mut out = String::new();
    if part.flag("displayAsDropdown") {
        let own = classes(part, "wp-block-archives-dropdown", "wp-block-archives");
        let _ = write!(
            out,
            "<div class=\"{}\"><label class=\"wp-block-archives__label\">Archives <select name=\"archive-dropdown\">",
            esc_attr(&own)
        );
        out.push_str("<option value=\"\">Choose</option>");
        for (address, label, count) in &rows {
            let count = count.map_or_else(String::new, |n| format!(" &nbsp;({n})"));
            let _ = writeln!(out, "\t<option value='{address}'> {label}{count}</option>");
        }
        out.push_str("</select></label></div>");
        return Some(out);
    }
    let own = classes(part, "wp-block-archives-list", "wp-block-archives");
    let _ = write!(out, "<ul class=\"{}\">", esc_attr(&own));
    for (address, label, count) in &rows {
        let count = count.map_or_else(String::new, |n| format!("&nbsp;({n})"));
        let _ = writeln!(out, "\t<li><a href='{address}'>{label}</a>{count}</li>");
    }
    out.push_str("</ul>");
    Some(out)
}

/// The terms that records carry, by name, those below others inside them where that is wanted.
fn terms(part: &Part<'_>) -> Option<String> {
    let full = Cond::Compare(name("count"), Op::Gt, DbValue::Int(0));
    let filter = if part.flag("showEmpty") { records::everything() } else { full };
    let filter = match part.flag("showOnlyTopLevel") {
        true => Cond::All(vec![filter, eq("parent", DbValue::Int(0))]),
        false => filter,
    };
    let order = vec![Order::Column(name("name_key"), false)];
    let found = part.documents(filter, order, MOST_ROWS, "id,name,link,count,parent");
    let tree = part.flag("showHierarchy");
    let mut out = String::new();
    let own = classes(part, "wp-block-categories-list", "wp-block-categories");
    let _ = write!(out, "<ul class=\"{}\">", esc_attr(&own));
    list_terms(part, &found, tree.then_some(0), 0, &mut out);
    out.push_str("</ul>");
    Some(out)
}

fn list_terms(part: &Part<'_>, all: &[Value], below: Option<i64>, depth: u8, out: &mut String) {
    let known = |id: i64| all.iter().any(|term| term["id"] == id);
    for term in all {
        let parent = term["parent"].as_i64().unwrap_or(0);
        // What stands above may itself not be shown.
        let parent = if known(parent) { parent } else { 0 };
        if below.is_some_and(|wanted| wanted != parent) || depth > MOST_DEPTH * 4 {
            continue;
        }
        let (id, link) = (term["id"].as_i64().unwrap_or(0), esc_attr(term["link"].as_str().unwrap_or("")));
        let name = esc_html(term["name"].as_str().unwrap_or(""));
        let _ = write!(out, "\t<li class=\"cat-item cat-item-{id}\"><a href=\"{link}\">{name}</a>");
        if part.flag("showPostCounts") {
            let _ = write!(out, " ({})", term["count"]);
        }
        out.push('\n');
        if below.is_some() && all.iter().any(|other| other["parent"] == id) {
            out.push_str("<ul class='children'>\n");
            list_terms(part, all, Some(id), depth + 1, out);
            out.push_str("</ul>\n");
        }
        out.push_str("</li>\n");
    }
}

/// The terms that most records carry, larger the more.
fn cloud(part: &Part<'_>) -> Option<String> {
    const SMALLEST: f64 = 8.0;
    const LARGEST: f64 = 22.0;
    let full = Cond::Compare(name("count"), Op::Gt, DbValue::Int(0));
    let order = vec![Order::Column(name("count"), true), Order::Column(name("id"), false)];
    let mut found = part.documents(full, order, part.number("numberOfTags", 45), "id,name,link,count");
    let counts: Vec<f64> = found.iter().filter_map(|term| term["count"].as_f64()).collect();
    let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = counts.iter().copied().fold(0.0, f64::max);
    found.sort_by_key(|term| crate::text::slug::title_key(term["name"].as_str().unwrap_or("")));
    let step = (LARGEST - SMALLEST) / (most - least).max(1.0);
    let links = found.iter().enumerate().map(|(place, term)| {
        let (count, name) = (term["count"].as_f64().unwrap_or(0.0), esc_html(term["name"].as_str().unwrap_or("")));
        let told = if part.flag("showTagCounts") {
            format!("<span class=\"tag-link-count\"> ({count})</span>")
        } else {
            String::new()
        };
        format!(
            "<a href=\"{}\" class=\"tag-cloud-link tag-link-{} tag-link-position-{}\" style=\"font-size: {}pt;\" \
             aria-label=\"{name} ({count} {})\">{name}{told}</a>",
            esc_attr(term["link"].as_str().unwrap_or("")),
            term["id"],
            place + 1,
            SMALLEST + (count - least) * step,
            if count == 1.0 { "item" } else { "items" },
        )
    });
    let links: Vec<String> = links.collect();
    let own = classes(part, "", "wp-block-tag-cloud");
    (!links.is_empty()).then(|| format!("<p class=\"{}\">{}</p>", esc_attr(&own), links.join("\n")))
}

/// A reusable piece: the content of another record, if everybody may see it.
fn piece(part: &Part<'_>) -> Option<String> {
    let resource = part.of.filter(|_| part.within.depth < MOST_DEPTH)?;
    let wanted = part.attributes["ref"].as_i64()?;
    let filter =
        vec![eq("id", DbValue::Int(wanted)), published(part), eq("password", txt("")), records::own_rows(resource)];
    let rows = part.item.scope.snapshot().ok()?.rows(&records::plan(resource, Cond::All(filter))).ok()?;
    let record = records::Record { resource, row: rows.first()? };
    let item = Item { resource, record, ..*part.item };
    Some(nested(
        &item,
        record.text("content"),
        &super::read::options(&item),
        Within { depth: part.within.depth + 1, ..part.within },
    ))
}

/// What the site is called, or says of itself.
fn site(part: &Part<'_>, setting: &str) -> Option<String> {
    let scope = part.item.scope;
    let text = esc_attr(scope.settings.text(setting));
    Some(match setting {
        "title" => format!(
            "<h{level} class=\"{}\"><a href=\"{}\" target=\"_self\" rel=\"home\">{text}</a></h{level}>",
            esc_attr(&classes(part, "", "wp-block-site-title")),
            scope.registry.site.url,
            level = part.number("level", 1).clamp(1, 6),
        ),
        _ => format!("<p class=\"{}\">{text}</p>", esc_attr(&classes(part, "", "wp-block-site-tagline"))),
    })
}
