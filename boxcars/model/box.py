"""The base class of boxes: parameters, type rule, and the registry of box types."""

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
    """An expression, as the model sees it."""

    def type_in(self, schema: Schema) -> Type:
        """Return its type over tuples of a schema."""
        ...


@dataclass(frozen=True)
class Param:
    """One parameter of a box: its names in Python, YAML (``key``) and XML, and its description."""

    name: str
    key: str
    xml: tuple[str, ...]
    doc: str
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is dataclasses.MISSING


def param(
    doc: str,
    *,
    default: Any = dataclasses.MISSING,
    key: str | None = None,
    xml: str | tuple[str, str] | None = None,
) -> Any:
    """Declare a parameter of a box.

    ``key`` is its name in files, if different; ``xml`` the stem of the numbered Borealis names of
    the items of a list, or of the values and the names of a mapping.
    """
    names = (xml,) if isinstance(xml, str) else xml
    return dataclasses.field(default=default, metadata={"doc": doc, "key": key, "xml": names})


class Ports:
    """The context of a box's type rule: the schemas of its inputs, and a list of problems.

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
        """Note a problem with the parameter at ``path``."""
        self.problems.append(Problem(message, tuple(map(str, path))))

    def type(self, expr: Typed, *path: str | int, schema: Schema | None = None) -> Type:
        """Return the type of an expression over the first input; a type error is noted."""
        try:
            return expr.type_in(schema or self[0])
        except Wrong as wrong:
            self.wrong(str(wrong), *path)
            return Type.UNKNOWN

    def expect(self, expr: Typed, expected: Type, *path: str | int) -> None:
        """Note a problem unless the expression has the expected type."""
        got = self.type(expr, *path)
        if not expected.accepts(got):
            self.wrong(f"expected {a(expected)}, got '{expr}' of type {got}.", *path)

    def in_order(self) -> None:
        """Note problems with inputs that are not ordered, or whose order types differ."""
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
                    f"the order attribute '{schema.ts}' was recomputed, so this input is not in "
                    "order: sort it first, with bsort.",
                    *(["in", i] if len(self) > 1 else ["in"]),
                )

    def field(self, name: str, *path: str | int, schema: Schema | None = None) -> Type:
        """Return the type of a field of the first input; an unknown field is noted."""
        schema = schema or self[0]
        if name in schema:
            return schema[name]
        if schema.known:
            self.wrong(f"unknown field '{name}'.{nearest(name, schema.fields)}", *path)
        return Type.UNKNOWN

    def new_field(self, name: str, *path: str | int) -> None:
        """Note a problem with an invalid name of a new field."""
        if problem := name_problem(name):
            self.wrong(problem, *path)


@dataclass_transform(frozen_default=True, field_specifiers=(param,))
class Box(ABC):
    """An operator; its parameters are the fields of a frozen dataclass.

    A subclass names its type in the class statement, which also registers it::

        class Filter(Stateless, type="filter", icon="▽"):
            where: tuple[Expr, ...] = param("Predicates, tried in order.")
    """

    type: ClassVar[str]
    icon: ClassVar[str]
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    """The minimum and maximum number of inputs; None is unlimited."""
    stateful: ClassVar[bool] = False
    writes: ClassVar[bool] = False
    """Whether it modifies its stored tables."""
    positioned: ClassVar[bool] = False
    """Whether it needs the row number of each tuple in its input."""
    code: ClassVar[str | None] = None
    """The parameter that names the user's Python code, imported to check or run the box."""

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
        """Optional outputs for errors, such as ``late`` and ``dead``."""
        return ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The stored tables that it reads or writes."""
        return ()

    def with_outputs(self, number: int) -> Self:
        """Return the box with a number of outputs, for languages that count them (Borealis XML)."""
        if number != len(self.ports):
            plural = "s" * (len(self.ports) != 1)
            raise Wrong(
                f"{a(self.type)} like this has exactly {len(self.ports)} output{plural}, "
                f"got {number}."
            )
        return self

    @abstractmethod
    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """Return the schema of each output (the type rule); problems are noted in ``inputs``."""

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """Return how an input is partitioned, so that the box can run in parallel."""
        if self.writes:
            return Routing.single("it changes a stored table")
        return Routing.single("it has one state for all tuples") if self.stateful else ANYWHERE

    def gives_several(self) -> bool:
        """Whether one input tuple, or one order value of a key, may emit several tuples."""
        return False

    def carries(self, field: str, schema: Schema) -> str | None:
        """Return the input field that is passed on unchanged under that name, if any."""
        return None

    def halves(self, schema: Schema) -> tuple[Box, Box] | None:
        """Return a stateless and a stateful box that together are equivalent to this one, if any.

        The first can then pre-aggregate before a shuffle.
        """
        return None

    @classmethod
    def build(cls, *arguments: Any, **given: Any) -> Self:
        """Make the box from Python arguments; plain values are parsed as in a file."""
        if arguments:
            raise Wrong(f"{a(cls.type)} takes its parameters by name, got {arguments[0]!r}.")
        return cls.from_plain({_key(cls, name): value for name, value in given.items()})

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return plain arguments for :meth:`build` that make an equal box."""
        keys = {p.key: p.name for p in params(type(self))}
        return (), {keys[key]: value for key, value in self.plain().items()}

    def plain(self) -> dict[str, Plain]:
        """Return the parameters that differ from their defaults, as in a file."""
        return {
            p.key: codec.to_plain(value)
            for p in params(type(self))
            if (value := getattr(self, p.name)) != p.default
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Plain]) -> Self:
        """Make the box from plain parameters; raises one NetworkError with all problems."""
        problems: list[Problem] = []
        box: Self | None = read_box(cls, plain, (), problems)
        if box is None:
            raise NetworkError(problems)
        return box


_REGISTRY: dict[str, type[Box]] = {}


def register_box(cls: type[Box]) -> None:
    """Register a box type; registering the same class again (a reload) replaces it."""
    known = _REGISTRY.get(cls.type)
    if known is not None and known.__qualname__ != cls.__qualname__:
        raise Wrong(f"the box type '{cls.type}' already exists: {known.__module__}.")
    _REGISTRY[cls.type] = cls
    if cls.__module__.partition(".")[0] != "boxcars":
        note_own("box", cls.type, cls)


def box_types() -> Mapping[str, type[Box]]:
    """Return all registered boxes, by type, in alphabetical order."""
    return dict(sorted(_REGISTRY.items()))


@cache
def params(cls: type[Box]) -> tuple[Param, ...]:
    """Return the parameters of a box type, in the order of definition."""
    hints = get_type_hints(cls)
    found = []
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        key = field.metadata.get("key") or field.name
        xml = field.metadata.get("xml") or (key.replace("_", "-"),)
        doc = field.metadata.get("doc", "")
        found.append(Param(field.name, key, xml, doc, hints[field.name], field.default))
    return tuple(found)


def unfilled(box: Box) -> tuple[str, ...]:
    """Return the parameters that are unbound parameters of a superbox (``$rate``)."""
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
    """Make a box from plain parameters; on errors note the problems and return None."""
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
