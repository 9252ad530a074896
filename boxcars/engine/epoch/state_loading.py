"""The states of a piece: loaded from the last epoch, saved for the next, repartitioned if needed.

A state belongs to a box and to the buckets of its piece. If the layout has changed since the last
epoch, each piece takes the rows that it owns from the states of all previous pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from boxcars.engine.epoch.messages import EpochTask, PieceTask
from boxcars.engine.layout.pieces import Layout, Piece, make_layout, owned_first_copies, owned_rows
from boxcars.engine.state.frame_cache import CACHE
from boxcars.engine.state.network_upgrade import unchanged
from boxcars.engine.state.state_files import Origin, StateRef, worth_keeping, write_state
from boxcars.engine.state.storage import Storage
from boxcars.kernels.contract import OwnedTuples, State, StateChange, Stateful
from boxcars.plan.subquery import Subquery


@dataclass(frozen=True)
class Loaded:
    """The states of a piece as they were before an epoch, and where their frames are stored.

    ``refs`` has the frames of each box by name; a repartitioned state is not stored anywhere yet.
    """

    states: dict[str, State] = field(default_factory=dict)
    refs: dict[str, dict[str, StateRef]] = field(default_factory=dict)

    def add(self, storage: Storage, name: str, refs: dict[str, StateRef]) -> None:
        """Load a state that did not move."""
        self.states[name], self.refs[name] = _load(storage, refs), refs


def piece_task(task: EpochTask, layout: Layout, piece: Piece) -> PieceTask:
    """Select what is a piece's own: if its buckets moved, all states that they may be in."""
    if piece.sink:
        return PieceTask(piece.number, {}, ())
    subquery, plan = layout.plan[piece.name], task.plan
    previous = make_layout(
        task.previous_network or task.network, task.previous_shape or task.shape
    ).plan
    stay = {
        name
        for name in subquery.nodes
        if name in previous.home and _same_owners(previous[previous.home[name]], subquery)
    }
    refs = [ref for ref in task.state if ref.box in subquery.nodes]
    own = [ref for ref in refs if ref.box not in stay or ref.instance == piece.instance]
    source = subquery.source
    splits = {} if source is None else {source: plan.splits[source]}
    return PieceTask(piece.number, splits, tuple(own))


def load_states(task: EpochTask, layout: Layout, piece: Piece) -> Loaded:
    """Load the states of the boxes of a piece."""
    subquery = layout.plan[piece.name]
    network, shape = task.previous_network or task.network, task.previous_shape or task.shape
    previous = make_layout(network, shape)
    kept = unchanged(network, task.network, shape) if task.previous_network else subquery.nodes
    loaded = Loaded()
    for name in subquery.nodes:
        refs = refs_of(task.state, name) if name in kept else {}
        if not refs:
            continue
        old = previous.plan[previous.plan.home[name]]
        if _same_owners(old, subquery):
            loaded.add(task.storage, name, refs[piece.instance])
        else:
            states = [_load(task.storage, refs[instance]) for instance in range(old.instances)]
            loaded.states[name] = _repartition(layout, subquery, piece, name, old, states)
    return loaded


def load_single_instance(task: EpochTask) -> Loaded:
    """Load the states of a network that runs on a single instance."""
    loaded = Loaded()
    for name in {ref.box for ref in task.state}:
        (refs,) = refs_of(task.state, name).values()
        loaded.add(task.storage, name, refs)
    return loaded


def refs_of(state: Iterable[StateRef], box: str) -> dict[int, dict[str, StateRef]]:
    """The stored frames of a box, by instance and frame name."""
    found: dict[int, dict[str, StateRef]] = {}
    for ref in state:
        if ref.box == box:
            found.setdefault(ref.instance, {})[ref.name] = ref
    return found


def _same_owners(old: Subquery, new: Subquery) -> bool:
    """Whether every instance still owns the same rows: the same buckets, by the same routing."""
    if old.instances == new.instances == 1:
        return True
    before, after = ((s.instances, s.owner_of, s.inputs) for s in (old, new))
    return before == after


def _repartition(
    layout: Layout,
    subquery: Subquery,
    piece: Piece,
    name: str,
    old: Subquery,
    states: Sequence[State],
) -> State:
    """Merge the states of the previous pieces of a box, keeping only rows this piece owns."""
    box, schemas = layout.checked.network.boxes[name].box, layout.checked.inputs_of(name)
    assert isinstance(box, Stateful)
    edges = (*subquery.inputs, *subquery.inside)
    routings = {edge.port: edge.routing for edge in edges if edge.consumer == name}
    if old.kind == "pairs":
        states = [
            box.share([state], _first_copies(old, i, name), schemas)
            for i, state in enumerate(states)
        ]
    if not routings:  # not the entry box: rows are not routed, so any instance may own them
        return box.share(
            [state for i, state in enumerate(states) if i % subquery.instances == piece.instance]
            or [box.start(schemas)],
            _every_row,
            schemas,
        )
    usual = next(iter(routings.values()))  # a union: all its inputs are routed alike
    return box.share(
        states,
        lambda port, rows: owned_rows(subquery, piece.instance, routings.get(port, usual), rows),
        schemas,
    )


def _first_copies(old: Subquery, instance: int, name: str) -> OwnedTuples:
    """Select one copy of each row; rows routed as pairs are stored on several instances."""
    edges = (*old.inputs, *old.inside)
    routings = {edge.port: edge.routing for edge in edges if edge.consumer == name}

    def first(port: int, rows: pl.DataFrame) -> pl.Series:
        routing = routings.get(port)
        if routing is None or routing.kind != "pairs":
            return _every_row(port, rows)
        return owned_first_copies(old, instance, routing, rows)

    return first


def _every_row(_: int, rows: pl.DataFrame) -> pl.Series:
    return pl.repeat(value=True, n=rows.height, dtype=pl.Boolean, eager=True)


def _load(storage: Storage, refs: Mapping[str, StateRef]) -> State:
    return {name: CACHE.load(storage, ref) for name, ref in refs.items()}


def save_states(
    task: EpochTask, origin: Origin, states: Mapping[str, State], loaded: Loaded
) -> tuple[StateRef, ...]:
    """Write the frames that are new, as one file; frames that were kept stay where they are."""
    changes = {
        box: StateChange.between(loaded.states[box] if box in loaded.refs else {}, state)
        for box, state in states.items()
    }
    kept = [
        replace(loaded.refs[box][old], name=new)
        for box, change in changes.items()
        for new, old in change.kept.items()
    ]
    files = worth_keeping(kept)
    kept = [ref for ref in kept if ref.file in files]
    named = {(ref.box, ref.name) for ref in kept}
    new = [
        (box, name, frame)
        for box, state in states.items()
        for name, frame in state.items()
        if (box, name) not in named
    ]
    added = write_state(task.storage, origin, new)
    for ref, (_, _, frame) in zip(added, new, strict=True):
        CACHE.note(task.storage, ref, frame)
    return (*kept, *added)
