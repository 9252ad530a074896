"""Statistics of a run: counts, rates and latencies of each box, piece and output.

Totals are part of the checkpoint and continue when a run resumes. Rates and latencies cover the
last epochs of this process.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from boxcars.engine.flow.box_stats import aligned
from boxcars.engine.layout.pieces import Layout
from boxcars.engine.measure.bucket_load import Load, add_loads
from boxcars.engine.measure.counters import BoxTotals, Counts, Totals
from boxcars.engine.stats.bucket_sizes import SizeByBucket
from boxcars.engine.stats.latency import Latency, latency_of, times_in
from boxcars.plan import Registry

FOR_RATES = 10
"""Number of epochs over which rates are averaged."""
FOR_LATENCIES = 256
"""Number of epochs that latencies cover."""
_ALL = -1
"""Stands for all instances, instead of the number of one."""


@dataclass(frozen=True)
class PieceStats(Counts):
    """Statistics of one piece of a box, or of all of them together; rates are in tuples per second.

    ``cost`` is in microseconds for each input tuple, and ``selectivity`` in output tuples for each
    input tuple; both cover the whole life of the run, and are None if no tuple came in. ``cpu`` is
    the fraction of time that it was busy in the last epochs: 1.0 is one core. ``share`` is its part
    of the busy time of its subquery, which StreamCloud calls the cost of an operator. ``latency``
    is the mean time of a tuple in it in the last epochs, in seconds, without the time in a state.
    """

    in_rate: float = 0.0
    out_rate: float = 0.0
    cost: float | None = None
    selectivity: float | None = None
    cpu: float = 0.0
    share: float = 0.0
    latency: float | None = None


@dataclass(frozen=True)
class BucketStats:
    """Statistics of one bucket of a box in the last epochs, and the instance that owns it.

    Rates, cost and selectivity are like those of a piece, but estimated from a sample of each
    train. ``queue`` and the state sizes are counted on request only, and None otherwise; rows that
    all buckets of a piece share count in each of them.
    """

    bucket: int
    instance: int
    in_rate: float = 0.0
    out_rate: float = 0.0
    cost: float | None = None
    selectivity: float | None = None
    queue: int | None = None
    state_rows: int | None = None
    state_bytes: int | None = None


@dataclass(frozen=True)
class RunBoxStats(PieceStats):
    """Statistics of an input or box, and of each of its pieces since the layout last changed.

    A box whose tuples are partitioned by key has ``buckets``.

    The time of a pipeline of fused boxes is booked on its last box, which the others name in
    ``fused_into``.
    """

    type: str = ""
    fused_into: str = ""
    pieces: tuple[PieceStats, ...] = ()
    buckets: tuple[BucketStats, ...] = ()


@dataclass(frozen=True)
class OutputStats:
    """Statistics of an output: its number of tuples, their rate per second, and their latency.

    ``utility`` is the mean utility of a tuple, if the output has a QoS graph of values.
    """

    tuples: int = 0
    rate: float = 0.0
    latency: Latency | None = None
    utility: float | None = None


@dataclass(frozen=True)
class RunStats:
    """The statistics of a run, by the names of its inputs and boxes, and of its outputs.

    ``str()`` gives them as a table, and :meth:`to_plain` as data for JSON.
    """

    boxes: Mapping[str, RunBoxStats] = field(default_factory=dict)
    outputs: Mapping[str, OutputStats] = field(default_factory=dict)

    @property
    def in_rate(self) -> float:
        """Tuples per second over all inputs."""
        return sum(box.in_rate for box in self.boxes.values() if box.type == "input")

    @property
    def out_rate(self) -> float:
        """Tuples per second over all outputs."""
        return sum(output.rate for output in self.outputs.values())

    @property
    def p95(self) -> float | None:
        """The 95th percentile of the latency of the slowest output, in seconds."""
        known = [output.latency.p95 for output in self.outputs.values() if output.latency]
        return max(known, default=None)

    def to_plain(self) -> dict[str, Any]:
        """The statistics as dicts, lists and numbers."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> RunStats:
        """Read statistics from the result of :meth:`to_plain`."""
        boxes = {name: _read_box(box) for name, box in plain["boxes"].items()}
        outputs = {}
        for name, output in plain["outputs"].items():
            latency = output["latency"] and Latency(**output["latency"])
            outputs[name] = OutputStats(**{**output, "latency": latency})
        return cls(boxes, outputs)

    def __str__(self) -> str:
        return f"{_box_table(self.boxes)}\n\n{_output_table(self.outputs)}"


def _read_box(plain: Mapping[str, Any]) -> RunBoxStats:
    pieces = tuple(PieceStats(**piece) for piece in plain["pieces"])
    buckets = tuple(BucketStats(**bucket) for bucket in plain["buckets"])
    return RunBoxStats(**{**plain, "pieces": pieces, "buckets": buckets})


@dataclass(frozen=True)
class _Mark:
    """The totals at a point in time."""

    at: float
    totals: Totals


class History:
    """The last epochs of a run in this process, up to a fixed number."""

    def __init__(self, totals: Totals, at: float) -> None:
        self._lock = threading.Lock()
        self._marks = deque([_Mark(at, totals)], maxlen=FOR_RATES + 1)
        self._epochs: deque[tuple[float, Mapping[str, int]]] = deque(maxlen=FOR_LATENCIES)
        self._loads: deque[Mapping[str, Load]] = deque(maxlen=FOR_RATES)

    def note(
        self,
        begun: float,
        ended: float,
        totals: Totals,
        rows: Mapping[str, int],
        loads: Mapping[str, Load],
        relaid: bool = False,
    ) -> None:
        """Record a committed epoch: its output rows, and the load of its buckets.

        If it is ``relaid`` its pieces are others than before, and their counts start over.
        """
        with self._lock:
            if relaid:
                marks = [replace(mark, totals=mark.totals.without_pieces()) for mark in self._marks]
                self._marks = deque(marks, maxlen=self._marks.maxlen)
                self._loads.clear()
            self._marks.append(_Mark(ended, totals))
            self._epochs.append((ended - begun, rows))
            self._loads.append(loads)

    def stats(
        self,
        layout: Layout,
        now: float | None = None,
        sizes: Mapping[str, SizeByBucket] | None = None,
    ) -> RunStats:
        """The statistics up to the last epoch, or up to ``now`` while the run is waiting."""
        with self._lock:
            marks, epochs = list(self._marks), list(self._epochs)
            loads = add_loads(self._loads)
        first, last = marks[0], marks[-1]
        seconds = (last.at if now is None else now) - first.at
        fused = {n: s.last for stages in layout.stages.values() for s in stages for n in s.names}
        net, then, nothing = layout.checked.network, first.totals, BoxTotals()
        boxes = {}
        for name in [*net.inputs, *layout.checked.order]:
            type_ = "input" if name in net.inputs else net.boxes[name].box.type
            into = "" if fused.get(name, name) == name else fused[name]
            totals = [mark.totals.boxes.get(name, nothing) for mark in marks]
            box = _box_stats(totals, seconds, type_, into)
            if name in loads:
                registry = layout.plan[layout.plan.home[name]].registry
                box_sizes = None if sizes is None else sizes.get(name)
                box = replace(box, buckets=_bucket_stats(loads[name], registry, seconds, box_sizes))
            boxes[name] = box
        outputs = {}
        for name in net.outputs:
            tuples = last.totals.outputs.get(name, 0)
            rate = _rate(tuples - then.outputs.get(name, 0), seconds)
            worth = last.totals.worth.get(name)
            utility = worth / tuples if worth is not None and tuples else None
            outputs[name] = OutputStats(tuples, rate, latency_of(epochs, name), utility)
        return RunStats(_with_shares(boxes, layout.plan.home), outputs)


def _with_shares(
    boxes: Mapping[str, RunBoxStats], home: Mapping[str, str]
) -> dict[str, RunBoxStats]:
    """Add to each box its share of the busy time of its subquery, by instance and in all."""
    worked: defaultdict[tuple[str, int], float] = defaultdict(float)
    for name, box in boxes.items():
        for instance, piece in enumerate(box.pieces):
            worked[home[name], instance] += piece.cpu
            worked[home[name], _ALL] += piece.cpu
    found = {}
    for name, box in boxes.items():
        pieces = tuple(
            replace(piece, share=_part(piece.cpu, worked[home[name], instance]))
            for instance, piece in enumerate(box.pieces)
        )
        share = _part(sum(piece.cpu for piece in pieces), worked[home[name], _ALL])
        found[name] = replace(box, pieces=pieces, share=share)
    return found


def _part(some: float, whole: float) -> float:
    return some / whole if whole else 0.0


def _box_stats(totals: Sequence[BoxTotals], seconds: float, type_: str, into: str) -> RunBoxStats:
    """Statistics of a box, from its totals of each epoch; a fused box has no time of its own."""
    before, now = totals[0], totals[-1]
    latency, latencies = times_in(totals)
    if into:
        latency, latencies = None, (None,) * len(now.pieces)
    old = [*before.pieces, *[Counts()] * len(now.pieces)]
    pieces = tuple(
        PieceStats(**_figures(new, then, seconds), latency=took)
        for new, then, took in zip(now.pieces, old, latencies, strict=False)
    )
    whole = _figures(now.whole, before.whole, seconds)
    return RunBoxStats(**whole, latency=latency, type=type_, fused_into=into, pieces=pieces)


def _bucket_stats(
    load: Load, registry: Registry, seconds: float, sizes: SizeByBucket | None
) -> tuple[BucketStats, ...]:
    owners = registry.owners.tolist()
    busy = load.entered.tolist(), load.left.tolist(), load.seconds.tolist()
    found = []
    for bucket, (owner, entered, left, took) in enumerate(zip(owners, *busy, strict=True)):
        cost, selectivity = (1e6 * took / entered, left / entered) if entered else (None, None)
        size = {} if sizes is None else asdict(sizes[bucket])
        rates = _rate(entered, seconds), _rate(left, seconds)
        found.append(BucketStats(bucket, owner, *rates, cost, selectivity, **size))
    return tuple(found)


def _figures(counts: Counts, before: Counts, seconds: float) -> dict[str, Any]:
    """The counts, with the figures derived from them."""
    entered = counts.tuples_in
    return asdict(counts) | {
        "in_rate": _rate(entered - before.tuples_in, seconds),
        "out_rate": _rate(counts.tuples_out - before.tuples_out, seconds),
        "cost": 1e6 * counts.seconds / entered if entered else None,
        "selectivity": counts.tuples_out / entered if entered else None,
        "cpu": _rate(counts.seconds - before.seconds, seconds),
    }


def _rate(number: float, seconds: float) -> float:
    return number / seconds if seconds > 0 else 0.0


def _box_table(boxes: Mapping[str, RunBoxStats]) -> str:
    """A line for each box; columns for late and dead tuples and buckets only if there are any."""
    rare = [kind for kind in ("late", "dead") if any(getattr(b, kind) for b in boxes.values())]
    head = ["box", "type", "pieces", "in", "in/s", "out", "out/s", "out:in", "µs", "queue"]
    shared = ["hottest bucket"] if any(box.buckets for box in boxes.values()) else []
    rows = [[*head, "rows", "state", *rare, *shared]]
    for name, box in boxes.items():
        cost = f"in {box.fused_into}" if box.fused_into else _short(box.cost)
        rows.append(
            [
                *(name, box.type, str(len(box.pieces))),
                *(f"{box.tuples_in:,}", f"{box.in_rate:,.0f}"),
                *(f"{box.tuples_out:,}", f"{box.out_rate:,.0f}"),
                *(_short(box.selectivity), cost, f"{box.queue:,}"),
                *(f"{box.state_rows:,}", _bytes(box.state_bytes)),
                *(f"{getattr(box, kind):,}" for kind in rare),
                *(_hottest(box.buckets) for _ in shared),
            ]
        )
    return aligned(rows, 2)


def _hottest(buckets: Sequence[BucketStats]) -> str:
    """The busiest bucket and its share of the input.

    >>> _hottest([BucketStats(0, 0, in_rate=30.0), BucketStats(1, 0, in_rate=10.0)])
    '0 (75 %)'
    """
    whole = sum(bucket.in_rate for bucket in buckets)
    if not whole:
        return ""
    hottest = max(buckets, key=lambda bucket: bucket.in_rate)
    return f"{hottest.bucket} ({100 * hottest.in_rate / whole:.0f} %)"


def _output_table(outputs: Mapping[str, OutputStats]) -> str:
    valued = any(output.utility is not None for output in outputs.values())
    utility = ["utility"] if valued else []
    rows = [["output", "tuples", "tuples/s", "latency p50", "p95", "p99", *utility]]
    for name, output in outputs.items():
        took = asdict(output.latency).values() if output.latency else [None] * 3
        times = ["" if seconds is None else f"{seconds:.3f} s" for seconds in took]
        worth = [_short(output.utility)] if valued else []
        rows.append([name, f"{output.tuples:,}", f"{output.rate:,.0f}", *times, *worth])
    return aligned(rows, 1)


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def _bytes(number: float) -> str:
    """Format a size in bytes.

    >>> _bytes(999), _bytes(20_500), _bytes(3e9)
    ('999 B', '20.5 kB', '3.0 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"
