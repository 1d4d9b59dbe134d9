//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;

use artel_workshop::{BUCKETS, DurationHistogram, UsageSum, WorkshopMetrics};

use super::traffic::{HttpTrafficCounter, HttpTrafficCounts};

/// Current values, in addition to counters that only grow.
#[derive(Debug, Default)]
pub(crate) struct MetricsGauges {
    /// Number of unfinished runs in each state.
    pub(crate) standings: BTreeMap<&'static str, u64>,
    /// Number of items that need a person, by kind.
    pub(crate) waits: BTreeMap<&'static str, u64>,
    /// Number of tasks that wait for their turn.
    pub(crate) queued: usize,
    /// Number of tasks that the daemon runs.
    pub(crate) under_way: usize,
    /// Number of readers of live events.
    pub(crate) readers: usize,
    /// The number of the last event.
    pub(crate) head: u64,
}

/// Returns all metrics in Prometheus text format.
pub(crate) fn page(
    meter: &WorkshopMetrics,
    now: &MetricsGauges,
    traffic: &HttpTrafficCounter,
) -> String {
    let mut page = PrometheusTextBuilder::default();
    page.runs(meter, now);
    page.models(meter);
    page.tools(meter);
    page.work(meter, now);
    page.server(now, &traffic.counted());
    page.0
}

#[derive(Default)]
struct PrometheusTextBuilder(String);

/// The name and value of a label.
type MetricLabel<'a> = (&'a str, &'a str);

impl PrometheusTextBuilder {
    fn runs(&mut self, meter: &WorkshopMetrics, now: &MetricsGauges) {
        self.head("artel_runs", "gauge", "Runs that are not over.");
        for (state, count) in &now.standings {
            self.line("artel_runs", &[("state", state)], *count);
        }
        self.head("artel_runs_started_total", "counter", "Runs that began.");
        self.line("artel_runs_started_total", &[], meter.started);
        self.head("artel_runs_ended_total", "counter", "Runs that ended.");
        for (state, count) in &meter.ended {
            self.line("artel_runs_ended_total", &[("state", state)], *count);
        }
        self.head("artel_turns_total", "counter", "Turns of runs that ended.");
        self.line("artel_turns_total", &[], meter.turns);
        let about = "Failures after which the goal was reached another way.";
        self.head("artel_recoveries_total", "counter", about);
        for (kind, count) in &meter.recoveries {
            self.line("artel_recoveries_total", &[("kind", kind)], *count);
        }
    }

    fn models(&mut self, meter: &WorkshopMetrics) {
        let rows = meter.spent();
        let named: Vec<([MetricLabel<'_>; 2], &UsageSum)> = rows
            .iter()
            .map(|row| {
                let name = |at: usize| row.group.get(at).and_then(Option::as_deref).unwrap_or("");
                ([("provider", name(0)), ("model", name(1))], &row.sum)
            })
            .collect();
        self.head(
            "artel_model_calls_total",
            "counter",
            "Attempts to get an answer.",
        );
        for (labels, sum) in &named {
            self.line("artel_model_calls_total", labels, sum.attempts);
        }
        self.head(
            "artel_model_failures_total",
            "counter",
            "Attempts that failed.",
        );
        for (labels, sum) in &named {
            self.line("artel_model_failures_total", labels, sum.failed);
        }
        self.head(
            "artel_model_tokens_total",
            "counter",
            "Tokens read and written.",
        );
        for (labels, sum) in &named {
            let parts = [("input", sum.input), ("output", sum.output)];
            for (kind, count) in parts {
                let labels = [labels[0], labels[1], ("kind", kind)];
                self.line("artel_model_tokens_total", &labels, count);
            }
        }
        let about = "Tokens read from a provider's cache, of those read.";
        self.head("artel_model_cached_tokens_total", "counter", about);
        for (labels, sum) in &named {
            self.line("artel_model_cached_tokens_total", labels, sum.cache_read);
        }
        let about = "What calls cost, where a price is known.";
        self.head("artel_model_cost_usd_total", "counter", about);
        for (labels, sum) in &named {
            let dollars = format!("{}.{:06}", sum.cost.0 / 1_000_000, sum.cost.0 % 1_000_000);
            self.line("artel_model_cost_usd_total", labels, dollars);
        }
        let about = "Calls without a known price.";
        self.head("artel_model_unpriced_total", "counter", about);
        for (labels, sum) in &named {
            self.line("artel_model_unpriced_total", labels, sum.unpriced);
        }
        self.head(
            "artel_model_first_seconds",
            "histogram",
            "Until the first piece of an answer.",
        );
        for ((provider, model), times) in &meter.models {
            let labels = [("provider", provider.as_str()), ("model", model.as_str())];
            self.times("artel_model_first_seconds", &labels, &times.first);
        }
        self.head(
            "artel_model_seconds",
            "histogram",
            "Until the end of an answer.",
        );
        for ((provider, model), times) in &meter.models {
            let labels = [("provider", provider.as_str()), ("model", model.as_str())];
            self.times("artel_model_seconds", &labels, &times.total);
        }
    }

    fn tools(&mut self, meter: &WorkshopMetrics) {
        self.head("artel_tool_calls_total", "counter", "Calls of tools.");
        for (tool, outcomes) in &meter.tools {
            for (outcome, count) in outcomes {
                let labels = [("tool", tool.as_str()), ("outcome", outcome)];
                self.line("artel_tool_calls_total", &labels, *count);
            }
        }
        self.head(
            "artel_tool_seconds",
            "histogram",
            "How long calls of tools took.",
        );
        for (tool, times) in &meter.tool_times {
            self.times("artel_tool_seconds", &[("tool", tool)], times);
        }
    }

    fn work(&mut self, meter: &WorkshopMetrics, now: &MetricsGauges) {
        self.head(
            "artel_requests_total",
            "counter",
            "Requests, by where they came from.",
        );
        for (source, count) in &meter.requests {
            self.line("artel_requests_total", &[("source", source)], *count);
        }
        self.head(
            "artel_plans_total",
            "counter",
            "What people decided about plans.",
        );
        for (decision, count) in &meter.plans {
            self.line("artel_plans_total", &[("decision", decision)], *count);
        }
        self.head(
            "artel_changesets_total",
            "counter",
            "What became of changesets.",
        );
        for (what, count) in &meter.changesets {
            self.line("artel_changesets_total", &[("what", what)], *count);
        }
        self.head("artel_waiting", "gauge", "What needs a person.");
        for (kind, count) in &now.waits {
            self.line("artel_waiting", &[("kind", kind)], *count);
        }
    }

    fn server(&mut self, now: &MetricsGauges, counted: &HttpTrafficCounts) {
        self.head("artel_queue", "gauge", "Work for the daemon.");
        self.line("artel_queue", &[("state", "waiting")], now.queued);
        self.line("artel_queue", &[("state", "under_way")], now.under_way);
        self.head("artel_event_readers", "gauge", "Readers of live events.");
        self.line("artel_event_readers", &[], now.readers);
        self.head(
            "artel_journal_head",
            "gauge",
            "The number of the last event.",
        );
        self.line("artel_journal_head", &[], now.head);
        self.head(
            "artel_http_requests_total",
            "counter",
            "Requests to the server.",
        );
        for ((route, method, status), count) in &counted.requests {
            let status = status.to_string();
            let labels = [
                ("route", route.as_str()),
                ("method", method),
                ("status", &status),
            ];
            self.line("artel_http_requests_total", &labels, *count);
        }
        self.head("artel_http_seconds", "histogram", "Until an answer began.");
        for (route, times) in &counted.times {
            self.times("artel_http_seconds", &[("route", route)], times);
        }
    }

    fn head(&mut self, name: &str, kind: &str, about: &str) {
        self.0 += &format!("# HELP {name} {about}\n# TYPE {name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &[MetricLabel<'_>], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let labels = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", labels.join(","))
        };
        self.0 += &format!("{name}{labels} {value}\n");
    }

    /// Writes a histogram. Its buckets are cumulative: each also counts those before it.
    fn times(&mut self, name: &str, labels: &[MetricLabel<'_>], times: &DurationHistogram) {
        let bucket = format!("{name}_bucket");
        let mut sum = 0;
        for (at, count) in times.counts.iter().enumerate() {
            sum += count;
            let end = BUCKETS
                .get(at)
                .map_or("+Inf".to_owned(), |end| seconds(*end));
            let mut labels = labels.to_vec();
            labels.push(("le", &end));
            self.line(&bucket, &labels, sum);
        }
        self.line(&format!("{name}_sum"), labels, seconds(times.sum));
        self.line(&format!("{name}_count"), labels, times.count());
    }
}

fn seconds(millis: u64) -> String {
    let text = format!("{}.{:03}", millis / 1_000, millis % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes a label value, so that it stays within its quotes and on its line.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use artel_workshop::{DurationHistogram, WorkshopMetrics};

    use super::{MetricsGauges, PrometheusTextBuilder, page};
    use crate::telemetry::HttpTrafficCounter;

    #[test]
    fn names_stay_within_their_quotes() {
        let mut meter = WorkshopMetrics::default();
        let evil = "a\"} 1\nartel_fake{x=\"\\";
        meter.recoveries.insert(evil.to_owned(), 3);
        let text = page(
            &meter,
            &MetricsGauges::default(),
            &HttpTrafficCounter::default(),
        );
        let wanted = "artel_recoveries_total{kind=\"a\\\"} 1\\nartel_fake{x=\\\"\\\\\"} 3\n";
        assert!(text.contains(wanted), "{text}");
        for line in text.lines() {
            let is_fine = line.starts_with("# ") || line.starts_with("artel_");
            assert!(is_fine && !line.starts_with("artel_fake"), "{line}");
        }
    }

    #[test]
    fn buckets_count_what_is_below_them() {
        let mut times = DurationHistogram::default();
        [1, 5, 6, 70, 400_000]
            .into_iter()
            .for_each(|it| times.add(it));
        let mut page = PrometheusTextBuilder::default();
        page.times("t", &[("a", "b")], &times);
        for line in [
            "t_bucket{a=\"b\",le=\"0.005\"} 2",
            "t_bucket{a=\"b\",le=\"0.01\"} 3",
            "t_bucket{a=\"b\",le=\"0.1\"} 4",
            "t_bucket{a=\"b\",le=\"300\"} 4",
            "t_bucket{a=\"b\",le=\"+Inf\"} 5",
            "t_sum{a=\"b\"} 400.082",
            "t_count{a=\"b\"} 5",
        ] {
            assert!(page.0.lines().any(|it| it == line), "{line}\n{}", page.0);
        }
    }
}
