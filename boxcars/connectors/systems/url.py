"""Addresses of systems outside: ``kafka://user:${PASSWORD}@host:9092/calls?group=fraud``.

What must stay secret comes from the environment, and is never shown again.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from boxcars.model.problem import Wrong, nearest

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRETS = ("password", "token", "secret", "header.", "query.")
"""Options whose values are never shown."""


@dataclass(frozen=True)
class Url:
    """An address, taken apart. As a text it has no password.

    >>> url = Url.parse("redis://me:geheim@localhost:7000/calls?format=csv&token=x")
    >>> url.scheme, url.host, url.port, url.path, url.options["format"]
    ('redis', 'localhost', 7000, 'calls', 'csv')
    >>> str(url)
    'redis://me@localhost:7000/calls?format=csv'
    """

    scheme: str
    host: str = ""
    port: int | None = None
    path: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, text: str) -> Url:
        """Take an address apart; ``${NAME}`` in it is a variable of the environment."""
        shown = re.sub(r"//[^/@]*@", "//", text.partition("?")[0])
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise Wrong(f"{shown}: this is no address: {error}.") from None
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        return cls(
            parts.scheme,
            _expanded(parts.hostname or "", shown),
            port,
            _expanded(unquote(parts.path.removeprefix("/")), shown),
            _expanded(unquote(parts.username or ""), shown),
            _expanded(unquote(parts.password or ""), shown),
            {name: _expanded(value, shown) for name, value in options.items()},
        )

    def __str__(self) -> str:
        user = f"{quote(self.user)}@" if self.user else ""
        port = "" if self.port is None else f":{self.port}"
        open_ = {name: text for name, text in self.options.items() if not _secret(name)}
        query = "&".join(f"{name}={quote(text)}" for name, text in open_.items())
        path = f"/{self.path}" if self.path else ""
        return f"{self.scheme}://{user}{self.host}{port}{path}{'?' if query else ''}{query}"

    def secrets(self) -> list[str]:
        """The values of options that are never shown."""
        return [text for name, text in self.options.items() if _secret(name)]

    def check(self, known: Collection[str], *, path: str = "") -> None:
        """Complain about options that nobody knows, and if ``path``, what it names, is missing."""
        for name in self.options:
            if name not in known:
                raise Wrong(f"{self}: there is no option '{name}'.{nearest(name, known)}")
        if path and not self.path:
            raise Wrong(
                f"{self}: expected {path} behind the host, as in {self.scheme}://host/NAME."
            )

    def number(self, name: str, default: float) -> float:
        """An option that is a number of 0 or more."""
        text = self.options.get(name, str(default))
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            raise Wrong(f"{self}: expected a number for '{name}', got '{text}'.")
        return number


def _secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRETS)


def _expanded(text: str, shown: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in os.environ:
            raise Wrong(f"{shown}: the environment has no variable '{name}'.")
        return os.environ[name]

    return _VARIABLE.sub(value, text)


def files_in(address: str) -> list[str]:
    """The files of this machine that an address names: a path is one, and some have some.

    >>> files_in("calls.csv"), files_in("sqlite:///calls.db?table=t"), files_in("kafka://host/t")
    (['calls.csv'], ['calls.db'], [])
    >>> files_in("tcp://127.0.0.1:7001?cert=c.pem&key=k.pem&token=x")
    ['c.pem', 'k.pem']
    """
    if "://" not in address:
        return [address]
    url = Url.parse(address)
    named = ("ca", "cert", "key") if url.scheme == "tcp" else ("ca", "cert")
    found = [url.options[name] for name in named if url.options.get(name)]
    if url.scheme.startswith("sqlite"):
        found.append(url.path.removeprefix("file:"))
    return found


def is_loopback(host: str) -> bool:
    """Whether an address is only seen from this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
