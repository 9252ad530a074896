"""An epoch of a network that writes stored tables: in one place, and all of it or nothing.

What the boxes read depends on what they have written, so such an epoch can't be repeated once its
changes are there. The database therefore keeps, together with them, what the task returned.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from boxcars.engine.epoch.messages import Done, EpochTask
from boxcars.engine.epoch.piece_runner import read_heads, read_turn, with_letters, write_output
from boxcars.engine.epoch.state_loading import load_whole, save_states
from boxcars.engine.flow.single_instance import Whole
from boxcars.engine.layout.pieces import Layout, Piece
from boxcars.engine.measure.arc_samples import peek
from boxcars.engine.measure.counters import count, worth
from boxcars.kernels.contract import State
from boxcars.tables.epoch_transaction import EpochTables, open_tables
from boxcars.tables.setup import writes

_ALL = Piece(0, 0, "")
_LOCKSTEP = ""
"""Whose state it is that inputs wait for each other: no box has that name."""


def run_written(task: EpochTask, layout: Layout) -> Done:
    """Run an epoch, or give what it gave when its changes were made before."""
    net = layout.checked.network
    with open_tables(net.tables, task.tables, task.folder, writes(net)) as store:
        record = store.begin(task.plan.epoch)
        if record is not None:
            return _read_done(record)
        done = _run(task, layout, store)
        store.commit(json.dumps(asdict(replace(done, peeked={}))))
        return done


def _run(task: EpochTask, layout: Layout, store: EpochTables) -> Done:
    whole = Whole(layout.checked, store, task.peeks)
    states, known = load_whole(task)
    whole.stepper.states = {name: states[name] for name in whole.net.boxes if name in states}
    if whole.lockstep is not None:
        whole.lockstep.bring_back(states.get(_LOCKSTEP, {}))
    after: dict[str, State] = {}
    turns = {}
    for name in whole.net.inputs:
        turns[name], after[name] = read_turn(whole.stepper, task, name, states, ranked=False)
    found = whole.run_turn(turns)
    for name, train in found.items():
        write_output(task, layout, name, train)
    after |= whole.stepper.states
    if whole.lockstep is not None:
        after[_LOCKSTEP] = whole.lockstep.keep()
    files = save_states(task, _ALL, after, known)
    counted = count(whole.stepper, [*whole.net.inputs, *whole.net.boxes], after)
    rows = {name: train.height for name, train in found.items()}
    heads = read_heads(after, whole.net.inputs)
    values = worth(whole.net.outputs, found)
    done = Done(0, files, counted, rows, heads, values, peeked=peek(whole.stepper))
    return with_letters(done, task, whole.stepper)


def _read_done(record: str) -> Done:
    plain = json.loads(record)
    return Done(**{**plain, "state": tuple(tuple(entry) for entry in plain["state"])})
