//! Lists of records, months, terms, pages and comments.

use super::{MOST_DEPTH, MOST_ROWS, MOST_SPANS, Part, classes, published, time_of};
use crate::prepare::meta_space;
use crate::records::{self, among, eq, txt};
use crate::registry::name;
use crate::storage::plan::{Cond, DbValue, Op, Order};
use crate::text::dates;
use crate::text::html_policy::{Policy, sanitise};
use crate::text::render::{first_words, render_title};
use crate::text::sanitize::{clean_url, esc_attr, esc_html};
use crate::text::time::Civil;
use serde_json::Value;
use std::fmt::Write as _;

/// A list of the newest records, or in another order.
pub fn latest(part: &Part<'_>) -> Option<String> {
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
            out.push_str(&time_of(part, &record["date"], " class=\"wp-block-latest-posts__post-date\"", "%B %-d, %Y"));
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

/// The months, or years, that records were published in, the newest first.
pub fn archive(part: &Part<'_>) -> Option<String> {
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
pub fn terms(part: &Part<'_>) -> Option<String> {
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
pub fn cloud(part: &Part<'_>) -> Option<String> {
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

/// Records below one another, as their parents say.
pub fn tree(part: &Part<'_>) -> Option<String> {
    let order = vec![Order::Column(name("menu_order"), false), Order::Column(name("title_key"), false)];
    let found = part.documents(published(part), order, MOST_ROWS, "id,link,title,parent");
    let top = part.number("parentPageID", 0);
    let mut out = String::new();
    list_pages(&found, i64::try_from(top).unwrap_or(0), 0, &mut out);
    let own = esc_attr(&classes(part, "", "wp-block-page-list"));
    (!out.is_empty()).then(|| format!("<ul class=\"{own}\">{out}</ul>"))
}

fn list_pages(all: &[Value], above: i64, depth: u8, out: &mut String) {
    let below = |id: i64| all.iter().any(|page| page["parent"] == id);
    for page in all.iter().filter(|page| page["parent"] == above && depth <= MOST_DEPTH * 4) {
        let id = page["id"].as_i64().unwrap_or(0);
        let title = page["title"]["rendered"].as_str().filter(|t| !t.is_empty()).unwrap_or("(no title)");
        let _ = write!(
            out,
            "<li class=\"wp-block-pages-list__item{}\"><a class=\"wp-block-pages-list__item__link\" href=\"{}\">{title}</a>",
            if below(id) { " has-child" } else { "" },
            esc_attr(page["link"].as_str().unwrap_or("")),
        );
        if below(id) {
            out.push_str("<ul class=\"submenu-container\">");
            list_pages(all, id, depth + 1, out);
            out.push_str("</ul>");
        }
        out.push_str("</li>");
    }
}

/// The newest comments that everybody may read.
pub fn comments(part: &Part<'_>) -> Option<String> {
    const WORDS: usize = 20;
    let open = Cond::Related {
        table: name("record"),
        inner: name("id"),
        outer: name("post"),
        filter: Box::new(Cond::All(vec![published(part), eq("password", txt(""))])),
    };
    let filter = Cond::All(vec![eq("status", txt("approved")), eq("kind", txt("comment")), open]);
    let order = vec![Order::Column(name("date_utc"), true), Order::Column(name("id"), true)];
    let fields = "author_name,author_url,author_avatar_urls,link,date,content,post";
    let found = part.documents(filter, order, part.number("commentsToShow", 5), fields);
    let posts: Vec<i64> = found.iter().filter_map(|comment| comment["post"].as_i64()).collect();
    let titles = records::columns("record", &["id", "title"], among("id", posts));
    let titles = part.item.scope.snapshot().and_then(|snapshot| Ok(snapshot.rows(&titles)?)).unwrap_or_default();
    let title_of = |post: &Value| {
        let row = titles.iter().find(|row| *post == records::int(&row[0]));
        row.map_or_else(String::new, |row| render_title(records::text(&row[1])))
    };
    // These three are shown unless an author says otherwise.
    let shows = |key: &str| part.attributes[key] != false;
    let (avatars, dates, excerpts) = (shows("displayAvatar"), shows("displayDate"), shows("displayExcerpt"));
    let own: Vec<&str> = [(avatars, "has-avatars"), (dates, "has-dates"), (excerpts, "has-excerpts")]
        .iter()
        .filter_map(|(on, class)| on.then_some(*class))
        .collect();
    let mut out = String::new();
    for comment in &found {
        out.push_str("<li class=\"wp-block-latest-comments__comment\">");
        if let Some(picture) = comment["author_avatar_urls"]["48"].as_str().filter(|_| avatars) {
            let _ = write!(
                out,
                "<img alt=\"\" src=\"{}\" class=\"avatar avatar-48 photo wp-block-latest-comments__comment-avatar\" \
                 height=\"48\" width=\"48\" loading=\"lazy\" decoding=\"async\" />",
                esc_attr(picture)
            );
        }
        let author = comment["author_name"].as_str().filter(|n| !n.is_empty()).unwrap_or("Somebody");
        let author = esc_html(author);
        let author = match comment["author_url"].as_str().map(clean_url).filter(|url| !url.is_empty()) {
            Some(url) => {
                format!(
                    "<a class=\"wp-block-latest-comments__comment-author\" href=\"{}\">{author}</a>",
                    esc_attr(&url)
                )
            }
            None => format!("<span class=\"wp-block-latest-comments__comment-author\">{author}</span>"),
        };
        let _ = write!(
            out,
            "<article><footer class=\"wp-block-latest-comments__comment-meta\">{author} on \
             <a class=\"wp-block-latest-comments__comment-link\" href=\"{}\">{}</a>",
            esc_attr(comment["link"].as_str().unwrap_or("")),
            title_of(&comment["post"]),
        );
        if dates {
            let class = " class=\"wp-block-latest-comments__comment-date\"";
            out.push_str(&time_of(part, &comment["date"], class, "%B %-d, %Y"));
        }
        out.push_str("</footer>");
        if excerpts {
            let text = first_words(comment["content"]["rendered"].as_str().unwrap_or(""), WORDS, "&hellip;");
            let _ = write!(
                out,
                "<div class=\"wp-block-latest-comments__comment-excerpt\"><p>{}</p>\n</div>",
                esc_html(&text)
            );
        }
        out.push_str("</article></li>");
    }
    if out.is_empty() {
        let own = esc_attr(&classes(part, "no-comments", "wp-block-latest-comments"));
        return Some(format!("<div class=\"{own}\">There are no comments yet.</div>"));
    }
    let own = esc_attr(&classes(part, &own.join(" "), "wp-block-latest-comments"));
    Some(format!("<ol class=\"{own}\">{out}</ol>"))
}

/// The record's notes, which its text points to.
pub fn notes(part: &Part<'_>) -> Option<String> {
    let space = meta_space(part.item.resource);
    let rows = part.item.scope.snapshot().ok()?.meta(&space, &[part.item.record.id()]).ok()?;
    // Kept as JSON within a text.
    let kept: String = serde_json::from_str(&rows.iter().find(|row| &*row.key == "footnotes")?.json).ok()?;
    let notes: Vec<Value> = serde_json::from_str(&kept).ok()?;
    let mut out = String::new();
    for (place, note) in notes.iter().enumerate() {
        let id = esc_attr(note["id"].as_str()?);
        let text = sanitise(note["content"].as_str()?, Policy::posts());
        let place = place + 1;
        let _ = write!(
            out,
            "<li id=\"{id}\">{text} <a href=\"#{id}-link\" aria-label=\"Back to where note {place} is named\">↩︎</a></li>"
        );
    }
    let own = esc_attr(&classes(part, "", "wp-block-footnotes"));
    (!out.is_empty()).then(|| format!("<ol class=\"{own}\">{out}</ol>"))
}
