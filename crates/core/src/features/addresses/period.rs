//! Years, months and days as addresses name them.

use crate::registry::columns::record;
use crate::registry::name;
use crate::scope::Settings;
use cms_storage::plan::{Cond, DbValue, Op};
use cms_text::dates::format_php_date;
use cms_text::time::CivilDateTime;

/// A year, a month or a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub year: i64,
    pub month: Option<u8>,
    pub day: Option<u8>,
    /// Its first second, and that of the next one, of the site's clock.
    pub begin: i64,
    pub end: i64,
}

impl Period {
    /// The period that a year, a month and a day name; `None` where there is no such day.
    pub fn of(parts: &[&str]) -> Option<Period> {
        let number = |at: usize| {
            parts.get(at).map(|part| part.parse::<u8>().ok().filter(|n| *n > 0)).map_or(Some(None), |n| n.map(Some))
        };
        let year = parts.first().filter(|_| parts.len() <= 3)?.parse().ok();
        let year: i64 = year.filter(|year| (1..9999).contains(year))?;
        let (month, day) = (number(1)?, number(2)?);
        let first = |year, month: u8, day: u8| CivilDateTime { year, month, day, hour: 0, minute: 0, second: 0 };
        let first = |year, month, day| first(year, month, day).seconds();
        let begin = first(year, month.unwrap_or(1), day.unwrap_or(1))?;
        let end = match (month, day) {
            (Some(_), Some(_)) => begin + 24 * 60 * 60,
            (Some(12), None) | (None, _) => first(year + 1, 1, 1)?,
            (Some(month), None) => first(year, month + 1, 1)?,
        };
        Some(Period { year, month, day, begin, end })
    }

    /// The period whose path has this form: `/2024/05/`.
    pub fn at(path: &str) -> Option<Period> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let numbers = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        if numbers && parts[0].len() == 4 { Period::of(&parts) } else { None }
    }

    /// The period that digits name: `202405`.
    pub fn in_digits(digits: &str) -> Option<Period> {
        let parts = [digits.get(..4), digits.get(4..6), digits.get(6..8)];
        Period::of(&parts.into_iter().flatten().collect::<Vec<_>>())
    }

    /// Rows whose records have a date in it.
    pub fn condition(&self) -> Cond {
        let bound = |op, seconds| Cond::Compare(name(record::DATE_LOCAL), op, DbValue::Int(seconds));
        Cond::All(vec![bound(Op::Ge, self.begin), bound(Op::Lt, self.end)])
    }

    /// Its name in the language of the site.
    pub fn name(&self, settings: &Settings) -> String {
        let form = match (self.month, self.day) {
            (_, Some(_)) => settings.text("date_format"),
            (Some(_), None) => "F Y",
            (None, None) => "Y",
        };
        format_php_date(self.begin, form, settings.locale())
    }

    /// Its path.
    pub fn path(&self) -> String {
        let mut path = format!("/{:04}/", self.year);
        for part in [self.month, self.day].into_iter().flatten() {
            path.push_str(&format!("{part:02}/"));
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_days_that_there_are() {
        for (path, again) in [
            ("/2024/", Some("/2024/")),
            ("/2024/5", Some("/2024/05/")),
            ("/2024/05/06/", Some("/2024/05/06/")),
            ("/2024/02/30/", None),
            ("/2024/13/", None),
            ("/24/", None),
            ("/2024/05/06/07/", None),
            ("/2024/a/", None),
            ("/", None),
        ] {
            assert_eq!(Period::at(path).map(|period| period.path()).as_deref(), again, "{path}");
        }
        assert_eq!(Period::in_digits("202405"), Period::at("/2024/05/"));
        assert_eq!(Period::in_digits("20240"), Period::at("/2024/"));
        assert_eq!(Period::in_digits("2é"), None);
    }
}
