"""Records of epochs: the plan before, the manifest after, and the head that commits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from boxcars.connectors.read.base import Offset
from boxcars.connectors.read.splits import Split, split_of
from boxcars.control.decisions import Decision
from boxcars.engine.layout.pieces import Shape
from boxcars.engine.measure.counters import Totals, read_totals
from boxcars.engine.state.state_files import StateRef


@dataclass(frozen=True)
class EpochPlan:
    """Everything about an epoch that does not follow from the input streams; a replay repeats it.

    For each input: the splits to read, whether the input ends with them, and the offset after them.
    """

    epoch: int
    splits: Mapping[str, tuple[Split, ...]]
    final: Mapping[str, bool]
    places: Mapping[str, Offset] = field(default_factory=dict)
    ahead: Mapping[str, int | float] = field(default_factory=dict)
    """Watermark assumed for silent inputs: that of the others past their idle timeout, or the
    wall clock."""
    shape: Shape | None = None
    """The layout of the epoch; the driver fills it in."""
    decisions: tuple[Decision, ...] = ()
    """Decisions that take effect in this epoch."""
    arrivals: Mapping[str, int] = field(default_factory=dict)
    """Arrival times of the tuples of inputs that stamp them, in microseconds since 1970."""

    def plain(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Any) -> EpochPlan:
        """The plan again, from JSON."""
        splits = {name: tuple(map(split_of, found)) for name, found in plain["splits"].items()}
        shape = None if plain["shape"] is None else Shape.of(plain["shape"])
        decisions = tuple(map(Decision.of, plain["decisions"]))
        return cls(
            plain["epoch"],
            splits,
            plain["final"],
            read_places(plain["places"]),
            plain["ahead"],
            shape,
            decisions,
            plain.get("arrivals", {}),
        )


@dataclass(frozen=True)
class Manifest:
    """The result of a committed epoch: input offsets, state references, and totals."""

    epoch: int
    network: str
    places: Mapping[str, Offset]
    final: bool
    shape: Shape
    state: tuple[StateRef, ...] = ()
    heads: Mapping[str, int | float] = field(default_factory=dict)
    """The greatest order value of each input."""
    stats: Totals = field(default_factory=Totals)
    letters: tuple[str, ...] = ()
    """Files with dead letters of this epoch, which are delivered after the commit."""

    def plain(self) -> dict[str, Any]:
        """The manifest as JSON has it."""
        shallow = {name: getattr(self, name) for name in ("epoch", "network", "final", "letters")}
        return {
            **shallow,
            "places": {name: asdict(place) for name, place in self.places.items()},
            "shape": asdict(self.shape),
            "state": [ref.plain() for ref in self.state],
            "heads": dict(self.heads),
            "stats": asdict(self.stats),
        }

    @classmethod
    def of(cls, plain: Any) -> Manifest:
        """The manifest again, from JSON."""
        return cls(
            int(plain["epoch"]),
            str(plain["network"]),
            read_places(plain["places"]),
            bool(plain["final"]),
            Shape.of(plain["shape"]),
            tuple(map(StateRef.of, plain["state"])),
            dict(plain["heads"]),
            read_totals(plain["stats"]),
            tuple(map(str, plain["letters"])),
        )

    @property
    def layout(self) -> tuple[str, Shape]:
        """What its pieces follow from: the network and the shape."""
        return self.network, self.shape

    @property
    def files(self) -> set[str]:
        """The state files that it refers to."""
        return {ref.file for ref in self.state}


@dataclass(frozen=True)
class Head:
    """The root of a checkpoint, swapped to commit: which driver owns it, and what is committed.

    A driver that claims the checkpoint raises ``term``, so that an older one, which may have been
    paused, can neither begin nor commit an epoch any more. ``plan`` is that of the epoch under way;
    ``done`` is that of the last committed epoch, so that it can be replayed from ``previous``.
    """

    term: int = 0
    owner: str = ""
    epoch: int = 0
    manifest: str = ""
    previous: str = ""
    plan: EpochPlan | None = None
    done: EpochPlan | None = None

    def plain(self) -> dict[str, Any]:
        """The head as JSON has it."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Any) -> Head:
        """The head again, from JSON."""
        plan, done = (
            None if plain[name] is None else EpochPlan.of(plain[name]) for name in ("plan", "done")
        )
        owner, manifest, previous = (str(plain[n]) for n in ("owner", "manifest", "previous"))
        return cls(int(plain["term"]), owner, int(plain["epoch"]), manifest, previous, plan, done)


def read_places(plain: Any) -> dict[str, Offset]:
    """Offsets of inputs, from JSON."""
    return {name: Offset(**place) for name, place in plain.items()}
