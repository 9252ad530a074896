"""``boxcars apps``: the list, a run with its summary, and a run at a fixed rate."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

import boxcars as bx
from boxcars.apps import App, Feed, apps
from boxcars.apps.app import Chunk
from boxcars.apps.high_mobility import APP
from boxcars.apps.inject import injector_of
from boxcars.apps.show import Outcome, run_app, summary
from boxcars.apps.watch import Reports, Watch
from boxcars.cli import app as command

runner = CliRunner()


def shown(app: App, folder: Path, rows: int, rate: float | None = None) -> tuple[Outcome, str]:
    paper = io.StringIO()
    console = Console(file=paper, width=100)
    return run_app(app, folder, console, rows=rows, rate=rate), paper.getvalue()


def test_the_list() -> None:
    result = runner.invoke(command, ["apps"])
    assert result.exit_code == 0
    assert [name for name in apps() if name not in result.output] == []


@pytest.mark.usefixtures("spark")
def test_a_run(tmp_path: Path) -> None:
    out = tmp_path / "kept"
    result = runner.invoke(command, ["apps", "high-mobility", "--rows", "20000", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "1 of 1 planted cases found, 0 missed, 0 false" in " ".join(result.output.split())
    net = bx.load(out / "high-mobility.yaml")
    again = bx.preview(net, {"calls": out / "in/calls"})["clones"]
    kept = pl.read_parquet(out / "out/clones/part-*.parquet")
    assert pl.DataFrame(again).equals(kept)

    result = runner.invoke(command, ["apps", "high-mobility", "--out", str(out)])
    assert "the folder is not empty" in str(result.exception)


@pytest.mark.usefixtures("spark")
def test_at_a_rate(tmp_path: Path) -> None:
    outcome, text = shown(APP, tmp_path, 4_000, rate=4_000)
    assert outcome.right
    assert len(list((tmp_path / "in/calls").glob("*.parquet"))) >= 4
    assert outcome.status.read == {"calls": 4_000}
    assert "clones: 1 of 1 planted cases found" in text


@pytest.mark.usefixtures("spark")
def test_missed_and_false_cases_are_reported(tmp_path: Path) -> None:
    """A case that does not exist, and a report that is not a case."""

    def feed(rows: int, seed: int) -> Feed:
        made = APP.feed(rows, seed)
        return replace(made, planted={"clones": pl.DataFrame({"phone": ["nobody"]})})

    outcome, text = shown(replace(APP, feed=feed), tmp_path, 5_000)
    assert not outcome.right
    assert "0 of 1 planted cases found, 1 missed, 1 false" in text
    assert "missed: {'phone': 'nobody'}" in text


@pytest.mark.usefixtures("spark")
def test_a_generator_that_fails(tmp_path: Path) -> None:
    def feed(rows: int, seed: int) -> Feed:
        def chunks() -> Iterator[Chunk]:
            yield next(APP.feed(rows, seed).chunks)
            raise ValueError("no more")

        return Feed(chunks(), APP.feed(rows, seed).planted)

    with pytest.raises(ValueError, match="no more"):
        shown(replace(APP, feed=feed), tmp_path, 1_000, rate=2_000)


def test_the_view() -> None:
    paper = io.StringIO()
    watch = Watch(APP, 100, {"clones": Reports(Path("nowhere"))})
    assert watch.headline() == "Spark is starting ..."
    watch.update(1, 50, bx.RunStats())
    Console(file=paper, width=100).print(watch.view())
    assert "epoch 1: 50 of 100 calls" in paper.getvalue()
    assert "clones: nothing yet" in paper.getvalue()


def test_the_injector(tmp_path: Path) -> None:
    """Inputs in parallel, atomic files, and at the end the marker that the folder is complete."""
    chunk: Chunk = {"a": pl.DataFrame({"t": range(70_000)}), "b": pl.DataFrame({"t": range(7)})}
    folders = {name: tmp_path / name for name in chunk}
    injector = injector_of(Feed(iter([chunk]), {}), folders)
    written: list[int] = []
    injector.inject(written.append)
    assert written == [35_003, 70_007]
    for name, folder in folders.items():
        assert pl.read_parquet(folder / "*.parquet").equals(chunk[name])
        assert {path.name[0] for path in folder.iterdir()} == {"0", "_"}


def test_a_summary_of_a_run_that_was_stopped() -> None:
    status = bx.Status("stopped", 3, {"a": 10}, {}, 2.0)
    stats = bx.RunStats(outputs={})
    panel = summary(APP, Outcome({}, status, stats))
    assert "5 per second" in str(panel.renderable)
    assert "stopped before the end" in str(panel.renderable)
