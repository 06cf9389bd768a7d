//! The differential corpus: sentences of ours in `fixtures/render`, with the results of WordPress 6.1.
//!
//! A case with another result here says so: `deviates` contains the reason and `ours` the result. `expected` is never
//! edited by hand.

use super::block_styles::BlockStyles;
use super::render::{RenderOptions, comment_content, render_content, render_excerpt, render_title};
use super::slug::sanitize_title;
use super::{clickable, html_policy, sanitize, slug, strip};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kind: TextKind,
    input: String,
    expected: String,
    deviates: Option<String>,
    ours: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TextKind {
    Content,
    Title,
    Slug,
    /// The automatic excerpt of a content.
    Excerpt,
    /// An excerpt that the author wrote.
    OwnExcerpt,
    Comment,
    /// The stored form of a content that an author sends.
    AuthorContent,
}

fn answer(kind: TextKind, input: &str) -> String {
    let styles = BlockStyles::sample();
    let options = RenderOptions { styles: Some(&styles), ..RenderOptions::default() };
    match kind {
        TextKind::Content => render_content(input, &options),
        TextKind::Title => render_title(input),
        TextKind::Slug => sanitize_title(input),
        TextKind::Excerpt => render_excerpt("", input, &options),
        TextKind::OwnExcerpt => render_excerpt(input, "", &options),
        TextKind::Comment => comment_content(input, &options),
        TextKind::AuthorContent => html_policy::sanitise(input, html_policy::Policy::posts()),
    }
}

#[test]
fn answers_equal_the_recorded_ones() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/render");
    let mut paths: Vec<_> = std::fs::read_dir(dir).expect("the corpus").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let (mut count, mut wrong) = (0, String::new());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let file: File = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        for case in file.cases {
            count += 1;
            let got = answer(case.kind, &case.input);
            let wanted = case.ours.as_ref().unwrap_or(&case.expected);
            assert_eq!(case.deviates.is_some(), case.ours.is_some(), "{:?}", case.input);
            assert!(case.ours.as_ref() != Some(&case.expected), "{:?} deviates no more", case.input);
            if got != *wanted {
                wrong += &format!("{:?} {:?}\n  wanted {wanted:?}\n  got    {got:?}\n", case.kind, case.input);
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{wrong}", wrong.matches("  wanted ").count());
    assert!(count >= 150);
}

/// Content is not to choose how long we work: every part must take time in proportion to its input.
#[test]
fn hostile_repetition_stays_linear() {
    const PARTS: [&str; 46] = [
        "<",
        ">",
        "&",
        ";",
        "&;",
        "&\n",
        "'",
        "\"",
        "'1",
        "\"1",
        "1x",
        "1,",
        "-",
        "--",
        ".",
        "[",
        "[[gallery]",
        "[gallery ",
        "[gallery]",
        "[caption]",
        "[/caption]",
        "<p>[gallery]</p>",
        "<p>",
        "</p>",
        "<br>",
        "\n",
        " \n",
        "<!--",
        "<!-- wp:a -->",
        "<!-- wp:a {",
        "<!-- /wp:a -->",
        "<pre>",
        "</pre>",
        "<script>",
        "<li>",
        "<blockquote>",
        "<a x='",
        "<b>",
        "</i>",
        "%0",
        "%2",
        "http://x.org/(",
        ")",
        ":)",
        "é",
        "Wordpress",
    ];
    let options = RenderOptions::default();
    for part in PARTS {
        for tail in ["", "-->[/gallery]</script>];%0d"] {
            let text = part.repeat(5_000) + tail;
            let start = std::time::Instant::now();
            let _ = render_content(&text, &options);
            let _ = render_excerpt("", &text, &options);
            let _ = comment_content(&text, &options);
            let _ = html_policy::sanitise(&text, html_policy::Policy::posts());
            let _ = (sanitize_title(&text), slug::sanitize_user_login(&text), slug::title_key(&text));
            let _ = (sanitize::sanitize_text_field(&text), sanitize::clean_url(&text), sanitize::esc_html(&text));
            let _ = (strip::strip_all_tags(&text), clickable::make_clickable(&text));
            let spent = start.elapsed();
            // Linear is some 50 ms here without optimisation, quadratic is minutes.
            assert!(spent.as_secs() < 5, "{part:?} {tail:?} took {spent:?}");
        }
    }
}
