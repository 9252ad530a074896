"""Orders: validated run requests, from which a process is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from boxcars.lang.files import load
from boxcars.model.flatten import flatten
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.serialize import network_to_plain
from boxcars.plan import STRATEGIES
from boxcars.studio.edit.checking import readable
from boxcars.studio.edit.json_rows import plain_rows
from boxcars.studio.edit.templates import find_template, round_of
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.wire.messages import Plain, Row, Strategy
from boxcars.studio.wire.run_messages import AskRun, Instances

INJECT, LIVE = "enqueue://", "dequeue://"
"""The addresses of inputs that accept injected tuples, and of outputs that are shown live."""


class Order(BaseModel):
    """Everything needed to start a run, now or again."""

    name: str
    document: str = ""
    network: Plain
    sources: dict[str, str]
    sinks: dict[str, str]
    tables: dict[str, str | list[Row]]
    strategy: Strategy = "operator-set-cloud"
    instances: Instances | None
    grouped: bool = False
    buckets: int
    epoch_rows: int
    master: str | None
    follow: bool
    code: bool

    @property
    def feeds(self) -> list[str]:
        """The inputs that accept injected tuples."""
        return [name for name, where in self.sources.items() if where.startswith(INJECT)]

    @property
    def taps(self) -> list[str]:
        """The outputs that are shown live."""
        return [name for name, where in self.sinks.items() if where.startswith(LIVE)]

    def fitted(self) -> Order:
        """Adapt the order to a changed network: new inputs and outputs get default addresses."""
        inputs, outputs = self.network.get("inputs", {}), self.network.get("outputs", {})
        return self.model_copy(
            update={
                "sources": {name: self.sources.get(name, INJECT) for name in inputs},
                "sinks": {name: self.sinks.get(name, LIVE) for name in outputs},
                "tables": {n: t for n, t in self.tables.items() if n in self.network["tables"]}
                if "tables" in self.network
                else {},
            }
        )

    def options(self, tables: Mapping[str, str]) -> list[str]:
        """Return the options of ``boxcars run``; ``tables`` has the addresses of table records."""
        found = [f"--source={name}={where}" for name, where in self.sources.items()]
        found += [f"--sink={name}={where}" for name, where in self.sinks.items()]
        found += [f"--table={name}={where}" for name, where in tables.items()]
        found += [f"--buckets={self.buckets}", f"--epoch-rows={self.epoch_rows}"]
        found += layout_options(self.strategy, self.instances, self.grouped)
        found += [f"--master={self.master}"] if self.master else []
        found += ["--allow-code"] if self.code else []
        found.append("--within=.")
        return [*found, "--follow"] if self.follow else found


def layout_options(strategy: Strategy, instances: Instances | None, grouped: bool) -> list[str]:
    """Return the options of ``boxcars run`` for the layout.

    >>> layout_options("query-cloud", {"counts": 4}, grouped=True)
    ['--strategy=query-cloud', '--instances-of=counts=4', '--groups']
    """
    found = [] if strategy == STRATEGIES[0] else [f"--strategy={strategy}"]
    if isinstance(instances, int):
        found.append(f"--instances={instances}")
    elif instances:
        found += [f"--instances-of={name}={number}" for name, number in instances.items()]
    return [*found, "--groups"] if grouped else found


def prepare(asked: AskRun, workspace: Workspace, code: bool) -> Order:
    """Validate a run request as far as possible before it is started."""
    net = _network(asked, workspace, code)
    net.check().or_raise()
    if asked.groups:
        net = grouped(flatten(net).network, asked.groups)
    _check_names("input", asked.sources, net.inputs)
    _check_names("output", asked.sinks, net.outputs)
    _check_names("table", asked.tables, net.tables)
    sources = _addresses(asked.sources, net.inputs, {"inject": INJECT, "": INJECT}, workspace)
    sinks = _addresses(asked.sinks, net.outputs, {"live": LIVE, "-": LIVE, "": LIVE}, workspace)
    for where in asked.tables.values():
        if isinstance(where, str):
            workspace.inside_only(where)
    return Order(
        name=asked.name or net.name,
        document=asked.document or asked.file or "",
        network=network_to_plain(net),
        sources=sources,
        sinks=sinks,
        tables={**_records(asked.template, net), **asked.tables},
        strategy=asked.strategy,
        instances=asked.instances,
        grouped=bool(asked.groups),
        buckets=asked.buckets,
        epoch_rows=asked.epoch_rows,
        master=asked.master or None,
        follow=asked.follow,
        code=code,
    )


def check_addresses(order: Order, workspace: Workspace) -> None:
    """Raise if a stored order names files outside of the folder: it may be from another machine."""
    tables = [where for where in order.tables.values() if isinstance(where, str)]
    for where in (*order.sources.values(), *order.sinks.values(), *tables):
        workspace.inside_only(where)


def grouped(net: Network, groups: Mapping[str, list[str]]) -> Network:
    """Set the group of each box to the given groups, and of all others to none."""
    if not groups:
        return net
    home = {box: name for name, boxes in groups.items() for box in boxes}
    for box in home:
        if box not in net.boxes:
            raise Wrong(f"there is no box '{box}'.{nearest(box, net.boxes)}")
    boxes = {n: replace(node, group=home.get(n, "")) for n, node in net.boxes.items()}
    return net.with_boxes(boxes)


def _network(asked: AskRun, workspace: Workspace, code: bool) -> Network:
    if (asked.network is None) == (asked.file is None):
        raise Wrong("give either a network or the name of a network file.")
    if asked.network is not None:
        return readable(asked.network, code)
    return load(workspace.existing(asked.file or ""), code)


def _records(template: str | None, net: Network) -> dict[str, list[Row]]:
    """Return the records of a template for the tables of a network with the same fields."""
    if template is None or not net.tables:
        return {}
    app = find_template(template)
    known = app.build().tables
    return {
        name: plain_rows(records)
        for name, records in app.feed(round_of(app), 1).tables.items()
        if name in net.tables and net.tables[name].fields == known[name].fields
    }


def _addresses(
    given: Mapping[str, str],
    names: Iterable[str],
    words: Mapping[str, str],
    workspace: Workspace,
) -> dict[str, str]:
    """Return the address of each input or output; files must be in the studio's folder."""
    found = {}
    for name in names:
        where = given.get(name, "").strip()
        address = words.get(where, where)
        workspace.inside_only(address)
        found[name] = address
    return found


def _check_names(kind: str, given: Iterable[str], known: Mapping[str, Any]) -> None:
    for name in given:
        if name not in known:
            raise Wrong(f"there is no {kind} '{name}'.{nearest(name, known)}")
