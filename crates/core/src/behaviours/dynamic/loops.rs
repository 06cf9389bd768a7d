//! A query block, and the blocks inside it for each record that it finds.

use super::rows::ListReads;
use super::wrapper::{link_classes, text_classes, wrapper};
use super::{
    DynamicPart, MOST_DEPTH, PartContext, RecordFrame, boxed, content_of, heading, nested, published, time_of, title_of,
};
use crate::records::{always, eq, is_in, txt};
use crate::registry::name;
use crate::registry::resource::Resource;
use cms_storage::plan::{Cond, DbValue, Order};
use cms_text::html::Html;
use cms_text::html_policy::Policy;
use cms_text::render::first_words;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The class of records that a password protects.
const LOCKED: &str = "post-password-required";
/// Records at the front of a query.
const MOST_STICKY: u64 = 10;

/// The fields of a record that its parts need: its own, and its terms by the names of the resource's properties.
fn fields_of(resource: &Resource) -> String {
    const OWN: &str = "id,link,title,date,date_gmt,author,featured_media,class_list";
    let terms =
        resource.relations.iter().filter(|relation| relation.is_list()).map(|relation| relation.property.as_str());
    std::iter::once(OWN).chain(terms).collect::<Vec<_>>().join(",")
}

/// A record that a query shows.
pub struct LoopRecord<'a> {
    resource: &'a Resource,
    document: &'a Value,
    list: &'a ListReads<'a>,
}

impl<'a> LoopRecord<'a> {
    /// The list that it is shown in.
    pub fn list(&self) -> &'a ListReads<'a> {
        self.list
    }

    /// Its number.
    pub fn id(&self) -> i64 {
        self.document["id"].as_i64().unwrap_or(0)
    }
}

/// The query around a part: its filter, order and page.
pub struct LoopQuery<'a> {
    pub resource: &'a Resource,
    /// Which records.
    filter: Cond,
    order: Vec<Order>,
    /// Records that are left out at the beginning.
    skipped: u64,
    pub per_page: u64,
    /// Pages at most; 0: all.
    most_pages: u64,
    /// Records that stay at the front, unless authors, terms or words were chosen.
    front: Option<Cond>,
}

impl LoopQuery<'_> {
    /// How many records there are.
    pub fn total(&self, part: &DynamicPart<'_>) -> u64 {
        part.count_of(self.resource, self.filter.clone())
    }

    /// How many pages there are, of so many records.
    pub fn pages(&self, total: u64) -> u64 {
        let pages = total.div_ceil(self.per_page);
        if self.most_pages == 0 { pages } else { pages.min(self.most_pages) }
    }

    fn documents(self, part: &DynamicPart<'_>) -> Vec<Value> {
        let (fields, window) = (fields_of(self.resource), (self.skipped, self.per_page));
        let found = part.documents_of(self.resource, self.filter, self.order, window, &fields);
        match self.front {
            Some(front) => sticky_first(part, self.resource, front, found),
            None => found,
        }
    }
}

/// The query around a part; `None` where it is the page's own query, which contents do not have.
pub fn found<'a>(part: &'a DynamicPart<'_>) -> Option<LoopQuery<'a>> {
    let query = part.within.around("query").filter(|query| query["inherit"] != true)?;
    let text = |key: &str| query[key].as_str().unwrap_or("");
    let registry = &part.item.scope.registry;
    let resource = match text("postType") {
        "" => part.of?,
        // Records that everybody may search for are public.
        api_name => registry.resource_by_api_name(api_name).filter(|r| r.is_content() && r.declared.searchable)?,
    };
    let mut filter = vec![published(part)];
    let author = match &query["author"] {
        Value::String(text) => text.split(',').filter_map(|id| id.trim().parse().ok()).collect(),
        Value::Number(one) => one.as_i64().into_iter().collect(),
        list => ids(list),
    };
    if !author.is_empty() {
        filter.push(is_in("author", author.clone()));
    }
    let (exclude, parents) = (ids(&query["exclude"]), ids(&query["parents"]));
    if !exclude.is_empty() {
        filter.push(Cond::Not(Box::new(is_in("id", exclude))));
    }
    if !parents.is_empty() {
        filter.push(is_in("parent", parents));
    }
    if !text("search").is_empty() {
        let columns = ["title", "content", "excerpt"].map(name).to_vec();
        filter.push(Cond::Contains(columns, text("search").into()));
        filter.push(eq("password", txt("")));
    }
    match text("sticky") {
        "only" => filter.push(eq("sticky", DbValue::Int(1))),
        "exclude" => filter.push(eq("sticky", DbValue::Int(0))),
        _ => {}
    }
    if query["excludeCurrent"] == true {
        let current = part.within.record();
        filter.push(Cond::Not(Box::new(eq("id", DbValue::Int(current)))));
    }
    filter.extend(terms_of(part, resource, &query["taxQuery"]));
    let column = match text("orderBy") {
        "title" => "title_key",
        "modified" => "modified_local",
        "menu_order" => "menu_order",
        "id" => "id",
        _ => "date_local",
    };
    let descending = text("order") != "asc";
    let order = vec![Order::Column(name(column), descending), Order::Column(name("id"), descending)];
    let chosen = !author.is_empty()
        || !text("search").is_empty()
        || query["taxQuery"].as_object().is_some_and(|all| !all.is_empty());
    let front = (!chosen && text("sticky").is_empty() && resource.column("sticky").is_some())
        .then(|| Cond::All(filter.iter().cloned().chain([eq("sticky", DbValue::Int(1))]).collect()));
    Some(LoopQuery {
        resource,
        filter: Cond::All(filter),
        order,
        skipped: query["offset"].as_u64().unwrap_or(0),
        per_page: query["perPage"].as_u64().unwrap_or(10).max(1),
        most_pages: query["pages"].as_u64().unwrap_or(0),
        front,
    })
}

/// The records of a query that chooses none, behind those that stay at the front.
fn sticky_first(part: &DynamicPart<'_>, resource: &Resource, filter: Cond, found: Vec<Value>) -> Vec<Value> {
    let order = vec![Order::Column(name("date_local"), true), Order::Column(name("id"), true)];
    let sticky = part.documents_of(resource, filter, order, (0, MOST_STICKY), &fields_of(resource));
    let is_sticky = |document: &Value| sticky.iter().any(|front| front["id"] == document["id"]);
    let (mut all, rest): (Vec<Value>, Vec<Value>) = found.into_iter().partition(is_sticky);
    let missing: Vec<Value> =
        sticky.iter().filter(|front| !all.iter().any(|own| own["id"] == front["id"])).cloned().collect();
    all.extend(missing);
    all.extend(rest);
    all
}

/// Numbers of a list, written as numbers or as texts.
fn ids(list: &Value) -> Vec<i64> {
    let number = |id: &Value| id.as_i64().or_else(|| id.as_str()?.trim().parse().ok());
    list.as_array().into_iter().flatten().filter_map(number).collect()
}

/// Conditions on the terms of records: the terms by taxonomy, or these in `include` and `exclude`.
fn terms_of(part: &DynamicPart<'_>, resource: &Resource, wanted: &Value) -> Vec<Cond> {
    let registry = &part.item.scope.registry;
    let linked = |terms: &Value| -> Vec<Cond> {
        let all = terms.as_object().into_iter().flatten();
        let one = |(taxonomy, terms): (&String, &Value)| {
            let relation =
                resource.relations.iter().find(|r| r.is_list() && registry.resources[r.to].api_name == *taxonomy)?;
            let dst = Some(ids(terms)).filter(|ids| !ids.is_empty())?;
            Some(Cond::Linked { rel: relation.rel.clone(), dst })
        };
        all.filter_map(one).collect()
    };
    if wanted.get("include").is_none() && wanted.get("exclude").is_none() {
        return linked(wanted);
    }
    let excluded = linked(&wanted["exclude"]).into_iter().map(|cond| Cond::Not(Box::new(cond)));
    linked(&wanted["include"]).into_iter().chain(excluded).collect()
}

/// The records that the surrounding query finds, each with the blocks inside.
pub fn records(part: &DynamicPart<'_>) -> Option<Html> {
    if part.within.depth >= MOST_DEPTH {
        return None;
    }
    let found = found(part)?;
    let resource = found.resource;
    let documents = found.documents(part);
    let layout = &part.attributes["layout"];
    let own = match (layout["type"].as_str(), layout["columnCount"].as_u64()) {
        (Some("grid"), columns) => format!("columns-{}", columns.unwrap_or(3)),
        _ => String::new(),
    };
    if documents.is_empty() {
        return None;
    }
    let mut html = Html::new();
    html.raw("<ul").attrs(&wrapper(part, &link_classes(part, &own))).raw(">");
    let list = ListReads::of(&documents);
    for document in &documents {
        if !part.has_room_for_row(&html) {
            break;
        }
        let shown = LoopRecord { resource, document, list: &list };
        let within = PartContext { depth: part.within.depth + 1, shown: Some(&shown), ..part.within };
        let names = document["class_list"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let own = std::iter::once("wp-block-post").chain(names).collect::<Vec<_>>().join(" ");
        html.raw("<li").attr("class", &own).raw(">").html(&part.inside(within)).raw("</li>");
    }
    html.raw("</ul>");
    Some(html)
}

/// The blocks that a query without results shows.
pub fn nothing(part: &DynamicPart<'_>) -> Option<Html> {
    if found(part).is_some_and(|found| !found.documents(part).is_empty()) {
        return None;
    }
    let inside = part.inside(part.within);
    (!inside.as_str().trim().is_empty()).then(|| boxed(&wrapper(part, &link_classes(part, "")), &inside))
}

/// The record that a query shows here, or the one whose content this is, which everybody who reads this may see.
pub fn subject<'a>(part: &'a DynamicPart<'_>) -> Option<(&'a Resource, Cow<'a, Value>)> {
    if let Some(shown) = part.within.shown {
        return Some((shown.resource, Cow::Borrowed(shown.document)));
    }
    let resource = part.item.resource;
    let own = eq("id", DbValue::Int(part.item.record.id()));
    let found = part.documents_of(resource, own, Vec::new(), (0, 1), &fields_of(resource));
    found.into_iter().next().map(|document| (resource, Cow::Owned(document)))
}

/// Fields of the record that a query shows here, or of the one whose content this is.
pub fn document_of(part: &DynamicPart<'_>, fields: &str) -> Option<Value> {
    let own = json!({"id": part.within.record()});
    let resource = part.within.shown.map_or(part.item.resource, |shown| shown.resource);
    part.related((&own, "id"), (resource, always()), Vec::new(), &format!("id,{fields}")).pop()
}

/// Where links of a part open.
pub fn target(part: &DynamicPart<'_>) -> &'static str {
    if part.text("linkTarget") == "_blank" { "_blank" } else { "_self" }
}

/// HTML as a link to the record, where an author wants one.
pub fn linked(part: &DynamicPart<'_>, document: &Value, inside: Html) -> Html {
    let Some(link) = document["link"].as_str().filter(|_| part.flag("isLink")) else { return inside };
    let mut html = Html::new();
    html.raw("<a").attr("href", link).attr("target", target(part)).raw(" >").html(&inside).raw("</a>");
    html
}

/// A record's title, and whether a password protects it.
fn whole_title(part: &DynamicPart<'_>, document: &Value) -> Html {
    let locked = document["class_list"].as_array().is_some_and(|all| all.iter().any(|class| class == LOCKED));
    let mut html = Html::new();
    match locked {
        true => html.phrase(part.item.scope.phrase("Protected: {title}"), &[("title", &title_of(part, document))]),
        false => html.html(&title_of(part, document)),
    };
    html
}

/// A record's title.
pub fn title(part: &DynamicPart<'_>) -> Option<Html> {
    let (_, document) = subject(part)?;
    document["title"]["rendered"].as_str().filter(|title| !title.is_empty())?;
    let (open, close) = heading(part.number("level", 2));
    let mut html = Html::new();
    html.raw(open).attrs(&wrapper(part, &text_classes(part, ""))).raw(">");
    html.html(&linked(part, &document, whole_title(part, &document))).raw(close);
    Some(html)
}

/// When a record was published, or when it was changed after that.
pub fn date(part: &DynamicPart<'_>) -> Option<Html> {
    let bound = &part.attributes["metadata"]["bindings"]["datetime"]["args"]["field"];
    let changed = bound == "modified" || (bound.is_null() && part.text("displayType") == "modified");
    let (_, document) = subject(part)?;
    let link = document["link"].as_str().filter(|_| part.flag("isLink"));
    if !changed {
        return Some(boxed(&wrapper(part, &text_classes(part, "")), &time_of(part, &document["date"], "", link)));
    }
    let later = |document: &Value| document["modified"].as_str() > document["date"].as_str();
    let document = document_of(part, "date,modified,link").filter(later)?;
    let own = if bound.is_null() { "wp-block-post-date__modified-date" } else { "" };
    let link = document["link"].as_str().filter(|_| part.flag("isLink"));
    Some(boxed(&wrapper(part, &text_classes(part, own)), &time_of(part, &document["modified"], "", link)))
}

/// A record's excerpt.
pub fn excerpt(part: &DynamicPart<'_>) -> Option<Html> {
    const WORDS: u64 = 55;
    const MOST_WORDS: u64 = 100;
    let document = document_of(part, "excerpt,link")?;
    let words = part.number("excerptLength", WORDS).clamp(1, MOST_WORDS);
    let text = document["excerpt"]["rendered"].as_str()?;
    let text = first_words(text, usize::try_from(words).unwrap_or_default(), "&hellip;");
    let mut html = Html::new();
    html.raw("<p class=\"wp-block-post-excerpt__excerpt\">").text(&text).raw(" ");
    let more = part.text("moreText");
    let link = document["link"].as_str().filter(|_| !more.is_empty());
    if link.is_some() && part.attributes["showMoreOnNewLine"] != false {
        html.raw("</p><p class=\"wp-block-post-excerpt__more-text\">");
    }
    if let Some(link) = link {
        html.raw("<a class=\"wp-block-post-excerpt__more-link\"").attr("href", link).raw(">").text(more).raw("</a>");
    }
    html.raw("</p>");
    Some(boxed(&wrapper(part, &text_classes(part, "")), &html))
}

/// A record's content; in the content itself once.
pub fn content(part: &DynamicPart<'_>) -> Option<Html> {
    const TAGS: [(&str, &str, &str); 3] =
        [("main", "<main", "</main>"), ("section", "<section", "</section>"), ("article", "<article", "</article>")];
    let (item, id) = (part.item, part.within.record());
    if part.within.is_showing(id) || part.within.depth >= MOST_DEPTH {
        return None;
    }
    let inside = match part.within.shown {
        Some(shown) => {
            let within = PartContext { shown: None, current: id, ..part.within };
            content_of(part, shown.resource, id, within, false)?
        }
        None => {
            let raw = item.record.text("content");
            part.within.budget.render(raw.len())?;
            let shows = RecordFrame { id, outer: part.within.shows };
            let within = PartContext { shows: Some(&shows), depth: part.within.depth + 1, ..part.within };
            Html::rendered(nested(item, raw, &super::super::read::options(item), within))
        }
    };
    let wanted = part.text("tagName").to_lowercase();
    let found = TAGS.iter().find(|(name, _, _)| *name == wanted);
    let (open, close) = found.map_or(("<div", "</div>"), |(_, open, close)| (*open, *close));
    let mut html = Html::new();
    html.raw(open).attrs(&wrapper(part, "entry-content")).raw(">").html(&inside).raw(close);
    (!inside.is_empty()).then_some(html)
}

/// A record's picture.
pub fn picture(part: &DynamicPart<'_>) -> Option<Html> {
    let (_, document) = subject(part)?;
    let media = (part.of?, crate::access::policy::visible(part.item.scope, part.of?));
    let fields = "id,alt_text,source_url,media_details";
    let picture = part.related((&document, "featured_media"), media, Vec::new(), fields).pop()?;
    let shown = &picture["media_details"]["sizes"][part.text("sizeSlug")];
    let shown = if shown.is_object() { shown } else { &picture["media_details"] };
    let source = shown["source_url"].as_str().or(picture["source_url"].as_str())?;
    let mut image = Html::new();
    image.raw("<img width=\"").number(shown["width"].as_u64().unwrap_or(0));
    image.raw("\" height=\"").number(shown["height"].as_u64().unwrap_or(0)).raw("\"").attr("src", source);
    image.raw(" class=\"attachment-post-thumbnail size-post-thumbnail wp-post-image\"");
    image.attr("alt", picture["alt_text"].as_str().unwrap_or("")).raw(" style=\"object-fit:cover;\" />");
    let mut html = Html::new();
    html.raw("<figure").attrs(&wrapper(part, "")).raw(">");
    html.html(&linked(part, &document, image)).raw("</figure>");
    Some(html)
}

/// The terms of a record in one taxonomy.
pub fn terms(part: &DynamicPart<'_>) -> Option<Html> {
    let (resource, document) = subject(part)?;
    let registry = &part.item.scope.registry;
    let wanted = part.text("term");
    let relation = resource.relations.iter().find(|r| r.is_list() && registry.resources[r.to].api_name == wanted)?;
    let order = vec![Order::Column(name("name_key"), false)];
    let taxonomy = (&registry.resources[relation.to], always());
    let found = part.related((&document, relation.property.as_str()), taxonomy, order, "id,name,link");
    if found.is_empty() {
        return None;
    }
    let between = part.attributes["separator"].as_str().unwrap_or(", ");
    let mut html = Html::new();
    let phrase = |key: &str| Html::sanitised(part.text(key), Policy::phrases());
    let (prefix, suffix) = (phrase("prefix"), phrase("suffix"));
    if !prefix.is_empty() {
        html.raw("<span class=\"wp-block-post-terms__prefix\">").html(&prefix).raw("</span>");
    }
    for (place, term) in found.iter().enumerate() {
        if place > 0 {
            html.raw("<span class=\"wp-block-post-terms__separator\">").text(between).raw("</span>");
        }
        html.raw("<a").attr("href", term["link"].as_str().unwrap_or("")).raw(" rel=\"tag\">");
        html.text(term["name"].as_str().unwrap_or("")).raw("</a>");
    }
    if !suffix.is_empty() {
        html.raw("<span class=\"wp-block-post-terms__suffix\">").html(&suffix).raw("</span>");
    }
    Some(boxed(&wrapper(part, &text_classes(part, &format!("taxonomy-{wanted}"))), &html))
}

/// A link to a record.
pub fn link(part: &DynamicPart<'_>) -> Option<Html> {
    let (_, document) = subject(part)?;
    let text =
        Some(part.text("content")).filter(|text| !text.is_empty()).unwrap_or(part.item.scope.phrase("Read more"));
    let mut html = Html::new();
    html.raw("<a").attrs(&wrapper(part, "")).attr("href", document["link"].as_str()?);
    html.attr("target", target(part)).raw(">").text(text).raw("<span class=\"screen-reader-text\">: ");
    html.html(&title_of(part, &document)).raw("</span></a>");
    Some(html)
}
