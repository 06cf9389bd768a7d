//! Counters of requests and the separate listener that shows them.
//!
//! `/health` and `/health/ready` respond with 200 as long as the service reports that it can serve, else 503;
//! `/health/live` with 200 as long as the process responds at all. `/metrics` is OpenMetrics text. None of them is part
//! of the REST base, and the listener is meant for the operator's network only.

use crate::error::status;
use crate::http::ServiceSwap;
use crate::model::Method;
use actix_web::dev::Server;
use actix_web::{App, HttpResponse, HttpServer, web};
use cms_base::metrics::{self, Counter, DURATIONS, Gauge, Histogram, Reading, StatusCounters};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"];
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Counters of the edge, without locks.
pub struct Metrics {
    began: Instant,
    requests: [StatusCounters; METHODS.len()],
    refused: Counter,
    rate_limited: Counter,
    latency: Histogram,
    in_flight: Gauge,
}

impl Metrics {
    /// Fresh counters, all zero.
    pub fn new() -> Metrics {
        Metrics {
            began: Instant::now(),
            requests: Default::default(),
            refused: Counter::default(),
            rate_limited: Counter::default(),
            latency: Histogram::new(DURATIONS),
            in_flight: Gauge::default(),
        }
    }

    /// Counts one response.
    pub fn count(&self, method: Option<Method>, status: u16, took: Duration) {
        let name = method.map_or("other", Method::as_str);
        let method = METHODS.iter().position(|known| *known == name).unwrap_or(METHODS.len() - 1);
        self.requests[method].count(status);
        self.latency.time(took);
        if status == status::TOO_MANY_REQUESTS {
            self.rate_limited.inc();
        }
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

    fn readings(&self) -> Vec<Reading> {
        let mut readings = metrics::process();
        readings.extend([
            Reading::info("cms_server_build", &[env!("CARGO_PKG_VERSION")]),
            Reading::gauge("cms_server_uptime_seconds", &[], self.began.elapsed().as_secs_f64()),
            Reading::count("cms_server_http_refused", &[], self.refused.get()),
            Reading::count("cms_server_http_rate_limited", &[], self.rate_limited.get()),
            Reading::observed("cms_server_http_request_duration_seconds", &self.latency),
            Reading::gauge("cms_server_http_in_flight", &[], self.in_flight.get() as f64),
        ]);
        for (method, counts) in METHODS.iter().zip(&self.requests) {
            let of_class = |(class, count)| Reading::count("cms_server_http_requests", &[method, class], count);
            readings.extend(counts.numbers().map(of_class));
        }
        readings
    }

    /// All metrics as OpenMetrics text: those of the edge and these readings of the service.
    pub fn render(&self, mut readings: Vec<Reading>) -> String {
        readings.extend(self.readings());
        metrics::text(&readings)
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
pub fn admin_server(listener: TcpListener, metrics: Arc<Metrics>, services: Arc<ServiceSwap>) -> io::Result<Server> {
    let (metrics, services) = (web::Data::from(metrics), web::Data::from(services));
    let app = move || {
        App::new()
            .app_data(metrics.clone())
            .app_data(services.clone())
            .route("/health", web::get().to(health))
            .route("/health/ready", web::get().to(health))
            .route("/health/live", web::get().to(live))
            .route("/metrics", web::get().to(show))
    };
    Ok(HttpServer::new(app).workers(1).disable_signals().shutdown_timeout(1).listen(listener)?.run())
}

async fn live() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("ok\n")
}

async fn health(services: web::Data<ServiceSwap>) -> HttpResponse {
    let (mut response, text) = match services.load().health() {
        Ok(warnings) => (HttpResponse::Ok(), format!("ok\n{warnings}")),
        Err(reason) => (HttpResponse::ServiceUnavailable(), format!("{reason}\n")),
    };
    response.content_type("text/plain; charset=utf-8").body(text)
}

async fn show(metrics: web::Data<Metrics>, services: web::Data<ServiceSwap>) -> HttpResponse {
    HttpResponse::Ok().content_type(MEDIA_TYPE).body(metrics.render(services.load().readings()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_method_and_class() {
        let metrics = Metrics::new();
        metrics.count(Some(Method::Get), 200, Duration::from_millis(2));
        metrics.count(Some(Method::Get), 204, Duration::from_millis(2));
        metrics.count(None, 429, Duration::ZERO);
        metrics.count(Some(Method::Put), 999, Duration::ZERO);
        metrics.refuse();
        drop(metrics.begin());
        let text = metrics.render(Vec::new());
        for line in [
            "cms_server_http_requests_total{method=\"GET\",status=\"2xx\"} 2",
            "cms_server_http_requests_total{method=\"other\",status=\"4xx\"} 1",
            "cms_server_http_requests_total{method=\"PUT\",status=\"5xx\"} 1",
            "cms_server_http_request_duration_seconds_count 4",
            "cms_server_http_refused_total 1",
            "cms_server_http_rate_limited_total 1",
            "cms_server_http_in_flight 0",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} in\n{text}");
        }
    }
}
