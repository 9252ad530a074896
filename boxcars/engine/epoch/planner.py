"""The planner: decides what the next epoch reads, from the input offsets and the new rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf

from boxcars.connectors.read.base import Offset, Portion, Reader
from boxcars.connectors.systems.mailbox import Mailbox
from boxcars.engine.epoch.wall_clock import PACE, Clocks, order_value, waits_for_time
from boxcars.engine.state.epoch_records import EpochPlan, Manifest
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError
from boxcars.model.types import Type

Values = Mapping[str, int | float]
"""An order value of each input, as a number."""


class Planner:
    """Plans epochs of at most ``rows`` rows from each input of a flattened network."""

    def __init__(
        self,
        readers: Mapping[str, Reader],
        rows: int,
        network: Network,
        clocks: Clocks | None = None,
    ) -> None:
        self._readers, self._rows = readers, rows
        self._network, self._inputs = network, network.inputs
        self._clocks = clocks or Clocks()
        self._heard = dict.fromkeys(readers, self._clocks.steady())
        self._followed = -inf
        """When an epoch last took inputs along with the wall clock."""
        self.over = False
        """Whether no input follows the last planned epoch."""
        self.aborting: str | None = None
        """The input whose script requests that the last planned epoch fails."""

    @property
    def endless(self) -> list[str]:
        """The unbounded inputs: they end only when the run is stopped."""
        return [name for name, reader in self._readers.items() if reader.endless]

    @property
    def mailboxes(self) -> dict[str, Mailbox]:
        """The inputs whose source is ``enqueue://``, by name."""
        found = {name: getattr(reader, "intake", None) for name, reader in self._readers.items()}
        return {name: intake for name, intake in found.items() if isinstance(intake, Mailbox)}

    def next(self, last: Manifest | None) -> EpochPlan | None:
        """The plan of the epoch after ``last``, or None if there is no new input yet.

        An epoch may read nothing: if an input has been silent and something waits for time to go
        on, the frontier follows the other inputs or the wall clock.
        """
        starts = offsets_of(self._readers, last)
        portions = {name: self._take(name, place) for name, place in starts.items()}
        self.over = all(portion.over or portion.offset.ended for portion in portions.values())
        self.aborting = next((name for name, portion in portions.items() if portion.abort), None)
        places = {name: portion.offset for name, portion in portions.items()}
        final = {name: place.ended for name, place in places.items()}
        silence = self._silence(starts, places)
        heads = last.heads if last is not None else {}
        idle, wall = self._idle_watermarks(silence, heads), self._wall_watermarks(silence, heads)
        moved = places != starts or idle or all(final.values())
        if not moved and not (wall and self._is_due(last)):
            return None
        if wall:
            self._followed = self._clocks.steady()
        splits = {name: portion.splits for name, portion in portions.items()}
        ahead = {n: max(idle.get(n, -inf), wall.get(n, -inf)) for n in (*idle, *wall)}
        number = 1 if last is None else last.epoch + 1
        arrivals = self._arrivals(portions, heads)
        return EpochPlan(number, splits, final, places, ahead, arrivals=arrivals)

    def _silence(
        self, starts: Mapping[str, Offset], places: Mapping[str, Offset]
    ) -> dict[str, float]:
        """Seconds without a record, of each input that has not ended."""
        now = self._clocks.steady()
        for name in places:
            if places[name] != starts[name]:
                self._heard[name] = now
        return {name: now - self._heard[name] for name, place in places.items() if not place.ended}

    def _idle_watermarks(self, silence: Mapping[str, float], heads: Values) -> Values:
        """Watermark assumed for inputs past their idle timeout: the greatest of the others."""
        found = {}
        for name, seconds in silence.items():
            timeout = self._inputs[name].idle
            if timeout is None or seconds < timeout:
                continue
            type_ = self._type(name)
            others = [heads[n] for n in self._readers if n in heads and self._type(n) is type_]
            if others and max(others) > heads.get(name, -inf):
                found[name] = max(others)
        return found

    def _wall_watermarks(self, silence: Mapping[str, float], heads: Values) -> Values:
        """The wall clock, for live inputs that follow it and are silent; it never goes back.

        Tuples on their way would be late, so an input that is being read is not taken along.
        """
        now, found = self._clocks.wall(), {}
        for name, seconds in silence.items():
            live = self._inputs[name].follows_wall and self._readers[name].endless
            value = order_value(now, self._type(name))
            if live and seconds >= PACE and value > heads.get(name, -inf):
                found[name] = value
        return found

    def _is_due(self, last: Manifest | None) -> bool:
        """Whether an epoch that reads nothing is worth it now."""
        pause = self._clocks.steady() - self._followed
        return pause >= PACE and waits_for_time(self._network, last)

    def _arrivals(self, portions: Mapping[str, Portion], heads: Values) -> dict[str, int]:
        """The arrival times of the tuples that the epoch stamps: now, or later if the clock was."""
        now = int(order_value(self._clocks.wall(), Type.TIMESTAMP))
        return {
            name: max(now, int(heads.get(name, now)))
            for name, portion in portions.items()
            if portion.splits and self._inputs[name].stamped
        }

    def _type(self, name: str) -> Type:
        return self._inputs[name].order_type

    def _take(self, name: str, place: Offset) -> Portion:
        """Take the next portion of an input; one that has ended is not read again."""
        if place.ended:
            return Portion((), place)
        with error_context(name):
            return self._readers[name].take(place, self._rows)

    def forget(self, manifest: Manifest) -> None:
        """Let the readers discard data before this manifest: no recovery goes back beyond it."""
        for name, reader in self._readers.items():
            if name in manifest.places:
                reader.forget(manifest.places[name])

    def close(self) -> None:
        """Close all readers at the end of the run."""
        for reader in self._readers.values():
            reader.close()


def offsets_of(names: Mapping[str, object], last: Manifest | None) -> dict[str, Offset]:
    """The offset of each input."""
    return {name: Offset() if last is None else last.places.get(name, Offset()) for name in names}


@contextmanager
def error_context(name: str, kind: str = "input") -> Iterator[None]:
    """Prefix errors with the input or output that they are about."""
    try:
        yield
    except BoxcarsError as error:
        raise type(error)(f"{kind} '{name}': {error}") from error.__cause__
