"""Real runs of the studio on Spark, in their own processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from boxcars.studio.edit.templates import find_template
from boxcars.studio.runs.launch import prepare
from boxcars.studio.wire.run_messages import AskRun
from tests.patience import PATIENCE, settled, until
from tests.studio.server import Served
from tests.studio.test_networks import CHEAP, changed

CSV = "time,who,price\n" + "".join(f"{t},ann,{t % 3}\n" for t in range(200))


def state(served: Served, id: str, *wanted: str) -> Any:
    """Wait for a state of a run."""

    def look() -> Any:
        run = served.get(f"/api/runs/{id}")
        assert run["state"] != "failed" or "failed" in wanted, run["sentence"]
        return run if run["state"] in wanted else None

    return until(look)


@pytest.fixture(scope="module")
def live(served: Served) -> str:
    """The id of a run that is waiting for tuples."""
    run = served.post("/api/runs", {"network": CHEAP, "instances": 2, "name": "live"})
    assert (run["state"], run["feeds"], run["taps"]) == ("starting", ["calls"], ["cheap"])
    state(served, run["id"], "running", "waiting")
    return str(run["id"])


def test_tuples_go_in_and_come_out(served: Served, live: str) -> None:
    path = f"/api/runs/{live}"
    body = {"format": "csv", "text": CSV + "x,ann,1\n"}
    assert served.post(f"{path}/inputs/calls", body) == {"tuples": 200, "dead": 1}
    until(lambda: served.get(f"{path}/outputs/cheap")["total"] >= 2)
    found = until(lambda: (o := served.get(f"{path}/outputs/cheap"))["rows"] and o)
    assert found["rows"][0] == {"who": "ann", "time": 0, "n": 20}
    assert served.get(f"{path}/outputs/cheap?after={found['epoch']}")["rows"] == []
    until(lambda: served.get(f"{path}/stats")["boxes"]["calls"]["tuples_in"] >= 199)
    assert served.get(f"{path}/stats")["memory"] > 10**6
    assert "the run is at http" in "\n".join(served.get(f"{path}/log")["lines"])
    assert served.get(path)["spark_ui"].startswith("http")
    (started,) = served.get(f"{path}/events")["events"]
    assert (started["n"], started["kind"], started["epoch"]) == (1, "started", 0)
    assert served.get(f"{path}/events?after=1")["events"] == []
    assert served.refused("GET", "/api/runs/none/events")[0] == 404
    assert served.refused("POST", f"{path}/inputs/cals", {})[0] == 404
    assert served.refused("GET", f"{path}/outputs/cheep")[0] == 404


def test_watching_over_a_websocket(served: Served, live: str) -> None:
    address = f"ws://127.0.0.1:{served.port}/api/runs/{live}/watch"
    begun = time.monotonic()
    with connect(address) as socket:
        first = [json.loads(socket.recv(20)) for _ in range(3)]
        assert [message["type"] for message in first] == ["status", "stats", "rows"]
        assert first[0]["run"]["id"] == live
        for number in range(12):
            socket.recv(PATIENCE)
            assert number <= 12 * (time.monotonic() - begun)
    kinds = [message["type"] for message in served.get(f"/api/runs/{live}/watch")]
    assert kinds == ["status", "stats", "rows", "events"]


def test_injectors(served: Served, live: str) -> None:
    fields = {"time": "300 + value // 100", "who": "'bob'", "price": "0.5"}
    body = {
        "input": "calls",
        "source": {"generator": {"fields": fields}},
        "rate": 200,
        "batch": 50,
        "injectors": 2,
    }
    injector = served.post(f"/api/runs/{live}/injectors", body)
    path = f"/api/injectors/{injector['id']}"
    until(lambda: served.get(path)["sent"] > 100)
    arc = until(lambda: served.get(f"/api/runs/{live}/arcs/few")["rows"])
    assert arc[-1]["who"] == "bob"
    _, changed_ = served.call("PATCH", path, {"rate": 5000})
    assert changed_["rate"] == 5000
    before = served.get(path)["sent"]
    until(lambda: served.get(path)["sent"] > before + 5000)
    assert served.call("PATCH", path, {"paused": True})[1]["state"] == "paused"
    settled(lambda: served.get(path)["sent"])
    assert [i["id"] for i in served.get(f"/api/runs/{live}/injectors")] == [injector["id"]]
    assert served.call("DELETE", path) == (204, None)
    _, sentence = served.refused("POST", f"/api/runs/{live}/injectors", {**body, "input": "x"})
    assert "no input 'x' that takes tuples" in sentence
    wrong = {**body, "source": {"generator": {"fields": {"time": "value"}}}}
    _, sentence = served.refused("POST", f"/api/runs/{live}/injectors", wrong)
    assert "field 'who' is missing" in sentence
    _, sentence = served.refused(
        "POST", f"/api/runs/{live}/injectors", {**body, "source": {"file": "../x.csv"}}
    )
    assert "outside of the studio's folder" in sentence


def test_the_history_is_kept(served: Served, live: str) -> None:
    history = served.get(f"/api/runs/{live}/history")
    assert len(history["times"]) >= 3
    assert all(len(values) == len(history["times"]) for values in history["series"].values())
    assert max(history["series"]["box/calls/in_rate"]) > 0
    assert "instance/hourly/1/cpu" in history["series"]
    later = served.get(f"/api/runs/{live}/history?since={history['times'][-2]}")
    assert len(later["times"]) < len(history["times"])


def test_a_run_is_changed_and_stopped(served: Served, live: str) -> None:
    path = f"/api/runs/{live}"
    other = changed(few={"type": "filter", "in": "calls", "where": ["price < 9"]})
    run = served.post(f"{path}/modify", {"network": other})
    assert run["network"]["boxes"]["few"]["where"] == ["price < 9"]
    state(served, live, "running", "waiting")
    refused = json.loads(json.dumps(CHEAP))
    refused["inputs"]["calls"]["fields"]["more"] = "int"
    code, sentence = served.refused("POST", f"{path}/modify", {"network": refused})
    assert (code, sentence.endswith("The run continues unchanged.")) == (409, True)
    state(served, live, "running", "waiting")
    assert served.refused("DELETE", path)[0] == 409
    run = served.post(f"{path}/stop")
    assert (run["state"], run["sentence"].startswith("stopped")) == ("stopped", True)
    assert served.get(f"{path}/outputs/cheap")["rows"]
    assert served.get(f"{path}/stats")["boxes"]["calls"]["tuples_in"] > 5000
    assert served.refused("GET", f"{path}/arcs/few")[0] == 409
    found = [event["kind"] for event in served.get(f"{path}/events")["events"]]
    kinds = [kind for kind in found if kind != "late"]
    assert kinds[:3] == ["started", "stopped", "started"]
    assert ("failed" in kinds, kinds[-1]) == (True, "stopped")


def test_a_run_over_a_file_finishes(served: Served) -> None:
    (served.folder / "calls.csv").write_text(CSV)
    served.call("PUT", "/api/networks/cheap.yaml", {"network": CHEAP})
    body = {
        "file": "cheap.yaml",
        "sources": {"calls": "calls.csv"},
        "master": "local[1]",
        "strategy": "operator-cloud",
        "groups": {"together": ["few", "hourly"]},
        "instances": {"hourly": 3},
    }
    run = served.post("/api/runs", body)
    for option in ("--strategy=operator-cloud", "--groups", "--instances-of=hourly=3"):
        assert option in run["command"]
    ended = state(served, run["id"], "finished")
    assert ended["out"] == {"cheap": 3}
    stats = served.get(f"/api/runs/{run['id']}/stats")["boxes"]
    assert [len(stats[name]["pieces"]) for name in ("few", "hourly")] == [3, 3]
    found = served.get(f"/api/runs/{run['id']}/outputs/cheap")
    assert (found["total"], len(found["rows"])) == (3, 3)
    assert served.get(f"/api/runs/{run['id']}/stats")["boxes"]["few"]["tuples_in"] == 200
    again = Served(served.folder)
    try:
        known = {run["id"]: run for run in again.get("/api/runs")}
        assert known[run["id"]]["state"] == "finished"
        assert again.get(f"/api/runs/{run['id']}/outputs/cheap")["total"] == 3
        assert again.get(f"/api/runs/{run['id']}/history")["times"]
        events = again.get(f"/api/runs/{run['id']}/events")["events"]
        assert [event["kind"] for event in events] == ["started", "finished"]
        assert again.call("DELETE", f"/api/runs/{run['id']}") == (204, None)
    finally:
        again.close()
    assert not (served.folder / ".boxcars/runs" / run["id"]).exists()


def test_what_can_not_run_is_said(served: Served) -> None:
    body: dict[str, Any] = {"network": CHEAP}
    for more, words in (
        ({"sources": {"cals": "x.csv"}}, "there is no input 'cals'. Did you mean 'calls'?"),
        ({"sources": {"calls": "/etc/passwd"}}, "outside of the studio's folder"),
        ({"network": None}, "give either a network or the name of a network file."),
        ({"network": {}}, "a network needs at least one output"),
        ({"groups": {"g": ["fwe"]}}, "there is no box 'fwe'. Did you mean 'few'?"),
    ):
        _, sentence = served.refused("POST", "/api/runs", {**body, **more})
        assert words in sentence
    run = served.post("/api/runs", {**body, "sources": {"calls": "nothing.csv"}})
    failed = state(served, run["id"], "failed")
    assert "nothing.csv: there is no such file" in failed["sentence"]


def test_tables_get_the_records_of_a_template(served: Served) -> None:
    plain = served.get("/api/templates/blacklist")["network"]
    workspace, records = served.studio.workspace, [{"phone": "+34"}]
    order = prepare(AskRun(network=plain, template="blacklist"), workspace, False)
    (frame,) = find_template("blacklist").feed(5_000, 1).tables.values()
    assert order.tables == {"fraudsters": frame.to_dicts()}
    asked = AskRun(network=plain, template="blacklist", tables={"fraudsters": records})
    assert prepare(asked, workspace, False).tables == {"fraudsters": records}
    assert prepare(AskRun(network=plain), workspace, False).tables == {}


def test_runs_end_with_the_studio(tmp_path: Path) -> None:
    own = Served(tmp_path)
    run = own.post("/api/runs", {"network": CHEAP})
    process = own.studio.runs.find(run["id"])._process
    assert process is not None
    own.close()
    assert process.code is not None
    assert not [line for line in processes() if str(tmp_path) in line]


def test_a_run_that_is_killed_says_so(served: Served) -> None:
    run = served.post("/api/runs", {"network": CHEAP})
    process = served.studio.runs.find(run["id"])._process
    assert process is not None
    os.killpg(process._popen.pid, signal.SIGKILL)
    assert "killed by signal 9" in state(served, run["id"], "failed")["sentence"]


def processes() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            found.append(str(path.readlink()))
        except OSError:
            continue
    return found
