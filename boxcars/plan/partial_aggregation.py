"""Partial aggregation: boxes split in two halves, before and after the shuffle (Aurora*).

Each sender pre-aggregates its own tuples. This pays off with many tuples of few keys; so the load
of a hot key, which would overload one bucket, is shared by all senders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from boxcars.model.arc import LATE, Arc
from boxcars.model.box import Box
from boxcars.model.check import Checked

FRONT = "~"
"""Suffix of the name of a first half; names of user boxes can't have it."""


def find_halves(checked: Checked) -> Mapping[str, tuple[Box, Box]]:
    """The boxes that can be split, with their halves.

    A box can't be split if its late tuples are read, if a box of the network needs positions of
    tuples, as a drop does, or if it is downstream of a union, which itself runs after the shuffle.
    """
    net = checked.network
    if any(node.box.positioned for node in net.boxes.values()):
        return {}
    read = {arc for node in net.boxes.values() for arc in node.inputs}
    read |= {output.source for output in net.outputs.values()}
    read |= {point.arc for point in net.connection_points.values()}
    found = {}
    for name, node in net.boxes.items():
        upstream = net.boxes.get(node.inputs[0].source)
        merged = upstream is not None and len(upstream.inputs) > 1
        halves = node.box.halves(checked.inputs_of(name)[0])
        if halves is not None and not merged and Arc(name, LATE) not in read:
            found[name] = halves
    return found


def split_boxes(checked: Checked) -> Checked:
    """Replace each box that can be split by its two halves."""
    halves = find_halves(checked)
    if not halves:
        return checked
    boxes = dict(checked.network.boxes)
    for name, (front, back) in halves.items():
        node = boxes[name]
        boxes[name + FRONT] = replace(node, box=front)
        boxes[name] = replace(node, box=back, inputs=(Arc(name + FRONT),))
    return checked.network.with_boxes(boxes).check().or_raise()
