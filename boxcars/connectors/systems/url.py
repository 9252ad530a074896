"""URLs of external systems: ``kafka://user:${PASSWORD}@host:9092/calls?group=fraud``.

Secrets come from environment variables, and are never printed.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from boxcars.model.problem import Wrong, nearest

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRETS = ("password", "token", "secret", "header.", "query.")
"""Parts of the names of options whose values are never printed."""


@dataclass(frozen=True, repr=False)
class Url:
    """A parsed URL. Its string form has no password, and variables instead of their values.

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
    password: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    written: Url | None = None
    """The URL as written, with the names of variables instead of their values."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The values of its variables, by name."""

    @classmethod
    def parse(cls, text: str) -> Url:
        """Parse a URL; ``${NAME}`` in it is an environment variable."""
        shown = re.sub(r"//[^/@]*@", "//", text.partition("?")[0])
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise Wrong(f"{shown}: not a valid URL: {error}.") from None
        written = cls(
            parts.scheme,
            parts.hostname or "",
            port,
            unquote(parts.path.removeprefix("/")),
            unquote(parts.username or ""),
            unquote(parts.password or ""),
            dict(parse_qsl(parts.query, keep_blank_values=True)),
        )
        return written._filled(shown)

    def _filled(self, shown: str) -> Url:
        """The same URL with the values of variables."""
        values: dict[str, str] = {}

        def fill(text: str) -> str:
            return _VARIABLE.sub(
                lambda match: values.setdefault(match[1], _value(match[1], shown)), text
            )

        return replace(
            self,
            host=fill(self.host),
            path=fill(self.path),
            user=fill(self.user),
            password=fill(self.password),
            options={name: fill(value) for name, value in self.options.items()},
            written=self,
            variables=values,
        )

    def with_options(self, options: Mapping[str, str]) -> Url:
        """The same URL with more options."""
        written = self.written and self.written.with_options(options)
        return replace(self, options={**self.options, **options}, written=written)

    def __str__(self) -> str:
        if self.written is not None:
            return str(self.written)
        user = f"{_quoted(self.user)}@" if self.user else ""
        port = "" if self.port is None else f":{self.port}"
        open_ = {name: text for name, text in self.options.items() if not _secret(name)}
        query = "&".join(f"{name}={_quoted(text)}" for name, text in open_.items())
        path = f"/{self.path}" if self.path else ""
        return f"{self.scheme}://{user}{self.host}{port}{path}{'?' if query else ''}{query}"

    def __repr__(self) -> str:
        return f"Url({str(self)!r})"

    def secrets(self) -> list[str]:
        """The values of options that are never printed."""
        return [text for name, text in self.options.items() if _secret(name)]

    def hide(self, text: str) -> str:
        """Replace the values of variables in a text by their names."""
        values = {value: name for name, value in self.variables.items() if value}
        for value in sorted(values, key=len, reverse=True):
            for form in (value, quote(value), quote(value, safe="")):
                text = text.replace(form, f"${{{values[value]}}}")
        return text

    def check(self, known: Collection[str], *, path: str = "") -> None:
        """Raise Wrong for unknown options, and for a missing path; ``path`` says what it names."""
        for name in self.options:
            if name not in known:
                shown = self._without(set(self.options) - set(known))
                raise Wrong(f"{shown}: there is no option '{name}'.{nearest(name, known)}")
        if path and not self.path:
            raise Wrong(f"{self}: expected {path} after the host, as in {self.scheme}://host/NAME.")

    def _without(self, names: Collection[str]) -> Url:
        """The URL as written, without unknown options, which may contain secrets."""
        shown = self.written or self
        rest = {name: text for name, text in shown.options.items() if name not in names}
        return replace(shown, options=rest)

    def number(self, name: str, default: float) -> float:
        """The value of an option that must be a number >= 0."""
        text = self.options.get(name, str(default))
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            raise Wrong(f"{self}: expected a number for '{name}', got '{self.hide(text)}'.")
        return number


def _secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRETS)


def _quoted(text: str) -> str:
    return quote(text, safe="/${}")


def _value(name: str, shown: str) -> str:
    if name not in os.environ:
        raise Wrong(f"{shown}: the environment variable '{name}' is not set.")
    return os.environ[name]


def files_in(address: str) -> list[str]:
    """The local files that a path or URL names.

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
    """Whether a host name is reachable from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
