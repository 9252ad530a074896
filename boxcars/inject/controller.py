"""The controller of several injectors: what it is told, all of them do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from boxcars.inject.injector import Injector
from boxcars.inject.pace import AtRate, Batch, ByTime, Pace
from boxcars.inject.targets import Target
from boxcars.model.problem import Wrong, nearest

COMMANDS = {
    "start": "go on after a stop",
    "stop": "send nothing until it is started again",
    "rate": "another rate, or another speed if the data's own timestamps are followed: rate 5000",
    "end": "send nothing more, and end",
}


class Controller:
    """Shares batches out to injectors, each with a target of its own; they have one pace."""

    def __init__(
        self,
        batches: Iterable[Batch],
        targets: Sequence[Target],
        pace: Pace,
        stamp: Mapping[str, str] | None = None,
    ) -> None:
        self._pace, shared = pace, _Shared(batches)
        self._injectors = [Injector(shared, target, pace, stamp) for target in targets]

    @property
    def sent(self) -> int:
        """How many tuples have gone."""
        return sum(injector.sent for injector in self._injectors)

    def start(self) -> None:
        """Let all begin."""
        self._all(Injector.start)

    def pause(self) -> None:
        """Let all stop until they are resumed."""
        self._all(Injector.pause)

    def resume(self) -> None:
        """Let all go on; what was not sent in between is not caught up."""
        self._pace.resume()
        self._all(Injector.resume)

    def stop(self) -> None:
        """Let all end."""
        self._all(Injector.stop)

    def change(self, rate: float) -> None:
        """Go at another rate, or at another speed if timestamps say when tuples are due."""
        if not isinstance(self._pace, AtRate | ByTime):
            raise Wrong("there is no rate to change: they go as fast as they can.")
        self._pace.change(rate)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all have ended; whether they have. What went wrong is raised."""
        ended = [injector.wait(timeout) for injector in self._injectors]
        return all(ended)

    def command(self, line: str) -> None:
        """Do what a line says; see ``COMMANDS``."""
        word, _, rest = line.strip().partition(" ")
        match word:
            case "start":
                self.resume()
            case "stop":
                self.pause()
            case "end":
                self.stop()
            case "rate":
                self.change(_number(rest))
            case _:
                raise Wrong(f"there is no command '{word}'.{nearest(word, COMMANDS)}")

    def _all(self, do: Callable[[Injector], None]) -> None:
        for injector in self._injectors:
            do(injector)


class _Shared:
    """Batches that several threads take in turn."""

    def __init__(self, batches: Iterable[Batch]) -> None:
        self._left, self._lock = iter(batches), threading.Lock()

    def __iter__(self) -> Iterator[Batch]:
        while True:
            with self._lock:
                batch = next(self._left, None)
            if batch is None:
                return
            yield batch


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Wrong(f"expected a number, as in 'rate 5000', got '{text}'.") from None
