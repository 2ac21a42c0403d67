//! The counters and costs of a fleet, in the text format of Prometheus. Only numbers, no texts.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use serde_json::Value;

use deskline_mcp::STEPS;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    /// The tool answered with an error, which the agent reads.
    Error,
    Cancelled,
    /// The call's desktop ended during the call or before it.
    Ended,
    /// There was no desktop for the call.
    Refused,
}

impl Outcome {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
            Self::Ended => "ended",
            Self::Refused => "refused",
        }
    }
}

/// How many desktops there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    /// Desktops that have a client.
    pub(crate) used: usize,
    /// Desktops that were started in advance and have no client.
    pub(crate) warm: usize,
    /// Desktops that are starting or ending.
    pub(crate) changing: usize,
    /// The number of desktops that can still be started.
    pub(crate) free: usize,
}

type Histograms<const N: usize> = Family<[(&'static str, String); N], Histogram, fn() -> Histogram>;

/// The metrics of a fleet.
pub(crate) struct Metrics {
    registry: Registry,
    links: Family<[(&'static str, String); 2], Counter>,
    seconds: Histograms<1>,
    steps: Histograms<1>,
    start: Histogram,
    desktops: Family<[(&'static str, &'static str); 1], Gauge>,
    memory: Gauge<u64, AtomicU64>,
}

/// A histogram from 12 ms to 50 s.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.0125, 2.0, 13))
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("deskline");
        let links = Family::default();
        registry.register("links", "Calls of tools, by outcome", links.clone());
        let link = Histograms::new_with_constructor(seconds as fn() -> Histogram);
        registry.register_with_unit("link", "How long calls took", Unit::Seconds, link.clone());
        // From 1 ms to 8 s.
        let steps = || Histogram::new(exponential_buckets(0.001, 2.0, 14));
        let steps = Histograms::new_with_constructor(steps as fn() -> Histogram);
        let help = "How long the steps of calls took";
        registry.register_with_unit("link_step", help, Unit::Seconds, steps.clone());
        let start = seconds();
        let help = "How long desktops took to start";
        registry.register_with_unit("desktop_start", help, Unit::Seconds, start.clone());
        let desktops = Family::default();
        registry.register("desktops", "Desktops, by state", desktops.clone());
        let memory = Gauge::default();
        let help = "The memory of all desktops and their apps";
        registry.register_with_unit("desktops_memory", help, Unit::Bytes, memory.clone());
        Self {
            registry,
            links,
            seconds: link,
            steps,
            start,
            desktops,
            memory,
        }
    }

    /// Records the end of a call of this tool.
    pub(crate) fn link(&self, tool: &str, outcome: Outcome, duration: Duration) {
        let outcome = outcome.word().to_owned();
        let labels = [("tool", tool.to_owned()), ("outcome", outcome)];
        self.links.get_or_create(&labels).inc();
        let labels = [("tool", tool.to_owned())];
        self.seconds
            .get_or_create(&labels)
            .observe(duration.as_secs_f64());
    }

    /// Records the durations of a call's steps. `times` is the object under
    /// [`STEPS_MS`](deskline_mcp::STEPS_MS).
    pub(crate) fn steps(&self, times: &Value) {
        // Accept only known labels: a desktop's server might invent others, and a label is kept for
        // ever.
        for step in STEPS {
            if let Some(ms) = times[step].as_f64() {
                let labels = [("step", step.to_owned())];
                self.steps.get_or_create(&labels).observe(ms / 1000.0);
            }
        }
    }

    /// Records the start of a desktop.
    pub(crate) fn started(&self, took: Duration) {
        self.start.observe(took.as_secs_f64());
    }

    /// The metrics as text for Prometheus.
    pub(crate) fn text(&self, count: Count, memory: u64) -> Result<String, fmt::Error> {
        for (state, number) in [
            ("used", count.used),
            ("warm", count.warm),
            ("changing", count.changing),
            ("free", count.free),
        ] {
            self.desktops
                .get_or_create(&[("state", state)])
                .set(number as i64);
        }
        self.memory.set(memory);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
