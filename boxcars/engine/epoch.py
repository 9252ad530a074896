"""An epoch: the work of one task, from the rows that it reads to the parts that it writes.

Whoever repeats an epoch reads the same rows and the same states, and so writes the same parts under
the same names: that is why nothing is lost or doubled, wherever a process ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connect.conform import Conformed
from boxcars.connect.files import write_table
from boxcars.connect.splits import read_split
from boxcars.engine.checkpoint import Checkpoint, Plan
from boxcars.engine.feed import Turn
from boxcars.engine.memory import keep_memory
from boxcars.engine.stages import find_stages
from boxcars.engine.stepper import Stepper
from boxcars.kernels.hidden import POSITION
from boxcars.kernels.kernel import State
from boxcars.kernels.reorder import Slack
from boxcars.model.check import Checked
from boxcars.model.entities import Input
from boxcars.model.plain import read_network
from boxcars.model.problem import BoxcarsError

Files = tuple[tuple[str, str, str], ...]
"""The files of states: owner, name of the frame, file."""


_AT_HAND: dict[str, dict[str, pl.DataFrame]] = {}
"""The frames of the last states that this process saved for a run, by their files."""


@dataclass(frozen=True)
class Task:
    """What a task is told: the network, where its checkpoint and sinks are, and its epoch."""

    network: str
    folder: str
    plan: Plan
    before: Files
    sinks: Mapping[str, str]


@dataclass(frozen=True)
class Done:
    """What a task did: the files of the new states, what it counted, and what came out."""

    state: Files
    stats: Mapping[str, Any]
    rows: Mapping[str, int]


def run_tasks(tasks: Iterable[Task]) -> Iterable[Done | str]:
    """Run tasks on an executor; what went wrong comes back as a sentence."""
    keep_memory()
    for task in tasks:
        try:
            yield run_task(task)
        except BoxcarsError as error:
            yield str(error)


def run_task(task: Task) -> Done:
    """Run an epoch of a network: read, step, write parts and states."""
    checked = _checked(task.network)
    checkpoint = Checkpoint(task.folder)
    states = _load(checkpoint, task.before)
    stepper = Stepper(checked, _NoTables())
    stepper.states = {name: states[name] for name in checked.order if name in states}
    after: dict[str, State] = {}
    turns: dict[str, Turn] = {}
    for name, entity in checked.network.inputs.items():
        read = [read_split(split, entity) for split in task.plan.splits[name]]
        turns[name], after[name] = _turn(name, entity, read, task.plan, states.get(name), checked)
        for part in read:
            stepper.note_dead(name, part.dead)
            stepper.stats[name].dead += part.dead.height
    stepper.enter(turns)
    stepper.run(find_stages(checked))
    rows = {}
    for name, output in checked.network.outputs.items():
        frame = stepper.frames[output.source]
        rows[name] = frame.height
        if name in task.sinks and frame.height:
            fields = list(checked.schemas[output.source].fields)
            _write(frame.select(fields), Path(task.sinks[name]), task.plan.epoch)
    if stepper.dead:
        _write(pl.concat(stepper.dead), checkpoint.folder / "dead", task.plan.epoch)
    files = _save(checkpoint, task.plan.epoch, after | stepper.states, states, task.before)
    stats = {
        name: {"in": box.tuples_in, "out": box.total_out, "late": box.late, "dead": box.dead}
        for name, box in stepper.stats.items()
    }
    return Done(files, stats, rows)


class _NoTables:
    """A run has no stored tables yet; the driver refuses networks that have."""

    tables: Mapping[str, Any] = {}

    def run(self, *_: Any) -> pl.DataFrame:
        raise BoxcarsError("stored tables can't be used in a run yet.")


@lru_cache(maxsize=4)
def _checked(network: str) -> Checked:
    return read_network(json.loads(network)).network.check().or_raise()


def _turn(
    name: str,
    entity: Input,
    read: Sequence[Conformed],
    plan: Plan,
    state: State | None,
    checked: Checked,
) -> tuple[Turn, State]:
    """What an input gives in this epoch, in order, and what waits for the next."""
    train = pl.concat([part.tuples for part in read]) if read else entity.schema.empty()
    if any(node.box.type == "drop" for node in checked.network.boxes.values()):
        first = plan.splits[name][0].position if read else 0
        place = pl.int_range(first, first + pl.len(), dtype=pl.Int64)
        train = train.with_columns(place.alias(POSITION))
    slack = Slack.of(entity.ts, entity.fields[entity.ts], entity.slack)
    ordered = slack.order(state or slack.start(train.clear()), train, plan.final[name])
    late = train.filter(ordered.late)
    return Turn(ordered.train, late, late[entity.ts], ordered.frontier), ordered.state


def _load(checkpoint: Checkpoint, files: Files) -> dict[str, dict[str, pl.DataFrame]]:
    states: dict[str, dict[str, pl.DataFrame]] = {}
    at_hand = _AT_HAND.get(str(checkpoint.folder), {})
    for owner, name, file in files:
        frame = at_hand[file] if file in at_hand else checkpoint.load(file)
        states.setdefault(owner, {})[name] = frame
    return states


def _save(
    checkpoint: Checkpoint,
    epoch: int,
    states: Mapping[str, State],
    before: Mapping[str, State],
    files: Files,
) -> Files:
    """Write the frames that are new; those that were there before are named again."""
    known = {id(before[owner][name]): file for owner, name, file in files}
    saved: list[tuple[str, str, str]] = []
    number = 0
    for owner, state in states.items():
        for name, frame in state.items():
            if id(frame) not in known:
                known[id(frame)] = checkpoint.save(epoch, number, frame)
                number += 1
            saved.append((owner, name, known[id(frame)]))
    _AT_HAND[str(checkpoint.folder)] = {file: states[owner][name] for owner, name, file in saved}
    return tuple(saved)


def _write(frame: pl.DataFrame, folder: Path, epoch: int) -> None:
    """The part of an epoch: the same name and the same bytes, whoever writes it again."""
    folder.mkdir(parents=True, exist_ok=True)
    table: pa.Table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    write_table(table, folder / f"part-{epoch:08d}.parquet")
