"""The network of Linear Road, validated: in process, on Spark, and in real time."""

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession
from rich.console import Console
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app as command
from boxcars.linear_road.command import judge_drive, read_time, search
from boxcars.linear_road.expenditure import write_tolls
from boxcars.linear_road.facts import ANSWERS, SEGMENTS
from boxcars.linear_road.history import write_travel_history
from boxcars.linear_road.network import build
from boxcars.linear_road.past import Seeded
from boxcars.linear_road.report import Report
from boxcars.linear_road.run import Drive
from boxcars.linear_road.traffic import generate
from boxcars.linear_road.validator import validate

SEED = 3
TABLES = {"segments": {"segment": list(range(2 * SEGMENTS))}}


@pytest.fixture(scope="module")
def frames() -> list[pl.DataFrame]:
    """One expressway with quickly growing traffic, and accidents."""
    return list(generate(1, SEED, stop=900, step=60, density=12))


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> bx.Network:
    folder = tmp_path_factory.mktemp("past")
    write_travel_history(folder / "past.npy", 1, SEED)
    write_tolls(folder / "tolls.npy", 1, SEED)
    return build(str(folder / "past.npy"), str(folder / "tolls.npy"))


def judged(frames: list[pl.DataFrame], given: Any) -> Report:
    answers = {
        kind: pl.DataFrame(given[kind]).with_columns(emit=pl.col("time") + 1.0).lazy()
        for kind in ANSWERS
    }
    return validate(frames, answers, Seeded(1, SEED))


def test_all_answers_are_right(frames: list[pl.DataFrame], net: bx.Network) -> None:
    result = bx.preview(net, {"road": pl.concat(frames)}, trains=7, tables=TABLES)
    report = judged(frames, result)
    assert report.valid, str(report)
    tolls = pl.DataFrame(result["tolls"])
    assert tolls.filter(pl.col("toll") > 0).height > 1_000, "there is congestion"
    assert result["accidents"].num_rows > 100
    assert max(result["balances"]["balance"].to_pylist()) > 0
    assert all(table.num_rows for table in result.values())


def test_on_spark_in_three_places(
    frames: list[pl.DataFrame], net: bx.Network, spark: SparkSession, tmp_path: Path
) -> None:
    road, sinks = pl.concat(frames[:8]), {kind: tmp_path / kind for kind in ANSWERS}
    bx.run(
        net, {"road": road}, sinks, tables=TABLES, epoch_rows=70_000, instances=3, spark=spark
    ).wait()
    expected = bx.preview(net, {"road": road}, tables=TABLES)
    for kind, folder in sinks.items():
        found = pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("part-*"))])
        assert found.equals(pl.DataFrame(expected[kind])), kind


@pytest.mark.usefixtures("spark")
def test_a_drive(tmp_path: Path) -> None:
    """Fast-forward, then real time; the answers are correct, in time, and stored."""
    paper = io.StringIO()
    drive = Drive(0.5, seed=2, start=90, stop=110, speed=10)
    report = judge_drive(drive, Console(file=paper, width=120), tmp_path / "kept")
    assert not any(found.wrong or found.missing for found in report.kinds.values()), str(report)
    assert "fast-forward to 0:01:30, until 0:01:50 at 10 times real time" in paper.getvalue()
    assert list((tmp_path / "kept/answers/tolls").glob("part-*.parquet"))


def test_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """It doubles, then bisects, and ends at the largest valid number."""
    tried: list[float] = []

    class Judged:
        def __init__(self, valid: bool) -> None:
            self.valid = valid

    def judge(drive: Drive, _: Console) -> Judged:
        tried.append(drive.expressways)
        return Judged(drive.expressways <= 5.5)

    monkeypatch.setattr("boxcars.linear_road.command.judge_drive", judge)
    paper = io.StringIO()
    assert search(Drive(1), Console(file=paper))
    assert tried == [1, 2, 4, 8, 6, 5, 5.5]
    assert "expressways: 5.5" in paper.getvalue()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "3:30"], "expected 0:00 <= --from < --to <= 3:00"),
        (["--from", "soon"], "expected a time such as 2:45, got 'soon'"),
        (["--expressways", "1.3"], "multiple of 0.5"),
    ],
)
def test_mistakes(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(command, ["linear-road", *arguments])
    assert words in str(result.exception)


def test_times() -> None:
    assert (read_time("2:45"), read_time("0:10:30")) == (9_900, 630)
