"""What the studio and its page say to each other about injectors."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from boxcars.studio.wire.messages import Asked, Told


class Generator(Asked):
    """Tuples that are computed: for each field an expression over ``value``, the row's number.

    Without expressions they are made up. Without ``rows`` it never ends.
    """

    fields: dict[str, str] = Field(default_factory=dict)
    rows: int | None = Field(default=None, ge=1)
    seed: int = 1


class InjectorSource(Asked):
    """Where an injector has its tuples from: exactly one of these."""

    generator: Generator | None = None
    template: str | None = None
    file: str | None = None
    text: str | None = None
    """CSV with a line of names, or JSON lines."""
    name: str = ""
    """What the text is called, if it is that of a file."""
    rows: int = Field(default=1_000_000, ge=1)
    seed: int = 1
    endless: bool = False
    """Begin again when the data ends; the order attribute goes on from where it was."""


class AskInjector(Asked):
    """An injector for an input of a run, or for all that a template has data for.

    It goes at ``rate`` tuples a second, by the time in the data (``speed`` times as fast) without
    one, or as ``fast`` as it can. A ``batch`` is what goes at once; by the time in the data it is
    less, if less is due. ``stamp`` gives each tuple the time at which it is sent.
    """

    input: str | None = None
    source: InjectorSource
    rate: float | None = Field(default=None, gt=0)
    speed: float = Field(default=1.0, gt=0)
    fast: bool = False
    batch: int = Field(default=1000, ge=1, le=1_000_000)
    injectors: int = Field(default=1, ge=1, le=64)
    stamp: bool = False


class ChangeInjector(Asked):
    """Another pace, or a pause."""

    rate: float | None = Field(default=None, gt=0)
    speed: float | None = Field(default=None, gt=0)
    paused: bool | None = None


class Injector(Told):
    """An injector: ``measured`` is how many tuples a second it really sends.

    One that is ``waiting`` goes on when its run does. Rows of its file or text that are
    ``left_out`` do not fit the input; ``reason`` is the first's. Since it began ``late`` tuples
    came to its inputs that are older than what the run has seen, and so changed nothing.
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
