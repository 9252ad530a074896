"""Values of environment variables are shown as ${NAME}, in any part of a URL."""

from pathlib import Path

import pytest

import boxcars as bx
from boxcars.connectors.systems.connector import Connector, connect
from boxcars.connectors.systems.messages import words
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import BoxcarsError
from boxcars.model.schema import Schema

SECRET = "s3cr3t/value"
SCHEMA = Schema.of({"t": "int"}, ts="t")
ADDRESSES = [
    "http://127.0.0.1:9/services/${SLACK}",
    "http://127.0.0.1:9/x?apikey=${SLACK}",
    "http://127.0.0.1:9/x?rows=${SLACK}",
    "redis://127.0.0.1/calls?auth=${SLACK}",
    "redis://${SLACK}@127.0.0.1/calls?auth=1",
    "redis://127.0.0.1/${SLACK}?db=x",
    "postgresql://127.0.0.1/db?table=t&pw=${SLACK}",
    "postgresql://127.0.0.1/db?table=t&key=${SLACK}",
    "sqlite:///no/${SLACK}/x.db?table=t",
    "nats://127.0.0.1/calls?creds=${SLACK}",
    "s3://bucket/folder/?access=${SLACK}",
    "kafka://127.0.0.1/calls?sasl=${SLACK}",
    "kafka://127.0.0.1/calls?key=${SLACK}",
    "mqtt://127.0.0.1/calls?qos=${SLACK}",
    "tcp://127.0.0.1:9?format=${SLACK}",
    "tcp://127.0.0.1:9?format=csv&format.${SLACK}=1",
    "enqueue://?room=${SLACK}",
    "nothing://127.0.0.1/${SLACK}",
]


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK", SECRET)


def complaints(address: str) -> list[str]:
    """All error messages about a URL, as a source and as a sink."""
    said = [str(Url.parse(address)), repr(Url.parse(address))]
    try:
        connect(address).intake()
    except BoxcarsError as error:
        said.append(str(error))
    try:
        connect(address).delivery(SCHEMA, "home").open()
    except BoxcarsError as error:
        said.append(str(error))
    return said


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses(address: str) -> None:
    said = complaints(address)
    assert len(said) > 2, "there are error messages"
    assert not [text for text in said if "s3cr3t" in text]


@pytest.mark.parametrize("address", ADDRESSES[:1])
def test_errors_name_the_variable(address: str) -> None:
    assert complaints(address)[:2] == [address, f"Url({address!r})"]


def test_an_unknown_option_is_named_without_its_value() -> None:
    """It may be a secret under an unknown name, without a variable."""
    (said,) = complaints("redis://127.0.0.1/calls?field=x&auth=hunter2")[3:]
    assert "there is no option 'auth'" in said
    assert "field=x" in said
    assert "hunter2" not in said


def test_formats_of_sources(tmp_path: Path) -> None:
    net = bx.Network("n")
    net.output("out", net.input("rows", ts="t", fields={"t": "int"}))
    with pytest.raises(BoxcarsError) as caught:
        bx.run(net, {"rows": "enqueue://?format=${SLACK}"}, {}, checkpoint=tmp_path / "c").wait()
    assert "s3cr3t" not in str(caught.value)
    assert "${SLACK}" in str(caught.value)


def test_errors_of_libraries() -> None:
    url = Url.parse("http://127.0.0.1/${SLACK}?token=geheim")
    error = OSError(f"no {SECRET}, no s3cr3t%2Fvalue, no geheim")
    assert words(error, url) == "no ${SLACK}, no ${SLACK}, no ***."


def test_options_of_a_program() -> None:
    found = Connector("redis://127.0.0.1/${SLACK}", maxlen=5)
    assert str(found.url) == "redis://127.0.0.1/${SLACK}?maxlen=5"
    assert (found.url.path, found.url.options) == (SECRET, {"maxlen": "5"})
