"""The statistics of a run for Prometheus, by box, instance and bucket."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from boxcars.engine.run import Run
from boxcars.engine.stats.run_stats import RunStats
from boxcars.engine.status import Status

_COUNTED = {
    "tuples_in": "Tuples received by a box.",
    "tuples_out": "Tuples emitted by a box.",
    "late": "Late tuples.",
    "dead": "Dead letters: records that could not be parsed or processed.",
    "seconds": "Seconds spent in a box.",
}
_HELD = {
    "queue": "Tuples that wait for the frontier (watermark).",
    "state_rows": "Rows in the state of a box.",
    "state_bytes": "Bytes in the state of a box.",
    "in_rate": "Tuples per second received by a box.",
    "out_rate": "Tuples per second emitted by a box.",
    "cpu": "Cores used by a box in the last epochs.",
    "share": "Share of a box in the work of its subquery in the last epochs.",
}
_BY_BUCKET = {
    "in_rate": "Tuples per second received by a bucket, estimated.",
    "out_rate": "Tuples per second emitted by a bucket, estimated.",
}
_STATES = ("running", "waiting", "finished", "stopped", "failed")


def prometheus_text(run: Run) -> bytes:
    """All metrics of a run, in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(_Figures(run.status(), run.stats()))
    return generate_latest(registry)


class _Figures(Collector):
    """A snapshot of the metrics of a run."""

    def __init__(self, status: Status, stats: RunStats) -> None:
        self._status, self._stats = status, stats

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        yield from self._run()
        yield from self._boxes()
        yield from self._buckets()
        yield from self._outputs()

    def _run(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("boxcars_epoch", "The last epoch.", self._status.epoch)
        yield GaugeMetricFamily("boxcars_up_seconds", "Uptime.", self._status.seconds)
        state = GaugeMetricFamily("boxcars_state", "1 for the current state.", labels=["state"])
        for name in _STATES:
            state.add_metric([name], float(name == self._status.state))
        yield state

    def _boxes(self) -> Iterable[Metric]:
        labels = ["box", "type", "instance"]
        for name, words in _COUNTED.items():
            family = CounterMetricFamily(f"boxcars_box_{name}", words, labels=labels)
            self._fill(family, name)
            yield family
        for name, words in _HELD.items():
            gauge = GaugeMetricFamily(f"boxcars_box_{name}", words, labels=labels)
            self._fill(gauge, name)
            yield gauge

    def _fill(self, family: CounterMetricFamily | GaugeMetricFamily, name: str) -> None:
        for box, stats in self._stats.boxes.items():
            for instance, piece in enumerate(stats.pieces):
                family.add_metric([box, stats.type, str(instance)], getattr(piece, name))

    def _buckets(self) -> Iterable[Metric]:
        for name, words in _BY_BUCKET.items():
            labels = ["box", "bucket", "instance"]
            gauge = GaugeMetricFamily(f"boxcars_bucket_{name}", words, labels=labels)
            for box, stats in self._stats.boxes.items():
                for one in stats.buckets:
                    where = [box, str(one.bucket), str(one.instance)]
                    gauge.add_metric(where, getattr(one, name))
            yield gauge

    def _outputs(self) -> Iterable[Metric]:
        tuples = CounterMetricFamily(
            "boxcars_output_tuples", "Tuples written to an output.", None, ["output"]
        )
        latency = GaugeMetricFamily(
            "boxcars_output_latency_seconds",
            "Latency of tuples from source to sink.",
            labels=["output", "quantile"],
        )
        for name, output in self._stats.outputs.items():
            tuples.add_metric([name], output.tuples)
            if output.latency is not None:
                took = output.latency
                for quantile, value in (("0.5", took.p50), ("0.95", took.p95), ("0.99", took.p99)):
                    latency.add_metric([name, quantile], value)
        yield tuples
        yield latency
