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
    """Add the routes that start, stop and list runs."""
    runs = studio.runs

    @app.post("/api/runs", tags=["runs"])
    def start_run(body: wire.AskRun) -> wire.Run:
        """Start a run in its own process (Aurora's start)."""
        return runs.start(prepare(body, studio.workspace, studio.allow_code)).to_message()

    @app.get("/api/runs", tags=["runs"])
    def list_runs() -> list[wire.Run]:
        """All runs, the newest first."""
        return [run.to_message() for run in runs.all()]

    @app.get("/api/runs/{id}", tags=["runs"])
    def get_run(id: str) -> wire.Run:
        """The status of a run."""
        return runs.find(id).to_message()

    @app.post("/api/runs/{id}/stop", tags=["runs"])
    def stop_run(id: str) -> wire.Run:
        """Stop a run after its current epoch (Aurora's shutdown)."""
        return runs.stop(id).to_message()

    @app.delete("/api/runs/{id}", status_code=204, tags=["runs"])
    def delete_run(id: str) -> None:
        """Delete a run that has ended, with all its files."""
        runs.delete(id)

    @app.post("/api/runs/{id}/modify", tags=["runs"])
    def modify_run(id: str, body: wire.AskModify) -> wire.Run:
        """Continue with another network or layout after an epoch (Aurora's modifyNetwork)."""
        return runs.modify(id, body, studio.allow_code).to_message()


def add_watching(app: FastAPI, studio: Studio) -> None:
    """Add the routes for results, statistics, logs and inputs of runs."""
    runs = studio.runs
    _add_records(app, studio)

    @app.get("/api/runs/{id}/stats", tags=["watching"])
    def get_stats(id: str) -> wire.Stats:
        """The current or final statistics of a run (Aurora's getPerfStats)."""
        return runs.find(id).stats()

    @app.get("/api/runs/{id}/outputs/{name}", tags=["watching"])
    def get_output(id: str, name: str, after: int = 0) -> wire.OutputRows:
        """The last tuples of an output, from epochs after ``after`` (Aurora's dequeue)."""
        return runs.find(id).output(name, after)

    @app.get("/api/runs/{id}/arcs/{arc:path}", tags=["watching"])
    def get_arc(id: str, arc: str) -> wire.LastRows:
        """The last tuples of any arc."""
        return wire.LastRows(rows=runs.find(id).arc(arc))

    @app.post("/api/runs/{id}/inputs/{name}", tags=["inputs"])
    def enqueue(id: str, name: str, body: wire.Enqueue) -> wire.Kept:
        """Send tuples to an input; responds once they are durable (Aurora's enqueue)."""
        return runs.find(id).enqueue(name, body)

    @app.get("/api/runs/{id}/watch", tags=["watching"])
    def get_messages(id: str) -> list[wire.Watched]:
        """The first messages of the WebSocket at the same path."""
        return messages_now(runs.find(id))

    @app.websocket("/api/runs/{id}/watch")
    async def watch_run(socket: WebSocket, id: str) -> None:
        """Live messages of a run, a few per second."""
        try:
            run = runs.find(id)
        except Missing as missing:
            await socket.accept()
            await socket.close(NO_RUN, str(missing))
            return
        await watch(socket, run)


def _add_records(app: FastAPI, studio: Studio) -> None:
    """Add the routes for what is recorded of a run: measurements, events and its log."""
    runs = studio.runs

    @app.get("/api/runs/{id}/history", tags=["watching"])
    def get_history(id: str, since: float = 0.0) -> wire.HistoryAnswer:
        """The measurements after a time in seconds since 1970."""
        return runs.find(id).history.since(since)

    @app.get("/api/runs/{id}/events", tags=["watching"])
    def get_events(id: str, after: int = 0) -> wire.EventsAnswer:
        """The last events after a number, from the checkpoint of the run."""
        return wire.EventsAnswer(events=runs.find(id).events(after))

    @app.get("/api/runs/{id}/log", tags=["watching"])
    def get_log(id: str) -> wire.LogLines:
        """The last lines of a run's log."""
        return wire.LogLines(lines=runs.find(id).log_lines())


def add_injectors(app: FastAPI, studio: Studio) -> None:
    """Add the routes of load injectors."""
    injectors = studio.injectors

    @app.post("/api/runs/{id}/injectors", tags=["inputs"])
    def start_injector(id: str, body: inject_messages.AskInjector) -> inject_messages.Injector:
        """Start an injector."""
        return injectors.start(id, body)

    @app.get("/api/runs/{id}/injectors", tags=["inputs"])
    def list_injectors(id: str) -> list[inject_messages.Injector]:
        """The injectors of a run."""
        return injectors.of(id)

    @app.get("/api/injectors/{id}", tags=["inputs"])
    def get_injector(id: str) -> inject_messages.Injector:
        """The status of an injector."""
        return injectors.get(id)

    @app.patch("/api/injectors/{id}", tags=["inputs"])
    def change_injector(id: str, body: inject_messages.ChangeInjector) -> inject_messages.Injector:
        """Change the rate of an injector, pause or resume it."""
        return injectors.change(id, body)

    @app.delete("/api/injectors/{id}", status_code=204, tags=["inputs"])
    def delete_injector(id: str) -> None:
        """Stop and delete an injector."""
        injectors.delete(id)
