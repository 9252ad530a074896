"""Networks as Python programs."""

from pathlib import Path
from typing import Any

import pytest

import boxcars as bx
from boxcars.boxes.filter import Filter
from boxcars.lang import python
from boxcars.model.entities import Node
from boxcars.model.problem import BoxcarsError
from boxcars.model.superbox import use

START = "import boxcars as bx\nnet = bx.Network('n')\n"


def load(folder: Path, program: str) -> bx.Network:
    path = folder / "net.py"
    path.write_text(program, encoding="utf-8")
    return bx.load(path)


def again(folder: Path, net: bx.Network) -> bx.Network:
    return load(folder, python.write(net))


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("x = 1", "net.py: expected one network in a variable, found none."),
        (
            START + "other = bx.Network('m')",
            "net.py: expected one network in a variable, found 'n', 'm'.",
        ),
        ("x = 1\ny = x / 0\n", "net.py:2: ZeroDivisionError: division by zero"),
        ("def f():\n    return 1 / 0\n\nf()\n", "net.py:2: ZeroDivisionError"),
        ("x = 1\ny = = 2\n", "net.py:2: SyntaxError: invalid syntax"),
        ("import no_such_module", "net.py:1: ModuleNotFoundError"),
        ("raise SystemExit(3)", "net.py:1: SystemExit: 3"),
        (START + "net.input('1st', ts='t', fields={'t': 'int'})", "net.py:3: '1st' is not a name."),
        (START + "net.input('a', ts='t', fields={'t': 'itn'})", "net.py:3: unknown type 'itn'."),
        (
            START + "a = net.input('a', ts='t', fields={'t': 'int'})\n\na.drop(sede=1)",
            "net.py:5: sede: a drop has no 'sede'. Did you mean 'seed'?",
        ),
        (
            START + "a = net.input('a', ts='t', fields={'t': 'int'})\na.filtre('t > 1')",
            "net.py:4: AttributeError: a stream has no box or method 'filtre'.",
        ),
    ],
)
def test_programs_that_can_not_be_read(tmp_path: Path, program: str, words: str) -> None:
    with pytest.raises(BoxcarsError) as error:
        load(tmp_path, program)
    assert str(error.value).startswith(f"{tmp_path}/{words}")


def test_the_same_network_in_two_variables_is_one(tmp_path: Path) -> None:
    assert load(tmp_path, START + "same = net").name == "n"


def test_errors_have_their_line(tmp_path: Path) -> None:
    program = (
        START + "a = net.input('a', ts='t', fields={'t': 'int'})\nnet.output('o', a.filter('u'))"
    )
    path = tmp_path / "net.py"
    path.write_text(program)
    (problem,) = bx.check_file(path).problems
    assert f"{path}:4: box " in str(problem)


@pytest.mark.parametrize(
    "name",
    ["class", "def", "None", "net", "bx", "lambda", "self", "print", "a-b", "é", "_", "match"],
)
def test_names_of_python(tmp_path: Path, name: str) -> None:
    body = bx.Network(name)
    body.output("out", body.input(name, ts="t", fields={"t": "int"}).filter("t > 1").named("f"))
    net = bx.Network(name)
    net.superbox(body, **{name: 1})
    calls = net.input(name, ts="t", fields={"t": "int", name: "int"})
    mapped = calls.map({"t": "t", name: "t + 1"}).named("m")
    counted = mapped.aggregate(bx.time(5), fields={name: "count()"}).named("a")
    net.output(name, counted.map(t="t").named("t").use(name, **{name: 5}).named("u"))
    assert again(tmp_path, net) == net


def test_two_names_that_become_one_variable(tmp_path: Path) -> None:
    net = bx.Network("n")
    for name in ("a-b", "a_b", "a_b_"):
        net.output(name, net.input(name, ts="t", fields={"t": "int"}))
    assert again(tmp_path, net) == net


@pytest.mark.parametrize("odd", ["two words", "a.b", "1st", "class"])
def test_the_order_of_parameters_stays(tmp_path: Path, odd: str) -> None:
    params: dict[str, Any] = {"a": 1, odd: 2, "z": 3}
    body = bx.Network("s")
    body.output("out", body.input("in", ts="t", fields={"t": "int"}))
    net = bx.Network("n")
    net.superbox(body, **params)
    calls = net.input("calls", ts="t", fields={"t": "int"})
    net.output("out", calls.use("s", **params).named("u"))
    assert again(tmp_path, net) == net


def test_a_superbox_without_inputs_keeps_its_group(tmp_path: Path) -> None:
    body = bx.Network("s")
    net = bx.Network("n")
    net.superbox(body, size=1)
    net.box("u", use("s", size=2), group="g")
    assert again(tmp_path, net) == net


def test_long_calls_have_a_line_for_each_argument() -> None:
    net = bx.Network("n")
    fields = {f"a_rather_long_name_{i}": "int" for i in range(8)}
    net.input("calls", ts="a_rather_long_name_0", fields=fields)
    text = python.write(net)
    assert "\n    ts='a_rather_long_name_0',\n" in text


def test_networks_that_can_not_be_drawn() -> None:
    filter_ = Filter.build("true")
    loop = bx.Network("n").add("a", filter_, ["b"]).add("b", filter_, ["a"])
    with pytest.raises(BoxcarsError, match="the boxes a, b form a loop"):
        python.write(loop)
    with pytest.raises(BoxcarsError, match="box 'a' has no input"):
        python.write(bx.Network("n").add("a", Node(filter_)))
