"""Routing into a block: the key of its stateful box, traced back to the arcs that enter it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from boxcars.model.arc import Arc
from boxcars.model.check import Checked
from boxcars.model.routing import ANYWHERE, Routing
from boxcars.model.table_order import shared_tables


@dataclass(frozen=True)
class Reading:
    """A box that reads an arc by one of its ports."""

    arc: Arc
    box: str
    port: int


Routes = Mapping[Reading, Routing]


def routes_within(checked: Checked, block: Collection[str], free: Collection[str]) -> Routes:
    """The routing of each arc that enters a block, and of those inside it up to its entry."""
    boxes = checked.network.boxes
    names = [name for name in checked.order if name in block]
    entering = [
        Reading(arc, name, port)
        for name in names
        for port, arc in enumerate(boxes[name].inputs)
        if arc.source not in block
    ]
    entries = [name for name in names if name not in free]
    found: dict[Reading, Routing] = {}
    if why := _one_piece(checked, names, entries):
        return dict.fromkeys(entering, Routing.single(why))
    for entry in entries:
        for port in range(len(boxes[entry].inputs)):
            wanted = boxes[entry].box.routing(port, checked.inputs_of(entry))
            why = _trace(
                checked, block, Reading(boxes[entry].inputs[port], entry, port), wanted, found
            )
            if why:
                return dict.fromkeys(entering, Routing.single(why))
    return dict.fromkeys(entering, ANYWHERE) | found


def _one_piece(checked: Checked, names: list[str], entries: list[str]) -> str:
    """The reason why a block can't be split at all, if there is one."""
    for table, users in shared_tables(checked.network).items():
        if not set(users).isdisjoint(names):
            return f"its boxes share the table {table}"
    if len(entries) > 1:
        return f"{' and '.join(entries)} are kept together"
    return ""


def _trace(
    checked: Checked,
    block: Collection[str],
    reading: Reading,
    wanted: Routing,
    found: dict[Reading, Routing],
) -> str:
    """Trace an arc back to where it enters the block; return a reason if that is not possible."""
    if found.setdefault(reading, wanted) != wanted:
        return f"{reading.arc} is read twice, with different keys"
    if reading.arc.source not in block:
        return ""
    name = reading.arc.source
    node = checked.network.boxes[name]
    if wanted.kind == "pairs" and not _only_consumer(checked, name, reading.box):
        return f"{name} would emit its tuples twice"
    for port, arc in enumerate(node.inputs):
        schema = checked.schemas[arc]
        fields = [node.box.carries(field, schema) for field in wanted.fields]
        known = tuple(field for field in fields if field is not None)
        if len(known) < len(fields):
            return f"{name} computes {', '.join(wanted.fields)}"
        moved = replace(wanted, fields=known)
        if why := _trace(checked, block, Reading(arc, name, port), moved, found):
            return why
    return ""


def _only_consumer(checked: Checked, name: str, reader: str) -> bool:
    """Whether a box has a single consumer, which is ``reader``."""
    net = checked.network
    readers = [box for box, node in net.boxes.items() for arc in node.inputs if arc.source == name]
    leaving = [output.source for output in net.outputs.values()]
    leaving += [point.arc for point in net.connection_points.values()]
    return readers == [reader] and all(arc.source != name for arc in leaving)
