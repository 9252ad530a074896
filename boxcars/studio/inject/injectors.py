"""Injectors: load generators for the inputs of runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from time import monotonic
from typing import Any, Literal
from uuid import uuid4

from boxcars.inject import AtRate, Batch, ByTime, Controller, Pace, Unthrottled, cut
from boxcars.model.problem import Wrong, nearest
from boxcars.service.target import Service
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.inject.inject_data import order_fields, source_label, tuples_of
from boxcars.studio.inject.reconnecting import ReconnectingClient
from boxcars.studio.runs.run import ManagedRun
from boxcars.studio.runs.runs import Runs
from boxcars.studio.wire.errors import Missing
from boxcars.studio.wire.inject_messages import AskInjector, ChangeInjector, Injector

_WINDOW = 5.0
"""Seconds over which the actual rate is measured."""
_WAITS = "the run is {}; the injector resumes with it."
State = Literal["running", "paused", "finished", "stopped", "failed"]


class Injectors:
    """The injectors of all runs."""

    def __init__(self, runs: Runs, workspace: Workspace) -> None:
        self._runs, self._workspace, self._lock = runs, workspace, threading.Lock()
        self._known: dict[str, _Injector] = {}
        runs.when_ended.append(self._end)

    def start(self, run: str, asked: AskInjector) -> Injector:
        """Start an injector for a run."""
        found = self._runs.find(run)
        injector = _Injector(found, asked, self._workspace)
        with self._lock:
            self._known[injector.id] = injector
        injector.start()
        return injector.to_message()

    def of(self, run: str) -> list[Injector]:
        """Return the injectors of a run."""
        self._runs.find(run)
        with self._lock:
            found = [injector for injector in self._known.values() if injector.run.record.id == run]
        return [injector.to_message() for injector in found]

    def get(self, id: str) -> Injector:
        """Return the status of an injector."""
        return self._find(id).to_message()

    def change(self, id: str, asked: ChangeInjector) -> Injector:
        """Change the rate of an injector, pause or resume it."""
        injector = self._find(id)
        injector.change(asked)
        return injector.to_message()

    def delete(self, id: str) -> None:
        """Stop and remove an injector."""
        self._find(id).stop("")
        with self._lock:
            self._known.pop(id, None)

    def _find(self, id: str) -> _Injector:
        with self._lock:
            if id not in self._known:
                raise Missing(f"there is no injector '{id}'.")
            return self._known[id]

    def _end(self, run: str) -> None:
        """Stop the injectors of a finished run; a stopped run may be resumed."""
        with self._lock:
            found = [injector for injector in self._known.values() if injector.run.record.id == run]
        for injector in found:
            if injector.run.record.state == "finished":
                injector.stop("the run has ended.")

    def close(self) -> None:
        """Stop all injectors."""
        with self._lock:
            found = list(self._known.values())
        for injector in found:
            injector.stop("")


class _Injector:
    """One injector, or several that share their data and their rate."""

    def __init__(self, run: ManagedRun, asked: AskInjector, workspace: Workspace) -> None:
        self.id, self.run, self._asked = uuid4().hex[:12], run, asked
        net = run.network
        self._inputs = _inputs(asked, run.record.order.feeds)
        self._tuples = tuples_of(asked.source, self._inputs, net, workspace, run.heads())
        fields = order_fields({name: net.inputs[name] for name in self._inputs})
        self._pace = _pace(asked, self._inputs, fields)
        self._rate = asked.rate
        self._speed = asked.speed if isinstance(self._pace, ByTime) else None
        batches = cut(self._tuples.batches, asked.batch)
        self._over = threading.Event()
        targets = [
            Service(
                ReconnectingClient(run, self._over, self._pace.resume),
                {name: name for name in self._inputs},
            )
            for _ in range(asked.injectors)
        ]
        stamps = fields if asked.stamp else None
        noted = batches if asked.stamp else self._noted(batches, fields)
        self._controller = Controller(noted, targets, self._pace, stamps)
        self._late = run.late(self._inputs)
        self._state: State = "running"
        self._sentence = ""
        self._marks: list[tuple[float, int]] = [(monotonic(), 0)]

    def _noted(self, batches: Iterable[Batch], fields: Mapping[str, str]) -> Iterator[Batch]:
        """Pass on the batches, and note the greatest order value of each input at the run."""
        sent = self.run.sent
        for batch in batches:
            for name, frame in batch.items():
                if frame.height and name in fields:
                    last: Any = frame[fields[name]].to_physical().max()
                    sent[name] = max(last, sent.get(name, last))
            yield batch

    def start(self) -> None:
        """Start sending, and watch for the end."""
        self._controller.start()
        threading.Thread(target=self._watch, name="boxcars-injecting", daemon=True).start()

    def _watch(self) -> None:
        try:
            while not self._controller.wait(0.5):
                continue
            state: State = "finished"
            sentence = "all tuples were sent. Those with the last time wait for later tuples."
        except Exception as error:
            state, sentence = "failed", str(error) or type(error).__name__
            self._controller.stop()
        if self._state in ("running", "paused"):
            self._state, self._sentence = state, sentence

    def change(self, asked: ChangeInjector) -> None:
        """Change the rate or speed, or pause."""
        if asked.rate is not None:
            if not isinstance(self._pace, AtRate):
                raise Wrong("this injector has no rate: start one with a rate.")
            self._pace.change(asked.rate)
            self._rate = asked.rate
        if asked.speed is not None:
            if not isinstance(self._pace, ByTime):
                raise Wrong("this injector does not follow the times in its data.")
            self._pace.change(asked.speed)
            self._speed = asked.speed
        if asked.paused is not None and self._state in ("running", "paused"):
            (self._controller.pause if asked.paused else self._controller.resume)()
            self._state = "paused" if asked.paused else "running"
        self._marks = [(monotonic(), self._controller.sent)]

    def stop(self, sentence: str) -> None:
        """Stop sending."""
        if self._state in ("running", "paused"):
            self._state, self._sentence = "stopped", sentence
        self._over.set()
        self._controller.stop()

    def to_message(self) -> Injector:
        """Return the status as a message."""
        asked, waits = self._asked, self._state == "running" and self.run.suspended
        word = "starting" if self.run.record.live else "stopped"
        now = self.run.late(self._inputs)
        self._late = min(self._late, now)  # a run that started over counts from 0
        moved = ", with later times" if self._tuples.moved else ""
        return Injector(
            id=self.id,
            run=self.run.record.id,
            inputs=self._inputs,
            source=f"{source_label(asked.source)}{moved}",
            state="waiting" if waits else self._state,
            sentence=_WAITS.format(word) if waits else self._sentence,
            sent=self._controller.sent,
            rate=self._rate,
            speed=self._speed,
            measured=0.0 if waits else self._measured(),
            batch=asked.batch,
            injectors=asked.injectors,
            stamp=asked.stamp,
            left_out=self._tuples.left_out,
            reason=self._tuples.reason,
            late=now - self._late,
        )

    def _measured(self) -> float:
        """Return the rate in tuples per second over the last seconds."""
        now, sent = monotonic(), self._controller.sent
        self._marks.append((now, sent))
        while len(self._marks) > 2 and self._marks[1][0] < now - _WINDOW:
            self._marks.pop(0)
        then, before = self._marks[0]
        seconds = now - then
        return (sent - before) / seconds if seconds > 0 and self._state == "running" else 0.0


def _inputs(asked: AskInjector, feeds: list[str]) -> list[str]:
    """Return the inputs to feed."""
    if asked.input is not None:
        if asked.input not in feeds:
            hint = nearest(asked.input, feeds)
            raise Wrong(f"this run has no input '{asked.input}' that takes tuples.{hint}")
        return [asked.input]
    if asked.source.template is None and len(feeds) != 1:
        raise Wrong(f"name an input: {', '.join(feeds) or 'none accepts tuples'}.")
    return list(feeds)


def _pace(asked: AskInjector, inputs: list[str], fields: Mapping[str, str]) -> Pace:
    if asked.fast:
        return Unthrottled()
    if asked.rate is None and len(fields) < len(inputs):
        raise Wrong("these tuples have no times to follow, as the run stamps them: give a rate.")
    return ByTime(fields, asked.speed) if asked.rate is None else AtRate(asked.rate)
