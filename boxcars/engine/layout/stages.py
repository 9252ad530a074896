"""Stages of a network: chains of lazy boxes that run as one query, and single other boxes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from boxcars.kernels.contract import Eager, Lazy, Stateful, Tabled
from boxcars.model.arc import MAIN, Arc
from boxcars.model.box import Box
from boxcars.model.check import Checked
from boxcars.model.problem import Wrong, a


@dataclass(frozen=True)
class Stage:
    """Boxes that run together: a chain of lazy boxes, or one box of another kind."""

    names: tuple[str, ...]
    inputs: tuple[Arc, ...]

    @property
    def last(self) -> str:
        """The box whose outputs leave the stage."""
        return self.names[-1]


def find_stages(checked: Checked, boxes: Collection[str] | None = None) -> tuple[Stage, ...]:
    """Fuse each lazy box with its upstream box, if it is the only consumer of that.

    A box that computes order values is not fused: out-of-range values are dropped right after it.

    ``boxes`` are those of one subquery, in topological order; all boxes by default.
    """
    net = checked.network
    readers = _count_readers(checked)
    stages: dict[str, Stage] = {}
    for name in checked.order if boxes is None else boxes:
        node = net.boxes[name]
        _check_kernel(name, node.box)
        upstream = stages.get(node.inputs[0].source)
        fits = (
            isinstance(node.box, Lazy)
            and not _dates(checked, name)
            and upstream is not None
            and not _dates(checked, upstream.last)
            and upstream.last == node.inputs[0].source
            and _continues(net.boxes[upstream.last].box)
            and readers[node.inputs[0]] == 1
        )
        if fits and upstream is not None:
            stage = Stage((*upstream.names, name), upstream.inputs)
            for member in stage.names:
                stages[member] = stage
        else:
            stages[name] = Stage((name,), node.inputs)
    return tuple(dict.fromkeys(stages.values()))


def split_stages(
    stages: tuple[Stage, ...], boxes: Collection[str]
) -> tuple[tuple[Stage, ...], tuple[Stage, ...]]:
    """Split stages into those of some boxes with everything upstream, and the rest."""
    leading: set[str] = set()
    for stage in reversed(stages):
        if not leading.isdisjoint(stage.names) or not set(boxes).isdisjoint(stage.names):
            leading |= {*stage.names, *(arc.source for arc in stage.inputs)}
    first = tuple(stage for stage in stages if not leading.isdisjoint(stage.names))
    return first, tuple(stage for stage in stages if stage not in first)


def _dates(checked: Checked, name: str) -> bool:
    box = checked.network.boxes[name].box
    return isinstance(box, Lazy) and box.computes_order(checked.inputs_of(name)[0])


def _continues(box: Box) -> bool:
    return isinstance(box, Lazy) and box.ports == (MAIN,)


def _count_readers(checked: Checked) -> Mapping[Arc, int]:
    net = checked.network
    arcs = [arc for node in net.boxes.values() for arc in node.inputs]
    arcs += [output.source for output in net.outputs.values()]
    arcs += [point.arc for point in net.connection_points.values()]
    readers: dict[Arc, int] = {}
    for arc in arcs:
        readers[arc] = readers.get(arc, 0) + 1
    return readers


def _check_kernel(name: str, box: Box) -> None:
    if not isinstance(box, Lazy | Eager | Stateful | Tabled):
        raise Wrong(
            f"box '{name}': this version can check and draw {a(box.type)}, but not run it yet."
        )
