"""The statistics of a run: what each box and piece did, how fast, and how long results take.

Totals are in the checkpoint, and go on with the run. Rates and latencies are of the last epochs of
this process.
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
from boxcars.engine.stats.bucket_sizes import ByBucket
from boxcars.engine.stats.latency import Latency, latency_of, times_in
from boxcars.plan import Registry

FOR_RATES = 10
"""How many of the last epochs rates are of."""
FOR_LATENCIES = 256
"""How many of the last epochs latencies are of."""
_ALL = -1
"""In place of the number of an instance: all of them."""


@dataclass(frozen=True)
class PieceStats(Counts):
    """What one piece of a box did, or all of them together, with its rates in tuples a second.

    ``cost`` is in microseconds for each tuple that came in, and ``selectivity`` in tuples out for
    each tuple in; both are over the whole life of the run, and None while nothing has come.
    ``cpu`` is the part of the clock in which it worked in the last epochs: 1.0 is one core. Its
    ``share`` of all that its subquery did in that time is what StreamCloud calls the cost of an
    operator. ``latency`` has the seconds that a tuple was in it in the last epochs, on average; how
    long it waits in a state is not in that.
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
    """What one bucket of a box did in the last epochs, and the instance that owns it.

    Rates, cost and selectivity are as those of a piece, but estimated from a sample of each train.
    ``queue`` and the state are counted only if they are asked for, and None otherwise; what all
    buckets of a piece share counts in each of them.
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
    """What an input or box did, and each of its pieces since the run is laid out as it is.

    A box whose tuples are shared out by their key has ``buckets``.

    Boxes that run as one pipeline share its time: it is booked on the last of them, and the others
    name it in ``fused_into``.
    """

    type: str = ""
    fused_into: str = ""
    pieces: tuple[PieceStats, ...] = ()
    buckets: tuple[BucketStats, ...] = ()


@dataclass(frozen=True)
class OutputStats:
    """The tuples of an output in all and a second, and their latency if there are any.

    ``utility`` is what a tuple was worth on average, if the output has a QoS graph of values.
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
        """Tuples a second that came into all inputs."""
        return sum(box.in_rate for box in self.boxes.values() if box.type == "input")

    @property
    def out_rate(self) -> float:
        """Tuples a second that came out of all outputs."""
        return sum(output.rate for output in self.outputs.values())

    @property
    def p95(self) -> float | None:
        """The 95th percentile of the latency at the slowest output."""
        known = [output.latency.p95 for output in self.outputs.values() if output.latency]
        return max(known, default=None)

    def to_plain(self) -> dict[str, Any]:
        """The statistics as dicts, lists and numbers."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> RunStats:
        """The statistics again, from what :meth:`to_plain` gave."""
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
    """The totals at a moment."""

    at: float
    totals: Totals


class History:
    """The last epochs of a run in this process; so many, however long it takes."""

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
    ) -> None:
        """An epoch was committed: it gave so many rows to each output, and did this by bucket."""
        with self._lock:
            self._marks.append(_Mark(ended, totals))
            self._epochs.append((ended - begun, rows))
            self._loads.append(loads)

    def stats(
        self, layout: Layout, now: float | None = None, held: Mapping[str, ByBucket] | None = None
    ) -> RunStats:
        """The statistics up to the last epoch, or up to now if nothing new has come since."""
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
                instances = layout.plan[layout.plan.home[name]].instances
                holds = None if held is None else held.get(name)
                box = replace(box, buckets=_bucket_stats(loads[name], instances, seconds, holds))
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
    """The boxes with their shares of what their subqueries did, on each instance and in all."""
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
    """What a box did, from its totals epoch by epoch; the time of a pipeline is its last box's."""
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
    load: Load, instances: int, seconds: float, held: ByBucket | None
) -> tuple[BucketStats, ...]:
    owners = Registry.balanced(len(load.entered), instances).owners.tolist()
    busy = load.entered.tolist(), load.left.tolist(), load.seconds.tolist()
    found = []
    for bucket, (owner, entered, left, took) in enumerate(zip(owners, *busy, strict=True)):
        cost, selectivity = (1e6 * took / entered, left / entered) if entered else (None, None)
        holds = {} if held is None else asdict(held[bucket])
        rates = _rate(entered, seconds), _rate(left, seconds)
        found.append(BucketStats(bucket, owner, *rates, cost, selectivity, **holds))
    return tuple(found)


def _figures(counts: Counts, before: Counts, seconds: float) -> dict[str, Any]:
    """The counts with what follows from them."""
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
    """A line for each box; late and dead tuples, and buckets, only if there are any."""
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
    """The busiest bucket and its part of what came in.

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
    """A size for people.

    >>> _bytes(999), _bytes(20_500), _bytes(3e9)
    ('999 B', '20.5 kB', '3.0 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"
