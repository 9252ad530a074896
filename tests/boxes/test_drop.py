from math import sqrt

import pytest

import boxcars as bx
from tests.boxes.helper import network, problems, run, schema

FIELDS = {"time": "int", "price": "float"}
SIZE = 20_000


def kept(trains: int = 1, size: int = SIZE, **given: object) -> list[int]:
    net = network(lambda calls: calls.drop(**given), FIELDS)  # type: ignore[arg-type]
    data = {"time": list(range(size)), "price": [float(i % 10) for i in range(size)]}
    (rows,) = run(net, trains, calls=data)
    return [row["time"] for row in rows]


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.5, 0.9])
def test_the_rate_is_the_fraction_dropped(rate: float) -> None:
    expected, deviation = SIZE * (1 - rate), sqrt(SIZE * rate * (1 - rate))
    for seed in (0, 1, 2**40, -7):
        assert abs(len(kept(rate=rate, seed=seed)) - expected) < 4 * deviation


def test_rate_zero_drops_nothing() -> None:
    assert kept(rate=0.0) == list(range(SIZE))
    assert kept(rate=0) == list(range(SIZE))


def test_the_same_seed_chooses_the_same_tuples() -> None:
    assert kept(rate=0.5, seed=7) == kept(rate=0.5, seed=7)
    both = set(kept(rate=0.5, seed=7)) & set(kept(rate=0.5, seed=8))
    assert abs(len(both) - SIZE / 4) < 4 * sqrt(SIZE * 3 / 16)


@pytest.mark.parametrize("trains", [2, 7, 60])
def test_the_choice_does_not_depend_on_the_split(trains: int) -> None:
    assert kept(trains, size=50, rate=0.5) == kept(1, size=50, rate=0.5)


def test_a_higher_rate_drops_those_of_a_lower_one_too() -> None:
    assert set(kept(rate=0.6)) < set(kept(rate=0.4))


def test_where_alone_drops_all_of_them() -> None:
    assert kept(size=20, where="price < 8") == [8, 9, 18, 19]
    assert kept(size=20, where="price < null or price = 3") == [i for i in range(20) if i % 10 != 3]


def test_where_and_rate_drop_some_of_them() -> None:
    left = kept(rate=0.5, where="price < 5")
    spared = [i for i in left if i % 10 >= 5]
    assert spared == [i for i in range(SIZE) if i % 10 >= 5]
    assert set(left) - set(spared) == {i for i in kept(rate=0.5) if i % 10 < 5}


def test_positions_survive_other_boxes() -> None:
    """After a filter the same tuples are chosen as before it."""
    before = network(lambda calls: calls.drop(rate=0.5).filter("price < 5"), FIELDS)
    behind = network(lambda calls: calls.filter("price < 5").map(keep=True).drop(rate=0.5), FIELDS)
    data = {"time": list(range(200)), "price": [float(i % 10) for i in range(200)]}
    assert run(before, calls=data) == run(behind, 3, calls=data)


@pytest.mark.parametrize("trains", [1, 2, 3])
def test_records_of_one_value_have_distinct_positions(trains: int) -> None:
    raw = {"time": [1, 2], "data": [b"\n".join(b"%d" % i for i in range(100)), b"7\n8"]}
    net = network(
        lambda calls: calls.decode(format="csv", fields={"n": "int"}).drop(rate=0.5),
        {"time": "int", "data": "bytes"},
    )
    (rows,) = run(net, trains, calls=raw)
    assert 30 < len(rows) < 70
    assert [rows] == run(net, calls=raw)


def test_the_schema_is_unchanged() -> None:
    assert schema(network(lambda calls: calls.drop(rate=0.1), FIELDS)) == "time*: int, price: float"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "box 'd': give a rate below 1, or where."),
        ({"rate": 1.5}, "box 'd', rate: expected a probability between 0 and 1, got 1.5."),
        ({"rate": -0.1}, "box 'd', rate: expected a probability between 0 and 1, got -0.1."),
        ({"rate": float("nan")}, "box 'd', rate: expected a probability between 0 and 1, got nan."),
        ({"where": "price"}, "box 'd', where: expected a bool, got 'price' of type float."),
        ({"rate": "$rate"}, "box 'd', rate: no enclosing superbox has that parameter."),
    ],
)
def test_mistakes(given: dict[str, object], words: str) -> None:
    net = network(lambda calls: calls.drop(**given).named("d"), FIELDS)  # type: ignore[arg-type]
    assert problems(net) == [words]


def test_a_seed_is_a_whole_number() -> None:
    calls = bx.Network("n").input("calls", ts="time", fields=FIELDS)
    with pytest.raises(bx.NetworkError, match="seed: expected a whole number, got 1.5"):
        calls.drop(rate=0.5, seed=1.5)  # type: ignore[arg-type]
