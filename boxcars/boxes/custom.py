"""Custom: a stateful box that runs a user-defined Python class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, ClassVar, Self

import polars as pl

from boxcars.kernels.columns.ranks import align_ranks, merge_owned
from boxcars.kernels.columns.system_columns import HIDDEN_COLUMNS, POSITION
from boxcars.kernels.contract import (
    Frontier,
    OwnedTuples,
    State,
    Stateful,
    Step,
    append_rows,
    earliest,
    split_point,
)
from boxcars.kernels.user.arguments import read_arguments
from boxcars.kernels.user.imports import find_named, name_of
from boxcars.kernels.user.operator import (
    INPUT,
    Driver,
    Operator,
    Output,
    Setup,
    TrainDriver,
    call_user_code,
)
from boxcars.kernels.user.per_key import PerKey, TupleDriver
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports, param
from boxcars.model.order import has_place, in_words
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import BoxcarsError, Wrong, a, nearest
from boxcars.model.routing import Routing
from boxcars.model.schema import HIDDEN, UNKNOWN_SCHEMA, Schema
from boxcars.model.types import FIELD_TYPES, Type

_EMITTED = "left"
_WAITING = "waiting."
_OWN = "own."


class Custom(Stateful, type="custom", icon="✎"):
    """Run a user-defined stateful operator: a Python class with a state of Polars frames.

    The class is a `bx.Operator`, which processes trains, or a `bx.PerKey`, which processes tuples
    one by one with a state for each value of ``by``. In files it is given as
    ``package.module:Class``, and ``with`` has the arguments of its constructor. To check or run the
    network the class is imported, if that is allowed. Several inputs are merged in order; they need
    the same order attribute.

    With ``by`` a `bx.PerKey` runs on several instances, each of which processes all tuples of some
    keys. A `bx.Operator`, whose state cannot be partitioned, always runs on one instance.

    Paper: Borealis' user-defined operators (thesis, A.2).

    >>> import boxcars as bx
    >>> class Count(bx.PerKey):
    ...     keeps = {"n": "int"}
    ...
    ...     def on_tuple(self, state, row):
    ...         state["n"] = (state["n"] or 0) + 1
    ...         return [row] if state["n"] % 10 == 0 else []
    >>> calls = bx.Network("n").input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> every_tenth = calls.custom(Count, by="caller")
    """

    arity: ClassVar[tuple[int, int | None]] = (1, None)
    code: ClassVar[str | None] = "class"

    operator: str = param("The class, as 'package.module:Class'.", key="class")
    parameters: Fields[Any] = param(
        "The arguments of its constructor.",
        default=Fields(),
        key="with",
        xml=("parameter.#", "parameter-name.#"),
    )
    by: tuple[str, ...] = param(
        "The key fields; different keys may be processed on different instances.",
        default=(),
        xml="group-by",
    )
    names: tuple[str, ...] = param(
        "The outputs of the class, where it has several.",
        default=(MAIN,),
        key="outputs",
        xml="output-name",
    )

    @classmethod
    def build(
        cls,
        operator: type[Operator] | str,
        /,
        *,
        by: str | Sequence[str] = (),
        outputs: Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Self:
        """A class or its name, the key fields, and the class's own parameters."""
        if not isinstance(operator, str):
            _operator_class(operator)
            outputs = operator.outputs if outputs is None else outputs
            operator = name_of(operator)
        plain = {"class": operator, "by": by, "with": {**(parameters or {}), **more}}
        return cls.from_plain(plain if outputs is None else {**plain, "outputs": outputs})

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        plain = self.plain()
        if "with" in plain:
            plain["parameters"] = plain.pop("with")
        return (plain.pop("class"),), plain

    @property
    def ports(self) -> tuple[str, ...]:
        """The outputs of the class."""
        return self.names

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """By the key fields."""
        if not self.by:
            return Routing.single("it has no key fields (by)")
        if not self.spreads():
            return Routing.single(
                "its class processes whole trains; only a bx.PerKey is split by key"
            )
        return Routing.key((name, schemas[port][name]) for name in self.by)

    def spreads(self) -> bool:
        """Whether the state is per key, so that keys may be on different instances."""
        return bool(self.by) and self._per_key()

    def gives_several(self) -> bool:
        """A call may return several rows; positions then number them."""
        return self.spreads()

    def _per_key(self) -> bool:
        return issubclass(_operator_class(find_named(self.operator, "class")), PerKey)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """What the class declares, once its parameters, inputs and outputs are checked."""
        unknown = dict.fromkeys(self.ports, UNKNOWN_SCHEMA)
        try:
            found = _operator_class(find_named(self.operator, "class"))
        except Wrong as wrong:
            inputs.wrong(str(wrong), "class")
            return unknown
        before = len(inputs.problems)
        self._check_ports(found, inputs)
        arguments = read_arguments(found, self.parameters, inputs.problems)
        if len(inputs.problems) > before or not all(s.known for s in inputs.schemas):
            return unknown
        try:
            operator = call_user_code(self.operator, found, **arguments)
            setup = self._setup(operator, inputs.schemas)
            self._driver(operator, setup, inputs.schemas).start()
            return self._schemas(setup, inputs[0])
        except BoxcarsError as error:
            inputs.wrong(str(error), "class")
            return unknown

    def _check_ports(self, found: type[Operator], inputs: Ports) -> None:
        """Check the number of inputs and outputs, their order, and one type per field name."""
        if found.inputs is not None and len(inputs) != found.inputs:
            noun = "input" if found.inputs == 1 else "inputs"
            inputs.wrong(
                f"{self.operator} has exactly {found.inputs} {noun}, got {len(inputs)}.", "in"
            )
        if self.names != found.outputs:
            wanted, got = ", ".join(found.outputs), ", ".join(self.names)
            inputs.wrong(f"{self.operator} has the outputs {wanted}; got {got}.", "outputs")
        inputs.in_order()
        first = inputs[0]
        for i, schema in enumerate(inputs.schemas):
            for number, name in enumerate(self.by):
                inputs.field(name, "by", number, schema=schema)
            if schema.known and first.known and schema.ts != first.ts:
                inputs.wrong(
                    f"it needs one order attribute, got '{first.ts}' and '{schema.ts}'.", "in", i
                )
            for name, type_ in schema.fields.items():
                known = {s[name] for s in inputs.schemas[:i] if name in s}
                if known and type_ not in known:
                    inputs.wrong(
                        f"'{name}' is {a(type_)} in this input and {a(known.pop())} in another.",
                        "in",
                        i,
                    )

    def _setup(self, operator: Operator, schemas: tuple[Schema, ...]) -> Setup:
        location = f"{self.operator}.setup"
        setup = call_user_code(location, operator.setup, schemas)
        if not isinstance(setup, Setup):
            raise BoxcarsError(f"{location} returned {type(setup).__name__}, expected a bx.Setup.")
        if setup.every is not None and not (isfinite(setup.every) and setup.every > 0):
            raise BoxcarsError(
                f"{location} returned every={setup.every}, expected a number above 0."
            )
        return setup

    def _schemas(self, setup: Setup, schema: Schema) -> dict[str, Schema]:
        """The schema of each output."""
        if setup.fields is None:
            return dict.fromkeys(self.ports, schema)
        several: Any = setup.fields if len(self.ports) > 1 else {MAIN: setup.fields}
        if set(several) != set(self.ports):
            wanted, got = ", ".join(self.ports), ", ".join(several)
            raise Wrong(
                f"{self.operator}.setup returned fields of {got}; its outputs are {wanted}."
            )
        return {port: self._schema(several[port], schema) for port in self.ports}

    def _schema(self, fields: Mapping[str, str | Type], schema: Schema) -> Schema:
        location, known = f"{self.operator}.setup", [type_.value for type_ in FIELD_TYPES]
        for name, type_ in fields.items():
            if str(type_) not in known:
                hint = nearest(str(type_), known)
                raise Wrong(f"{location} returned '{name}' with the type '{type_}'.{hint}")
            if name.startswith(HIDDEN):
                raise Wrong(f"{location}: names that start with {HIDDEN} belong to Boxcars.")
        typed = {name: Type(str(type_)) for name, type_ in fields.items()}
        if typed.get(schema.ts) is not schema[schema.ts]:
            raise Wrong(f"{location}: the order attribute '{schema.ts}' must stay in the fields.")
        return schema.with_fields(typed)

    def _driver(self, operator: Operator, setup: Setup, schemas: tuple[Schema, ...]) -> Driver:
        if isinstance(operator, PerKey):
            fields = self._schemas(setup, schemas[0])[MAIN].fields
            return TupleDriver(self.operator, operator, fields, self.by, _merged(schemas))
        return TrainDriver(self.operator, operator, setup, _merged(schemas))

    def _fresh(self, schemas: tuple[Schema, ...]) -> tuple[Driver, Setup]:
        """A fresh operator, so that nothing survives a step but its state."""
        found = _operator_class(find_named(self.operator, "class"))
        operator = call_user_code(
            self.operator, found, **read_arguments(found, self.parameters, [])
        )
        setup = self._setup(operator, schemas)
        return self._driver(operator, setup, schemas), setup

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The empty state, with the initial state of the operator."""
        order = schemas[0][schemas[0].ts].dtype
        counters = {"port": list(self.ports), "number": [0] * len(self.ports)}
        state = {f"{_WAITING}{i}": schema.empty() for i, schema in enumerate(schemas)}
        state[_EMITTED] = pl.DataFrame(
            counters, schema_overrides={"number": pl.Int64}
        ).with_columns(pl.lit(None, order).alias("last"))
        driver, _ = self._fresh(schemas)
        return state | {f"{_OWN}{name}": frame for name, frame in driver.start().items()}

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Process the tuples before the frontier, and advance time."""
        ts, frontier = schemas[0].ts, earliest(frontiers)
        ready, new = [], {}
        aligned = list(trains) if len(trains) == 1 else align_ranks(trains)
        hidden = HIDDEN_COLUMNS if self._per_key() else pl.col([])
        for port, (train, schema) in enumerate(zip(aligned, schemas, strict=True)):
            own_columns = train.select(*schema.fields, hidden)
            waiting = append_rows(state[f"{_WAITING}{port}"], own_columns)
            cut = split_point(waiting, ts, frontier)
            ready.append(waiting[:cut])
            new[f"{_WAITING}{port}"] = waiting[cut:]
        driver, setup = self._fresh(schemas)
        emitted, own = driver.advance(_own(state), _merge(ready, ts), frontier)
        numbered = any(POSITION in train.columns for train in trains) and not self._per_key()
        out, counters = self._checked_trains(
            emitted, state[_EMITTED], self._schemas(setup, schemas[0]), numbered
        )
        new |= {f"{_OWN}{name}": frame for name, frame in own.items()}
        new[_EMITTED] = (
            counters if frontier.value is None else _with_frontier(counters, frontier.value)
        )
        return Step(out, frontier, new)

    def share(
        self, states: Sequence[State], owned: OwnedTuples, schemas: tuple[Schema, ...]
    ) -> State:
        """The waiting tuples, and the state of the owned keys."""
        shared: dict[str, pl.DataFrame] = {}
        for port, schema in enumerate(schemas):
            frames = [state[f"{_WAITING}{port}"] for state in states]
            shared[f"{_WAITING}{port}"] = merge_owned(frames, partial(owned, port), schema.ts)
        counters = pl.concat([state[_EMITTED] for state in states])
        shared[_EMITTED] = counters.group_by("port", maintain_order=True).max()
        driver, _ = self._fresh(schemas)
        assert isinstance(driver, TupleDriver)
        own = driver.share([_own(state) for state in states], partial(owned, 0))
        return shared | {f"{_OWN}{name}": frame for name, frame in own.items()}

    def _checked_trains(
        self,
        emitted: list[Output],
        counters: pl.DataFrame,
        schemas: Mapping[str, Schema],
        numbered: bool,
    ) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
        """The output trains, checked for fields and order, and the new output counters.

        With ``numbered`` the output number of a tuple is its position, which does not depend on how
        the stream is split.
        """
        trains, rows = {}, []
        for port, number, last in counters.iter_rows():
            schema = schemas[port]
            frames = [self._columns(part, port, schema) for part in emitted]
            train = pl.concat([schema.empty(), *frames]) if len(frames) != 1 else frames[0]
            order = train[schema.ts]
            rest = (
                order
                if last is None
                else pl.concat([counters["last"][:0], pl.Series([last]), order])
            )
            if not train.select(has_place(pl.col(schema.ts), schema[schema.ts]).all()).item():
                raise BoxcarsError(
                    f"{self.operator} returned a tuple whose '{schema.ts}' is not between "
                    f"{in_words(schema[schema.ts])}."
                )
            if not rest.is_sorted():
                raise BoxcarsError(
                    f"{self.operator} returned tuples out of order: '{schema.ts}' must never be "
                    "less than before, nor less than the current time."
                )
            if numbered:
                positions = pl.int_range(number, number + train.height, dtype=pl.Int64, eager=True)
                train = train.with_columns(positions.alias(POSITION))
            trains[port] = train
            rows.append((port, number + train.height, order[-1] if train.height else last))
        return trains, pl.DataFrame(rows, schema=counters.schema, orient="row")

    def _columns(self, emitted: Any, port: str, schema: Schema) -> pl.DataFrame:
        """The columns of an output, checked against the declared types."""
        frame = emitted.get(port) if isinstance(emitted, Mapping) else emitted
        if isinstance(emitted, Mapping) and not emitted.keys() <= set(self.ports):
            wrong = next(name for name in emitted if name not in self.ports)
            raise BoxcarsError(f"{self.operator} has no output '{wrong}'.")
        if frame is None:
            return schema.empty()
        got = getattr(frame, "schema", None)
        if got is None or any(got.get(name) != dtype for name, dtype in schema.dtypes.items()):
            raise BoxcarsError(
                f"{self.operator} returned {dict(got) if got else type(frame).__name__}, "
                f"but its fields are {schema.dtypes}."
            )
        hidden = HIDDEN_COLUMNS if self._per_key() else pl.col([])
        selected: pl.DataFrame = frame.select(*schema.fields, hidden)
        return selected


def _own(state: State) -> State:
    """The part of the state that belongs to the operator."""
    return {n.removeprefix(_OWN): frame for n, frame in state.items() if n.startswith(_OWN)}


def _with_frontier(counters: pl.DataFrame, value: Any) -> pl.DataFrame:
    """Record that nothing may be emitted before the frontier any more."""
    frontier = pl.lit(value).cast(counters.schema["last"])
    return counters.with_columns(pl.max_horizontal("last", frontier).alias("last"))


def _merged(schemas: tuple[Schema, ...]) -> Schema:
    """The union of the fields of all inputs."""
    return schemas[0].with_fields({n: t for schema in schemas for n, t in schema.fields.items()})


def _merge(trains: list[pl.DataFrame], ts: str) -> pl.DataFrame:
    """One train of all inputs, in order; at equal order values the first input comes first."""
    if len(trains) == 1:
        return trains[0]
    marked = [t.with_columns(pl.lit(i, pl.Int64).alias(INPUT)) for i, t in enumerate(trains)]
    return pl.concat(marked, how="diagonal").sort(ts, maintain_order=True)


def _operator_class(found: Any) -> type[Operator]:
    if not (isinstance(found, type) and issubclass(found, Operator)):
        raise Wrong(f"expected a class that is a bx.Operator or a bx.PerKey, got {found!r}.")
    return found
