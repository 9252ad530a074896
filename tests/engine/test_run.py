"""Runs on Spark: the results of a preview, exactly once, after a crash at any point."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.write.folder import FolderWriter
from boxcars.engine.state.checkpoint import Checkpoint
from boxcars.engine.state.state_files import StateRef
from boxcars.engine.state.storage import LocalStorage
from tests.engine.checkpoints import edit, read
from tests.engine.test_transparency import STATEFUL, as_columns, rows
from tests.patience import PATIENCE
from tests.strategies import networks

CALLS = {"time": "int", "caller": "str", "price": "float"}


def network() -> bx.Network:
    net = bx.Network("busy")
    calls = net.input("calls", ts="time", fields=CALLS, slack=3)
    cheap, expensive = calls.filter("price < 5", otherwise=True).named("cut")
    counts = expensive.aggregate(bx.time(20, 5), by="caller", n="count()", sum="sum(price)")
    net.output("counts", counts.named("counts"))
    pairs = cheap.aggregate(bx.tuples(3, 1, timeout=9), by="caller", last="last(price)")
    net.output("pairs", pairs.named("pairs"))
    net.output("late", calls.late)
    return net


def calls(number: int = 3000) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time": [n // 10 + n * 7 % 5 for n in range(number)],
            "caller": [f"c{n * n % 37}" for n in range(number)],
            "price": [n * 31 % 97 / 10 for n in range(number)],
        }
    )


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def written(folder: Path) -> list[dict[str, Any]]:
    found = sorted(folder.glob("part-*.parquet"))
    return pl.concat([pl.read_parquet(path) for path in found]).to_dicts() if found else []


def test_a_run_equals_a_preview(spark: SparkSession, tmp_path: Path) -> None:
    net, data = network(), calls()
    expected = bx.preview(net, {"calls": data})
    sinks = {name: tmp_path / name for name in net.outputs}
    running = bx.run(net, {"calls": data}, sinks, epoch_rows=700, spark=spark)
    status = running.wait()
    assert (status.state, status.epoch, status.read) == ("finished", 5, {"calls": 3000})
    for name, table in expected.items():
        assert written(sinks[name]) == table.to_pylist()
        assert status.out[name] == table.num_rows
    assert running.stats().boxes["calls"].late == expected.stats["calls"].late


def test_open_windows_are_flushed_once_while_other_inputs_continue(
    spark: SparkSession, tmp_path: Path
) -> None:
    net = bx.Network("two")
    fields = {"t": "int", "k": "int"}
    short, long = (net.input(name, ts="t", fields=fields) for name in ("short", "long"))
    for name, window in {
        "value": bx.value("t", 3, 1, flush=True),
        "time": bx.time(3, flush=True),
        "tuples": bx.tuples(3, flush=True),
        "runs": bx.runs(flush=True),
    }.items():
        net.output(name, short.aggregate(window, by="k", n="count()"))
    net.output("long", long.filter("true"))
    sources = {"short": {"t": [0, 1], "k": [0, 0]}, "long": {"t": range(9), "k": range(9)}}
    sinks = {name: tmp_path / name for name in net.outputs}
    bx.run(net, sources, sinks, epoch_rows=2, spark=spark).wait()
    for name, table in bx.preview(net, sources).items():
        assert table.num_rows
        assert written(sinks[name]) == table.to_pylist()


@given(st.data())
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_random_networks(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    kinds = ("filter", "map", "union", "drop", "convert", "use", *STATEFUL, "aggregate")
    net = data.draw(networks(boxes=5, only=kinds, runnable=True))
    inputs = data.draw(rows(net))
    sources = {name: as_columns(net, name, inputs) for name in inputs}
    folder = tmp_path_factory.mktemp("random")
    sinks = {name: folder / f"out{number}" for number, name in enumerate(net.outputs)}
    epoch_rows = data.draw(st.integers(1, 15))
    bx.run(net, sources, sinks, epoch_rows=epoch_rows, spark=spark).wait()
    for name, table in bx.preview(net, sources).items():
        assert written(sinks[name]) == table.to_pylist()


def _note(told: threading.Event, _: bx.Status) -> None:
    told.set()


def test_a_run_resumes_where_it_was_stopped(spark: SparkSession, tmp_path: Path) -> None:
    net, data = network(), calls()
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    sinks = {name: whole / name for name in net.outputs}
    bx.run(net, {"calls": data}, sinks, epoch_rows=400, spark=spark).wait()
    sinks = {name: cut / name for name in net.outputs}
    states = []
    for _ in range(20):
        told = threading.Event()
        running = bx.run(
            net,
            {"calls": data},
            sinks,
            checkpoint=tmp_path / "check",
            epoch_rows=400,
            spark=spark,
            tell=partial(_note, told),
        )
        assert told.wait(PATIENCE)
        states.append(running.stop().state)
        if states[-1] == "finished":
            break
    assert states[-1] == "finished"
    for name in net.outputs:
        assert parts(cut / name) == parts(whole / name)


@pytest.mark.parametrize(
    ("whose", "name", "calls_before"),
    [
        (Checkpoint, "begin", 1),
        (Checkpoint, "commit", 1),
        (LocalStorage, "put", 2),
        (LocalStorage, "sync", 2),
        (LocalStorage, "swap", 3),
        (LocalStorage, "swap", 4),
        (LocalStorage, "delete", 3),
        (FolderWriter, "deliver", 1),
    ],
)
def test_an_epoch_that_breaks_off_is_repeated(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    whose: type,
    name: str,
    calls_before: int,
) -> None:
    """The run fails before, during and after a commit; the next one writes the same bytes."""
    net, data = network(), calls()
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    bx.run(net, {"calls": data}, {"counts": whole}, epoch_rows=1000, spark=spark).wait()

    def go() -> bx.Status:
        check = tmp_path / "check"
        sinks = {"counts": broken}
        return bx.run(
            net, {"calls": data}, sinks, checkpoint=check, epoch_rows=1000, spark=spark
        ).wait()

    original = getattr(whose, name)
    calls_left = [calls_before]

    def breaks(self: Any, *given: Any) -> Any:
        calls_left[0] -= 1
        if calls_left[0] < 0:
            raise RuntimeError("the disk is gone")
        return original(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(whose, name, breaks)
        with pytest.raises(RuntimeError, match="the disk is gone"):
            go()
    assert go().state == "finished"
    assert parts(broken) == parts(whole)


KILLED = """
import sys
from pathlib import Path
import boxcars as bx
from tests.engine.test_run import calls, network

folder = Path(sys.argv[1])
sinks = {name: folder / name for name in ("counts", "pairs", "late")}
tell = lambda status: print(status.epoch, flush=True)
bx.run(network(), {"calls": calls()}, sinks, checkpoint=folder / "check", epoch_rows=150,
       master="local[1]", tell=tell).wait()
print("finished", flush=True)
"""


def test_a_process_that_is_killed_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    net, data = network(), calls()
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    sinks = {name: whole / name for name in net.outputs}
    bx.run(net, {"calls": data}, sinks, epoch_rows=150, spark=spark).wait()
    seen = []
    for after in (3, 5, None):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(killed)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            start_new_session=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            seen.append(line.strip())
            if after is not None and len(seen) >= after:
                time.sleep(0.01 * after)
                os.killpg(process.pid, signal.SIGKILL)
                break
        process.wait()
        process.stdout.close()
    assert seen[-1] == "finished"
    for name in net.outputs:
        assert parts(killed / name) == parts(whole / name)


class TestMistakes:
    def test_another_network(self, spark: SparkSession, tmp_path: Path) -> None:
        data = {"calls": calls(10)}
        bx.run(network(), data, checkpoint=tmp_path, spark=spark).wait()
        other = network().replace(
            "cut", bx.box_types()["filter"].build("price < 6", otherwise=True)
        )
        with pytest.raises(bx.BoxcarsError, match="this checkpoint belongs to another network"):
            bx.run(other, data, checkpoint=tmp_path, spark=spark)

    def test_another_run_uses_the_checkpoint(self, spark: SparkSession, tmp_path: Path) -> None:
        net = bx.Network("n")
        net.output("o", net.input("i", ts="t", fields={"t": "int"}).filter("t > 0").named("f"))
        source = {"i": bx.rate(10, t="value")}
        first = bx.run(net, source, checkpoint=tmp_path, spark=spark)
        with pytest.raises(bx.BoxcarsError, match="another run is using this checkpoint"):
            bx.run(net, source, checkpoint=tmp_path, spark=spark)
        time.sleep(0.5)
        first.stop()
        leftover = tmp_path / "state" / "00000000-0001-f-0-000000000000.state"
        leftover.touch()
        bx.run(net, source, checkpoint=tmp_path, spark=spark).stop()
        assert not leftover.exists()

    def test_a_damaged_checkpoint(self, spark: SparkSession, tmp_path: Path) -> None:
        """It is a copy, because a worker that has written states still has them in memory."""
        data, first, copy = {"calls": calls(300)}, tmp_path / "first", tmp_path / "copy"
        bx.run(network(), data, checkpoint=first, epoch_rows=200, spark=spark).wait()
        shutil.copytree(first, copy)
        edit(copy, "manifest", lambda manifest: {**manifest, "final": False})
        for state in (copy / "state").iterdir():
            state.write_bytes(b"no arrow")
        with pytest.raises(bx.BoxcarsError, match="the checkpoint is damaged"):
            bx.run(network(), data, checkpoint=copy, epoch_rows=200, spark=spark).wait()

    def test_sinks_and_sources(self, spark: SparkSession, tmp_path: Path) -> None:
        data = {"calls": calls(10)}
        with pytest.raises(bx.BoxcarsError, match="out.txt: expected a file name ending"):
            bx.run(network(), data, {"counts": "out.txt"}, spark=spark)
        with pytest.raises(
            bx.BoxcarsError, match="there is no output 'count'. Did you mean 'count"
        ):
            bx.run(network(), data, {"count": "out"}, spark=spark)
        with pytest.raises(bx.BoxcarsError, match="there is no input 'call'. Did you mean 'calls'"):
            bx.run(network(), {"call": calls(10)}, spark=spark)
        with pytest.raises(bx.BoxcarsError, match="input 'calls' has no source"):
            bx.run(network(), {}, spark=spark)
        with pytest.raises(bx.BoxcarsError, match="epochs of at least one row, got 0"):
            bx.run(network(), data, epoch_rows=0, spark=spark)

    def test_code_that_is_not_there(self, spark: SparkSession) -> None:
        net = bx.Network("n")
        stream = net.input("i", ts="t", fields={"t": "int"})
        net.output("o", stream.apply("no.such.module:work").named("mine"))
        with pytest.raises(bx.BoxcarsError, match="box 'mine': there is no function 'no.such"):
            bx.run(net, {"i": {"t": [1]}}, spark=spark)

    def test_records_that_are_no_tuples(self, spark: SparkSession, tmp_path: Path) -> None:
        file = tmp_path / "calls.csv"
        file.write_text("time,caller,price\n1,ann,x\n2,bob,3.5\n")
        (tmp_path / "none.csv").write_text("time,caller,price\nx,ann,1\n")
        running = bx.run(network(), {"calls": tmp_path}, checkpoint=tmp_path / "check", spark=spark)
        running.wait()
        box = running.stats().boxes["calls"]
        assert (box.tuples_in, box.tuples_out, box.late, box.dead) == (1, 1, 0, 2)
        (part,) = (tmp_path / "check/dead").iterdir()
        assert pl.read_parquet(part)["source"].to_list() == ["calls", "calls"]


def test_unneeded_files_are_removed(spark: SparkSession, tmp_path: Path) -> None:
    bx.run(network(), {"calls": calls()}, checkpoint=tmp_path, epoch_rows=100, spark=spark).wait()
    manifests = read(tmp_path, "manifest")
    assert [manifest["epoch"] for manifest in manifests] == [29, 30]
    needed = {StateRef.of(ref).file for manifest in manifests for ref in manifest["state"]}
    assert {f"state/{path.name}" for path in (tmp_path / "state").iterdir()} == needed
