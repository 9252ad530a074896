"""Sources of runs: every row is read once and in order, despite crashes and restarts."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.files import SUFFIXES, write_table
from boxcars.connectors.read.base import Offset
from boxcars.connectors.read.file_reader import FileLog, FollowedFiles, ListedFiles
from boxcars.connectors.read.rate import RateReader
from boxcars.connectors.read.sources import source_of
from boxcars.connectors.read.splits import FileSplit, RateSplit, read_split, split_of
from tests.patience import PATIENCE, until

FIELDS = {"t": "int", "v": "float"}


def network(fields: Mapping[str, str] = FIELDS) -> bx.Network:
    """Window counts, and every tuple as it arrived."""
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields=dict(fields))
    net.output("all", rows)
    net.output("counts", rows.aggregate(bx.time(10), n="count()").named("counts"))
    return net


ENTITY = network().inputs["rows"]


def frame(first: int, last: int) -> pl.DataFrame:
    return pl.DataFrame({"t": range(first, last), "v": [n / 2 for n in range(first, last)]})


def rows(first: int, last: int) -> list[dict[str, Any]]:
    return frame(first, last).to_dicts()


def put(path: Path, first: int, last: int) -> Path:
    path.parent.mkdir(exist_ok=True)
    write_table(frame(first, last).to_arrow(), path)
    return path


class Runs:
    """Runs of one network with one checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.seen: list[int] = []

    def start(self, source: Any, **more: Any) -> bx.Run:
        given = {"checkpoint": self.folder / "check", "spark": self.spark, **more}
        sinks = {name: self.folder / name for name in ("all", "counts")}
        return bx.run(network(), {"rows": source}, sinks, **given)

    def out(self, name: str = "all") -> list[dict[str, Any]]:
        paths = sorted((self.folder / name).glob("part-*.parquet"))
        return pl.concat([pl.read_parquet(path) for path in paths]).to_dicts() if paths else []

    def times(self) -> list[int]:
        """The output; in a run that has not ended the last window is still open."""
        return [row["t"] for row in self.out()]

    def kept(self) -> list[Path]:
        return list((self.folder / "check/inputs").rglob("*.parquet"))

    @contextmanager
    def live(self, source: Any, **more: Any) -> Iterator[bx.Run]:
        running = self.start(source, **more)
        try:
            yield running
        finally:
            running.stop()


@pytest.fixture
def runs(spark: SparkSession, tmp_path: Path) -> Runs:
    return Runs(spark, tmp_path)


class TestFiles:
    def test_every_kind(self, runs: Runs, tmp_path: Path) -> None:
        for number, suffix in enumerate(SUFFIXES):
            put(tmp_path / f"in/{number}{suffix}", 10 * number, 10 * number + 10)
        (tmp_path / "in/_later.csv").write_text("not yet")
        status = runs.start(bx.files(f"{tmp_path}/in/*.*"), epoch_rows=7).wait()
        assert (status.state, status.epoch, status.read) == ("finished", 6, {"rows": 40})
        assert runs.times() == list(range(40))

    def test_a_stopped_run_resumes_with_the_same_list(self, runs: Runs, tmp_path: Path) -> None:
        """A file that later sorts before the others does not shift the offsets."""
        put(tmp_path / "in/b.parquet", 0, 10)
        put(tmp_path / "in/c.parquet", 10, 20)
        started = Event()
        given: list[bx.Run] = []

        def tell(_: bx.Status) -> None:
            started.wait()
            given[0].stop()

        given.append(runs.start(f"{tmp_path}/in", epoch_rows=4, tell=tell))
        started.set()
        assert given[0].wait().state == "stopped"
        put(tmp_path / "in/a.parquet", 100, 200)
        assert runs.start(f"{tmp_path}/in", epoch_rows=4).wait().state == "finished"
        assert runs.times() == list(range(20))

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_an_edited_file_is_noticed(self, tmp_path: Path, suffix: str) -> None:
        """The rest of a partly read file is not taken from another version of it."""
        path = put(tmp_path / f"a{suffix}", 0, 20)
        first = ListedFiles([path], ENTITY).take(Offset(), 5)
        (split,) = first.splits
        os.utime(path, ns=(1, 1))  # copied or restored, with the same rows
        assert ListedFiles([path], ENTITY).take(first.offset, 5).offset.row == 10
        path.unlink()
        write_table(frame(0, 20).with_columns(v=1 - pl.col("v")).to_arrow(), path)
        with pytest.raises(bx.BoxcarsError, match=r"a\.\w+: the file has changed since the run"):
            ListedFiles([path], ENTITY).take(first.offset, 5)
        with pytest.raises(bx.BoxcarsError, match="Restore it as it was"):
            read_split(split, ENTITY)

    def test_only_row_groups_that_are_needed(self, tmp_path: Path) -> None:
        path = tmp_path / "big.parquet"
        pq.write_table(frame(0, 1000).to_arrow(), path, row_group_size=100)
        split = FileSplit(str(path), 150, 320, 150)
        assert read_split(split, ENTITY).tuples["t"].to_list() == list(range(150, 320))

    def test_a_file_that_replaces_another(self, tmp_path: Path) -> None:
        """What a worker caches of a file is not used for another file with the same name."""
        path = tmp_path / "a.csv"
        for first in (0, 5):
            put(path, first, first + 5)
            (row, *_) = read_split(FileSplit(str(path), 0, 5, 0), ENTITY).tuples.rows()
            assert row[0] == first

    def test_splits_as_json(self) -> None:
        for split in (FileSplit("a", 1, 2, 3), RateSplit(1, 2, 1, (("t", "value"),))):
            assert split_of(json.loads(json.dumps(split.__dict__))) == split

    def test_mistakes(self, runs: Runs, tmp_path: Path) -> None:
        with pytest.raises(bx.BoxcarsError, match=r"input 'rows': .*no .parquet, .* matches"):
            runs.start(bx.files(f"{tmp_path}/*.csv"))
        put(tmp_path / "a.parquet", 0, 1)
        with pytest.raises(bx.BoxcarsError, match="expected a folder or a pattern to follow"):
            runs.start(bx.files(tmp_path / "a.parquet", follow=True))
        with pytest.raises(bx.BoxcarsError, match="there is no such folder to follow"):
            runs.start(bx.files(tmp_path / "missing", follow=True))
        (tmp_path / "bad.parquet").write_bytes(b"nothing")
        with pytest.raises(bx.BoxcarsError, match="input 'rows': .*bad.parquet: can't be read as"):
            runs.start(tmp_path / "bad.parquet", checkpoint=tmp_path / "c1").wait()
        write_table(pl.DataFrame({"t": [[1]], "v": [1.0]}).to_arrow(), tmp_path / "list.arrow")
        with pytest.raises(
            bx.BoxcarsError, match="field 't' is large_list.* in the data, expected an"
        ):
            runs.start(tmp_path / "list.arrow", checkpoint=tmp_path / "c2").wait()


class TestFollow:
    def test_a_folder_that_is_filled(self, runs: Runs, tmp_path: Path) -> None:
        folder = tmp_path / "in"
        folder.mkdir()
        source = bx.files(folder, follow=True)
        with runs.live(source, epoch_rows=7) as running:
            until(lambda: running.status().state == "waiting")
            put(folder / "z.parquet", 0, 10)
            until(lambda: running.status().read == {"rows": 10})
            put(folder / "a.csv", 10, 20)
            until(lambda: running.status().read == {"rows": 20})
            (folder / ".b.csv").write_text("not yet")
        put(folder / "b.jsonl", 20, 30)
        with runs.live(source, epoch_rows=7) as running:
            until(lambda: running.status().read == {"rows": 30})
        assert running.status().state == "stopped"
        assert runs.times() == list(range(29))
        assert [row["n"] for row in runs.out("counts")] == [10, 10]

    def test_a_folder_that_is_marked_complete(self, runs: Runs, tmp_path: Path) -> None:
        folder = tmp_path / "in"
        put(folder / "a.parquet", 0, 10)
        with runs.live(bx.files(folder, follow=True), epoch_rows=7) as running:
            until(lambda: running.status().read == {"rows": 10})
            put(folder / "b.parquet", 10, 20)
            (folder / "_SUCCESS").touch()
            assert running.wait(PATIENCE).state == "finished"
        assert runs.times() == list(range(20))

    def test_the_cost_follows_what_is_new(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counted: list[str] = []

        def count(path: Path, _: Any) -> int:
            counted.append(path.name)
            return 2

        monkeypatch.setattr("boxcars.connectors.read.file_reader.count_tuples", count)
        log = tmp_path / "log"
        reader, place = FollowedFiles(f"{tmp_path}/*.csv", FileLog(log), ENTITY), Offset()
        for name in ("b.csv", "a.csv"):
            (tmp_path / name).touch()
            for _ in range(3):
                place = reader.take(place, 1).offset
        again = FollowedFiles(f"{tmp_path}/*.csv", FileLog(log), ENTITY)
        (tmp_path / "0.csv").touch()
        piece = again.take(place, 10)
        assert counted == ["b.csv", "a.csv", "0.csv"]
        assert piece.splits == (FileSplit(str(tmp_path / "0.csv"), 0, 2, 4, "0-00000000"),)

    def test_removed_names_are_forgotten(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("boxcars.connectors.read.file_reader._SPARE", 3)
        log = tmp_path / "log"
        reader, place = FollowedFiles(f"{tmp_path}/*.csv", FileLog(log), ENTITY), Offset()
        for number in range(20):
            path = put(tmp_path / f"{number}.csv", number, number + 1)
            place = reader.take(place, 10).offset
            path.unlink()
        assert place == Offset(20, 20)
        assert len(log.read_text().splitlines()) < 8
        assert FileLog(log).next == 20

    def test_a_line_that_was_not_finished(self, tmp_path: Path) -> None:
        log = FileLog(tmp_path / "log")
        log.add(["a", "b"])
        with (tmp_path / "log").open("a") as file:
            file.write('[2, "c')
        log = FileLog(tmp_path / "log")
        log.add(["d"])
        assert list(FileLog(tmp_path / "log").entries) == [(0, "a"), (1, "b"), (2, "d")]

    @pytest.mark.parametrize("lost", ["the end", "all", "the middle", "a name"])
    def test_a_damaged_log_is_no_end_of_the_input(
        self, runs: Runs, tmp_path: Path, lost: str
    ) -> None:
        """Files would be read again or never: both are errors."""
        source = bx.files(tmp_path / "in", follow=True)
        for number in range(4):
            put(tmp_path / f"in/{number}.csv", number, number + 1)
        with runs.live(source) as running:
            until(lambda: running.status().read == {"rows": 4})
        (log,) = (tmp_path / "check").rglob("files.jsonl")
        lines = log.read_text().splitlines(keepends=True)
        kept = {"the end": lines[:2], "all": [], "the middle": [lines[0], *lines[2:]]}
        renamed = [line.replace("3.csv", "9.csv") for line in lines]
        log.write_text("".join(kept.get(lost, renamed)))
        put(tmp_path / "in/4.csv", 4, 5)
        (tmp_path / "in/_SUCCESS").touch()
        with pytest.raises(bx.BoxcarsError, match="files.jsonl: the checkpoint is damaged"):
            runs.start(source).wait()

    def test_a_log_of_a_newer_version(self, tmp_path: Path) -> None:
        (tmp_path / "log").write_text('[9, 0, "a", 0]\n')
        with pytest.raises(bx.BoxcarsError, match=r"log: it has format 9, and this version .* up"):
            FileLog(tmp_path / "log")

    def test_a_file_that_is_no_good(self, runs: Runs, tmp_path: Path) -> None:
        """The run fails and names the file; without it, or with a good one, the run resumes."""
        folder = tmp_path / "in"
        put(folder / "a.parquet", 0, 5)
        (folder / "b.parquet").write_bytes(b"nothing")
        source = bx.files(folder, follow=True)
        with pytest.raises(bx.BoxcarsError, match="b.parquet: can't be read as parquet"):
            runs.start(source).wait()
        (folder / "b.parquet").unlink()
        put(folder / "c.parquet", 5, 9)
        with runs.live(source) as running:
            until(lambda: running.status().read == {"rows": 9})
        assert runs.times() == list(range(8))


class TestRate:
    def test_rows_from_their_numbers(self, runs: Runs) -> None:
        source = bx.rate(None, rows=25, t="value // 2", v="value % 3")
        status = runs.start(source, epoch_rows=10).wait()
        assert (status.state, status.epoch) == ("finished", 3)
        assert runs.out() == [{"t": n // 2, "v": float(n % 3)} for n in range(25)]

    def test_they_come_due_by_the_clock(self) -> None:
        now = [100.0]
        reader = RateReader(bx.rate(10, rows=40, t="value", v=1.5), ENTITY, lambda: now[0])
        assert reader.take(Offset(5), 100).splits == ()
        now[0] += 2
        piece = reader.take(Offset(5), 100)
        assert piece.offset == Offset(25)
        now[0] += 2
        assert reader.take(piece.offset, 100).offset == Offset(40, ended=True)

    def test_a_run_goes_on(self, runs: Runs) -> None:
        source = bx.rate(2000, t="value", v=0)
        for goal in (20, 60):
            with runs.live(source, epoch_rows=50) as running:
                until(partial(lambda least: running.status().read.get("rows", 0) > least, goal))
        assert runs.times() == list(range(running.status().read["rows"] - 1))

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"t": "value"}, "rate: field 'v' is missing: give it an expression over value"),
            ({"t": "value", "v": "vale"}, "field 'v': unknown field 'vale'. Did you mean 'value'"),
            ({"t": "value", "v": "'x'"}, "field 'v': expected a float, got .* of type str"),
            ({"t": "value", "v": 1, "w": 1}, "rate: there is no field 'w'"),
        ],
    )
    def test_mistakes(self, runs: Runs, fields: dict[str, Any], words: str) -> None:
        with pytest.raises(bx.BoxcarsError, match=words):
            runs.start(bx.rate(5, **fields))

    def test_a_row_without_order(self, runs: Runs) -> None:
        with pytest.raises(bx.BoxcarsError, match="the order attribute is null"):
            runs.start(bx.rate(None, rows=3, t="value // (value - 1)", v=0)).wait()

    def test_numbers(self) -> None:
        with pytest.raises(bx.BoxcarsError, match="more than 0 rows per second, got 0"):
            bx.rate(0)
        with pytest.raises(bx.BoxcarsError, match="0 rows or more, got -1"):
            bx.rate(5, rows=-1)

    def test_as_text(self) -> None:
        text = "rate://1000?rows=50&t=value//10+1&v=value%20 * 2"
        assert source_of(text) == bx.rate(1000, rows=50, t="value//10+1", v="value%20 * 2")
        assert source_of("rate://?t=value") == bx.rate(None, t="value")
        for wrong in ("rate://x", "rate://5?t", "rate://5?rows=many"):
            with pytest.raises(bx.BoxcarsError, match="expected rate://NUMBER"):
                source_of(wrong)
        with pytest.raises(bx.BoxcarsError, match="there is no connector 'rtae://'"):
            source_of("rtae://x")


class TestScript:
    def test_abort(self, runs: Runs) -> None:
        source = bx.script([*rows(0, 3), bx.ABORT, *rows(3, 5), bx.PAUSE, *rows(5, 30)])
        with pytest.raises(bx.Aborted, match="input 'rows': its script requested ABORT in epoch 1"):
            runs.start(source).wait()
        assert runs.start(source).wait().epoch == 3
        assert runs.times() == list(range(30))
        assert [row["n"] for row in runs.out("counts")] == [10, 10]

    def test_eof(self, runs: Runs) -> None:
        source = bx.script([*rows(0, 3), bx.EOF, *rows(3, 5), bx.EOF])
        seen = []
        for _ in range(4):
            status = runs.start(source).wait()
            seen.append((status.state, status.read["rows"]))
        assert seen == [("stopped", 3), ("stopped", 5), ("finished", 5), ("finished", 5)]
        assert runs.times() == list(range(5))

    def test_marks_alone_and_many_epochs(self, runs: Runs) -> None:
        source = bx.script([bx.PAUSE, bx.ABORT, *rows(0, 5), bx.ABORT, bx.EOF, *rows(5, 6)])
        for _ in range(2):
            with pytest.raises(bx.Aborted):
                runs.start(source, epoch_rows=2).wait()
        assert runs.start(source, epoch_rows=2).wait().state == "stopped"
        assert runs.start(source, epoch_rows=2).wait().state == "finished"
        assert runs.times() == list(range(6))

    def test_dead_letters(self, runs: Runs) -> None:
        source = bx.script([{"t": None, "v": 1.0}, bx.PAUSE, {"t": 1, "v": 2.0}])
        running = runs.start(source)
        running.wait()
        box = running.stats().boxes["rows"]
        assert (box.tuples_in, box.tuples_out, box.late, box.dead) == (1, 1, 0, 1)

    def test_mistakes(self) -> None:
        with pytest.raises(bx.BoxcarsError, match="a script has rows, ABORT, .* got 5, a int"):
            bx.script([5])  # type: ignore[list-item]


def test_inputs_of_many_kinds(spark: SparkSession, tmp_path: Path) -> None:
    """An input that has ended, one that stops at EOF and one in memory, in one run."""
    net = bx.Network("three")
    inputs = [net.input(name, ts="t", fields=FIELDS) for name in "abc"]
    net.output("all", (inputs[0] | inputs[1] | inputs[2]).named("u"))
    sources = {
        "a": bx.rate(None, rows=10, t="value", v=0),
        "b": bx.script([*rows(0, 5), bx.EOF, *rows(5, 20)]),
        "c": frame(0, 12),
    }
    given: dict[str, Any] = {"checkpoint": tmp_path / "check", "epoch_rows": 3, "spark": spark}
    sinks = {"all": tmp_path / "out"}
    assert bx.run(net, sources, sinks, **given).wait().state == "stopped"
    assert bx.run(net, sources, sinks, **given).wait().state == "finished"
    parts = [pl.read_parquet(path) for path in sorted((tmp_path / "out").iterdir())]
    found = pl.concat(parts)["t"].to_list()
    assert found == sorted([*range(10), *range(20), *range(12)])


class TestSpark:
    def source(self, spark: SparkSession, folder: Path, files: int) -> Any:
        for number in range(files):
            path = put(folder / f"{number}.parquet", 10 * number, 10 * number + 10)
            os.utime(path, (number, number))  # Spark takes the oldest first
        reader = spark.readStream.schema("t long, v double").option("maxFilesPerTrigger", 1)
        return reader.parquet(str(folder))

    def test_many_batches_in_an_epoch(
        self, runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Spark blocks if the run is slower, but the run does not wait for Spark."""
        monkeypatch.setattr("boxcars.connectors.read.journal_batches.AHEAD", 2)
        source = bx.stream(self.source(runs.spark, tmp_path / "in", 4), trigger="available now")
        assert runs.start(source).wait(PATIENCE).state == "finished"
        assert runs.times() == list(range(40))

    def test_available_now(self, runs: Runs, tmp_path: Path) -> None:
        source = bx.stream(self.source(runs.spark, tmp_path / "in", 3), trigger="available now")
        status = runs.start(source, epoch_rows=4).wait()
        assert (status.state, status.read) == ("finished", {"rows": 30})
        assert runs.times() == list(range(30))
        assert runs.kept() == [], "what was read is removed"

    def test_a_run_goes_on(self, runs: Runs, tmp_path: Path) -> None:
        source = self.source(runs.spark, tmp_path / "in", 2)
        with runs.live(bx.stream(source, trigger="50 milliseconds"), epoch_rows=6) as running:
            until(lambda: running.status().read.get("rows", 0) > 6)
        put(tmp_path / "in/2.parquet", 20, 30)
        with runs.live(source, epoch_rows=6) as running:
            until(lambda: running.status().read == {"rows": 30})
        assert runs.times() == list(range(29))

    def test_partitions_without_order(self, runs: Runs) -> None:
        """Spark's rate source distributes its rows over two partitions: no tuple is late."""
        rate = runs.spark.readStream.format("rate").option("rowsPerSecond", 100)
        frame = rate.load().selectExpr("value AS t", "1.5D AS v")
        with runs.live(bx.stream(frame, trigger="100 milliseconds")) as running:
            until(lambda: running.status().read.get("rows", 0) > 100)
        assert running.stats().boxes["rows"].late == 0
        assert runs.times() == list(range(running.status().read["rows"] - 1))

    def test_a_frame_that_does_not_stream(self, runs: Runs) -> None:
        source = runs.spark.range(0, 50, 1, 3).selectExpr(
            "CAST(49 - id AS string) AS t", "CAST((49 - id) / 2 AS float) AS v"
        )
        assert runs.start(source, epoch_rows=20).wait().state == "finished"
        assert runs.out() == rows(0, 50)

    def test_types_of_spark(self, spark: SparkSession, tmp_path: Path) -> None:
        fields = {"at": "timestamp", "day": "timestamp", "n": "int", "x": "float", "who": "str"}
        net = bx.Network("types")
        net.output("out", net.input("rows", ts="at", fields=fields))
        at = "TIMESTAMP '2026-01-02 03:04:05.000006 UTC' AS at"
        day = "DATE '1500-01-01' AS day"
        source = spark.range(1).selectExpr(at, day, "1Y AS n", "2.5BD AS x", "'ann' AS who")
        seen: list[Any] = []
        sinks = {"out": bx.callback(lambda table, _: seen.extend(table.to_pylist()))}
        bx.run(net, {"rows": source}, sinks, spark=spark).wait()
        (row,) = seen
        assert str(row.pop("at")) == "2026-01-02 03:04:05.000006"
        assert str(row.pop("day")) == "1500-01-01 00:00:00"
        assert row == {"n": 1, "x": 2.5, "who": "ann"}

    def test_mistakes(self, runs: Runs, tmp_path: Path) -> None:
        spark = runs.spark
        with pytest.raises(bx.BoxcarsError, match="input 'rows': the data has no field 'v'"):
            runs.start(spark.range(5).withColumnRenamed("id", "t"))
        with pytest.raises(bx.BoxcarsError, match="field 'v' is array<int> in the data, expected"):
            runs.start(spark.range(5).selectExpr("id AS t", "array(1) AS v"))
        with pytest.raises(bx.BoxcarsError, match="field 't' is Boolean in the data, expected an"):
            runs.start(spark.range(5).selectExpr("true AS t", "1.5D AS v"))
        with pytest.raises(bx.BoxcarsError, match="expected a Spark DataFrame, got a dict"):
            runs.start(bx.stream({}))
        source = self.source(spark, tmp_path / "in", 1)
        with pytest.raises(bx.BoxcarsError, match="input 'rows': the Spark DataFrame failed: "):
            runs.start(bx.stream(source, trigger="now and then")).wait()

    def test_a_stream_that_fails(self, runs: Runs, tmp_path: Path) -> None:
        source = self.source(runs.spark, tmp_path / "in", 1)
        (tmp_path / "in/0.parquet").write_bytes(b"nothing")
        with pytest.raises(bx.BoxcarsError, match="input 'rows': the Spark DataFrame") as error:
            runs.start(source).wait()
        assert len(str(error.value).splitlines()) == 1


def test_a_preview_takes_the_sources_of_a_run(tmp_path: Path) -> None:
    net = bx.Network("n")
    net.output("o", net.input("i", ts="t", fields={"t": "int"}).filter("t > 1").named("f"))
    pl.DataFrame({"t": [1, 2, 3]}).write_parquet(tmp_path / "a.parquet")
    for source in (
        bx.files(tmp_path / "*.parquet"),
        bx.rate(None, rows=4, t="value"),
        bx.script([{"t": 1}, bx.PAUSE, {"t": 2}, bx.ABORT, {"t": 3}]),
    ):
        assert bx.preview(net, {"i": source})["o"]["t"].to_pylist() == [2, 3]
    with pytest.raises(
        bx.BoxcarsError, match="input 'i': rate: the source is unbounded: limit it with rows"
    ):
        bx.preview(net, {"i": bx.rate(10, t="value")})
