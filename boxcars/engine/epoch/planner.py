"""The planner: what the next epoch reads, from where the inputs stand and what is new in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf
from time import monotonic

from boxcars.connectors.read.base import Place, Portion, Reader
from boxcars.connectors.systems.mailbox import Mailbox
from boxcars.engine.state.checkpoint import EpochPlan, Manifest
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError
from boxcars.model.types import Type


class Planner:
    """Plans epochs of at most ``rows`` rows of each input."""

    def __init__(
        self, readers: Mapping[str, Reader], rows: int, inputs: Mapping[str, Input]
    ) -> None:
        self._readers, self._rows = readers, rows
        self._inputs = inputs
        self._heard = dict.fromkeys(readers, monotonic())
        self.over = False
        """Whether nothing more comes in this run, behind what was planned last."""
        self.aborting: str | None = None
        """The input whose script wants the epoch that was planned last to fail."""

    @property
    def endless(self) -> list[str]:
        """The inputs that end only if the run is stopped."""
        return [name for name, reader in self._readers.items() if reader.endless]

    @property
    def mailboxes(self) -> dict[str, Mailbox]:
        """The inputs that programs put tuples into, by name."""
        found = {name: getattr(reader, "intake", None) for name, reader in self._readers.items()}
        return {name: intake for name, intake in found.items() if isinstance(intake, Mailbox)}

    def next(self, last: Manifest | None) -> EpochPlan | None:
        """The plan of the epoch behind ``last``, or None if there is nothing new yet."""
        before = places_of(self._readers, last)
        portions = {name: self._take(name, place) for name, place in before.items()}
        self.over = all(portion.over or portion.place.ended for portion in portions.values())
        self.aborting = next((name for name, portion in portions.items() if portion.abort), None)
        places = {name: portion.place for name, portion in portions.items()}
        final = {name: place.ended for name, place in places.items()}
        ahead = self._ahead(before, places, last)
        if places == before and not ahead and not all(final.values()):
            return None
        splits = {name: portion.splits for name, portion in portions.items()}
        return EpochPlan(1 if last is None else last.epoch + 1, splits, final, places, ahead)

    def _ahead(
        self, before: Mapping[str, Place], places: Mapping[str, Place], last: Manifest | None
    ) -> dict[str, int | float]:
        """How far the others are, for inputs that are idle for longer than they may be."""
        now, heads = monotonic(), last.heads if last is not None else {}
        for name in places:
            if places[name] != before[name]:
                self._heard[name] = now
        found = {}
        for name, place in places.items():
            patience = self._inputs[name].idle
            if patience is None or place.ended or now - self._heard[name] < patience:
                continue
            type_ = self._type(name)
            others = [heads[n] for n in places if n in heads and self._type(n) is type_]
            if others and max(others) > heads.get(name, -inf):
                found[name] = max(others)
        return found

    def _type(self, name: str) -> Type:
        entity = self._inputs[name]
        return entity.fields[entity.ts]

    def _take(self, name: str, place: Place) -> Portion:
        """The next portion of an input; one that has ended stays so, whatever its source says."""
        if place.ended:
            return Portion((), place)
        with naming(name):
            return self._readers[name].take(place, self._rows)

    def forget(self, manifest: Manifest) -> None:
        """No recovery goes back before this manifest."""
        for name, reader in self._readers.items():
            if name in manifest.places:
                reader.forget(manifest.places[name])

    def close(self) -> None:
        """The run has ended."""
        for reader in self._readers.values():
            reader.close()


def places_of(names: Mapping[str, object], last: Manifest | None) -> dict[str, Place]:
    """Where each input stands."""
    return {name: Place() if last is None else last.places.get(name, Place()) for name in names}


@contextmanager
def naming(name: str, kind: str = "input") -> Iterator[None]:
    """Say in an error which input or output it is about."""
    try:
        yield
    except BoxcarsError as error:
        raise type(error)(f"{kind} '{name}': {error}") from error.__cause__
