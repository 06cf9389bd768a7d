//! Behaviours that compute a property.

use super::{dynamic, field_values, files, original, reference, seo};
use crate::records::{self, text};
use crate::registry::resource::Property;
use crate::registry::vocabulary::BehaviourEntry;
use crate::render::{Item, Needs, PropertyReader, address, column_value};
use cms_storage::plan::DbValue;
use cms_text::hex::hex;
use cms_text::render::{self, RenderOptions};
use cms_text::texturize::texturize;
use cms_text::{blocks, slug, time};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// See its row.
fn short_digest(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let digest = Sha256::digest(format!("{}/{}", item.record.resource.kind, item.record.key()));
    Some(json!(hex(&digest)[..7]))
}

/// A read behaviour with what it needs from other rows.
const fn read(
    name: &'static str,
    run: PropertyReader,
    needs: Needs,
    doc: &'static str,
) -> BehaviourEntry<(PropertyReader, Needs)> {
    BehaviourEntry::new(name, (run, needs), doc)
}

/// Every read behaviour: name, function, what it needs from other rows.
pub const READS: &[BehaviourEntry<(PropertyReader, Needs)>] = &[
    read("time", time_text, Needs::ROW, "A date and time in the site's zone, without the zone."),
    read("unix", unix, Needs::ROW, "Seconds since 1970, or null.")
        .example(r#""changed": {"type": "integer", "x-read": "unix", "x-column": "modified_utc"}"#),
    read("link", link, Needs::ADDRESS, "The record's address on the site."),
    read("guid", guid, Needs::ROW, "The identifier that was given at creation."),
    read("title.rendered", title, Needs::ROW, "The title as HTML."),
    read(
        "content.rendered",
        content,
        Needs::TEXTS,
        "The content as HTML: blocks, shortcodes, paragraphs and typography.",
    ),
    read("excerpt.rendered", excerpt, Needs::TEXTS, "The excerpt as HTML, or the beginning of the content."),
    read("protected", protected, Needs::ROW, "Whether a password protects the record."),
    read("block_version", block_version, Needs::TEXTS, "1 where the content holds blocks, otherwise 0."),
    read(
        "permalink_template",
        permalink_template,
        Needs::ADDRESS,
        "The record's address with a placeholder for the slug.",
    ),
    read("generated_slug", generated_slug, Needs::ROW, "The slug that the title gives."),
    read(
        "class_list",
        class_list,
        Needs { edges: true, term_slugs: true, ..Needs::ROW },
        "Class names that themes style a record by.",
    ),
    read(
        "comment.status",
        comment_status,
        Needs { posts: true, ..Needs::ROW },
        "The state of a comment; `post-trashed` while its record is in the trash.",
    ),
    read(
        "field_values",
        field_values::values,
        Needs { fields: true, ..Needs::ROW },
        "The values of the field groups that apply to the item, by name.",
    ),
    read("wire_kind", wire_kind, Needs::ROW, "The resource's name in the API."),
    read("avatar_urls", avatar_urls, Needs::ROW, "Addresses of the picture for an e-mail address, by width in pixels."),
    read("words", words, Needs::ROW, "A list of the words in a column."),
    read(
        "capabilities",
        capabilities,
        Needs::ROW,
        "The capabilities that a user's roles give, as an object of `true`.",
    ),
    read("extra_capabilities", extra_capabilities, Needs::ROW, "A user's roles, as an object of `true`."),
    read("comment.rendered", comment_rendered, Needs::ROW, "A comment's text as HTML."),
    read("short_digest", short_digest, Needs::ROW, "Seven hexadecimal digits that follow from the kind and the id."),
    read("locale", locale, Needs::ROW, "A column, or the site's language where it is empty."),
    read("format", format, Needs::ROW, "A post format; `standard` where the column is empty."),
    read("id.nullable", nullable_id, Needs::ROW, "A number, null where it is 0."),
    read("media_type", files::media_type, Needs::ROW, "`image` for a picture whose file is known, else `file`."),
    read("file.url", files::url, Needs::TEXTS, "The address of a file."),
    read("file.details", files::details, Needs::TEXTS, "Measures, sizes with their addresses, and metadata of a file."),
    read("file.name", files::name, Needs::TEXTS, "The name of an uploaded file."),
    read("file.size", files::size, Needs::TEXTS, "Bytes of a file."),
    read(
        "file.orientation",
        files::orientation,
        Needs::TEXTS,
        "How a picture still has to be turned, as in EXIF: 1 to 8.",
    ),
    read(
        "file.output_type",
        files::output_type,
        Needs::ROW,
        "The type that copies of a picture are converted to, or null.",
    ),
    read(
        "file.progressive",
        files::progressive,
        Needs::ROW,
        "Whether clients that make copies of a picture write them progressively.",
    ),
    read(
        "file.quality",
        files::quality,
        Needs::ROW,
        "The quality of copies of a picture, and the sizes with another one.",
    ),
    read(
        "file.missing_sizes",
        files::missing_sizes,
        Needs::TEXTS,
        "Declared sizes of a picture that are not made yet.",
    ),
    read(
        "file.description",
        files::description,
        Needs::TEXTS,
        "The file as a page shows it, then its description, as HTML.",
    ),
    read("file.caption", files::caption, Needs::TEXTS, "The caption as HTML, or the beginning of the description."),
    read("time.zone", time_with_zone, Needs::ROW, "A date and time in UTC with the zone."),
    read(
        "comment.link",
        comment_link,
        Needs { posts: true, ..Needs::ROW },
        "The comment's address on the page of its record.",
    ),
    read("split", split, Needs::ROW, "A list of the words in a column; one empty word where it is empty."),
    read("id.given", given_id, Needs::ROW, "A number, left out where it is 0."),
    read(
        "original.id",
        original::id,
        Needs::ROW,
        "A number; 0 for a record that nobody has written yet (`originals`).",
    ),
    read(
        "original.source",
        original::source,
        Needs::ROW,
        "`theme` for a record that nobody has written yet, or `custom`.",
    ),
    read("original.origin", original::origin, Needs::ROW, "`theme` for a changed record of the theme, or null."),
    read("original.first", original::first_source, Needs::ROW, "`theme` where the theme has an original, or `user`."),
    read("original.exists", original::exists, Needs::ROW, "Whether the theme has an original of the record."),
    read("original.none", original::is_own, Needs::ROW, "Whether the theme has no original of the record."),
    read(
        "original.author",
        original::author,
        Needs { author_names: true, ..Needs::ROW },
        "The name of the theme that has an original of the record, or of its author.",
    ),
    read("named", named, Needs::ROW, "The key of the record in paths: theme and slug."),
    read("active_theme", active_theme, Needs::ROW, "The name of the active theme."),
    read(
        "reference.title",
        reference::title,
        Needs::REFERENCED,
        "The title that was given, or that of what the row refers to.",
    ),
    read(
        "reference.title.rendered",
        reference::title_rendered,
        Needs::REFERENCED,
        "The title that was given, or that of what the row refers to, as HTML.",
    ),
    read(
        "reference.label",
        reference::label,
        Needs::REFERENCED,
        "The name for people of the type that the row refers to.",
    ),
    read(
        "reference.kind",
        reference::kind,
        Needs::REFERENCED,
        "The type that the row refers to, by its name in the API.",
    ),
    read(
        "reference.id",
        reference::id,
        Needs::ROW,
        "The number of what the row refers to; its own where it refers to nothing.",
    ),
    read(
        "reference.url",
        reference::url,
        Needs::REFERENCED,
        "The address of what the row refers to, or the one that was given.",
    ),
    read(
        "reference.invalid",
        reference::invalid,
        Needs::REFERENCED,
        "Whether what the row refers to is missing, in the trash or of another type.",
    ),
    read(
        "seo",
        seo::document,
        Needs::SEO,
        "What search engines and social networks are told of the item, where its resource has a `seo` block.",
    ),
    read("seo.head", seo::plugin_document, Needs::SEO, "The same with the names that Yoast's REST interface has."),
    read("seo.head.html", seo::plugin_markup, Needs::SEO, "The same as tags for the head of a page."),
    read("line", line, Needs::ROW, "One line of text with typographic quotes and dashes."),
    read("line.long", long_line, Needs::ROW, "The first 200 words of a text with typographic quotes and dashes."),
];

fn time_text(_: &Item<'_>, property: &Property, value: &DbValue) -> Option<Value> {
    Some(match value {
        DbValue::Int(seconds) => Value::String(time::format_local(*seconds)),
        _ if property.nullable => Value::Null,
        _ => json!(""),
    })
}

fn unix(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(match value {
        DbValue::Int(seconds) => json!(seconds),
        _ => Value::Null,
    })
}

fn link(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(Value::String(address::address(item)))
}

fn guid(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(json!(text(value)))
}

fn title(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(Value::String(render::render_title(text(value))))
}

/// How texts of this site are rendered.
pub fn options<'a>(item: &Item<'a>) -> RenderOptions<'a> {
    RenderOptions {
        smilies: item.scope.settings.flag("use_smilies"),
        styles: Some(&item.scope.registry.block_styles),
        unique: Some(item.unique),
        excerpt_words: item.excerpt_words.unwrap_or(render::EXCERPT_WORDS),
        links: item.scope.registry.site.links.as_ref(),
        ..RenderOptions::default()
    }
}

/// One line of text, as people read it.
fn line(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(json!(texturize(text(value))))
}

/// The first words of a text, as people read them.
fn long_line(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    const WORDS: usize = 200;
    Some(json!(texturize(&render::first_words(text(value), WORDS, "&hellip;"))))
}

fn content(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let raw = item.record.text("content");
    let html = dynamic::content(item, raw, &options(item));
    if render::is_own_excerpt(raw) && item.record.text("excerpt").is_empty() {
        let _ = item.rendered.set(html.clone());
    }
    Some(Value::String(html))
}

fn excerpt(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let (excerpt, content) = (item.record.text("excerpt"), item.record.text("content"));
    let html = match item.rendered.get() {
        Some(rendered) => render::excerpt_of_rendered(rendered, &options(item)),
        None => render::render_excerpt(excerpt, content, &options(item)),
    };
    Some(Value::String(html))
}

fn protected(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(!item.record.text("password").is_empty()))
}

fn block_version(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(blocks::block_version(item.record.text("content"))))
}

fn permalink_template(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(Value::String(address::template(item)))
}

/// The slug that the title gives. The record's own is one of those that the title gave, when it differs from it in a number.
fn generated_slug(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let own = item.record.text("slug");
    let generated = records::slug_of_title(item.resource, item.record.text("title"));
    let numbered = |own: &str| {
        let number = own.strip_prefix(&generated).and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let slug = match generated.is_empty() {
        true if own.is_empty() => item.record.key(),
        true => own.to_owned(),
        false if numbered(own) => own.to_owned(),
        false => generated,
    };
    let read = crate::request::percent_decode(&slug).map_or_else(|| slug.clone(), |read| read.into_owned());
    Some(Value::String(read))
}

/// Class names that themes style a record by.
fn class_list(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let (record, resource) = (item.record, item.resource);
    let format = record.text("format");
    let api_name = &resource.api_name;
    let mut classes = vec![
        format!("post-{}", record.id()),
        api_name.clone(),
        format!("type-{api_name}"),
        format!("status-{}", record.text("status")),
    ];
    if resource.supports("post-formats") {
        classes.push(format!("format-{}", if format.is_empty() { "standard" } else { format }));
    }
    if !record.text("password").is_empty() {
        classes.push("post-password-required".into());
    }
    if record.text("password").is_empty()
        && resource.column("featured_media").is_some()
        && record.int("featured_media") != 0
    {
        classes.push("has-post-thumbnail".into());
    }
    classes.push("hentry".into());
    for relation in resource.relations.iter().filter(|r| r.is_list()) {
        let taxonomy = &item.scope.registry.resources[relation.to];
        if taxonomy.is_taxonomy() {
            let targets = item.batch.edges.get(&(relation.rel.clone(), record.id()));
            let word = taxonomy.kind.strip_prefix("post_").unwrap_or(&taxonomy.kind);
            let slugs = targets.into_iter().flatten().filter_map(|id| Some((id, item.batch.term_slugs.get(id)?)));
            classes.extend(slugs.map(|(id, slug)| format!("{word}-{}", term_class(*id, slug))));
        }
    }
    if resource.supports("post-formats") && !matches!(format, "" | "standard") {
        classes.push(format!("post_format-post-format-{format}"));
    }
    Some(json!(classes))
}

/// A term's slug as part of a class name; its number where nothing, a number or dashes would be left.
fn term_class(id: i64, slug: &str) -> String {
    let class = slug::html_class(slug);
    let vague = class.trim_matches('-').is_empty()
        || (class.contains(|c: char| c.is_ascii_digit()) && class.parse::<f64>().is_ok());
    if vague { id.to_string() } else { class }
}

fn wire_kind(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(item.resource.api_name))
}

/// Addresses of the avatar for an e-mail address, by width in pixels.
fn avatar_urls(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    let sizes = [24, 48, 96].map(|size| (size.to_string(), Value::String(avatar_url(text(value), size))));
    Some(Value::Object(sizes.into_iter().collect()))
}

/// The address of the avatar for an e-mail address, so many pixels wide.
pub fn avatar_url(email: &str, size: u32) -> String {
    let hash = hex(&Sha256::digest(email.trim().to_lowercase().as_bytes()));
    format!("https://secure.gravatar.com/avatar/{hash}?s={size}&d=mm&r=g")
}

/// A list of the words in a column.
fn words(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(json!(text(value).split_whitespace().collect::<Vec<_>>()))
}

/// A list of the words in a column, as they are separated by blanks; nothing at all is one empty word.
fn split(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(json!(text(value).split(' ').collect::<Vec<_>>()))
}

/// The name of the record in paths.
fn named(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(Value::String(records::path_key(&item.scope.registry, item.record)))
}

fn active_theme(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    Some(json!(item.scope.registry.active_theme()))
}

/// A number, where there is one.
fn given_id(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(records::int(value)).filter(|id| *id != 0).map(Value::from)
}

/// The capabilities of the roles in a column, the roles' own names included.
fn capabilities(item: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    let roles = records::split_words(text(value));
    let all = item.scope.settings.roles.capabilities(&roles);
    let mut names: Vec<&str> = all.iter().map(|c| &**c).chain(roles.iter().map(|r| &**r)).collect();
    names.sort_unstable();
    Some(Value::Object(names.into_iter().map(|n| (n.to_owned(), Value::Bool(true))).collect()))
}

fn extra_capabilities(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    let map: Map<String, Value> = text(value).split_whitespace().map(|r| (r.to_owned(), Value::Bool(true))).collect();
    Some(Value::Object(map))
}

fn comment_rendered(item: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(Value::String(render::comment_content(text(value), &options(item))))
}

/// The absence of a format has a name.
fn format(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(json!(if text(value).is_empty() { "standard" } else { text(value) }))
}

fn nullable_id(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(match records::int(value) {
        0 => Value::Null,
        id => json!(id),
    })
}

/// UTC seconds with the zone written out.
fn time_with_zone(_: &Item<'_>, _: &Property, value: &DbValue) -> Option<Value> {
    Some(match value {
        DbValue::Int(seconds) => json!(time::format_utc(*seconds)),
        _ => json!(""),
    })
}

/// A column, or the site's language where it is empty.
fn locale(item: &Item<'_>, property: &Property, value: &DbValue) -> Option<Value> {
    if text(value).is_empty() {
        return Some(json!(item.scope.settings.locale()));
    }
    Some(column_value(property, value))
}

fn comment_status(item: &Item<'_>, property: &Property, value: &DbValue) -> Option<Value> {
    let place = item.batch.places.get(&item.record.int("post"));
    let own = item.scope.registry.comment_status_is(text(value), |status| status.trash);
    if !own && place.is_some_and(|place| place.trashed) {
        return Some(json!("post-trashed"));
    }
    Some(column_value(property, value))
}

fn comment_link(item: &Item<'_>, _: &Property, _: &DbValue) -> Option<Value> {
    let id = item.record.id();
    let post = item.record.int("post");
    let place = item.batch.places.get(&post).filter(|place| place.seen);
    let base = place.map(|place| place.address.clone());
    let base = base.unwrap_or_else(|| format!("{}/?p={post}", item.scope.registry.site.front));
    let closed = base.ends_with('/') || !item.scope.registry.declaration.dialect.slash_in_comment_urls;
    let slash = if closed { "" } else { "/" };
    Some(Value::String(format!("{base}{slash}#comment-{id}")))
}
