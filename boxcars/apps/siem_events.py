"""Generated security events, with attacks that the directives must find, and near misses.

Every second has the same number of events. Most are noise, of many hosts, sensors and ports. In
each span of time every *scenario* occurs once, between its own hosts: an attack that fires a last
rule, or a near miss: one event too few, one second too late, or the wrong subnet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.apps.generate import CHUNK

RATE = 100
"""Events per second."""
SPAN = 1000
"""Seconds in which each scenario occurs once."""
EVENTS = pl.Schema(
    {
        "time": pl.Int64(),
        "plugin_id": pl.Int64(),
        "plugin_sid": pl.Int64(),
        "src_ip": pl.String(),
        "src_port": pl.Int64(),
        "dst_ip": pl.String(),
        "dst_port": pl.Int64(),
        "protocol": pl.String(),
    }
)
PLANTED = ("time", "directive", "rule", "src_ip", "dst_ip")
"""Fields that identify an alarm of a last rule."""

_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """An event of a scenario: ``after`` seconds from its start, from one role to another.

    Roles in lower case are internal hosts, those in upper case are external; ``mirror`` and
    ``admin`` are in separate networks.
    """

    after: int
    plugin: int
    sid: int
    source: str
    target: str
    port: int = 445


@dataclass(frozen=True)
class Scenario:
    """Steps sorted by time; ``rule`` is the last rule of the directive that they fire, if any.

    It starts at a random time in the interval ``start`` of the span.
    """

    directive: int
    rule: str
    steps: tuple[Step, ...]
    start: tuple[int, int] = (0, SPAN)


def _times(number: int, step: Step, last: int) -> tuple[Step, ...]:
    """``number`` copies of a step, evenly spaced from its time until ``last``."""
    at = np.linspace(step.after, last, number).astype(int)
    return tuple(
        Step(int(t), step.plugin, step.sid, step.source, step.target, step.port) for t in at
    )


def _smb(*harmful: int) -> tuple[Step, ...]:
    return (Step(0, 1001, 537, "a", "b"), *(Step(t, 1001, 2009034, "a", "b") for t in harmful))


def _login(failures: int, last: int, success: int) -> tuple[Step, ...]:
    failed = _times(failures, Step(0, 4003, 1, "A", "b", 22), last)
    return (*failed, Step(success, 4003, 7, "C", "b", 22))


def _break_in(attack: int, back: int, host: str = "b") -> tuple[Step, ...]:
    return (
        Step(0, 1104, 3, "A", host, 0),
        Step(attack, 1001, 2003, "A", host, 1434),
        Step(back, 1503, 1, host, "A", 4444),
    )


def _web(*more: Step, port: int = 8080) -> tuple[Step, ...]:
    return (Step(0, 1001, 19439, "A", "b", port), *more)


def _sent(
    before: int, last: int, *after: int, host: str = "a", port: int = 6660
) -> tuple[Step, ...]:
    sent = _times(before, Step(0, 1503, 1, host, "B", port), last)
    return (*sent, *(Step(t, 1503, 1, host, "C", 21) for t in after))


def _worm(ten: int, last: int, port: int = 135) -> tuple[Step, ...]:
    hops = zip("Aabc", "abcd", (0, 300, 310, 400), (135, 135, port, 135), strict=True)
    chain = (Step(at, 1001, 2001579, source, target, p) for source, target, at, p in hops)
    return (*chain, *_times(ten, Step(410, 1001, 2001579, "d", "e", 135), last))


def _blinded(login: int) -> tuple[Step, ...]:
    return (Step(0, 6001, 9, "a", "b", 0), Step(login, 4003, 8, "c", "admin", 22))


_FAIL = Step(1, 1501, 500, "A", "b", 8080)
_LOGIN = Step(300, 1501, 302, "A", "b", 8080)
SCENARIOS = (
    Scenario(50001, "2", _smb(10, 20)),
    Scenario(50001, "", _smb(5)),
    Scenario(50001, "", _smb(5, 16)),
    Scenario(50001, "", _smb(11, 12)),
    Scenario(50002, "2", _login(100, 600, 660)),
    Scenario(50002, "2", _login(104, 99, 120)),
    Scenario(50002, "", _login(99, 300, 310)),
    Scenario(50002, "", _login(100, 601, 610)),
    Scenario(50002, "", _login(100, 300, 361)),
    Scenario(50003, "3", _break_in(600, 900)),
    Scenario(50003, "", _break_in(30, 331)),
    Scenario(50003, "", _break_in(30, 60, host="B")),
    Scenario(50004, "3a", _web(*_times(5, _FAIL, 61), Step(90, 1595, 12, "b", "C", 3306))),
    Scenario(50004, "3b", _web(_LOGIN, Step(900, 1501, 201, "A", "b", 80))),
    Scenario(50004, "3c", _web(_LOGIN, Step(310, 4004, 4, "b", "b", 0))),
    Scenario(50004, "", _web(*_times(4, _FAIL, 30), Step(90, 1595, 12, "b", "C", 3306))),
    Scenario(50004, "", _web(_LOGIN, Step(310, 4004, 4, "b", "b", 0), port=8081)),
    Scenario(50005, "2", _sent(20, 300, 310, 320, 430)),
    Scenario(50005, "", _sent(19, 200, 210, 220, 230)),
    Scenario(50005, "", _sent(20, 200, 210, 220)),
    Scenario(50005, "", _sent(20, 200, 210, 220, 230, port=6667)),
    Scenario(50005, "", _sent(20, 200, 210, 220, 230, host="mirror")),
    Scenario(50006, "5", _worm(10, 440)),
    Scenario(50006, "", _worm(9, 420)),
    Scenario(50006, "", _worm(10, 441)),
    Scenario(50006, "", _worm(10, 430, port=139)),
    Scenario(
        50007, "2", (Step(0, 6001, 9, "a", "b"), Step(30, 4003, 8, "c", "admin", 22)), (100, 150)
    ),
    Scenario(
        50007, "", (Step(0, 6001, 9, "a", "b"), Step(31, 4003, 8, "c", "admin", 22)), (500, 550)
    ),
)


def events(rows: int, seed: int = 0) -> tuple[Iterator[pl.DataFrame], pl.DataFrame]:
    """Generate ``rows`` sorted events, in frames of at most 50,000, and the expected alarms.

    The same seed gives the same events. Attacks that do not end before the last event are not
    expected.

    >>> frames, planted = events(200_000, seed=1)
    >>> sum(frame.height for frame in frames)
    200000
    >>> planted.filter(directive=50002)["rule"].to_list()
    ['2', '2', '2']
    """
    attacks, alarms = _play(rows, np.random.default_rng([seed, 0]))
    return _frames(rows, seed, attacks), alarms


def _play(rows: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The events of all scenarios with their row numbers, and the expected alarms."""
    end = rows // RATE
    spans = pl.DataFrame({"span": np.arange(end // SPAN + 1)})
    acts = spans.join(_ACTS, how="cross").with_columns(
        start=pl.Series(rng.random(spans.height * _ACTS.height)) * pl.col("room")
    )
    start = pl.col("span") * SPAN + pl.col("from") + pl.col("start").cast(pl.Int64)
    steps = acts.join(_STEPS, on="scenario", maintain_order="left_right").with_columns(
        time=start + pl.col("after"),
        src_ip=_host("source"),
        dst_ip=_host("target"),
        protocol=pl.lit("TCP"),
    )
    played = steps.filter(pl.col("time") < end)
    played = played.with_columns(src_port=pl.Series(rng.integers(1024, 65536, played.height)))
    alarms = played.filter(pl.col("last") & (pl.col("rule") != "")).select(PLANTED)
    attacks = played.sort("time", maintain_order=True)
    count, index = pl.len().over("time"), pl.int_range(pl.len()).over("time")
    row = pl.col("time") * RATE + (2 * index + 1) * RATE // (2 * count)
    return attacks.select(*EVENTS, row=row), alarms.sort(PLANTED)


def _host(role: str) -> pl.Expr:
    """The address of the host in a role, unique per scenario and span."""
    span, name = pl.col("span"), pl.col(role)
    high, low = span // 256, span % 256
    own = pl.col("scenario") * 8 + name.str.to_lowercase().replace_strict(_ROLES, default=0)
    abroad = pl.format("203.{}.{}.{}", high % 256, low, own)
    return (
        pl.when(name == "mirror")
        .then(pl.format("10.0.9.{}", low))
        .when(name == "admin")
        .then(pl.format("10.255.0.{}", low))
        .when(name == name.str.to_uppercase())
        .then(abroad)
        .otherwise(pl.format("10.{}.{}.{}", 64 + high % 128, low, own))
    )


_ROLES = {role: number for number, role in enumerate("abcde")}
_ACTS = pl.DataFrame(
    [
        (number, each.directive, each.rule, each.start[0], each.start[1] - each.start[0])
        for number, each in enumerate(SCENARIOS)
    ],
    schema=["scenario", "directive", "rule", "from", "room"],
    orient="row",
)
_STEPS = pl.DataFrame(
    [
        (number, *astuple(step), step is each.steps[-1])
        for number, each in enumerate(SCENARIOS)
        for step in each.steps
    ],
    schema=["scenario", "after", "plugin_id", "plugin_sid", "source", "target", "dst_port", "last"],
    orient="row",
)
_NOISE = pl.DataFrame(
    [
        # plugin, sid, port, protocol, share, direction, kind of host
        (1001, 537, 445, "TCP", 10, "here", 0),
        (1001, 2009033, 445, "TCP", 2, "here", 1),
        (1001, 2003, 1434, "UDP", 4, "here", 0),
        (1001, 19439, 80, "TCP", 4, "in", 0),
        (1001, 2001569, 135, "TCP", 6, "in", 0),
        *((1001, 3000 + n, 80 + n, "TCP", 12, "in", n % 2) for n in range(25)),
        (1104, 3, 0, "TCP", 8, "in", 1),
        (1501, 200, 80, "TCP", 180, "in", 0),
        (1501, 404, 80, "TCP", 40, "in", 1),
        (1501, 500, 443, "TCP", 3, "in", 1),
        (1503, 1, 443, "TCP", 60, "out", 0),
        (1503, 1, 21, "TCP", 6, "out", 1),
        (1503, 2, 23, "TCP", 90, "in", 1),
        (1503, 2, 53, "UDP", 60, "in", 0),
        (1518, 4624, 0, "TCP", 80, "here", 0),
        (1595, 3, 3306, "TCP", 30, "here", 1),
        (4003, 1, 22, "TCP", 15, "in", 0),
        (4003, 7, 22, "TCP", 12, "here", 1),
        (4004, 1, 0, "TCP", 20, "here", 0),
        (6001, 1, 514, "UDP", 25, "here", 1),
    ],
    schema=["plugin_id", "plugin_sid", "dst_port", "protocol", "share", "way", "kind"],
    orient="row",
)
"""Hosts of kind 0 have no events with hosts of kind 1, so that noise fires no rule by chance."""


def _frames(rows: int, seed: int, attacks: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield noise, with the attacks at their row numbers."""
    at = attacks["row"].to_numpy()
    for number, begin in enumerate(range(0, rows, CHUNK)):
        end = min(begin + CHUNK, rows)
        noise = _noise(begin, end, np.random.default_rng([seed, 1, number]))
        low, high = np.searchsorted(at, [begin, end])
        if low == high:
            yield noise
            continue
        free = np.ones(end - begin, np.bool_)
        free[at[low:high] - begin] = False
        both = pl.concat([noise.filter(free), attacks[low:high].drop("row")])
        row = np.concatenate([np.flatnonzero(free), at[low:high] - begin])
        yield both[np.argsort(row)]


def _noise(begin: int, end: int, rng: np.random.Generator) -> pl.DataFrame:
    """The rows of a chunk without attacks."""
    kind = _MIX[rng.integers(0, len(_MIX), end - begin)]
    return _NOISE.select(
        pl.Series("time", np.arange(begin, end) // RATE),
        pl.col("plugin_id", "plugin_sid").gather(kind),
        src_ip=_crowd(_SOURCE[kind], rng),
        src_port=pl.Series(rng.integers(1024, 65536, end - begin)),
        dst_ip=_crowd(_TARGET[kind], rng),
        dst_port=pl.col("dst_port").gather(kind),
        protocol=pl.col("protocol").gather(kind),
    )


def _crowd(first: _Ints, rng: np.random.Generator) -> pl.Series:
    """Random hosts: every second address from ``first`` on."""
    return _HOSTS.gather(first + 2 * rng.integers(0, _CROWD // 2, len(first)))


_CROWD = 32768
_HOSTS = pl.Series(
    f"{network}.{n // 256}.{n % 256}"
    for network in ("10.16", "45.16", "172.16")
    for n in range(_CROWD)
)
"""Internal clients, external hosts, and internal servers."""
_MIX = np.repeat(np.arange(_NOISE.height), _NOISE["share"].to_numpy())
_SOURCE, _TARGET = (
    _NOISE.select(pl.when(way=way).then(_CROWD).otherwise(other * _CROWD) + pl.col("kind"))
    .to_series()
    .to_numpy()
    for way, other in (("in", 0), ("out", 2))
)
"""Index of the first host of each kind of noise in ``_HOSTS``."""
