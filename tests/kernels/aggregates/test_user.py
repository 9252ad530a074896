"""User-defined aggregates, compared with plain Python over the tuples of each window."""

import math
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.kernels.aggregates.builtin import find_function
from tests.boxes.helper import network, problems, run

PRIME = 1_000_003


class Digest:
    """A number that depends on all values and on their order."""

    @staticmethod
    def start() -> tuple[int, int]:
        return 1, 0

    @staticmethod
    def add(state: tuple[int, int], n: int) -> tuple[int, int]:
        return state[0] * 31 % PRIME, (state[1] * 31 + n + 1) % PRIME

    @staticmethod
    def finish(state: tuple[int, int]) -> int:
        return state[1]


class DigestOfParts(Digest):
    """The same with combine: the order of the parts matters, their number does not."""

    @staticmethod
    def combine(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] * b[0] % PRIME, (a[1] * b[0] + b[1]) % PRIME


bx.aggregate(name="digest", compile=True)(Digest)
bx.aggregate(name="digest_parts", compile=True)(DigestOfParts)
bx.aggregate(name="slow_digest", compile=False)(Digest)
bx.aggregate(name="slow_digest_parts", compile=False)(DigestOfParts)


@bx.aggregate(compile=True)
class big_range:  # noqa: N801
    """The greatest minus the least, if that is more than 3."""

    def start():  # type: ignore[misc]
        return math.inf, -math.inf

    def add(state, n: float):  # noqa: N805
        return min(state[0], n), max(state[1], n)  # type: ignore[index]

    def finish(state) -> float | None:  # noqa: N805
        return state[1] - state[0] if state[1] - state[0] > 3 else None  # type: ignore[index]

    def combine(a, b):  # noqa: N805
        return min(a[0], b[0]), max(a[1], b[1])  # type: ignore[index]


@bx.aggregate
class Initials:
    """The first letters, concatenated."""

    @staticmethod
    def start() -> str:
        return ""

    @staticmethod
    def add(state: str, k: str) -> str:
        return state + k[:1]

    @staticmethod
    def combine(a: str, b: str) -> str:
        return a + b


@bx.aggregate
class Firsts:
    """The three least, as text: a state that is not a number."""

    @staticmethod
    def start() -> list[int]:
        return []

    @staticmethod
    def add(state: list[int], n: int) -> list[int]:
        return sorted([*state, n])[:3]

    @staticmethod
    def finish(state: list[int]) -> str:
        return ",".join(map(str, state))

    @staticmethod
    def combine(a: list[int], b: list[int]) -> list[int]:
        return sorted([*a, *b])[:3]


@bx.aggregate(compile=True)
class Tally:
    """The number of values."""

    @staticmethod
    def start() -> int:
        return 0

    @staticmethod
    def add(state: int) -> int:
        return state + 1


@bx.aggregate(compile=True)
class Weighted:
    """A sum of products; the state starts as an int and becomes a float."""

    @staticmethod
    def start() -> float:
        return 0

    @staticmethod
    def add(state: float, n: int, x: float, up: bool = True) -> float:
        return state + n * x if up else state

    @staticmethod
    def finish(state: float) -> float:
        return state


def fold_digest(values: list[Any]) -> int:
    state = Digest.start()
    for value in values:
        state = Digest.add(state, value)
    return Digest.finish(state)


def fold_range(values: list[Any]) -> float | None:
    found = float(max(values) - min(values))
    return found if found > 3 else None


NUMBERS: dict[str, Callable[[list[Any]], Any]] = {
    "digest(n)": fold_digest,
    "digest_parts(n)": fold_digest,
    "slow_digest(n)": fold_digest,
    "slow_digest_parts(n)": fold_digest,
    "big_range(n)": fold_range,
    "firsts(n)": lambda values: ",".join(map(str, sorted(values)[:3])),
}
FIELDS = {"t": "int", "k": "str", "n": "int", "x": "float"}
TYPES = {"t": pl.Int64, "k": pl.String, "n": pl.Int64, "x": pl.Float64}


def in_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: row["t"])


data: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {
            "t": st.integers(0, 30),
            "k": st.none() | st.sampled_from(["ann", "bob", "äh"]),
            "n": st.none() | st.integers(-20, 20),
            "x": st.none() | st.integers(-8, 8).map(lambda n: n / 4),
        }
    ),
    max_size=40,
).map(in_order)
sizes, advances = st.integers(1, 12), st.integers(1, 15)
windows = st.one_of(
    st.builds(bx.time, sizes, advances, flush=st.booleans()),
    st.builds(bx.tuples, sizes, advances, flush=st.booleans()),
    st.builds(lambda size, advance: bx.value("t", size, advance, flush=True), sizes, advances),
    st.builds(lambda size, advance: bx.time(size, advance, emit="change"), sizes, advances),
    st.sampled_from([bx.landmark(emit="change"), bx.landmark(flush=True)]),
)


@given(windows, data, st.sampled_from([[], ["k"]]), st.integers(1, 9))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_window_for_any_split(
    window: bx.Window, rows: list[dict[str, Any]], by: list[str], trains: int
) -> None:
    """Built-in functions report what a window holds; the rest is plain Python."""
    fields = {f"f{i}": call for i, call in enumerate(NUMBERS)}
    fields |= {"held": "concat(cast(n as text), ' ')", "names": "concat(substr(k, 1, 1))"}
    fields |= {"initials": "initials(k)", "tally": "tally()", "count": "count()"}
    drawn = network(
        lambda calls: calls.aggregate(window, by=by, fields=fields).named("a"), FIELDS, ts="t"
    )
    frame = pl.DataFrame(rows, schema=TYPES, orient="row")
    for row in run(drawn, trains, calls=frame)[0]:
        held = [int(word) for word in (row["held"] or "").split()]
        for i, expected in enumerate(NUMBERS.values()):
            assert row[f"f{i}"] == (expected(held) if held else None)
        assert row["initials"] == (row["names"] or None)
        assert row["tally"] == row["count"]


def test_several_arguments() -> None:
    rows = [
        {"t": 1, "k": "a", "n": 2, "x": 0.5},
        {"t": 2, "k": "a", "n": None, "x": 0.5},
        {"t": 3, "k": "a", "n": 4, "x": 0.25},
    ]
    fields = {"w": "weighted(n, x)", "v": "weighted(n, x, n > 2)", "u": "weighted(t, t)"}
    net = network(lambda c: c.aggregate(bx.tuples(3), fields=fields).named("a"), FIELDS, ts="t")
    assert run(net, calls=rows)[0] == [{"t": 3, "w": 2.0, "v": 1.0, "u": 14.0}]


def test_times_and_truths() -> None:
    @bx.aggregate
    class Latest:
        """Not numbers: it runs as Python."""

        @staticmethod
        def start() -> Any:
            return None

        @staticmethod
        def add(state: Any, at: datetime) -> datetime:
            return at if state is None or at > state else state

        @staticmethod
        def finish(state: Any) -> datetime:
            return state  # type: ignore[no-any-return]

    @bx.aggregate(compile=True)
    class Every:
        """Whether all are true."""

        @staticmethod
        def start() -> bool:
            return True

        @staticmethod
        def add(state: bool, x: bool) -> bool:
            return state and x

        @staticmethod
        def combine(a: bool, b: bool) -> bool:
            return a and b

    fields = {"t": "timestamp", "up": "bool"}
    times = [datetime(2026, 1, 1, 0, 0, s) for s in range(3)]
    rows = [{"t": t, "up": up} for t, up in zip(times, [True, None, False], strict=True)]
    net = network(
        lambda c: c.aggregate(
            bx.tuples(2, 1), fields={"last": "latest(t)", "all": "every(up)"}
        ).named("a"),
        fields,
        ts="t",
    )
    assert [(r["last"], r["all"]) for r in run(net, calls=rows)[0]] == [
        (times[1], True),
        (times[2], False),
    ]


def test_in_every_language(tmp_path: Path) -> None:
    net = network(
        lambda c: c.aggregate(bx.time(5), fields={"d": "digest(n)"}).named("a"), FIELDS, ts="t"
    )
    for suffix in ("yaml", "json", "xml", "py"):
        bx.save(net, tmp_path / f"n.{suffix}")
        assert bx.load(tmp_path / f"n.{suffix}") == net


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("digest()", "digest(n) takes 1 argument, got 0."),
        ("digest(k)", "digest needs an int as n, got a str."),
        ("digest(x)", "digest needs an int as n, got a float."),
        ("weighted(n)", "weighted(n, x, up?) takes 2 to 3 arguments, got 1."),
        ("weighted(n, x, n)", "weighted needs a bool as up, got an int."),
        ("digesst(n)", "'digesst(n)' is not an aggregate function."),
    ],
)
def test_the_check_knows_them(call: str, words: str) -> None:
    net = network(lambda c: c.aggregate(bx.time(5), fields={"d": call}).named("a"), FIELDS, ts="t")
    assert problems(net)[0].startswith(f"box 'a', fields.d: {words}")


def parts(**functions: Any) -> type:
    defaults = {"start": lambda: 0, "add": lambda state, x: state + x}
    return type("Wrong", (), {k: staticmethod(f) for k, f in (defaults | functions).items() if f})


def finish_list(state: int) -> list[int]:
    return [state]


@pytest.mark.parametrize(
    ("cls", "name", "words"),
    [
        (parts(), "sum", "'sum' is a built-in aggregate: give yours another name."),
        (parts(), "mean", "'mean' is a built-in aggregate: give yours another name."),
        (parts(start=None), "w", "the aggregate 'w' needs a method start."),
        (parts(add=None), "w", "the aggregate 'w' needs a method add."),
        (parts(add=lambda: 0), "w", "w.add takes 0 arguments, expected the state and the arg"),
        (parts(combine=lambda x: x), "w", "w.combine takes 1 arguments, expected 2 arguments."),
        (
            parts(finish=lambda x: x),
            "w",
            "declare the result type of w: def finish(state) -> float.",
        ),
        (parts(finish=finish_list), "w", "w has the type list[int], expected one of str, int,"),
    ],
)
def test_mistakes_of_the_class(cls: type, name: str, words: str) -> None:
    with pytest.raises(bx.BoxcarsError) as error:
        bx.aggregate(name=name)(cls)
    assert str(error.value).startswith(words)
    assert find_function("w") is None


def fail(compile: bool | None, **functions: Any) -> str:
    bx.aggregate(name="failing", compile=compile)(parts(**functions))
    net = network(lambda c: c.aggregate(bx.tuples(2), d="failing(n)").named("a"), FIELDS, ts="t")
    rows = [{"t": i, "k": "a", "n": 0, "x": 1.0} for i in range(4)]
    with pytest.raises(bx.BoxcarsError) as error:
        run(net, calls=rows)
    return str(error.value)


def divide(state: int, n: int) -> float:
    return state / n


def text(_state: float) -> int:
    return "five"  # type: ignore[return-value]


def whole(state: float) -> float:
    return state


def half(state: float) -> int:
    return state / 2  # type: ignore[return-value]


def test_mistakes_while_running() -> None:
    for compiled in (True, False):
        said = fail(compiled, add=divide, finish=whole)
        assert said == "box 'a' failed: failing raised ZeroDivisionError: division by zero"
    said = fail(None, finish=text)
    assert said == "box 'a' failed: failing returned 'five', which is not an int."
    assert fail(None, finish=half) == (
        "box 'a' failed: failing.finish returns a float, but declares int."
    )
    assert fail(False, finish=half) == "box 'a' failed: failing returned 0.0, which is not an int."
    assert fail(True, start=lambda: "x") == (
        "box 'a' failed: failing can't be compiled: its values are not all numbers."
    )
    assert fail(True, start=lambda: "x", finish=whole) == (
        "box 'a' failed: failing can't be compiled: its state has values that are not numbers."
    )


PROGRAM = """
import sys
import boxcars as bx
from boxcars.kernels.aggregates.builtin import find_function
from helped import Helped
bx.aggregate(name="helped", compile=True)(Helped)
net = bx.Network("n")
calls = net.input("calls", ts="t", fields={"t": "int"})
net.output("out", calls.aggregate(bx.tuples(2), s="helped(t)").named("a"))
print(bx.preview(net, {"calls": {"t": [1, 2]}})["out"]["s"].to_pylist())
(ready,) = find_function("helped").compute.__self__.ready.values()
print(sum(ready.loops.windows.stats.cache_hits.values()))
"""
HELPED = """
from numba import njit

@njit
def help(x):
    return x * {factor}

class Helped:
    def start():
        return 0

    def add(state, x: int):
        return state + help(x)

    def combine(a, b):
        return a + b
"""


def test_compiled_code_is_cached_until_anything_changes(tmp_path: Path) -> None:
    def once(factor: int) -> list[str]:
        (tmp_path / "helped.py").write_text(HELPED.format(factor=factor), encoding="utf-8")
        root = str(Path(bx.__file__).parent.parent)
        environment = {"PYTHONPATH": root, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert once(2) == ["[6]", "0"]
    assert once(2) == ["[6]", "1"]
    assert once(3) == ["[9]", "0"]
