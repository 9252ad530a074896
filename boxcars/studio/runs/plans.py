"""Plans of networks, and the deployment files compiled from them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace

from boxcars.compiler.streamcloud_files import project_files
from boxcars.connectors.files import replacing, writing
from boxcars.draw.plan import plan_svg, plan_text
from boxcars.lang.deploy import Deployment, Placement
from boxcars.lang.files import dumps
from boxcars.lang.streamcloud import Machine, Resources
from boxcars.model.check import Checked
from boxcars.model.flatten import flatten
from boxcars.model.network import Network
from boxcars.model.problem import Wrong
from boxcars.plan import Plan, Subquery, plan_run
from boxcars.plan.cost import Cost, compare
from boxcars.studio.edit.checking import readable
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.runs.launch import grouped, layout_options
from boxcars.studio.wire import run_messages as wire

_STARTER = 8000
"""The default port of the starter on a machine of the pool."""


def plan_network(asked: wire.AskPlan, code: bool) -> wire.PlanAnswer:
    """Plan a network, and compare the costs of all strategies."""
    plan, checked = _plan(asked, code)
    return wire.PlanAnswer(
        strategy=plan.strategy,
        levels=[list(level) for level in plan.levels],
        subqueries=[_to_message(plan, subquery) for subquery in plan.subqueries],
        costs=[_cost(cost) for cost in compare(checked, _total(plan))],
        text=plan_text(plan, checked),
        svg=plan_svg(plan, checked),
        command=shlex.join(["boxcars", "plan", "network.yaml", *_plan_options(asked)]),
    )


def _plan(asked: wire.AskPlan, code: bool) -> tuple[Plan, Checked]:
    net = readable(asked.network, code)
    net.check().or_raise()
    checked = grouped(flatten(net).network, asked.groups).check().or_raise()
    cores = os.cpu_count() or 1
    instances = asked.instances if isinstance(asked.instances, int) else cores
    apart = asked.instances if isinstance(asked.instances, Mapping) else {}
    groups = bool(asked.groups)
    plan = plan_run(checked, asked.strategy, asked.buckets, instances or cores, apart, groups)
    return plan, checked


def _total(plan: Plan) -> int:
    """Return the total number of instances for which the strategies are compared."""
    sizes = [subquery.instances for subquery in plan.subqueries if subquery.boxes]
    return max(sizes, default=1) if plan.strategy == "query-cloud" else max(sum(sizes), 1)


def _to_message(plan: Plan, subquery: Subquery) -> wire.PlanSubquery:
    feeds = [
        wire.PlanFeed(
            arc=str(feed.arc),
            source=plan.home[feed.arc.source],
            consumer=feed.consumer,
            port=feed.port,
            routing=str(feed.routing),
        )
        for feed in subquery.inputs
    ]
    return wire.PlanSubquery(
        name=subquery.name,
        level=subquery.level,
        boxes=list(subquery.boxes),
        source=subquery.source,
        kind=subquery.kind,
        instances=subquery.instances,
        buckets=subquery.buckets,
        inputs=feeds,
        splittable=subquery.splittable,
    )


def _cost(cost: Cost) -> wire.PlanCost:
    return wire.PlanCost(
        strategy=cost.strategy,
        subclusters=cost.subclusters,
        size=cost.size,
        fanout=cost.fanout,
        hops=cost.hops,
        channels=cost.channels,
        cost=cost.total(),
    )


def compile_plan(asked: wire.AskCompile, workspace: Workspace, code: bool) -> wire.Compiled:
    """Compile a plan to files, and the commands that check, plan and run them."""
    plan, checked = _plan(asked, code)
    files = project_files(plan, checked)
    if asked.pool:
        files |= _placed(files["deploy.xml"], asked.pool)
    net = readable(asked.network, code)
    net = grouped(flatten(net).network if asked.groups else net, asked.groups)
    files = {"network.yaml": dumps(net), **files}
    if asked.save is not None:
        _save(workspace, asked.save, files)
    folder = asked.save or "."
    return wire.Compiled(files=files, commands=_commands(asked, net, folder), folder=asked.save)


def _placed(deploy: str, pool: list[str]) -> dict[str, str]:
    """Return deploy and resource files with the instances distributed over a pool of machines."""
    machines = [_machine(number, text) for number, text in enumerate(pool, start=1)]
    deployment = Deployment.parse(deploy)
    nodes: list[Placement] = []
    ports: dict[Machine, tuple[int, ...]] = dict.fromkeys(machines, ())
    for number, node in enumerate(deployment.node):
        machine = machines[number % len(machines)]
        port = node.endpoint.rpartition(":")[2]
        ports[machine] = (*ports[machine], int(port))
        nodes.append(replace(node, endpoint=f"{machine.address}:{port}"))
    assigned = tuple(replace(m, instances=given) for m, given in ports.items() if given)
    spare = tuple(machine for machine, given in ports.items() if not given)
    resources = Resources(assigned, spare, len(spare))
    return {
        "deploy.xml": replace(deployment, node=tuple(nodes)).write(),
        "ResourceManager.xml": resources.write(),
    }


def _machine(number: int, text: str) -> Machine:
    host, colon, port = text.strip().partition(":")
    if not host or (colon and not (port.isdecimal() and 0 < int(port[:9]) < 65_536)):
        raise Wrong(f"expected a machine of the pool as host or host:port, got '{text}'.")
    return Machine(f"machine-{number}", host, int(port or _STARTER), ())


def _save(workspace: Workspace, folder: str, files: Mapping[str, str]) -> None:
    where = workspace.inside(folder)
    with writing(folder):
        where.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            with replacing(where / name) as part:
                part.write_text(text, encoding="utf-8")
                part.chmod(0o755 if name == "launch.sh" else 0o644)


def _plan_options(asked: wire.AskPlan) -> list[str]:
    found = ["--strategy", asked.strategy, "--buckets", str(asked.buckets)]
    if isinstance(asked.instances, int):
        found += ["--instances", str(asked.instances)]
    return [*found, "--groups"] if asked.groups else found


def _commands(asked: wire.AskCompile, net: Network, folder: str) -> list[str]:
    """Return the command lines equivalent to the studio's actions."""
    options = [f"--buckets={asked.buckets}"]
    options += layout_options(asked.strategy, asked.instances, bool(asked.groups))
    if asked.master:
        options.append(f"--master={asked.master}")
    options += [f"--source={n}={asked.sources.get(n, 'enqueue://')}" for n in net.inputs]
    options += [f"--sink={n}={asked.sinks.get(n, 'dequeue://')}" for n in net.outputs]
    return [
        shlex.join(["boxcars", "check", f"{folder}/SC.xml"]),
        shlex.join(["boxcars", "plan", f"{folder}/network.yaml", *_plan_options(asked)]),
        shlex.join(["boxcars", "run", f"{folder}/network.yaml", *options, "--port=0"]),
    ]
