//! `format`: the formats of the contract, and `date` and `time`; each a plain function of text.
//!
//! The dates that it accepts are those that `text::time` reads.

use super::Dialect;
use super::failure::Reason;
use cms_base::named;
use cms_text::sanitize;
use cms_text::time::parse_datetime;
use std::net::IpAddr;
use time::{Date, Month, Time, UtcOffset};

named! {
    /// A format that a schema may name.
    pub(super) enum Format {
        DateTime = "date-time",
        Date = "date",
        Time = "time",
        Uri = "uri",
        Email = "email",
        Ip = "ip",
        Uuid = "uuid",
        HexColor = "hex-color",
        /// Texts of one line and of several; nothing to check.
        TextField = "text-field",
        TextareaField = "textarea-field",
    }
}

impl Format {
    pub fn accepts(self, text: &str, lenient_dates: bool) -> bool {
        match self {
            // WordPress does not take the small letter of the zone.
            Format::DateTime if lenient_dates => !text.ends_with('z') && parse_datetime(text).is_some(),
            Format::DateTime => DateTime::parse(text).is_some(),
            Format::Date => is_date(text),
            Format::Time => is_time(text),
            Format::Uri => is_uri(text),
            Format::Email => is_email(text),
            Format::Ip => text.parse::<IpAddr>().is_ok(),
            Format::Uuid => is_uuid(text),
            Format::HexColor => is_hex_color(text),
            Format::TextField | Format::TextareaField => true,
        }
    }

    /// The text as it is stored where WordPress changes it: an address of a scheme that may not be linked is none, plain texts
    /// hold no markup.
    pub fn clean(self, text: &str, dialect: Dialect) -> Option<String> {
        match self {
            Format::Uri if dialect.any_address => Some(sanitize::clean_url(text)),
            Format::TextField if dialect.escape_text_fields => Some(sanitize::sanitize_text_field(text)),
            Format::TextareaField if dialect.escape_text_fields => Some(sanitize::sanitize_textarea(text)),
            _ => None,
        }
    }

    pub fn reason(self) -> Reason {
        match self {
            Format::DateTime | Format::Date | Format::Time => Reason::Date,
            Format::Uri => Reason::Uri,
            Format::Email => Reason::Email,
            Format::Ip => Reason::Ip,
            Format::Uuid => Reason::Uuid,
            Format::HexColor => Reason::HexColor,
            // Never called: these accept everything.
            Format::TextField | Format::TextareaField => Reason::Pattern,
        }
    }

    /// The format that a text fails, as the rest of a sentence after its name.
    pub fn requirement(self) -> &'static str {
        match self {
            Format::DateTime => "is not a date and time such as 2031-05-17T09:30:00",
            Format::Date => "is not a date such as 2031-05-17",
            Format::Time => "is not a time of day such as 09:30",
            Format::Uri => "is not an absolute address such as https://example.org/",
            Format::Email => "is not an e-mail address",
            Format::Ip => "is neither an IPv4 nor an IPv6 address",
            Format::Uuid => "is not a UUID",
            Format::HexColor => "is not a colour such as #a1b2c3",
            Format::TextField | Format::TextareaField => "is not a text",
        }
    }
}

/// A date and time as a client wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime {
    /// The calendar day; it exists.
    pub date: Date,
    /// The time of day, to the nanosecond. A leap second reads as the last nanosecond before midnight UTC.
    pub time: Time,
    /// The distance from UTC; absent where the writer left it out, which means the site's time zone.
    pub offset: Option<UtcOffset>,
}

impl DateTime {
    /// Reads RFC 3339. As clients have always sent it, the zone may be left out and a space may replace the `T`.
    pub fn parse(text: &str) -> Option<DateTime> {
        let bytes = text.as_bytes();
        let separators = [(4, b"-" as &[u8]), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")];
        if !separators.iter().all(|(at, allowed)| bytes.get(*at).is_some_and(|b| allowed.contains(b))) {
            return None;
        }
        let month = Month::try_from(u8::try_from(digits(bytes, 5, 2)?).ok()?).ok()?;
        let day = u8::try_from(digits(bytes, 8, 2)?).ok()?;
        let date = Date::from_calendar_date(i32::try_from(digits(bytes, 0, 4)?).ok()?, month, day).ok()?;
        let part = |at| digits(bytes, at, 2).and_then(|n| u8::try_from(n).ok());
        let (hour, minute, second) = (part(11)?, part(14)?, part(17)?);
        let (nanosecond, rest) = fraction(&text[19..])?;
        let offset = zone(rest)?;
        let time = if second == 60 {
            leap_second(hour, minute, offset)?
        } else {
            Time::from_hms_nano(hour, minute, second, nanosecond).ok()?
        };
        Some(DateTime { date, time, offset })
    }
}

/// A day of the calendar: 2031-05-17.
fn is_date(text: &str) -> bool {
    text.len() == 10 && DateTime::parse(&format!("{text}T00:00:00")).is_some()
}

/// Hours and minutes, perhaps seconds: 09:30, 09:30:15.
fn is_time(text: &str) -> bool {
    let whole = if text.len() == 5 { format!("{text}:00") } else { text.to_owned() };
    whole.len() == 8 && !whole.ends_with("60") && DateTime::parse(&format!("2000-01-01T{whole}")).is_some()
}

fn digits(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let slice = bytes.get(at..at + length)?;
    slice.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))
}

/// A fraction of a second in nanoseconds (further digits are read and dropped), and what follows it.
fn fraction(text: &str) -> Option<(u32, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return None;
    }
    let nanoseconds = rest[..length].bytes().chain(std::iter::repeat(b'0')).take(9);
    Some((nanoseconds.fold(0, |number, byte| number * 10 + u32::from(byte - b'0')), &rest[length..]))
}

fn zone(text: &str) -> Option<Option<UtcOffset>> {
    match text.as_bytes() {
        [] => Some(None),
        b"Z" | b"z" => Some(Some(UtcOffset::UTC)),
        [sign @ (b'+' | b'-'), rest @ ..] if rest.len() == 5 && rest[2] == b':' => {
            let (hours, minutes) = (digits(rest, 0, 2)?, digits(rest, 3, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let minutes = i32::try_from(hours * 60 + minutes).ok()?;
            let minutes = if *sign == b'-' { -minutes } else { minutes };
            UtcOffset::from_whole_seconds(minutes * 60).ok().map(Some)
        }
        _ => None,
    }
}

/// Second 60 exists only at the end of a UTC day (RFC 3339, section 5.7); without a zone any day's end may be intended.
fn leap_second(hour: u8, minute: u8, offset: Option<UtcOffset>) -> Option<Time> {
    let shift = offset.map_or(0, |offset| i32::from(offset.whole_minutes()));
    let utc_minute = (i32::from(hour) * 60 + i32::from(minute) - shift).rem_euclid(24 * 60);
    if hour > 23 || minute > 59 || utc_minute != 24 * 60 - 1 {
        return None;
    }
    Time::from_hms_nano(hour, minute, 59, 999_999_999).ok()
}

/// An absolute address (RFC 3986; characters beyond ASCII are accepted as RFC 3987 does). Addresses that would run
/// a script or carry their content are refused whatever the grammar allows: they end up in links.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_is_sound = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let scripted = ["javascript", "data", "vbscript"].iter().any(|bad| scheme.eq_ignore_ascii_case(bad));
    if !scheme_is_sound || scripted || !has_uri_characters(rest) {
        return false;
    }
    let (rest, _fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, _query) = rest.split_once('?').unwrap_or((rest, ""));
    match hierarchy.strip_prefix("//") {
        Some(after) => {
            let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            !path.contains(['[', ']']) && is_authority(authority, needs_host(scheme))
        }
        None => !needs_host(scheme) && !hierarchy.is_empty() && !hierarchy.contains(['[', ']']),
    }
}

fn needs_host(scheme: &str) -> bool {
    ["http", "https", "ftp", "ftps"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Only characters that an address may hold, percent signs with two hex digits, one `#` at most.
fn has_uri_characters(text: &str) -> bool {
    let bytes = text.as_bytes();
    let allowed = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '%' | '#' => true,
        c if c.is_ascii() => "-._~:/?[]@!$&'()*+,;=".contains(c),
        c => !c.is_control() && !c.is_whitespace() && !('\u{e000}'..='\u{f8ff}').contains(&c),
    };
    let escaped = |at: usize| bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
    text.chars().all(allowed)
        && bytes.iter().enumerate().all(|(at, byte)| *byte != b'%' || escaped(at))
        && bytes.iter().filter(|byte| **byte == b'#').count() <= 1
}

fn is_authority(authority: &str, needs_host: bool) -> bool {
    let (user, host_and_port) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = match host_and_port.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((address, port)) if address.parse::<std::net::Ipv6Addr>().is_ok() => (address, port),
            _ => return false,
        },
        None => {
            let (host, port) = host_and_port.split_at(host_and_port.find(':').unwrap_or(host_and_port.len()));
            if host.contains(['[', ']']) {
                return false;
            }
            (host, port)
        }
    };
    let port_is_sound =
        port.is_empty() || port.strip_prefix(':').is_some_and(|n| n.is_empty() || n.parse::<u16>().is_ok());
    !user.contains(['[', ']', '@']) && port_is_sound && !(needs_host && host.is_empty())
}

/// A mailbox of the plain kind: ASCII, a dotted domain, nothing quoted.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let local_is_sound = (1..=64).contains(&local.len())
        && local.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~.-".contains(&b));
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    // Six characters are the shortest address that the reference server takes (a@b.co).
    local_is_sound && (6..=254).contains(&text.len()) && domain.contains('.') && domain.split('.').all(label)
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_hex_color(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|hex| matches!(hex.len(), 3 | 6) && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use time::Month;

    #[test]
    fn days_and_times_of_day_are_checked() {
        for (format, fitting, others) in [
            (
                Format::Date,
                ["1990-12-31", "2024-02-29", "0001-01-01", "9999-12-31"],
                ["1990-13-45", "2023-02-29", "1990-1-1", "1990-12-31T00:00:00", "", "1990/12/31"],
            ),
            (
                Format::Time,
                ["09:30", "00:00", "23:59", "09:30:15"],
                ["24:00", "9:30", "09:60", "09:30:60", "", "09:30Z"],
            ),
        ] {
            fitting.iter().for_each(|text| assert!(format.accepts(text, true), "{text}"));
            others.iter().for_each(|text| assert!(!format.accepts(text, false), "{text}"));
        }
    }

    #[test]
    fn lenient_dates_count_on() {
        let check = |text: &str, lenient: bool| {
            assert_eq!(Format::DateTime.accepts(text, true), lenient, "{text:?}");
            assert!(!Format::DateTime.accepts(text, false), "{text:?}");
        };
        check("2021-02-31T05:06:07", true);
        check("2021-04-31T24:00:00", true);
        check("2021-04-30T05:06:60", true);
        check("2021-04-32T05:06:07", false);
        check("2021-13-01T05:06:07", false);
        check("2021-04-01T25:06:07", false);
        check("2021-04-31", false);
        check("2021-04-01T05:06:07+02", true);
        check("2021-04-01T05:06:07+24:00", true);
        check("2021-04-01T05:06:07+0200", false);
    }

    #[test]
    fn letters_of_dates_may_be_small() {
        for (text, lenient) in [
            ("2016-01-26t21:45:20", true),
            ("2016-01-26t21:45:20Z", true),
            ("2016-01-26t21:45:20z", false),
            ("2016-01-26 21:45:20.5z", false),
        ] {
            assert_eq!(Format::DateTime.accepts(text, true), lenient, "{text:?}");
            assert!(Format::DateTime.accepts(text, false), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_can_be_read(text in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,3})?([zZ]|[+-][0-2][0-9](:[0-5][0-9])?)?") {
            let accepted = [false, true].iter().any(|lenient| Format::DateTime.accepts(&text, *lenient));
            prop_assert!(!accepted || parse_datetime(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn dates_are_read_as_written() {
        let check = |text: &str, expected: Option<(Date, Time, Option<UtcOffset>)>| {
            let expected = expected.map(|(date, time, offset)| DateTime { date, time, offset });
            assert_eq!(DateTime::parse(text), expected, "{text:?}");
        };
        let date = |year, month, day| Date::from_calendar_date(year, month, day).expect("a date");
        let time = |hour, minute, second, nano| Time::from_hms_nano(hour, minute, second, nano).expect("a time");
        let offset = |hours, minutes| Some(UtcOffset::from_hms(hours, minutes, 0).expect("an offset"));
        let (march, eve) = (date(2019, Month::March, 4), date(1998, Month::December, 31));
        check("2019-03-04T05:06:07", Some((march, time(5, 6, 7, 0), None)));
        check("2019-03-04 05:06:07z", Some((march, time(5, 6, 7, 0), offset(0, 0))));
        check("2019-03-04T05:06:07.25-03:30", Some((march, time(5, 6, 7, 250_000_000), offset(-3, -30))));
        check("1998-12-31T23:59:60Z", Some((eve, time(23, 59, 59, 999_999_999), offset(0, 0))));
        check("1998-12-31T15:59:60-08:00", Some((eve, time(15, 59, 59, 999_999_999), offset(-8, 0))));
        let leap_day = date(2024, Month::February, 29);
        check("2024-02-29T00:00:00.1234567891", Some((leap_day, time(0, 0, 0, 123_456_789), None)));
        for refused in [
            "",
            "x",
            "2019-03-04",
            "2019-03-04T05:06",
            "2019-03-04T05:06:07.",
            "2019-03-04T05:06:07+0200",
            "2019-02-30T05:06:07",
            "2023-02-29T00:00:00",
            "2019-13-04T05:06:07",
            "2019-00-04T05:06:07",
            "2019-03-04T24:00:00",
            "2019-03-04T05:60:07",
            "2019-03-04T05:06:61",
            "2019-03-04T05:06:60Z",
            "2019-03-04T05:06:07+24:00",
            "2019-03-04T05:06:07+01:60",
            "2019-03-04T05:06:07 Z",
            "2019-3-4T05:06:07Z",
            "+019-03-04T05:06:07",
            "2019-03-04T05:06:0é",
            "٢٠١٩-03-04T05:06:07",
            "2019-03-04T05:06:07Zx",
        ] {
            check(refused, None);
        }
    }
}
