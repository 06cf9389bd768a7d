//! Dates as people of a language write them. It knows no page and no time zone.

use chrono::{DateTime, Locale};

/// A wall clock's moment, in seconds since 1970, to the minute: in the language of a tag such as `nb_NO` or `de`, or as
/// `2026-01-31 09:05` where nothing is known of it.
pub fn written(local: i64, language: &str) -> String {
    let Some(moment) = DateTime::from_timestamp(local, 0) else { return String::new() };
    match locale(language) {
        Some(locale) => moment.format_localized("%x %H:%M", locale).to_string(),
        None => moment.format("%Y-%m-%d %H:%M").to_string(),
    }
}

/// A wall clock's moment in English, as `strftime` forms it (`%B %-d, %Y`).
pub fn named(local: i64, form: &str) -> String {
    DateTime::from_timestamp(local, 0).map_or_else(String::new, |moment| moment.format(form).to_string())
}

/// The locale of a tag: its language and country, or the country that bears the language's name.
fn locale(tag: &str) -> Option<Locale> {
    let mut parts = tag.split(['_', '-']);
    let language = parts.next().unwrap_or_default().to_ascii_lowercase();
    let country = parts.next().filter(|part| part.len() == 2).unwrap_or(&language).to_ascii_uppercase();
    Locale::try_from(format!("{language}_{country}").as_str()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_the_language_does() {
        let cases = [
            ("en_US", "01/31/2026 09:05"),
            ("en_GB", "31/01/26 09:05"),
            ("nb_NO", "31. jan. 2026 09:05"),
            ("de_DE_formal", "31.01.2026 09:05"),
            ("de", "31.01.2026 09:05"),
            ("ja_JP", "2026年01月31日 09:05"),
            ("xx_XX", "2026-01-31 09:05"),
            ("", "2026-01-31 09:05"),
        ];
        for (language, expected) in cases {
            assert_eq!(written(1_769_850_300, language), expected, "{language}");
        }
    }

    #[test]
    fn no_moment_is_too_far_away() {
        for local in [i64::MIN, i64::MAX, -1, 0, 253_402_300_800] {
            written(local, "de");
        }
    }
}
