//! Dates as people of a language write them. It knows no page and no time zone.

use super::time::{CivilDateTime, moment, parse_datetime};
use pure_rust_locales::{Locale, locale_match};
use time::OffsetDateTime;
use time::format_description::parse_strftime_owned;

/// A local time, in seconds since 1970, to the minute, as browsers write it: in the language of a tag such as `nb_NO` or
/// `de`, or as `2026-01-31, 09:05` where the language is unknown. Months of English have their names, since its regions put
/// day and month in different orders.
pub fn format_for_language(local: i64, language: &str) -> String {
    let moment = moment(local);
    let Some(locale) = locale(language) else { return formatted(moment, "%Y-%m-%d, %H:%M") };
    let form = locale_match!(locale => LC_TIME::D_FMT);
    let english = language.get(..2).is_some_and(|first| first.eq_ignore_ascii_case("en"));
    match (english, form.starts_with("%m")) {
        (true, true) => formatted(moment, "%b %-d, %Y, %-I:%M %p"),
        (true, false) => formatted(moment, "%-d %b %Y, %H:%M"),
        (false, _) => formatted(moment, &format!("{}, %H:%M", date_form(locale, moment))),
    }
}

/// A wall clock's moment as `strftime` forms it (`%B %-d, %Y`), with the names of months and days in a language.
pub fn format_strftime(local: i64, form: &str, language: &str) -> String {
    named(moment(local), form, locale(language))
}

/// A moment in a form, with the names of a locale; English ones without one.
fn named(moment: OffsetDateTime, form: &str, locale: Option<Locale>) -> String {
    match locale {
        Some(locale) if form.contains(['a', 'A', 'b', 'B']) => formatted(moment, &with_names(form, locale, moment)),
        _ => formatted(moment, form),
    }
}

/// A wall clock's moment in the form of the site's settings: letters of `date` in PHP; names of months and days are in a
/// language. Letters for the zone are left out.
pub fn format_php_date(local: i64, form: &str, language: &str) -> String {
    const MOST: usize = 100;
    let (moment, locale) = (moment(local), locale(language));
    let mut out = String::new();
    let mut letters = form.chars().take(MOST);
    while let Some(letter) = letters.next() {
        let part = match letter {
            'd' => "%d",
            'D' => "%a",
            'j' => "%-d",
            'l' => "%A",
            'N' => "%u",
            'w' => {
                out.push_str(&moment.weekday().number_days_from_sunday().to_string());
                continue;
            }
            'z' => {
                out.push_str(&(moment.ordinal() - 1).to_string());
                continue;
            }
            'S' => {
                out.push_str(ordinal(moment.day()));
                continue;
            }
            'W' => "%V",
            'F' => "%B",
            'm' => "%m",
            'M' => "%b",
            'n' => "%-m",
            't' => {
                out.push_str(&moment.month().length(moment.year()).to_string());
                continue;
            }
            'L' => {
                out.push_str(if moment.month().length(moment.year()) == 29 { "1" } else { "0" });
                continue;
            }
            'o' => "%G",
            'Y' => "%Y",
            'y' => "%y",
            'a' => "%P",
            'A' => "%p",
            'g' => "%-I",
            'G' => "%-H",
            'h' => "%I",
            'H' => "%H",
            'i' => "%M",
            's' => "%S",
            'u' => "000000",
            'v' => "000",
            'c' => "%Y-%m-%dT%H:%M:%S",
            'U' => {
                out.push_str(&local.to_string());
                continue;
            }
            'e' | 'I' | 'O' | 'P' | 'p' | 'T' | 'Z' => continue,
            '\\' => {
                out.extend(letters.next());
                continue;
            }
            other => {
                out.push(other);
                continue;
            }
        };
        out.push_str(&named(moment, part, locale));
    }
    out
}

/// The ending of a day's number.
fn ordinal(day: u8) -> &'static str {
    match (day, day % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

/// Units of distances in seconds, the largest first, and the texts for one of them and for several.
const UNITS: [(i64, [&str; 2]); 7] = [
    (31_536_000, ["1 year ago", "{count} years ago"]),
    (2_592_000, ["1 month ago", "{count} months ago"]),
    (604_800, ["1 week ago", "{count} weeks ago"]),
    (86_400, ["1 day ago", "{count} days ago"]),
    (3_600, ["1 hour ago", "{count} hours ago"]),
    (60, ["1 minute ago", "{count} minutes ago"]),
    (1, ["1 second ago", "{count} seconds ago"]),
];

/// The texts of [`time_ago`].
pub fn time_ago_texts() -> impl Iterator<Item = &'static str> {
    UNITS.iter().flat_map(|(_, texts)| *texts)
}

/// The place in [`UNITS`] of the largest unit that fits, and how many there are of it, rounded.
fn in_units(seconds: i64) -> (usize, i64) {
    let seconds = seconds.saturating_abs().max(1);
    let place = UNITS.iter().position(|(length, _)| seconds >= *length).unwrap_or(UNITS.len() - 1);
    let (length, _) = UNITS[place];
    (place, seconds.saturating_add(length / 2) / length)
}

/// How long ago something was, in the largest unit that fits: the texts for one and for several, and how many.
pub fn time_ago(seconds: i64) -> ([&'static str; 2], u64) {
    let (place, count) = in_units(seconds);
    (UNITS[place].1, count.unsigned_abs())
}

/// For how many seconds from now [`distance`] says the same of something that was so long ago (or, below 0, is to come).
pub fn time_ago_lifetime(seconds: i64) -> i64 {
    let (place, count) = in_units(seconds);
    let (length, _) = UNITS[place];
    // Where the number of this unit is another one, or a larger unit fits.
    let (least, most) =
        (count.saturating_mul(length) - length / 2, count.saturating_add(1).saturating_mul(length) - length / 2);
    if seconds < 0 {
        return seconds.saturating_abs().saturating_sub(least.max(length)).saturating_add(1).max(1);
    }
    let larger = place.checked_sub(1).map_or(i64::MAX, |larger| UNITS[larger].0);
    most.min(larger).saturating_sub(seconds).max(1)
}

/// Empty for a form that is none; a test tries all that there are.
fn formatted(moment: OffsetDateTime, form: &str) -> String {
    parse_strftime_owned(form).ok().and_then(|form| moment.format(&form).ok()).unwrap_or_default()
}

/// How a language writes a date, with its names. Numbers are written in Western digits, years in the Gregorian calendar.
fn date_form(locale: Locale, moment: OffsetDateTime) -> String {
    let form = locale_match!(locale => LC_TIME::D_FMT).replace("%E", "%").replace("%O", "%").replace("%y", "%Y");
    with_names(&form, locale, moment)
}

/// A form with the names of the moment's month and day of the week in a language.
fn with_names(form: &str, locale: Locale, moment: OffsetDateTime) -> String {
    let month = usize::from(u8::from(moment.month())) - 1;
    let day = usize::from(moment.weekday().number_days_from_sunday());
    let mut form = form.to_owned();
    for (place, names, number) in [
        ("%b", locale_match!(locale => LC_TIME::ABMON), month),
        ("%B", locale_match!(locale => LC_TIME::MON), month),
        ("%a", locale_match!(locale => LC_TIME::ABDAY), day),
        ("%A", locale_match!(locale => LC_TIME::DAY), day),
    ] {
        form = form.replace(place, names.get(number).copied().unwrap_or_default());
    }
    form
}

/// The locale of a tag: its language and country, or the country with the language's name.
fn locale(tag: &str) -> Option<Locale> {
    let mut parts = tag.split(['_', '-']);
    let language = parts.next().unwrap_or_default().to_ascii_lowercase();
    // English has no country of its own name.
    let usual = if language == "en" { "US" } else { &language };
    let country = parts.next().filter(|part| part.len() == 2).unwrap_or(usual).to_ascii_uppercase();
    Locale::try_from(format!("{language}_{country}").as_str()).ok()
}

/// Seconds of a day.
const DAY: i64 = 24 * 60 * 60;

/// Most years that words can lead away.
const YEARS_AWAY: i64 = 1000;

/// The first second of the day that words name, on a clock whose seconds are `now`: `today`, `tomorrow`, `yesterday` or
/// `2031-05-17`, and steps from there, such as `+7 days`, `-1month` or `next year`. A day that a month does not have counts on into
/// the next one. `None` for other words.
pub fn relative_day(words: &str, now: i64) -> Option<i64> {
    let lower = words.to_ascii_lowercase();
    let words = lower.trim();
    let named = [("today", 0), ("now", 0), ("tomorrow", 1), ("yesterday", -1)];
    let named = named.iter().find_map(|(name, days)| Some((words.strip_prefix(name)?, now + days * DAY)));
    let dated = || {
        let (day, rest) = words.split_at_checked(10)?;
        let shaped = day.split('-').map(str::len).eq([4, 2, 2]);
        Some((rest, parse_datetime(&format!("{day}T00:00:00")).filter(|_| shaped)?.wall))
    };
    let (mut rest, mut day) = named.or_else(dated).or((!words.is_empty()).then_some((words, now)))?;
    day -= day.rem_euclid(DAY);
    while !rest.trim_start().is_empty() {
        let step;
        (step, rest) = step_of(rest.trim_start())?;
        day = match step {
            DateStep::Days(days) => day + days * DAY,
            DateStep::Months(months) => {
                let from = CivilDateTime::of(day);
                let months = from.year * 12 + i64::from(from.month) - 1 + months;
                let month = u8::try_from(months.rem_euclid(12) + 1).ok()?;
                let first = CivilDateTime { year: months.div_euclid(12), month, day: 1, ..from };
                first.seconds()? + (i64::from(from.day) - 1) * DAY
            }
        };
        if (day - now).abs() > YEARS_AWAY * 366 * DAY {
            return None;
        }
    }
    Some(day)
}

/// A step from one day to another.
enum DateStep {
    Days(i64),
    Months(i64),
}

/// The step that words begin with, and the words after it.
fn step_of(words: &str) -> Option<(DateStep, &str)> {
    let side = [("next ", 1), ("last ", -1)].iter().find_map(|(name, count)| Some((words.strip_prefix(name)?, *count)));
    let (rest, count) = side.or_else(|| {
        let (sign, rest) = match words.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, words.strip_prefix('+').unwrap_or(words)),
        };
        let rest = rest.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let count: i64 = rest[..digits].parse().ok().filter(|count| *count <= YEARS_AWAY * 366)?;
        Some((rest[digits..].trim_start(), sign * count))
    })?;
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (unit, rest) = rest.split_at(letters);
    let step = match unit.strip_suffix('s').unwrap_or(unit) {
        "day" => DateStep::Days(count),
        "week" => DateStep::Days(7 * count),
        "month" => DateStep::Months(count),
        "year" => DateStep::Months(12 * count),
        _ => return None,
    };
    Some((step, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::format_local;

    #[test]
    fn words_name_days() {
        let now = CivilDateTime { year: 2026, month: 1, day: 31, hour: 15, minute: 4, second: 5 }.seconds().unwrap();
        for (words, day) in [
            ("today", Some("2026-01-31")),
            ("Tomorrow", Some("2026-02-01")),
            ("today+7days", Some("2026-02-07")),
            ("today + 2 weeks", Some("2026-02-14")),
            ("+1month", Some("2026-03-03")),
            ("-1 year", Some("2025-01-31")),
            ("next month", Some("2026-03-03")),
            ("yesterday -11months", Some("2025-03-02")),
            ("2024-02-28+1day+1year", Some("2025-03-01")),
            ("last week", Some("2026-01-24")),
            ("", None),
            ("monday", None),
            ("today+7", None),
            ("+999999999999999999days", None),
            ("+366001days", None),
            ("2024-02", None),
            ("2024-02-2é", None),
            ("todayé", None),
        ] {
            let found = relative_day(words, now).map(format_local);
            assert_eq!(found.as_deref().map(|found| &found[..10]), day, "{words}");
        }
    }

    #[test]
    fn dates_are_written_as_the_language_does() {
        let cases = [
            ("en_US", "Jan 31, 2026, 9:05 AM"),
            ("en-US", "Jan 31, 2026, 9:05 AM"),
            ("en", "Jan 31, 2026, 9:05 AM"),
            ("en_GB", "31 Jan 2026, 09:05"),
            ("EN-ie", "31 Jan 2026, 09:05"),
            ("nb_NO", "31. jan. 2026, 09:05"),
            ("de_DE_formal", "31.01.2026, 09:05"),
            ("de", "31.01.2026, 09:05"),
            ("de-AT", "2026-01-31, 09:05"),
            ("ja_JP", "2026年01月31日, 09:05"),
            ("fa_IR", "2026/01/31, 09:05"),
            ("vi_VN", "31/01/2026, 09:05"),
            ("xx_XX", "2026-01-31, 09:05"),
            ("", "2026-01-31, 09:05"),
        ];
        for (language, expected) in cases {
            assert_eq!(format_for_language(1_769_850_300, language), expected, "{language}");
        }
    }

    #[test]
    fn dates_have_the_form_of_the_settings() {
        let check =
            |form: &str, expected: &str| assert_eq!(format_php_date(1_769_850_309, form, "en_US"), expected, "{form}");
        check("F j, Y", "January 31, 2026");
        check("l jS \\o\\f M y", "Saturday 31st of Jan 26");
        check("d.m.Y H:i:s", "31.01.2026 09:05:09");
        check("g:i a, G, h A", "9:05 am, 9, 09 AM");
        check("N w z W n t L o U", "6 6 30 05 1 31 0 2026 1769850309");
        check("c", "2026-01-31T09:05:09");
        check("T%", "%");
        check("", "");
        for (language, expected) in
            [("de_DE", "Samstag, 31. Januar"), ("el_GR", "Σάββατο, 31. Ιανουαρίου"), ("xx", "Saturday, 31. January")]
        {
            assert_eq!(format_php_date(1_769_850_309, "l, j. F", language), expected, "{language}");
        }
    }

    #[test]
    fn distances_have_one_unit() {
        let cases = [
            (0, "1 second ago", 1),
            (59, "1 second ago", 59),
            (90, "1 minute ago", 2),
            (7_200, "1 hour ago", 2),
            (-86_400, "1 day ago", 1),
            (i64::MIN, "1 year ago", 292_471_208_677),
        ];
        for (seconds, unit, expected) in cases {
            let (texts, count) = time_ago(seconds);
            assert_eq!((texts[0], count), (unit, expected));
        }
    }

    #[test]
    fn a_distance_lasts_until_it_reads_otherwise() {
        let near_units =
            UNITS.iter().flat_map(|(length, _)| [-length - 1, -length, length - 1, *length, length * 3 / 2]);
        for seconds in near_units.chain([0, 1, 89, 90, 5_399, 100_000, -100_000, 40_000_000]) {
            let lasts = time_ago_lifetime(seconds);
            assert!(lasts >= 1, "{seconds}: {lasts}");
            assert_eq!(time_ago(seconds), time_ago(seconds + lasts - 1), "{seconds}");
            // A second that has passed is as far away as one that is to come.
            if !(-1..=0).contains(&seconds) {
                assert_ne!(time_ago(seconds), time_ago(seconds + lasts), "{seconds}");
            }
        }
        assert!([i64::MIN, i64::MAX].into_iter().all(|seconds| time_ago_lifetime(seconds) >= 1));
    }

    #[test]
    fn no_moment_is_too_far_away() {
        for (local, expected) in [
            (i64::MIN, "01.01.0000, 00:00"),
            (-1, "31.12.1969, 23:59"),
            (0, "01.01.1970, 00:00"),
            (253_402_300_799, "31.12.9999, 23:59"),
            (i64::MAX, "31.12.9999, 23:59"),
        ] {
            assert_eq!(format_for_language(local, "de"), expected);
        }
    }

    #[test]
    fn every_locale_has_a_form() {
        let letters = || b'a'..=b'z';
        let pairs: Vec<String> =
            letters().flat_map(|a| letters().map(move |b| [char::from(a), char::from(b)].iter().collect())).collect();
        let tags = pairs.iter().flat_map(|language| pairs.iter().map(move |country| format!("{language}_{country}")));
        let known: Vec<String> = tags.filter(|tag| locale(tag).is_some()).collect();
        assert!(known.len() > 200, "{}", known.len());
        for tag in known {
            for local in (1..=12).map(|month| 1_769_850_300 + month * 30 * 86_400) {
                let text = format_for_language(local, &tag);
                assert!(text.contains("9:05") && text.len() >= 12 && !text.contains('%'), "{tag}: {text}");
            }
        }
    }
}
