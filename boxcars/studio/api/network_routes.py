"""Routes for networks: files, templates, the palette, checks, and edits of whole networks."""

from __future__ import annotations

from fastapi import FastAPI

from boxcars.studio.api.about import about_studio
from boxcars.studio.api.studio import Studio
from boxcars.studio.edit.cases import kept_cases, run_cases, save_cases
from boxcars.studio.edit.checking import check_plain, readable
from boxcars.studio.edit.completion import complete
from boxcars.studio.edit.differences import compare
from boxcars.studio.edit.documents import open_file, open_template, read_text, save_file, write_text
from boxcars.studio.edit.entities import describe_entity, list_entities
from boxcars.studio.edit.grouping import group, ungroup
from boxcars.studio.edit.palette import palette, template_infos
from boxcars.studio.edit.samples import sample
from boxcars.studio.wire import messages
from boxcars.studio.wire.run_messages import AskCases, CaseResult, KeptCases, SaveCases


def add_networks(app: FastAPI, studio: Studio) -> None:
    """The studio itself, and the files in its folder."""
    workspace, code = studio.workspace, studio.allow_code

    @app.get("/api/about", tags=["studio"])
    def about() -> messages.About:
        """What this studio is, and what it may do."""
        return about_studio(studio)

    @app.get("/api/palette", tags=["studio"])
    def get_palette() -> messages.Palette:
        """All boxes, functions, types, windows and connectors."""
        return palette()

    @app.get("/api/templates", tags=["networks"])
    def list_templates() -> list[messages.TemplateInfo]:
        """The applications that ship with Boxcars."""
        return template_infos()

    @app.get("/api/templates/{name}", tags=["networks"])
    def get_template(name: str) -> messages.Document:
        """The network of an application."""
        return open_template(name)

    @app.get("/api/networks", tags=["networks"])
    def list_networks() -> list[messages.NetworkFile]:
        """The network files in the folder."""
        return workspace.networks()

    @app.get("/api/data", tags=["networks"])
    def list_data() -> list[messages.DataFile]:
        """The files with tuples in the folder: Parquet, CSV, JSON lines and Arrow."""
        return workspace.data()

    @app.get("/api/networks/{file}", tags=["networks"])
    def get_network(file: str) -> messages.Document:
        """A network file, as far as it can be read, and what is wrong with it."""
        return open_file(workspace, file, code)

    @app.put("/api/networks/{file}", tags=["networks"])
    def put_network(file: str, body: messages.SaveNetwork) -> messages.Document:
        """Save a network; the ending of the name says in which language."""
        saved = save_file(workspace, file, body, code)
        studio.runs.adopt(body.document, file)
        return saved

    @app.delete("/api/networks/{file}", status_code=204, tags=["networks"])
    def delete_network(file: str) -> None:
        """Remove a network file, and the positions and tests beside it."""
        workspace.delete(file)


def add_parts(app: FastAPI, studio: Studio) -> None:
    """What network files are made of, and their tests."""
    workspace, code = studio.workspace, studio.allow_code

    @app.get("/api/networks/{file}/entities", tags=["networks"])
    def get_entities(file: str) -> list[messages.EntityInfo]:
        """What a network is made of (Aurora's listEntities)."""
        return list_entities(workspace, file, code)

    @app.get("/api/networks/{file}/entities/{name:path}", tags=["networks"])
    def get_entity(file: str, name: str) -> messages.EntityInfo:
        """What an entity is, in words (Aurora's describe)."""
        return describe_entity(workspace, file, name, code)

    @app.get("/api/networks/{file}/tests", tags=["tests"])
    def get_tests(file: str) -> KeptCases:
        """The tests of a network, from the file beside it."""
        return kept_cases(workspace.tests_path(file))

    @app.put("/api/networks/{file}/tests", tags=["tests"])
    def put_tests(file: str, body: SaveCases) -> KeptCases:
        """Save the tests of a network beside it."""
        return save_cases(workspace.tests_path(file), body)

    @app.post("/api/tests/run", tags=["tests"])
    def run_tests(body: AskCases) -> list[CaseResult]:
        """Run tests of a network in this process."""
        return run_cases(readable(body.network, code), body.tests)


def add_editing(app: FastAPI, studio: Studio) -> None:
    """What is asked about a network that is being drawn."""
    code = studio.allow_code

    @app.post("/api/read", tags=["networks"])
    def read(body: messages.ReadText) -> messages.Document:
        """Read the text of a network file."""
        return read_text(body, code)

    @app.post("/api/write", tags=["networks"])
    def write(body: messages.WriteNetwork) -> messages.Text:
        """Write a network in any language, or as a picture."""
        return write_text(body, code)

    @app.post("/api/check", tags=["editing"])
    def check(body: messages.AskCheck) -> messages.CheckAnswer:
        """Check a network, also a half-drawn one (Aurora's typecheck)."""
        return check_plain(body.network, code)

    @app.post("/api/complete", tags=["editing"])
    def complete_text(body: messages.AskComplete) -> messages.Completion:
        """How the text of a parameter may go on."""
        return complete(body, code)

    @app.post("/api/diff", tags=["editing"])
    def diff(body: messages.AskDiff) -> messages.Diff:
        """What changed from one version of a network to another."""
        return compare(body.old, body.new)

    @app.post("/api/group", tags=["editing"])
    def group_boxes(body: messages.AskGroup) -> messages.Regrouped:
        """Make a superbox of some boxes."""
        return group(body, code)

    @app.post("/api/ungroup", tags=["editing"])
    def ungroup_box(body: messages.AskUngroup) -> messages.Regrouped:
        """Put the boxes of a superbox in its place."""
        return ungroup(body)

    @app.post("/api/sample", tags=["previews"])
    def make_sample(body: messages.AskSample) -> messages.Sample:
        """Make up tuples that fit an input."""
        return sample(body)
