"""The controller of several injectors: forwards each command to all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from boxcars.inject.injector import Injector
from boxcars.inject.pace import AtRate, Batch, ByTime, Pace
from boxcars.inject.targets import Target
from boxcars.model.problem import Wrong, nearest

COMMANDS = {
    "start": "resume after a stop",
    "stop": "pause until the next start",
    "rate": "change the rate (or the speed, when replaying by timestamps): rate 5000",
    "end": "stop sending, and exit",
}


class Controller:
    """Distributes batches to injectors, each with its own target; they share one pace."""

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
        """Number of tuples sent so far."""
        return sum(injector.sent for injector in self._injectors)

    def start(self) -> None:
        """Start all injectors."""
        self._all(Injector.start)

    def pause(self) -> None:
        """Pause all injectors."""
        self._all(Injector.pause)

    def resume(self) -> None:
        """Resume all injectors; tuples missed during the pause are not caught up."""
        self._pace.resume()
        self._all(Injector.resume)

    def stop(self) -> None:
        """End all injectors."""
        self._all(Injector.stop)

    def change(self, rate: float) -> None:
        """Change the rate, or the speed of a replay by timestamps."""
        if not isinstance(self._pace, AtRate | ByTime):
            raise Wrong("there is no rate to change: the injectors are not throttled.")
        self._pace.change(rate)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all injectors have ended; return whether they have. Raises their errors."""
        ended = [injector.wait(timeout) for injector in self._injectors]
        return all(ended)

    def command(self, line: str) -> None:
        """Execute one line of ``COMMANDS``."""
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
    """An iterable of batches that several threads can share."""

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
