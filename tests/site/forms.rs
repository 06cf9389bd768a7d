//! Forms that strangers send: their rules, their answers, who reads the messages and how long they stay.

use super::inside::Inside;
use super::media::multipart;
use super::server::{Answer, Server, until, with_profiles};
use cms_base::clock::ManualClock;
use cms_core::model::Method;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const ROUTE: &str = "/contact-form-7/v1/contact-forms";
const MESSAGES: &str = "/server/v1/form-messages";

/// A form with a field of each type.
const EVERY: &str = "<p>[text* who minlength:2 maxlength:5 id:whoever] [email mail] [url page] [tel phone]</p>\n\
    [number* count min:1 max:9] [range level min:0 max:10] [date day min:2026-01-01 max:2026-12-31]\n\
    [textarea words maxlength:20] [select* topic \"news\" \"help\"] [checkbox kinds \"one\" \"two\"]\n\
    [radio way default:1 \"post\" \"call\"] [file paper limit:1kb filetypes:txt|image/*] [quiz sum \"2+3?|5\"] [submit \"Send\"]";

fn site(more: &str, sets: &[&str]) -> Server {
    Server::over(declared(more), &[&["site.prefix=wp"], sets].concat())
}

/// A folder of declarations with forms.
fn declared(more: &str) -> TempDir {
    with_profiles(&["contact-forms"], more)
}

fn form(server: &Server, body: Value) -> i64 {
    let made = server.admin("POST", ROUTE, Some(&body));
    assert_eq!(made.status, 201, "{}", made.text);
    made.body["id"].as_i64().expect("an id")
}

fn send(server: &Server, form: i64, fields: &[(&str, &str)], file: Option<(&str, &str, &[u8])>) -> Answer {
    let all: Vec<(&str, &str)> = fields.iter().copied().chain([("_wpcf7_unit_tag", "part-1")]).collect();
    let (kind, body) = multipart(&all, file);
    let url = format!("{}{ROUTE}/{form}/feedback", server.rest);
    server.send("POST", &url, None, Some((kind, body)), &[("user-agent", "tests")])
}

/// Field and message of each problem.
fn problems(answer: &Answer) -> Vec<(String, String)> {
    let text = |problem: &Value, member: &str| problem[member].as_str().unwrap_or_default().to_owned();
    let all = answer.body["invalid_fields"].as_array().cloned().unwrap_or_default();
    all.iter().map(|problem| (text(problem, "field"), text(problem, "message"))).collect()
}

fn messages(server: &Server) -> Vec<Value> {
    server.admin("GET", &format!("{MESSAGES}?context=edit&order=asc"), None).body.as_array().expect("a list").clone()
}

#[test]
fn each_value_is_judged_by_its_tag() {
    // Each of them is one more write of a stranger.
    let server = site("", &["limits.anonymous_writes.burst=1000"]);
    let texts = [
        "invalid_required",
        "invalid_too_short",
        "invalid_too_long",
        "invalid_email",
        "invalid_url",
        "invalid_tel",
        "invalid_number",
        "number_too_small",
        "number_too_large",
        "invalid_date",
        "date_too_early",
        "date_too_late",
        "invalid_choice",
        "too_many_items",
        "quiz_answer_not_correct",
        "upload_file_type_invalid",
        "upload_file_too_large",
        "mail_sent_ok",
        "validation_error",
    ];
    let own: serde_json::Map<String, Value> =
        texts.iter().map(|key| ((*key).to_owned(), json!(format!("own {key}")))).collect();
    let id = form(&server, json!({"title": "Every", "form": EVERY, "messages": own}));
    let asked = server.get(&format!("{ROUTE}/{id}/refill")).body;
    assert_eq!(asked["quiz"]["sum"][0], "2+3?");
    let proof = asked["quiz"]["sum"][1].as_str().expect("a proof").to_owned();
    let good = [
        ("who", "Ann"),
        ("count", "3"),
        ("topic", "help"),
        ("way", "post"),
        ("sum", " 5 "),
        ("_wpcf7_quiz_answer_sum", &*proof),
    ];
    let with = |changed: &[(&'static str, &'static str)], file: Option<(&str, &str, &[u8])>| {
        let kept = good.iter().copied().filter(|(name, _)| !changed.iter().any(|(own, _)| own == name));
        let all: Vec<(&str, &str)> = kept.chain(changed.iter().copied().filter(|(_, value)| *value != "-")).collect();
        send(&server, id, &all, file)
    };
    let sent = with(&[], None);
    assert_eq!(
        (sent.status, &sent.body["status"], &sent.body["message"]),
        (200, &json!("mail_sent"), &json!("own mail_sent_ok"))
    );
    assert_eq!(
        (&sent.body["contact_form_id"], &sent.body["into"], problems(&sent).len()),
        (&json!(id), &json!("#part-1"), 0)
    );
    assert!(sent.body["posted_data_hash"].as_str().is_some_and(|hash| hash.len() == 64), "{}", sent.text);
    for (field, value, text) in [
        ("who", "-", "invalid_required"),
        ("who", "   ", "invalid_required"),
        ("who", "A", "invalid_too_short"),
        ("who", "Annabel", "invalid_too_long"),
        ("mail", "ann", "invalid_email"),
        ("page", "nourl", "invalid_url"),
        ("page", "javascript:alert(1)", "invalid_url"),
        ("phone", "abc", "invalid_tel"),
        ("count", "x", "invalid_number"),
        ("count", "0", "number_too_small"),
        ("count", "10", "number_too_large"),
        ("level", "-0.5", "number_too_small"),
        ("day", "5/5/2026", "invalid_date"),
        ("day", "2026-02-30", "invalid_date"),
        ("day", "2025-12-31", "date_too_early"),
        ("day", "2027-01-01", "date_too_late"),
        ("words", "more than twenty letters", "invalid_too_long"),
        ("topic", "-", "invalid_required"),
        ("topic", "other", "invalid_choice"),
        ("kinds[]", "three", "invalid_choice"),
        ("way", "fax", "invalid_choice"),
        ("sum", "6", "quiz_answer_not_correct"),
        ("sum", "-", "quiz_answer_not_correct"),
        ("_wpcf7_quiz_answer_sum", "5", "quiz_answer_not_correct"),
    ] {
        let answer = with(&[(field, value)], None);
        assert_eq!((answer.status, &answer.body["status"]), (200, &json!("validation_failed")), "{field} = {value}");
        let shown = match field {
            "kinds[]" => "kinds",
            "_wpcf7_quiz_answer_sum" => "sum",
            field => field,
        };
        assert_eq!(problems(&answer), [(shown.to_owned(), format!("own {text}"))], "{field} = {value}");
        assert_eq!(
            (&answer.body["message"], &answer.body["posted_data_hash"]),
            (&json!("own validation_error"), &json!(""))
        );
    }
    let named = with(&[("who", "")], None).body["invalid_fields"][0].clone();
    assert_eq!((&named["idref"], &named["error_id"]), (&json!("whoever"), &json!("part-1-ve-who")));
    for (name, bytes, text) in [
        ("a.txt", &[b'x'; 1025][..], Some("upload_file_too_large")),
        ("a.exe", &[b'x'; 10], Some("upload_file_type_invalid")),
        ("a.txt", &[b'x'; 10], None),
        ("A.PNG", &[b'x'; 10], None),
    ] {
        let answer = with(&[], Some(("paper", name, bytes)));
        let expected: Vec<_> = text.iter().map(|text| ("paper".to_owned(), format!("own {text}"))).collect();
        assert_eq!(problems(&answer), expected, "{name}");
    }
    assert_eq!(messages(&server).len(), 3, "what is not taken is not stored");
}

#[test]
fn rules_are_shown_as_they_are_applied() {
    let server = site("", &[]);
    let id = form(&server, json!({"title": "Rules", "form": EVERY, "locale": "de_DE"}));
    let shown = server.get(&format!("{ROUTE}/{id}/feedback/schema")).body;
    assert_eq!(shown["locale"], "de_DE");
    let rules: Vec<String> = shown["rules"]
        .as_array()
        .expect("rules")
        .iter()
        .map(|rule| {
            format!(
                "{}:{}:{}{}",
                rule["field"].as_str().unwrap_or_default(),
                rule["rule"].as_str().unwrap_or_default(),
                rule["threshold"].to_string().replace("null", ""),
                rule["accept"].to_string().replace("null", "")
            )
        })
        .collect();
    let expected = [
        "way:required:",
        "way:maxitems:1",
        "day:date:",
        "day:mindate:\"2026-01-01\"",
        "day:maxdate:\"2026-12-31\"",
        "paper:file:[\".txt\",\"image/*\"]",
        "paper:maxfilesize:1024",
        "count:required:",
        "count:number:",
        "count:minnumber:\"1\"",
        "count:maxnumber:\"9\"",
        "level:number:",
        "level:minnumber:\"0\"",
        "level:maxnumber:\"10\"",
        "topic:required:",
        "who:required:",
        "who:minlength:2",
        "who:maxlength:5",
        "mail:email:",
        "mail:maxlength:400",
        "page:url:",
        "page:maxlength:400",
        "phone:tel:",
        "phone:maxlength:400",
        "words:maxlength:20",
        "kinds:enum:[\"one\",\"two\"]",
        "way:enum:[\"post\",\"call\"]",
        "topic:enum:[\"news\",\"help\"]",
    ];
    assert_eq!(rules, expected);
    let plain = form(&server, json!({"title": "Plain", "form": "[text who]"}));
    assert_eq!(server.get(&format!("{ROUTE}/{plain}/refill")).body, json!([]));
}

#[test]
fn consent_programs_and_traps_decide_in_this_order() {
    let server = site("[resources.forms.options.forms]\ndisallowed = [\"casino\"]\n", &[]);
    let of = |form: &str, settings: &str| json!({"title": "Consent", "form": form, "additional_settings": settings});
    let asked = form(&server, of("[text who] [honeypot url2] [acceptance terms] ok [/acceptance]", ""));
    let as_field = form(&server, of("[text who] [acceptance terms] ok [/acceptance]", "acceptance_as_validation: on"));
    let timed = form(&server, of("[text who]", "minimum_seconds: 60"));
    let free = form(&server, of("[text who] [acceptance terms optional]", ""));
    let closed = form(&server, of("[text* who]", "subscribers_only: true"));
    let dated = form(&server, of("[date from min:today max:today+1year]", ""));
    let status = |id: i64, fields: &[(&str, &str)]| {
        let answer = send(&server, id, fields, None);
        (answer.body["status"].as_str().unwrap_or_default().to_owned(), problems(&answer).len())
    };
    let moment =
        server.get(&format!("{ROUTE}/{timed}/refill")).body["_form_shown"].as_str().expect("a moment").to_owned();
    for (id, fields, expected) in [
        (asked, vec![("who", "Ann"), ("terms", "1")], ("mail_sent", 0)),
        (asked, vec![("who", "Ann")], ("acceptance_missing", 0)),
        (asked, vec![("who", "Ann"), ("terms", "0")], ("acceptance_missing", 0)),
        (asked, vec![("who", "CASINO today"), ("terms", "1")], ("spam", 0)),
        (asked, vec![("who", "CASINO today")], ("acceptance_missing", 0)),
        (asked, vec![("who", "Ann"), ("terms", "1"), ("url2", "https://a.example")], ("spam", 0)),
        (as_field, vec![("who", "Ann")], ("validation_failed", 1)),
        (as_field, vec![("who", "Ann"), ("terms", "1")], ("mail_sent", 0)),
        (free, vec![("who", "Ann")], ("mail_sent", 0)),
        (closed, vec![("who", "Ann")], ("error", 0)),
        (closed, vec![("who", "")], ("error", 0)),
        (dated, vec![("from", "2024-01-01")], ("validation_failed", 1)),
        (dated, vec![("from", "9999-12-31")], ("validation_failed", 1)),
        (dated, vec![("from", "")], ("mail_sent", 0)),
        (timed, vec![("who", "Ann")], ("spam", 0)),
        (timed, vec![("who", "Ann"), ("_form_shown", &*moment)], ("spam", 0)),
        (timed, vec![("who", "Ann"), ("_form_shown", "1.abc")], ("spam", 0)),
    ] {
        assert_eq!(status(id, &fields), (expected.0.to_owned(), expected.1), "{fields:?}");
    }
    let (kind, body) = multipart(&[("who", "Ann"), ("terms", "1"), ("_wpcf7_unit_tag", "x")], None);
    let url = format!("{}{ROUTE}/{asked}/feedback", server.rest);
    let nobody = server.send("POST", &url, None, Some((kind, body)), &[("user-agent", "")]);
    assert_eq!(nobody.body["status"], "spam", "{}", nobody.text);
    let (kind, body) = multipart(&[("who", "Ann"), ("_wpcf7_unit_tag", "x")], None);
    let reader = server.user("rita", "subscriber");
    let url = format!("{}{ROUTE}/{closed}/feedback", server.rest);
    let sent = server.send("POST", &url, Some(&reader), Some((kind, body)), &[("user-agent", "tests")]);
    assert_eq!(sent.body["status"], "mail_sent", "{}", sent.text);
    // The bounds are days, whichever day it is.
    let rules = server.get(&format!("{ROUTE}/{dated}/feedback/schema")).body["rules"].clone();
    let days: Vec<&str> = rules.as_array().unwrap().iter().filter_map(|rule| rule["threshold"].as_str()).collect();
    assert!(days.len() == 2 && days.iter().all(|day| day.len() == 10) && days[0] < days[1], "{rules}");
}

#[test]
fn what_is_no_form_is_refused() {
    let server = site("", &[]);
    let id = form(&server, json!({"title": "A", "form": "[text who]"}));
    let url = |id: i64| format!("{}{ROUTE}/{id}/feedback", server.rest);
    let refused = |url: &str, body: Option<(&str, Vec<u8>)>, expected: (u16, &str)| {
        let answer = server.send("POST", url, None, body, &[]);
        assert_eq!((answer.status, answer.code()), expected, "{}", answer.text);
    };
    for (kind, body) in
        [("application/json", "{\"who\": \"x\"}"), ("application/x-www-form-urlencoded", "who=x"), ("text/plain", "x")]
    {
        refused(&url(id), Some((kind, body.as_bytes().to_vec())), (415, "wpcf7_unsupported_media_type"));
    }
    refused(&url(id), None, (415, "wpcf7_unsupported_media_type"));
    refused(&url(id), Some(multipart(&[("who", "x")], None)), (400, "wpcf7_unit_tag_not_found"));
    refused(&url(id), Some(multipart(&[("_wpcf7_unit_tag", "<>")], None)), (400, "wpcf7_unit_tag_not_found"));
    refused(&url(999_999), Some(multipart(&[("_wpcf7_unit_tag", "x")], None)), (404, "wpcf7_not_found"));
    assert_eq!(server.get(&format!("{ROUTE}/{id}/feedback")).code(), "rest_no_route");
    assert_eq!(server.get(&format!("{ROUTE}/999999/refill")).code(), "wpcf7_not_found");
    // Without a file a form is as large as every body, with one a little larger.
    let large = vec![b'x'; 30 << 20];
    let answer = server.send("POST", &url(id), None, Some(multipart(&[], Some(("f", "a.txt", &large)))), &[]);
    assert_eq!((answer.status, answer.code()), (413, "rest_payload_too_large"));
}

#[test]
fn messages_are_for_those_who_publish_pages() {
    let server = site("", &[]);
    let id = form(
        &server,
        json!({"title": "Reach us", "form": "[text who] [checkbox kinds \"a\" \"b\"] [file paper filetypes:txt]"}),
    );
    let fields = [("who", "<b>Ann</b>"), ("kinds[0]", "a"), ("kinds[1]", "b"), ("secret", "x")];
    assert_eq!(send(&server, id, &fields, Some(("paper", "../a.txt", b"hello"))).body["status"], "mail_sent");
    let stored = messages(&server).remove(0);
    assert_eq!(
        stored["fields"],
        json!({"kinds": ["a", "b"], "who": "<b>Ann</b>"}),
        "what the form does not ask for is left out"
    );
    assert_eq!(stored["files"], json!([{"field": "paper", "name": "a.txt", "size": 5, "content": "aGVsbG8="}]));
    assert_eq!((&stored["form"], &stored["title"]), (&json!(id), &json!("Reach us")));
    let [author, editor, subscriber] =
        ["author", "editor", "subscriber"].map(|role| server.user(&format!("the-{role}"), role));
    let item = format!("{MESSAGES}/{}", stored["id"]);
    for (who, lists, forms, one) in [
        (None, 401, (403, "wpcf7_forbidden"), 403),
        (Some(&subscriber), 403, (403, "wpcf7_forbidden"), 403),
        (Some(&author), 403, (200, ""), 403),
        (Some(&editor), 200, (200, ""), 200),
    ] {
        assert_eq!(server.ask("GET", MESSAGES, who, None).status, lists);
        assert_eq!(server.ask("GET", &item, who, None).status, lists);
        let list = server.ask("GET", ROUTE, who, None);
        assert_eq!((list.status, list.code()), forms);
        assert_eq!(server.ask("GET", &format!("{ROUTE}/{id}"), who, None).status, one);
        assert_ne!(server.ask("POST", MESSAGES, who, Some(&json!({"fields": {}}))).status, 201, "nobody writes one so");
        assert_ne!(server.ask("PUT", &item, who, Some(&json!({"fields": {}}))).status, 200);
    }
    let listed =
        server.ask("GET", &format!("{ROUTE}?search=reach&orderby=ID&order=ASC&per_page=1"), Some(&author), None).body;
    assert_eq!(
        (&listed[0]["id"], &listed[0]["slug"], &listed[0]["locale"]),
        (&json!(id), &json!("reach-us"), &json!("en_US"))
    );
    assert!(listed[0].get("form").is_none() && listed[0]["hash"].is_string(), "{listed}");
    let whole = server.admin("GET", &format!("{ROUTE}/{id}"), None).body;
    assert!(whole["properties"]["form"]["content"].as_str().is_some_and(|text| text.contains("[text who]")), "{whole}");
    assert_eq!(server.ask("DELETE", &item, Some(&editor), None).status, 200);
    assert!(messages(&server).is_empty());
    // A form that is gone leaves its messages.
    send(&server, id, &fields, None);
    assert_eq!(server.admin("DELETE", &format!("{ROUTE}/{id}"), None).status, 200);
    assert_eq!(messages(&server)[0]["form"], Value::Null);
}

#[test]
fn recipients_are_told_and_nobody_else() {
    let outbox = TempDir::new().expect("a folder");
    let url = format!("mail.url=file:{}", outbox.path().display());
    let server = site("", &[&url, "mail.from=site@example.org"]);
    let mail = json!({"recipient": "Desk <desk@example.org>, [mail]", "subject": "From [who]", "body": "Hello\n[words]\nfrom [mail]"});
    let text = "[text who] [email mail] [textarea words]";
    let told = form(&server, json!({"title": "Reach us", "form": text, "mail": mail}));
    let silent =
        form(&server, json!({"title": "Silent", "form": text, "mail": mail, "additional_settings": "skip_mail: on"}));
    let fields = [("who", "Ann\r\nBcc: x@example.org"), ("mail", "ann@example.org"), ("words", "One\nBcc: two")];
    assert_eq!(send(&server, silent, &fields, None).body["status"], "mail_sent");
    assert_eq!(send(&server, told, &fields, None).body["status"], "mail_sent");
    let letters = || {
        let files = fs::read_dir(outbox.path()).expect("a folder").flatten();
        files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect::<Vec<_>>()
    };
    until("a letter", || letters().iter().any(|letter| letter.contains("\r\n\r\n")));
    let all = letters();
    assert_eq!(all.len(), 1, "{all:?}");
    let (head, body) = all[0].split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains("To: desk@example.org") && !head.contains("\nBcc"), "{head}");
    assert!(body.contains("from ann@example.org") && body.contains("Reach us"), "{body}");
    assert_eq!(messages(&server).len(), 2, "both are stored");
}

#[test]
fn strangers_send_no_more_than_is_declared() {
    let server = site("[limits.form_messages]\nburst = 2\nper_minute = 1\n", &[]);
    let id = form(&server, json!({"title": "A", "form": "[text who]"}));
    let codes = |name: &str| -> Vec<u16> { (0..3).map(|_| send(&server, id, &[("who", name)], None).status).collect() };
    assert_eq!(codes(&"x".repeat(500)), [200, 200, 200], "what is not taken does not count");
    assert_eq!(codes("Ann"), [200, 200, 429]);
    assert_eq!(messages(&server).len(), 2);
}

#[test]
fn messages_are_deleted_when_their_time_has_passed() {
    let clock = ManualClock::at(1_800_000_000);
    let site = Inside::timed_over(declared("[resources.form_messages.retention]\nafter = \"10d\"\n"), clock.clone());
    let id = site.make(ROUTE, &json!({"title": "A", "form": "[text who]"}))["id"].clone();
    let sent =
        |site: &Inside| site.send_form(&format!("{ROUTE}/{id}/feedback"), &[("who", "Ann"), ("_wpcf7_unit_tag", "x")]);
    assert_eq!(sent(&site).body["status"], "mail_sent");
    clock.advance(9 * 24 * 3600);
    assert_eq!(sent(&site).body["status"], "mail_sent");
    let count = || site.ask(Method::Get, MESSAGES, true, None).body.as_array().map_or(0, Vec::len);
    let mut stuck = Default::default();
    let mut due = || {
        let now = cms_base::clock::Clock::now(&*clock);
        cms_server::scheduler::carry_out(&site.registry, &*site.services.storage, now, &mut stuck).expect("a round")
    };
    assert_eq!((due().next, count()), (Some(1_800_000_000 + 10 * 24 * 3600), 2));
    clock.advance(24 * 3600);
    assert_eq!((due().records, count()), (1, 1));
    assert_eq!(due().next, Some(1_800_000_000 + 19 * 24 * 3600));
}
