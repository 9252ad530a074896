"""The planner: what the next epoch reads, from where the inputs stand and what is new in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from boxcars.connect.reader import Piece, Place, Reader
from boxcars.engine.checkpoint import Manifest, Plan
from boxcars.model.problem import BoxcarsError


class Planner:
    """Plans epochs of at most ``rows`` rows of each input."""

    def __init__(self, readers: Mapping[str, Reader], rows: int) -> None:
        self._readers, self._rows = readers, rows
        self.over = False
        """Whether nothing more comes in this run, behind what was planned last."""
        self.aborting: str | None = None
        """The input whose script wants the epoch that was planned last to fail."""

    @property
    def endless(self) -> list[str]:
        """The inputs that end only if the run is stopped."""
        return [name for name, reader in self._readers.items() if reader.endless]

    def next(self, last: Manifest | None) -> Plan | None:
        """The plan of the epoch behind ``last``, or None if there is nothing new yet."""
        before = places_of(self._readers, last)
        pieces = {name: self._take(name, place) for name, place in before.items()}
        self.over = all(piece.over or piece.place.ended for piece in pieces.values())
        self.aborting = next((name for name, piece in pieces.items() if piece.abort), None)
        places = {name: piece.place for name, piece in pieces.items()}
        final = {name: place.ended for name, place in places.items()}
        if places == before and not all(final.values()):
            return None
        splits = {name: piece.splits for name, piece in pieces.items()}
        return Plan(1 if last is None else last.epoch + 1, splits, final, places)

    def _take(self, name: str, place: Place) -> Piece:
        """The next piece of an input; one that has ended stays so, whatever its source says."""
        if place.ended:
            return Piece((), place)
        with naming(name):
            return self._readers[name].take(place, self._rows)

    def forget(self, manifest: Manifest) -> None:
        """No recovery goes back before this manifest."""
        for name, reader in self._readers.items():
            reader.forget(manifest.places[name])

    def close(self) -> None:
        """The run has ended."""
        for reader in self._readers.values():
            reader.close()


def places_of(names: Mapping[str, object], last: Manifest | None) -> dict[str, Place]:
    """Where each input stands."""
    return {name: Place() if last is None else last.places[name] for name in names}


@contextmanager
def naming(name: str, kind: str = "input") -> Iterator[None]:
    """Say in an error which input or output it is about."""
    try:
        yield
    except BoxcarsError as error:
        raise type(error)(f"{kind} '{name}': {error}") from error.__cause__
