"""A round trip through any language preserves a network."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings

import boxcars as bx
from tests.strategies import networks


@given(networks())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_networks_are_right(net: bx.Network) -> None:
    assert net.check().problems == ()


@pytest.mark.parametrize("suffix", ["yaml", "json", "xml", "py"])
@given(net=networks())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_round_trip(suffix: str, net: bx.Network) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"net.{suffix}"
        bx.save(net, path)
        again = bx.load(path)
        assert again == net, bx.diff(net, again)
        first = path.read_text(encoding="utf-8")
        bx.save(again, path)
        assert path.read_text(encoding="utf-8") == first


@given(net=networks())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_all_the_way_round(net: bx.Network) -> None:
    with TemporaryDirectory() as folder:
        start = net
        for suffix in ("yaml", "xml", "py", "json"):
            path = Path(folder) / f"net.{suffix}"
            bx.save(start, path)
            start = bx.load(path)
        assert start == net
