"""Feed monitor: which provider or exchange of stock prices is in trouble.

The financial application of the Aurora papers. A security that is not updated in time gives a low
alarm; 100 low alarms of one provider or exchange give a high one, and then nobody wants to see
the low ones any more.
"""

from __future__ import annotations

from boxcars.apps.app import App
from boxcars.apps.ticks import ALARMS, EVERY, EXCHANGES, FEEDS, feed
from boxcars.model.network import Network
from boxcars.model.stream import Stream
from boxcars.model.window import landmark, tuples


def build(alarms: int = ALARMS, reset: bool = False) -> Network:
    """Late updates of each feed, counted for the feeds and for the exchanges.

    With ``reset`` a high alarm ends the suppression, and low alarms are shown again.
    """
    net = Network("feed-monitor")
    late = {}
    for name in FEEDS:
        speeds = [_late(net, f"{name}-{speed}", every) for speed, every in EVERY.items()]
        union = speeds[0].union(speeds[1]).named(f"{name}-late")
        late[name] = union.map(
            time="time", ticker="ticker", exchange="exchange", feed=f"'{name}'"
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


def _late(net: Network, name: str, interval: int) -> Stream:
    """The securities that were not updated again in time; a pair of updates is a window."""
    fields = {"time": "int", "ticker": "str", "exchange": "str", "price": "float"}
    pairs = (
        net.input(name, ts="time", fields=fields)
        .aggregate(
            tuples(2, advance=1, timeout=interval),
            by="ticker",
            exchange="last(exchange)",
            late="timed_out()",
        )
        .named(f"{name}-gap")
    )
    return pairs.filter("late").named(f"no-{name}")


def _counted(alarms: Stream, name: str) -> Stream:
    """Each alarm with its number since the beginning."""
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
    sentence="Tells a provider of stock prices in trouble from an exchange in trouble.",
    unit="updates",
    build=build,
    feed=feed,
)
