"""The loops of user-defined aggregates, for numba and for plain Python alike.

Each loop is written once, over the user's ``add``, ``combine`` and ``finish``. Compiled, columns
are arrays; otherwise they are lists of Python values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from boxcars.kernels.columns.slices import DIRECT, HEAD, TAIL

Jit = Callable[[Any], Any]
Call = Callable[..., Any]


@dataclass(frozen=True)
class Steps:
    """The user's methods, ready to be called from a loop."""

    begin: Call
    add: Call
    finish: Call
    combine: Call | None


@dataclass(frozen=True)
class Loops:
    """The loops of one aggregate."""

    windows: Call
    lift: Call
    scan: Call
    finish: Call


def make_loops(steps: Steps, arguments: int, size: int | None, jit: Jit) -> Loops:
    """Build the loops for a number of arguments and of state values; None: a single value."""
    add_at = jit(_add_at(steps.add, arguments))
    load, store = (jit(function) for function in _state_access(size))
    begin, finish, combine = steps.begin, steps.finish, steps.combine
    direct = jit(_direct(begin, add_at))
    if combine is None:
        windows, scan = _each(direct, finish), _scan_tuples(load, store, add_at)
    else:
        heads, tails = jit(_heads(begin, add_at)), jit(_tails(begin, add_at, combine))
        windows = _blocks(combine, finish, direct, heads, tails)
        scan = _scan(load, store, combine)
    lift = _lift(begin, add_at, store)
    return Loops(*(jit(loop) for loop in (windows, lift, scan, _finish(load, finish))))


def _add_at(add: Call, arguments: int) -> Call:
    """A function that adds tuple ``i``: numba needs the columns written out one by one."""
    given = "".join(f", columns[{i}][i]" for i in range(arguments))
    return _define(f"def add_at(state, columns, i):\n    return add(state{given})", add=add)


def _state_access(size: int | None) -> tuple[Call, Call]:
    """Functions that load and store a state in columns."""
    if size is None:
        return (
            _define("def load(columns, i):\n    return columns[0][i]"),
            _define("def store(columns, i, state):\n    columns[0][i] = state"),
        )
    loads = "".join(f"columns[{k}][i], " for k in range(size))
    stores = "".join(f"\n    columns[{k}][i] = state[{k}]" for k in range(size))
    return (
        _define(f"def load(columns, i):\n    return ({loads})"),
        _define(f"def store(columns, i, state):{stores or ' pass'}"),
    )


def _define(source: str, **names: Any) -> Call:
    """The function that this source text defines."""
    scope = dict(names)
    exec(source, scope)
    function: Call = scope[source.partition("(")[0].removeprefix("def ")]
    return function


def _direct(begin: Call, add_at: Call) -> Call:
    def direct(columns: Any, valid: Any, lo: Any, hi: Any) -> Any:
        state, some = begin(), False
        for i in range(lo, hi):
            if valid[i]:
                state = add_at(state, columns, i)
                some = True
        return state, some

    return direct


def _each(direct: Call, finish: Call) -> Call:
    """Fold each window tuple by tuple."""

    def windows(
        columns: Any, valid: Any, _blocks: Any, lo: Any, hi: Any, _parts: Any, out: Any, found: Any
    ) -> None:
        for row in range(len(lo)):
            state, some = direct(columns, valid, lo[row], hi[row])
            if some:
                value = finish(state)
                if value is not None:
                    out[row] = value
                    found[row] = True

    return windows


def _heads(begin: Call, add_at: Call) -> Call:
    """The state of each block from its first tuple up to each, and whether there is one."""

    def heads(columns: Any, valid: Any, blocks: Any) -> Any:
        n = len(blocks)
        states, has = [begin()] * n, [False] * n
        for i in range(n):
            state, some = begin(), False
            if i > 0 and blocks[i] == blocks[i - 1]:
                state, some = states[i - 1], has[i - 1]
            if valid[i]:
                state, some = add_at(state, columns, i), True
            states[i], has[i] = state, some
        return states, has

    return heads


def _tails(begin: Call, add_at: Call, combine: Call) -> Call:
    """The state of each block from each tuple to its last, and whether there is one."""

    def tails(columns: Any, valid: Any, blocks: Any) -> Any:
        n = len(blocks)
        states, has = [begin()] * n, [False] * n
        for i in range(n - 1, -1, -1):
            state, some = begin(), False
            if i < n - 1 and blocks[i] == blocks[i + 1]:
                state, some = states[i + 1], has[i + 1]
            if valid[i]:
                own = add_at(begin(), columns, i)
                state, some = combine(own, state) if some else own, True
            states[i], has[i] = state, some
        return states, has

    return tails


def _blocks(combine: Call, finish: Call, direct: Call, heads: Call, tails: Call) -> Call:
    """Combine each window from the tail of a block and the head of the next, in this order."""

    def windows(
        columns: Any, valid: Any, blocks: Any, lo: Any, hi: Any, parts: Any, out: Any, found: Any
    ) -> None:
        head, in_head = heads(columns, valid, blocks)
        tail, in_tail = tails(columns, valid, blocks)
        for row in range(len(lo)):
            first, last = lo[row], hi[row] - 1
            if parts[row] == DIRECT:
                state, some = direct(columns, valid, first, hi[row])
            elif parts[row] == HEAD:
                state, some = head[last], in_head[last]
            elif parts[row] == TAIL or not in_head[last]:
                state, some = tail[first], in_tail[first]
            elif not in_tail[first]:
                state, some = head[last], True
            else:
                state, some = combine(tail[first], head[last]), True
            if some:
                value = finish(state)
                if value is not None:
                    out[row] = value
                    found[row] = True

    return windows


def _lift(begin: Call, add_at: Call, store: Call) -> Call:
    """The state of each single tuple."""

    def lift(columns: Any, valid: Any, states: Any) -> None:
        for i in range(len(valid)):
            store(states, i, add_at(begin(), columns, i) if valid[i] else begin())

    return lift


def _scan(load: Call, store: Call, combine: Call) -> Call:
    """Combine each state with all those before it in its group."""

    def scan(states: Any, some: Any, _columns: Any, starts: Any) -> None:
        for group in range(len(starts) - 1):
            for i in range(starts[group] + 1, starts[group + 1]):
                if some[i - 1] and some[i]:
                    store(states, i, combine(load(states, i - 1), load(states, i)))
                elif some[i - 1]:
                    store(states, i, load(states, i - 1))
                    some[i] = True

    return scan


def _scan_tuples(load: Call, store: Call, add_at: Call) -> Call:
    """Add each tuple to the state before it; only the first of a group may cover several tuples."""

    def scan(states: Any, some: Any, columns: Any, starts: Any) -> None:
        for group in range(len(starts) - 1):
            for i in range(starts[group] + 1, starts[group + 1]):
                if some[i - 1]:
                    before = load(states, i - 1)
                    store(states, i, add_at(before, columns, i) if some[i] else before)
                    some[i] = True

    return scan


def _finish(load: Call, finish: Call) -> Call:
    def ended(states: Any, some: Any, out: Any, found: Any) -> None:
        for i in range(len(some)):
            if some[i]:
                value = finish(load(states, i))
                if value is not None:
                    out[i] = value
                    found[i] = True

    return ended
