"""Every network in tests/networks has the same results in process, in pieces and on Spark."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.exec import spark_job
from boxcars.engine.layout.pieces import Shape, lay_out
from boxcars.model.flatten import flatten
from boxcars.model.network import Network
from boxcars.model.serialize import network_to_plain
from boxcars.plan.partial_aggregation import split_boxes
from tests.engine.layout.test_pieces import FEW, run_pieces, same, written
from tests.network_oracle import NetworkOracle
from tests.oracle import Sample

NETWORKS = sorted((Path(__file__).parent.parent / "networks").glob("*.yaml"))
LAYOUTS = [
    [Shape(3, 16)],
    [Shape(3, 16)] * 4,
    [Shape(4, 64, "operator-cloud")] * 2,
    [
        Shape(2, 64),
        Shape(3, 64),
        Shape(5, 6),
        Shape(1, 1),
        Shape(4, 36),
        Shape(1, 64, "query-cloud"),
    ],
]


def crowd(net: Network, number: int = 150, at_once: int = 6) -> dict[str, pl.DataFrame]:
    """Many tuples with few values in every input, some out of order."""
    chance, data = random.Random(net.name), {}
    for name, entity in net.inputs.items():
        rows = [
            {"t": n // at_once + chance.choice([-1, 0, 0, 0, 1])}
            | {f: chance.choice(FEW[t.value]) for f, t in entity.fields.items() if f != "t"}
            for n in range(number)
        ]
        data[name] = pl.DataFrame(rows, schema=entity.schema.dtypes, orient="row")
    return data


@pytest.mark.parametrize("at_once", [6, 2])
@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_beside_the_oracle(path: Path, at_once: int) -> None:
    """With few tuples at a time windows are small: a NaN in each would hide the other values."""
    net = bx.load(path, code=True)
    data = crowd(net, at_once=at_once)
    rows = {name: frame.to_dicts() for name, frame in data.items()}
    expected = NetworkOracle(network_to_plain(net), rows).run()
    result = bx.preview(net, data, trains=4)
    assert result.keys() == expected.keys()
    assert all(expected.values()), "every output has something to compare"
    for output, table in result.items():
        assert agrees(table.to_pylist(), expected[output]), output


def agrees(got: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    return expected.fits(got) if isinstance(expected, Sample) else same(got, expected)


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_in_pieces(path: Path, tmp_path: Path) -> None:
    net = bx.load(path, code=True)
    data = crowd(net)
    expected = {name: table.to_pylist() for name, table in bx.preview(net, data).items()}
    assert all(expected.values()), "every output has something to compare"
    for number, shapes in enumerate(LAYOUTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        got = run_pieces(net, data, folder, shapes)
        for name, rows in expected.items():
            assert same(got[name], rows), (shapes, name)


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_regrouped(path: Path, tmp_path: Path) -> None:
    """For any boxes that run together, even if they change from one epoch to the next."""
    net = flatten(bx.load(path, code=True)).network
    data, chance = crowd(net), random.Random(path.stem)
    expected = {name: table.to_pylist() for name, table in bx.preview(net, data).items()}
    groups = {name: chance.choice(["", "one", "two"]) for name in net.boxes}
    boxes = {name: replace(node, group=groups[name]) for name, node in net.boxes.items()}
    regrouped = net.with_boxes(boxes)
    shapes = [Shape(3, 16, grouped=True), Shape(2, 16), Shape(3, 16, "operator-cloud", True)]
    subqueries = lay_out(split_boxes(regrouped.check()), shapes[0]).plan.subqueries
    split = [subquery.name for subquery in subqueries if not subquery.one_piece_reason]
    apart = tuple((name, chance.choice([1, 4])) for name in split)
    got = run_pieces(regrouped, data, tmp_path, [*shapes, Shape(2, 16, grouped=True, apart=apart)])
    for name, rows in expected.items():
        assert same(got[name], rows), (groups, name)


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.stem)
def test_on_spark_killed_half_way_and_finished_with_more_instances(
    path: Path, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every level is a shuffle here, even for few rows."""
    monkeypatch.setattr(spark_job, "worth_a_shuffle", lambda *_: True)
    net = bx.load(path, code=True)
    data = crowd(net)
    sinks: dict[str, Any] = {name: tmp_path / f"out{n}" for n, name in enumerate(net.outputs)}
    sources = {
        name: bx.script([*rows[:75].to_dicts(), bx.ABORT, *rows[75:].to_dicts()])
        for name, rows in data.items()
    }
    for instances in (2, 3, 3):
        running = bx.run(
            net,
            sources,
            sinks,
            checkpoint=tmp_path / "check",
            epoch_rows=75,
            instances=instances,
            spark=spark,
        )
        try:
            state = running.wait().state
            break
        except bx.Aborted:
            continue
    assert state == "finished"
    for name, table in bx.preview(net, data).items():
        assert same(written(sinks[name]), table.to_pylist())
