"""An epoch of a network that writes stored tables: on a single instance, in one transaction.

Boxes read what they have written, so such an epoch can't be replayed once its changes are
committed. The same transaction therefore stores the report of the epoch, which a retry returns.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from boxcars.engine.epoch.messages import Done, EpochTask
from boxcars.engine.epoch.piece_runner import read_heads, read_turn, with_letters, write_output
from boxcars.engine.epoch.state_loading import load_single_instance, save_states
from boxcars.engine.flow.single_instance import SingleInstance
from boxcars.engine.layout.pieces import Layout
from boxcars.engine.measure.arc_samples import peek
from boxcars.engine.measure.counters import count, worth
from boxcars.engine.state.state_files import Origin, StateRef
from boxcars.kernels.contract import State
from boxcars.tables.epoch_transaction import EpochTables, open_tables
from boxcars.tables.setup import writes

_LOCKSTEP = ""
"""Owner of the lockstep's state in the checkpoint: no box has that name."""


def run_table_transaction(task: EpochTask, layout: Layout) -> Done:
    """Run an epoch, or return its stored report if its changes are already committed."""
    net = layout.checked.network
    with open_tables(net.tables, task.tables, task.folder, writes(net)) as store:
        record = store.begin(task.plan.epoch)
        if record is not None:
            return _read_done(record)
        done = _run(task, layout, store)
        store.commit(json.dumps(asdict(replace(done, peeked={}))))
        return done


def _run(task: EpochTask, layout: Layout, store: EpochTables) -> Done:
    instance = SingleInstance(layout.checked, store, task.peeks)
    loaded = load_single_instance(task)
    states = loaded.states
    instance.stepper.states = {name: states[name] for name in instance.net.boxes if name in states}
    if instance.lockstep is not None:
        instance.lockstep.restore(states.get(_LOCKSTEP, {}))
    after: dict[str, State] = {}
    turns = {}
    for name in instance.net.inputs:
        turns[name], after[name] = read_turn(instance.stepper, task, name, states, ranked=False)
    found = instance.run_turn(turns)
    for name, train in found.items():
        write_output(task, layout, name, train)
    after |= instance.stepper.states
    if instance.lockstep is not None:
        after[_LOCKSTEP] = instance.lockstep.save()
    origin = Origin(task.plan.epoch, task.term, "", 0)
    refs = save_states(task, origin, after, loaded)
    counted = count(instance.stepper, [*instance.net.inputs, *instance.net.boxes], after)
    rows = {name: train.height for name, train in found.items()}
    heads = read_heads(after, instance.net.inputs)
    values = worth(instance.net.outputs, found)
    done = Done(0, refs, counted, rows, heads, values, peeked=peek(instance.stepper))
    return with_letters(done, task, instance.stepper)


def _read_done(record: str) -> Done:
    plain = json.loads(record)
    return Done(**{**plain, "state": tuple(StateRef(**ref) for ref in plain["state"])})
