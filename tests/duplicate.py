"""The user-defined operator of the thesis (appendix A.2): copies each tuple a number of times."""

from collections.abc import Mapping

import polars as pl

from boxcars.kernels.contract import Eager
from boxcars.model.box import Ports, param
from boxcars.model.schema import Schema


class Duplicate(Eager, type="duplicate"):
    """Copy each tuple a number of times."""

    number: int = param("How many copies leave.", xml="duplicate-number")

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        return {"0": inputs[0]}

    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        return {"0": train.select(pl.all().repeat_by(self.number)).explode(train.columns)}
