"""Save what the page shows, into the working folder or as a download; nothing is replaced without asking."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError
from malsim.base.files.outputs import whole_file
from malsim.base.files.paths import inside
from malsim.lab.workbench.page.components import Form
from malsim.lab.workbench.saved import KINDS, content

if TYPE_CHECKING:
    from malsim.lab.workbench.page.page import Page

SAVE, DOWNLOAD = "Save to folder", "Download"
TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


class Saving:
    """What to save, its name, and the two ways to save it."""

    def __init__(self, page: Page, folder: Path) -> None:
        self._page, self._folder, self._asked_twice = page, folder, ""
        self.form: Any = Form(
            buttons=[{"word": SAVE, "title": f"below {folder}"}, {"word": DOWNLOAD, "title": "to the browser's downloads"}],
            sizing_mode="stretch_width",
        )
        self.form.fields = [
            {"name": "kind", "label": "save", "choices": list(KINDS), "value": "scenario"},
            {"name": "name", "label": "name", "value": _name(page, folder), "width": "220px"},
        ]
        self.form.answer(self._asked)

    def _asked(self, message: dict[str, Any]) -> None:
        result = self._page.result
        if result is None:
            return
        kind, name = str(message["values"]["kind"]), str(message["values"]["name"]).strip()
        try:
            path = inside(self._folder, name if name.endswith(KINDS[kind]) else name + KINDS[kind], where="save")
            made = content(kind, result, self._page.shown(result), self._page.title())
            if message["press"] == DOWNLOAD:
                data = base64.b64encode(made).decode()
                self.form.file = {"name": path.name, "data": data, "type": TYPES.get(path.suffix, "text/plain")}
                self.form.say(f"Downloaded {path.name}.")
            elif path.exists() and self._asked_twice != str(path):
                self._asked_twice = str(path)
                self.form.say(f"{path} exists. Press {SAVE} again to replace it.", failed=True)
            else:
                self._write(path, made)
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)

    def _write(self, path: Path, made: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as place:
            place.write_bytes(made)
        self._asked_twice = ""
        self.form.say(f"Saved {path}.")


def _name(page: Page, folder: Path) -> str:
    """Return a name beside the scenario's file where that lies below the folder, else one in the folder."""
    base = page.tuning.base
    try:
        beside = Path(base.path).resolve().parent.relative_to(folder.resolve())
    except ValueError:
        beside = Path()
    return (beside / f"{base.name}-tuned").as_posix()
