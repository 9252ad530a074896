"""Dead letters and late tuples of a run: delivered once, counted, and reported at its end."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app
from boxcars.connectors.write.folder import FolderWriter
from boxcars.engine.epoch.dead_letters import DeadLetters, stage_letters
from boxcars.engine.measure.dead_letter_reasons import (
    MAX_REASONS,
    OTHERS,
    Reason,
    add_reasons,
    count_reasons,
)

FIELDS = {"t": "int", "who": "str", "raw": "bytes"}


def network() -> bx.Network:
    """Dead letters of an input, and of a converter downstream that runs on several instances."""
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields=FIELDS)
    last = rows.aggregate(bx.tuples(1), by="who", raw="last(raw)").named("last")
    decoded = last.decode(format="jsonl", field="raw", fields={"n": "int"}).named("decoded")
    net.output("numbers", decoded)
    return net


def row(number: int) -> dict[str, Any]:
    """Every fifth has no time, every third no number, and every tenth is late."""
    time = None if number % 5 == 3 else number - 9 if number % 10 == 9 else number
    text = f"line {number}" if number % 3 == 0 else f'{{"n": {number}}}'
    return {"t": time, "who": f"w{number % 4}", "raw": text.encode()}


ROWS = [row(number) for number in range(40)]
NO_TIME = [n for n in range(40) if n % 5 == 3]
LATE = [n for n in range(40) if n % 10 == 9]
NO_NUMBER = [n for n in range(40) if n % 3 == 0 and n not in NO_TIME and n not in LATE]


def letters(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(part) for part in sorted(folder.glob("part-*"))])


def told(status: bx.Status) -> None:
    """The expected status for all rows."""
    assert status.lost == {
        "rows": {"late": len(LATE), "dead": len(NO_TIME)},
        "decoded": {"late": 0, "dead": len(NO_NUMBER)},
    }
    ((why, reason),) = status.dead["rows"].items()
    assert (why, reason.letters) == ("t: the order attribute is null", len(NO_TIME))
    assert '"who":"w3"' in reason.example
    ((why, reason),) = status.dead["decoded"].items()
    assert why == "not JSON: Expecting value at column ..."
    assert reason.letters == len(NO_NUMBER)
    assert reason.example.encode() in [f"line {n}".encode() for n in NO_NUMBER]


def test_letters_are_delivered_once_however_often_an_epoch_is_tried(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It fails after its tasks and resumes with other pieces: the old staged files are not read."""
    script: list[Any] = [*ROWS[:15], bx.ABORT, *ROWS[15:30], bx.ABORT, *ROWS[30:]]
    options: dict[str, Any] = {"checkpoint": tmp_path / "c", "epoch_rows": 8, "spark": spark}
    handed: list[int] = []

    def take(table: pa.Table, epoch: int) -> None:
        assert set(table["epoch"].to_pylist()) == {epoch}
        handed.append(table.num_rows)

    for attempt in range(3):
        run = bx.run(
            network(),
            {"rows": bx.script(script)},
            {"numbers": tmp_path / "out.parquet"},
            dead=f"{tmp_path}/dead/",
            instances=3 - attempt,
            **options,
        )
        if attempt < 2:
            with pytest.raises(bx.Aborted):
                run.wait()
    status = run.wait()
    told(status)
    assert status.before is not None
    assert status.before.epoch < status.epoch
    found = letters(tmp_path / "dead")
    of_box = found.filter(source="decoded")["record"].to_list()
    assert sorted(of_box) == sorted(f"line {n}".encode() for n in NO_NUMBER)
    assert found.filter(source="rows").height == len(NO_TIME)
    assert list((tmp_path / "c/letters").iterdir()) == []
    whole = bx.run(network(), {"rows": ROWS}, dead=bx.callback(take), epoch_rows=8, spark=spark)
    told(whole.wait())
    assert sum(handed) == found.height


@pytest.mark.parametrize("sink", ["dead.jsonl", "dead.csv", "dead.parquet", None])
def test_sinks_of_dead_letters(spark: SparkSession, tmp_path: Path, sink: str | None) -> None:
    """A file is written when the run has finished; without a sink they are in the checkpoint."""
    target = None if sink is None else str(tmp_path / sink)
    options: dict[str, Any] = {"checkpoint": tmp_path / "c", "spark": spark}
    status = bx.run(network(), {"rows": ROWS}, dead=target, **options).wait()
    told(status)
    if target is None:
        assert status.letters == str(tmp_path / "c/dead")
        assert letters(tmp_path / "c/dead").height == len(NO_TIME) + len(NO_NUMBER)
        return
    assert status.letters == target
    read: dict[str, Any] = {"jsonl": pl.read_ndjson, "csv": pl.read_csv, "parquet": pl.read_parquet}
    found: pl.DataFrame = read[target.rpartition(".")[2]](target)
    assert found.columns == ["epoch", "source", "record", "reason"]
    assert found.height == len(NO_TIME) + len(NO_NUMBER)


def test_counts_go_on_with_the_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    """Rows read, written and lost are totals since the checkpoint was created, on all instances."""
    options: dict[str, Any] = {"checkpoint": tmp_path / "c", "epoch_rows": 10, "spark": spark}
    source = {"rows": bx.script([*ROWS[:20], bx.EOF, *ROWS[20:]])}
    first = bx.run(network(), source, **options)
    stopped = first.wait()
    assert (stopped.state, stopped.before) == ("stopped", None)
    heard: list[bx.Status] = []
    again = bx.run(network(), source, tell=heard.append, **options)
    status = again.wait()
    assert status.before is not None
    assert (status.before.read, status.before.out) == (stopped.read, stopped.out)
    assert status.before.lost == stopped.lost
    told(status)
    stats = again.stats()
    assert status.out == {name: output.tuples for name, output in stats.outputs.items()}
    assert status.read["rows"] == 40 - len(NO_TIME)
    assert stats.boxes["rows"].dead == status.lost["rows"]["dead"]
    assert heard[-1].out == status.out
    assert heard[0].out["numbers"] > stopped.out["numbers"]


def test_tuples_on_an_arc_that_is_read_are_not_lost(spark: SparkSession) -> None:
    net = network()
    net.output("late", net.stream("rows.late"))
    net.output("broken", net.stream("decoded.dead"))
    status = bx.run(net, {"rows": ROWS}, spark=spark).wait()
    assert status.lost == {"rows": {"late": 0, "dead": len(NO_TIME)}}
    assert status.out["late"] == len(LATE)


def test_mistakes(spark: SparkSession, tmp_path: Path) -> None:
    for sink, words in {
        "dequeue://": "sink 'dead letters': dequeue:// is not supported",
        str(tmp_path / "out"): "sink 'dead letters': .*: an output already writes there",
        "dead.txt": "sink 'dead letters': .*expected a file name ending in",
    }.items():
        sinks = {"numbers": str(tmp_path / "out")}
        with pytest.raises(bx.BoxcarsError, match=words):
            bx.run(network(), {"rows": ROWS}, sinks, dead=sink, spark=spark)
    endless = {"rows": bx.rate(1, t="value", who="'a'", raw="CAST('x' AS bytes)")}
    with pytest.raises(bx.BoxcarsError, match="is unbounded"):
        bx.run(network(), endless, dead=str(tmp_path / "dead.csv"), spark=spark)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    net = bx.Network("n")
    net.output("out", net.input("rows", ts="t", fields={"t": "int", "who": "str"}))
    bx.save(net, "n.yaml")
    lines = ["t,who", "1,a", "noon,b", "5,c", "2,d", "night,e"]
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.usefixtures("spark")
def test_losses_are_reported_in_a_pipe(files: Path) -> None:
    call = ["run", "n.yaml", "--source", "rows=rows.csv", "--sink", "out=out/"]
    result = CliRunner().invoke(app, [*call, "--dead", "lost.jsonl", "--checkpoint", "c"])
    assert result.exit_code == 0, (result.output, result.exception)
    assert result.stderr.splitlines() == [
        "rows: 2 dead letters: 2 x t: '...' is not an int (noon,b)",
        f"the dead letters are in {files}/lost.jsonl",
        "rows: 1 tuple arrived too late and was dropped; read the arc rows.late",
    ]
    found = [json.loads(line) for line in (files / "lost.jsonl").read_text().splitlines()]
    assert [letter["reason"] for letter in found] == [
        "t: 'noon' is not an int",
        "t: 'night' is not an int",
    ]
    again = CliRunner().invoke(app, [*call, "--dead", "lost.jsonl", "--checkpoint", "c"])
    assert again.stderr == result.stderr


@pytest.mark.usefixtures("spark", "files")
def test_letters_without_a_sink_are_reported_as_discarded() -> None:
    call = ["run", "n.yaml", "--source", "rows=rows.csv", "--sink", "out=out/"]
    result = CliRunner().invoke(app, call)
    assert "the dead letters were discarded: --dead URI keeps them" in result.stderr
    again = CliRunner().invoke(app, [*call[:-1], "out=other/", "--dead", "-"])
    assert "the dead letters are in their sink" in again.stderr


def test_a_file_of_letters_appears_at_the_end(spark: SparkSession, tmp_path: Path) -> None:
    """Until then the status has their location, and they are not moved to another sink."""
    source = {"rows": bx.script([*ROWS[:20], bx.EOF, *ROWS[20:]])}
    options: dict[str, Any] = {"checkpoint": tmp_path / "c", "spark": spark}
    first = bx.run(network(), source, dead=str(tmp_path / "dead.csv"), **options).wait()
    parts, _, rest = first.letters.partition(", and in ")
    assert rest == f"{tmp_path}/dead.csv when the run has finished"
    assert list(Path(parts).glob("part-*"))
    with pytest.raises(
        bx.BoxcarsError, match="dead letters': the results so far are for .*dead.csv"
    ):
        bx.run(network(), source, dead=str(tmp_path / "dead/"), **options)
    last = bx.run(network(), source, dead=str(tmp_path / "dead.csv"), **options).wait()
    assert last.letters == f"{tmp_path}/dead.csv"
    assert pl.read_csv(last.letters).height == sum(lost["dead"] for lost in last.lost.values())


def test_earlier_letters_are_reported_too(spark: SparkSession, tmp_path: Path) -> None:
    source = {"rows": bx.script([*ROWS[:20], bx.EOF, *ROWS[20:]])}
    options: dict[str, Any] = {"checkpoint": tmp_path / "c", "spark": spark}
    bx.run(network(), source, **options).wait()
    last = bx.run(network(), source, dead=str(tmp_path / "dead/"), **options).wait()
    assert last.letters == f"{tmp_path}/c/dead and {tmp_path}/dead"
    found = [letters(tmp_path / folder).height for folder in ("c/dead", "dead")]
    assert sum(found) == sum(lost["dead"] for lost in last.lost.values())


@pytest.mark.usefixtures("spark")
def test_a_letter_can_not_write_to_the_terminal(files: Path) -> None:
    """The example of a reason is a record from an untrusted source."""
    (files / "rows.csv").write_text("t,who\nno\x1b[2Jon,b\x1b[31m\n")
    call = ["run", "n.yaml", "--source", "rows=rows.csv", "--sink", "out=out/"]
    said = CliRunner().invoke(app, call).stderr
    assert r"(no\x1b[2Jon,b\x1b[31m)" in said
    assert "\x1b" not in said


def test_the_number_of_reasons_is_limited() -> None:
    one = pl.DataFrame(
        {
            "source": ["a"] * 3,
            "record": [b"x", b"y", b"z" * 500],
            "reason": ["n: 'x'", "n: 'y'", "w"],
        }
    )
    counted = count_reasons(one)
    assert counted["a"]["n: '...'"] == Reason(2, "x")
    assert len(counted["a"]["w"].example) < 110
    many = [{"a": {f"reason {n}": Reason(1, str(n))}} for n in range(3 * MAX_REASONS)]
    added = add_reasons(many)["a"]
    assert len(added) == MAX_REASONS + 1
    assert added[OTHERS] == Reason(2 * MAX_REASONS, str(MAX_REASONS))


def test_staged_letters_that_were_changed_are_not_delivered(tmp_path: Path) -> None:
    rows = pl.DataFrame({"source": ["rows"], "record": [b"x"], "reason": ["no number"]})
    name = stage_letters(str(tmp_path), 3, 0, [rows])
    path = tmp_path / "letters" / name
    path.write_bytes(path.read_bytes().replace(b"rows", b"sows"))
    dead = DeadLetters(tmp_path, FolderWriter(tmp_path / "dead"), "")
    with pytest.raises(bx.BoxcarsError, match=f"{name}: the checkpoint is damaged"):
        dead.deliver(3, [name], ["rows"])
