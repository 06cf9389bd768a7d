//! A month, with links to the days on which records were published.

use super::rows::DATE;
use super::wrapper::{colours, colours_links, wrapper};
use super::{DynamicPart, boxed, published};
use crate::registry::name;
use cms_storage::plan::{Cond, DbValue, Op};
use cms_text::block_css::inline;
use cms_text::block_styles::WrapperStyles;
use cms_text::dates;
use cms_text::html::Html;
use cms_text::phrase::fill;
use cms_text::time::CivilDateTime;
use std::collections::BTreeSet;

/// Seconds of a day.
const DAY: i64 = super::rows::DAY as i64;

/// A month of the calendar.
#[derive(Clone, Copy)]
struct Month {
    /// The wall clock at its beginning.
    begins: i64,
    /// The wall clock when the next one begins.
    ends: i64,
}

impl Month {
    fn of(year: i64, month: u8) -> Option<Month> {
        let at = |year: i64, month: u8| CivilDateTime { year, month, day: 1, hour: 0, minute: 0, second: 0 }.seconds();
        let next = if month == 12 { at(year + 1, 1)? } else { at(year, month + 1)? };
        Some(Month { begins: at(year, month)?, ends: next })
    }

    fn around(local: i64) -> Option<Month> {
        let day = CivilDateTime::of(local);
        Month::of(day.year, day.month)
    }

    /// The wall clock until which the same day of it is the current one, or none is; `None`: for good.
    fn marks_until(self, today: i64) -> Option<i64> {
        let midnight = (today.div_euclid(DAY) + 1) * DAY;
        (today < self.ends).then(|| midnight.max(self.begins))
    }
}

/// The days of a month, the current one unless the author chose another.
pub fn month(part: &DynamicPart<'_>) -> Option<Html> {
    let scope = part.item.scope;
    let chosen = part.attributes["year"].as_i64().zip(part.attributes["month"].as_u64());
    let chosen = chosen.and_then(|(year, month)| Month::of(year, u8::try_from(month).ok()?));
    let today = scope.local_now();
    let month = chosen.or_else(|| Month::around(today))?;
    if let Some(changes) = month.marks_until(today) {
        scope.storage.limit_validity(scope.settings.zone.local_to_utc(changes).max(scope.now + 1));
    }
    let (before, after) = (edge(part, Op::Lt, month.begins, true), edge(part, Op::Ge, month.ends, false));
    let days = days(part, month);
    if before.is_none() && after.is_none() && days.is_empty() {
        return None;
    }
    let mut html = Html::new();
    let only = WrapperStyles { typography: false, border: false, spacing: false, ..WrapperStyles::ALL };
    let mut own = vec!["wp-calendar-table".to_owned()];
    own.extend(colours(part));
    own.extend(colours_links(part).then(|| "has-link-color".to_owned()));
    html.raw("<table").attr_if("style", &inline(&part.attributes, only, None));
    html.raw(" id=\"wp-calendar\"").attr("class", &own.join(" ")).raw(">\n\t<caption>");
    html.text(&part.format_date(month.begins, "%B %Y")).raw("</caption>\n\t<thead>\n\t<tr>");
    let first = scope.settings.int("start_of_week").rem_euclid(7);
    for place in 0..7 {
        // The fourth of January 1970 was a Sunday.
        let name = part.format_date((3 + first + place) * DAY, "%A");
        let initial: String = name.chars().take(1).collect();
        html.raw("\n\t\t<th scope=\"col\"").attr("aria-label", &name).raw(">").text(&initial).raw("</th>");
    }
    html.raw("\n\t</tr>\n\t</thead>\n\t<tbody>");
    weeks(part, month, first, &days, today, &mut html);
    html.raw("\n\t</tbody>\n\t</table><nav").attr("aria-label", scope.phrase("Previous and next months"));
    html.raw(" class=\"wp-calendar-nav\">");
    html.raw("\n\t\t<span class=\"wp-calendar-nav-prev\">");
    match before {
        Some(local) => {
            html.raw("<a").attr("href", &address(part, local, false)).raw(">&laquo; ");
            html.text(&part.format_date(local, "%b")).raw("</a>")
        }
        None => html.raw("&nbsp;"),
    };
    html.raw("</span>\n\t\t<span class=\"pad\">&nbsp;</span>\n\t\t<span class=\"wp-calendar-nav-next\">");
    match after {
        Some(local) => {
            html.raw("<a").attr("href", &address(part, local, false)).raw(">").text(&part.format_date(local, "%b"));
            html.raw(" &raquo;</a>")
        }
        None => html.raw("&nbsp;"),
    };
    html.raw("</span>\n\t</nav>");
    Some(boxed(&wrapper(part, ""), &html))
}

fn weeks(part: &DynamicPart<'_>, month: Month, first: i64, days: &BTreeSet<u8>, today: i64, html: &mut Html) {
    // Counted from Sunday: the first of January 1970 was a Thursday.
    let blank = (month.begins.div_euclid(DAY) + 4 - first).rem_euclid(7);
    html.raw("\n\t<tr>");
    if blank > 0 {
        html.raw("\n\t\t<td colspan=\"").number(blank).raw("\" class=\"pad\">&nbsp;</td>");
    }
    let mut place = blank;
    for (number, begins) in (1_u8..).zip((month.begins..month.ends).step_by(DAY as usize)) {
        if place == 7 {
            html.raw("\n\t</tr>\n\t<tr>");
            place = 0;
        }
        html.raw(if place == 0 || (number == 1) { if blank > 0 && number == 1 { "" } else { "\n\t\t" } } else { "" });
        let current = (begins..begins + DAY).contains(&today);
        html.raw(if current { "<td id=\"today\">" } else { "<td>" });
        match days.contains(&number) {
            true => {
                let date = part.format_date(begins, part.item.scope.phrase("%B %-d, %Y"));
                let label = fill(part.item.scope.phrase("Posts published on {date}"), &[("date", &date)]);
                html.raw("<a").attr("href", &address(part, begins, true)).attr("aria-label", &label).raw(">");
                html.number(u32::from(number)).raw("</a>")
            }
            false => html.number(u32::from(number)),
        };
        html.raw("</td>");
        place += 1;
    }
    if place < 7 {
        html.raw("\n\t\t<td class=\"pad\" colspan=\"").number(7 - place).raw("\">&nbsp;</td>");
    }
    html.raw("\n\t</tr>");
}

/// The address of a month's records, or of a day's.
fn address(part: &DynamicPart<'_>, local: i64, day: bool) -> String {
    let form = if day { "%Y/%m/%d" } else { "%Y/%m" };
    format!("{}/{}/", part.item.scope.registry.site.front, dates::format_strftime(local, form, ""))
}

/// The wall clock of the record that is next to a month.
fn edge(part: &DynamicPart<'_>, side: Op, local: i64, newest: bool) -> Option<i64> {
    part.first_date(Cond::All(vec![published(part), Cond::Compare(name(DATE), side, DbValue::Int(local))]), newest)
}

/// The days of a month on which records were published.
fn days(part: &DynamicPart<'_>, month: Month) -> BTreeSet<u8> {
    let bound = |op: Op, local: i64| Cond::Compare(name(DATE), op, DbValue::Int(local));
    let within = vec![published(part), bound(Op::Ge, month.begins), bound(Op::Lt, month.ends)];
    part.days(Cond::All(within)).keys().map(|day| CivilDateTime::of(*day).day).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_the_same_until_its_current_day_ends() {
        let month = Month::of(2026, 2).expect("a month");
        let cases = [
            (month.begins - 1, Some(month.begins)),
            (month.begins - 40 * DAY, Some(month.begins)),
            (month.begins, Some(month.begins + DAY)),
            (month.ends - 1, Some(month.ends)),
            (month.ends, None),
        ];
        for (today, until) in cases {
            assert_eq!(month.marks_until(today), until, "{today}");
        }
    }
}
