"""A network on a single instance, turn by turn; boxes that share tables run in lockstep."""

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


class SingleInstance:
    """Runs a whole network on a single instance.

    Boxes that share a table which one of them writes run in lockstep, with everything upstream.
    """

    def __init__(self, checked: Checked, store: Store, peeks: frozenset[Arc] = frozenset()) -> None:
        self.net = checked.network
        self.stepper = Stepper(checked, store, peeks)
        shared = shared_tables(self.net)
        self.lockstep = Lockstep(self.net.inputs) if shared else None
        self.stepped, self.stages = split_stages(
            find_stages(checked), {box for boxes in shared.values() for box in boxes}
        )
        self.lockstep_arcs = self._arcs_to_later_stages()

    def _arcs_to_later_stages(self) -> frozenset[Arc]:
        """Arcs from inputs or lockstep stages that a later stage or an output reads."""
        later = {name for stage in self.stages for name in stage.names}
        arcs = {arc for stage in self.stages for arc in stage.inputs}
        arcs |= {output.source for output in self.net.outputs.values()}
        return frozenset(arc for arc in arcs if arc.source not in later)

    def run_turn(self, turns: Mapping[str, Turn]) -> Mapping[str, pl.DataFrame]:
        """Move one turn of the inputs through all boxes; return the rows of each output."""
        handed: dict[Arc, list[pl.DataFrame]] = {}
        for step in self.lockstep.steps(turns) if self.lockstep else [turns]:
            self.stepper.enter(step)
            self.stepper.run(self.stepped)
            for arc in self.lockstep_arcs:
                handed.setdefault(arc, []).append(self.stepper.frames[arc])
        if not handed:
            return {}
        self.stepper.frames |= {arc: pl.concat(frames) for arc, frames in handed.items()}
        self.stepper.run(self.stages)
        outputs = self.net.outputs.items()
        return {name: self.stepper.frames[output.source] for name, output in outputs}
