"""What the studio and its page say to each other about plans, previews, tests and runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from boxcars.studio.wire.messages import Asked, Plain, Row, Strategy, Told

Positive = Annotated[int, Field(ge=1)]
Instances = Positive | dict[str, Positive]
"""Of each subquery, or by the name of the subquery."""


class AskPlan(Asked):
    """How a network is to be cut; ``groups`` are boxes that run together, by any name.

    Without ``instances`` there are as many as this machine has cores, as in a run.
    """

    network: Plain
    strategy: Strategy = "operator-set-cloud"
    instances: Instances | None = None
    buckets: int = Field(default=64, ge=1, le=65_536)
    groups: dict[str, list[str]] = Field(default_factory=dict)


class PlanFeed(Told):
    """An arc from one subquery into another, and how its tuples are split."""

    arc: str
    source: str
    consumer: str
    port: int
    routing: str


class PlanSubquery(Told):
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


class PlanCost(Told):
    """What a strategy costs, as StreamCloud counts it."""

    strategy: Strategy
    subclusters: int
    size: float
    fanout: float
    hops: int
    channels: float
    cost: float


class PlanAnswer(Told):
    """The plan, as data, as text and as a picture; ``command`` shows it on the command line."""

    strategy: Strategy
    levels: list[list[str]]
    subqueries: list[PlanSubquery]
    costs: list[PlanCost]
    text: str
    svg: str
    command: str


class AskCompile(AskPlan):
    """A plan that is to become files; ``pool`` are machines as ``host`` or ``host:port``.

    With ``save`` they are written to that folder, in the folder of the studio.
    """

    sources: dict[str, str] = Field(default_factory=dict)
    sinks: dict[str, str] = Field(default_factory=dict)
    pool: list[str] = Field(default_factory=list)
    master: str | None = None
    save: str | None = None


class Compiled(Told):
    """Files by name, and the command lines that check, plan and run them."""

    files: dict[str, str]
    commands: list[str]
    folder: str | None


class InputData(Asked):
    """Tuples for an input or records of a table: text, or rows."""

    format: Literal["csv", "jsonl", "rows"] = "rows"
    text: str = ""
    rows: list[Row] = Field(default_factory=list)


class AskPreview(Asked):
    """A network and data for its inputs; ``train`` tuples go in at each step, unless one says."""

    network: Plain
    data: dict[str, InputData]
    tables: dict[str, InputData] = Field(default_factory=dict)
    train: int = Field(default=1, ge=1)


class Breakpoint(Asked):
    """Stop when a tuple comes to an arc, or one for which ``where`` holds."""

    arc: str
    where: str = ""


class AskStep(Asked):
    """How far: so many tuples, up to the end, or until something comes to one of some arcs."""

    tuples: int | None = Field(default=None, ge=1)
    to: Literal["end"] | None = None
    until: list[Breakpoint] = Field(default_factory=list)


class ArcRows(Told):
    """The tuples of an arc: how many in all, the last of them, and how many came in this step."""

    total: int
    rows: list[Row]
    fresh: int


class StateTable(Told):
    """A part of what a box remembers: windows, waiting tuples; the first rows of it."""

    name: str
    columns: list[str]
    rows: list[Row]
    total: int


class BoxCounts(Told):
    """What a box did so far."""

    tuples_in: int
    tuples_out: int
    late: int
    dead: int
    seconds: float


class PreviewBox(Told):
    """What a box holds, and what it did."""

    state: list[StateTable]
    stats: BoxCounts


class DeadLetter(Told):
    """A record that became no tuple, and why."""

    source: str
    record: str
    reason: str


class Preview(Told):
    """Where a preview stands: ``position`` of ``total`` tuples have gone in."""

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


class Case(Asked):
    """A test of a network: what goes in, and what must come out.

    Rows may be given as a list or as CSV. Of what comes out, only the fields that are named are
    compared, in order; an output that is not named may give anything.
    """

    name: str
    given: dict[str, list[Row] | str] = Field(default_factory=dict)
    tables: dict[str, list[Row] | str] = Field(default_factory=dict)
    expect: dict[str, list[Row] | str] = Field(default_factory=dict)


class Cases(Asked):
    """The tests of a network."""

    tests: list[Case]


class SaveCases(Cases):
    """Tests to be kept, in place of a version of their file; see :class:`SaveNetwork`."""

    over: str | None = None


class KeptCases(Told):
    """The tests of a network, and the version of their file; empty if there is none."""

    tests: list[Case]
    version: str


class AskCases(Asked):
    """Tests to be run."""

    network: Plain
    tests: list[Case]


class CaseResult(Told):
    """How a test went; ``difference`` is empty if it passed."""

    name: str
    passed: bool
    difference: str


RunState = Literal["starting", "running", "waiting", "finished", "stopped", "failed"]


class AskRun(Asked):
    """A network to be run, or a file with one, and where its tuples come from and go to.

    A source is an address, a file in the folder of the studio, or ``inject``; a sink is an address,
    a folder, or ``live``. Inputs and outputs that are not named are ``inject`` and ``live``. With
    a ``template`` stored tables that are not named get the records that belong to its data.
    ``document`` is what a page calls the drawing, so that it knows the run as its own.
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


class Run(Told):
    """A run, now or before; ``sentence`` says in words how it stands, or why it failed."""

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
    """Of the port of the run, for ``boxcars top`` and ``bx.connect``."""
    spark_ui: str | None
    command: str
    feeds: list[str]
    taps: list[str]
    document: str
    """The drawing that it was started from, or its file; empty if that is not known."""


class Stats(Told):
    """The statistics of a run as :class:`RunStats` has them, and those of its processes.

    ``cpu`` is in cores, ``memory`` in bytes, of the run and all that it started.
    """

    time: float
    boxes: dict[str, Any]
    outputs: dict[str, Any]
    cpu: float | None
    memory: int | None


class HistoryAnswer(Told):
    """What was measured, about once a second: seconds since 1970, and a list for each series.

    A series is called ``run/in_rate``, ``box/NAME/queue``, ``instance/NAME/0/cpu`` or
    ``output/NAME/p95``. A null is a moment at which nothing was known.
    """

    times: list[float]
    series: dict[str, list[float | None]]


class LogLines(Told):
    """The last lines that a run wrote."""

    lines: list[str]


class OutputRows(Told):
    """The last tuples of an output, how many there were in all, and the epoch of the last."""

    epoch: int
    rows: list[Row]
    total: int


class LastRows(Told):
    """The last tuples of an arc."""

    rows: list[Row]


class Enqueue(InputData):
    """Tuples for an input of a run."""


class Kept(Told):
    """So many tuples were taken in, and so many records were none."""

    tuples: int
    dead: int


class AskModify(Asked):
    """Another version of the network of a run, or another layout.

    The run stops behind an epoch and goes on with it. ``fresh`` lets it begin anew if what it holds
    does not fit any more.
    """

    network: Plain | None = None
    instances: Instances | None = None
    buckets: int | None = Field(default=None, ge=1, le=65_536)
    epoch_rows: int | None = Field(default=None, ge=1)
    fresh: bool = False


class Watched(Told):
    """A message of the WebSocket of a run; each has one of these."""

    type: Literal["status", "stats", "rows"]
    run: Run | None = None
    stats: Stats | None = None
    outputs: dict[str, OutputRows] | None = None
