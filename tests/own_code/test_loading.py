"""Code that changes while workers stay alive: each run has the code it was started with."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx


def run(spark: SparkSession, expression: str, **boxes: Any) -> list[int]:
    """The result of a map, and optionally an apply after it, for two rows."""
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int"})
    found = rows.map(t="t", y=expression)
    for work in boxes.values():
        found = found.apply(work)
    net.output("out", found)
    tables: list[Any] = []
    sink = bx.callback(lambda table, _: tables.append(table))
    bx.run(net, {"rows": {"t": [1, 2]}}, {"out": sink}, spark=spark).wait()
    return [row["y"] for table in tables for row in table.to_pylist()]


def test_a_redefined_function(spark: SparkSession) -> None:
    for factor in (2, 3, 2):

        @bx.function
        def times_something(x, factor=factor):
            return x * factor

        assert run(spark, "times_something(t)") == [factor, 2 * factor]


def test_lambdas_are_distinguished(spark: SparkSession) -> None:
    more = [lambda train, n=n: train.with_columns(pl.col("y") + n) for n in (10, 20)]
    assert run(spark, "t", first=more[0], second=more[1]) == [31, 32]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it is edited within a second
    yield tmp_path / "module_of_mine.py"
    sys.modules.pop("module_of_mine", None)


def test_a_module_that_was_edited(spark: SparkSession, module: Path) -> None:
    for factor in (2, 5):
        text = "import boxcars as bx\nN = {0}\n@bx.function\ndef by_module(x):\n    return x * N\n"
        module.write_text(text.replace("{0}", str(factor)))
        sys.modules.pop("module_of_mine", None)
        __import__("module_of_mine")
        assert run(spark, "by_module(t)") == [factor, 2 * factor]


def test_what_a_module_raises_on_a_worker(spark: SparkSession, module: Path) -> None:
    module.write_text(
        "import os\n"
        "if 'PYTEST_VERSION' not in os.environ or __file__.find('boxcars-code') >= 0:\n"
        "    raise ValueError('not here')\n"
        "def same(train):\n    return train\n"
    )
    __import__("module_of_mine")
    with pytest.raises(
        bx.BoxcarsError, match="a Spark worker can't load your code: ValueError: not here"
    ):
        run(spark, "t", box="module_of_mine:same")
