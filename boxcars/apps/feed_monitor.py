"""Feed monitor: outages of providers of stock prices, or of exchanges.

The financial application of the Aurora papers. A security that is not updated in time causes a low
alarm; 100 low alarms of one provider or exchange cause a high alarm, after which low alarms are
suppressed. On live feeds it also alarms when all of them are silent.
"""

from __future__ import annotations

from boxcars.apps.app import App
from boxcars.apps.ticks import ALARMS, EVERY, EXCHANGES, FEEDS, feed
from boxcars.model.entities import ARRIVAL
from boxcars.model.network import Network
from boxcars.model.stream import Stream
from boxcars.model.window import landmark, tuples


def build(alarms: int = ALARMS, reset: bool = False, live: bool = False) -> Network:
    """Count missing updates by feed and by exchange.

    With ``reset`` a high alarm ends the suppression, and low alarms are reported again. The inputs
    of a ``live`` monitor have no times: updates are stamped as they arrive, and time goes on if
    none arrive.
    """
    net = Network("feed-monitor")
    late = {}
    for name in FEEDS:
        speeds = [_late(net, f"{name}-{speed}", every, live) for speed, every in EVERY.items()]
        union = speeds[0].union(speeds[1]).named(f"{name}-late")
        late[name] = union.map(
            time=ARRIVAL if live else "time",
            ticker="ticker",
            exchange="exchange",
            feed=f"'{name}'",
        ).named(f"{name}-alarms")
    lows = f"n % {alarms} <> 0" if reset else f"n < {alarms}"
    for name, stream in late.items():
        high, low = _counted(stream, name).filter(f"n % {alarms} = 0", lows).named(f"{name}-levels")
        net.output(f"{name}-high", high)
        net.output(f"{name}-low", low)
    routes = {
        name: stream.filter(*(f"exchange = '{exchange}'" for exchange in EXCHANGES)).named(
            f"{name}-where"
        )
        for name, stream in late.items()
    }
    for number, exchange in enumerate(EXCHANGES):
        mine = [route[number] for route in routes.values()]
        both = mine[0].union(*mine[1:]).named(f"{exchange}-alarms".lower())
        counted = _counted(both, exchange.lower())
        high = counted.filter(f"n % {alarms} = 0").named(f"{exchange}-levels".lower())
        net.output(f"{exchange}-high".lower(), high)
    return net


def _late(net: Network, name: str, interval: int, live: bool) -> Stream:
    """Securities that were not updated within an interval in milliseconds.

    A window is a pair of updates. Arrival times are timestamps, so their interval is in seconds.
    """
    fields = {"ticker": "str", "exchange": "str", "price": "float"}
    updates = (
        net.input(name, ts=ARRIVAL, fields=fields)
        if live
        else net.input(name, ts="time", fields={"time": "int", **fields})
    )
    pairs = updates.aggregate(
        tuples(2, advance=1, timeout=interval / 1000 if live else interval),
        by="ticker",
        exchange="last(exchange)",
        late="timed_out()",
    ).named(f"{name}-gap")
    return pairs.filter("late").named(f"no-{name}")


def _counted(alarms: Stream, name: str) -> Stream:
    """Number the alarms from 1."""
    return alarms.aggregate(
        landmark(emit="change"),
        n="count()",
        ticker="last(ticker)",
        exchange="last(exchange)",
        feed="last(feed)",
    ).named(f"{name}-count")


APP = App(
    name="feed-monitor",
    family="finance",
    sentence="Distinguishes outages of a stock price provider from outages of an exchange.",
    unit="updates",
    build=build,
    feed=feed,
)
