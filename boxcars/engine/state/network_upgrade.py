"""Resumes a checkpoint with a changed network: which boxes keep their state, what can't change.

A box keeps its state if neither the box nor anything upstream has changed. Any other box starts
with an empty state.
"""

from __future__ import annotations

from boxcars.engine.layout.network_text import code_in_text, read_text, without_code
from boxcars.engine.layout.pieces import Layout, Shape, make_layout
from boxcars.engine.state.checkpoint import Checkpoint, fingerprint
from boxcars.engine.state.epoch_records import Manifest
from boxcars.expr.stored import code_in
from boxcars.kernels.contract import Stateful
from boxcars.model.flatten import flatten
from boxcars.model.problem import NetworkError, Wrong
from boxcars.own_code.used import used_by


def previous_network(
    checkpoint: Checkpoint, last: Manifest | None, network: str, modify: bool, code: bool = True
) -> str:
    """Return the network of the last epoch: this one, or one whose state it can take over.

    Raises Wrong if the checkpoint has another network and ``modify`` is false, if the change would
    lose or duplicate tuples, or if the stored network has code and ``code`` is false.
    """
    mark = checkpoint.keep_network(network)
    if last is None or last.network in (mark, fingerprint(without_code(network))):
        return network
    old = checkpoint.network_of(last)
    if not code:
        _check_code(checkpoint, old)
    if not modify:
        raise Wrong(
            f"{checkpoint.where}: this checkpoint belongs to another network or another version "
            f"of it.{_describe_change(old, network, last.shape)} Use --modify to resume with this "
            "network, give the run a new --checkpoint, or remove this one."
        )
    _check_change(checkpoint, last, old, network)
    return old


def _describe_change(old: str, new: str, shape: Shape) -> str:
    """Describe which user code has changed, and which boxes would lose their state."""
    try:
        boxes = make_layout(new, shape).checked.network.boxes
        kept = unchanged(old, new, shape)
    except NetworkError:
        return ""  # code of the previous network no longer exists
    before, after = code_in_text(old), code_in_text(new)
    changed = [key for key in after if key in before and before[key] != after[key]]
    code = f" The code of {', '.join(changed)} has changed." if changed else ""
    states = [name for name, node in boxes.items() if isinstance(node.box, Stateful)]
    empty = [name for name in states if name not in kept]
    if not empty:
        return f"{code} All boxes would keep their state."
    others = "; all others would keep theirs." if len(empty) < len(states) else "."
    return f"{code} These boxes would start with an empty state: {', '.join(empty)}{others}"


def _check_code(checkpoint: Checkpoint, old: str) -> None:
    """Refuse a stored network that runs code when it is loaded."""
    for name, node in flatten(read_text(old)).network.boxes.items():
        if code_in(node.box):
            raise Wrong(
                f"{checkpoint.where}: the network of this checkpoint runs code in box '{name}': "
                "allow that with --allow-code if you trust it."
            )


def _check_change(checkpoint: Checkpoint, last: Manifest, old: str, new: str) -> None:
    """Refuse a change that a resumed run can't make."""
    before, after = make_layout(old, last.shape), make_layout(new, last.shape)
    if checkpoint.pending() is not None:
        raise Wrong(
            f"{checkpoint.where}: epoch {last.epoch + 1} is uncommitted: resume the old network "
            "until it commits, stop it, and then retry --modify."
        )
    if last.final:
        raise Wrong(
            f"{checkpoint.where}: this run has finished and read all of its input: give the "
            "changed network a new --checkpoint."
        )
    if before.writes or after.writes:
        raise Wrong(
            "--modify does not support networks that write stored tables: give the run a new "
            "--checkpoint."
        )
    if _hidden_columns(before) != _hidden_columns(after):
        raise Wrong(
            "--modify can't add the first stateful or drop box to a network, or remove the last "
            "one: give the run a new --checkpoint."
        )
    old_net, new_net = before.checked.network, after.checked.network
    for name in old_net.inputs.keys() & new_net.inputs.keys():
        if old_net.inputs[name] != new_net.inputs[name]:
            raise Wrong(f"input '{name}' has changed: give the changed input a new name.")
    for name in old_net.outputs.keys() & new_net.outputs.keys():
        schemas = [
            layout.checked.schemas[layout.checked.network.outputs[name].source]
            for layout in (before, after)
        ]
        if schemas[0].fields != schemas[1].fields:
            raise Wrong(
                f"output '{name}' has different fields: give the changed output a new name."
            )


def _hidden_columns(layout: Layout) -> tuple[bool, bool]:
    """Which hidden columns all tuples have: ranks, and positions."""
    boxes = layout.checked.network.boxes.values()
    return layout.ranked, any(node.box.positioned for node in boxes)


def unchanged(old_text: str, new_text: str, shape: Shape) -> frozenset[str]:
    """The inputs and boxes that keep their states."""
    old = make_layout(old_text, shape).checked.network
    checked = make_layout(new_text, shape).checked
    new = checked.network
    was, now = code_in_text(old_text), code_in_text(new_text)
    kept = {name for name in new.inputs if old.inputs.get(name) == new.inputs[name]}
    for name in checked.order:
        node, previous = new.boxes[name], old.boxes.get(name)
        same = previous is not None and (previous.box, previous.inputs) == (node.box, node.inputs)
        same = same and all(was.get(own.key) == now.get(own.key) for own in used_by(node.box))
        if same and all(arc.source in kept for arc in node.inputs):
            kept.add(name)
    return frozenset(kept)
