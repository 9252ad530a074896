"""What a box is: its parameters, its type rule, and the registry of all boxes."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    Self,
    dataclass_transform,
    get_args,
    get_type_hints,
)

from boxcars.model import codec
from boxcars.model.arc import MAIN
from boxcars.model.own_code import note_own
from boxcars.model.problem import NetworkError, Path, Problem, Wrong, a, nearest
from boxcars.model.routing import ANYWHERE, Routing
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema, name_problem
from boxcars.model.types import Type

if TYPE_CHECKING:
    from boxcars.model.entities import Table

Plain = Any


class Typed(Protocol):
    """An expression, as far as the model needs to know it."""

    def type_in(self, schema: Schema) -> Type:
        """Its type over tuples like these."""
        ...


@dataclass(frozen=True)
class Param:
    """One parameter of a box: its name here, in YAML (``key``) and in XML, and what it means."""

    name: str
    key: str
    xml: tuple[str, ...]
    doc: str
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether a box can't do without it."""
        return self.default is dataclasses.MISSING


def param(
    doc: str,
    *,
    default: Any = dataclasses.MISSING,
    key: str | None = None,
    xml: str | tuple[str, str] | None = None,
) -> Any:
    """Declare a parameter of a box.

    ``key`` is its name in files where that differs; ``xml`` the numbered names that Borealis
    gives to the items of a list, or to the values and the names of a mapping.
    """
    names = (xml,) if isinstance(xml, str) else xml
    return dataclasses.field(default=default, metadata={"doc": doc, "key": key, "xml": names})


class Ports:
    """The arcs that enter a box, for its type rule: their schemas, and a place for complaints.

    ``tables`` are the stored tables of the network.
    """

    def __init__(
        self, schemas: tuple[Schema, ...], tables: Mapping[str, Table] | None = None
    ) -> None:
        self.schemas = schemas
        self.tables = tables or {}
        self.problems: list[Problem] = []

    def __getitem__(self, index: int) -> Schema:
        return self.schemas[index] if index < len(self.schemas) else UNKNOWN_SCHEMA

    def __len__(self) -> int:
        return len(self.schemas)

    def wrong(self, message: str, *path: str | int) -> None:
        """Complain about the parameter at ``path``."""
        self.problems.append(Problem(message, tuple(map(str, path))))

    def type(self, expr: Typed, *path: str | int, schema: Schema | None = None) -> Type:
        """The type of an expression over the first input; what is wrong with it is noted."""
        try:
            return expr.type_in(schema or self[0])
        except Wrong as wrong:
            self.wrong(str(wrong), *path)
            return Type.UNKNOWN

    def expect(self, expr: Typed, expected: Type, *path: str | int) -> None:
        """Complain unless the expression has the expected type."""
        got = self.type(expr, *path)
        if not expected.accepts(got):
            self.wrong(f"expected {a(expected)}, got '{expr}' of type {got}.", *path)

    def in_order(self) -> None:
        """Complain about inputs that are not in order, or by values that can't be compared."""
        known = [schema for schema in self.schemas if schema.known]
        for other in known[1:]:
            if not known[0][known[0].ts].accepts(other[other.ts]):
                self.wrong(
                    f"the order attributes differ: '{known[0].ts}' is {a(known[0][known[0].ts])}, "
                    f"'{other.ts}' is {a(other[other.ts])}.",
                    "in",
                )
        for i, schema in enumerate(self.schemas):
            if not schema.ordered:
                self.wrong(
                    f"the order attribute '{schema.ts}' was computed anew, so this input is not in "
                    "order: sort it first, with bsort.",
                    *(["in", i] if len(self) > 1 else ["in"]),
                )

    def field(self, name: str, *path: str | int, schema: Schema | None = None) -> Type:
        """The type of a field of the first input; an unknown one is noted."""
        schema = schema or self[0]
        if name in schema:
            return schema[name]
        if schema.known:
            self.wrong(f"unknown field '{name}'.{nearest(name, schema.fields)}", *path)
        return Type.UNKNOWN

    def new_field(self, name: str, *path: str | int) -> None:
        """Complain about a new field that can't be called so."""
        if problem := name_problem(name):
            self.wrong(problem, *path)


@dataclass_transform(frozen_default=True, field_specifiers=(param,))
class Box(ABC):
    """An operator: its parameters are the fields of a frozen dataclass.

    A subclass names its type in the class line, which also registers it::

        class Filter(Stateless, type="filter", icon="▽"):
            where: tuple[Expr, ...] = param("Predicates, tried in order.")
    """

    type: ClassVar[str]
    icon: ClassVar[str]
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    """The least and the greatest number of inputs; None is any number."""
    stateful: ClassVar[bool] = False
    writes: ClassVar[bool] = False
    """Whether it changes the tables that it names."""
    positioned: ClassVar[bool] = False
    """Whether it needs the row number that each tuple has in its input."""
    code: ClassVar[str | None] = None
    """The parameter that names Python code of the user's, which is imported to check or run it."""

    def __init_subclass__(
        cls,
        *,
        type: str | None = None,
        icon: str = "□",
        **more: Any,
    ) -> None:
        super().__init_subclass__(**more)
        dataclass(frozen=True)(cls)
        if type is not None:
            cls.type, cls.icon = type, icon
            register_box(cls)

    @property
    def ports(self) -> tuple[str, ...]:
        """The names of its outputs, the main one first."""
        return (MAIN,)

    @property
    def side_ports(self) -> tuple[str, ...]:
        """Outputs for what went wrong, such as ``late`` and ``dead``; nobody has to use them."""
        return ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The stored tables that it reads or writes."""
        return ()

    def with_outputs(self, number: int) -> Self:
        """The box with that many outputs, for languages that count them (Borealis XML)."""
        if number != len(self.ports):
            plural = "s" * (len(self.ports) != 1)
            raise Wrong(
                f"{a(self.type)} like this has exactly {len(self.ports)} output{plural}, "
                f"got {number}."
            )
        return self

    @abstractmethod
    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The type rule: the schema of each output, and complaints noted in ``inputs``."""

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """Which tuples that enter by a port must meet, so that the box can run in many places."""
        if self.writes:
            return Routing.single("it changes a stored table")
        return Routing.single("it has one state for all tuples") if self.stateful else ANYWHERE

    def gives_several(self) -> bool:
        """Whether one tuple, or one moment for one key, may give several tuples at once."""
        return False

    def carries(self, field: str, schema: Schema) -> str | None:
        """The field of its input that leaves, as it is, under that name; None if none does."""
        return None

    def halves(self, schema: Schema) -> tuple[Box, Box] | None:
        """A stateless box and a stateful one that together give what this one gives, if any.

        The first may then run before a shuffle, where it makes few tuples of many.
        """
        return None

    @classmethod
    def build(cls, *arguments: Any, **given: Any) -> Self:
        """Make the box from what a Python user writes; plain values are read as in a file."""
        if arguments:
            raise Wrong(f"{a(cls.type)} takes its parameters by name, got {arguments[0]!r}.")
        return cls.from_plain({_key(cls, name): value for name, value in given.items()})

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What to hand to :meth:`build` to get this box again, as plain values."""
        keys = {p.key: p.name for p in params(type(self))}
        return (), {keys[key]: value for key, value in self.plain().items()}

    def plain(self) -> dict[str, Plain]:
        """The parameters that differ from their defaults, as they stand in a file."""
        return {
            p.key: codec.to_plain(value)
            for p in params(type(self))
            if (value := getattr(self, p.name)) != p.default
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Plain]) -> Self:
        """Make the box from plain parameters; everything wrong with them is one NetworkError."""
        problems: list[Problem] = []
        box: Self | None = read_box(cls, plain, (), problems)
        if box is None:
            raise NetworkError(problems)
        return box


_REGISTRY: dict[str, type[Box]] = {}


def register_box(cls: type[Box]) -> None:
    """Make a type of box known; the same class may come again, as when its module is reloaded."""
    known = _REGISTRY.get(cls.type)
    if known is not None and known.__qualname__ != cls.__qualname__:
        raise Wrong(f"there is a box type '{cls.type}' already: {known.__module__}.")
    _REGISTRY[cls.type] = cls
    if cls.__module__.partition(".")[0] != "boxcars":
        note_own("box", cls.type, cls)


def box_types() -> Mapping[str, type[Box]]:
    """All boxes that there are, by type, in alphabetical order."""
    return dict(sorted(_REGISTRY.items()))


@cache
def params(cls: type[Box]) -> tuple[Param, ...]:
    """The parameters of a box type, in the order of its definition."""
    hints = get_type_hints(cls)
    found = []
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        key = field.metadata.get("key") or field.name
        xml = field.metadata.get("xml") or (key.replace("_", "-"),)
        doc = field.metadata.get("doc", "")
        found.append(Param(field.name, key, xml, doc, hints[field.name], field.default))
    return tuple(found)


def unfilled(box: Box) -> tuple[str, ...]:
    """The parameters that stand for one of a superbox (``$rate``) that is not there."""
    return tuple(
        p.key
        for p in params(type(box))
        if not {str, Any} & {p.annotation, *get_args(p.annotation)}
        and codec.is_placeholder(getattr(box, p.name))
    )


def _key(cls: type[Box], name: str) -> str:
    return next((p.key for p in params(cls) if p.name == name), name)


def read_box(
    cls: type[Box], plain: Mapping[str, Plain], path: Path, problems: list[Problem]
) -> Any:
    """Make a box from plain parameters, or note what is wrong and give None."""
    before = len(problems)
    known = {p.key: p for p in params(cls)}
    problems += [
        Problem(f"{a(cls.type)} has no '{key}'.{nearest(key, known)}", (*path, key))
        for key in plain
        if key not in known
    ]
    values = {}
    for p in known.values():
        if p.key in plain:
            values[p.name] = codec.from_plain(p.annotation, plain[p.key], (*path, p.key), problems)
        elif p.required:
            problems.append(
                Problem(f"{a(cls.type)} needs '{p.key}': {p.doc[:1].lower()}{p.doc[1:]}", path)
            )
    return cls(**values) if len(problems) == before else None
