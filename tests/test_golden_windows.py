"""The papers' examples of windows and of queries with aggregates (golden/*.json)."""

from typing import Any

import pytest

import boxcars as bx
from tests.test_golden import VECTORS

CUTS = [1, 2, 5]
CALL = {"Time": "int", "Duration": "int", "Caller": "str"}


def aggregate(
    window: bx.Window, schema: dict[str, str], rows: list[dict[str, Any]], trains: int, **more: Any
) -> list[dict[str, Any]]:
    net = bx.Network("n")
    ts = more.pop("ts", "Time")
    net.output("o", net.input("i", ts=ts, fields=schema).aggregate(window, **more).named("a"))
    found: list[dict[str, Any]] = bx.preview(net, {"i": rows}, trains=trains)["o"].to_pylist()
    return found


def moments(window: bx.Window, times: list[int], trains: int) -> list[list[int]]:
    """The contents of each window over tuples that are nothing but their time."""
    rows = [{"t": t} for t in times]
    contents = "concat(cast(t as str), ' ')"
    found = aggregate(window, {"t": "int"}, rows, trains, ts="t", c=contents)
    return [[int(word) for word in row["c"].split()] for row in found]


@pytest.mark.parametrize("trains", CUTS)
def test_windows_of_figure_2_1(trains: int) -> None:
    times = VECTORS["win-05-tuple-noadv"]["input"]["ts"]
    full = VECTORS["win-05-tuple-noadv"]["expected"]["full_windows"]
    assert moments(bx.tuples(3, 0), times, trains) == [row["ts"] for row in full]
    full = VECTORS["win-06-tuple-adv2"]["expected"]["full_windows"]
    assert moments(bx.tuples(3, 2), times, trains) == [row["ts"] for row in full]
    aligned = VECTORS["win-07-alignment-variants"]["expected"]["aligned_earliest"]
    assert moments(bx.time(10, 5), times, trains) == [row["ts"] for row in aligned]
    for name, advance in (("win-03-sliding-10-5", 5), ("win-04-tumbling-10", 10)):
        emitted = VECTORS[name]["expected"]["emitted"]
        window = bx.time(10, advance, origin=5)
        assert moments(window, times, trains) == [row["ts"] for row in emitted]


def test_a_tuple_lies_in_these_windows() -> None:
    vector = VECTORS["win-08-contribution-fig4.2"]
    window = bx.time(vector["parameters"]["size"], vector["parameters"]["advance"])
    for time, starts in vector["expected"].items():
        rows = [{"t": int(time)}, {"t": int(time) + 3600}]
        found = aggregate(window, {"t": "int"}, rows, 1, ts="t", first="first(t)")
        assert [row["t"] for row in found if row["first"] == int(time)] == starts


@pytest.mark.parametrize("trains", CUTS)
def test_time_aggregate_of_figure_2_2(trains: int) -> None:
    vector = VECTORS["agg-01-time-fig2.2"]
    functions = vector["parameters"]["functions"]
    rows = vector["input"]["tuples"]
    got = aggregate(bx.time(3600, 600), CALL, rows, trains, by="Caller", fields=functions)
    wanted = ("Time", "Calls", "Mean_Duration")
    assert [[row[name] for name in wanted] for row in got] == [
        [row[name] for name in wanted] for row in vector["expected"]["corrected"]
    ]


@pytest.mark.parametrize("trains", CUTS)
@pytest.mark.parametrize(
    ("name", "advance"), [("agg-02-tuple-fig2.3", 2), ("agg-03-tuple-adv1", 1)]
)
def test_tuple_aggregate_of_figure_2_3(name: str, advance: int, trains: int) -> None:
    vector = VECTORS[name]
    functions = VECTORS["agg-02-tuple-fig2.3"]["parameters"]["functions"]
    rows = vector["input"]["tuples"]
    got = aggregate(bx.tuples(3, advance), CALL, rows, trains, by="Caller", fields=functions)
    assert [(row["Min_Duration"], row["Max_Duration"]) for row in got] == [
        (row["Min_Duration"], row["Max_Duration"]) for row in vector["expected"]["emitted"]
    ]


@pytest.mark.parametrize("trains", CUTS)
def test_average_price_of_table_5_1(trains: int) -> None:
    vector = VECTORS["agg-04-ft-table5.1"]
    fields = {"Time": "int", "Price": "float"}
    got = aggregate(bx.time(180, 120), fields, vector["input"]["tuples"], trains, p="avg(Price)")
    expected = vector["expected"]["emitted"]
    assert [row["Time"] for row in got] == [row["win"][0] for row in expected]
    assert [row["p"] for row in got] == pytest.approx([row["AvgPrice"] for row in expected])


@pytest.mark.parametrize("trains", CUTS)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("tumble-01-avg-fig2", "avg(B)"),
        ("tumble-02-avg-close", "avg(B)"),
        ("tumble-03-cnt-unsplit", "cnt()"),
    ],
)
def test_tumble(name: str, function: str, trains: int) -> None:
    vector = VECTORS[name]
    fields = {"n": "int", "A": "int", "B": "int"}
    rows = vector["input"]["tuples"]
    got = aggregate(bx.runs(), fields, rows, trains, ts="n", by="A", result=function)
    assert [(row["A"], row["result"], row["n"]) for row in got] == [
        (row["A"], row["result"], row["emitted_on"]) for row in vector["expected"]["emitted"]
    ]


class TestTimeout:
    def alarms(self, times: list[int], end: int, trains: int) -> list[tuple[int, bool]]:
        rows = [{"t": t, "ticker": "MSFT"} for t in times] + [{"t": end, "ticker": "clock"}]
        fields = {"t": "int", "ticker": "str"}
        window = bx.tuples(2, 1, timeout=5)
        more = {"by": "ticker", "late": "timed_out()"}
        found = aggregate(window, fields, rows, trains, ts="t", **more)
        return [(row["t"], row["late"]) for row in found]

    @pytest.mark.parametrize("trains", CUTS)
    def test_the_alarm_comes_when_the_second_tuple_does_not(self, trains: int) -> None:
        vector = VECTORS["aur-01-late-ticker-aggregate"]
        expected = [(row["at"], bool(row["Alarm"])) for row in vector["expected"]["outputs"]]
        assert (
            self.alarms(vector["input"]["MSFT"], vector["input"]["clock_end"], trains) == expected
        )

    def test_exactly_the_timeout_is_late(self) -> None:
        vector = VECTORS["aur-02-timeout-boundary"]
        late = [at for at, alarm in self.alarms(vector["input"]["MSFT"], 9, 1) if alarm]
        assert late == [vector["expected"]["at"]]


@pytest.mark.parametrize("trains", CUTS)
def test_high_mobility(trains: int) -> None:
    vector = VECTORS["q-01-high-mobility"]
    xml = VECTORS["fmt-03-query-xml-sample"]["input"]["xml"]
    net = bx.loads(xml, "xml")
    names = list(net.inputs["input"].fields)
    rows = [dict(zip(names, row, strict=True)) for row in vector["input"]["I"]]
    for row in rows:
        row |= {name: float(row[name]) for name in names[4:]}
    got = bx.preview(net, {"input": rows}, trains=trains)["output"].to_pylist()
    expected = [{k.lower(): v for k, v in row.items()} for row in vector["expected"]["O_F_ge"]]
    assert got == expected


def test_consumption_control() -> None:
    """Windows close for all callers together, so more of them have a result than in the thesis."""
    vector = VECTORS["q-02-consumption-control"]
    net = bx.Network("consumption-control")
    calls = net.input("I", ts="Time", fields={"Caller": "str", "Time": "int"})
    counts = calls.aggregate(bx.time(300, 60), by="Caller", Calls="count()").named("A")
    net.output("O_A", counts)
    net.output("O_F", counts.filter("Calls >= 20").named("F"))
    rows = [{"Caller": caller, "Time": time} for caller, time in vector["input"]["tuples"]]
    result = bx.preview(net, {"I": rows})
    assert result["O_F"].to_pylist() == vector["expected"]["O_F"]
    counted = result["O_A"].to_pylist()
    assert all(row in counted for row in vector["expected"]["O_A"])


def test_overlapping_calls() -> None:
    vector = VECTORS["q-03-overlapping-calls"]
    net = bx.Network("overlapping-calls")
    fields = {"Caller": "str", "Callee": "str", "Time": "int", "Duration": "int"}
    calls = net.input("I", ts="Time", fields=fields)
    both = [
        calls.map(Time="Time", Phone=who, Start_Time="Time", End_Time="Time + Duration").named(who)
        for who in ("Caller", "Callee")
    ]
    functions = {
        "First_Call_End": "first_val(End_Time)",
        "Second_Call_Start": "last_val(Start_Time)",
    }
    pairs = both[0].union(both[1]).aggregate(bx.tuples(2, 1), by="Phone", fields=functions)
    net.output("O_A", pairs.named("A"))
    net.output("O_F", pairs.filter("Second_Call_Start <= First_Call_End").named("F"))
    rows = [dict(zip(fields, row, strict=True)) for row in vector["input"]["tuples"]]
    for name, table in bx.preview(net, {"I": rows}).items():
        assert table.drop(["Time"]).to_pylist() == vector["expected"][name]


def test_phones_per_call_count() -> None:
    vector = VECTORS["q-08-phones-per-call-count"]
    net = bx.Network("phones")
    calls = net.input("I", ts="Time", fields={"Caller": "str", "Time": "int", "Price": "float"})
    counts = calls.filter("Price > 5").aggregate(bx.time(3600, 600), by="Caller", Calls="count()")
    net.output("O_A1", counts.named("A1"))
    some = counts.filter("Calls >= 5 and Calls <= 10").named("F2")
    net.output("O", some.aggregate(bx.time(3600, 600), by="Calls", Phones="count()").named("A2"))
    names = ("Caller", "Time", "Price")
    rows = [dict(zip(names, row, strict=True)) for row in vector["input"]["tuples"]]
    result = bx.preview(net, {"I": rows}, trains=3)
    first = [list(row.values()) for row in result["O_A1"].to_pylist()]
    assert all(row in first for row in vector["expected"]["O_A1"])
    five = [row for row in result["O"].to_pylist() if row["Calls"] == 5]
    assert five[0] == vector["expected"]["O"][0]
