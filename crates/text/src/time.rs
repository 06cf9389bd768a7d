//! Instants, wall clocks and zones: seconds in, text out, and back.
//!
//! Owns the calendar arithmetic, the date strings of the contract and the site's time zone. It must not know the
//! current time (a clock is injected elsewhere), nor requests or storage.
//! Contract: DATA-MODEL 6 (integer seconds, both wall clock and UTC).

use std::ops::RangeInclusive;
use time::{Date, Month, OffsetDateTime};
use tzdb_data::{TZ_NAMES, find_tz};

/// Manual offsets reach from UTC-12 to UTC+14.
const MANUAL_OFFSETS: RangeInclusive<i32> = -12 * 3600..=14 * 3600;

/// A date and a time of day on the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CivilDateTime {
    /// 0 (1 BC) to 9999, the years that dates can be written with.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
}

impl CivilDateTime {
    /// Splits seconds since 1970 (of whatever clock they count) into calendar parts; what is before the year 0 or after
    /// 9999 counts as the first or the last second of these.
    pub fn of(seconds: i64) -> CivilDateTime {
        let moment = moment(seconds);
        let (year, month, day) = moment.to_calendar_date();
        let (hour, minute, second) = moment.to_hms();
        CivilDateTime { year: i64::from(year), month: month.into(), day, hour, minute, second }
    }

    /// Seconds since 1970; `None` when the parts name no moment (30 February, 25 o'clock).
    pub fn seconds(&self) -> Option<i64> {
        let month = Month::try_from(self.month).ok()?;
        let date = Date::from_calendar_date(i32::try_from(self.year).ok()?, month, self.day).ok()?;
        Some(date.with_hms(self.hour, self.minute, self.second).ok()?.assume_utc().unix_timestamp())
    }
}

/// The first second of the year 0 and the last one of 9999, since 1970: what formats of dates can write.
pub const WRITABLE: RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// Seconds since 1970 of whatever clock, within [`WRITABLE`].
pub(super) fn moment(seconds: i64) -> OffsetDateTime {
    let within = seconds.clamp(*WRITABLE.start(), *WRITABLE.end());
    OffsetDateTime::from_unix_timestamp(within).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// A moment as a client wrote it: the wall clock, and the distance to UTC if one was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallTime {
    /// Seconds since 1970 of the wall clock as written.
    pub wall: i64,
    /// Seconds east of Greenwich; `None` when the text names no zone.
    pub offset: Option<i32>,
}

impl WallTime {
    /// (local time of the zone, UTC) of a moment given in site time unless it names its offset.
    /// A local time that the zone skips is moved forward.
    pub fn in_zone(&self, zone: &Zone) -> (i64, i64) {
        let utc = match self.offset {
            Some(offset) => self.wall - i64::from(offset),
            None => zone.local_to_utc(self.wall),
        };
        (zone.utc_to_local(utc), utc)
    }

    /// UTC of a moment given in UTC unless it names its offset (the `*_gmt` fields).
    pub fn as_utc(&self) -> i64 {
        self.wall - i64::from(self.offset.unwrap_or(0))
    }
}

/// Reads `YYYY-MM-DDTHH:MM:SS` with an optional fraction and an optional `Z` or offset (`+03`, `+03:00`); the letters may
/// be small, and a space may replace the `T`. Fractions are dropped. 24 o'clock, second 60 and days that a month does not
/// have roll over. So it reads every date that a format accepts (`schema::format`), which may be stricter.
pub fn parse_datetime(text: &str) -> Option<WallTime> {
    let mut cursor = Cursor { rest: text.as_bytes() };
    let year = cursor.digits(4)?;
    cursor.one_of(b"-")?;
    let month = cursor.digits(2)?;
    cursor.one_of(b"-")?;
    let day = cursor.digits(2)?;
    cursor.one_of(b"Tt ")?;
    let hour = cursor.digits(2)?;
    cursor.one_of(b":")?;
    let minute = cursor.digits(2)?;
    cursor.one_of(b":")?;
    let second = cursor.digits(2)?;
    cursor.fraction()?;
    let offset = cursor.offset()?;
    if !cursor.rest.is_empty() || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let small = |n: i64| u8::try_from(n).ok();
    if !(1..=31).contains(&day) {
        return None;
    }
    // A day that the month does not have counts on into the next one.
    let month = CivilDateTime { year, month: small(month)?, day: 1, hour: 0, minute: 0, second: 0 };
    let wall = month.seconds()? + (day - 1) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(WallTime { wall: wall.min(*WRITABLE.end()), offset })
}

/// Seconds as `2019-03-04T05:06:07`, the way dates leave the server.
pub fn format_local(seconds: i64) -> String {
    let c = CivilDateTime::of(seconds);
    let mut out = String::with_capacity(19);
    push_two(&mut out, c.year / 100);
    push_two(&mut out, c.year % 100);
    for (mark, part) in [('-', c.month), ('-', c.day), ('T', c.hour), (':', c.minute), (':', c.second)] {
        out.push(mark);
        push_two(&mut out, i64::from(part));
    }
    out
}

/// Seconds in UTC with the zone written out: `2019-03-04T05:06:07+00:00`.
pub fn format_utc(seconds: i64) -> String {
    format_local(seconds) + "+00:00"
}

fn push_two(out: &mut String, n: i64) {
    let digit = |n: i64| char::from(b'0' + u8::try_from(n % 10).unwrap_or(0));
    out.push(digit(n / 10));
    out.push(digit(n));
}

/// The site's time zone: a name of the tz database, or a fixed distance to UTC.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    rule: ZoneRule,
}

#[derive(Clone, Copy, Debug)]
enum ZoneRule {
    Fixed(i32),
    Named(&'static tz::TimeZoneRef<'static>),
}

impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        self.name == other.name
    }
}

impl Zone {
    /// UTC under its tz name.
    pub fn utc() -> Zone {
        Zone { name: "UTC".into(), rule: ZoneRule::Fixed(0) }
    }

    /// Accepts names of the tz database as spelled there (`Europe/Berlin`), manual offsets (`UTC+5.5`, `UTC-3:30`,
    /// `+05:30`, `5.5`) and the empty text, which is UTC without a name.
    pub fn parse(text: &str) -> Option<Zone> {
        let named = || TZ_NAMES.contains(&text).then(|| find_tz(text.as_bytes())).flatten().map(ZoneRule::Named);
        let rule = match text {
            "" => ZoneRule::Fixed(0),
            _ => named().or_else(|| manual_offset(text).map(ZoneRule::Fixed))?,
        };
        Some(Zone { name: text.to_owned(), rule })
    }

    /// The text it was made from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it follows a place's rules (false for manual offsets).
    pub fn is_named(&self) -> bool {
        matches!(self.rule, ZoneRule::Named(_))
    }

    /// Wall clock of the zone at a moment.
    pub fn utc_to_local(&self, utc: i64) -> i64 {
        utc.saturating_add(self.seconds_at(utc))
    }

    /// The moment at which the zone's local time is `local`.
    ///
    /// A time that is skipped counts from the offset before the gap, so it moves forward by the gap. A time that occurs
    /// twice is the second one east of Greenwich and the first one west of it: that is what the reference does
    /// (Berlin 02:30 is 01:30 UTC, New York 01:30 is 05:30 UTC), because it takes the offset at the moment whose
    /// UTC reading is the local time.
    pub fn local_to_utc(&self, local: i64) -> i64 {
        let guess = self.seconds_at(local);
        let first = local.saturating_sub(guess);
        let there = self.seconds_at(first);
        if there == guess {
            return first;
        }
        let second = local.saturating_sub(there);
        if self.seconds_at(second) == there { second } else { local.saturating_sub(guess.min(there)) }
    }

    /// Hours east of Greenwich at a moment: 1, 5.5, -3.5.
    pub fn offset_hours_at(&self, utc: i64) -> f64 {
        // Offsets are far below 2^31 seconds, so nothing is lost.
        f64::from(i32::try_from(self.seconds_at(utc)).unwrap_or(0)) / 3600.0
    }

    fn seconds_at(&self, utc: i64) -> i64 {
        match self.rule {
            ZoneRule::Fixed(offset) => i64::from(offset),
            // Moments beyond the database's reach (hundreds of billions of years) count as UTC.
            ZoneRule::Named(zone) => zone.find_local_time_type(utc).map_or(0, |t| i64::from(t.ut_offset())),
        }
    }
}

/// `UTC+5.5`, `UTC-3:30`, `+05:30` or `5.5` in seconds.
fn manual_offset(text: &str) -> Option<i32> {
    let rest = text.strip_prefix("UTC").unwrap_or(text);
    let (sign, rest) = match rest.as_bytes().first()? {
        b'+' => (1, &rest[1..]),
        b'-' => (-1, &rest[1..]),
        _ if rest.len() == text.len() => (1, rest),
        _ => return None,
    };
    let number =
        |t: &str| if t.len() <= 2 && t.bytes().all(|b| b.is_ascii_digit()) { t.parse::<i32>().ok() } else { None };
    let (hours, minutes) = if let Some((hours, minutes)) = rest.split_once(':') {
        (number(hours)?, Some(minutes).filter(|m| m.len() == 2).and_then(number).filter(|m| *m < 60)?)
    } else if let Some((hours, part)) = rest.split_once('.') {
        let hundredths = match part.len() {
            1 => number(part)? * 10,
            2 => number(part)?,
            _ => return None,
        };
        (number(hours)?, hundredths * 60 / 100)
    } else {
        (number(rest)?, 0)
    };
    let seconds = sign * (hours * 3600 + minutes * 60);
    MANUAL_OFFSETS.contains(&seconds).then_some(seconds)
}

/// The rest of a date string.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        let value = digits.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))?;
        self.rest = rest;
        Some(value)
    }

    fn one_of(&mut self, marks: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        marks.contains(first).then(|| self.rest = rest)?;
        Some(*first)
    }

    fn fraction(&mut self) -> Option<()> {
        if self.one_of(b".").is_some() {
            self.digits(1)?;
            while self.digits(1).is_some() {}
        }
        Some(())
    }

    fn offset(&mut self) -> Option<Option<i32>> {
        if self.rest.is_empty() {
            return Some(None);
        }
        let sign = match self.one_of(b"Zz+-")? {
            b'Z' | b'z' => return Some(Some(0)),
            b'+' => 1,
            _ => -1,
        };
        let hours = self.digits(2)?;
        let minutes = if self.one_of(b":").is_some() { self.digits(2)? } else { 0 };
        let seconds = i32::try_from(sign * (hours * 3600 + minutes * 60)).ok()?;
        (hours <= 24 && minutes < 60).then_some(Some(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(text: &str) -> i64 {
        parse_datetime(text).expect(text).wall
    }

    #[test]
    fn days_and_dates_are_inverse() {
        for days in (-719_528..2_932_897).step_by(7) {
            assert_eq!(CivilDateTime::of(days * 86_400 + 1).seconds(), Some(days * 86_400 + 1));
        }
        assert_eq!(CivilDateTime::of(0), CivilDateTime { year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 0 });
    }

    #[test]
    fn extremes_do_not_panic() {
        let written = [
            (i64::MIN, "0000-01-01T00:00:00"),
            (-62_167_219_201, "0000-01-01T00:00:00"),
            (253_402_300_800, "9999-12-31T23:59:59"),
            (i64::MAX, "9999-12-31T23:59:59"),
        ];
        for (seconds, expected) in written {
            assert_eq!(format_local(seconds), expected, "{seconds}");
            let berlin = Zone::parse("Europe/Berlin").expect("a zone");
            let _ = berlin.local_to_utc(seconds);
            let _ = berlin.utc_to_local(seconds);
        }
    }

    #[test]
    fn reads_dates_as_the_reference_does() {
        fn check(text: &str, expected: Option<(&str, Option<i32>)>) {
            let got = parse_datetime(text).map(|p| (format_local(p.wall), p.offset));
            assert_eq!(got.as_ref().map(|(wall, offset)| (wall.as_str(), *offset)), expected, "{text}");
        }
        let plain = "2016-05-05T05:05:05";
        check("2016-05-05T05:05:05", Some((plain, None)));
        check("2016-05-05 05:05:05", Some((plain, None)));
        check("2016-05-05T05:05:05.123", Some((plain, None)));
        check("2016-05-05T05:05:05.1234567890Z", Some((plain, Some(0))));
        check("2016-05-05 05:05:05+03:00", Some((plain, Some(10_800))));
        check("2016-05-05T05:05:05+03", Some((plain, Some(10_800))));
        check("2016-05-05T05:05:05-03:30", Some((plain, Some(-12_600))));
        check("2016-05-05T05:05:05+24:00", Some((plain, Some(86_400))));
        check("2016-05-05T24:30:00", Some(("2016-05-06T00:30:00", None)));
        check("2016-05-05T23:59:60", Some(("2016-05-06T00:00:00", None)));
        check("0001-01-01T00:00:00", Some(("0001-01-01T00:00:00", None)));
        check("9999-12-31T23:59:59", Some(("9999-12-31T23:59:59", None)));
        check("2016-02-29T00:00:00", Some(("2016-02-29T00:00:00", None)));
        check("2015-02-29T00:00:00", Some(("2015-03-01T00:00:00", None)));
        check("2016-04-31T05:05:05", Some(("2016-05-01T05:05:05", None)));
        check("2016-05-05t05:05:05z", Some((plain, Some(0))));
        check("2016-05-05 05:05:05z", Some((plain, Some(0))));
        check("9999-12-31T23:59:60", Some(("9999-12-31T23:59:59", None)));
        check("0000-01-01T00:00:00+14:00", Some(("0000-01-01T00:00:00", Some(50_400))));
        for refused in [
            "",
            "2016-05-05",
            "2016-05-05T05:05",
            "2016-05-05T05:05:05+0300",
            " 2016-05-05T05:05:05",
            "2016-05-05T05:05:05 ",
            "2016-05-05T05:05:05.",
            "2016-05-05T05:05:05+3",
            "2016-05-05T05:05:05+99:99",
            "2016-13-05T05:05:05",
            "2016-00-05T05:05:05",
            "2016-05-00T05:05:05",
            "2016-05-05T25:05:05",
            "2016-05-05T05:60:05",
            "2016-05-05T05:05:61",
            "12016-05-05T05:05:05",
            "2016-05-05T05:05:05 +03:00",
            "2016-05-05T05:05:05,5",
            "２016-05-05T05:05:05",
            "soon",
        ] {
            check(refused, None);
        }
    }

    #[test]
    fn zones_follow_the_reference() {
        fn check(zone: &str, local: &str, shown: &str, utc: &str) {
            let zone = Zone::parse(zone).expect(zone);
            let (there, moment) = parse_datetime(local).expect(local).in_zone(&zone);
            assert_eq!((format_local(there).as_str(), format_local(moment).as_str()), (shown, utc), "{zone:?} {local}");
        }
        check("Europe/Berlin", "2024-06-01T12:00:00", "2024-06-01T12:00:00", "2024-06-01T10:00:00");
        // Gaps move forward.
        check("Europe/Berlin", "2024-03-31T02:30:00", "2024-03-31T03:30:00", "2024-03-31T01:30:00");
        check("Europe/Berlin", "2024-03-31T02:00:00", "2024-03-31T03:00:00", "2024-03-31T01:00:00");
        check("America/New_York", "2024-03-10T02:30:00", "2024-03-10T03:30:00", "2024-03-10T07:30:00");
        check("Australia/Lord_Howe", "2024-10-06T02:15:00", "2024-10-06T02:45:00", "2024-10-05T15:45:00");
        // Overlaps.
        check("Europe/Berlin", "2024-10-27T02:30:00", "2024-10-27T02:30:00", "2024-10-27T01:30:00");
        check("Europe/Berlin", "2024-10-27T01:59:59", "2024-10-27T01:59:59", "2024-10-26T23:59:59");
        check("America/New_York", "2024-11-03T01:30:00", "2024-11-03T01:30:00", "2024-11-03T05:30:00");
        check("Australia/Lord_Howe", "2024-04-07T01:45:00", "2024-04-07T01:45:00", "2024-04-06T15:15:00");
        // Before the zone was invented and after the tables end.
        check("Europe/Berlin", "1880-05-01T12:00:00", "1880-05-01T12:00:00", "1880-05-01T11:06:32");
        check("Europe/Berlin", "2050-07-01T12:00:00", "2050-07-01T12:00:00", "2050-07-01T10:00:00");
        check("Europe/Berlin", "2024-06-01T12:00:00Z", "2024-06-01T14:00:00", "2024-06-01T12:00:00");
        check("UTC+5.5", "2024-06-01T12:00:00", "2024-06-01T12:00:00", "2024-06-01T06:30:00");
        check("", "2024-06-01T12:00:00", "2024-06-01T12:00:00", "2024-06-01T12:00:00");
    }

    #[test]
    fn zones_are_read_from_settings() {
        fn check(text: &str, hours: Option<f64>) {
            assert_eq!(Zone::parse(text).map(|z| z.offset_hours_at(wall("2024-01-01T00:00:00"))), hours, "{text}");
        }
        check("", Some(0.0));
        check("UTC", Some(0.0));
        check("UTC+0", Some(0.0));
        check("UTC+5.75", Some(5.75));
        check("UTC+5:45", Some(5.75));
        check("UTC-0.5", Some(-0.5));
        check("+05:30", Some(5.5));
        check("5.5", Some(5.5));
        check("UTC+14", Some(14.0));
        check("UTC-12", Some(-12.0));
        check("Etc/GMT+5", Some(-5.0));
        check("EST", Some(-5.0));
        check("America/Port-au-Prince", Some(-5.0));
        for refused in [
            "UTC+25",
            "UTC+14.5",
            "UTC5",
            "utc+5",
            "europe/berlin",
            "Nowhere/City",
            "+",
            "UTC+",
            "UTC+5:3",
            "5.555",
            "+-5",
            "é",
        ] {
            check(refused, None);
        }
    }
}
