import polars as pl
import pytest

import boxcars as bx
from tests.boxes.helper import network

ROWS = [{"time": i, "caller": "a", "price": float("nan")} for i in range(9)]


def test_what_does_not_depend_on_the_cut_passes() -> None:
    bx.check_cuts(network(lambda calls: calls.filter("time > 2")), {"calls": ROWS})
    bx.check_cuts(network(lambda calls: calls.filter("time > 2")), {"calls": []})


def test_the_first_difference_is_named() -> None:
    def first(train: pl.DataFrame) -> pl.DataFrame:
        return train.head(1)

    net = network(lambda calls: calls.apply(first).named("a"))
    with pytest.raises(bx.BoxcarsError) as error:
        bx.check_cuts(net, {"calls": ROWS})
    assert str(error.value) == (
        "output 'out0' depends on the cut: as row 1 one train gives nothing, "
        "2 trains give {'time': 3, 'caller': 'a', 'price': nan}."
    )
    bx.check_cuts(net, {"calls": ROWS}, cuts=[1])
