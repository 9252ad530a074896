"""A running network changes the number of its instances between two epochs; the output does not."""

from collections.abc import Mapping
from pathlib import Path
from threading import Event

import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.state.checkpoint import Checkpoint
from tests.engine.checkpoints import go_back, read

ROWS = 3000


def network() -> bx.Network:
    net = bx.Network("resized")
    calls = net.input("calls", ts="t", fields={"t": "int", "who": "str", "price": "float"})
    sums = calls.aggregate(bx.time(20, advance=5), by="who", n="count()", p="sum(price)")
    net.output("sums", sums.named("sums"))
    net.output("pairs", calls.aggregate(bx.tuples(3, advance=1), by="who", a="first(price)"))
    return net


def calls() -> pl.DataFrame:
    numbers = range(ROWS)
    return pl.DataFrame(
        {
            "t": [n // 10 for n in numbers],
            "who": [f"k{n * 7 % 41}" for n in numbers],
            "price": [n % 13 / 4 for n in numbers],
        }
    )


class Resizing:
    """Runs the network, and resizes it after given epochs."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.running: bx.Run | None = None

    def go(
        self, sizes: Mapping[int, int], instances: int | None = 2, stop: int | None = None
    ) -> bx.Run:
        def tell(status: bx.Status) -> None:
            started.wait()
            assert self.running is not None
            if status.epoch in sizes:
                self.running.resize("sums", sizes[status.epoch])
            if status.epoch == stop:
                self.running.stop()

        started = Event()
        self.running = bx.run(
            network(),
            {"calls": calls()},
            {name: self.folder / name for name in ("sums", "pairs")},
            checkpoint=self.folder / "check",
            epoch_rows=250,
            instances=instances,
            spark=self.spark,
            tell=tell,
        )
        started.set()
        self.running.wait()
        return self.running

    def parts(self) -> dict[str, bytes]:
        found = [*(self.folder / "sums").iterdir(), *(self.folder / "pairs").iterdir()]
        return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def expected(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    plain = Resizing(spark, tmp_path_factory.mktemp("plain"))
    plain.go({}, instances=1)
    return plain.parts()


def test_the_output_is_the_same(
    spark: SparkSession, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    resizing = Resizing(spark, tmp_path)
    run = resizing.go({1: 5, 2: 1, 4: 3, 7: 2, 8: 7})
    assert resizing.parts() == expected
    assert run.instances["sums"] == 7
    (head,) = read(tmp_path / "check")
    assert head["done"]["shape"]["apart"] == [["sums", 7]]
    assert len(run.stats().boxes["sums"].pieces) == 7


def test_a_resize_is_in_the_plan_and_repeated(
    spark: SparkSession, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    """The epoch of a resize is replayed by another process, which is started with other sizes."""
    resizing = Resizing(spark, tmp_path)
    resizing.go({3: 4}, stop=4)
    (head,) = read(tmp_path / "check")
    (decision,) = head["done"]["decisions"]
    assert (decision["subquery"], decision["instances"], decision["by"]) == ("sums", 4, "user")
    go_back(tmp_path / "check")
    resizing.go({}, instances=3)
    assert resizing.parts() == expected


def test_a_resize_is_remembered_by_a_restart(
    spark: SparkSession, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    """Unless the restart asks for other numbers."""
    resizing = Resizing(spark, tmp_path)
    resizing.go({1: 5}, stop=3)
    assert resizing.go({}, instances=None, stop=5).instances["sums"] == 5
    assert resizing.go({}, instances=3).instances["sums"] == 3
    assert resizing.parts() == expected


def test_what_can_not_be(spark: SparkSession) -> None:
    net = network()
    run = bx.run(net, {"calls": bx.rate(5, t="value", who="'a'", price="0.5")}, spark=spark)
    for name, number, words in (
        ("sum", 2, r"there is no subquery 'sum'. Did you mean 'sums'"),
        ("sums", 0, "expected at least one instance, got 0"),
        ("sums", 65, "can't have 65 instances: it has 64 buckets"),
        ("calls", 2, "calls"),
    ):
        with pytest.raises(bx.BoxcarsError, match=words):
            run.resize(name, number)
    run.stop()


def test_a_checkpoint_is_one_file_for_each_piece_and_epoch(
    spark: SparkSession, tmp_path: Path
) -> None:
    Resizing(spark, tmp_path).go({}, instances=2)
    last = Checkpoint.at(tmp_path / "check").last()
    assert last is not None
    written = {ref.file for ref in last.state if f"/{last.epoch:08d}-" in ref.file}
    pieces = {(ref.subquery, ref.instance) for ref in last.state}
    assert len(written) <= len(pieces) == 5
