"""The utility of the reports of battalion monitoring, measured during a run."""

from collections.abc import Sequence
from itertools import pairwise

import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.apps.battalion import UTILITY, build, feed


def utility_of(graph: Sequence[Sequence[float]], x: float) -> float:
    """Interpolate a QoS graph; outside it, the utility of the nearest point."""
    if x <= graph[0][0]:
        return graph[0][1]
    for (x1, u1), (x2, u2) in pairwise(graph):
        if x <= x2:
            return u1 + (u2 - u1) * (x - x1) / (x2 - x1)
    return graph[-1][1]


def test_utilities(spark: SparkSession) -> None:
    chunks = list(feed(30_000, 3).chunks)
    data = {name: pl.concat([chunk[name] for chunk in chunks]) for name in ("north", "south")}
    preview = bx.preview(build(), data)
    running = bx.run(build(), data, epoch_rows=9_000, instances=2, spark=spark)
    running.wait()
    outputs = running.stats().outputs
    assert set(outputs) == set(UTILITY)
    for name, graph in UTILITY.items():
        values = [utility_of(graph, x) for x in preview[name]["x"].to_pylist()]
        assert outputs[name].utility == pytest.approx(sum(values) / len(values)), name
    across, tanks = (outputs[name].utility or 0 for name in ("across-the-line", "enemy-tanks"))
    assert across > tanks > 0
