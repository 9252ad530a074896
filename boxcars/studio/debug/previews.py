"""Previews: a network over sample data in this process, step by step and back.

The tuples of all inputs go in together, in the order of their order attributes. What comes out does
not depend on how they are cut into steps, so a step back is a new beginning up to the step before.
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
from boxcars.studio.debug.stepping import Hunt, Stepping
from boxcars.studio.edit.checking import use_arcs
from boxcars.studio.wire.errors import Missing
from boxcars.studio.wire.run_messages import AskPreview, AskStep, Breakpoint, Preview

_MOST = 16
"""How many previews are kept; the one that was used longest ago goes first."""
_PATIENCE = 20.0
"""Seconds to look for a breakpoint in one request."""


class Previews:
    """The previews that are open."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Thread] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, asked: AskPreview, net: Network) -> Preview:
        """Begin one; nothing has gone in yet."""
        made = _Thread(uuid4().hex[:12], asked, net)
        with self._lock:
            self._open[made.preview.id] = made
            old = [self._open.popitem(last=False)[1] for _ in range(len(self._open) - _MOST)]
        for each in old:
            each.close()
        return made.do(_Preview.told)

    def get(self, id: str) -> Preview:
        """Where one stands."""
        return self._find(id).do(_Preview.told)

    def step(self, id: str, asked: AskStep) -> Preview:
        """Let more tuples in."""
        return self._find(id).do(lambda preview: preview.step(asked))

    def back(self, id: str) -> Preview:
        """Take the last step back."""
        return self._find(id).do(_Preview.back)

    def delete(self, id: str) -> None:
        """End one."""
        found = self._find(id)
        with self._lock:
            self._open.pop(id, None)
        found.close()

    def close(self) -> None:
        """End all."""
        for known in list(self._open):
            self.delete(known)

    def _find(self, id: str) -> _Thread:
        with self._lock:
            if id not in self._open:
                raise Missing("this preview is closed: start it again.")
            self._open.move_to_end(id)
            return self._open[id]


class _Thread:
    """A preview in a thread of its own, where its tables are; one thing at a time is done."""

    def __init__(self, id: str, asked: AskPreview, net: Network) -> None:
        self._worker = ThreadPoolExecutor(1, "boxcars-preview")
        try:
            self.preview = self._worker.submit(_Preview, id, asked, net).result()
        except BaseException:
            self._worker.shutdown()
            raise

    def do(self, act: Callable[[_Preview], Preview]) -> Preview:
        """Do something with the preview, and wait for it."""
        try:
            return self._worker.submit(act, self.preview).result()
        except RuntimeError:
            raise Missing("this preview is closed: start it again.") from None

    def close(self) -> None:
        """End it, behind what is under way."""
        self._worker.submit(self.preview.close)
        self._worker.shutdown()


class _Preview:
    """One preview: its data, and the positions at which its steps ended."""

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
        """Go on, as far as is asked."""
        stepping = self._stepping
        self._stopped_at = None
        if asked.until:
            self._hunt(asked.until)
        else:
            tuples = stepping.total if asked.to == "end" else asked.tuples or self._train
            stepping.go(stepping.position + tuples)
        if stepping.position > self._ends[-1]:
            self._ends.append(stepping.position)
        return self.told()

    def _hunt(self, wanted: Sequence[Breakpoint]) -> None:
        """Go on tuple by tuple until something comes that is wanted."""
        hunts = [_hunt_of(each, self._checked.schemas, self._uses) for each in wanted]
        until = monotonic() + _PATIENCE
        while not self._stepping.finished and monotonic() < until:
            self._stepping.go(self._stepping.position + 1)
            came = next(filter(self._stepping.came, hunts), None)
            if came is not None:
                self._stopped_at = str(came.arc)
                return

    def back(self) -> Preview:
        """Begin anew, and go to the end of the step before the last."""
        if len(self._ends) > 1:
            self._ends.pop()
        self._stepping.close()
        self._stepping, self._stopped_at = self._begin(), None
        for end in self._ends[-2:]:
            if end:
                self._stepping.go(end)
        return self.told()

    def told(self) -> Preview:
        """The state for the page."""
        return self._stepping.told(self.id, self._stopped_at)

    def close(self) -> None:
        """Leave the tables."""
        self._stepping.close()


def _hunt_of(wanted: Breakpoint, schemas: Mapping[Arc, Schema], uses: Mapping[str, Arc]) -> Hunt:
    arc = uses.get(wanted.arc) or Arc.of(wanted.arc)
    if arc not in schemas:
        raise Wrong(f"there is no arc '{wanted.arc}'.{nearest(wanted.arc, map(str, schemas))}")
    if not wanted.where.strip():
        return Hunt(arc, None)
    where = Expr.of(wanted.where)
    where.expect(Type.BOOL, schemas[arc])
    return Hunt(arc, where)
