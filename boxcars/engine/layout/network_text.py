"""The network of a run as text: as workers get it, and as its checkpoint keeps it.

The text has the identity of the user's own code in it. So a changed function makes another network,
though not a letter of its boxes has changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from boxcars.expr.stored import vouch_for
from boxcars.model.network import Network
from boxcars.model.own_code import OwnCode
from boxcars.model.serialize import network_to_plain, read_network
from boxcars.own_code.used import identities

_CODE = "code"


def write_text(net: Network, used: Mapping[str, OwnCode]) -> str:
    """A network, with the identity of the code that it uses."""
    code = {_CODE: identities(used)} if used else {}
    return json.dumps({**network_to_plain(net), **code})


def read_text(text: str) -> Network:
    """The network again, not checked; the user's code in it is not run by that."""
    plain = json.loads(text)
    plain.pop(_CODE, None)
    return read_network(plain).network


def read_trusted(text: str) -> Network:
    """The network of a run that the user has begun, so that its code may run."""
    net = read_text(text)
    vouch_for(net)
    return net


def code_in_text(text: str) -> Mapping[str, str]:
    """The identity of the user's code, by key."""
    found: Mapping[str, str] = json.loads(text).get(_CODE, {})
    return found


def without_code(text: str) -> str:
    """The text as it was before identities of code were in it."""
    plain = json.loads(text)
    plain.pop(_CODE, None)
    return json.dumps(plain)
