//! Counters of requests and the separate listener that shows them.
//!
//! `/health` responds with 200 as long as the service reports that it can serve, else 503; `/metrics` is OpenMetrics
//! text. Neither is part of the REST base, and the listener is meant for the operator's network only.

use crate::http::{Reading, ReadingKind, Swap};
use crate::model::Method;
use actix_web::dev::Server;
use actix_web::{App, HttpResponse, HttpServer, web};
use prometheus_client::encoding::text::{encode, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"];
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Seconds; a point read takes well below a millisecond, a batch of writes some hundred.
const BUCKETS: [f64; 12] = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

/// What is counted. Every series exists from the start, so that counting takes no lock but the histogram's.
pub struct Metrics {
    registry: Registry,
    requests: Vec<Counter>,
    refused: Counter,
    latency: Histogram,
    in_flight: Gauge,
}

const PREFIX: &str = "cms_server";

impl Metrics {
    /// Fresh counters, all zero.
    pub fn new() -> Metrics {
        let family = Family::<[(&str, &str); 2], Counter>::default();
        let series = |method| CLASSES.map(|class| family.get_or_create_owned(&[("method", method), ("status", class)]));
        let requests = METHODS.into_iter().flat_map(series).collect();
        let latency = Histogram::new(BUCKETS);
        let (refused, in_flight) = (Counter::default(), Gauge::default());
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register("http_requests", "Responses by method and class of status", family);
        registry.register("http_request_duration_seconds", "Time from request head to response", latency.clone());
        registry.register("http_refused", "Connections refused before a request was complete", refused.clone());
        registry.register("http_in_flight", "Requests in progress", in_flight.clone());
        Metrics { registry, requests, refused, latency, in_flight }
    }

    /// Counts one response.
    pub fn count(&self, method: Option<Method>, status: u16, took: Duration) {
        let name = method.map_or("other", Method::as_str);
        let method = METHODS.iter().position(|known| *known == name).unwrap_or(METHODS.len() - 1);
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        self.requests[method * CLASSES.len() + class].inc();
        self.latency.observe(took.as_secs_f64());
    }

    /// Counts a connection that was refused before there was a request.
    pub fn refuse(&self) {
        self.refused.inc();
    }

    /// Counts a request as in flight for as long as what is returned lives, also when its client goes away.
    pub fn begin(&self) -> InFlight<'_> {
        self.in_flight.inc();
        InFlight(&self.in_flight)
    }

    /// All series as OpenMetrics text, after the readings.
    pub fn render(&self, readings: &[Reading]) -> String {
        let mut now = Registry::with_prefix(PREFIX);
        for reading in readings {
            match reading.kind {
                ReadingKind::Counter => {
                    let counter: Counter = Counter::default();
                    counter.inc_by(reading.value);
                    now.register(reading.name, reading.help, counter);
                }
                ReadingKind::Gauge => {
                    let gauge: Gauge = Gauge::default();
                    gauge.set(i64::try_from(reading.value).unwrap_or(i64::MAX));
                    now.register(reading.name, reading.help, gauge);
                }
            }
        }
        let mut text = String::new();
        match encode_registry(&mut text, &now).and_then(|()| encode(&mut text, &self.registry)) {
            Ok(()) => text,
            Err(_) => unreachable!("writing into a String cannot fail"),
        }
    }
}

/// See [`Metrics::begin`].
pub struct InFlight<'m>(&'m Gauge);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

/// A server for the operator on this listener; it runs when awaited.
pub fn admin_server(listener: TcpListener, metrics: Arc<Metrics>, services: Arc<Swap>) -> io::Result<Server> {
    let (metrics, services) = (web::Data::from(metrics), web::Data::from(services));
    let app = move || {
        App::new()
            .app_data(metrics.clone())
            .app_data(services.clone())
            .route("/health", web::get().to(health))
            .route("/metrics", web::get().to(show))
    };
    Ok(HttpServer::new(app).workers(1).disable_signals().shutdown_timeout(1).listen(listener)?.run())
}

async fn health(services: web::Data<Swap>) -> HttpResponse {
    let (mut response, text) = match services.load().health() {
        Ok(()) => (HttpResponse::Ok(), "ok\n".to_owned()),
        Err(reason) => (HttpResponse::ServiceUnavailable(), format!("{reason}\n")),
    };
    response.content_type("text/plain; charset=utf-8").body(text)
}

async fn show(metrics: web::Data<Metrics>, services: web::Data<Swap>) -> HttpResponse {
    HttpResponse::Ok().content_type(MEDIA_TYPE).body(metrics.render(&services.load().readings()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_method_and_class() {
        let metrics = Metrics::new();
        metrics.count(Some(Method::Get), 200, Duration::from_millis(2));
        metrics.count(Some(Method::Get), 204, Duration::from_millis(2));
        metrics.count(None, 404, Duration::ZERO);
        metrics.count(Some(Method::Put), 999, Duration::ZERO);
        metrics.refuse();
        drop(metrics.begin());
        let reading = |name, kind| Reading { name, help: "Help", value: 3, kind };
        let readings = [reading("write_queue", ReadingKind::Gauge), reading("cache_hits", ReadingKind::Counter)];
        let text = metrics.render(&readings);
        for line in [
            "cms_server_http_requests_total{method=\"GET\",status=\"2xx\"} 2",
            "cms_server_http_requests_total{method=\"other\",status=\"4xx\"} 1",
            "cms_server_http_requests_total{method=\"PUT\",status=\"5xx\"} 1",
            "cms_server_http_request_duration_seconds_count 4",
            "cms_server_http_refused_total 1",
            "cms_server_http_in_flight 0",
            "cms_server_write_queue 3",
            "cms_server_cache_hits_total 3",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
