"""The papers' examples of stateful boxes: reports, split boxes, obsolete windows, queries."""

from collections.abc import Iterator
from random import Random
from typing import Any

import polars as pl
import pytest

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.contract import Step
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.state.segments import read_segments
from boxcars.model.ordered_map import Fields
from boxcars.model.types import Type
from tests.test_golden import VECTORS
from tests.test_golden_windows import CUTS, aggregate, moments

FIELDS = {"n": "int", "A": "int", "B": "int"}


@pytest.mark.parametrize("trains", CUTS)
class TestWindows:
    def test_a_landmark_window_grows(self, trains: int) -> None:
        vector = VECTORS["win-01-landmark"]
        rows = [{"t": t} for t in vector["input"]["ts"]]
        window = bx.landmark(emit="change")
        more = {"first": "first(t)", "last": "last(t)"}
        got = aggregate(window, {"t": "int"}, rows, trains, ts="t", **more)
        grown = [[row["first"], row["last"]] for row in got]
        assert grown == vector["expected"]["after_each"]

    def test_an_advance_of_0_moves_with_each_tuple(self, trains: int) -> None:
        vector = VECTORS["win-02-sliding-adv0"]
        got = moments(bx.time(vector["parameters"]["size"], 0), vector["input"]["ts"], trains)
        assert got == vector["expected"]["contents"]

    def test_all_policies_of_reporting(self, trains: int) -> None:
        """Content change, window close, not empty and periodic."""
        policies = {
            "content-change": bx.time(10, emit="change"),
            "window-close": bx.time(10),
            "non-empty": bx.time(10, 5),
            "periodic": bx.time(10, emit={"every": 5}),
        }
        assert set(policies) == set(VECTORS["win-09-report-policies"]["expected"]["policies"])
        times = [1, 2, 6, 31, 40]
        reported = {name: moments(window, times, trains) for name, window in policies.items()}
        assert reported == {
            "content-change": [[1], [1, 2], [1, 2, 6], [31], [40]],
            "window-close": [[1, 2, 6], [31]],
            "non-empty": [[1, 2, 6], [6], [31], [31]],
            "periodic": [[1, 2], [1, 2, 6], [31]],
        }

    def test_the_four_hour_delta(self, trains: int) -> None:
        vector = VECTORS["aur-12-env-monitoring-delta"]
        rows = [{"h": h, "temp": temp} for h, temp in enumerate(vector["input"]["hourly_temp"])]
        window = bx.time(vector["parameters"]["window_h"] + 1, 0)
        got = aggregate(window, {"h": "int", "temp": "int"}, rows, trains, ts="h", d="delta(temp)")
        delta = {row["h"]: row["d"] for row in got}
        expected = vector["expected"]
        assert (delta[4], delta[5]) == (expected["delta_at_4"], expected["delta_at_5"])


def test_slack_counts_tuples() -> None:
    """Slack is a number of tuples, late ones are dropped, and all windows can time out."""
    expected = VECTORS["op-08-slack-timeout"]["expected"]
    assert bx.tuples(2, slack=1).slack_by == expected["slack_unit"]
    net = bx.Network("n")
    disordered = net.input("i", ts="n", fields=FIELDS).map(n="A", B="B")
    windows = disordered.aggregate(bx.tuples(2, slack=1), seen="concat(cast(n as str), ' ')")
    net.output("o", windows)
    net.output("late", windows.late)
    rows = [{"n": n, "A": a, "B": 0} for n, a in enumerate([1, 3, 2, 6, 4, 1, 7])]
    result = bx.preview(net, {"i": rows}, trains=3)
    assert [row["seen"] for row in result["o"].to_pylist()] == ["1 2", "3 4", "6 7"]
    assert [row["n"] for row in result["late"].to_pylist()] == [1]


class TestSplitting:
    """A box split over two machines, and merged again (CIDR 2003, 5.1)."""

    def network(self) -> bx.Network:
        net = bx.Network("split")
        tuples = net.input("i", ts="n", fields=FIELDS)
        first, second = tuples.filter("n <= 3 or B < 3", otherwise=True).named("route")
        machines = [
            part.aggregate(bx.runs(), by="A", result="cnt()").named(f"machine{number}")
            for number, part in enumerate((first, second), start=1)
        ]
        for number, machine in enumerate(machines, start=1):
            net.output(f"machine{number}", machine)
        merged = machines[0].union(machines[1]).named("union").wsort(by=["A"], timeout=1000)
        net.output("sorted", merged.named("wsort"))
        net.output("merged", merged.aggregate(bx.runs(), by="A", result="sum(result)").named("sum"))
        whole = tuples.aggregate(bx.runs(), by="A", result="cnt()").named("unsplit")
        net.output("unsplit", whole)
        return net

    def run(self, name: str) -> dict[str, list[tuple[int, int]]]:
        result = bx.preview(self.network(), {"i": VECTORS[name]["input"]["tuples"]}, trains=2)
        return {
            output: [(row["A"], row["result"]) for row in table.to_pylist()]
            for output, table in result.items()
        }

    def test_after_seven_tuples(self) -> None:
        expected = VECTORS["tumble-04-split-fig6"]["expected"]
        got = self.run("tumble-04-split-fig6")
        for output in ("machine1", "machine2"):
            emitted = [(row["A"], row["result"]) for row in expected[f"{output}_emitted"]]
            assert got[output] == emitted
        assert sorted(got["sorted"]) == sorted(
            (row["A"], row["result"]) for row in expected["wsort_output"]
        )
        strict = VECTORS["tumble-05-split-strict"]["expected"]["after_tuple_7"]
        assert got["merged"] == [(row["A"], row["result"]) for row in strict["merge_emitted"]]

    def test_after_nine_tuples(self) -> None:
        expected = VECTORS["tumble-05-split-strict"]["expected"]
        after = expected["after_tuple_9"]
        got = self.run("tumble-05-split-strict")
        assert [list(row) for row in got["machine1"]] == after["machine1_emitted"]
        assert [list(row) for row in got["machine2"]] == after["machine2_emitted"]
        assert [a for a, _ in got["sorted"]] == after["wsort_output_A_order"]
        assert got["merged"] == [(row["A"], row["result"]) for row in after["merge_emitted"]]
        whole = [(row["A"], row["result"]) for row in expected["unsplit_after_tuple_9"]]
        assert got["unsplit"] == whole

    def test_functions_that_can_be_combined(self) -> None:
        """agg(x1..xn) = combine(agg(x1..xk), agg(xk+1..xn)), by our own partial results."""
        vector = VECTORS["tumble-06-combine-functions"]
        values, expected = vector["input"]["values"], vector["expected"]

        def over(function: str, values: list[float]) -> Any:
            rows = [{"n": n, "A": 0, "B": value} for n, value in enumerate(values)]
            window = bx.landmark(emit="close", flush=True)
            (row,) = aggregate(window, FIELDS, rows, 1, ts="n", x=f"{function}(B)")
            return row["x"]

        for pair in vector["parameters"]["pairs"]:
            for k in range(1, len(values)):
                parts = [over(pair["agg"], values[:k]), over(pair["agg"], values[k:])]
                assert over(pair["combine"], parts) == expected[pair["agg"]]
        assert over("avg", values) == expected["avg"]

    @pytest.mark.parametrize("trains", CUTS)
    def test_a_filter_is_merged_by_a_union(self, trains: int) -> None:
        vector = VECTORS["tumble-07-filter-split-fig5"]
        net = bx.Network("split")
        tuples = net.input("i", ts="n", fields=FIELDS)
        parts = [
            part.filter(vector["parameters"]["p"]).named(name)
            for name, part in zip(
                ("true", "false"),
                tuples.filter(vector["parameters"]["routing"], otherwise=True).named("route"),
                strict=True,
            )
        ]
        net.output("branch_true_passes", parts[0])
        net.output("branch_false_passes", parts[1])
        net.output("merged_multiset", parts[0].union(parts[1]).named("union"))
        net.output("unsplit_passes", tuples.filter(vector["parameters"]["p"]).named("whole"))
        result = bx.preview(net, {"i": vector["input"]["tuples"]}, trains=trains)
        for name, table in result.items():
            assert table["n"].to_pylist() == vector["expected"][name]


@pytest.mark.parametrize("trains", CUTS)
class TestObsoleteWindows:
    """Removal of windows for which nothing will come (thesis, 5.5)."""

    def counts(self, window: bx.Window, tuples: list[tuple[str, int]], trains: int) -> Any:
        rows = [{"k": key, "t": time} for key, time in tuples]
        fields = {"k": "str", "t": "int"}
        more = {"n": "count()", "first": "first(t)"}
        got = aggregate(window, fields, rows, trains, ts="t", by="k", **more)
        return [[row["k"], row["first"], row["n"]] for row in got]

    def test_time_windows_are_dropped(self, trains: int) -> None:
        """The thesis counts the timeout in advances from the next window on."""
        vector = VECTORS["gc-01-time-discard"]
        given, expected = vector["parameters"], vector["expected"]
        timeout = (given["timeout"] - 1) * given["advance"]
        window = bx.time(given["size"], given["advance"], timeout=timeout, obsolete="drop")
        at = expected["trigger_ts_consistent"]
        in_time = self.counts(window, [("a", 0), ("a", at - 1)], trains)
        assert in_time == [["a", 0, 1]]
        assert self.counts(window, [("a", 0), ("b", at), ("a", at)], trains) == []

    def test_one_slide_closes_the_windows_of_all(self, trains: int) -> None:
        vector = VECTORS["gc-02-time-produce"]
        size, advance = vector["parameters"]["size"], vector["parameters"]["advance"]
        tuples = vector["input"]["tuples"]
        assert self.counts(bx.time(size, advance), tuples, trains) == vector["expected"]["with_gc"]
        waiting = bx.time(size, advance, timeout=10**6, obsolete="drop")
        assert self.counts(waiting, tuples, trains) == vector["expected"]["without_gc"]

    def test_tuple_windows_are_dropped(self, trains: int) -> None:
        vector = VECTORS["gc-03-tuple-windows"]
        tuples = [tuple(row) for row in vector["input"]["tuples"]]
        (dropped, at), *_ = vector["expected"]["dropped"]
        for size in (2, 3, 4):
            window = bx.tuples(size, timeout=vector["parameters"]["timeout"], obsolete="drop")
            late = [*tuples[:4], (dropped, at), *tuples[4:]]
            got = self.counts(window, late, trains)
            kept = [row for row in tuples if row[0] == "v1"]
            assert got == ([["v1", 0, size]] if size <= len(kept) else [])


def steps(box: Aggregate, rows: list[dict[str, Any]], times: list[int]) -> Iterator[Step]:
    """Drive a box by hand, with a train up to each of these times."""
    schema = bx.Schema(Fields({"t": Type.INT, "k": Type.INT, "price": Type.FLOAT}), "t")
    state = box.start((schema,))
    begin = 0
    for time in times:
        new = [row for row in rows if begin <= row["t"] < time]
        train = pl.DataFrame(new, schema=schema.dtypes)
        step = box.step(state, (train,), (bx.Frontier(time),), (schema,))
        state, begin = step.state, time
        yield step


class TestWhatIsKept:
    def test_the_earliest_tuple_that_is_still_needed(self) -> None:
        """From there a failed aggregate is fed again (thesis, 5.2)."""
        vector = VECTORS["agg-04-ft-table5.1"]
        rows = [
            {"t": row["Time"], "k": 0, "price": row["Price"]} for row in vector["input"]["tuples"]
        ]
        given = vector["parameters"]
        box = Aggregate.build(bx.time(given["size"], given["advance"]), mean="avg(price)")
        expected = VECTORS["et-01-earliest-timestamp"]["expected"]["corrected"]
        ends = [given["size"], given["advance"] + given["size"]]
        first, second = steps(box, rows, ends)
        kept = [
            concat_rows(read_segments(step.state, "tuples"))["t"].min() for step in (first, second)
        ]
        assert kept[0] == expected[0]["et"]
        header = VECTORS["et-02-output-header"]["expected"]
        assert kept == [header["T1.et"], header["T2.et"]]
        for start, right in ((kept[0], True), (180, False)):
            again = [row for row in rows if row["t"] >= start]
            mean = list(steps(box, again, ends))[1].trains["0"]["mean"][0]
            assert (mean == pytest.approx(second.trains["0"]["mean"][0])) is right
            if not right:
                wrong = VECTORS["et-01-earliest-timestamp"]["expected"]["T2_if_replayed_from_180"]
                assert mean == pytest.approx(wrong)

    def test_obsolete_windows_are_removed(self) -> None:
        """Cars report every 30 s and leave: the sooner windows are dropped, the fewer are open."""
        vector = VECTORS["gc-04-measured"]
        random = Random(1)
        rows = []
        for car in range(3000):
            enters, reports = random.randrange(2000), random.randrange(1, 60)
            rows += [{"t": enters + 30 * n, "k": car, "price": 0.0} for n in range(reports)]
        rows.sort(key=lambda row: row["t"])
        open_windows = []
        for timeout in vector["input"]["timeouts"]:
            dropped = {} if timeout is None else {"timeout": timeout, "obsolete": "drop"}
            box = Aggregate.build(bx.tuples(4, 1, **dropped), by="k", mean="avg(price)")
            *_, last = steps(box, rows, list(range(100, 2001, 100)))
            kept = keyed_lsm.take(last.state, ["heads"], keyed_lsm.all_keys(last.state))["heads"]
            open_windows.append(kept["k"].n_unique())
        measured = vector["expected"]["at_2000s_millions"]
        assert sorted(measured, reverse=True) == measured
        assert sorted(open_windows, reverse=True) == open_windows
        assert len(set(open_windows)) == len(measured)


class TestQueries:
    def test_improper_fake_transactions(self) -> None:
        vector = VECTORS["q-05-improper-fake"]
        net = bx.Network("improper-fake")
        fields = {"Card": "str", "Time": "int", "Seller_ID": "str"}
        paid = net.input("I", ts="Time", fields=fields)
        counts = paid.aggregate(
            bx.time(3600, 600), by=["Card", "Seller_ID"], Transactions="count()"
        ).named("A")
        on = "left.Seller_ID = right.Seller_ID and left.Card <> right.Card"
        pairs = counts.join(counts, on=on, window=bx.time(3600)).named("J")
        alarms = pairs.filter("left_Transactions >= 2 and right_Transactions >= 2").named("F")
        net.output("O_A", counts)
        net.output("O_F", alarms)
        rows = [dict(zip(fields, row, strict=True)) for row in vector["input"]["tuples"]]
        result = bx.preview(net, {"I": rows}, trains=2)
        counted = [
            [row["Card"], row["Seller_ID"], row["Time"], row["Transactions"]]
            for row in result["O_A"].to_pylist()
        ]
        assert sorted(counted) == sorted(vector["expected"]["O_A"])
        names = ("left_Card", "right_Card", "left_Seller_ID")
        more = ("left_Transactions", "right_Transactions")
        found = [[row[name] for name in names + more] for row in result["O_F"].to_pylist()]
        assert sorted(found) == sorted(vector["expected"]["O_F"])

    @pytest.mark.parametrize("trains", CUTS)
    def test_accidents_of_linear_road(self, trains: int) -> None:
        vector = VECTORS["q-07-linear-road-accident"]
        net = bx.Network("accidents")
        fields = dict.fromkeys(vector["input"]["format"], "int")
        reports = net.input("I", ts="Time", fields=fields)
        four = (
            reports.filter("Type = 0")
            .named("F1")
            .aggregate(
                bx.tuples(4, 1),
                by="Vehicle_ID",
                Avg_Speed="avg(Speed)",
                First_Pos="first_val(Position)",
                Last_Pos="last_val(Position)",
            )
            .named("A1")
        )
        stopped = four.filter("Avg_Speed = 0 and First_Pos = Last_Pos").named("F2")
        pairs = stopped.aggregate(
            bx.tuples(2, 1),
            by="First_Pos",
            Vehicle_A="first_val(Vehicle_ID)",
            Vehicle_B="last_val(Vehicle_ID)",
        ).named("A2")
        alerts = pairs.filter("Vehicle_A <> Vehicle_B").named("F3")
        for name, stream in (("O_A1", four), ("O_F2", stopped), ("O_A2", pairs), ("O", alerts)):
            net.output(name, stream)
        rows = [dict(zip(fields, row, strict=True)) for row in vector["input"]["tuples"]]
        for name, table in bx.preview(net, {"I": rows}, trains=trains).items():
            assert table.drop(["Time"]).to_pylist() == vector["expected"][name]

    def directive(self) -> bx.Network:
        """The OSSIM directive as the thesis translates it, with its slips corrected."""
        net = bx.Network("directive")
        names = VECTORS["q-09-ossim-smb-directive"]["parameters"]["network"]["schema"]
        types = {name: "str" if name.startswith("IP") else "int" for name in names}
        events = net.input("I", ts="Time", fields=types)
        ends = ("IP_A", "IP_B", "P_A", "P_B")
        times = {"First_Time": "first_val(Time)", "Last_Time": "last_val(Time)"}
        share = events.filter("Pid = 1001 and Sid in (537, 2465, 2466)").named("F1")
        one = share.aggregate(bx.tuples(1), by=ends, fields=times).named("A1")
        copied = {name: name for name in ends}
        fired = one.map({**copied, "Rule": "1", "Reliability": "2", "Time": "Time"}).named("M1")
        known = one.map({**copied, "Reliability": "2", "Time": "Time"}).named("M2")
        harmful = events.filter("Pid = 1001 and Sid in (2009033, 2009034, 2009035)").named("F3")
        on = "left.IP_A = right.IP_A and left.IP_B = right.IP_B and left.Time >= right.Time"
        joined = harmful.join(known, on=on, window=bx.time(3600)).named("J1")
        pairs = joined.aggregate(
            bx.tuples(2, 1),
            by=[f"left_{name}" for name in ends],
            First_Time="first_val(left_Time)",
            Last_Time="last_val(left_Time)",
        ).named("A2")
        quick = pairs.filter("Last_Time - First_Time <= 10").named("F4")
        again = {name: f"left_{name}" for name in ends}
        second = quick.map({**again, "Rule": "2", "Reliability": "3", "Time": "Time"}).named("M3")
        net.output("O", fired.union(second).named("U1"))
        return net

    def rules(self, name: str) -> list[dict[str, Any]]:
        net = self.directive()
        names = list(net.inputs["I"].fields)
        rows = [dict(zip(names, row, strict=True)) for row in VECTORS[name]["input"]["tuples"]]
        found: list[dict[str, Any]] = bx.preview(net, {"I": rows})["O"].to_pylist()
        return found

    def test_an_ossim_directive(self) -> None:
        expected = VECTORS["q-09-ossim-smb-directive"]["expected"]
        got = self.rules("q-09-ossim-smb-directive")
        assert got == expected["O"]

    def test_the_template_fires_once_too_often(self) -> None:
        expected = VECTORS["q-12-ossim-translation-multiplicity"]["expected"]
        got = self.rules("q-12-ossim-translation-multiplicity")
        fired = [row for row in got if row["Rule"] == 2]
        assert len(fired) == expected["translated_query_rule2_firings"]
