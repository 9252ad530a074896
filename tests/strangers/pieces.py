"""One example of each kind of user code, for scripts, notebooks and packages."""

PIECES = '''
from collections.abc import Mapping
from typing import Any

import polars as pl

import boxcars as bx
from boxcars.kernels.contract import Eager
from boxcars.model.box import Ports, param
from boxcars.model.schema import Schema

FACTOR = 2


@bx.function
def twice(x: pl.Expr) -> pl.Expr:
    return x * FACTOR


@bx.function(returns="int")
def count_char(text: str, char: str) -> int:
    return text.count(char)


@bx.aggregate
class product:
    """All values multiplied."""

    def start() -> float:
        return 1.0

    def add(state: float, x: float) -> float:
        return state * x

    def finish(state: float) -> float:
        return state


@bx.converter("pipe")
class Pipe(bx.RecordFormat):
    def decode_record(self, record: bytes) -> dict[str, Any]:
        name, number = record.decode().split("|")
        return {"name": name, "number": int(number)}

    def encode_record(self, row: Mapping[str, Any]) -> bytes:
        return f"{row['name']}|{row['number']}".encode()


class Duplicate(Eager, type="duplicate", icon="⧉"):
    """Copy each tuple a number of times."""

    number: int = param("Number of copies.")

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        return {"0": inputs[0]}

    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        return {"0": train.select(pl.all().repeat_by(self.number)).explode(pl.all())}


class Every(bx.PerKey):
    keeps = {"n": "int"}

    def on_tuple(self, state: dict[str, Any], row: dict[str, Any]) -> list[dict[str, Any]]:
        state["n"] = (state["n"] or 0) + 1
        return [row] if state["n"] % FACTOR == 0 else []


def louder(train: pl.DataFrame) -> pl.DataFrame:
    return train.with_columns(pl.col("name").str.to_uppercase())
'''
