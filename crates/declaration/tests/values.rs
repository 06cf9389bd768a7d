//! Tests of what the types of declarations make of values. They are not beside the types, which would be compiled twice.

use cms_declaration::units::{Duration, OptionalSetting, Size};
use cms_declaration::{Action, Cache, Share};
use serde_json::{Value, json};

#[test]
fn sizes_and_durations_are_texts_with_a_unit() {
    let size = |text: &str| text.parse::<Size>().ok().map(Size::bytes);
    let time = |text: &str| text.parse::<Duration>().ok().map(Duration::milliseconds);
    for (text, bytes) in [
        ("0B", Some(0)),
        ("320B", Some(320)),
        ("64KiB", Some(65_536)),
        ("16MiB", Some(16 << 20)),
        ("999999999GiB", Some(999_999_999 << 30)),
        ("1000000000GiB", None),
        ("16", None),
        ("16 MiB", None),
        ("16MB", None),
        ("-1B", None),
        ("MiB", None),
        ("", None),
    ] {
        assert_eq!(size(text), bytes, "{text}");
    }
    for (text, milliseconds) in
        [("250ms", Some(250)), ("30s", Some(30_000)), ("14d", Some(1_209_600_000)), ("1.5s", None), ("s", None)]
    {
        assert_eq!(time(text), milliseconds, "{text}");
    }
}

#[test]
fn values_are_written_in_the_largest_unit_that_fits() {
    let sizes = [0, 1, 1024, 1536, 16 << 20].map(|bytes| Size::bytes_of(bytes).to_string());
    assert_eq!(sizes, ["0B", "1B", "1KiB", "1536B", "16MiB"]);
    let times = [0, 250, 30_000, 90_000, 3_600_000, 172_800_000]
        .map(|n| format!("{n}ms").parse::<Duration>().unwrap().to_string());
    assert_eq!(times, ["0ms", "250ms", "30s", "90s", "1h", "2d"]);
}

#[test]
fn false_switches_off() {
    let read = |value: Value| serde_json::from_value::<OptionalSetting<Size>>(value).ok();
    assert_eq!(read(json!(false)), Some(OptionalSetting::OFF));
    assert_eq!(read(json!("1KiB")), Some(OptionalSetting::on(Size::kib(1))));
    assert_eq!(read(json!(true)), None);
    assert_eq!(read(json!(0)), None);
    assert_eq!(json!(OptionalSetting::on(Size::kib(1))), json!("1KiB"));
    assert_eq!(json!(OptionalSetting::<Size>::OFF), json!(false));
}

#[test]
fn names_are_those_of_declarations() {
    for action in Action::ALL {
        assert_eq!(Action::named(&action.to_string()), Some(action));
    }
    assert_eq!((Action::named("edit_others"), Action::named("destroy")), (Some(Action::EditOthers), None));
}

#[test]
fn caches_share_the_memory() {
    let mib = |n: u64| n << 20;
    let (share, off, own) = (Share::Used(true), Share::Used(false), |n| Share::Own(Size::mib(n)));
    for (responses, documents, shares) in [
        (share, share, [mib(24), mib(40)]),
        (off, share, [0, mib(64)]),
        (share, off, [mib(64), 0]),
        (own(10), share, [mib(10), mib(54)]),
        (share, own(100), [0, mib(100)]),
        (own(1), own(2), [mib(1), mib(2)]),
        (off, off, [0, 0]),
    ] {
        let cache = Cache { memory: Size::mib(64), responses, documents, ..Cache::default() };
        assert_eq!(cache.shares(), shares, "{cache:?}");
    }
}
