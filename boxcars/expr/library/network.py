"""IP addresses as texts. IPv4 is computed by Polars, IPv6 value by value."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

import polars as pl

from boxcars.expr.functions import Group
from boxcars.expr.value import per_value
from boxcars.model.problem import Wrong
from boxcars.model.types import Type

add = Group("network")

_BYTE = r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"^{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}$"
_PRIVATE = [
    ip_network(text)
    for text in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16"),
        *("fc00::/7", "fe80::/10", "::1/128"),
    )
]


def _ip(text: pl.Expr) -> pl.Expr:
    """Return an IPv4 address as a number, null if it is not one."""
    parts = text.str.extract_groups(_IPV4).struct
    a, b, c, d = (parts[f"{index}"].cast(pl.Int64) for index in range(1, 5))
    return a * 2**24 + b * 2**16 + c * 2**8 + d


def _ip_text(number: pl.Expr) -> pl.Expr:
    valid = pl.when(number.is_between(0, 2**32 - 1)).then(number)
    parts = [(valid // 2**shift % 256).cast(pl.String) for shift in (24, 16, 8, 0)]
    return pl.concat_str(parts, separator=".")


def _for_ipv6(
    function: Callable[..., Any], text: pl.Expr, *rest: pl.Expr, returns: Type
) -> pl.Expr:
    """Call a function of an IPv6 address; null for anything else."""

    def on_address(address: str, *others: Any) -> Any:
        try:
            return function(IPv6Address(address), *others)
        except ValueError:
            return None

    candidate = pl.when(text.str.contains(":", literal=True)).then(text)
    return per_value(on_address, candidate, *rest, returns=returns)


def _ip_version(text: pl.Expr) -> pl.Expr:
    version6 = _for_ipv6(lambda address: address.version, text, returns=Type.INT)
    return pl.when(_ip(text).is_not_null()).then(4).otherwise(version6)


def _is_ip(text: pl.Expr) -> pl.Expr:
    return pl.when(text.is_not_null()).then(_ip_version(text).is_not_null())


def _in_constant(text: pl.Expr, network: IPv4Network | IPv6Network) -> pl.Expr:
    if isinstance(network, IPv4Network):
        low, high = int(network.network_address), int(network.broadcast_address)
        inside = _ip(text).is_between(low, high)
        return inside.fill_null(pl.when(_ip_version(text) == 6).then(False))
    inside = _for_ipv6(lambda address: address in network, text, returns=Type.BOOL)
    return inside.fill_null(pl.when(_ip(text).is_not_null()).then(False))


def _is_private(text: pl.Expr) -> pl.Expr:
    return pl.any_horizontal([_in_constant(text, network) for network in _PRIVATE])


def _is_inside(address: str, subnet: str) -> bool | None:
    try:
        return ip_address(address) in ip_network(subnet, strict=False)
    except ValueError:
        return None


def _in_subnet(text: pl.Expr, subnet: str | pl.Expr) -> pl.Expr:
    if isinstance(subnet, pl.Expr):
        return per_value(_is_inside, text, subnet, returns=Type.BOOL)
    try:
        network = ip_network(subnet, strict=False)
    except ValueError:
        raise Wrong(f"'{subnet}' is not a subnet: write it like '10.0.0.0/8'.") from None
    return _in_constant(text, network)


def _subnet(text: pl.Expr, length: pl.Expr) -> pl.Expr:
    valid = pl.when(length.is_between(0, 32)).then(length)
    size = pl.lit(2, dtype=pl.Int64).pow(32 - valid)
    four = _ip_text(_ip(text) // size * size) + "/" + valid.cast(pl.String)
    six = _for_ipv6(
        lambda address, bits: str(ip_network((address, bits), strict=False)),
        text,
        length,
        returns=Type.STR,
    )
    return pl.coalesce(four, six)


add(
    "ip(text: str) -> int",
    "An IPv4 address as a number, null if it is not one.",
    _ip,
    ("ip('10.0.0.1')", 167772161),
    ("ip('10.0.0.256')", None),
)
add(
    "ip_text(number: int) -> str",
    "A number as an IPv4 address.",
    _ip_text,
    ("ip_text(167772161)", "10.0.0.1"),
    ("ip_text(-1)", None),
)
add(
    "ip_version(text: str) -> int",
    "4 or 6, null if the text is not an IP address.",
    _ip_version,
    ("ip_version('::1')", 6),
    ("ip_version('localhost')", None),
)
add(
    "is_ip(text: str) -> bool",
    "Whether a text is an IPv4 or IPv6 address.",
    _is_ip,
    ("is_ip('10.0.0.1')", True),
    ("is_ip('1.2.3')", False),
)
add(
    "is_private(text: str) -> bool",
    "Whether an address is private (RFC 1918, RFC 4193), loopback or link-local.",
    _is_private,
    ("is_private('192.168.1.1')", True),
    ("is_private('8.8.8.8')", False),
    ("is_private('fd00::1')", True),
)
add(
    "in_subnet(text: str, subnet: const? str) -> bool",
    "Whether an address is in a subnet, IPv4 or IPv6; null if one of them is malformed.",
    _in_subnet,
    ("in_subnet('10.1.2.3', '10.0.0.0/8')", True),
    ("in_subnet('fe80::1', 'fe80::/10')", True),
    ("in_subnet('::1', '10.0.0.0/8')", False),
    ("in_subnet('nowhere', '10.0.0.0/8')", None),
)
add(
    "subnet(text: str, length: int) -> str",
    "The subnet of an address with a given prefix length; null if invalid.",
    _subnet,
    ("subnet('10.1.2.3', 8)", "10.0.0.0/8"),
    ("subnet('2001:db8::1', 32)", "2001:db8::/32"),
    ("subnet('10.1.2.3', 33)", None),
)
