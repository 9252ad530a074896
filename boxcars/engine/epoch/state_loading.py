"""The states of a piece: loaded from the last epoch, kept for the next, shared out anew.

A state belongs to the box and to the buckets of its piece. Where the number of pieces has changed
since the last epoch, each takes what is its own from the states of all that were there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from boxcars.engine.epoch.messages import EpochTask
from boxcars.engine.layout.pieces import Layout, Piece, make_layout, owned, owned_first
from boxcars.engine.state.checkpoint import Checkpoint, Files
from boxcars.engine.state.network_upgrade import unchanged
from boxcars.kernels.contract import Mine, State, Stateful
from boxcars.plan.subquery import Subquery

Known = Mapping[int, str]
"""The files of frames that are loaded, by the identity of the frame."""

Stamp = tuple[int, int, int]

_AT_HAND: dict[tuple[str, int], dict[str, tuple[Stamp, pl.DataFrame]]] = {}
"""What a piece saved last in this process, by its file, with what tells that file from another."""


def load_states(task: EpochTask, layout: Layout, piece: Piece) -> tuple[dict[str, State], Known]:
    """The states of the boxes of a piece, and the files of those frames that were loaded."""
    checkpoint = Checkpoint(task.folder)
    subquery = layout.plan[piece.name]
    network, shape = task.network_before or task.network, task.shape_before or task.shape
    before = make_layout(network, shape)
    kept = unchanged(network, task.network, shape) if task.network_before else subquery.nodes
    states: dict[str, State] = {}
    known: dict[int, str] = {}
    for name in subquery.nodes:
        files = files_of(task.before, name) if name in kept else {}
        if not files:
            continue
        old = before.plan[before.plan.home[name]]
        if _alike(old, subquery):
            states[name] = _load(checkpoint, piece.number, files[piece.instance])
            known |= {id(states[name][f]): file for f, file in files[piece.instance].items()}
        else:
            loaded = [_load(checkpoint, piece.number, files[i]) for i in range(old.instances)]
            states[name] = _share(layout, subquery, piece, name, old, loaded)
    return states, known


def load_whole(task: EpochTask) -> tuple[dict[str, State], Known]:
    """The states of a network that runs in one place."""
    checkpoint = Checkpoint(task.folder)
    states: dict[str, State] = {}
    known: dict[int, str] = {}
    for name in {owner for owner, *_ in task.before}:
        (files,) = files_of(task.before, name).values()
        states[name] = _load(checkpoint, 0, files)
        known |= {id(states[name][frame]): file for frame, file in files.items()}
    return states, known


def files_of(files: Files, box: str) -> dict[int, dict[str, str]]:
    """The files of a box, by instance and name of the frame."""
    found: dict[int, dict[str, str]] = {}
    for owner, instance, frame, file in files:
        if owner == box:
            found.setdefault(instance, {})[frame] = file
    return found


def _alike(old: Subquery, new: Subquery) -> bool:
    """Whether every piece still owns what it owned."""
    if old.instances == new.instances == 1:
        return True
    return (old.instances, old.buckets, old.inputs) == (new.instances, new.buckets, new.inputs)


def _share(
    layout: Layout,
    subquery: Subquery,
    piece: Piece,
    name: str,
    old: Subquery,
    states: Sequence[State],
) -> State:
    """What a piece takes over of the states that the pieces of a box had."""
    box, schemas = layout.checked.network.boxes[name].box, layout.checked.inputs_of(name)
    assert isinstance(box, Stateful)
    edges = (*subquery.inputs, *subquery.inside)
    routings = {edge.port: edge.routing for edge in edges if edge.consumer == name}
    if old.kind == "pairs":
        states = [
            box.share([state], _first_copies(old, i, name), schemas)
            for i, state in enumerate(states)
        ]
    if not routings:  # behind the entry any piece may have what waits
        return box.share(
            [state for i, state in enumerate(states) if i % subquery.instances == piece.instance]
            or [box.start(schemas)],
            _all,
            schemas,
        )
    usual = next(iter(routings.values()))  # of a union, whose inputs are alike
    return box.share(
        states,
        lambda port, rows: owned(subquery, piece.instance, routings.get(port, usual), rows),
        schemas,
    )


def _first_copies(old: Subquery, instance: int, name: str) -> Mine:
    """Of a tuple that several pieces have, one is taken; only those for pairs are in several."""
    edges = (*old.inputs, *old.inside)
    routings = {edge.port: edge.routing for edge in edges if edge.consumer == name}

    def first(port: int, rows: pl.DataFrame) -> pl.Series:
        routing = routings.get(port)
        if routing is None or routing.kind != "pairs":
            return _all(port, rows)
        return owned_first(old, instance, routing, rows)

    return first


def _all(_: int, rows: pl.DataFrame) -> pl.Series:
    return pl.repeat(value=True, n=rows.height, dtype=pl.Boolean, eager=True)


def _load(checkpoint: Checkpoint, piece: int, files: Mapping[str, str]) -> State:
    at_hand = _AT_HAND.get((str(checkpoint.folder), piece), {})
    frames = {}
    for name, file in files.items():
        stamp, frame = at_hand.get(file, (None, None))
        fresh = frame is None or stamp != _stamp(checkpoint.state_path(file))
        frames[name] = checkpoint.load(file) if fresh or frame is None else frame
    return frames


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def save_states(task: EpochTask, piece: Piece, states: Mapping[str, State], known: Known) -> Files:
    """Write the frames that are new; those that were there before are named again."""
    checkpoint = Checkpoint(task.folder)
    files = dict(known)
    saved: list[tuple[str, int, str, str]] = []
    at_hand: dict[str, tuple[Stamp, pl.DataFrame]] = {}
    for box, state in states.items():
        for name, frame in state.items():
            if id(frame) not in files:
                part = f"{task.plan.epoch:08d}-{piece.number:04d}-{len(files):04d}"
                files[id(frame)] = checkpoint.save(part, frame)
            file = files[id(frame)]
            saved.append((box, piece.instance, name, file))
            if (stamp := _stamp(checkpoint.state_path(file))) is not None:
                at_hand[file] = stamp, frame
    _AT_HAND[task.folder, piece.number] = at_hand
    return tuple(saved)
