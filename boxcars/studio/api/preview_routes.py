"""Routes for plans, and for previews (the step debugger)."""

from __future__ import annotations

from fastapi import FastAPI

from boxcars.studio.api.studio import Studio
from boxcars.studio.edit.checking import readable
from boxcars.studio.runs.plans import compile_plan, plan_network
from boxcars.studio.wire.run_messages import (
    AskCompile,
    AskPlan,
    AskPreview,
    AskStep,
    Compiled,
    PlanAnswer,
    Preview,
)


def add_plans(app: FastAPI, studio: Studio) -> None:
    """Add the routes of plans."""

    @app.post("/api/plan", tags=["plans"])
    def plan(body: AskPlan) -> PlanAnswer:
        """Plan a network: its subqueries, how each is split, and the cost."""
        return plan_network(body, studio.allow_code)

    @app.post("/api/compile", tags=["plans"])
    def compile_network(body: AskCompile) -> Compiled:
        """Compile a plan to query, deploy and resource files, with the commands to run them."""
        return compile_plan(body, studio.workspace, studio.allow_code)


def add_previews(app: FastAPI, studio: Studio) -> None:
    """Add the routes of the step debugger."""
    previews = studio.previews

    @app.post("/api/previews", tags=["previews"])
    def start_preview(body: AskPreview) -> Preview:
        """Start a preview, before the first tuple."""
        return previews.start(body, readable(body.network, studio.allow_code))

    @app.get("/api/previews/{id}", tags=["previews"])
    def get_preview(id: str) -> Preview:
        """The state of a preview."""
        return previews.get(id)

    @app.post("/api/previews/{id}/step", tags=["previews"])
    def step_preview(id: str, body: AskStep) -> Preview:
        """Feed more tuples."""
        return previews.step(id, body)

    @app.post("/api/previews/{id}/back", tags=["previews"])
    def back_preview(id: str) -> Preview:
        """Undo the last step."""
        return previews.back(id)

    @app.delete("/api/previews/{id}", status_code=204, tags=["previews"])
    def delete_preview(id: str) -> None:
        """End a preview."""
        previews.delete(id)
