//! Drives the generated Rust client against a server.
#![deny(warnings)]

use cms_client_drive::cms::{
    BatchV1Batch, BatchV1BatchRequests, BookCreate, Client, ErrorCode, File, MediaCreateBody, Post, PostCreate,
    PostCreateStatus, PostEdit, PostFields, PostStatus, PostUpdate, PostsGetQuery, PostsImportQuery, PostsListQuery, Problem, context,
};
use std::fmt::Debug;
use std::io::{Read, Write};
use std::net::TcpListener;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn same<T: PartialEq<U> + Debug, U: Debug>(found: T, expected: U, what: &str) {
    assert!(found == expected, "{what}: {found:?}, not {expected:?}");
}

fn failure<T: Debug>(found: Result<T, Problem>) -> (u16, String) {
    match found {
        Err(Problem::Failure(failure)) => (failure.status, failure.code),
        other => panic!("a failure was expected: {other:?}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let args: Vec<String> = std::env::args().collect();
    let visitor = Client::new(&args[1]);
    let editor = visitor.clone().with_credentials(&args[2], &args[3]);
    let count = reads(&visitor, &editor).await?;
    writes(&visitor, &editor).await?;
    more(&editor).await?;
    busy().await?;
    println!("Rust: {count} posts, all of what the client does");
    Ok(())
}

async fn reads(visitor: &Client, editor: &Client) -> Result<usize, Box<dyn std::error::Error>> {
    // Contexts decide the type.
    let list = visitor.posts_list(&PostsListQuery { per_page: Some(3), ..Default::default() }).send().await?;
    let first: &Post = &list.data[0];
    same(list.data.len(), 3, "a page");
    same(list.total > Some(3) && list.pages > Some(1), true, "totals");
    same(&first.status, &PostStatus::Publish, "a listed value");
    let one = PostsListQuery { per_page: Some(1), ..Default::default() };
    let edited = editor.posts_list(&one).context(context::Edit).send().await?;
    let edited: &PostEdit = &edited.data[0];
    same(edited.title.raw.is_empty(), false, "the edit context has the raw title");

    // `fields` narrows it.
    let narrow = visitor.posts_list(&one).fields(&["id", "title"]).send().await?;
    let narrow: &PostFields = &narrow.data[0];
    same(
        (narrow.id, narrow.title.is_some(), narrow.content.is_none()),
        (Some(first.id), true, true),
        "selected members",
    );

    // Pages follow each other.
    let twenty = PostsListQuery { per_page: Some(5), ..Default::default() };
    let mut ids = Vec::new();
    let mut items = visitor.posts_list(&twenty).items();
    while let Some(post) = items.next().await? {
        ids.push(post.id);
    }
    same(Some(ids.len() as u64), list.total, "all documents of all pages");
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    same(distinct.len(), ids.len(), "each once");
    let mut pages = visitor.posts_list(&twenty).pages();
    let (mut count, mut last) = (0, None);
    while let Some(page) = pages.next().await? {
        count += 1;
        last = page.pages;
    }
    same(Some(count), last, "all pages");

    // Lists in a query; embedded documents have the type of what the link leads to.
    let some = PostsListQuery { include: Some(ids[..2].to_vec()), ..Default::default() };
    same(visitor.posts_list(&some).send().await?.data.len(), 2, "a list in the query");
    let embedded = visitor.posts_get(first.id, &PostsGetQuery::default()).embed(&["author"]).send().await?;
    let author = embedded.data._embedded.and_then(|embedded| embedded.author).unwrap_or_default();
    same(format!("{:?}", author[0]).contains("UserEmbed"), true, "an embedded author");
    Ok(ids.len())
}

async fn writes(visitor: &Client, editor: &Client) -> Outcome {
    let draft = PostCreate {
        title: Some("Made".into()),
        content: Some("Text".into()),
        status: Some(PostCreateStatus::Draft),
        ..Default::default()
    };
    let made = editor.posts_create(&draft).send().await?;
    same(made.status, 201, "created");
    let id = made.data.id;
    let read = editor.posts_get(id, &PostsGetQuery::default()).context(context::Edit).send().await?;
    let tag = read.etag.unwrap_or_default();
    let again = editor.posts_get(id, &PostsGetQuery::default()).context(context::Edit).if_none_match(&tag).send().await;
    same(matches!(again, Err(Problem::NotModified)), true, "a document that has not changed");
    let change = |title: &str| PostUpdate { title: Some(title.into()), ..Default::default() };
    let changed = editor.posts_update(id, &change("Changed")).if_match(&tag).send().await?;
    same(changed.data.title.rendered, "Changed", "an update");
    let late = editor.posts_update(id, &change("Late")).if_match(&tag).send().await;
    same(failure(late), (412, "rest_precondition_failed".to_owned()), "a conflict");
    same(failure(visitor.settings_get().send().await).0, 401, "a refusal");
    let long = PostsListQuery { per_page: Some(1000), ..Default::default() };
    let Err(Problem::Failure(wrong)) = visitor.posts_list(&long).send().await else { panic!("too long a page") };
    same((wrong.status, wrong.known()), (400, ErrorCode::RestInvalidParam), "an error code");
    Ok(())
}

/// A file, several requests at once, an own resource.
async fn more(editor: &Client) -> Outcome {
    let picture = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 31, 21,
        196, 137, 0, 0, 0, 13, 73, 68, 65, 84, 120, 218, 99, 252, 207, 192, 80, 15, 0, 4, 133, 1, 128, 132, 169, 140,
        33, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ];
    let file = File { name: "dot.png".into(), content: picture.to_vec(), media_type: "image/png".into() };
    let body = MediaCreateBody { file: Some(file), alt_text: Some("A dot".into()), ..Default::default() };
    let uploaded = editor.media_create(&body).send().await?;
    same((uploaded.status, uploaded.data.alt_text.as_str()), (201, "A dot"), "an upload");

    let request = |name: &str| BatchV1BatchRequests {
        path: "/cms/v2/tags".to_owned(),
        body: Some([("name".to_owned(), name.into())].into()),
        ..Default::default()
    };
    let batch = BatchV1Batch { requests: vec![request("Batch one"), request("Batch two")], ..Default::default() };
    let batch = editor.batch_v1_batch(&batch).send().await?;
    let responses = batch.data.responses.unwrap_or_default();
    same((batch.status, responses.len()), (207, 2), "a batch");

    // Whole collections, out and in: what comes out changes nothing when it goes in.
    let query = PostsListQuery { per_page: Some(3), ..Default::default() };
    let mut lines = editor.posts_list(&query).context(context::Edit).lines().await?;
    let mut exported = Vec::new();
    let first: Option<PostEdit> = lines.next().await?;
    same(first.map(|post| post.title.raw.is_empty()), Some(false), "an export");
    let mut lines = editor.posts_list(&query).context(context::Edit).lines().await?;
    while let Some(post) = lines.next_value().await? {
        exported.push(post);
    }
    same(exported.len() > 3, true, "an export");
    let mut results = Vec::new();
    let into = PostsImportQuery { upsert: Some("slug".into()), ..Default::default() };
    editor.posts_import(&into).import(&exported, |one| results.push(one.result)).await?;
    same(results.iter().all(|one| one == "unchanged"), true, "an import that changes nothing");
    let mut places = Vec::new();
    let many = (0..1001).map(|n| serde_json::json!({"name": format!("Piece {n}")}));
    editor.tags_import(&Default::default()).import(many, |one| places.push(one.position)).await?;
    same(places, (0..1001).collect::<Vec<_>>(), "an import in several requests");

    let book = editor.books_create(&BookCreate { title: "Book".into(), pages: 3, ..Default::default() }).send().await?;
    same(book.data.pages, 3, "an own resource");
    Ok(())
}

/// What is busy is asked again, unless it may have made the change; a foreign link gets no credentials.
async fn busy() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let base = format!("http://{}", listener.local_addr()?);
    let answers = [
        ("429 Too Many Requests", "retry-after: 0", "{\"code\":\"rest_too_many_requests\"}"),
        ("503 Service Unavailable", "retry-after: 0", "{\"code\":\"rest_busy\"}"),
        ("200 OK", "link: <http://elsewhere.test/>; rel=\"next\"", "[]"),
        ("503 Service Unavailable", "retry-after: 0", "{\"code\":\"rest_outcome_unknown\"}"),
    ];
    let server = std::thread::spawn(move || {
        for (status, header, body) in answers {
            let (mut stream, _) = listener.accept()?;
            let (mut request, mut bytes) = (Vec::new(), [0; 4096]);
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let count = stream.read(&mut bytes)?;
                request.extend_from_slice(&bytes[..count]);
            }
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )?;
        }
        std::io::Result::Ok(())
    });
    let client = Client::new(&base).with_credentials("ann", "secret");
    let mut pages = client.posts_list(&PostsListQuery::default()).pages();
    same(pages.next().await?.map(|page| page.data.len()), Some(0), "a page after pauses");
    same(matches!(pages.next().await, Err(Problem::ForeignAddress(_))), true, "a foreign address");
    let unknown = client.tags_delete(1, &Default::default()).send().await;
    same(failure(unknown), (503, "rest_outcome_unknown".to_owned()), "an unknown outcome");
    server.join().expect("the answers are sent")?;
    Ok(())
}
