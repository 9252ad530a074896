from pathlib import Path

import pytest

import boxcars as bx
from boxcars.lang.files import LANGUAGES
from boxcars.model.problem import BoxcarsError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def network() -> bx.Network:
    net = bx.Network("n")
    net.output("out", net.input("calls", ts="t", fields={"t": "int"}).filter("t > 1").named("f"))
    return net


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_every_language(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"net{suffix}"
    bx.save(network(), path)
    assert bx.load(path) == bx.load(str(path)) == network()
    assert bx.check_file(path).ok
    assert path.name in names(tmp_path)


def test_a_network_without_a_name_is_called_like_its_file(tmp_path: Path) -> None:
    for name, content in {"a.yaml": "inputs: {}", "b.json": "{}", "c.xml": "<borealis/>"}.items():
        (tmp_path / name).write_text(content)
        assert bx.load(tmp_path / name).name == name[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "net.toml",
            "net.toml: expected a network file that ends in .yaml, .yml, .json, .xml, .py.",
        ),
        ("net", "net: expected a network file"),
        ("missing.yaml", "missing.yaml: there is no such file."),
        ("missing.py", "missing.py: there is no such file."),
        ("folder.yaml", "folder.yaml: can't be read: "),
        ("latin.yaml", "latin.yaml: can't be read: 'utf-8' codec"),
    ],
)
def test_files_that_can_not_be_read(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "latin.yaml").write_bytes("name: ä".encode("latin-1"))
    for read in (bx.load, bx.check_file):
        with pytest.raises(BoxcarsError) as error:
            read(tmp_path / name)
        assert words in str(error.value)


@pytest.mark.parametrize("name", ["net.toml", "missing/net.yaml", "folder.yaml"])
def test_files_that_can_not_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(BoxcarsError):
        bx.save(network(), tmp_path / name)
    assert names(tmp_path) == ["folder.yaml"]


def test_an_old_file_stays_if_the_network_can_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "net.xml"
    path.write_text("old")
    with pytest.raises(BoxcarsError, match="XML can't represent"):
        bx.save(bx.Network("\0"), path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["net.xml"]


def test_texts() -> None:
    for language in ("yaml", "yml", "json", "xml"):
        assert bx.loads(bx.dumps(network(), language), language) == network()
        assert bx.check_text(bx.dumps(network(), language), language).ok
    for language in ("toml", "py", ""):
        with pytest.raises(BoxcarsError, match=f"there is no language '{language}'"):
            bx.loads("", language)
    with pytest.raises(BoxcarsError, match="Did you mean 'yaml'"):
        bx.dumps(network(), "yalm")


def test_all_problems_are_reported_together() -> None:
    text = bx.dumps(network()).replace("t > 1", "u > 1").replace("t: int", "t: itn")
    text = text.replace("from: f", "from: g")
    problems = "\n".join(map(str, bx.check_text(text).problems))
    assert "unknown type 'itn'" in problems
    assert "there is no input or box 'g'" in problems
    with pytest.raises(bx.NetworkError, match="unknown type 'itn'"):
        bx.loads(text)
