"""Previews: step through a network on sample data, forwards and backwards, in this process.

The tuples of all inputs are merged by their order attributes. The results do not depend on how the
tuples are split into steps, so a step back replays from the start to the end of the previous step.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from uuid import uuid4

from boxcars.expr import Expr
from boxcars.model.arc import Arc
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type
from boxcars.studio.debug.stepping import Stepping, StopCondition
from boxcars.studio.edit.checking import use_arcs
from boxcars.studio.wire.errors import Missing
from boxcars.studio.wire.run_messages import AskPreview, AskStep, Breakpoint, Preview

_MOST = 16
"""The number of open previews; beyond it the least recently used is closed."""
_PATIENCE = 20.0
"""Seconds that one request searches for a breakpoint."""


class Previews:
    """The open previews."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Thread] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, asked: AskPreview, net: Network) -> Preview:
        """Start a preview, before the first tuple."""
        made = _Thread(uuid4().hex[:12], asked, net)
        with self._lock:
            self._open[made.preview.id] = made
            old = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - _MOST)]
        for each in old:
            each.close()
        return made.do(_Preview.to_message)

    def get(self, id: str) -> Preview:
        """Return the state of a preview."""
        return self._find(id).do(_Preview.to_message)

    def step(self, id: str, asked: AskStep) -> Preview:
        """Feed more tuples."""
        return self._find(id).do(lambda preview: preview.step(asked))

    def back(self, id: str) -> Preview:
        """Undo the last step."""
        return self._find(id).do(_Preview.back)

    def delete(self, id: str) -> None:
        """Close a preview."""
        found = self._find(id)
        with self._lock:
            self._open.pop(id, None)
        found.close()

    def close(self) -> None:
        """Close all previews."""
        for known in list(self._open):
            self.delete(known)

    def _find(self, id: str) -> _Thread:
        with self._lock:
            if id not in self._open:
                raise Missing("this preview is closed: start it again.")
            self._open.move_to_end(id)
            return self._open[id]


class _Thread:
    """A preview with its own worker thread, which owns its tables and serializes its requests."""

    def __init__(self, id: str, asked: AskPreview, net: Network) -> None:
        self._worker = ThreadPoolExecutor(1, "boxcars-preview")
        try:
            self.preview = self._worker.submit(_Preview, id, asked, net).result()
        except BaseException:
            self._worker.shutdown()
            raise

    def do(self, act: Callable[[_Preview], Preview]) -> Preview:
        """Run an action on the worker thread, and wait for its result."""
        try:
            return self._worker.submit(act, self.preview).result()
        except RuntimeError:
            raise Missing("this preview is closed: start it again.") from None

    def close(self) -> None:
        """Close the preview after the current action."""
        self._worker.submit(self.preview.close)
        self._worker.shutdown()


class _Preview:
    """One preview: its data, and the end positions of its steps."""

    def __init__(self, id: str, asked: AskPreview, net: Network) -> None:
        self.id, self._train = id, asked.train
        self._checked = net.check().or_raise()
        self._asked, self._uses = asked, use_arcs(net)
        self._ends: list[int] = [0]
        self._stopped_at: str | None = None
        self._stepping = self._begin()

    def _begin(self) -> Stepping:
        return Stepping(self._checked, self._asked.data, self._asked.tables, self._uses)

    def step(self, asked: AskStep) -> Preview:
        """Step as far as requested."""
        stepping = self._stepping
        self._stopped_at = None
        if asked.until:
            self._run_to_stop(asked.until)
        else:
            tuples = stepping.total if asked.to == "end" else asked.tuples or self._train
            stepping.go(stepping.position + tuples)
        if stepping.position > self._ends[-1]:
            self._ends.append(stepping.position)
        return self.to_message()

    def _run_to_stop(self, wanted: Sequence[Breakpoint]) -> None:
        """Step tuple by tuple until a breakpoint is hit."""
        stops = [_condition(each, self._checked.schemas, self._uses) for each in wanted]
        until = monotonic() + _PATIENCE
        while not self._stepping.finished and monotonic() < until:
            self._stepping.go(self._stepping.position + 1)
            met = next(filter(self._stepping.met, stops), None)
            if met is not None:
                self._stopped_at = str(met.arc)
                return

    def back(self) -> Preview:
        """Replay from the start to the end of the previous step."""
        if len(self._ends) > 1:
            self._ends.pop()
        self._stepping.close()
        self._stepping, self._stopped_at = self._begin(), None
        for end in self._ends[-2:]:
            if end:
                self._stepping.go(end)
        return self.to_message()

    def to_message(self) -> Preview:
        """Return the state as a message."""
        return self._stepping.to_message(self.id, self._stopped_at)

    def close(self) -> None:
        """Close the tables."""
        self._stepping.close()


def _condition(
    wanted: Breakpoint, schemas: Mapping[Arc, Schema], uses: Mapping[str, Arc]
) -> StopCondition:
    arc = uses.get(wanted.arc) or Arc.of(wanted.arc)
    if arc not in schemas:
        raise Wrong(f"there is no arc '{wanted.arc}'.{nearest(wanted.arc, map(str, schemas))}")
    if not wanted.where.strip():
        return StopCondition(arc, None)
    where = Expr.of(wanted.where)
    where.expect(Type.BOOL, schemas[arc])
    return StopCondition(arc, where)
