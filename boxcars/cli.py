"""The command line: ``boxcars --help``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

import boxcars as bx
from boxcars.apps.command import apps_command
from boxcars.commands.config import read_config
from boxcars.commands.doctor import doctor_command
from boxcars.commands.inject import inject_command
from boxcars.commands.lang import app as languages
from boxcars.commands.log import log_command
from boxcars.commands.options import AllowCode, NetworkFile, TableOptions, pairs
from boxcars.commands.run import run_command
from boxcars.commands.show_preview import deliver, report_dead
from boxcars.commands.sim import app as sim_app
from boxcars.commands.studio import studio_command
from boxcars.commands.test import cases_command
from boxcars.commands.top import top_command
from boxcars.commands.verify import verify_command
from boxcars.compiler.streamcloud_files import project_files
from boxcars.connectors.files import target_of, writing
from boxcars.connectors.systems.connector import connectors
from boxcars.draw import FORMATS, draw
from boxcars.draw.plan import PLAN_FORMATS
from boxcars.engine.exec.memory import POLARS_KEEPS, keep_memory
from boxcars.engine.flow.box_stats import stats_table
from boxcars.expr import functions as all_functions
from boxcars.lang.deploy import Deployment
from boxcars.lang.files import load_unjudged
from boxcars.lang.layout import load_layout
from boxcars.lang.streamcloud import is_project, load_project
from boxcars.linear_road.command import linear_road_command
from boxcars.model.flatten import flatten
from boxcars.model.problem import BoxcarsError, Wrong, nearest, visible
from boxcars.plan import STRATEGIES, Strategy, plan_run

app = typer.Typer(
    help="Stream processing with boxes and arrows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_VERBATIM: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
"""Options for Rich: print data and errors verbatim, including square brackets and colons."""


def main() -> None:
    """Run a command; report errors that the user can fix as a sentence, without a stack trace."""
    try:
        app()
    except BoxcarsError as error:
        _fail(str(error))
    except OSError as error:  # a file that can't be read or has no possible name, of any command
        _fail(f"{error.filename}: {error.strerror}." if error.filename else str(error))


def _fail(sentence: str) -> NoReturn:
    Console(stderr=True, soft_wrap=True, **_VERBATIM).print(visible(sentence), style="red")
    sys.exit(1)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boxcars {version('boxcars')}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Stream processing with boxes and arrows."""
    assert isinstance(context.command, TyperGroup)
    context.default_map = read_config(context.command.commands)


@app.command()
def check(
    network: NetworkFile,
    schemas: Annotated[bool, typer.Option(help="Also print the schema of every arc.")] = False,
    deploy: Annotated[Path | None, typer.Option(help="Also check this deployment file.")] = None,
    allow_code: AllowCode = False,
) -> None:
    """Check a network: types, loops, arity, names. Needs no data and no Java.

    A StreamCloud SC.xml is checked together with the files that it names:
    query, deployment and resources.
    """
    resources = None
    if is_project(network):
        _, network, deploy, resources = load_project(network)
    checked = bx.check_file(network, allow_code)
    problems = list(checked.problems)
    if deploy is not None and not problems:
        deployment = Deployment.load(deploy)
        problems += deployment.problems(checked.network, str(deploy))
        problems += resources.problems(deployment, str(deploy)) if resources else []
    for problem in problems:
        typer.echo(str(problem), err=True)
    if problems:
        plural = "s" if len(problems) > 1 else ""
        typer.echo(f"{network}: {len(problems)} problem{plural}.", err=True)
        raise typer.Exit(1)
    net = checked.network
    counts = (len(net.inputs), len(net.boxes), len(net.outputs))
    typer.echo(f"{net.name} is valid: inputs {counts[0]}, boxes {counts[1]}, outputs {counts[2]}.")
    if schemas:
        for arc, schema in checked.schemas.items():
            typer.echo(f"  {arc}: {schema}")


@app.command(epilog="Example: boxcars convert net.xml net.yaml")
def convert(
    source: NetworkFile,
    target: Annotated[Path, typer.Argument(help="The file to write: .yaml, .json, .xml or .py.")],
) -> None:
    """Convert a network to another language: YAML, JSON, XML or Python."""
    bx.save(load_unjudged(source), target)


@app.command(name="draw", epilog="Example: boxcars draw net.yaml --to net.svg")
def draw_command(
    network: NetworkFile,
    to: Annotated[
        Path | None,
        typer.Option(help="Write to this file (.svg, .mmd or .txt) instead of the terminal."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(FORMATS)}. Default: by the suffix of --to, otherwise text."
        ),
    ] = None,
    flat: Annotated[bool, typer.Option(help="Expand all superboxes.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Draw a network as SVG, Mermaid or text."""
    by_suffix = {".svg": "svg", ".mmd": "mermaid", ".txt": "text"}
    if to is not None and format is None and to.suffix not in by_suffix:
        raise Wrong(f"{to}: expected a file name ending in {', '.join(by_suffix)}, or --format.")
    chosen = format or (by_suffix[to.suffix] if to else "text")
    if chosen not in FORMATS:
        raise Wrong(f"there is no format '{chosen}'.{nearest(chosen, FORMATS)}")
    net = bx.load(network, allow_code)
    room = Console().width if to is None and sys.stdout.isatty() else None
    picture = draw(flatten(net).network if flat else net, chosen, load_layout(network), room)
    if to is None:
        typer.echo(visible(picture), nl=False)
    else:
        with writing(to):
            to.write_text(picture, encoding="utf-8")


@app.command()
def plan(
    network: NetworkFile,
    strategy: Annotated[
        Strategy, typer.Option(help="How boxes are grouped into subqueries (operator chains).")
    ] = STRATEGIES[0],
    buckets: Annotated[int, typer.Option(help="Buckets (key groups) per subquery.", min=1)] = 64,
    instances: Annotated[int, typer.Option(help="Parallel instances per subquery.", min=1)] = 4,
    groups: Annotated[
        bool, typer.Option(help="Keep the boxes of a group in one subquery.")
    ] = False,
    format: Annotated[str, typer.Option(help=f"One of {', '.join(PLAN_FORMATS)}.")] = "text",
    output: Annotated[
        Path | None, typer.Option(help="Write to this file instead of the terminal.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option(help="Write the plan as a StreamCloud project to this folder.")
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Show the execution plan of a network: subqueries, partitioning, and estimated cost."""
    if format not in PLAN_FORMATS:
        raise Wrong(f"there is no format '{format}'.{nearest(format, PLAN_FORMATS)}")
    checked = bx.check_file(network, allow_code).or_raise()
    made = plan_run(checked, strategy, buckets, instances, grouped=groups)
    files = {output: PLAN_FORMATS[format](made, checked)} if output else {}
    if write is not None:
        write.mkdir(parents=True, exist_ok=True)
        files |= {write / name: text for name, text in project_files(made, checked).items()}
    for path, text in files.items():
        with writing(path):
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if path.name == "launch.sh" else 0o644)
    if not files:
        typer.echo(PLAN_FORMATS[format](made, checked), nl=False)


@app.command()
def diff(old: NetworkFile, new: NetworkFile) -> None:
    """Show the changes between two versions of a network; exit code 1 if there are any."""
    changes = bx.diff(load_unjudged(old), load_unjudged(new))
    for change in changes:
        typer.echo(visible(str(change)))
    if changes:
        raise typer.Exit(1)


@app.command()
def describe(
    network: NetworkFile,
    name: Annotated[str | None, typer.Argument(help="An input, box, output or table.")] = None,
) -> None:
    """List the inputs, boxes, outputs and tables of a network, or describe one of them."""
    net = load_unjudged(network)
    if name is not None:
        typer.echo(visible(net.describe(name)))
        return
    for kind, entity in net.list_entities():
        typer.echo(f"{kind} {entity}")


@app.command(
    epilog="Example: boxcars preview net.yaml --source calls=calls.csv --sink alarms=alarms.csv"
)
def preview(
    network: NetworkFile,
    source: Annotated[
        list[str] | None,
        typer.Option(help="The file or folder that an input reads.", metavar="NAME=FILE"),
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(
            help="The file that an output writes, or - for the terminal (the default).",
            metavar="NAME=FILE",
        ),
    ] = None,
    table: TableOptions = None,
    allow_code: AllowCode = False,
    trains: Annotated[
        int, typer.Option(help="Number of trains (batches) to split the input into.")
    ] = 1,
    dead: Annotated[Path | None, typer.Option(help="Write dead letters to this file.")] = None,
    stats: Annotated[bool, typer.Option(help="Print statistics for each box.")] = False,
) -> None:
    """Run a network over files in this process, without Spark or Java."""
    keep_memory()
    net = bx.load(network, allow_code)
    sources, sinks = pairs(source, "--source"), pairs(sink, "--sink")
    tables = pairs(table, "--table", "URI")
    for name, sink_file in sinks.items():
        if name not in net.outputs:
            raise Wrong(f"there is no output '{name}'.{nearest(name, net.outputs)}")
        if sink_file != "-":
            target_of(sink_file)
    if dead is not None:
        target_of(dead)
    start = perf_counter()
    result = bx.preview(net, sources, trains=trains, tables=tables)
    seconds = perf_counter() - start
    for name in net.outputs:
        deliver(name, result[name], sinks.get(name, "-"))
    report_dead(result, dead)
    if stats:
        typer.echo(stats_table(result.stats.values()), err=True)
    if sys.stderr.isatty():
        tuples = sum(result.stats[name].tuples_in for name in net.inputs)
        typer.echo(f"{tuples:,} tuples in {seconds:.2f} s", err=True)


app.command("test")(cases_command)
app.command(
    "run",
    epilog="Example: boxcars run net.yaml --source calls=kafka://localhost/calls "
    "--sink alarms=alarms/ --checkpoint state/",
)(run_command)
app.command("studio")(studio_command)
app.command("doctor")(doctor_command)
app.add_typer(sim_app, name="sim")
app.command("verify", epilog="Example: boxcars verify state/")(verify_command)
app.command("top")(top_command)
app.command("log", epilog="Example: boxcars log state/ --follow")(log_command)
app.command("inject", epilog="Example: boxcars inject calls=calls.csv --rate 5000")(inject_command)
app.command("apps")(apps_command)
app.command("linear-road")(linear_road_command)
app.add_typer(languages, name="lang")


@app.command()
def boxes() -> None:
    """List all box types."""
    _list({name: (cls.icon, _first_line(cls)) for name, cls in bx.box_types().items()})


@app.command()
def functions() -> None:
    """List all functions that expressions can use."""
    _list({f.signature: ("", f.doc) for f in all_functions()})


@app.command(name="connectors")
def connectors_command() -> None:
    """List all connectors with their URL schemes and delivery guarantees."""
    for cls, schemes in connectors().items():
        typer.echo(f"{', '.join(f'{scheme}://' for scheme in schemes)}  {cls.title}")
        for way, guarantee in (("source", cls.guarantee_in), ("sink", cls.guarantee_out)):
            if guarantee:
                typer.echo(f"  {way}: {guarantee.replace('``', '')}")


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]


def _list(rows: Mapping[str, tuple[str, str]]) -> None:
    width = max(map(len, rows))
    for name, (icon, text) in rows.items():
        typer.echo(f"{name.ljust(width)}  {icon + ' ' if icon else ''}{text}")


@app.command()
def bench(
    name: Annotated[
        str | None,
        typer.Argument(help="A benchmark or a folder of benchmarks. Default: all but 'race'."),
    ] = None,
) -> None:
    """Run the benchmarks against other engines; needs a checkout, for its bench/ folder."""
    folder = _checkout() / "bench"
    found = {path.stem: path for path in sorted(folder.rglob("[a-z]*.py"))}
    if not found:
        raise BoxcarsError("there are no benchmarks here: run this from a checkout of Boxcars.")
    names = {*found, *(path.parent.name for path in found.values())}
    if name is not None and name not in names:
        raise Wrong(f"there is no benchmark '{name}'.{nearest(name, names)}")
    for stem, path in found.items():
        if name in (stem, path.parent.name) or (name is None and stem != "race"):
            typer.echo(f"== {stem}")
            kept = {**POLARS_KEEPS, **os.environ}
            done = subprocess.run([sys.executable, str(path)], env=kept, check=False)
            if done.returncode:
                raise BoxcarsError(f"benchmark '{stem}' failed.")


@app.command(hidden=True)
def generate(
    check: Annotated[
        bool, typer.Option(help="Only check whether the files are up to date.")
    ] = False,
) -> None:
    """Write the files generated from the code: stream method types and tables in the docs."""
    from boxcars.reference import generated

    for path, content in generated(_checkout()).items():
        if check:
            if not path.exists() or path.read_text(encoding="utf-8") != content:
                raise BoxcarsError(f"{path.name} is out of date: run boxcars generate.")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        typer.echo(f"wrote {path.name}")


def _checkout() -> Path:
    return Path(bx.__file__).parent.parent


if __name__ == "__main__":
    main()
