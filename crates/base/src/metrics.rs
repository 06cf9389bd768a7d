//! Every metric of `/metrics`: name, type, unit, labels, meaning; and the counters that other modules hold.
//!
//! [`METRICS`] is the one list: the text of `/metrics`, the table in `docs/metrics.md` and the checks of the shipped
//! dashboard and alert rules follow from it. Counters are atomic numbers without locks. Values of labels come from
//! declarations or from closed lists, or are ids of webhooks, of which there are
//! `events.max_webhooks` at most; they never come from requests.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Types of metrics, as OpenMetrics has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows; its samples end in `_total`.
    Counter,
    /// A number of this moment.
    Gauge,
    /// Observations by upper bounds, with their sum and number.
    Histogram,
    /// Facts that stay the same while the process lives, as labels.
    Info,
}

impl MetricKind {
    /// As OpenMetrics writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
            MetricKind::Info => "info",
        }
    }

    /// The suffix of the name in the samples.
    pub fn suffix(self) -> &'static str {
        match self {
            MetricKind::Counter => "_total",
            MetricKind::Info => "_info",
            MetricKind::Gauge | MetricKind::Histogram => "",
        }
    }
}

/// A metric: one row of [`METRICS`].
#[derive(Debug)]
pub struct Metric {
    /// Without the suffix of its type; a unit is its last word.
    pub name: &'static str,
    pub kind: MetricKind,
    pub unit: Option<&'static str>,
    pub labels: &'static [&'static str],
    /// One sentence without its full stop.
    pub meaning: &'static str,
}

const fn row(
    kind: MetricKind,
    name: &'static str,
    unit: Option<&'static str>,
    labels: &'static [&'static str],
    meaning: &'static str,
) -> Metric {
    Metric { name, kind, unit, labels, meaning }
}

const SECONDS: Option<&str> = Some("seconds");
const BYTES: Option<&str> = Some("bytes");

/// Every metric, in the order of the text.
#[rustfmt::skip]
pub static METRICS: &[Metric] = &[
    row(MetricKind::Info, "cms_server_build", None, &["version"], "Version of the program"),
    row(MetricKind::Info, "cms_server_node", None, &["node"], "Name of the process among those that share a database"),
    row(MetricKind::Gauge, "cms_server_uptime_seconds", SECONDS, &[], "Time since the process started to serve"),
    row(MetricKind::Gauge, "process_resident_memory_bytes", BYTES, &[], "Memory of the process that is resident (Linux)"),
    row(MetricKind::Gauge, "process_open_fds", None, &[], "Open file descriptors of the process (Linux)"),
    row(MetricKind::Gauge, "process_max_fds", None, &[], "Most file descriptors that the process may open (Linux)"),
    row(MetricKind::Counter, "cms_server_http_requests", None, &["method", "status"],
        "Responses by method and class of status (`2xx`); methods that no route can have are `other`"),
    row(MetricKind::Counter, "cms_server_http_route_requests", None, &["route", "status"],
        "Responses below the REST base by route and class of status; requests that reached no route are `none`"),
    row(MetricKind::Histogram, "cms_server_http_request_duration_seconds", SECONDS, &[],
        "Time from the head of a request to its response"),
    row(MetricKind::Gauge, "cms_server_http_in_flight", None, &[], "Requests in progress"),
    row(MetricKind::Counter, "cms_server_http_refused", None, &[], "Connections refused before a request was complete"),
    row(MetricKind::Counter, "cms_server_http_rate_limited", None, &[], "Responses with status 429"),
    row(MetricKind::Counter, "cms_server_failed_logins", None, &["credentials"],
        "Wrong credentials: account passwords (`password`) and application passwords (`app_password`)"),
    row(MetricKind::Counter, "cms_server_cache_hits", None, &["cache"],
        "Lookups that a cache answered: `responses`, `embedded` (embedded documents), `documents` (single records)"),
    row(MetricKind::Counter, "cms_server_cache_misses", None, &["cache"], "Lookups that a cache did not answer"),
    row(MetricKind::Gauge, "cms_server_cache_bytes", BYTES, &["cache"], "Size of a cache"),
    row(MetricKind::Gauge, "cms_server_database_bytes", BYTES, &[], "Size of the database file"),
    row(MetricKind::Gauge, "cms_server_database_connections", None, &[], "Connections to a PostgreSQL server for reads"),
    row(MetricKind::Gauge, "cms_server_leader", None, &[],
        "1 on the node that carries out what falls due, otherwise 0 (PostgreSQL)"),
    row(MetricKind::Gauge, "cms_server_nodes", None, &[], "Nodes that serve the database, as this one sees them (PostgreSQL)"),
    row(MetricKind::Gauge, "cms_server_nodes_differing", None, &[],
        "Nodes that differ from this one in what all have to agree on; `/health` says in what (PostgreSQL)"),
    row(MetricKind::Counter, "cms_server_database_round_trips", None, &[], "Waits for a PostgreSQL server"),
    row(MetricKind::Gauge, "cms_server_database_log_bytes", BYTES, &[], "Size of the write-ahead log (`-wal`)"),
    row(MetricKind::Gauge, "cms_server_write_queue", None, &[], "Writes that wait for the writer (`storage.write_queue` is the most)"),
    row(MetricKind::Histogram, "cms_server_write_wait_seconds", SECONDS, &[], "Time that a write waits for the writer"),
    row(MetricKind::Histogram, "cms_server_commit_duration_seconds", SECONDS, &[], "Time of a commit until it is on disk"),
    row(MetricKind::Histogram, "cms_server_commit_writes", None, &[], "Writes that were committed together"),
    row(MetricKind::Counter, "cms_server_commit_failures", None, &[], "Commits that failed, with all their writes"),
    row(MetricKind::Gauge, "cms_server_pictures_waiting", None, &[], "Uploaded pictures that wait to be processed"),
    row(MetricKind::Gauge, "cms_server_files_waiting", None, &[], "Stored files of no record: uploads in progress, and files that wait to be deleted"),
    row(MetricKind::Gauge, "cms_server_scheduler_lag_seconds", SECONDS, &[], "How long the next timed transition has been overdue"),
    row(MetricKind::Counter, "cms_server_scheduler_transitions", None, &[], "Records that a timed transition changed or deleted"),
    row(MetricKind::Counter, "cms_server_mails", None, &["outcome"],
        "Attempts to send e-mail: `sent`, `retried` (later again), `failed` (not again), `dropped` (there was nothing to send)"),
    row(MetricKind::Gauge, "cms_server_mail_waiting", None, &[], "Messages in the outbox"),
    row(MetricKind::Counter, "cms_server_webhook_deliveries", None, &["webhook", "outcome"],
        "Attempts to deliver to a webhook, by its id: `sent`, `failed`, `stopped` (not sent: a cycle)"),
    row(MetricKind::Gauge, "cms_server_webhook_lag", None, &["webhook"],
        "Entries of the change feed that a webhook has not come to, on the node that sends"),
    row(MetricKind::Gauge, "cms_server_event_streams", None, &[], "Event streams that are open (`events.streams` is the most)"),
    row(MetricKind::Counter, "cms_server_backups", None, &["outcome"], "Scheduled backups: `made` or `failed`"),
    row(MetricKind::Gauge, "cms_server_backup_age_seconds", SECONDS, &[], "Time since the newest backup; absent without `backup.folder`"),
    row(MetricKind::Counter, "cms_server_reloads", None, &["outcome"], "Reloads of the declarations: `accepted` or `refused`"),
    row(MetricKind::Gauge, "cms_server_declarations_refused", None, &[],
        "1 while the newest declarations are refused and older ones are in force, otherwise 0"),
    row(MetricKind::Gauge, "cms_server_restart_pending_keys", None, &[],
        "Changed configuration keys that keep their old values until a restart"),
];

/// The metric with this name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// A value of a metric at this moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// A name in [`METRICS`].
    pub name: &'static str,
    /// A value for each of the metric's labels.
    pub labels: Vec<String>,
    pub value: MetricValue,
}

/// See [`Reading`].
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    Count(u64),
    Gauge(f64),
    Observed(Observations),
    Info,
}

impl Reading {
    /// A counter.
    pub fn count(name: &'static str, labels: &[&str], count: u64) -> Reading {
        Reading::new(name, labels, MetricValue::Count(count))
    }

    /// A gauge. No gauge of ours is so large that a float lacks its digits.
    pub fn gauge(name: &'static str, labels: &[&str], value: f64) -> Reading {
        Reading::new(name, labels, MetricValue::Gauge(value))
    }

    /// A histogram.
    pub fn observed(name: &'static str, histogram: &Histogram) -> Reading {
        Reading::new(name, &[], MetricValue::Observed(histogram.read()))
    }

    /// Facts.
    pub fn info(name: &'static str, labels: &[&str]) -> Reading {
        Reading::new(name, labels, MetricValue::Info)
    }

    fn new(name: &'static str, labels: &[&str], value: MetricValue) -> Reading {
        debug_assert!(metric(name).is_some_and(|metric| metric.labels.len() == labels.len()), "{name}");
        Reading { name, labels: labels.iter().map(|label| (*label).to_owned()).collect(), value }
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one more.
    pub fn inc(&self) {
        self.add(1);
    }

    /// Counts more.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How many of something there are now.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// One more.
    pub fn inc(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub fn dec(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// The number. A decrease may be seen before its increase.
    pub fn get(&self) -> u64 {
        u64::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(0)
    }
}

/// Classes of status.
pub const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Counters by class of status.
#[derive(Debug, Default)]
pub struct StatusCounters([Counter; CLASSES.len()]);

impl StatusCounters {
    /// Counts a response.
    pub fn count(&self, status: u16) {
        self.0[usize::from(status / 100).clamp(1, CLASSES.len()) - 1].inc();
    }

    /// Each class with its number.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, u64)> {
        CLASSES.into_iter().zip(self.0.iter().map(Counter::get))
    }
}

/// Observations counted by upper bounds.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One more than there are bounds: the last counts what is larger than all of them.
    counts: Box<[Counter]>,
    /// In millionths.
    sum: Counter,
}

/// The observations of a [`Histogram`].
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    /// Upper bounds and how many observations are between each and the bound before it; the last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
    pub sum: f64,
}

const MILLION: f64 = 1e6;

/// In seconds; a point read takes well below a millisecond, a batch of writes some hundred.
pub const DURATIONS: &[f64] = &[0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

/// Numbers of things that are done together.
pub const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

impl Histogram {
    /// Nothing observed yet.
    pub fn new(bounds: &'static [f64]) -> Histogram {
        Histogram { bounds, counts: (0..=bounds.len()).map(|_| Counter::default()).collect(), sum: Counter::default() }
    }

    /// Counts a number that is not negative.
    pub fn observe(&self, value: f64) {
        let place = self.bounds.iter().position(|bound| value <= *bound).unwrap_or(self.bounds.len());
        self.counts[place].inc();
        self.sum.add((value * MILLION) as u64);
    }

    /// Counts a time, in seconds.
    pub fn time(&self, took: Duration) {
        self.observe(took.as_secs_f64());
    }

    /// Reads its observations.
    pub fn read(&self) -> Observations {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        Observations {
            buckets: bounds.zip(self.counts.iter().map(Counter::get)).collect(),
            sum: self.sum.get() as f64 / MILLION,
        }
    }
}

/// The readings as OpenMetrics text, in the order of [`METRICS`].
pub fn text(readings: &[Reading]) -> String {
    let mut out = String::with_capacity(readings.len() * 80 + METRICS.len() * 200);
    for metric in METRICS {
        let mut of_metric = readings.iter().filter(|reading| reading.name == metric.name).peekable();
        if of_metric.peek().is_none() {
            continue;
        }
        let (name, kind) = (metric.name, metric.kind.as_str());
        // Writing into a String cannot fail.
        let _ = writeln!(out, "# TYPE {name} {kind}");
        if let Some(unit) = metric.unit {
            let _ = writeln!(out, "# UNIT {name} {unit}");
        }
        let _ = writeln!(out, "# HELP {name} {}.", metric.meaning);
        of_metric.for_each(|reading| samples(&mut out, metric, reading));
    }
    out.push_str("# EOF\n");
    out
}

fn samples(out: &mut String, metric: &Metric, reading: &Reading) {
    let (name, suffix) = (metric.name, metric.kind.suffix());
    let pairs: Vec<String> = metric
        .labels
        .iter()
        .zip(&reading.labels)
        .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
        .collect();
    let labels = if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) };
    let _ = match &reading.value {
        MetricValue::Info => writeln!(out, "{name}{suffix}{labels} 1"),
        MetricValue::Count(count) => writeln!(out, "{name}{suffix}{labels} {count}"),
        MetricValue::Gauge(value) => writeln!(out, "{name}{labels} {value}"),
        MetricValue::Observed(seen) => {
            let mut count = 0;
            for (bound, more) in &seen.buckets {
                count += more;
                let bound = if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() };
                let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {count}");
            }
            writeln!(out, "{name}_sum {}\n{name}_count {count}", seen.sum)
        }
    };
}

/// A label's value within quotation marks.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Facts of the process that the operating system knows; nothing where it has no `/proc`.
pub fn process() -> Vec<Reading> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let word = |text: &str, line: &str, at: usize| -> Option<f64> {
        text.lines().find_map(|l| l.strip_prefix(line))?.split_whitespace().nth(at)?.parse().ok()
    };
    let kibibytes = word(&status, "VmRSS:", 0).map(|kib| kib * 1024.0);
    let open = std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count() as f64);
    [
        ("process_resident_memory_bytes", kibibytes),
        ("process_open_fds", open),
        ("process_max_fds", word(&limits, "Max open files", 0)),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| Reading::gauge(name, &[], value)))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_those_of_openmetrics() {
        let mut seen = HashSet::new();
        for metric in METRICS {
            let name = metric.name;
            assert!(seen.insert(name), "{name} is there twice");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
            assert!(metric.unit.is_none_or(|unit| name.ends_with(&format!("_{unit}"))), "{name} ends in no unit");
            assert!(!["_total", "_info", "_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end)), "{name}");
            assert!(!metric.meaning.ends_with('.') && metric.meaning.len() > 5, "{name}");
        }
    }

    /// Every metric of an expression, with the labels that its braces name.
    fn used(expression: &str) -> Vec<(String, Vec<String>)> {
        let pattern = regex::Regex::new(r"\b((?:cms_server|process)_[a-z_]+)(?:\{([^}]*)\})?").expect("a pattern");
        let label = regex::Regex::new(r"([a-z_]+)=").expect("a pattern");
        let labels = |text: &str| label.captures_iter(text).map(|found| found[1].to_owned()).collect();
        let found = pattern.captures_iter(expression);
        found.map(|f| (f[1].to_owned(), f.get(2).map_or_else(Vec::new, |text| labels(text.as_str())))).collect()
    }

    fn assert_shown(expression: &str) {
        let used = used(expression);
        for (sample, labels) in &used {
            let of = |metric: &&Metric| {
                let ends: &[&str] = match metric.kind {
                    MetricKind::Histogram => &["_bucket", "_sum", "_count"],
                    kind => &[kind.suffix()],
                };
                ends.iter().any(|end| *sample == format!("{}{end}", metric.name))
            };
            let metric = METRICS.iter().find(of).unwrap_or_else(|| panic!("no metric has {sample}: {expression}"));
            // Prometheus adds these two.
            let known = |label: &str| metric.labels.contains(&label) || ["instance", "job"].contains(&label);
            assert!(labels.iter().all(|label| known(label)), "{sample} has other labels: {expression}");
        }
    }

    #[test]
    fn the_dashboard_shows_metrics_that_exist() {
        let text = include_str!("../../../docs/deploy/grafana-dashboard.json");
        let dashboard: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let mut shown = HashSet::new();
        for panel in dashboard["panels"].as_array().expect("panels") {
            for target in panel["targets"].as_array().expect("targets") {
                let expression = target["expr"].as_str().expect("an expression");
                assert_shown(expression);
                shown.extend(used(expression).into_iter().map(|(name, _)| name));
            }
        }
        let whole = shown.iter().cloned().collect::<Vec<_>>().join(" ");
        let missing: Vec<_> = METRICS.iter().filter(|metric| !whole.contains(metric.name)).map(|m| m.name).collect();
        assert!(missing.is_empty(), "the dashboard has no panel for {missing:?}");
    }

    #[test]
    fn the_alert_rules_name_metrics_that_exist() {
        let rules = yaml_rust2::YamlLoader::load_from_str(include_str!("../../../docs/deploy/prometheus-alerts.yml"));
        let rules = rules.expect("YAML");
        let rules = rules[0]["groups"][0]["rules"].as_vec().expect("rules");
        assert!(rules.len() > 5);
        for rule in rules {
            let text = |name: &str| rule[name].as_str().unwrap_or_else(|| panic!("{name} of {rule:?}"));
            assert!(text("alert").starts_with("CmsServer"));
            assert_shown(text("expr"));
            assert!(!used(text("expr")).is_empty() || text("expr").starts_with("up"), "{rule:?}");
            assert!(rule["annotations"]["summary"].as_str().is_some() && rule["labels"]["severity"].as_str().is_some());
        }
    }

    #[test]
    fn readings_become_text() {
        let histogram = Histogram::new(DURATIONS);
        histogram.observe(0.002);
        histogram.observe(7.0);
        let text = text(&[
            Reading::observed("cms_server_write_wait_seconds", &histogram),
            Reading::count("cms_server_http_route_requests", &["/posts/(?P<id>[\\d]+)\"\n", "2xx"], 3),
            Reading::info("cms_server_build", &["1.0"]),
            Reading::gauge("cms_server_write_queue", &[], 2.0),
        ]);
        assert!(
            text.starts_with("# TYPE cms_server_build info\n# HELP cms_server_build Version of the program.\n"),
            "{text}"
        );
        assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1);
        for line in [
            "cms_server_build_info{version=\"1.0\"} 1",
            "# TYPE cms_server_http_route_requests counter",
            r#"cms_server_http_route_requests_total{route="/posts/(?P<id>[\\d]+)\"\n",status="2xx"} 3"#,
            "cms_server_write_queue 2",
            "# UNIT cms_server_write_wait_seconds seconds",
            "cms_server_write_wait_seconds_bucket{le=\"0.001\"} 0",
            "cms_server_write_wait_seconds_bucket{le=\"0.0025\"} 1",
            "cms_server_write_wait_seconds_bucket{le=\"5\"} 1",
            "cms_server_write_wait_seconds_bucket{le=\"+Inf\"} 2",
            "cms_server_write_wait_seconds_sum 7.002",
            "cms_server_write_wait_seconds_count 2",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} in\n{text}");
        }
        assert!(!text.contains("cms_server_cache"), "what has no reading is left out");
    }

    #[test]
    fn observations_are_counted_by_their_bounds() {
        let histogram = Histogram::new(&[1.0, 2.0]);
        [0.0, 1.0, 1.5, 2.0, 7.25].into_iter().for_each(|value| histogram.observe(value));
        histogram.time(Duration::from_millis(500));
        let seen = histogram.read();
        assert_eq!(seen.buckets, [(1.0, 3), (2.0, 2), (f64::INFINITY, 1)]);
        assert_eq!(seen.sum, 12.25);
    }

    #[test]
    fn classes_of_status() {
        let counts = StatusCounters::default();
        [200, 204, 404, 503, 999, 0].into_iter().for_each(|status| counts.count(status));
        let numbers: Vec<u64> = counts.numbers().map(|(_, number)| number).collect();
        assert_eq!(numbers, [1, 2, 0, 1, 2]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_has_memory_and_files() {
        let readings = process();
        assert_eq!(readings.len(), 3);
        for reading in readings {
            assert!(matches!(reading.value, MetricValue::Gauge(value) if value > 0.0), "{reading:?}");
        }
    }
}
