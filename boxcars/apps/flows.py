"""Generated flow records of a router, with two kinds of attacks.

Clients connect to servers continuously. Attacks come from many addresses at once: half-open
connections (a SYN flood), or unsolicited responses (amplification through open DNS servers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.apps.app import Feed
from boxcars.apps.generate import CHUNK, clock, weave

FIELDS = {
    "time": "int",
    "src": "str",
    "dst": "str",
    "protocol": "str",
    "src_port": "int",
    "dst_port": "int",
    "flags": "str",
    "packets": "int",
    "bytes": "int",
}
SERVERS = 250
RATE = 2_000.0
"""Flows per second."""
SHARE = 100_000
"""Flows per attack of each kind."""
ZOMBIES, REFLECTORS, CROWD = 2_000, 800, 2_000
"""Number of addresses in a SYN flood, in an amplification attack, and in an innocent crowd."""
LASTS = 20
"""Duration of an attack or a crowd in seconds."""


@dataclass(frozen=True)
class Internet:
    """Servers, clients, and the share of connections of each server."""

    rng: np.random.Generator
    servers: pl.Series
    clients: pl.Series
    taste: np.ndarray

    @classmethod
    def settle(cls, seed: int) -> Internet:
        """Assign addresses: servers in 198.51.0.0/16, clients in 10.0.0.0/8."""
        rng = np.random.default_rng(seed)
        servers = addresses(np.arange(SERVERS) + (198 << 24) + (51 << 16) + 1)
        clients = addresses(rng.integers(10 << 24, 11 << 24, CHUNK))
        taste = 1 / np.arange(1, SERVERS + 1)
        return cls(rng, servers, clients, np.cumsum(taste / taste.sum()))

    def visits(self, rows: int) -> Iterator[pl.DataFrame]:
        """Normal traffic: connections to web servers, some of which fail, and DNS responses."""
        rng = self.rng
        for times in clock(rng, rows, RATE):
            size = len(times)
            failed, dns = rng.random(size) < 0.01, rng.random(size) < 0.02
            packets = np.ceil(rng.lognormal(2.2, 1, size)).astype(np.int64) + 3
            packets = np.where(failed | dns, rng.integers(1, 4, size), packets)
            servers = np.searchsorted(self.taste, rng.random(size)).clip(max=SERVERS - 1)
            clients = rng.integers(0, len(self.clients), size)
            yield pl.DataFrame(
                {
                    "time": times,
                    "src": self.clients.gather(clients),
                    "dst": self.servers.gather(servers),
                    "protocol": np.where(dns, "udp", "tcp"),
                    "src_port": np.where(dns, 53, rng.integers(1024, 65536, size)),
                    "dst_port": np.where(rng.random(size) < 0.8, 443, 80),
                    "flags": np.where(dns, "", np.where(failed, "S", "SAF")),
                    "packets": packets,
                    "bytes": packets * np.where(dns, 120, rng.integers(60, 1400, size)),
                }
            )

    def storm(self, target: int, start: int, sources: pl.Series, kind: str) -> pl.DataFrame:
        """One flow of each source to one server within ``LASTS`` seconds."""
        rng, size = self.rng, len(sources)
        amplified, half = kind == "amplification", kind == "syn-flood"
        packets = np.full(size, 1 if half else 12)
        return pl.DataFrame(
            {
                "time": np.sort(start + rng.integers(0, LASTS, size)),
                "src": sources,
                "dst": self.servers.gather([target] * size),
                "protocol": "udp" if amplified else "tcp",
                "src_port": np.full(size, 53) if amplified else rng.integers(1024, 65536, size),
                "dst_port": rng.integers(1024, 65536, size) if amplified else np.full(size, 443),
                "flags": "" if amplified else "S" if half else "SAF",
                "packets": packets,
                "bytes": packets * (1400 if amplified else 60),
            },
            schema_overrides={"packets": pl.Int64, "src_port": pl.Int64, "dst_port": pl.Int64},
        )


def addresses(numbers: np.ndarray) -> pl.Series:
    """IPv4 addresses as text.

    >>> addresses(np.array([167772161])).to_list()
    ['10.0.0.1']
    """
    octets = [pl.Series(((numbers >> shift) & 255).astype(str)) for shift in (24, 16, 8, 0)]
    return pl.select(pl.concat_str(octets, separator=".")).to_series()


def feed(rows: int, seed: int) -> Feed:
    """Normal traffic, attacks of both kinds, and innocent crowds."""
    internet, rounds = Internet.settle(seed), rows // SHARE or int(rows >= 30_000)
    rng, storms = internet.rng, [next(internet.visits(1)).clear()]
    cases, rules = list[tuple[str, str]](), list[tuple[str, str]]()
    for start in (np.arange(rounds) + 0.5) / max(rounds, 1) * rows / RATE:
        targets = rng.choice(SERVERS, 3, replace=False)
        botnet = rng.integers(1, 224, 8) << 24
        zombies = botnet[rng.integers(0, 8, ZOMBIES)] + rng.integers(0, 1 << 16, ZOMBIES)
        sources = {
            "syn-flood": addresses(zombies),
            "amplification": addresses(rng.integers(1 << 24, 200 << 24, REFLECTORS)),
            "crowd": addresses(rng.integers(10 << 24, 11 << 24, CROWD)),
        }
        for target, (kind, who) in zip(targets, sources.items(), strict=True):
            storms.append(internet.storm(int(target), int(start), who, kind))
            if kind != "crowd":
                cases.append((kind, internet.servers[int(target)]))
        flooded, amplified = (internet.servers[int(target)] for target in targets[:2])
        rules += [(flooded, f"{network >> 24}.0.0.0/8") for network in botnet]
        rules.append((amplified, "udp/53"))
    planted = {
        "attacks": pl.DataFrame(cases, {"kind": pl.String, "dst": pl.String}, orient="row"),
        "mitigation": pl.DataFrame(rules, {"dst": pl.String, "block": pl.String}, orient="row"),
    }
    storm = pl.concat(storms)
    chunks = weave(internet.visits(rows - storm.height), storm, "time")
    return Feed(({"flows": chunk} for chunk in chunks), planted)
