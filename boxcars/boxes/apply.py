"""Apply: a stateless box that runs a user-defined Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import polars as pl

from boxcars.kernels.contract import Eager
from boxcars.kernels.user.imports import find_named, is_name, name_of
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports, param
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import BoxcarsError, Wrong, a
from boxcars.model.schema import HIDDEN, Schema
from boxcars.model.types import Type

Work = Callable[[pl.DataFrame], pl.DataFrame]


class Apply(Eager, type="apply", icon="λ"):
    """Run a Python function over each train: a Polars frame in, a Polars frame out.

    The function must process each tuple independently (trains end anywhere) and preserve the order.
    It may drop tuples and return several for one. Without ``fields`` the output has the fields of
    the input. Columns that start with ``__`` belong to Boxcars and must be kept. In files the
    function is given as ``package.module:function``, and imported if that is allowed.

    Paper: Borealis' user-defined operators (thesis, A.2).

    >>> import boxcars as bx
    >>> def twice(train):
    ...     return pl.concat([train, train]).sort("t")
    >>> calls = bx.Network("n").input("calls", ts="t", fields={"t": "int"})
    >>> doubled = calls.apply(twice)
    """

    code: ClassVar[str | None] = "function"

    function: str = param("The function, as 'package.module:function'.")
    fields: Fields[Type] | None = param(
        "The output fields, where they differ from the input fields.",
        default=None,
        xml=("field-type.#", "field-name.#"),
    )

    @classmethod
    def build(cls, function: Work | str, fields: Mapping[str, str | Type] | None = None) -> Self:
        """The function or its name, and its output fields."""
        if not isinstance(function, str):
            if not callable(function):
                raise Wrong(f"expected a function or its name, got {function!r}.")
            function = name_of(function)
        return cls.from_plain({"function": function, "fields": fields})

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        plain = self.plain()
        return (plain.pop("function"),), plain

    def gives_several(self) -> bool:
        """The function may return several tuples for one."""
        return True

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The declared fields, which must include the order attribute."""
        if not is_name(self.function):
            inputs.wrong(f"expected 'package.module:function', got '{self.function}'.", "function")
        if self.fields is None or not inputs[0].known:
            return {MAIN: inputs[0]}
        for name in self.fields:
            inputs.new_field(name, "fields", name)
        ts = inputs[0].ts
        if self.fields.get(ts) is not inputs[0][ts]:
            inputs.wrong(f"the order attribute '{ts}' must stay {a(inputs[0][ts])}.", "fields")
        return {MAIN: inputs[0].with_fields(self.fields)}

    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        """Call the function, and check its output against the declared fields."""
        function = find_function(self.function)
        try:
            result = function(train)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise BoxcarsError(f"{self.function} raised {what}") from error
        wanted = schema.dtypes if self.fields is None else schema.with_fields(self.fields).dtypes
        wanted |= {n: d for n, d in train.schema.items() if n.startswith(HIDDEN)}
        got = getattr(result, "schema", None)
        if got is None or any(got.get(name) != dtype for name, dtype in wanted.items()):
            raise BoxcarsError(
                f"{self.function} returned {dict(got) if got else type(result).__name__}, "
                f"but its fields are declared as {wanted}. Columns that start with {HIDDEN} belong "
                "to Boxcars and must be kept."
            )
        return {MAIN: result.select(*wanted)}


def find_function(name: str) -> Work:
    """The function of that name, imported if needed."""
    found = find_named(name, "function")
    if not callable(found):
        raise Wrong(f"'{name}' is not a function.")
    work: Work = found
    return work
