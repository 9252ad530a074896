"""What the studio and its page say to each other about networks; OpenAPI is made from it.

A network goes over the wire in its plain form, as in a JSON file: name, inputs, boxes, outputs. An
arc is called ``box`` or ``box.port``.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Plain = dict[str, Any]
"""A network, or a part of one, as it stands in a JSON file."""
Row = dict[str, Any]
"""A tuple: a value for each field. A timestamp is text in ISO 8601, and bytes are in Base64."""
Positions = dict[str, tuple[float, float]]
"""Where inputs, boxes and outputs (``-> name``) stand on the canvas."""
Entity = Literal["input", "box", "output", "table", "superbox", "connection point", "network"]
Strategy = Literal["operator-set-cloud", "operator-cloud", "query-cloud"]


class Asked(BaseModel):
    """What a caller sends; what nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Told(BaseModel):
    """What the studio answers."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Refusal(Told):
    """Why something was not done, in a sentence."""

    detail: str


class About(Told):
    """The studio itself."""

    version: str
    folder: str
    file: str | None
    """The network to open first, if the studio was started with one."""
    masters: list[str]
    """Where runs may be started: this machine, and clusters that the environment names."""
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


class ParamInfo(Told):
    """A parameter of a box. ``default`` is null where it is required, or where nothing is meant."""

    key: str
    doc: str
    kind: ParamKind
    required: bool
    default: Any
    choices: list[str] | None


class BoxInfo(Told):
    """A box of the palette; ``ports`` are the outputs of a new one, the side ports last."""

    type: str
    icon: str
    group: str
    summary: str
    doc: str
    paper: str
    example: str
    stateful: bool
    code: bool
    """Whether it runs code of the user's, which must be allowed."""
    params: list[ParamInfo]
    min_inputs: int
    max_inputs: int | None
    ports: list[str]
    side_ports: list[str]


class FunctionInfo(Told):
    """A function for expressions, or one for aggregates."""

    name: str
    signature: str
    doc: str
    kind: Literal["scalar", "aggregate"]
    group: str
    example: str


class WindowKind(Told):
    """A kind of window: what its size counts, and what else it can have."""

    by: str
    doc: str
    sized: bool
    keys: list[str]


class WindowInfo(Told):
    """How a window is written: ``{time: 60, advance: 10}``."""

    kinds: list[WindowKind]
    emit: list[str]
    obsolete: list[str]


class ConnectorInfo(Told):
    """A kind of address that tuples come from or go to."""

    scheme: str
    example: str
    doc: str
    source: bool
    sink: bool


class Palette(Told):
    """All that a network can be made of."""

    boxes: list[BoxInfo]
    functions: list[FunctionInfo]
    keywords: list[str]
    types: list[str]
    windows: WindowInfo
    connectors: list[ConnectorInfo]


class TemplateInfo(Told):
    """An application that ships with Boxcars; so many ``rows`` of its data show what it does."""

    name: str
    family: str
    sentence: str
    rows: int


class NetworkFile(Told):
    """A network file in the folder of the studio; ``modified`` in seconds since 1970."""

    file: str
    name: str
    modified: float
    tests: bool


class DataFile(Told):
    """A file with tuples in the folder of the studio; ``size`` in bytes."""

    file: str
    size: int


class Problem(Told):
    """One thing that is wrong, in the words of ``boxcars check``, and where.

    ``box`` is the box it is about, ``superbox`` the definition that this one is in. ``text`` says
    also the place.
    """

    message: str
    path: list[str]
    entity: Entity
    name: str | None
    box: str | None
    superbox: str | None
    text: str
    line: int | None


class Document(Told):
    """A network that was opened, as far as it could be read."""

    network: Plain
    positions: Positions
    format: str
    problems: list[Problem]
    version: str
    """Of the file, as it is now; empty if it is none of the folder."""


class SaveNetwork(Asked):
    """A network to be kept in a file, and where its boxes stand.

    ``over`` is the version of the file that it replaces: if there is another one, nothing is saved.
    An empty one is for a file that is not there yet; without it whatever is there is replaced.
    ``document`` is what a page called the drawing as long as it had no file: its runs are now those
    of the file.
    """

    network: Plain
    positions: Positions = Field(default_factory=dict)
    over: str | None = None
    document: str = ""


class ReadText(Asked):
    """The text of a network file; of a ``py`` file code is run, if that is allowed."""

    text: str
    format: Literal["yaml", "json", "xml", "py"] = "yaml"
    name: str = "network"


class WriteNetwork(Asked):
    """A network that is wanted as text."""

    network: Plain
    format: Literal["yaml", "json", "xml", "py", "svg", "mermaid", "text"]
    positions: Positions = Field(default_factory=dict)


class Text(Told):
    """A text."""

    text: str


class AskCheck(Asked):
    """A network to be checked, perhaps half drawn."""

    network: Plain


class FieldInfo(Told):
    """A field of an arc."""

    name: str
    type: str


class ArcSchema(Told):
    """The tuples of an arc: its fields, the one it is ordered by, and whether it is in order."""

    fields: list[FieldInfo]
    ts: str
    ordered: bool


class BoxPorts(Told):
    """How many arcs enter a box, and what leaves it; ``late`` and the like are on the side."""

    inputs: int
    outputs: list[str]
    side: list[str]


class CheckAnswer(Told):
    """Everything that is wrong, and the schema of each arc that is known.

    Boxes inside of a superbox are called ``use/box``. ``superboxes`` has the schemas in the
    definitions themselves, by their own declared inputs.
    """

    ok: bool
    problems: list[Problem]
    schemas: dict[str, ArcSchema]
    ports: dict[str, BoxPorts]
    superboxes: dict[str, dict[str, ArcSchema]]


class AskComplete(Asked):
    """What is being typed: the parameter at ``path`` of a box, its text, and the cursor in it."""

    network: Plain
    box: str
    path: list[str] = Field(default_factory=list)
    text: str
    cursor: int = Field(ge=0)
    superbox: str | None = None


class Option(Told):
    """A way to go on."""

    label: str
    kind: Literal["field", "function", "keyword", "table"]
    detail: str
    doc: str


class Completion(Told):
    """What the text from ``start`` up to the cursor may become."""

    start: int = Field(serialization_alias="from")
    options: list[Option]


class AskDiff(Asked):
    """Two versions of a network."""

    old: Plain
    new: Plain


class Change(Told):
    """An entity that differs; ``lines`` say how."""

    kind: Literal["added", "removed", "changed"]
    entity: Entity
    name: str
    lines: list[str]


class Diff(Told):
    """What changed, by entity, and as ``boxcars diff`` says it."""

    changes: list[Change]
    text: str


class AskGroup(Asked):
    """Boxes that are to become a superbox of that name."""

    network: Plain
    boxes: list[str]
    name: str


class AskUngroup(Asked):
    """A use of a superbox that is to become the boxes inside of it."""

    network: Plain
    box: str


class Regrouped(Told):
    """The network as it is then; ``names`` has new names of boxes by their old ones."""

    network: Plain
    names: dict[str, str]


class EntityInfo(Told):
    """A part of a network, in words (Aurora's ``describe``)."""

    kind: Entity
    name: str
    text: str


class AskSample(Asked):
    """Made-up tuples for an input are wanted."""

    network: Plain
    input: str
    rows: int = Field(default=100, ge=1, le=100_000)
    seed: int = 1
    template: str | None = None
    """An application whose data is wanted; else one that fits is looked for."""


class Sample(Told):
    """Tuples, also as CSV; ``template`` is the application whose generator made them."""

    rows: list[Row]
    text: str
    template: str | None
    tables: dict[str, list[Row]]
    """Records of stored tables that belong to them."""
