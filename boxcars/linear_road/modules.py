"""The superboxes of the Linear Road network.

A segment, with its expressway and direction, is encoded as one number: ``(xway * 2 + dir) * 100 +
seg``. So is a spot, a position in a lane.
"""

from __future__ import annotations

from boxcars.linear_road.facts import AHEAD, EVERY, FAST, FEW, LAV_MINUTES, NUDGE, STANDING
from boxcars.model.network import Network
from boxcars.model.stream import Stream
from boxcars.model.window import landmark, time, tuples

MINUTE = 60
REPORTS = {
    "time": "int",
    "vid": "int",
    "spd": "int",
    "lane": "int",
    "segment": "int",
    "spot": "int",
}
MOVES = {"time": "int", "vid": "int", "segment": "int", "lane": "int", "start": "bool"}
STOPPED = {"time": "int", "vid": "int", "segment": "int", "spot": "int"}
LATEST = {"time": "int", "segment": "int", "lav": "int", "cars": "int", "ahead": "int"}


def cars() -> Network:
    """Pair consecutive reports of each car: it enters a segment, or it does not move."""
    body = Network("cars")
    reports = body.input("reports", ts="time", fields=REPORTS)
    pairs = reports.aggregate(
        tuples(2, advance=1),
        by="vid",
        lane="last(lane)",
        before="first(segment)",
        segment="last(segment)",
        spot_before="first(spot)",
        spot="last(spot)",
    ).named("pairs")
    crossing, same = pairs.filter(
        "segment <> before AND lane <> 0", "spot = spot_before AND lane BETWEEN 1 AND 3"
    ).named("changes")
    entries = reports.filter("lane = 0").named("entries")
    moves = [
        stream.map(time="time", vid="vid", segment="segment", lane="lane", start=start)
        for stream, start in ((entries, "true"), (crossing, "false"))
    ]
    body.output("moves", moves[0].named("starts").union(moves[1].named("crossings")).named("moves"))
    stopped = same.map(time="time", vid="vid", segment="segment", spot="spot").named("stopped")
    body.output("stopped", stopped)
    return body


def accidents() -> Network:
    """Segments with an accident ahead at the end of each minute, and the distance to it.

    A car is stopped if three consecutive pairs of reports show no movement. Each car reports once
    in the last half of a minute, so two cars stopped at one spot then are an accident in the next
    minute.
    """
    body = Network("accidents")
    stopped = body.input("stopped", ts="time", fields=STOPPED)
    standing = (
        stopped.aggregate(
            tuples(STANDING - 1, advance=1),
            by="vid",
            began="first(time)",
            segment="last(segment)",
            spot="last(spot)",
        )
        .named("in-a-row")
        .filter(f"time - began = {EVERY * (STANDING - 2)}")
        .named("standing")
    )
    crashed = (
        standing.aggregate(
            time(EVERY, advance=MINUTE, origin=MINUTE - EVERY),
            by=["segment", "spot"],
            cars="count_distinct(vid)",
        )
        .named("at-a-spot")
        .filter("cars >= 2")
        .named("crashed")
    )
    upstream = [
        crashed.map(
            time="time",
            ahead=str(far),
            first="segment // 100 * 100",
            segment=_upstream(far),
        ).named(f"upstream-{far}")
        for far in range(AHEAD + 1)
    ]
    on_road = (
        upstream[0].union(*upstream[1:]).named("upstream").filter("segment // 100 * 100 = first")
    )
    affected = on_road.named("on-the-road").map(time="time", segment="segment", ahead="ahead")
    body.output("ahead", affected.named("ahead"))
    return body


def _upstream(far: int) -> str:
    return f"CASE WHEN segment // 100 % 2 = 0 THEN segment - {far} ELSE segment + {far} END"


def statistics() -> Network:
    """Statistics of each segment at the start of a minute: speed, cars, accidents ahead.

    ``segments`` has all segments in each minute, so that empty segments have statistics too.
    """
    body = Network("statistics")
    reports = body.input("reports", ts="time", fields=REPORTS)
    ahead = body.input("ahead", ts="time", fields={"time": "int", "segment": "int", "ahead": "int"})
    segments = body.input("segments", ts="time", fields={"time": "int", "segment": "int"})
    driven = reports.aggregate(time(MINUTE), by=["segment", "vid"], speed="avg(spd)").named(
        "driven"
    )
    nothing = {"speed": "cast(null as float)", "ahead": "cast(null as int)"}
    parts = [
        _known(driven, {**nothing, "speed": "speed"}).named("speeds"),
        _known(ahead, {**nothing, "ahead": "ahead"}).named("accidents"),
        _known(segments, nothing).named("empty"),
    ]
    minute = (
        parts[0]
        .union(*parts[1:])
        .named("all")
        .aggregate(
            time(MINUTE), by="segment", cars="count(speed)", speed="avg(speed)", ahead="min(ahead)"
        )
        .named("minute")
    )
    window = time(LAV_MINUTES * MINUTE, advance=MINUTE, origin=-(LAV_MINUTES - 1) * MINUTE)
    lately = minute.aggregate(
        window, by="segment", speed="avg(speed)", cars="last(cars)", ahead="last(ahead)"
    ).named("lately")
    latest = lately.map(
        time=f"time + {LAV_MINUTES * MINUTE}",
        segment="segment",
        lav=f"coalesce(cast(floor(speed + {NUDGE}) as int), -1)",
        cars="cars",
        ahead="ahead",
    )
    body.output("latest", latest.named("latest"))
    return body


def _known(stream: Stream, fields: dict[str, str]) -> Stream:
    return stream.map(time="time", segment="segment", speed=fields["speed"], ahead=fields["ahead"])


def tolls() -> Network:
    """Notifications for cars that enter a segment, and charges for the previous segment."""
    body = Network("tolls")
    moves = body.input("moves", ts="time", fields=MOVES)
    latest = body.input("latest", ts="time", fields=LATEST)
    driving, early, leaving = moves.filter(
        f"lane <> 4 AND time >= {MINUTE}", "lane <> 4", otherwise=True
    ).named("where")
    met = driving.join(
        latest,
        on="left.segment = right.segment AND left.time >= right.time",
        window=time(1),
        right=time(MINUTE),
    ).named("met")
    toll = f"right_ahead IS NULL AND right_lav < {FAST} AND right_cars > {FEW}"
    notified = met.map(
        time="time",
        vid="left_vid",
        segment="left_segment",
        start="left_start",
        lav="right_lav",
        toll=f"CASE WHEN {toll} THEN 2 * (right_cars - {FEW}) * (right_cars - {FEW}) ELSE 0 END",
        ahead="right_ahead",
    ).named("notified")
    first = _untold(early).named("first-minute")
    noticed = notified.union(first).named("noticed")
    body.output("tolls", noticed.map(time="time", vid="vid", lav="lav", toll="toll").named("toll"))
    warned = noticed.filter("ahead IS NOT NULL").named("warned")
    where = "CASE WHEN segment // 100 % 2 = 0 THEN segment + ahead ELSE segment - ahead END"
    body.output(
        "accidents", warned.map(time="time", vid="vid", seg=f"({where}) % 100").named("seg")
    )
    left = noticed.union(_untold(leaving).named("exits")).named("left")
    paid = left.aggregate(tuples(2, advance=1), by="vid", toll="first(toll)", start="last(start)")
    charges = paid.named("paid").filter("NOT start AND toll > 0").named("charged")
    body.output("charges", charges.map(time="time", vid="vid", toll="toll").named("charges"))
    return body


def _untold(moves: Stream) -> Stream:
    """Moves without statistics: those of the first minute, and exits."""
    return moves.map(
        time="time",
        vid="vid",
        segment="segment",
        start="start",
        lav="-1",
        toll="0",
        ahead="cast(null as int)",
    )


def accounts() -> Network:
    """Answer balance requests with the sum of the car's charges so far."""
    body = Network("accounts")
    charges = body.input("charges", ts="time", fields={"time": "int", "vid": "int", "toll": "int"})
    asked = body.input("asked", ts="time", fields={"time": "int", "vid": "int", "qid": "int"})
    paid = charges.map(time="time", vid="vid", toll="toll", qid="cast(null as int)").named("paid")
    asking = asked.map(time="time", vid="vid", toll="0", qid="qid").named("asking")
    accounts = (
        paid.union(asking)
        .named("both")
        .aggregate(
            landmark(emit="change"),
            by="vid",
            balance="sum(toll)",
            result_time="max(CASE WHEN toll > 0 THEN time END)",
            qid="last(qid)",
        )
        .named("account")
    )
    answers = accounts.filter("qid IS NOT NULL").named("answers")
    body.output(
        "balances",
        answers.map(
            time="time",
            qid="qid",
            vid="vid",
            result_time="coalesce(result_time, 0)",
            balance="balance",
        ).named("balance"),
    )
    return body
