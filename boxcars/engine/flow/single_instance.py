"""All boxes of a network in one place, turn by turn, the first of them perhaps in steps."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from boxcars.engine.flow.event_time_lockstep import Lockstep
from boxcars.engine.flow.input_ordering import Turn
from boxcars.engine.flow.stepper import Stepper
from boxcars.engine.layout.stages import find_stages, split_stages
from boxcars.model.arc import Arc
from boxcars.model.check import Checked
from boxcars.model.table_order import shared_tables
from boxcars.sql.store import Store


class Whole:
    """A network that runs in one place.

    Boxes that share a table which one of them writes go in lockstep, with all that leads to them.
    """

    def __init__(self, checked: Checked, store: Store, peeks: frozenset[Arc] = frozenset()) -> None:
        self.net = checked.network
        self.stepper = Stepper(checked, store, peeks)
        shared = shared_tables(self.net)
        self.lockstep = Lockstep(self.net.inputs) if shared else None
        self.stepped, self.stages = split_stages(
            find_stages(checked), {box for boxes in shared.values() for box in boxes}
        )
        self.handed_on = self._arcs_handed_on()

    def _arcs_handed_on(self) -> frozenset[Arc]:
        """What comes from the inputs and the stages that run in steps, and is read behind them."""
        behind = {name for stage in self.stages for name in stage.names}
        arcs = {arc for stage in self.stages for arc in stage.inputs}
        arcs |= {output.source for output in self.net.outputs.values()}
        return frozenset(arc for arc in arcs if arc.source not in behind)

    def run_turn(self, turns: Mapping[str, Turn]) -> Mapping[str, pl.DataFrame]:
        """Move what the inputs give through all boxes; what comes to each output, if any moved."""
        handed: dict[Arc, list[pl.DataFrame]] = {}
        for step in self.lockstep.steps(turns) if self.lockstep else [turns]:
            self.stepper.enter(step)
            self.stepper.run(self.stepped)
            for arc in self.handed_on:
                handed.setdefault(arc, []).append(self.stepper.frames[arc])
        if not handed:
            return {}
        self.stepper.frames |= {arc: pl.concat(frames) for arc, frames in handed.items()}
        self.stepper.run(self.stages)
        outputs = self.net.outputs.items()
        return {name: self.stepper.frames[output.source] for name, output in outputs}
