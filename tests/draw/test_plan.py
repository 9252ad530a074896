"""Drawings of plans: text, SVG, Mermaid, and the command."""

import re
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app
from boxcars.draw.plan import plan_mermaid, plan_svg, plan_text
from boxcars.model.problem import BoxcarsError
from boxcars.plan import make_plan
from tests.compiler.test_streamcloud_files import tolls
from tests.draw.test_svg import SVG, overlap, rects
from tests.plan.test_planner import KINDS
from tests.strategies import networks

EXAMPLE = Path(__file__).parents[2] / "examples/high-mobility.yaml"
TEXT = """\
tolls by operator-set-cloud: 7 subqueries, 4 levels

level 0
  bills  reads the input bills
         2 instances
  north  reads the input north
         runs ▽ moving
         2 instances
  south  reads the input south
         2 instances

level 1
  mean   moving → both  by k, s
         south → both   by k, s
         runs ∪ both  Σ mean  ▽ jam
         64 buckets on 2 instances

level 2
  near   jam → near    pairs, rows by k
         bills → near  pairs, columns by payer
         runs × near
         64 buckets on 2 instances
  paid   jam → paid    by k
         bills → paid  by payer
         runs ⋈ paid  ƒ slim
         64 buckets on 2 instances

level 3
  sort   slim → sort  to one bucket: it sorts all tuples together
         runs ↧ sort
         1 bucket on 1 instance

cost on 9 instances in all (fan-out + hops)
                      subclusters   of  fan-out  hops  cost  channels
* operator-set-cloud            5  1.8      7.2     3  10.2        13
  operator-cloud                8  1.1      7.9     6  13.9       8.9
  query-cloud                   1    9       72     3    75        72
"""


def sorted_tolls() -> bx.Network:
    net = tolls()
    (name,) = [name for name, node in net.boxes.items() if node.box.type == "wsort"]
    return net.rename(name, "sort")


def test_text() -> None:
    checked = sorted_tolls().check()
    assert plan_text(make_plan(checked, instances=2), checked) == TEXT


def frames(root: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    found = []
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("class") == "frame":
            x, y, w, h = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + w, y + h))
    return found


def check_picture(net: bx.Network, grouped: bool = False) -> ElementTree.Element:
    """Nothing overlaps, every item is in one frame, everything is inside the view box."""
    checked = net.check()
    plan = make_plan(checked, grouped=grouped)
    root = ElementTree.fromstring(plan_svg(plan, checked))
    around = frames(root)
    boxes = [rect for rect in rects(root) if rect not in around]
    flat = checked.network
    assert len(around) == len(plan.subqueries)
    assert len(boxes) == len(flat.inputs) + len(flat.boxes) + len(flat.outputs)
    for rectangles in (around, boxes):
        assert not any(overlap(one, other) for one, other in combinations(rectangles, 2))
    for x, y, right, bottom in boxes:
        holding = [
            f for f in around if f[0] <= x and f[1] <= y and right <= f[2] and bottom <= f[3]
        ]
        assert len(holding) == 1
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert all(x >= 0 and y >= 0 and r <= width and b <= height for x, y, r, b in around)
    return root


@given(networks(boxes=8, only=KINDS, runnable=True))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_pictures_of_random_networks(net: bx.Network) -> None:
    check_picture(net)
    check_picture(net, grouped=True)


def test_svg() -> None:
    root = check_picture(tolls())
    words = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "words"]
    assert {"by k, s", "rows by k", "columns by payer", "one bucket"} <= set(words)
    heads = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "column"]
    assert heads == ["level 0", "level 1", "level 2", "level 3"]


def test_the_picture_of_the_docs_is_up_to_date() -> None:
    checked = bx.check_file(EXAMPLE)
    kept = EXAMPLE.parents[1] / "docs/img/high-mobility-plan.svg"
    assert kept.read_text(encoding="utf-8") == plan_svg(make_plan(checked), checked)


def test_mermaid() -> None:
    checked = bx.check_file(EXAMPLE)
    text = plan_mermaid(make_plan(checked), checked)
    assert 'subgraph s1["pairs: 64 buckets on 4 instances"]' in text
    assert '==>|"by phone"|' in text
    assert text.count("subgraph") == text.count("    end\n") == 2


def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["plan", str(EXAMPLE), *arguments])
    if isinstance(result.exception, BoxcarsError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command(tmp_path: Path) -> None:
    assert "both → pairs  by phone" in call()
    assert "32 buckets on 3 instances" in call("--buckets", "32", "--instances", "3")
    assert call("--strategy", "operator-cloud").startswith("high-mobility by operator-cloud: 7 sub")
    assert call("--format", "mermaid").startswith("flowchart LR")
    picture = tmp_path / "plan.svg"
    assert call("--format", "svg", "--output", str(picture)) == ""
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert call("--write", str(tmp_path / "project")) == ""
    names = {path.name for path in (tmp_path / "project").iterdir()}
    assert {"SC.xml", "query.xml", "launch.sh", "Skeleton1.xml", "Skeleton2.xml"} < names
    assert (tmp_path / "project/launch.sh").stat().st_mode & 0o100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "png"), "there is no format 'png'."),
        (("--output", "/nowhere/plan.svg"), "/nowhere/plan.svg: can't be written"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(BoxcarsError, match=re.escape(message)):
        call(*arguments)


def test_an_unknown_strategy() -> None:
    strategy: Any = "query"
    with pytest.raises(BoxcarsError, match="no strategy 'query'. Did you mean 'query-cloud'"):
        make_plan(bx.load(EXAMPLE).check(), strategy)
    said = CliRunner().invoke(app, ["plan", str(EXAMPLE), "--strategy", "query"])
    assert said.exit_code == 2
    assert "'query-cloud'" in said.output
