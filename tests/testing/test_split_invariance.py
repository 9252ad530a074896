import polars as pl
import pytest

import boxcars as bx
from tests.boxes.helper import network

ROWS = [{"time": i, "caller": "a", "price": float("nan")} for i in range(9)]


def test_boxes_that_do_not_depend_on_the_split_pass() -> None:
    bx.check_cuts(network(lambda calls: calls.filter("time > 2")), {"calls": ROWS})
    bx.check_cuts(network(lambda calls: calls.filter("time > 2")), {"calls": []})


def test_the_first_difference_is_named() -> None:
    def first(train: pl.DataFrame) -> pl.DataFrame:
        return train.head(1)

    net = network(lambda calls: calls.apply(first).named("a"))
    with pytest.raises(bx.BoxcarsError) as error:
        bx.check_cuts(net, {"calls": ROWS})
    assert str(error.value) == (
        "output 'out0' depends on the split: row 1 is missing with one train, and "
        "{'time': 3, 'caller': 'a', 'price': nan} with 2 trains."
    )
    bx.check_cuts(net, {"calls": ROWS}, cuts=[1])
