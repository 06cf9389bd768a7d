//! Lists of records, months, terms, pages and comments.

use super::people::Avatar;
use super::rows::DocumentTree;
use super::wrapper::wrapper;
use super::{DynamicPart, MOST_DEPTH, MOST_ROWS, MOST_SPANS, published, seen_by_all, time_of, title_of, unwrapped};
use crate::access::policy;
use crate::records::{self, eq, is_in, txt};
use crate::registry::columns::{record, user};
use crate::registry::name;
use cms_storage::plan::{Cond, DbValue, Op, Order};
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use cms_text::phrase::fill;
use cms_text::render::{first_words, render_title};
use cms_text::sanitize::clean_url;
use cms_text::time::CivilDateTime;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

/// A list of the newest records, or in another order.
pub fn latest(part: &DynamicPart<'_>) -> Option<Html> {
    let column = match part.text("orderBy") {
        "title" => "title_key",
        "modified" => "modified_local",
        _ => "date_local",
    };
    let descending = part.text("order") != "asc";
    let mut filter = vec![published(part)];
    let terms = part.numbers("categories");
    if !terms.is_empty() {
        let relation = part.of?.relations.iter().find(|relation| relation.is_list())?;
        filter.push(Cond::Linked { rel: relation.rel.clone(), dst: terms });
    }
    if let Some(author) = part.numbers("selectedAuthor").first() {
        filter.push(eq("author", DbValue::Int(*author)));
    }
    let order = vec![Order::Column(name(column), descending), Order::Column(name("id"), descending)];
    let shown = part.number("postsToShow", 5);
    let excerpt = if part.flag("displayPostContent") { ",excerpt" } else { "" };
    let fields = format!("id,link,title,date,date_gmt,author{excerpt}");
    let found = part.documents(Cond::All(filter), order, shown, &fields);
    let authors = if part.flag("displayAuthor") { authors_of(part, &found) } else { HashMap::new() };
    let mut own = "wp-block-latest-posts__list".to_owned();
    let layout = &part.attributes["layout"];
    if layout["type"].as_str().unwrap_or(part.text("postLayout")) == "grid" {
        own.push_str(" is-grid");
        let legacy = if layout.is_object() { 0 } else { part.number("columns", 3) };
        match layout["columnCount"].as_u64().unwrap_or(legacy) {
            0 => {}
            columns => drop(write!(own, " columns-{columns}")),
        }
    }
    if part.flag("displayPostDate") {
        own.push_str(" has-dates");
    }
    if part.flag("displayAuthor") {
        own.push_str(" has-author");
    }
    if part.attributes["style"]["elements"]["link"]["color"]["text"].is_string() {
        own.push_str(" has-link-color");
    }
    let mut html = Html::new();
    html.raw("<ul").attrs(&wrapper(part, &own)).raw(">");
    for record in &found {
        if !part.has_room_for_row(&html) {
            break;
        }
        let link = record["link"].as_str().unwrap_or("");
        html.raw("<li><a class=\"wp-block-latest-posts__post-title\"").attr("href", link).raw(">");
        html.html(&title_of(part, record)).raw("</a>");
        if let Some(author) = authors.get(&record["author"].as_i64().unwrap_or(0)) {
            let by = fill(part.item.scope.phrase("by {name}"), &[("name", author)]);
            html.raw("<div class=\"wp-block-latest-posts__post-author\">").text(&by).raw("</div>");
        }
        if part.flag("displayPostDate") {
            html.html(&time_of(part, &record["date"], "wp-block-latest-posts__post-date", None));
        }
        if let Some(excerpt) = record["excerpt"]["rendered"].as_str() {
            html.raw("<div class=\"wp-block-latest-posts__post-excerpt\">");
            html.html(&Html::rendered(unwrapped(excerpt))).raw("</div>");
        }
        html.raw("</li>\n");
    }
    html.raw("</ul>");
    Some(html)
}

/// The names of the authors of records, by their numbers.
fn authors_of(part: &DynamicPart<'_>, found: &[Value]) -> HashMap<i64, String> {
    let ids = found.iter().filter_map(|record| record["author"].as_i64());
    let plan = records::columns(user::TABLE, &["id", "name"], is_in("id", ids));
    part.rows_as(&plan)
}

/// A month or a year that records were published in.
pub struct ArchivePeriod {
    address: String,
    label: String,
    /// How many records.
    count: u64,
}

/// The months, or years, that records were published in, the newest first.
pub fn archive(part: &DynamicPart<'_>) -> Option<Html> {
    let scope = part.item.scope;
    let yearly = part.text("type") == "yearly";
    let periods = part.within.budget.archive(part.of?, yearly, || periods(part, yearly));
    let counted = part.flag("showPostCounts");
    let mut html = Html::new();
    if part.flag("displayAsDropdown") {
        let own = wrapper(part, "wp-block-archives-dropdown");
        let id = format!("wp-block-archives-{}", part.within.budget.unique.number());
        html.raw("<div").attrs(&own).raw("><label").attr("for", &id);
        html.attr("class", &label_class(part, "wp-block-archives__label")).raw(">");
        html.text(scope.phrase("Archives")).raw("</label>\n\t\t<select");
        html.attr("id", &id).raw(" name=\"archive-dropdown\">\n\t\t<option value=\"\">");
        html.text(if yearly { scope.phrase("Select Year") } else { scope.phrase("Select Month") }).raw("</option>");
        for period in &*periods {
            html.raw("\t<option").attr_in_single_quotes("value", &period.address).raw("> ").text(&period.label);
            if counted {
                html.raw(" &nbsp;(").number(period.count).raw(")");
            }
            html.raw("</option>\n");
        }
        html.raw("</select></div>");
        return Some(html);
    }
    html.raw("<ul").attrs(&wrapper(part, "wp-block-archives-list")).raw(">");
    for period in &*periods {
        html.raw("\t<li><a").attr_in_single_quotes("href", &period.address).raw(">").text(&period.label).raw("</a>");
        if counted {
            html.raw("&nbsp;(").number(period.count).raw(")");
        }
        html.raw("</li>\n");
    }
    html.raw("</ul>");
    Some(html)
}

/// The classes of a drop-down's label; one that the author does not show is for screen readers alone.
fn label_class(part: &DynamicPart<'_>, own: &str) -> String {
    if part.attributes["showLabel"] == false { format!("{own} screen-reader-text") } else { own.to_owned() }
}

fn periods(part: &DynamicPart<'_>, yearly: bool) -> Vec<ArchivePeriod> {
    let begins = |day: i64| CivilDateTime {
        day: 1,
        month: if yearly { 1 } else { CivilDateTime::of(day).month },
        ..CivilDateTime::of(day)
    };
    let mut periods: Vec<(CivilDateTime, u64)> = Vec::new();
    for (day, count) in part.days(published(part)).into_iter().rev() {
        let full = periods.len() == MOST_SPANS;
        match periods.last_mut() {
            Some((period, all)) if *period == begins(day) => *all += count,
            _ if full => break,
            _ => periods.push((begins(day), count)),
        }
    }
    let site = &part.item.scope.registry.site.front;
    let period = |(period, count): (CivilDateTime, u64)| {
        let (path, label) = match yearly {
            true => (format!("{:04}", period.year), format!("{:04}", period.year)),
            false => {
                let label = part.format_date(period.seconds().unwrap_or(0), "%B %Y");
                (format!("{:04}/{:02}", period.year, period.month), label)
            }
        };
        ArchivePeriod { address: format!("{site}/{path}/"), label, count }
    };
    periods.into_iter().map(period).collect()
}

/// The terms of records, by name, those below others nested where that is wanted.
pub fn terms(part: &DynamicPart<'_>) -> Option<Html> {
    let full = Cond::Compare(name("count"), Op::Gt, DbValue::Int(0));
    let filter = if part.flag("showEmpty") { records::always() } else { full };
    let filter = match part.flag("showOnlyTopLevel") {
        true => Cond::All(vec![filter, eq("parent", DbValue::Int(0))]),
        false => filter,
    };
    let order = vec![Order::Column(name("name_key"), false)];
    let found = part.documents(filter, order, MOST_ROWS, "id,name,slug,link,count,parent");
    let tree = part.flag("showHierarchy").then(|| DocumentTree::build_tree(&found));
    let terms = Terms { part, all: found.iter().collect(), tree };
    let resource = part.of?;
    let shape = if part.flag("displayAsDropdown") { "dropdown" } else { "list" };
    let own = format!("wp-block-categories-{shape} wp-block-categories-taxonomy-{}", resource.api_name);
    let own = wrapper(part, &own);
    let times = part.within.budget.unique.count_landmark("wp-block-categories");
    let mut html = Html::new();
    if shape == "list" {
        html.raw("<ul").attrs(&own).raw(">");
        terms.list(0, 0, &mut html);
        html.raw("</ul>");
        return Some(html);
    }
    let label = |name: &str| resource.declared.labels.get(name).map_or(resource.api_name.as_str(), String::as_str);
    let given = Some(part.text("label")).filter(|given| !given.is_empty());
    let id = format!("wp-block-categories-{times}");
    html.raw("<div").attrs(&own).raw("><label");
    html.attr("class", &label_class(part, "wp-block-categories__label")).attr("for", &id).raw(">");
    html.html(&Html::sanitised(given.unwrap_or(label("name")), Policy::posts())).raw("</label><select ");
    html.attr_in_single_quotes("name", resource.declared.query_var.as_deref().unwrap_or(&resource.api_name));
    html.attr_in_single_quotes("id", &id).raw(" class='postform'>\n\t<option value='-1'>");
    let select = part.item.scope.phrase("Select {name}");
    html.text(&fill(select, &[("name", label("singular_name"))])).raw("</option>\n");
    terms.options(0, 0, &mut html);
    html.raw("</select>\n</div>");
    Some(html)
}

/// Terms while they are written.
struct Terms<'t, 'a> {
    part: &'t DynamicPart<'a>,
    all: Vec<&'t Value>,
    /// Where those below others are nested.
    tree: Option<DocumentTree<'t>>,
}

impl Terms<'_, '_> {
    /// The terms below one; all of them where none are nested.
    fn level(&self, above: i64, depth: u8) -> &[&Value] {
        match &self.tree {
            _ if depth > MOST_DEPTH * 4 => &[],
            Some(tree) => tree.children(above),
            None => &self.all,
        }
    }

    /// The options of a drop-down, those below others further in.
    fn options(&self, above: i64, depth: u8, html: &mut Html) {
        for term in self.level(above, depth) {
            if !self.part.has_room_for_row(html) {
                break;
            }
            html.raw("\t<option").attr("class", &format!("level-{depth}"));
            html.attr("value", term["slug"].as_str().unwrap_or("")).raw(">");
            for _ in 0..depth {
                html.raw("&nbsp;&nbsp;&nbsp;");
            }
            html.text(term["name"].as_str().unwrap_or(""));
            if self.part.flag("showPostCounts") {
                html.raw("&nbsp;&nbsp;(").number(term["count"].as_u64().unwrap_or(0)).raw(")");
            }
            html.raw("</option>\n");
            if let (Some(_), Some(id)) = (&self.tree, term["id"].as_i64()) {
                self.options(id, depth + 1, html);
            }
        }
    }

    /// The items of a list, those below others in lists of their own.
    fn list(&self, above: i64, depth: u8, html: &mut Html) {
        for term in self.level(above, depth) {
            if !self.part.has_room_for_row(html) {
                break;
            }
            let id = term["id"].as_i64().unwrap_or(0);
            html.raw("\t<li").attr("class", &format!("cat-item cat-item-{id}")).raw("><a");
            html.attr("href", term["link"].as_str().unwrap_or("")).raw(">");
            html.text(term["name"].as_str().unwrap_or("")).raw("</a>");
            if self.part.flag("showPostCounts") {
                html.raw(" (").number(term["count"].as_u64().unwrap_or(0)).raw(")");
            }
            html.raw("\n");
            if self.tree.as_ref().is_some_and(|tree| !tree.children(id).is_empty()) {
                html.raw("<ul class='children'>\n");
                self.list(id, depth + 1, html);
                html.raw("</ul>\n");
            }
            html.raw("</li>\n");
        }
    }
}

/// The terms that most records carry, larger the more.
pub fn cloud(part: &DynamicPart<'_>) -> Option<Html> {
    const SMALLEST: f64 = 8.0;
    const LARGEST: f64 = 22.0;
    let full = Cond::Compare(name("count"), Op::Gt, DbValue::Int(0));
    let order = vec![Order::Column(name("count"), true), Order::Column(name("id"), false)];
    let mut found = part.documents(full, order, part.number("numberOfTags", 45), "id,name,link,count");
    let weight = |term: &Value| ((term["count"].as_f64().unwrap_or(0.0) + 1.0).log10() * 100.0).round();
    let least = found.iter().map(weight).fold(f64::INFINITY, f64::min);
    let most = found.iter().map(weight).fold(0.0, f64::max);
    found.sort_by_key(|term| cms_text::slug::title_key(term["name"].as_str().unwrap_or("")));
    let step = (LARGEST - SMALLEST) / (most - least).max(1.0);
    if found.is_empty() {
        return None;
    }
    let mut html = Html::new();
    html.raw("<p").attrs(&wrapper(part, "")).raw(">");
    for (place, term) in found.iter().enumerate() {
        let (count, name) = (term["count"].as_f64().unwrap_or(0.0), term["name"].as_str().unwrap_or(""));
        let classes =
            format!("tag-cloud-link tag-link-{} tag-link-position-{}", term["id"].as_i64().unwrap_or(0), place + 1);
        let label = format!("{name} {}", part.item.scope.plural("({count} item)", "({count} items)", count as u64));
        html.raw(if place == 0 { "<a" } else { "\n<a" }).attr("href", term["link"].as_str().unwrap_or(""));
        html.attr("class", &classes)
            .raw(" style=\"font-size: ")
            .number(fourteen_digits(SMALLEST + (weight(term) - least) * step))
            .raw("pt;\"");
        html.attr("aria-label", &label).raw(">").text(name);
        if part.flag("showTagCounts") {
            html.raw("<span class=\"tag-link-count\"> (").number(count).raw(")</span>");
        }
        html.raw("</a>");
    }
    html.raw("</p>");
    Some(html)
}

/// A number below a hundred, as long as the reference writes it.
fn fourteen_digits(number: f64) -> f64 {
    let places = if number < 10.0 { 1e13 } else { 1e12 };
    (number * places).round() / places
}

/// Records nested by their parents.
pub fn tree(part: &DynamicPart<'_>) -> Option<Html> {
    let order = vec![Order::Column(name("menu_order"), false), Order::Column(name("title_key"), false)];
    let found = part.documents(published(part), order, MOST_ROWS, "id,link,title,parent");
    let top = part.number("parentPageID", 0);
    let mut items = Html::new();
    list_pages(part, &DocumentTree::of(&found), i64::try_from(top).unwrap_or(0), 0, &mut items);
    let mut html = Html::new();
    html.raw("<ul").attrs(&wrapper(part, "")).raw(">").html(&items).raw("</ul>");
    (!items.is_empty()).then_some(html)
}

fn list_pages(part: &DynamicPart<'_>, tree: &DocumentTree<'_>, above: i64, depth: u8, html: &mut Html) {
    for page in tree.children(above).iter().filter(|_| depth <= MOST_DEPTH * 4) {
        if !part.has_room_for_row(html) {
            break;
        }
        let id = page["id"].as_i64().unwrap_or(0);
        let parent = !tree.children(id).is_empty();
        html.raw("<li class=\"wp-block-pages-list__item").raw(if parent { " has-child" } else { "" });
        html.raw(if depth > 0 { " \"><a" } else { "\"><a" });
        html.raw(" class=\"wp-block-pages-list__item__link\"").attr("href", page["link"].as_str().unwrap_or(""));
        html.raw(">").html(&title_of(part, page)).raw("</a>");
        if parent {
            html.raw("<ul class=\"wp-block-navigation__submenu-container\">");
            list_pages(part, tree, id, depth + 1, html);
            html.raw("</ul>");
        }
        html.raw("</li>");
    }
}

/// The class of pictures in lists of comments.
const AVATAR: &str = "wp-block-latest-comments__comment-avatar";

/// The newest comments that everybody may read.
pub fn comments(part: &DynamicPart<'_>) -> Option<Html> {
    let open = Cond::Related {
        table: name(record::TABLE),
        inner: name("id"),
        outer: name("post"),
        filter: Box::new(seen_by_all(part.item.scope)),
    };
    let filter = Cond::All(vec![
        eq("status", txt(part.item.scope.registry.approved_comment_status())),
        eq("kind", txt("comment")),
        open,
    ]);
    let order = vec![Order::Column(name("date_utc"), true), Order::Column(name("id"), true)];
    let fields = "author_name,author_url,author_avatar_urls,link,date,content,post";
    let found = part.documents(filter, order, part.number("commentsToShow", 5), fields);
    let posts: Vec<i64> = found.iter().filter_map(|comment| comment["post"].as_i64()).collect();
    let titles = records::columns(record::TABLE, &["id", "title"], is_in("id", posts));
    let titles: HashMap<i64, String> = part.rows_as(&titles);
    let heading = |post: &Value| {
        let title = post.as_i64().and_then(|post| titles.get(&post));
        Html::rendered(title.map_or_else(String::new, |title| render_title(title)))
    };
    // These three are shown unless the author switches them off.
    let shows = |key: &str| part.attributes[key] != false;
    // The older attribute says only whether there is any.
    let content = match (part.attributes["displayExcerpt"].as_bool(), part.text("displayContent")) {
        (Some(excerpt), _) if !excerpt => "none",
        (None, known @ ("none" | "full")) => known,
        _ => "excerpt",
    };
    let (avatars, dates, excerpts) = (shows("displayAvatar"), shows("displayDate"), content != "none");
    let own: Vec<&str> = [(avatars, "has-avatars"), (dates, "has-dates"), (excerpts, "has-excerpts")]
        .iter()
        .filter_map(|(on, class)| on.then_some(*class))
        .collect();
    let mut html = Html::new();
    if found.is_empty() {
        html.raw("<div").attrs(&wrapper(part, "no-comments"));
        html.raw(">").text(part.item.scope.phrase("There are no comments yet.")).raw("</div>");
        return Some(html);
    }
    html.raw("<ol").attrs(&wrapper(part, &own.join(" "))).raw(">");
    for comment in &found {
        if !part.has_room_for_row(&html) {
            break;
        }
        html.raw("<li class=\"wp-block-latest-comments__comment\">");
        if let Some(picture) = comment["author_avatar_urls"]["48"].as_str().filter(|_| avatars) {
            html.html(&Avatar { address: picture, size: 48, alt: "", class: AVATAR, style: "" }.html());
        }
        let mut record = Html::new();
        record.raw("<a class=\"wp-block-latest-comments__comment-link\"");
        record.attr("href", comment["link"].as_str().unwrap_or(""));
        record.raw(">").html(&heading(&comment["post"])).raw("</a>");
        html.raw("<article><footer class=\"wp-block-latest-comments__comment-meta\">");
        html.phrase(
            part.item.scope.phrase("{name} on {title}"),
            &[("name", &author(part, comment)), ("title", &record)],
        );
        if dates {
            html.html(&time_of(part, &comment["date"], "wp-block-latest-comments__comment-date", None));
        }
        html.raw("</footer>");
        html.html(&told(comment, content));
        html.raw("</article></li>");
    }
    html.raw("</ol>");
    Some(html)
}

/// The part of a comment's text that a list shows: its beginning, all of it, or nothing.
fn told(comment: &Value, content: &str) -> Html {
    const WORDS: usize = 20;
    let rendered = comment["content"]["rendered"].as_str().unwrap_or("");
    let mut html = Html::new();
    match content {
        "none" => return html,
        "full" => {
            html.raw("<div class=\"wp-block-latest-comments__comment-excerpt\">");
            html.html(&Html::rendered(rendered)).raw("</div>");
        }
        _ => {
            html.raw("<div class=\"wp-block-latest-comments__comment-excerpt\"><p>");
            html.text(&first_words(rendered, WORDS, "&hellip;")).raw("</p>\n</div>");
        }
    }
    html
}

/// Who wrote a comment, as a link where there is an address.
fn author(part: &DynamicPart<'_>, comment: &Value) -> Html {
    let name =
        comment["author_name"].as_str().filter(|name| !name.is_empty()).unwrap_or(part.item.scope.phrase("Somebody"));
    let mut html = Html::new();
    match comment["author_url"].as_str().map(clean_url).filter(|url| !url.is_empty()) {
        Some(url) => {
            html.raw("<a class=\"wp-block-latest-comments__comment-author\"").attr("href", &url).raw(">");
            html.text(name).raw("</a>")
        }
        None => html.raw("<span class=\"wp-block-latest-comments__comment-author\">").text(name).raw("</span>"),
    };
    html
}

/// The record's footnotes, which its text refers to.
pub fn notes(part: &DynamicPart<'_>) -> Option<Html> {
    if !policy::reads_meta(part.item.scope, part.item.resource, "footnotes") {
        return None;
    }
    let space = records::meta_space(part.item.resource);
    let rows = part.item.scope.snapshot().ok()?.meta(&space, &[part.item.record.id()]).ok()?;
    // Stored as JSON within a text.
    let kept: String = serde_json::from_str(&rows.iter().find(|row| &*row.key == "footnotes")?.json).ok()?;
    let notes: Vec<Value> = serde_json::from_str(&kept).ok()?;
    let mut html = Html::new();
    html.raw("<ol").attrs(&wrapper(part, "")).raw(">");
    for (place, note) in notes.iter().enumerate() {
        let id = note["id"].as_str()?;
        html.raw("<li").attr("id", id).raw(">");
        html.html(&Html::sanitised(note["content"].as_str()?, Policy::posts())).raw(" <a");
        html.attr("href", &format!("#{id}-link"));
        let label = part.item.scope.phrase("Back to where note {number} is named");
        html.attr("aria-label", &fill(label, &[("number", &(place + 1).to_string())])).raw(">↩︎</a></li>");
    }
    html.raw("</ol>");
    (!notes.is_empty()).then_some(html)
}
