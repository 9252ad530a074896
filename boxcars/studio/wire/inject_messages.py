"""Messages about injectors."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from boxcars.studio.wire.messages import RequestBody, ResponseBody


class Generator(RequestBody):
    """Computed tuples: for each field an expression over ``value``, the row number.

    Without expressions the values are random. Without ``rows`` the stream never ends.
    """

    fields: dict[str, str] = Field(default_factory=dict)
    rows: int | None = Field(default=None, ge=1)
    seed: int = 1


class InjectorSource(RequestBody):
    """The source of an injector: exactly one of these."""

    generator: Generator | None = None
    template: str | None = None
    file: str | None = None
    text: str | None = None
    """CSV with a header line, or JSON lines."""
    name: str = ""
    """The file name of the text, if it came from a file."""
    rows: int = Field(default=1_000_000, ge=1)
    seed: int = 1
    endless: bool = False
    """Repeat when the data ends; the order attribute continues from its last value."""


class AskInjector(RequestBody):
    """An injector for an input of a run, or for all inputs that a template has data for.

    It sends ``rate`` tuples per second; without a rate it follows the times in the data (``speed``
    times as fast), or sends as ``fast`` as possible. A batch has at most ``batch`` tuples.
    ``stamp`` sets the order attribute of each tuple to its send time.
    """

    input: str | None = None
    source: InjectorSource
    rate: float | None = Field(default=None, gt=0)
    speed: float = Field(default=1.0, gt=0)
    fast: bool = False
    batch: int = Field(default=1000, ge=1, le=1_000_000)
    injectors: int = Field(default=1, ge=1, le=64)
    stamp: bool = False


class ChangeInjector(RequestBody):
    """A new rate or speed, or a pause."""

    rate: float | None = Field(default=None, gt=0)
    speed: float | None = Field(default=None, gt=0)
    paused: bool | None = None


class Injector(ResponseBody):
    """The status of an injector; ``measured`` is its actual rate in tuples per second.

    A ``waiting`` injector resumes with its run. ``left_out`` rows of its file or text do not fit
    the input; ``reason`` is that of the first. ``late`` tuples have arrived at its inputs since it
    started: they are older than the run's frontier, and had no effect.
    """

    id: str
    run: str
    inputs: list[str]
    source: str
    state: Literal["running", "paused", "waiting", "finished", "stopped", "failed"]
    sentence: str
    sent: int
    rate: float | None
    speed: float | None
    measured: float
    batch: int
    injectors: int
    stamp: bool
    left_out: int
    reason: str
    late: int
