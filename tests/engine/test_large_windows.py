"""Large windows in small epochs, on one and several instances: stored rows move with them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import boxcars as bx
from boxcars.engine.layout.pieces import Shape
from boxcars.kernels.state import row_log
from boxcars.kernels.windows import pane_prefixes
from tests.engine.layout.test_pieces import run_pieces, same

ROWS, KEYS, SECONDS = 3000, 9, 600
WINDOWS = {
    "time": bx.time(300, 1),
    "flushed": bx.time(300, 2, flush=True),
    "tuples": bx.tuples(120, 1),
    "value": bx.value("time", 250, 1),
    "moving": bx.time(200, 0),
}


def network() -> bx.Network:
    net = bx.Network("large-windows")
    calls = net.input("calls", ts="time", fields={"phone": "str", "time": "int", "x": "float"})
    functions = {"n": "count()", "mean": "avg(x)", "least": "min(x)", "first": "first(x)"}
    for name, window in WINDOWS.items():
        net.output(name, calls.aggregate(window, by="phone", fields=functions).named(name))
    return net


def calls() -> pl.DataFrame:
    rng = np.random.default_rng(7)
    phones = pl.Series([f"+34-{n}" for n in range(KEYS)]).gather(rng.integers(0, KEYS, ROWS))
    times = np.sort(rng.integers(0, SECONDS, ROWS))
    return pl.DataFrame({"phone": phones, "time": times, "x": rng.random(ROWS)})


def test_small_epochs_equal_one_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def counted(*given: Any) -> Any:
            called[name] += 1
            return original(*given)

        monkeypatch.setattr(owner, name, counted)

    net, data = network(), {"calls": calls()}
    expected = bx.preview(net, data)
    monkeypatch.setattr(pane_prefixes, "_MIN_ROWS", 100)
    count(pane_prefixes.SharedAggregates, "advance")
    count(row_log.Log, "take")
    shapes = [Shape(1, 16)] * 25 + [Shape(3, 16)] * 20 + [Shape(2, 16)] * 15
    got = run_pieces(net, data, tmp_path, shapes)
    assert min(called["advance"], called["take"]) > len(shapes)
    for name in net.outputs:
        assert same(got[name], expected[name].to_pylist()), name
