"""Messages about networks.

A network is sent in its plain form, as in a JSON file: name, inputs, boxes, outputs. An arc is
written ``box`` or ``box.port``.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Plain = dict[str, Any]
"""A network, or a part of one, as in a JSON file."""
Row = dict[str, Any]
"""A tuple: a value for each field. Timestamps are ISO 8601 text, bytes are Base64."""
Positions = dict[str, tuple[float, float]]
"""Positions of inputs, boxes and outputs (``-> name``) on the canvas."""
Entity = Literal["input", "box", "output", "table", "superbox", "connection point", "network"]
Strategy = Literal["operator-set-cloud", "operator-cloud", "query-cloud"]


class RequestBody(BaseModel):
    """Base of request messages; unknown keys are rejected."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ResponseBody(BaseModel):
    """Base of response messages."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Refusal(ResponseBody):
    """The body of an error response: the reason, as a sentence."""

    detail: str


class About(ResponseBody):
    """The studio itself."""

    version: str
    folder: str
    file: str | None
    """The network to open first, if the studio was started with one."""
    masters: list[str]
    """Spark masters to choose from: this machine, and clusters named in the environment."""
    allow_code: bool


ParamKind = Literal[
    "expr",
    "exprs",
    "named_exprs",
    "fields",
    "field",
    "renames",
    "names",
    "int",
    "float",
    "bool",
    "str",
    "sql",
    "window",
    "choice",
    "table",
    "schema",
    "other",
]


class ParamInfo(ResponseBody):
    """A parameter of a box. ``default`` is null if it is required or has no default value."""

    key: str
    doc: str
    kind: ParamKind
    required: bool
    default: Any
    choices: list[str] | None


class BoxInfo(ResponseBody):
    """A box type of the palette; ``ports`` are the outputs of a new box."""

    type: str
    icon: str
    group: str
    summary: str
    doc: str
    paper: str
    example: str
    stateful: bool
    code: bool
    """Whether it runs the user's code, which needs ``--allow-code``."""
    params: list[ParamInfo]
    min_inputs: int
    max_inputs: int | None
    ports: list[str]
    side_ports: list[str]


class FunctionInfo(ResponseBody):
    """A scalar or aggregate function."""

    name: str
    signature: str
    doc: str
    kind: Literal["scalar", "aggregate"]
    group: str
    example: str


class WindowKind(ResponseBody):
    """A kind of window, and the options it supports."""

    by: str
    doc: str
    sized: bool
    keys: list[str]


class WindowInfo(ResponseBody):
    """How a window is written: ``{time: 60, advance: 10}``."""

    kinds: list[WindowKind]
    emit: list[str]
    obsolete: list[str]


class ConnectorInfo(ResponseBody):
    """A kind of source or sink address."""

    scheme: str
    example: str
    doc: str
    source: bool
    sink: bool


class Palette(ResponseBody):
    """The building blocks of networks."""

    boxes: list[BoxInfo]
    functions: list[FunctionInfo]
    keywords: list[str]
    types: list[str]
    windows: WindowInfo
    connectors: list[ConnectorInfo]


class TemplateInfo(ResponseBody):
    """A bundled application; ``rows`` tuples of its data show what it does."""

    name: str
    family: str
    sentence: str
    rows: int


class NetworkFile(ResponseBody):
    """A network file in the folder of the studio; ``modified`` in seconds since 1970."""

    file: str
    name: str
    modified: float
    tests: bool


class DataFile(ResponseBody):
    """A data file in the folder of the studio; ``size`` in bytes."""

    file: str
    size: int


class Problem(ResponseBody):
    """One problem, with the message of ``boxcars check`` and its location.

    ``box`` is the affected box, ``superbox`` the definition that contains it. ``text`` is the
    message with the location.
    """

    message: str
    path: list[str]
    entity: Entity
    name: str | None
    box: str | None
    superbox: str | None
    text: str
    line: int | None


class Document(ResponseBody):
    """An opened network, as far as it could be read."""

    network: Plain
    positions: Positions
    format: str
    problems: list[Problem]
    version: str
    """The current version of the file; empty if it is not in the folder."""


class SaveNetwork(RequestBody):
    """A network to save in a file, with the positions of its boxes.

    ``over`` is the expected version of the file: if it differs, nothing is saved. An empty version
    means that the file must not exist; null overwrites any version. ``document`` is the page's name
    for the drawing before it had a file: its runs now belong to the file.
    """

    network: Plain
    positions: Positions = Field(default_factory=dict)
    over: str | None = None
    document: str = ""


class ReadText(RequestBody):
    """The text of a network file; ``py`` is executed, if code is allowed."""

    text: str
    format: Literal["yaml", "json", "xml", "py"] = "yaml"
    name: str = "network"


class WriteNetwork(RequestBody):
    """A network to write as text."""

    network: Plain
    format: Literal["yaml", "json", "xml", "py", "svg", "mermaid", "text"]
    positions: Positions = Field(default_factory=dict)


class Text(ResponseBody):
    """A text."""

    text: str


class AskCheck(RequestBody):
    """A network to check, which may be incomplete."""

    network: Plain


class FieldInfo(ResponseBody):
    """A field of an arc."""

    name: str
    type: str


class ArcSchema(ResponseBody):
    """The schema of an arc: its fields, its order attribute, and whether it is ordered."""

    fields: list[FieldInfo]
    ts: str
    ordered: bool


class BoxPorts(ResponseBody):
    """The number of inputs of a box, its outputs, and its side outputs such as ``late``."""

    inputs: int
    outputs: list[str]
    side: list[str]


class CheckAnswer(ResponseBody):
    """All problems, and the schema of each arc that is known.

    Boxes inside a superbox are named ``use/box``. ``superboxes`` has the schemas inside the
    definitions, derived from their declared inputs.
    """

    ok: bool
    problems: list[Problem]
    schemas: dict[str, ArcSchema]
    ports: dict[str, BoxPorts]
    superboxes: dict[str, dict[str, ArcSchema]]


class AskComplete(RequestBody):
    """A completion request: the parameter at ``path`` of a box, its text, and the cursor."""

    network: Plain
    box: str
    path: list[str] = Field(default_factory=list)
    text: str
    cursor: int = Field(ge=0)
    superbox: str | None = None


class Option(ResponseBody):
    """A completion."""

    label: str
    kind: Literal["field", "function", "keyword", "table"]
    detail: str
    doc: str


class Completion(ResponseBody):
    """Completions for the text from ``start`` up to the cursor."""

    start: int = Field(serialization_alias="from")
    options: list[Option]


class AskDiff(RequestBody):
    """Two versions of a network."""

    old: Plain
    new: Plain


class Change(ResponseBody):
    """An entity that differs; ``lines`` describe how."""

    kind: Literal["added", "removed", "changed"]
    entity: Entity
    name: str
    lines: list[str]


class Diff(ResponseBody):
    """The changes by entity, and as the text of ``boxcars diff``."""

    changes: list[Change]
    text: str


class AskGroup(RequestBody):
    """Boxes to group into a superbox of that name."""

    network: Plain
    boxes: list[str]
    name: str


class AskUngroup(RequestBody):
    """A use of a superbox to replace by its boxes."""

    network: Plain
    box: str


class Regrouped(ResponseBody):
    """The resulting network; ``names`` maps old to new names of boxes."""

    network: Plain
    names: dict[str, str]


class EntityInfo(ResponseBody):
    """An entity of a network and its description (Aurora's ``describe``)."""

    kind: Entity
    name: str
    text: str


class AskSample(RequestBody):
    """A request for generated tuples for an input."""

    network: Plain
    input: str
    rows: int = Field(default=100, ge=1, le=100_000)
    seed: int = 1
    template: str | None = None
    """The application to take data from; by default one that fits the network."""


class Sample(ResponseBody):
    """Generated tuples, also as CSV; ``template`` is the application they come from."""

    rows: list[Row]
    text: str
    template: str | None
    tables: dict[str, list[Row]]
    """Matching records of stored tables."""
