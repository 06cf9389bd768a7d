//! A browser and its system, as people call them, from what it says of itself in `User-Agent`.

/// Marks of browsers. Most claim to be others, too, so the first mark that is found counts.
const BROWSERS: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Marks of systems. Android claims to be Linux, too, and an iPad may claim to be a Mac.
const SYSTEMS: [(&str, &str); 7] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// `Firefox on Linux`; the text itself where it names no known browser, and nothing where it is empty.
pub fn describe_user_agent(agent: &str) -> String {
    let find =
        |marks: &[(&str, &'static str)]| marks.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => agent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::describe_user_agent;

    #[test]
    fn browsers_are_named_with_their_system() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        let cases = [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0".to_owned(), "Firefox on Linux"),
            (
                format!(
                    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) {webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0"
                ),
                "Edge on Windows",
            ),
            (
                format!("Mozilla/5.0 (Linux; Android 16; Pixel 9) {webkit} Chrome/142.0.0.0 Mobile Safari/537.36"),
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/19.0 Mobile/15E148 Safari/604.1"
                    .to_owned(),
                "Safari on iPhone",
            ),
            ("curl/8.14.1".to_owned(), "curl/8.14.1"),
            (String::new(), ""),
        ];
        for (agent, expected) in cases {
            assert_eq!(describe_user_agent(&agent), expected, "{agent}");
        }
    }
}
