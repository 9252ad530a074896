"""Routes for runs and their injectors."""

from __future__ import annotations

from fastapi import FastAPI, WebSocket

from boxcars.studio.api.studio import Studio
from boxcars.studio.runs.launch import prepare
from boxcars.studio.runs.live_feed import NO_RUN, messages_now, watch
from boxcars.studio.wire import inject_messages
from boxcars.studio.wire import run_messages as wire
from boxcars.studio.wire.errors import Missing


def add_runs(app: FastAPI, studio: Studio) -> None:
    """Start and stop runs, and ask how they stand."""
    runs = studio.runs

    @app.post("/api/runs", tags=["runs"])
    def start_run(body: wire.AskRun) -> wire.Run:
        """Start a run in a process of its own (Aurora's start)."""
        return runs.start(prepare(body, studio.workspace, studio.allow_code)).told()

    @app.get("/api/runs", tags=["runs"])
    def list_runs() -> list[wire.Run]:
        """All runs, the newest first."""
        return [run.told() for run in runs.all()]

    @app.get("/api/runs/{id}", tags=["runs"])
    def get_run(id: str) -> wire.Run:
        """How a run stands."""
        return runs.find(id).told()

    @app.post("/api/runs/{id}/stop", tags=["runs"])
    def stop_run(id: str) -> wire.Run:
        """Stop a run behind the epoch that is under way (Aurora's shutdown)."""
        return runs.stop(id).told()

    @app.delete("/api/runs/{id}", status_code=204, tags=["runs"])
    def delete_run(id: str) -> None:
        """Forget a run that has ended, and all that it has kept."""
        runs.delete(id)

    @app.post("/api/runs/{id}/modify", tags=["runs"])
    def modify_run(id: str, body: wire.AskModify) -> wire.Run:
        """Go on with another network or layout behind an epoch (Aurora's modifyNetwork)."""
        return runs.modify(id, body, studio.allow_code).told()


def add_watching(app: FastAPI, studio: Studio) -> None:
    """What comes out of a run, and what it measures."""
    runs = studio.runs

    @app.get("/api/runs/{id}/stats", tags=["watching"])
    def get_stats(id: str) -> wire.Stats:
        """The statistics of a run, now or at its end (Aurora's getPerfStats)."""
        return runs.find(id).stats()

    @app.get("/api/runs/{id}/history", tags=["watching"])
    def get_history(id: str, since: float = 0.0) -> wire.HistoryAnswer:
        """What was measured behind a moment, in seconds since 1970."""
        return runs.find(id).history.since(since)

    @app.get("/api/runs/{id}/log", tags=["watching"])
    def get_log(id: str) -> wire.LogLines:
        """The last lines that a run wrote."""
        return wire.LogLines(lines=runs.find(id).log_lines())

    @app.get("/api/runs/{id}/outputs/{name}", tags=["watching"])
    def get_output(id: str, name: str, after: int = 0) -> wire.OutputRows:
        """The last tuples of an output, of epochs behind ``after`` (Aurora's dequeue)."""
        return runs.find(id).output(name, after)

    @app.get("/api/runs/{id}/arcs/{arc:path}", tags=["watching"])
    def get_arc(id: str, arc: str) -> wire.LastRows:
        """The last tuples of any arc."""
        return wire.LastRows(rows=runs.find(id).arc(arc))

    @app.post("/api/runs/{id}/inputs/{name}", tags=["inputs"])
    def enqueue(id: str, name: str, body: wire.Enqueue) -> wire.Kept:
        """Put tuples into an input; the answer comes when they are kept (Aurora's enqueue)."""
        return runs.find(id).enqueue(name, body)

    @app.get("/api/runs/{id}/watch", tags=["watching"])
    def get_messages(id: str) -> list[wire.Watched]:
        """The messages that the WebSocket of the same address begins with."""
        return messages_now(runs.find(id))

    @app.websocket("/api/runs/{id}/watch")
    async def watch_run(socket: WebSocket, id: str) -> None:
        """Messages about a run, a few each second however fast it is."""
        try:
            run = runs.find(id)
        except Missing as missing:
            await socket.accept()
            await socket.close(NO_RUN, str(missing))
            return
        await watch(socket, run)


def add_injectors(app: FastAPI, studio: Studio) -> None:
    """Load for the inputs of runs."""
    injectors = studio.injectors

    @app.post("/api/runs/{id}/injectors", tags=["inputs"])
    def start_injector(id: str, body: inject_messages.AskInjector) -> inject_messages.Injector:
        """Start to inject."""
        return injectors.start(id, body)

    @app.get("/api/runs/{id}/injectors", tags=["inputs"])
    def list_injectors(id: str) -> list[inject_messages.Injector]:
        """The injectors of a run."""
        return injectors.of(id)

    @app.get("/api/injectors/{id}", tags=["inputs"])
    def get_injector(id: str) -> inject_messages.Injector:
        """How an injector stands."""
        return injectors.get(id)

    @app.patch("/api/injectors/{id}", tags=["inputs"])
    def change_injector(id: str, body: inject_messages.ChangeInjector) -> inject_messages.Injector:
        """Change its pace, let it pause or go on."""
        return injectors.change(id, body)

    @app.delete("/api/injectors/{id}", status_code=204, tags=["inputs"])
    def delete_injector(id: str) -> None:
        """Let it send nothing more, and forget it."""
        injectors.delete(id)
