"""The validator agrees with the reference also on irregular traffic."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from boxcars.linear_road.expectation import expect_all
from boxcars.linear_road.facts import ANSWERS
from boxcars.linear_road.past import Seeded
from tests.linear_road.reference import Reference
from tests.linear_road.wild import wild


def nothing(*_: int) -> tuple[int, int]:
    return 0, 0


@pytest.mark.parametrize("seed", range(5))
def test_same_as_the_reference(seed: int) -> None:
    tuples = wild(seed)
    reference = Reference(lambda *_: 0, nothing)
    reference.run(tuples)
    minutes = list(expect_all(iter([tuples]), Seeded(2, 1)))
    found = {
        kind: pl.concat([minute.answers[kind] for minute in minutes])
        for kind in ("tolls", "accidents", "balances")
    }
    for kind, rows in (("tolls", reference.tolls), ("accidents", reference.warnings)):
        wanted = pl.DataFrame(rows, schema=[name for name in ANSWERS[kind] if name != "emit"])
        assert_frame_equal(wanted, found[kind], check_row_order=False)
    soon = found["balances"].filter(pl.col("since") <= pl.col("time") + 5)
    given = {qid: set(group["balance"]) for (qid,), group in soon.group_by("qid")}
    wanted_balances = {
        request["qid"]: reference.balances(request, request["time"] + 5)
        for request in reference.balance_requests
    }
    assert given == wanted_balances


def test_it_is_wild() -> None:
    reference = Reference(lambda *_: 0, nothing)
    reference.run(wild(1))
    assert len(reference.accidents) > 10
    assert len([a for a in reference.accidents if a.gone == a.found]) > 0
    tolls = pl.DataFrame(reference.tolls)
    assert 0.1 < (tolls["toll"] > 0).to_numpy().mean() < 0.9
    warned = pl.DataFrame(reference.warnings)
    assert warned["seg"].n_unique() >= 5
