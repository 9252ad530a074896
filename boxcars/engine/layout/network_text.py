"""The network of a run as text: as it is sent to workers and stored in the checkpoint.

The text includes the identity of the user's code. So a changed function makes a different network,
even if its boxes are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from boxcars.expr.stored import vouch_for
from boxcars.model.deserialize import read_network
from boxcars.model.network import Network
from boxcars.model.own_code import OwnCode
from boxcars.model.serialize import network_to_plain
from boxcars.own_code.used import identities

_CODE = "code"


def write_text(net: Network, used: Mapping[str, OwnCode]) -> str:
    """Serialize a network, with the identity of the code that it uses."""
    code = {_CODE: identities(used)} if used else {}
    return json.dumps({**network_to_plain(net), **code})


def read_text(text: str) -> Network:
    """Parse a network without checking it; this does not run user code."""
    plain = json.loads(text)
    plain.pop(_CODE, None)
    return read_network(plain).network


def read_trusted(text: str) -> Network:
    """Parse the network of a run that the user started, so that its code may run."""
    net = read_text(text)
    vouch_for(net)
    return net


def code_in_text(text: str) -> Mapping[str, str]:
    """Identities of the user's code in a network, by key."""
    found: Mapping[str, str] = json.loads(text).get(_CODE, {})
    return found


def without_code(text: str) -> str:
    """The text as older checkpoints have it: without identities of code."""
    plain = json.loads(text)
    plain.pop(_CODE, None)
    return json.dumps(plain)
