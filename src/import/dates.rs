//! Dates as exports write them: those of WordPress, of programs that write its format, and of feeds.

use cms_text::time::{CivilDateTime, format_local, parse_datetime};

/// The zone of a date whose text names none.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum DateZone {
    Local,
    Utc,
}

/// Seconds since 1970 of a date and time, also without seconds or without a time. A zone counts where the date is in UTC: a
/// wall clock is taken as it is written.
///
/// # Errors
/// The text that is no date.
pub(super) fn moment(text: &str, clock: DateZone) -> Result<Option<i64>, String> {
    // "-0001-11-30" is what some versions of PHP make of the zero date.
    if text.is_empty() || text.starts_with("0000-00-00") || text.starts_with("-0001-11-30") {
        return Ok(None);
    }
    let full = match text.len() {
        10 => format!("{text} 00:00:00"),
        16 => format!("{text}:00"),
        _ => text.to_owned(),
    };
    // A day that its month does not have is no date that anybody has written down.
    let exists = |wall: i64| full.starts_with(&format_local(wall)[..10]);
    let parsed = parse_datetime(&full).filter(|parsed| exists(parsed.wall)).ok_or_else(|| text.to_owned())?;
    Ok(Some(if clock == DateZone::Utc { parsed.as_utc() } else { parsed.wall }))
}

/// UTC seconds of a date as feeds write it (`Tue, 05 Mar 2024 10:15:00 +0000`).
pub(super) fn feed_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let date = text.split_once(',').map_or(text, |(_, date)| date);
    let parts: Vec<&str> = date.split_whitespace().collect();
    let [day, month, year, time, zone] = parts.as_slice() else { return None };
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))?;
    let mut clock = time.split(':').map(|part| part.parse::<u8>().ok());
    let (hour, minute) = (clock.next()??, clock.next()??);
    let second = clock.next().unwrap_or(Some(0))?;
    let year = year.parse().ok().filter(|year| (1..=9999).contains(year))?;
    let civil =
        CivilDateTime { year, month: u8::try_from(month).ok()? + 1, day: day.parse().ok()?, hour, minute, second };
    let digits = zone.strip_prefix(['+', '-']);
    let offset = match digits {
        Some(digits) if digits.len() == 4 => {
            let number: i64 = digits.parse().ok()?;
            let east = (number / 100 * 60 + number % 100) * 60;
            if zone.starts_with('-') { -east } else { east }
        }
        None if ["GMT", "UT", "UTC", "Z"].contains(zone) => 0,
        _ => return None,
    };
    Some(civil.seconds()? - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let check = |text: &str, clock: DateZone, expected: Result<Option<i64>, &str>| {
            assert_eq!(moment(text, clock), expected.map_err(str::to_owned), "{text}");
        };
        for text in ["2020-01-02 03:04:05", "2020-01-02T03:04:05", "2020-01-02T03:04:05Z"] {
            check(text, DateZone::Local, Ok(Some(1_577_934_245)));
            check(text, DateZone::Utc, Ok(Some(1_577_934_245)));
        }
        check("2020-01-02T03:04:05+01:00", DateZone::Local, Ok(Some(1_577_934_245)));
        check("2020-01-02T03:04:05+01:00", DateZone::Utc, Ok(Some(1_577_930_645)));
        check("2020-01-02 03:04", DateZone::Local, Ok(Some(1_577_934_240)));
        check("2020-01-02", DateZone::Local, Ok(Some(1_577_923_200)));
        for none in ["", "0000-00-00 00:00:00", "-0001-11-30 00:00:00"] {
            check(none, DateZone::Utc, Ok(None));
        }
        for wrong in ["Invalid date", "2024-02-30 00:00:00", "soon", "2024-13-01 00:00:00", "äöüßäöüß"] {
            check(wrong, DateZone::Local, Err(wrong));
        }
    }

    #[test]
    fn feed_dates() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(feed_date(text), expected, "{text}");
        check("Tue, 05 Mar 2024 10:15:00 +0000", Some(1_709_633_700));
        check("Tue, 05 Mar 2024 11:15:00 +0100", Some(1_709_633_700));
        check("5 mar 2024 10:15 GMT", Some(1_709_633_700));
        check("Mon, 30 Nov -0001 00:00:00 +0000", None);
        check("yesterday", None);
        check("", None);
    }
}
