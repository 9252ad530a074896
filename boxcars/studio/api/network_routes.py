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
    """Add the routes of the studio itself, and of the files in its folder."""
    workspace, code = studio.workspace, studio.allow_code

    @app.get("/api/about", tags=["studio"])
    def about() -> messages.About:
        """Version, folder and permissions of the studio."""
        return about_studio(studio)

    @app.get("/api/palette", tags=["studio"])
    def get_palette() -> messages.Palette:
        """All boxes, functions, types, windows and connectors."""
        return palette()

    @app.get("/api/templates", tags=["networks"])
    def list_templates() -> list[messages.TemplateInfo]:
        """The bundled applications."""
        return template_infos()

    @app.get("/api/templates/{name}", tags=["networks"])
    def get_template(name: str) -> messages.Document:
        """The network of a bundled application."""
        return open_template(name)

    @app.get("/api/networks", tags=["networks"])
    def list_networks() -> list[messages.NetworkFile]:
        """The network files in the folder."""
        return workspace.networks()

    @app.get("/api/data", tags=["networks"])
    def list_data() -> list[messages.DataFile]:
        """The data files in the folder: Parquet, CSV, JSON lines and Arrow."""
        return workspace.data()

    @app.get("/api/networks/{file}", tags=["networks"])
    def get_network(file: str) -> messages.Document:
        """A network file as far as it can be read, and its problems."""
        return open_file(workspace, file, code)

    @app.put("/api/networks/{file}", tags=["networks"])
    def put_network(file: str, body: messages.SaveNetwork) -> messages.Document:
        """Save a network; the file extension selects the language."""
        saved = save_file(workspace, file, body, code)
        studio.runs.adopt(body.document, file)
        return saved

    @app.delete("/api/networks/{file}", status_code=204, tags=["networks"])
    def delete_network(file: str) -> None:
        """Delete a network file, with its layout and its tests."""
        workspace.delete(file)


def add_parts(app: FastAPI, studio: Studio) -> None:
    """Add the routes of the entities and the tests of network files."""
    workspace, code = studio.workspace, studio.allow_code

    @app.get("/api/networks/{file}/entities", tags=["networks"])
    def get_entities(file: str) -> list[messages.EntityInfo]:
        """The entities of a network (Aurora's listEntities)."""
        return list_entities(workspace, file, code)

    @app.get("/api/networks/{file}/entities/{name:path}", tags=["networks"])
    def get_entity(file: str, name: str) -> messages.EntityInfo:
        """Describe an entity (Aurora's describe)."""
        return describe_entity(workspace, file, name, code)

    @app.get("/api/networks/{file}/tests", tags=["tests"])
    def get_tests(file: str) -> KeptCases:
        """The tests of a network, from the file next to it."""
        return kept_cases(workspace.tests_path(file))

    @app.put("/api/networks/{file}/tests", tags=["tests"])
    def put_tests(file: str, body: SaveCases) -> KeptCases:
        """Save the tests of a network next to it."""
        return save_cases(workspace.tests_path(file), body)

    @app.post("/api/tests/run", tags=["tests"])
    def run_tests(body: AskCases) -> list[CaseResult]:
        """Run tests of a network in the studio's process."""
        return run_cases(readable(body.network, code), body.tests)


def add_editing(app: FastAPI, studio: Studio) -> None:
    """Add the routes that the page uses while a network is drawn."""
    code = studio.allow_code

    @app.post("/api/read", tags=["networks"])
    def read(body: messages.ReadText) -> messages.Document:
        """Parse the text of a network file."""
        return read_text(body, code)

    @app.post("/api/write", tags=["networks"])
    def write(body: messages.WriteNetwork) -> messages.Text:
        """Write a network in any language, or as a picture."""
        return write_text(body, code)

    @app.post("/api/check", tags=["editing"])
    def check(body: messages.AskCheck) -> messages.CheckAnswer:
        """Check a network, even if it is incomplete (Aurora's typecheck)."""
        return check_plain(body.network, code)

    @app.post("/api/complete", tags=["editing"])
    def complete_text(body: messages.AskComplete) -> messages.Completion:
        """Completions for the text of a parameter."""
        return complete(body, code)

    @app.post("/api/diff", tags=["editing"])
    def diff(body: messages.AskDiff) -> messages.Diff:
        """The differences between two versions of a network."""
        return compare(body.old, body.new)

    @app.post("/api/group", tags=["editing"])
    def group_boxes(body: messages.AskGroup) -> messages.Regrouped:
        """Group boxes into a superbox."""
        return group(body, code)

    @app.post("/api/ungroup", tags=["editing"])
    def ungroup_box(body: messages.AskUngroup) -> messages.Regrouped:
        """Replace a superbox by its boxes."""
        return ungroup(body)

    @app.post("/api/sample", tags=["previews"])
    def make_sample(body: messages.AskSample) -> messages.Sample:
        """Generate tuples that fit an input."""
        return sample(body)
