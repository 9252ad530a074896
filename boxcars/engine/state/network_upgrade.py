"""Going on with a network that was changed since: what keeps its state, and what can't change.

A box keeps its state if it is the same as before, and so is all that leads to it. Any other box
begins anew, with the tuples that come from then on.
"""

from __future__ import annotations

from boxcars.engine.layout.network_text import code_in_text, read_text, without_code
from boxcars.engine.layout.pieces import Layout, Shape, make_layout
from boxcars.engine.state.checkpoint import Checkpoint, Manifest, fingerprint
from boxcars.expr.stored import code_in
from boxcars.kernels.contract import Stateful
from boxcars.model.problem import NetworkError, Wrong
from boxcars.model.superbox import flatten
from boxcars.own_code.used import used_by


def network_before(
    checkpoint: Checkpoint, last: Manifest | None, network: str, modify: bool, code: bool = True
) -> str:
    """The network of the last epoch: this one, or one that it may take over from.

    Raises Wrong if the checkpoint is of another network and ``modify`` is not said, or if the
    change is one that would lose or double tuples, or if the network before has code and may not.
    """
    mark = checkpoint.keep_network(network)
    if last is None or last.network in (mark, fingerprint(without_code(network))):
        return network
    old = checkpoint.network_of(last)
    if not code:
        _check_code(checkpoint, old)
    if not modify:
        raise Wrong(
            f"{checkpoint.folder}: this checkpoint belongs to another network or another version "
            f"of it.{_what_follows(old, network, last.shape)} Say --modify to go on like that, "
            "give the run a new --checkpoint, or remove this one."
        )
    _check_change(checkpoint, last, old, network)
    return old


def _what_follows(old: str, new: str, shape: Shape) -> str:
    """What was changed of the user's code, and which boxes would begin anew."""
    try:
        boxes = make_layout(new, shape).checked.network.boxes
        kept = unchanged(old, new, shape)
    except NetworkError:
        return ""  # of the code of the network before, something is gone
    before, after = code_in_text(old), code_in_text(new)
    changed = [key for key in after if key in before and before[key] != after[key]]
    code = f" The code of {', '.join(changed)} has changed." if changed else ""
    states = [name for name, node in boxes.items() if isinstance(node.box, Stateful)]
    anew = [name for name in states if name not in kept]
    if not anew:
        return f"{code} All boxes would keep their states."
    others = " all others keep theirs." if len(anew) < len(states) else " none keeps its state."
    return f"{code} These boxes would begin anew: {', '.join(anew)};{others}"


def _check_code(checkpoint: Checkpoint, old: str) -> None:
    """Refuse a stored network that runs code when it is looked into."""
    for name, node in flatten(read_text(old)).network.boxes.items():
        if code_in(node.box):
            raise Wrong(
                f"{checkpoint.folder}: the network of this checkpoint runs code in box '{name}': "
                "allow that with --allow-code if you trust it."
            )


def _check_change(checkpoint: Checkpoint, last: Manifest, old: str, new: str) -> None:
    """Refuse a change that can't be made under way."""
    before, after = make_layout(old, last.shape), make_layout(new, last.shape)
    if checkpoint.plan_of(last.epoch + 1) is not None:
        raise Wrong(
            f"{checkpoint.folder}: an epoch was begun and has not ended: run the network as it was "
            "until it has, stop it, and then go on with the changed one."
        )
    if last.final:
        raise Wrong(
            f"{checkpoint.folder}: this run has read all of its input, and there is nothing to go "
            "on with: give the changed network a new --checkpoint."
        )
    if before.writes or after.writes:
        raise Wrong(
            "a network that writes stored tables can't be changed under way: give the run a new "
            "--checkpoint."
        )
    if _hidden(before) != _hidden(after):
        raise Wrong(
            "the first box with a state or drop box can't be added under way, nor the last be "
            "taken away: give the run a new --checkpoint."
        )
    old_net, new_net = before.checked.network, after.checked.network
    for name in old_net.inputs.keys() & new_net.inputs.keys():
        if old_net.inputs[name] != new_net.inputs[name]:
            raise Wrong(f"input '{name}' is not what it was: give the new one another name.")
    for name in old_net.outputs.keys() & new_net.outputs.keys():
        schemas = [
            layout.checked.schemas[layout.checked.network.outputs[name].source]
            for layout in (before, after)
        ]
        if schemas[0].fields != schemas[1].fields:
            raise Wrong(
                f"output '{name}' has other fields than before: give the new one another name."
            )


def _hidden(layout: Layout) -> tuple[bool, bool]:
    """What decides about the hidden columns of all tuples."""
    boxes = layout.checked.network.boxes.values()
    return layout.ranked, any(node.box.positioned for node in boxes)


def unchanged(network_before: str, after: str, shape: Shape) -> frozenset[str]:
    """The inputs and boxes that keep their states."""
    old = make_layout(network_before, shape).checked.network
    checked = make_layout(after, shape).checked
    new = checked.network
    was, now = code_in_text(network_before), code_in_text(after)
    kept = {name for name in new.inputs if old.inputs.get(name) == new.inputs[name]}
    for name in checked.order:
        node, before = new.boxes[name], old.boxes.get(name)
        same = before is not None and (before.box, before.inputs) == (node.box, node.inputs)
        same = same and all(was.get(own.key) == now.get(own.key) for own in used_by(node.box))
        if same and all(arc.source in kept for arc in node.inputs):
            kept.add(name)
    return frozenset(kept)
