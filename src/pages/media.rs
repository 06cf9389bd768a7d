//! Which media type a client would rather have.

/// Whether an `Accept` header prefers HTML to JSON or is indifferent (RFC 9110, section 12.5.1). A client that accepts
/// anything has not requested HTML: browsers name it.
pub(super) fn prefers_html(accept: Option<&str>) -> bool {
    let ranges: Vec<(&str, f32)> = accept.unwrap_or_default().split(',').map(weighted).collect();
    let weight = |names: &[&str]| {
        names.iter().find_map(|name| ranges.iter().find(|(range, _)| range.eq_ignore_ascii_case(name))).map(|(_, q)| *q)
    };
    let html = weight(&["text/html", "application/xhtml+xml", "text/*"]).unwrap_or(0.0);
    let json = weight(&["application/json", "application/*", "*/*"]).unwrap_or(0.0);
    html > 0.0 && html >= json
}

/// A range with its weight.
fn weighted(range: &str) -> (&str, f32) {
    let (name, parameters) = range.split_once(';').unwrap_or((range, ""));
    let weight = parameters.split(';').find_map(|p| p.trim().strip_prefix("q=")).map_or(Some(1.0), |q| q.parse().ok());
    (name.trim(), weight.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_ask_for_html_and_programs_do_not() {
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", true),
            ("TEXT/HTML", true),
            ("text/html, application/json", true),
            ("text/*;q=0.5", true),
            ("application/json, text/html;q=0.9", false),
            ("application/json, text/plain, */*", false),
            ("text/html;q=0", false),
            ("text/html;q=nonsense", false),
            ("*/*", false),
            ("", false),
        ] {
            assert_eq!(prefers_html(Some(accept)), expected, "{accept}");
        }
        assert!(!prefers_html(None));
    }
}
