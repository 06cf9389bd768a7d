//! The heads of 500 records, compared with what Yoast SEO shows of such records: 37 members of each, by facts from the plugin's
//! documentation and its own tests, written down by hand. Texts are compared as texts: the plugin writes some signs as entities.

use super::media::{png, upload};
use super::server::{Server, with_profiles};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const RECORDS: usize = 500;

const SITE: &str = r#"
[settings]
title = "Harbour Notes"
description = "Boats and ropes"

[seo]
twitter_site = "@harbour"
facebook_page = "https://www.facebook.com/harbour"
publisher = { name = "Harbour Trust", logo = "https://www.example.org/logo.png" }
"#;

/// Members of `yoast_head_json`.
const MEMBERS: [&str; 33] = [
    "title",
    "description",
    "robots/index",
    "robots/follow",
    "robots/max-snippet",
    "robots/max-image-preview",
    "robots/max-video-preview",
    "robots/imageindex",
    "robots/archive",
    "robots/snippet",
    "canonical",
    "og_locale",
    "og_type",
    "og_title",
    "og_description",
    "og_url",
    "og_site_name",
    "article_publisher",
    "article_published_time",
    "article_modified_time",
    "og_image/0/url",
    "og_image/0/width",
    "og_image/0/height",
    "og_image/0/type",
    "author",
    "twitter_card",
    "twitter_title",
    "twitter_description",
    "twitter_image",
    "twitter_creator",
    "twitter_site",
    "twitter_misc/Written by",
    "twitter_misc/Est. reading time",
];

/// Nodes of its graph that are compared as a whole; beside them, the types of all nodes.
const NODES: [&str; 3] = ["Article", "WebPage", "BreadcrumbList"];

/// Titles as they are stored, as texts, and as texts with the signs of typography; the number of their words.
const TITLES: [(&str, &str, &str, u64); 5] = [
    ("The harbour at six", "The harbour at six", "The harbour at six", 4),
    ("Don't touch the \"nets\"", "Don't touch the \"nets\"", "Don’t touch the “nets”", 4),
    ("Fish &amp; chips", "Fish & chips", "Fish & chips", 2),
    ("<em>Ropes</em> and knots", "Ropes and knots", "Ropes and knots", 3),
    ("Boote 🚢 im Hafen", "Boote 🚢 im Hafen", "Boote 🚢 im Hafen", 3),
];

const VOCABULARY: [&str; 7] = ["boats", "come", "in", "with", "the", "evening", "tide"];

const ELSEWHERE: &str = "https://pictures.example/quay.jpg";

/// Text without quotes, so that nothing of it is set in other signs.
fn text(words: usize) -> String {
    VOCABULARY.iter().cycle().take(words).copied().collect::<Vec<_>>().join(" ")
}

/// A number below `of` that follows from the record and from what it is for.
fn pick(record: usize, purpose: &str, of: u64) -> u64 {
    let bytes = purpose.bytes().chain(record.to_le_bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash ^ (hash >> 29)) % of
}

/// The site beside the records.
struct Around {
    home: String,
    /// A wide picture and a small one.
    files: [Value; 2],
    /// Categories and tags.
    terms: [Value; 4],
    /// A page above others.
    above: Value,
}

/// A record as somebody makes it.
struct Case {
    page: bool,
    title: (&'static str, &'static str, &'static str, u64),
    words: usize,
    excerpt: Option<&'static str>,
    featured: Option<usize>,
    /// The picture of the content: a file of the library, or one from elsewhere.
    inside: Option<Option<usize>>,
    below: bool,
    open: bool,
    categories: usize,
    tags: usize,
    noindex: bool,
    changed: bool,
    /// The values that an editor gives it.
    own: Map<String, Value>,
}

impl Case {
    fn of(record: usize) -> Case {
        let one_in = |purpose: &str, of: u64| pick(record, purpose, of) == 0;
        let page = one_in("page", 4);
        let mut own = Map::new();
        for (member, of, value) in [
            ("title", 3, json!("{title} by the sea {separator} {site.title}")),
            ("description", 3, json!("What {title} brings")),
            ("social_title", 5, json!("For friends: {title}")),
            ("social_description", 5, json!("Said to friends")),
            ("twitter_title", 8, json!("Short")),
            ("twitter_description", 8, json!("Shorter")),
            ("canonical", 12, json!("https://elsewhere.example/original/")),
            ("nofollow", 10, json!(true)),
        ] {
            if one_in(member, of) {
                own.insert(member.to_owned(), value);
            }
        }
        let words = [json!([]), json!(["noarchive"]), json!(["nosnippet"]), json!(["noimageindex", "noarchive"])];
        let directives = pick(record, "directives", 16).min(4) as usize;
        words.get(directives).and_then(|words| own.insert("directives".to_owned(), words.clone()));
        Case {
            page,
            title: TITLES[pick(record, "title of", TITLES.len() as u64) as usize],
            words: [8, 54, 55, 56, 229, 700][pick(record, "words", 6) as usize],
            excerpt: one_in("excerpt", 3).then_some("In <b>short</b>: boats &amp; nets"),
            featured: [Some(0), Some(1), None, None][pick(record, "featured", 4) as usize],
            inside: [Some(None), Some(Some(0)), None, None][pick(record, "inside", 4) as usize],
            below: page && one_in("below", 3),
            open: !page && !one_in("closed", 4),
            categories: if page { 0 } else { pick(record, "categories", 3) as usize },
            tags: if page { 0 } else { pick(record, "tags", 3) as usize },
            noindex: record.is_multiple_of(28),
            changed: one_in("changed", 5),
            own,
        }
    }

    fn content(&self, around: &Around) -> String {
        let picture = match self.inside {
            None => String::new(),
            // How large it is shown says nothing of the file.
            Some(None) => format!("<p><img src=\"{ELSEWHERE}\" width=\"90\" height=\"60\" alt=\"Quay\"></p>"),
            Some(Some(at)) => {
                let file = &around.files[at];
                let url = file["source_url"].as_str().expect("an address");
                format!("<figure><img class=\"wp-image-{}\" src=\"{url}\" alt=\"\"></figure>", file["id"])
            }
        };
        format!("<!-- wp:paragraph --><p>{}</p><!-- /wp:paragraph -->{picture}", text(self.words))
    }

    fn request(&self, record: usize, around: &Around) -> Value {
        let base = if self.page { "pages" } else { "posts" };
        let mut body = json!({
            "slug": format!("r{record}"),
            "status": "publish",
            "date": "2024-05-06T07:08:09",
            "title": {"raw": self.title.0},
            "content": {"raw": self.content(around)},
            "excerpt": {"raw": self.excerpt.unwrap_or_default()},
            "featured_media": self.featured.map_or(json!(0), |at| around.files[at]["id"].clone()),
            "comment_status": if self.open { "open" } else { "closed" },
            "seo_values": self.own,
            "noindex": if self.noindex { json!(true) } else { Value::Null },
        });
        if self.page {
            body["parent"] = if self.below { around.above["id"].clone() } else { json!(0) };
        } else {
            let ids = |terms: &[Value]| terms.iter().map(|term| term["id"].clone()).collect::<Vec<_>>();
            body["tags"] = json!(ids(&around.terms[2..2 + self.tags]));
            if self.categories > 0 {
                body["categories"] = json!(ids(&around.terms[..self.categories]));
            }
        }
        json!({"path": format!("/wp/v2/{base}"), "body": body})
    }

    // -------------------------------------------------------------------------------------------- facts about the plugin

    fn filled(&self, member: &str) -> Option<String> {
        let template = self.own.get(member)?.as_str()?;
        let filled = template.replace("{title}", self.title.1).replace("{separator}", "-");
        Some(filled.replace("{site.title}", "Harbour Notes"))
    }

    fn page_title(&self) -> String {
        self.filled("title").unwrap_or_else(|| format!("{} - Harbour Notes", self.title.1))
    }

    /// The author's own excerpt, or the first 55 words.
    fn beginning(&self) -> String {
        let cut = if self.words > 55 { " […]" } else { "" };
        self.excerpt
            .map_or_else(|| format!("{}{cut}", text(self.words.min(55))), |_| "In short: boats & nets".to_owned())
    }

    /// 228 English words a minute, and 12 seconds for each picture, in whole minutes.
    fn minutes(&self) -> String {
        let pictures = if self.inside.is_some() { 0.2 } else { 0.0 };
        match (self.words as f64 / 228.0 + pictures).ceil() as u64 {
            1 => "1 minute".to_owned(),
            more => format!("{more} minutes"),
        }
    }

    /// Address, width, height and type of a picture.
    fn picture(&self, around: &Around, at: Option<Option<usize>>) -> Option<[Value; 4]> {
        let details = |at: usize| {
            let file = &around.files[at];
            let details = &file["media_details"];
            [&file["source_url"], &details["width"], &details["height"], &file["mime_type"]].map(Value::clone)
        };
        at.map(|at| at.map_or([json!(ELSEWHERE), Value::Null, Value::Null, Value::Null], details))
    }

    /// The picture that stands on the page: the featured one, or the first of the content.
    fn main_picture(&self, around: &Around) -> Option<[Value; 4]> {
        self.picture(around, self.featured.map(Some).or(self.inside))
    }

    /// The member at a place of the plugin's head; null: it is not there.
    fn expected(&self, member: &str, shown: &Value, around: &Around) -> Value {
        let has = |word: &str| {
            self.own.get("directives").and_then(Value::as_array).is_some_and(|all| all.contains(&json!(word)))
        };
        let further = |word: &str| if !self.noindex && has(word) { json!(word) } else { Value::Null };
        let limit = |limit: &str, unless: &str| if self.noindex || has(unless) { Value::Null } else { json!(limit) };
        let of_post = |value: Value| if self.page { Value::Null } else { value };
        let own = |member: &str| self.filled(member).map_or(Value::Null, Value::String);
        let image = |part: usize| self.main_picture(around).map_or(Value::Null, |picture| picture[part].clone());
        let time = |member: &str| json!(format!("{}+00:00", shown[member].as_str().expect("a time")));
        let address = self.own.get("canonical").unwrap_or(&shown["link"]).clone();
        match member {
            "title" => json!(self.page_title()),
            "description" => own("description"),
            "robots/index" => json!(if self.noindex { "noindex" } else { "index" }),
            "robots/follow" => json!(if self.own.contains_key("nofollow") { "nofollow" } else { "follow" }),
            "robots/max-snippet" => limit("max-snippet:-1", "nosnippet"),
            "robots/max-image-preview" => limit("max-image-preview:large", "noimageindex"),
            "robots/max-video-preview" => limit("max-video-preview:-1", ""),
            "robots/imageindex" => further("noimageindex"),
            "robots/archive" => further("noarchive"),
            "robots/snippet" => further("nosnippet"),
            // The fault that is reported most; here every record has its address.
            "canonical" => {
                if self.noindex {
                    Value::Null
                } else {
                    address
                }
            }
            "og_locale" => json!("en_US"),
            "og_type" => json!("article"),
            "og_title" => json!(self.filled("social_title").unwrap_or_else(|| self.page_title())),
            "og_description" => {
                json!(
                    self.filled("social_description")
                        .or(self.filled("description"))
                        .unwrap_or_else(|| self.beginning())
                )
            }
            "og_url" => address,
            "og_site_name" => json!("Harbour Notes"),
            "article_publisher" => json!("https://www.facebook.com/harbour"),
            "article_published_time" => of_post(time("date_gmt")),
            "article_modified_time" if shown["modified_gmt"] == shown["date_gmt"] => Value::Null,
            "article_modified_time" => time("modified_gmt"),
            "og_image/0/url" => image(0),
            "og_image/0/width" => image(1),
            "og_image/0/height" => image(2),
            "og_image/0/type" => image(3),
            "author" | "twitter_misc/Written by" => of_post(json!("admin")),
            "twitter_card" => json!("summary_large_image"),
            "twitter_title" | "twitter_description" => own(member),
            "twitter_image" => Value::Null,
            "twitter_creator" => of_post(json!("@harbour")),
            "twitter_site" => json!("@harbour"),
            "twitter_misc/Est. reading time" => json!(self.minutes()),
            other => self.node(other, shown, around),
        }
    }

    /// A node of the graph, without the person's identifier, which is the site's own.
    fn node(&self, kind: &str, shown: &Value, around: &Around) -> Value {
        let (home, link) = (&around.home, &shown["link"]);
        let address = self.own.get("canonical").unwrap_or(link).as_str().expect("an address");
        let at = |fragment: &str| format!("{address}#{fragment}");
        let picture = self.main_picture(around);
        let primary = picture.as_ref().map(|_| json!({"@id": at("primaryimage")}));
        let thumbnail = picture.as_ref().map(|picture| picture[0].clone());
        let time = |member: &str| format!("{}+00:00", shown[member].as_str().expect("a time"));
        let names = |terms: &[Value]| -> Option<Vec<Value>> {
            (!terms.is_empty()).then(|| terms.iter().map(|term| term["name"].clone()).collect())
        };
        let node = match kind {
            "Article" if self.page => return Value::Null,
            "Article" => json!({
                "@type": kind, "@id": at("article"), "isPartOf": {"@id": link}, "author": {"name": "admin", "@id": "person"},
                "headline": self.title.2, "datePublished": time("date_gmt"), "dateModified": time("modified_gmt"),
                "mainEntityOfPage": {"@id": link}, "wordCount": self.words as u64 + self.title.3,
                "commentCount": self.open.then_some(0), "publisher": {"@id": format!("{home}#organization")},
                "image": primary, "thumbnailUrl": thumbnail, "keywords": names(&around.terms[2..2 + self.tags]),
                "articleSection": names(&around.terms[..self.categories]), "inLanguage": "en-US",
                "potentialAction": self.open.then(|| json!([{"@type": "CommentAction", "name": "Comment", "target": [at("respond")]}])),
            }),
            "WebPage" => json!({
                "@type": kind, "@id": link, "url": address, "name": self.page_title(), "isPartOf": {"@id": format!("{home}#website")},
                "primaryImageOfPage": primary, "image": primary, "thumbnailUrl": thumbnail, "datePublished": time("date_gmt"),
                "dateModified": time("modified_gmt"), "description": self.filled("description"),
                "breadcrumb": {"@id": at("breadcrumb")}, "inLanguage": "en-US",
                "potentialAction": [{"@type": "ReadAction", "target": [address]}],
            }),
            _ => {
                let above = self.below.then(|| ("About us", around.above["link"].clone()));
                let steps = [("Home", json!(home))].into_iter().chain(above).chain([(self.title.2, Value::Null)]);
                let step = |(at, (name, item)): (usize, (&str, Value))| {
                    let mut step = json!({"@type": "ListItem", "position": at + 1, "name": name});
                    if !item.is_null() {
                        step["item"] = item;
                    }
                    step
                };
                let steps: Vec<Value> = steps.enumerate().map(step).collect();
                json!({"@type": kind, "@id": at("breadcrumb"), "itemListElement": steps})
            }
        };
        let members = node.as_object().expect("an object").clone().into_iter();
        Value::Object(members.filter(|(_, value)| !value.is_null()).collect())
    }

    /// The types of the nodes of the graph.
    fn types(&self) -> Vec<&'static str> {
        let mut types = vec!["BreadcrumbList", "Organization", "WebPage", "WebSite"];
        if !self.page {
            types.extend(["Article", "Person"]);
        }
        if self.featured.is_some() || self.inside.is_some() {
            types.push("ImageObject");
        }
        types.sort_unstable();
        types
    }

    /// The members in which a record differs, with both values.
    fn differences(&self, shown: &Value, around: &Around) -> Vec<(&'static str, String)> {
        let head = &shown["yoast_head_json"];
        let graph = head["schema"]["@graph"].as_array().expect("a graph");
        let person = format!("{}#/schema/person/", around.home);
        let node = |kind: &str| {
            let mut node = graph.iter().find(|node| node["@type"] == kind).cloned().unwrap_or(Value::Null);
            if node["author"]["@id"].as_str().is_some_and(|id| id.starts_with(&person)) {
                node["author"]["@id"] = json!("person");
            }
            node
        };
        let scalars =
            MEMBERS.iter().map(|member| (*member, head.pointer(&format!("/{member}")).cloned().unwrap_or(Value::Null)));
        let all = scalars.chain(NODES.iter().map(|kind| (*kind, node(kind))));
        let found = all.map(|(member, value)| (member, value, self.expected(member, shown, around)));
        let mut found: Vec<_> = found
            .filter(|(_, value, expected)| value != expected)
            .map(|(member, value, expected)| (member, format!("{value} for {expected}")))
            .collect();
        let mut types: Vec<&str> = graph.iter().filter_map(|node| node["@type"].as_str()).collect();
        types.sort_unstable();
        if types != self.types() {
            found.push(("types of nodes", format!("{types:?} for {:?}", self.types())));
        }
        found
    }
}

fn around(server: &Server) -> Around {
    let make = |base: &str, body: Value| {
        let made = server.admin("POST", &format!("/wp/v2/{base}"), Some(&body));
        assert_eq!(made.status, 201, "{}", made.text);
        made.body
    };
    Around {
        home: format!("{}/", server.site),
        files: [
            upload(server, "wide.png", "image/png", png(600, 315)).body,
            upload(server, "small.png", "image/png", png(90, 60)).body,
        ],
        terms: [("categories", "Boats"), ("categories", "Nets"), ("tags", "Rope"), ("tags", "Wind")]
            .map(|(base, name)| make(base, json!({"name": name}))),
        above: make("pages", json!({"title": "About us", "status": "publish"})),
    }
}

/// The responses to requests, a few at a time.
fn batches(server: &Server, requests: Vec<Value>) -> Vec<Value> {
    let answers = requests.chunks(25).flat_map(|requests| {
        let answer = server.admin("POST", "/batch/v1", Some(&json!({"requests": requests})));
        assert_eq!(answer.status, 207, "{}", answer.text);
        answer.body["responses"].as_array().expect("responses").clone()
    });
    answers
        .map(|answer| match answer["status"].as_u64() {
            Some(200 | 201) => answer["body"].clone(),
            _ => panic!("{answer}"),
        })
        .collect()
}

#[test]
fn records_have_the_heads_that_the_plugin_shows() {
    let server = Server::over(with_profiles(&["seo", "yoast"], SITE), &["site.prefix=wp"]);
    let around = around(&server);
    let cases: Vec<Case> = (0..RECORDS).map(Case::of).collect();
    let made = batches(&server, cases.iter().enumerate().map(|(record, case)| case.request(record, &around)).collect());
    let changes = cases.iter().zip(&made).filter(|(case, _)| case.changed);
    let change = |(case, made): (&Case, &Value)| {
        let base = if case.page { "pages" } else { "posts" };
        json!({"method": "PUT", "path": format!("/wp/v2/{base}/{}", made["id"]), "body": {"ping_status": "closed"}})
    };
    batches(&server, changes.map(change).collect());
    let mut shown: BTreeMap<u64, Value> = BTreeMap::new();
    for base in ["posts", "pages"] {
        for page in 1.. {
            let fields = "id,link,date_gmt,modified_gmt,yoast_head_json";
            let list = server.get(&format!("/wp/v2/{base}?per_page=100&page={page}&_fields={fields}"));
            let items = list.body.as_array().cloned().unwrap_or_default();
            shown.extend(items.iter().map(|item| (item["id"].as_u64().expect("an id"), item.clone())));
            if items.len() < 100 {
                break;
            }
        }
    }
    let mut differing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut equal = 0;
    for (case, made) in cases.iter().zip(&made) {
        let differences = case.differences(&shown[&made["id"].as_u64().expect("an id")], &around);
        equal += usize::from(differences.is_empty());
        for (member, what) in differences {
            differing.entry(member).or_default().push(what);
        }
    }
    println!("{equal} of {RECORDS} records have the head that the plugin shows");
    let summary: Vec<String> =
        differing.iter().map(|(member, all)| format!("{member}: {} times, such as {}", all.len(), all[0])).collect();
    // Those that search engines are to leave out have their address all the same.
    let hidden = cases.iter().filter(|case| case.noindex).count();
    assert_eq!(
        (equal, differing.keys().copied().collect::<Vec<_>>()),
        (RECORDS - hidden, vec!["canonical"]),
        "{}",
        summary.join("\n")
    );
    assert!(equal * 100 >= RECORDS * 95, "{equal}");
}
