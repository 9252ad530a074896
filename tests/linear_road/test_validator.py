"""The validator agrees with a slow reference, and finds every kind of wrong answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from boxcars.linear_road.expectation import Expected, expect_all
from boxcars.linear_road.facts import ANSWERS, COLUMNS, SCHEMA
from boxcars.linear_road.files import read_lines, read_parquet, write_lines, write_parquet
from boxcars.linear_road.history import past_mean, past_toll
from boxcars.linear_road.judging import Judge
from boxcars.linear_road.past import Seeded
from boxcars.linear_road.report import MISTAKES, Report
from boxcars.linear_road.traffic import generate
from boxcars.linear_road.validator import Validator, read_answers, validate
from tests.linear_road.made import PAST, SEED, answers_of, expected, expected_of, perfect, tuples
from tests.linear_road.reference import Reference

Answers = dict[str, pl.DataFrame]
pytestmark = pytest.mark.filterwarnings("error")


LATE = 11
"""Answers before the end of this minute are ignored, except in one test, to save time."""


def judge(answers: Answers, minutes: list[Expected]) -> Report:
    judge = Judge({kind: frame.lazy() for kind, frame in answers.items()})
    for minute in minutes:
        judge.take(minute)
    return judge.finish()


def judge_last(corrupt: Callable[[Answers], Answers]) -> Report:
    answers = {kind: rows.filter(pl.col("time") >= LATE * 60) for kind, rows in perfect().items()}
    return judge(corrupt(answers), expected()[LATE:])


@pytest.fixture(scope="module")
def reference() -> Reference:
    def past(xway: int, direction: int, seg: int, dow: int, tod: int) -> tuple[int, int]:
        lav, cars = past_mean(SEED, dow, tod, xway, direction, seg)
        return lav, cars

    def paid(vid: int, day: int, xway: int) -> int:
        assert xway == 0
        return int(past_toll(SEED, vid, day))

    reference = Reference(paid, past)
    reference.run(pl.concat(tuples()))
    return reference


def test_the_data_has_all_cases(reference: Reference) -> None:
    tolls = expected_of("tolls")
    assert (tolls["toll"] > 0).to_numpy().mean() > 0.05
    assert {-1, 39, 40} <= set(tolls["lav"])
    assert len(reference.accidents) == 2
    assert reference.accidents[0].gone is not None
    assert expected_of("accidents")["seg"].n_unique() == 2
    assert (expected_of("balances")["balance"] > 0).sum() > 100
    entries = pl.concat(tuples()).filter(pl.col("lane") == 0)
    assert entries["vid"].is_duplicated().sum() > 20


@pytest.mark.parametrize("kind", ["tolls", "accidents", "expenditures", "travel_times"])
def test_same_as_the_reference(reference: Reference, kind: str) -> None:
    rows = reference.warnings if kind == "accidents" else getattr(reference, kind)
    wanted = pl.DataFrame(rows, schema=[name for name in ANSWERS[kind] if name != "emit"])
    assert wanted.height > 100
    assert_frame_equal(wanted, expected_of(kind), check_row_order=False, check_column_order=False)


def test_same_balances_as_the_reference(reference: Reference) -> None:
    soon = expected_of("balances").filter(pl.col("since") <= pl.col("time") + 5)
    found = {qid: set(group["balance"]) for (qid,), group in soon.group_by("qid")}
    wanted = {
        request["qid"]: reference.balances(request, request["time"] + 5)
        for request in reference.balance_requests
    }
    assert found == wanted
    assert max(map(len, wanted.values())) >= 3


def test_right_answers_are_valid() -> None:
    report = judge(perfect(), expected())
    assert report.valid, str(report)
    for kind, found in report.kinds.items():
        assert found.right == perfect()[kind].height > 100
        assert found.latency(50) == found.latest == 0.5
    assert str(report).endswith("\nvalid")


def one(frame: pl.DataFrame, where: pl.Expr | bool = True) -> pl.DataFrame:
    """The row in the middle of those that qualify."""
    rows = frame.filter(where)
    return rows[rows.height // 2]


def change(
    kind: str, where: pl.Expr | bool = True, **values: pl.Expr
) -> Callable[[Answers], Answers]:
    """Change one answer."""

    def changed(answers: Answers) -> Answers:
        row = one(answers[kind], where)
        rest = answers[kind].join(row, on=row.columns, how="anti")
        return {**answers, kind: pl.concat([rest, row.with_columns(**values)])}

    return changed


def remove(kind: str) -> Callable[[Answers], Answers]:
    def removed(answers: Answers) -> Answers:
        row = one(answers[kind])
        return {**answers, kind: answers[kind].join(row, on=row.columns, how="anti")}

    return removed


def add(kind: str, **values: pl.Expr) -> Callable[[Answers], Answers]:
    """Add a copy of an answer with some values changed."""

    def added(answers: Answers) -> Answers:
        row = one(answers[kind]).with_columns(**values)
        return {**answers, kind: pl.concat([answers[kind], row])}

    return added


NOTHING = pl.lit(None, pl.Int64)
TIME, EMIT = pl.col("time"), pl.col("emit")
CORRUPTIONS: dict[str, tuple[str, str, Callable[[Answers], Answers]]] = {
    "toll": ("tolls", "wrong", change("tolls", toll=pl.col("toll") + 2)),
    "toll of null": ("tolls", "wrong", change("tolls", toll=NOTHING)),
    "lav": ("tolls", "wrong", change("tolls", pl.col("lav") > 0, lav=pl.col("lav") - 1)),
    "no lav": ("tolls", "wrong", change("tolls", lav=pl.lit(-1, pl.Int64))),
    "no toll": ("tolls", "missing", remove("tolls")),
    "toll twice": ("tolls", "duplicate", add("tolls")),
    "two tolls": ("tolls", "duplicate", add("tolls", toll=pl.col("toll") + 2, emit=EMIT + 1)),
    "toll of nobody": ("tolls", "unexpected", add("tolls", vid=pl.lit(7, pl.Int64))),
    "toll of no time": ("tolls", "unexpected", add("tolls", time=pl.lit(99_000, pl.Int64))),
    "toll of null time": ("tolls", "unexpected", add("tolls", time=NOTHING)),
    "late toll": ("tolls", "late", change("tolls", emit=TIME + 5.01)),
    "early toll": ("tolls", "wrong", change("tolls", emit=TIME - 0.1)),
    "toll never sent": ("tolls", "wrong", change("tolls", emit=pl.lit(None, pl.Float64))),
    "segment": ("accidents", "wrong", change("accidents", seg=pl.col("seg") + 1)),
    "no warning": ("accidents", "missing", remove("accidents")),
    "warning twice": ("accidents", "duplicate", add("accidents")),
    "false warning": ("accidents", "unexpected", add("accidents", time=TIME - 1)),
    "late warning": ("accidents", "late", change("accidents", emit=TIME + 6.0)),
    "balance": ("balances", "wrong", change("balances", balance=pl.col("balance") + 1)),
    "vid": ("balances", "wrong", change("balances", vid=pl.col("vid") + 2)),
    "result later": ("balances", "wrong", change("balances", result_time=TIME + 9)),
    "no balance": ("balances", "missing", remove("balances")),
    "balance twice": ("balances", "duplicate", add("balances")),
    "no request": ("balances", "unexpected", add("balances", qid=pl.lit(-5, pl.Int64))),
    "late balance": ("balances", "late", change("balances", emit=TIME + 5.5)),
    "expense": ("expenditures", "wrong", change("expenditures", expenditure=pl.lit(99, pl.Int64))),
    "no expense": ("expenditures", "missing", remove("expenditures")),
    "late expense": ("expenditures", "late", change("expenditures", emit=TIME + 10.1)),
    "time": (
        "travel_times",
        "wrong",
        change("travel_times", travel_time=pl.col("travel_time") - 1),
    ),
    "toll of trip": ("travel_times", "wrong", change("travel_times", toll=pl.col("toll") + 2)),
    "no time": ("travel_times", "missing", remove("travel_times")),
    "time twice": ("travel_times", "duplicate", add("travel_times")),
    "late time": ("travel_times", "late", change("travel_times", emit=TIME + 30.1)),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_finds(name: str) -> None:
    kind, column, corrupt = CORRUPTIONS[name]
    report = judge_last(corrupt)
    mistakes = {
        (other, mistake): getattr(found, mistake)
        for other, found in report.kinds.items()
        for mistake in MISTAKES
        if getattr(found, mistake)
    }
    assert mistakes == {(kind, column): 1}, str(report)
    assert len(report.kinds[kind].examples[column]) == 1
    assert not report.valid
    assert f"{kind} {column}: " in str(report)


TOLERATED: dict[str, Callable[[Answers], Answers]] = {
    "at the deadline": change("tolls", emit=TIME + 5.0),
    "an expense after 9 s": change("expenditures", emit=TIME + 9.0),
    "a trip after 29 s": change("travel_times", emit=TIME + 29.0),
    "result at the request": change("balances", result_time=pl.col("time")),
    "result a minute ago": change("balances", result_time=pl.col("time") - 60),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_tolerates(name: str) -> None:
    changed = TOLERATED[name](perfect())
    assert any(not changed[kind].equals(perfect()[kind]) for kind in changed)
    report = judge_last(TOLERATED[name])
    assert report.valid, str(report)


@pytest.mark.parametrize(("later", "right"), [(0, True), (1, False)])
def test_a_balance_may_be_a_minute_old(later: int, right: bool) -> None:
    """Requests have the times of reports, so one is moved to 61 seconds after a charge."""
    request = pl.when(pl.col("type") == 2).then(TIME + later).otherwise(TIME)
    moved = pl.concat(tuples()).with_columns(time=request).sort("time", maintain_order=True)
    minutes = list(expect_all(iter([moved]), PAST))
    answers, balances = answers_of(minutes), pl.concat([m.answers["balances"] for m in minutes])
    asked = one(balances, pl.col("since") == TIME - 60 - later)
    qid, vid, _, since, _ = asked.row(0)
    told = answers["tolls"].filter((pl.col("vid") == vid) & (since > TIME))
    before = pl.col("balance") - told["toll"][-1]
    corrupt = change("balances", pl.col("qid") == qid, balance=before, result_time=TIME)
    given = {kind: frame.lazy() for kind, frame in corrupt(answers).items()}
    mine = answers["balances"].filter(qid=qid)
    assert mine["result_time"].to_list() == [since]
    report = validate([moved], given, PAST)
    assert (report.valid, report.kinds["balances"].wrong) == (right, 0 if right else 1)


def test_a_balance_of_the_future_is_wrong() -> None:
    late = (TIME > LATE * 60) & (pl.col("since") == TIME + 30)
    asked = one(expected_of("balances"), late)
    qid, future = asked["qid"][0], pl.lit(asked["balance"][0], pl.Int64)
    corrupt = change("balances", pl.col("qid") == qid, balance=future, result_time=TIME)
    report = judge_last(corrupt)
    assert report.kinds["balances"].wrong == 1


def test_no_answers_at_all() -> None:
    report = judge({}, expected())
    for kind, found in report.kinds.items():
        assert (found.right, found.missing) == (0, perfect()[kind].height)


def test_answers_and_input_in_files(tmp_path: Path) -> None:
    for kind, frame in perfect().items():
        (tmp_path / "answers" / kind).mkdir(parents=True)
        for part, rows in enumerate(frame.iter_slices(20_000)):
            rows.write_parquet(tmp_path / "answers" / kind / f"part-{part}.parquet")
    written = write_parquet(tuples(), tmp_path / "input")
    assert written == sum(frame.height for frame in tuples())
    answers = read_answers(tmp_path / "answers")
    report = validate(read_parquet(tmp_path / "input"), answers, PAST, span=3)
    assert report.valid, str(report)


def test_in_small_steps_it_is_the_same() -> None:
    validator = Validator({kind: frame.lazy() for kind, frame in perfect().items()}, PAST, span=1)
    for frame in generate(0.5, SEED, stop=960, step=7, density=6):
        validator.feed(frame)
    assert validator.finish().valid


def test_input_must_be_in_order() -> None:
    validator = Validator({}, PAST)
    validator.feed(tuples()[1])
    with pytest.raises(ValueError, match="not sorted by time"):
        validator.feed(tuples()[0])


LINES = """\
0,0,107,32,0,0,0,10,53320,-1,-1,-1,-1,-1,-1
0,3,105,30,0,0,1,94,501089,-1,-1,-1,-1,-1,-1
3,10,105,-1,0,-1,-1,-1,-1,0,-1,-1,-1,-1,60
2,11,107,-1,-1,-1,-1,-1,-1,1,-1,-1,-1,-1,-1
0,30,107,41,0,2,0,10,55124,-1,-1,-1,-1,-1,-1"""


def test_lines_of_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "lines.dat").write_text(LINES, encoding="utf-8")
    read = list(read_lines(tmp_path / "lines.dat"))
    assert read[0].schema == pl.Schema(SCHEMA)
    assert write_lines(read, tmp_path / "again.dat") == 5
    assert (tmp_path / "again.dat").read_text(encoding="utf-8").strip() == LINES
    answers: dict[str, list[tuple[float, ...]]] = {
        "tolls": [(107, 0, 1.0, -1, 0), (105, 3, 4.0, -1, 0)],
        "balances": [(1, 107, 11, 12.0, 0, 0)],
        "expenditures": [(0, 10, 11.0, int(past_toll(1, 105, 60)))],
    }
    frames = {
        kind: pl.LazyFrame(rows, schema=ANSWERS[kind], orient="row")
        for kind, rows in answers.items()
    }
    report = validate(read, frames, Seeded(1, 1))
    assert report.valid, str(report)
    assert {kind: found.right for kind, found in report.kinds.items()} == {
        "tolls": 2,
        "accidents": 0,
        "balances": 1,
        "expenditures": 1,
        "travel_times": 0,
    }
    assert len(COLUMNS) == 15
