"""Boxes in two halves, one before the shuffle and one behind it: Aurora*'s box splitting.

Where many tuples of few keys come, each sender combines its own first. A hot key is one of few, so
what would have been too much for one bucket is shared by all senders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from boxcars.model.arc import LATE, Arc
from boxcars.model.box import Box
from boxcars.model.check import Checked

FRONT = "~"
"""What the name of the first half ends with; no box of a user is called so."""


def find_halves(checked: Checked) -> Mapping[str, tuple[Box, Box]]:
    """The boxes that can be split, with their halves.

    Not where somebody asks which tuples came late, or needs their positions, as a drop does; nor
    behind a union, which moves behind the shuffle itself.
    """
    net = checked.network
    if any(node.box.positioned for node in net.boxes.values()):
        return {}
    read = {arc for node in net.boxes.values() for arc in node.inputs}
    read |= {output.source for output in net.outputs.values()}
    read |= {point.arc for point in net.connection_points.values()}
    found = {}
    for name, node in net.boxes.items():
        before = net.boxes.get(node.inputs[0].source)
        merged = before is not None and len(before.inputs) > 1
        halves = node.box.halves(checked.inputs_of(name)[0])
        if halves is not None and not merged and Arc(name, LATE) not in read:
            found[name] = halves
    return found


def split_boxes(checked: Checked) -> Checked:
    """The network with all boxes in halves that can be."""
    halves = find_halves(checked)
    if not halves:
        return checked
    boxes = dict(checked.network.boxes)
    for name, (front, back) in halves.items():
        node = boxes[name]
        boxes[name + FRONT] = replace(node, box=front)
        boxes[name] = replace(node, box=back, inputs=(Arc(name + FRONT),))
    return checked.network.with_boxes(boxes).check().or_raise()
