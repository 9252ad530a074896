"""User-defined functions, and the catalogue as a whole."""

import polars as pl
import pytest

from boxcars.expr import Expr, catalogue, function, functions
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.types import Type
from tests.expr.frame import FRAME, SCHEMA, value


def test_a_function_of_polars_expressions():
    @function
    def twice(x: pl.Expr) -> pl.Expr:
        """Twice the number."""
        return x * 2

    assert value("TWICE(i)") == 14
    assert Expr.of("twice(f)").type_in(SCHEMA) is Type.FLOAT
    assert catalogue()["twice"].doc == "Twice the number."
    assert value("twice(length(s))") == 6
    with pytest.raises(Wrong, match=r"^twice\(\) can't be computed for \(str\): "):
        Expr.of("twice(s)").type_in(SCHEMA)
    with pytest.raises(Wrong, match=r"^twice\(\) takes 1 argument, got 2: twice\(x\)\.$"):
        Expr.of("twice(i, i)").type_in(SCHEMA)


def test_a_small_polars_type_becomes_ours():
    @function
    def size(x: pl.Expr) -> pl.Expr:
        return x.str.len_chars()

    assert value("size(s)") == 3


def test_a_function_of_plain_values():
    calls = []

    @function(returns="float", name="Tariff")
    def price(country: str, minutes: int, factor: float = 1.0) -> float:
        calls.append(country)
        return minutes * factor

    assert value("tariff(s, i)") == 7.0
    assert value("tariff(s, i, 2)") == 14.0
    assert calls == ["abc", "abc"], "a null is not called with"
    assert price("de", 1) == 1.0
    with pytest.raises(Wrong, match=r"^tariff\(\) needs int as minutes, got f \(float\)\.$"):
        Expr.of("tariff(s, f)").type_in(SCHEMA)


def test_failures_name_function_and_value():
    @function(returns="int")
    def broken(x: int) -> float:
        return 1 // (x - 7)

    @function(returns="int")
    def lying(x: int) -> str:
        return f"number {x}"

    with pytest.raises(BoxcarsError, match=r"^broken\(7\) failed: ZeroDivisionError: "):
        value("broken(i)")
    with pytest.raises(
        BoxcarsError, match=r"^lying\(7\) returned 'number 7', which is not of type int"
    ):
        value("lying(i)")


def test_registering_again_replaces():
    @function(name="changing")
    def first(x: pl.Expr) -> pl.Expr:
        return x + 1

    expr = Expr.of("changing(i)")
    assert expr.type_in(SCHEMA) is Type.INT
    assert value("changing(i)") == 8

    @function(name="changing")
    def second(x: pl.Expr) -> pl.Expr:
        return x * 0.5

    assert expr.type_in(SCHEMA) is Type.FLOAT
    assert value("changing(i)") == 3.5


def test_a_later_function_is_found():
    with pytest.raises(Wrong, match="unknown function 'not_yet'"):
        Expr.of("not_yet(i)").type_in(SCHEMA)

    @function
    def not_yet(x: pl.Expr) -> pl.Expr:
        return x

    assert value("not_yet(i)") == 7


def test_what_can_not_be_registered():
    with pytest.raises(Wrong, match="'sqrt' is a built-in function: give yours another name"):
        function(name="sqrt")(lambda x: x)
    with pytest.raises(Wrong, match=r"f\(\) can't return 'number'\."):
        function(name="f", returns="number")(lambda x: x)


BUILT_IN = [entry for entry in functions() if entry.group != "yours"]


@pytest.mark.parametrize(
    ("text", "expected"), [example for entry in BUILT_IN for example in entry.examples]
)
def test_examples(text, expected):
    found = value(text)
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)
    assert type(found) is type(expected)


def test_the_catalogue_is_complete():
    assert all(entry.examples and entry.doc.endswith(".") for entry in BUILT_IN)
    assert {name for entry in functions() for name in (entry.name, *entry.aliases)} == set(
        catalogue()
    )
    assert catalogue()["substr"].signature == "substr(text, start, length?)"


def test_nulls_never_fail():
    samples = {"str": "s", "int": "i", "float": "f", "bool": "b", "timestamp": "t", "bytes": "y"}
    constants = {"digits": "1", "chars": "'a'", "fill": "'a'", "group": "0", "separator": "'a'"}
    constants |= {
        "pattern": "'a'",
        "new": "'a'",
        "part": "'hour'",
        "unit": "'hour'",
        "format": "'%Y'",
    }
    frame = FRAME.select(pl.all().shuffle(seed=1))
    for entry in BUILT_IN:
        arguments = [
            constants[p.name] if p.constant == "const" else samples[p.types[0].value]
            for p in entry.rule.parameters
        ]
        expr = Expr.of(f"{entry.name}({', '.join(arguments)})")
        assert frame.with_columns(expr.compile(SCHEMA).alias("r"))["r"].len() == 2
        assert frame.clear().with_columns(expr.compile(SCHEMA).alias("r")).height == 0
