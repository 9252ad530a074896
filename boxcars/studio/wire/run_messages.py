"""Messages about plans, previews, tests and runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from boxcars.studio.wire.messages import Plain, RequestBody, ResponseBody, Row, Strategy

Positive = Annotated[int, Field(ge=1)]
Instances = Positive | dict[str, Positive]
"""The number for all subqueries, or by subquery name."""


class AskPlan(RequestBody):
    """Planning options; ``groups`` are boxes that run together, by group name.

    ``instances`` defaults to the number of cores of this machine, as in a run.
    """

    network: Plain
    strategy: Strategy = "operator-set-cloud"
    instances: Instances | None = None
    buckets: int = Field(default=64, ge=1, le=65_536)
    groups: dict[str, list[str]] = Field(default_factory=dict)


class PlanFeed(ResponseBody):
    """An arc from one subquery into another, and how its tuples are split."""

    arc: str
    source: str
    consumer: str
    port: int
    routing: str


class PlanSubquery(ResponseBody):
    """Boxes that run together; a prefix reads the input ``source``."""

    name: str
    level: int
    boxes: list[str]
    source: str | None
    kind: str
    instances: int
    buckets: int
    inputs: list[PlanFeed]
    splittable: bool


class PlanCost(ResponseBody):
    """The cost of a strategy in StreamCloud's cost model."""

    strategy: Strategy
    subclusters: int
    size: float
    fanout: float
    hops: int
    channels: float
    cost: float


class PlanAnswer(ResponseBody):
    """The plan as data, as text and as a picture; ``command`` is the equivalent command line."""

    strategy: Strategy
    levels: list[list[str]]
    subqueries: list[PlanSubquery]
    costs: list[PlanCost]
    text: str
    svg: str
    command: str


class AskCompile(AskPlan):
    """A plan to compile to files; ``pool`` are machines as ``host`` or ``host:port``.

    With ``save`` they are written to that folder inside the studio's folder.
    """

    sources: dict[str, str] = Field(default_factory=dict)
    sinks: dict[str, str] = Field(default_factory=dict)
    pool: list[str] = Field(default_factory=list)
    master: str | None = None
    save: str | None = None


class Compiled(ResponseBody):
    """Files by name, and the command lines that check, plan and run them."""

    files: dict[str, str]
    commands: list[str]
    folder: str | None


class InputData(RequestBody):
    """Tuples of an input or records of a table: as text or as rows."""

    format: Literal["csv", "jsonl", "rows"] = "rows"
    text: str = ""
    rows: list[Row] = Field(default_factory=list)


class AskPreview(RequestBody):
    """A network and data for its inputs; a step feeds ``train`` tuples by default."""

    network: Plain
    data: dict[str, InputData]
    tables: dict[str, InputData] = Field(default_factory=dict)
    train: int = Field(default=1, ge=1)


class Breakpoint(RequestBody):
    """Stop when a tuple reaches an arc; with ``where``, only one for which it holds."""

    arc: str
    where: str = ""


class AskStep(RequestBody):
    """How far to step: a number of tuples, to the end, or until a breakpoint."""

    tuples: int | None = Field(default=None, ge=1)
    to: Literal["end"] | None = None
    until: list[Breakpoint] = Field(default_factory=list)


class ArcRows(ResponseBody):
    """The tuples of an arc: their total number, the last rows, and the number new in this step."""

    total: int
    rows: list[Row]
    fresh: int


class StateTable(ResponseBody):
    """A part of the state of a box, such as windows or buffered tuples: its first rows."""

    name: str
    columns: list[str]
    rows: list[Row]
    total: int


class BoxCounts(ResponseBody):
    """The counts of a box so far."""

    tuples_in: int
    tuples_out: int
    late: int
    dead: int
    seconds: float


class PreviewBox(ResponseBody):
    """The state and the counts of a box."""

    state: list[StateTable]
    stats: BoxCounts


class DeadLetter(ResponseBody):
    """A record that could not be converted to a tuple, and why."""

    source: str
    record: str
    reason: str


class Preview(ResponseBody):
    """The state of a preview: ``position`` of ``total`` tuples have been fed."""

    id: str
    position: int
    total: int
    finished: bool
    stopped_at: str | None
    """The arc of the breakpoint, if that is why it stopped."""
    arcs: dict[str, ArcRows]
    boxes: dict[str, PreviewBox]
    outputs: dict[str, ArcRows]
    tables: dict[str, list[Row]]
    dead: list[DeadLetter]


class Case(RequestBody):
    """A test of a network: input tuples and the expected output.

    Rows are given as a list or as CSV. Only the fields and outputs that are named are compared; the
    order of rows matters.
    """

    name: str
    given: dict[str, list[Row] | str] = Field(default_factory=dict)
    tables: dict[str, list[Row] | str] = Field(default_factory=dict)
    expect: dict[str, list[Row] | str] = Field(default_factory=dict)


class Cases(RequestBody):
    """The tests of a network."""

    tests: list[Case]


class SaveCases(Cases):
    """Tests to save over a version of their file; see :class:`SaveNetwork`."""

    over: str | None = None


class KeptCases(ResponseBody):
    """The tests of a network, and the version of their file; empty if there is none."""

    tests: list[Case]
    version: str


class AskCases(RequestBody):
    """Tests to run."""

    network: Plain
    tests: list[Case]


class CaseResult(ResponseBody):
    """The result of a test; ``difference`` is empty if it passed."""

    name: str
    passed: bool
    difference: str


RunState = Literal["starting", "running", "waiting", "finished", "stopped", "failed"]


class AskRun(RequestBody):
    """A network or network file to run, with its sources and sinks.

    A source is an address, a file in the studio's folder, or ``inject``; a sink is an address, a
    folder, or ``live``. Inputs and outputs that are not named default to ``inject`` and ``live``.
    With a ``template``, stored tables that are not named get its records. ``document`` is the name
    that the page gives the drawing, so that it recognizes its runs.
    """

    network: Plain | None = None
    file: str | None = None
    name: str = ""
    document: str = ""
    sources: dict[str, str] = Field(default_factory=dict)
    sinks: dict[str, str] = Field(default_factory=dict)
    tables: dict[str, str | list[Row]] = Field(default_factory=dict)
    template: str | None = None
    strategy: Strategy = "operator-set-cloud"
    instances: Instances | None = None
    buckets: int = Field(default=64, ge=1, le=65_536)
    groups: dict[str, list[str]] = Field(default_factory=dict)
    epoch_rows: int = Field(default=100_000, ge=1)
    master: str | None = None
    follow: bool = False


class Run(ResponseBody):
    """A current or past run; ``sentence`` describes its progress, or why it failed."""

    id: str
    name: str
    network: Plain
    state: RunState
    sentence: str
    started: float
    ended: float | None
    epoch: int
    read: dict[str, int]
    out: dict[str, int]
    seconds: float
    address: str | None
    """The address of the run's port, for ``boxcars top`` and ``bx.connect``."""
    spark_ui: str | None
    command: str
    feeds: list[str]
    taps: list[str]
    document: str
    """The drawing or file that it was started from; empty if unknown."""


class Stats(ResponseBody):
    """The statistics of a run (see :class:`RunStats`) and of its processes.

    ``cpu`` is in cores, ``memory`` in bytes, of the run and all its child processes.
    """

    time: float
    boxes: dict[str, Any]
    outputs: dict[str, Any]
    cpu: float | None
    memory: int | None


class HistoryAnswer(ResponseBody):
    """Measurements, about one per second: times in seconds since 1970, and a list per series.

    Series are named ``run/in_rate``, ``box/NAME/queue``, ``instance/NAME/0/cpu`` or
    ``output/NAME/p95``. Null means no measurement at that time.
    """

    times: list[float]
    series: dict[str, list[float | None]]


class Event(ResponseBody):
    """An event of a run: its number, time in seconds since 1970, kind, cause and figures.

    ``box`` is an input, box, output or subquery, or empty.
    """

    n: int
    at: float
    kind: str
    cause: str
    figures: dict[str, float]
    epoch: int
    box: str


class EventsAnswer(ResponseBody):
    """The last events of a run, in order."""

    events: list[Event]


class LogLines(ResponseBody):
    """The last lines of a run's log."""

    lines: list[str]


class OutputRows(ResponseBody):
    """The last tuples of an output, their total number, and the epoch of the last one."""

    epoch: int
    rows: list[Row]
    total: int


class LastRows(ResponseBody):
    """The last tuples of an arc."""

    rows: list[Row]


class Enqueue(InputData):
    """Tuples for an input of a run."""


class Kept(ResponseBody):
    """The number of accepted tuples, and of records that could not be read."""

    tuples: int
    dead: int


class AskModify(RequestBody):
    """A new version of the network of a run, or a new layout.

    The run finishes its epoch and continues with it. ``fresh`` discards the state and starts over,
    if the state does not fit any more.
    """

    network: Plain | None = None
    instances: Instances | None = None
    buckets: int | None = Field(default=None, ge=1, le=65_536)
    epoch_rows: int | None = Field(default=None, ge=1)
    fresh: bool = False


class Watched(ResponseBody):
    """A message of a run's WebSocket; each has one of the optional fields."""

    type: Literal["status", "stats", "rows", "events"]
    run: Run | None = None
    stats: Stats | None = None
    outputs: dict[str, OutputRows] | None = None
    events: list[Event] | None = None
