//! The comments of a record, and the blocks inside a list for each of them.

use super::loops::document_of;
use super::rows::DocumentTree;
use super::wrapper::{link_classes, text_classes, wrapper};
use super::{DynamicPart, PartContext, boxed, date_of, frame, heading, moment_of, title_of};
use crate::records::{self, eq, txt};
use crate::registry::columns::record;
use crate::registry::name;
use cms_storage::plan::{Cond, DbValue, Op, Order};
use cms_text::html::Html;
use cms_text::phrase::fill;
use cms_text::sanitize::clean_url;
use cms_text::slug;
use serde_json::Value;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Answers to answers to answers: deeper ones are shown at this depth.
const MOST_LEVELS: u32 = 5;

/// The comments of a record: whether there are any, and whether more can be made.
fn discussion(part: &DynamicPart<'_>) -> Option<(u64, bool)> {
    let (count, state): (i64, Arc<str>) = part.row(&["comment_count", "comment_status"])?;
    Some((u64::try_from(count).unwrap_or(0), &*state == "open"))
}

/// The comments of a record, unless there are none and none can be made.
pub fn all(part: &DynamicPart<'_>) -> Option<Html> {
    let (count, open) = discussion(part)?;
    if count == 0 && !open || part.flag("legacy") {
        return None;
    }
    frame(part)
}

/// The number of a record's comments.
pub fn count(part: &DynamicPart<'_>) -> Option<Html> {
    let (count, _) = discussion(part)?;
    let mut html = Html::new();
    html.number(count);
    Some(boxed(&wrapper(part, &text_classes(part, "")), &html))
}

/// A link to the comments of a record that takes more of them.
pub fn link_to_all(part: &DynamicPart<'_>) -> Option<Html> {
    let scope = part.item.scope;
    let (count, _) = discussion(part).filter(|(_, open)| *open)?;
    let document = document_of(part, "link,title")?;
    let mut html = Html::new();
    // Clients have always been sent this address without quotes.
    let place = if count == 0 { "#respond" } else { "#comments" };
    html.raw("<a href=").text(&clean_url(document["link"].as_str()?)).raw(place).raw(">");
    match count {
        0 => html.text(scope.phrase("No comments")),
        count => html.text(&scope.plural("1 comment", "{count} comments", count)),
    };
    html.raw("<span class=\"screen-reader-text\"> ");
    html.phrase(scope.phrase("on {title}"), &[("title", &title_of(part, &document))]).raw("</span></a>");
    Some(boxed(&wrapper(part, &text_classes(part, "")), &html))
}

/// How many answers a record has, as a heading.
pub fn title(part: &DynamicPart<'_>) -> Option<Html> {
    let (count, _) = discussion(part).filter(|(count, _)| *count > 0)?;
    let document = document_of(part, "title")?;
    let shows = |key: &str| part.attributes[key] != false;
    let (counted, named) = (shows("showCommentsCount"), shows("showPostTitle"));
    let (open, close) = heading(part.number("level", 2).max(1));
    let mut html = Html::new();
    html.raw(open).raw(" id=\"comments\"").attrs(&wrapper(part, &text_classes(part, ""))).raw(">");
    let scope = part.item.scope;
    html.text(&match counted {
        true => scope.plural("One response", "{count} responses", count),
        false => scope.plural("Response", "Responses", count),
    });
    if named {
        html.raw(" ").phrase(scope.phrase("to &#8220;{title}&#8221;"), &[("title", &title_of(part, &document))]);
    }
    html.raw(close);
    Some(html)
}

/// Links to pages of comments: all of them are on one page.
pub fn pages(part: &DynamicPart<'_>) -> Option<Html> {
    let inside = part.inside(part.within);
    let mut html = Html::new();
    html.raw("<nav").attrs(&wrapper(part, &link_classes(part, "")));
    html.attr("aria-label", part.item.scope.phrase("Comments pagination")).raw(">");
    html.html(&inside).raw("</nav>");
    (!inside.as_str().trim().is_empty()).then_some(html)
}

/// The comments of a record, answers below what they answer.
pub fn list(part: &DynamicPart<'_>) -> Option<Html> {
    const FIELDS: &str = "id,parent,post,type,author,author_name,author_url,author_avatar_urls,link,date,content";
    let scope = part.item.scope;
    let unlocked = Cond::Related {
        table: name(record::TABLE),
        inner: name("id"),
        outer: name("post"),
        filter: Box::new(eq("password", txt(""))),
    };
    let types = scope.registry.comment_resources().flat_map(|resource| resource.declared.comment_types.keys());
    let special = types.map(|kind| Cond::Not(Box::new(eq("kind", txt(kind)))));
    let mut filter = vec![
        eq("post", DbValue::Int(part.within.record())),
        eq("status", txt(scope.registry.approved_comment_status())),
        Cond::Compare(name("post"), Op::Ne, DbValue::Int(0)),
        unlocked,
    ];
    filter.extend(special);
    let order = vec![Order::Column(name("date_utc"), false), Order::Column(name("id"), false)];
    let found = part.documents(Cond::All(filter), order, super::MOST_ROWS, FIELDS);
    if found.is_empty() {
        return None;
    }
    let writer = document_of(part, "author").and_then(|document| document["author"].as_i64());
    let open = discussion(part).is_some_and(|(_, open)| open);
    let slugs = slugs(part, &found);
    let thread = CommentThread {
        part,
        tree: DocumentTree::build_tree(&found),
        writer,
        open,
        slugs,
        shown: Cell::new(0),
        threads: Cell::new(0),
    };
    let mut html = Html::new();
    html.raw("<ol").attrs(&wrapper(part, "")).raw(">");
    thread.level(0, 1, &mut html);
    html.raw("</ol>");
    Some(html)
}

/// The slugs of the users who wrote comments.
fn slugs(part: &DynamicPart<'_>, comments: &[Value]) -> HashMap<i64, String> {
    let ids: BTreeSet<i64> =
        comments.iter().filter_map(|comment| comment["author"].as_i64()).filter(|id| *id != 0).collect();
    let Some(users) = part.item.scope.registry.users().filter(|_| !ids.is_empty()) else {
        return HashMap::new();
    };
    let most = ids.len() as u64;
    let found = part.documents_of(users, records::is_in("id", ids), Vec::new(), (0, most), "id,slug");
    let slug = |user: &Value| Some((user["id"].as_i64()?, slug::sanitize_title(user["slug"].as_str()?)));
    found.iter().filter_map(slug).collect()
}

/// A list of comments while it is written.
struct CommentThread<'t, 'a> {
    part: &'t DynamicPart<'a>,
    tree: DocumentTree<'t>,
    /// Who wrote the record.
    writer: Option<i64>,
    /// Whether the record takes more comments.
    open: bool,
    /// See [`slugs`].
    slugs: HashMap<i64, String>,
    /// Comments so far.
    shown: Cell<u32>,
    /// Of those, how many answer none.
    threads: Cell<u32>,
}

impl CommentThread<'_, '_> {
    fn level(&self, above: i64, depth: u32, html: &mut Html) {
        for comment in self.tree.children(above) {
            if !self.part.has_room_for_row(html) {
                break;
            }
            let id = comment["id"].as_i64().unwrap_or(0);
            let within = PartContext {
                comment: Some(comment),
                open: self.open,
                depth: self.part.within.depth + 1,
                ..self.part.within
            };
            html.raw("<li id=\"comment-").number(id).raw("\"").attr("class", &self.classes(comment, depth)).raw(">");
            html.html(&self.part.inside(within));
            if !self.tree.children(id).is_empty() {
                html.raw(if depth < MOST_LEVELS { "<ol>" } else { "" });
                self.level(id, (depth + 1).min(MOST_LEVELS), html);
                html.raw(if depth < MOST_LEVELS { "</ol>" } else { "" });
            }
            html.raw("</li>");
        }
    }

    /// Classes of a comment: its type, its author, and its place in the list.
    fn classes(&self, comment: &Value, depth: u32) -> String {
        let mut all = vec![slug::sanitize_title(comment["type"].as_str().unwrap_or("comment"))];
        if let Some(author) = comment["author"].as_i64().filter(|author| *author != 0) {
            let slug = self.slugs.get(&author);
            all.extend(slug.map(|slug| format!("byuser comment-author-{slug}")));
            all.extend((self.writer == Some(author)).then(|| "bypostauthor".to_owned()));
        }
        let place = self.shown.replace(self.shown.get() + 1);
        all.push(if place % 2 == 1 { "odd alt" } else { "even" }.to_owned());
        if depth == 1 {
            let place = self.threads.replace(self.threads.get() + 1);
            all.push(if place % 2 == 1 { "thread-odd thread-alt" } else { "thread-even" }.to_owned());
        }
        all.push(format!("depth-{depth}"));
        all.join(" ")
    }
}

/// Who wrote a comment, as a link where there is an address.
pub fn author(part: &DynamicPart<'_>) -> Option<Html> {
    let comment = part.within.comment?;
    let name =
        comment["author_name"].as_str().filter(|name| !name.is_empty()).unwrap_or(part.item.scope.phrase("Anonymous"));
    let link = clean_url(comment["author_url"].as_str().unwrap_or(""));
    let mut html = Html::new();
    match link.is_empty() || part.attributes["isLink"] == false {
        true => html.text(name),
        false => {
            html.raw("<a rel=\"external nofollow ugc\"").attr("href", &link);
            html.attr("target", super::loops::target(part)).raw(" >").text(name).raw("</a>")
        }
    };
    Some(boxed(&wrapper(part, &text_classes(part, "")), &html))
}

/// The text of a comment.
pub fn content(part: &DynamicPart<'_>) -> Option<Html> {
    let text = part.within.comment?["content"]["rendered"].as_str().filter(|text| !text.is_empty())?;
    Some(boxed(&wrapper(part, &text_classes(part, "")), &Html::rendered(text)))
}

/// When a comment was written, as a link to it.
pub fn date(part: &DynamicPart<'_>) -> Option<Html> {
    let comment = part.within.comment?;
    let (local, machine) = moment_of(part.item, &comment["date"]);
    let mut html = Html::new();
    html.raw("<time").attr("datetime", &machine).raw(">");
    match comment["link"].as_str().filter(|_| part.attributes["isLink"] != false) {
        Some(link) => html.raw("<a").attr("href", link).raw(">").text(&date_of(part, local)).raw("</a>"),
        None => html.text(&date_of(part, local)),
    };
    html.raw("</time>");
    Some(boxed(&wrapper(part, &link_classes(part, "")), &html))
}

/// A link to answer a comment of a record that takes comments.
pub fn reply(part: &DynamicPart<'_>) -> Option<Html> {
    let comment = part.within.comment.filter(|_| part.within.open)?;
    let id = comment["id"].as_i64()?;
    let post = comment["post"].as_i64()?;
    let link = comment["link"].as_str()?.split('#').next().unwrap_or_default();
    let scope = part.item.scope;
    let name = comment["author_name"].as_str().unwrap_or("");
    let label = fill(scope.phrase("Reply to {name}"), &[("name", name)]);
    let between = if link.contains('?') { '&' } else { '?' };
    let mut html = Html::new();
    html.raw("<a rel=\"nofollow\" class=\"comment-reply-link\"");
    html.address("href", &format!("{link}{between}replytocom={id}#respond"));
    html.raw(" data-commentid=\"").number(id).raw("\" data-postid=\"").number(post);
    html.raw("\" data-belowelement=\"comment-").number(id).raw("\" data-respondelement=\"respond\"");
    html.attr("data-replyto", &label).attr("aria-label", &label).raw(">");
    html.text(scope.phrase("Reply")).raw("</a>");
    Some(boxed(&wrapper(part, &text_classes(part, "")), &html))
}
