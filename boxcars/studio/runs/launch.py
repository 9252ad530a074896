"""What a run is asked to do, checked before a process is started for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from boxcars.lang.files import load
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.serialize import network_to_plain
from boxcars.model.superbox import flatten
from boxcars.plan import STRATEGIES
from boxcars.studio.edit.checking import readable
from boxcars.studio.edit.json_rows import plain_rows
from boxcars.studio.edit.templates import find_template, round_of
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.wire.messages import Plain, Row, Strategy
from boxcars.studio.wire.run_messages import AskRun, Instances

INJECT, LIVE = "enqueue://", "dequeue://"
"""The addresses of inputs that take what is sent, and of outputs that show what comes."""


class Order(BaseModel):
    """A run as it was asked for: all that is needed to start it, now or again."""

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
        """The inputs that take what is sent."""
        return [name for name, where in self.sources.items() if where.startswith(INJECT)]

    @property
    def taps(self) -> list[str]:
        """The outputs that show what comes."""
        return [name for name, where in self.sinks.items() if where.startswith(LIVE)]

    def fitted(self) -> Order:
        """The same order for a network that was changed since: new ends are open, old ones go."""
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
        """The options of ``boxcars run``; ``tables`` says where the records of tables are."""
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
    """The options of ``boxcars run`` that say where boxes run.

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
    """An order that can be carried out, as far as that is known before it is tried."""
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


def check_places(order: Order, workspace: Workspace) -> None:
    """Refuse an order of before that names files elsewhere: it may have come with the folder."""
    tables = [where for where in order.tables.values() if isinstance(where, str)]
    for where in (*order.sources.values(), *order.sinks.values(), *tables):
        workspace.inside_only(where)


def grouped(net: Network, groups: Mapping[str, list[str]]) -> Network:
    """The network with the boxes of each group marked as such, and no others."""
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
        raise Wrong("give a network, or the name of a file with one.")
    if asked.network is not None:
        return readable(asked.network, code)
    return load(workspace.existing(asked.file or ""), code)


def _records(template: str | None, net: Network) -> dict[str, list[Row]]:
    """The records of a template for the tables of a network that have its fields."""
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
    """Where each input or output is; a file must be in the folder of the studio."""
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
