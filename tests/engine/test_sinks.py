"""Sinks of runs: each epoch is delivered once, despite crashes and restarts."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app
from boxcars.connectors.files import SUFFIXES, read_input, replacing
from boxcars.connectors.write.writers import CallbackWriter
from boxcars.engine.state.checkpoint import Checkpoint

FIELDS = {"t": "int", "who": "str"}
ROWS = [{"t": n, "who": f"w{n % 3}"} for n in range(20)]


def network() -> bx.Network:
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields=FIELDS)
    net.output("all", rows)
    net.output("none", rows.filter("t < 0").named("none"))
    return net


@pytest.fixture
def options(spark: SparkSession, tmp_path: Path) -> dict[str, Any]:
    return {"checkpoint": tmp_path / "check", "epoch_rows": 6, "spark": spark}


def staged(folder: Path) -> list[str]:
    return [path.name for path in (folder / "check/outputs").rglob("part-*")]


class TestOneFile:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_it_appears_at_the_end(
        self, options: dict[str, Any], tmp_path: Path, suffix: str
    ) -> None:
        sinks = {name: tmp_path / f"{name}{suffix}" for name in ("all", "none")}
        source = {"rows": bx.script([*ROWS[:10], bx.EOF, *ROWS[10:]])}
        assert bx.run(network(), source, sinks, **options).wait().state == "stopped"
        assert not sinks["all"].exists()
        assert bx.run(network(), source, sinks, **options).wait().state == "finished"
        entity = network().inputs["rows"]
        assert read_input(sinks["all"], entity).tuples.to_dicts() == ROWS
        assert read_input(sinks["none"], entity).tuples.is_empty()
        assert staged(tmp_path) == []

    def test_a_crash_after_the_last_epoch(self, options: dict[str, Any], tmp_path: Path) -> None:
        sinks = {"all": tmp_path / "such.csv"}

        def in_the_way(_: bx.Status) -> None:
            sinks["all"].mkdir(exist_ok=True)

        with pytest.raises(bx.BoxcarsError, match="output 'all': .*such.csv: can't be written"):
            bx.run(network(), {"rows": ROWS}, sinks, tell=in_the_way, **options).wait()
        sinks["all"].rmdir()
        assert bx.run(network(), {"rows": ROWS}, sinks, **options).wait().state == "finished"
        assert pl.read_csv(sinks["all"]).to_dicts() == ROWS

    def test_a_folder_that_can_not_be(self, tmp_path: Path) -> None:
        (tmp_path / "no").write_text("a file")
        for sink in ("no/such.csv", "no/parts/"):
            with pytest.raises(
                bx.BoxcarsError, match=r"output 'all': .*no/\w+.*: can't be written"
            ):
                bx.run(network(), {"rows": ROWS}, {"all": f"{tmp_path}/{sink}"})

    def test_an_input_that_never_ends(self, spark: SparkSession, tmp_path: Path) -> None:
        source = {"rows": bx.rate(1, t="value", who="'x'")}
        with pytest.raises(bx.BoxcarsError, match="output 'all': input 'rows' is unbounded, so"):
            bx.run(network(), source, {"all": tmp_path / "a.csv"}, spark=spark)


def test_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    sinks = {"all": bx.files(f"{tmp_path}/out/")}
    bx.run(network(), {"rows": ROWS}, sinks, epoch_rows=15, spark=spark).wait()
    names = ["part-00000001.parquet", "part-00000002.parquet"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names


def test_parts_of_another_run_in_a_folder(
    spark: SparkSession, options: dict[str, Any], tmp_path: Path
) -> None:
    """A new run does not mix with them; a resumed run has its own parts there."""
    sinks = {"all": tmp_path / "out"}
    source = {"rows": bx.script([*ROWS[:10], bx.ABORT, *ROWS[10:]])}
    with pytest.raises(bx.Aborted):
        bx.run(network(), source, sinks, **options).wait()
    bx.run(network(), source, sinks, **options).wait()
    assert pl.read_parquet(tmp_path / "out/*.parquet").height == len(ROWS)
    words = "output 'all': .*/out has parts of another run: use another folder, or remove"
    for checkpoint in (None, tmp_path / "other"):
        with pytest.raises(bx.BoxcarsError, match=words):
            bx.run(network(), {"rows": ROWS}, sinks, checkpoint=checkpoint, spark=spark)


def test_another_sink_than_before(options: dict[str, Any], tmp_path: Path) -> None:
    """Rows that wait for their file are not left behind."""
    source = {"rows": bx.script([*ROWS[:10], bx.EOF, *ROWS[10:]])}
    file = tmp_path / "all.csv"
    bx.run(network(), source, {"all": file}, **options).wait()
    with pytest.raises(bx.BoxcarsError, match=r"'all': the results so far are for .*all\.csv"):
        bx.run(network(), source, {"all": tmp_path / "out"}, **options)
    bx.run(network(), source, {"all": file}, **options).wait()
    assert pl.read_csv(file).height == len(ROWS)


def test_leftovers_of_a_killed_worker(spark: SparkSession, tmp_path: Path) -> None:
    """Readers of all files of a folder do not see it, and the next run removes it."""
    part = tmp_path / "out" / "part-00000001.parquet"
    part.parent.mkdir()
    with replacing(part) as new:
        new.with_name(new.name.replace(new.stem[-8:], "01234567")).touch()
        new.touch()
    part.unlink()
    assert [path.suffix for path in part.parent.iterdir()] == [".tmp"]
    bx.run(network(), {"rows": ROWS}, {"all": f"{tmp_path}/out/"}, spark=spark).wait()
    assert [path.name for path in part.parent.iterdir()] == [part.name]


class TestFunctions:
    def test_once_for_each_epoch(self, options: dict[str, Any], tmp_path: Path) -> None:
        """Over a crash and a restart, and only for epochs that have rows."""
        tables: list[tuple[int, list[Any]]] = []
        frames: list[tuple[int, list[Any]]] = []

        def take_table(table: pa.Table, epoch: int) -> None:
            tables.append((epoch, table.to_pylist()))

        def take_frame(frame: DataFrame, epoch: int) -> None:
            frames.append((epoch, [row.asDict() for row in frame.collect()]))

        net = network()
        net.output("again", net.stream("rows"))
        sinks = {"all": bx.callback(take_table), "again": take_frame, "none": take_frame}
        script: list[Any] = [
            *ROWS[:3],
            bx.PAUSE,
            *ROWS[3:8],
            bx.ABORT,
            *ROWS[8:12],
            bx.EOF,
            *ROWS[12:],
        ]
        source = {"rows": bx.script(script)}
        with pytest.raises(bx.Aborted):
            bx.run(net, source, sinks, **options).wait()
        assert [epoch for epoch, _ in tables] == [1]
        states = [bx.run(net, source, sinks, **options).wait().state for _ in range(3)]
        assert states == ["stopped", "finished", "finished"]
        assert tables == frames
        assert [epoch for epoch, _ in tables] == [1, 2, 3, 4, 5]
        assert [row for _, rows in tables for row in rows] == ROWS
        assert staged(tmp_path) == []

    @pytest.mark.parametrize("damage", ["99", "", "3 00000000"])
    def test_a_damaged_ledger_skips_nothing(
        self, options: dict[str, Any], tmp_path: Path, damage: str
    ) -> None:
        sinks = {"all": bx.callback(lambda *_: None)}
        source = {"rows": bx.script([*ROWS[:10], bx.EOF, *ROWS[10:]])}
        bx.run(network(), source, sinks, **options).wait()
        (ledger,) = (tmp_path / "check/outputs").rglob("delivered")
        ledger.write_text(damage)
        with pytest.raises(bx.BoxcarsError, match="output 'all': .*(is damaged|was delivered)"):
            bx.run(network(), source, sinks, **options).wait()

    @pytest.mark.parametrize(
        ("whose", "name"), [(Checkpoint, "commit"), (CallbackWriter, "deliver")], ids=str
    )
    def test_a_crash_around_the_commit(
        self,
        options: dict[str, Any],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        whose: type,
        name: str,
    ) -> None:
        """Nothing is delivered before it is committed, and what is committed is delivered."""
        calls: list[int] = []
        sinks = {"all": bx.callback(lambda _, epoch: calls.append(epoch))}

        def breaks(*_: Any) -> None:
            raise RuntimeError("the disk is gone")

        with monkeypatch.context() as patch:
            patch.setattr(whose, name, breaks)
            with pytest.raises(RuntimeError, match="the disk is gone"):
                bx.run(network(), {"rows": ROWS}, sinks, **options).wait()
        assert calls == []
        bx.run(network(), {"rows": ROWS}, sinks, **options).wait()
        assert calls == [1, 2, 3, 4]
        assert staged(tmp_path) == []

    def test_one_that_fails(self, options: dict[str, Any]) -> None:
        seen: list[int] = []

        def fails(table: pa.Table, epoch: int) -> None:
            if epoch == 2 and not mended:
                raise ValueError("the shop is closed\nuntil Monday")
            seen.extend(table["t"].to_pylist())

        mended = False
        sinks = {"all": bx.callback(fails)}
        words = "^output 'all': the sink failed in epoch 2: ValueError: the shop is closed$"
        with pytest.raises(bx.BoxcarsError, match=words):
            bx.run(network(), {"rows": ROWS}, sinks, **options).wait()
        mended = True
        assert bx.run(network(), {"rows": ROWS}, sinks, **options).wait().state == "finished"
        assert seen == list(range(20))


def test_the_console(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bx.run(network(), {"rows": ROWS}, {"all": "-", "none": bx.console()}, spark=spark).wait()
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == ROWS
    many = [{"t": n, "who": "[/red]"} for n in range(150)]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    bx.run(network(), {"rows": many}, {"all": bx.console()}, spark=spark).wait()
    out = capsys.readouterr().out
    assert "all" in out
    assert "[/red]" in out
    assert "... and 50 more" in out


def test_a_run_without_a_checkpoint_leaves_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    sinks = {"all": tmp_path / "all.csv", "none": lambda *_: None}
    bx.run(network(), {"rows": ROWS}, sinks, spark=spark).wait()
    assert len(pl.read_csv(tmp_path / "all.csv")) == 20
    with pytest.raises(bx.Aborted):
        bx.run(network(), {"rows": bx.script([bx.ABORT])}, spark=spark).wait()
    with pytest.raises(bx.BoxcarsError, match="there is no such file"):
        bx.run(network(), {"rows": "no.csv"}, spark=spark)
    assert list((tmp_path / "temporary").glob("boxcars-*")) == []


def test_mistakes(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for sink, words in {
        "out.txt": "expected a file name ending in .parquet",
        "kfaka://x": "output 'all': there is no connector 'kfaka://'",
        5: "output 'all': expected a path, a URL, bx.files, .* got 5",
        bx.files("out/", follow=True): "a sink can't be followed",
        f"{tmp_path}/file/": "expected a folder, got a file",
    }.items():
        with pytest.raises(bx.BoxcarsError, match=words):
            bx.run(network(), {"rows": ROWS}, {"all": sink}, spark=spark)
    with pytest.raises(bx.BoxcarsError, match="expected a function of a table and an epoch, got 5"):
        bx.callback(5)  # type: ignore[arg-type]
    sinks = {"all": tmp_path / "out", "none": f"{tmp_path}/out/"}
    with pytest.raises(
        bx.BoxcarsError, match="output 'none': .*: another output already writes there"
    ):
        bx.run(network(), {"rows": ROWS}, sinks, spark=spark)


class TestCommandLine:
    def test_to_the_end(self, spark: SparkSession, tmp_path: Path) -> None:
        bx.save(network(), tmp_path / "net.yaml")
        source = ["--source", "rows=rate://?rows=4&t=value&who='x'"]
        sinks = ["--sink", "all=-", "--sink", f"none={tmp_path}/none.csv"]
        done = CliRunner().invoke(app, ["run", str(tmp_path / "net.yaml"), *source, *sinks])
        assert (done.exit_code, done.stderr) == (0, "")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert rows == [{"t": n, "who": "x"} for n in range(4)]
        assert (tmp_path / "none.csv").read_text() == "t,who\n"
        done = CliRunner().invoke(app, ["run", str(tmp_path / "net.yaml"), *source])
        assert done.stdout == "all: 4 tuples\nnone: 0 tuples\n"

    def test_ctrl_c_that_reaches_another_thread(self, spark: SparkSession, tmp_path: Path) -> None:
        """The system delivers a signal to any thread; the waiting one wakes up."""
        (tmp_path / "in").mkdir()
        running = bx.run(network(), {"rows": bx.files(tmp_path / "in", follow=True)}, spark=spark)
        send = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        give_up = threading.Timer(20, running.stop)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            send.start()
            give_up.start()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            with pytest.raises(KeyboardInterrupt):
                running.wait()
            assert running.status().state in ("running", "waiting")
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            signal.signal(signal.SIGINT, before)
            give_up.cancel()
            running.stop()

    def test_ctrl_c(self, tmp_path: Path) -> None:
        """Like a terminal: all processes of the group get the signal."""
        bx.save(network(), tmp_path / "net.yaml")
        (tmp_path / "in").mkdir()
        (tmp_path / "in/a.csv").write_text("t,who\n" + "".join(f"{n},x\n" for n in range(500)))
        where = ["--source", f"rows={tmp_path}/in/", "--sink", "all=-", "--follow"]
        more = ["--epoch-rows", "5", "--checkpoint", f"{tmp_path}/check", "--master", "local[1]"]
        with subprocess.Popen(
            [sys.executable, "-m", "boxcars.cli", "run", f"{tmp_path}/net.yaml", *where, *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            first = process.stdout.readline()
            os.killpg(process.pid, signal.SIGINT)
            out, err = first + process.stdout.read(), process.stderr.read()
        assert "stopping after this epoch" in err
        assert "; run it again to resume" in err
        assert process.returncode == 0
        times = [json.loads(line)["t"] for line in out.splitlines()]
        assert times == list(range(len(times)))
        last = Checkpoint.at(tmp_path / "check").last()
        assert last is not None
        assert last.places["rows"].position == len(times) + 1
