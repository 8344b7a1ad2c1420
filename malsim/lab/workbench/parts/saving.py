"""Save what the page shows, into the working folder or as a download; nothing is replaced without asking."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError
from malsim.base.files.outputs import whole_file
from malsim.base.files.paths import inside
from malsim.lab.workbench.saved import KINDS, content
from malsim.lab.workbench.view.components import FieldForm

if TYPE_CHECKING:
    from malsim.lab.workbench.parts.page_host import PageHost

SAVE, DOWNLOAD = "Save to folder", "Download"
TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


class SavePart:
    """What to save, its name, and the two ways to save it."""

    def __init__(self, page: PageHost, folder: Path) -> None:
        self._page, self._folder, self._asked_twice = page, folder, ""
        self.form: Any = FieldForm(
            buttons=[{"word": SAVE, "title": f"below {folder}"}, {"word": DOWNLOAD, "title": "to the browser's downloads"}],
            sizing_mode="stretch_width",
        )
        self.form.fields = [
            {"name": "kind", "label": "save", "choices": list(KINDS), "value": "scenario"},
            {"name": "name", "label": "name", "value": _name(page, folder), "width": "220px"},
        ]
        self.form.answer(self._press)

    def _press(self, message: dict[str, Any]) -> None:
        result = self._page.result
        if result is None:
            return
        kind, name = str(message["values"]["kind"]), str(message["values"]["name"]).strip()
        try:
            path = inside(self._folder, name if name.endswith(KINDS[kind]) else name + KINDS[kind], where="save")
            data = content(kind, result, self._page.visible(result), self._page.title())
            if message["press"] == DOWNLOAD:
                coded = base64.b64encode(data).decode()
                self.form.file = {"name": path.name, "data": coded, "type": TYPES.get(path.suffix, "text/plain")}
                self.form.say(f"Downloaded {path.name}.")
            elif path.exists() and self._asked_twice != str(path):
                self._asked_twice = str(path)
                self.form.say(f"{path} exists. Press {SAVE} again to replace it.", failed=True)
            else:
                self._write(path, data)
        except MalsimError as problem:
            self.form.say(str(problem), failed=True)

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as place:
            place.write_bytes(data)
        self._asked_twice = ""
        self.form.say(f"Saved {path}.")


def _name(page: PageHost, folder: Path) -> str:
    """Return a name beside the scenario's file where that lies below the folder, else one in the folder."""
    base = page.tuning.base
    try:
        beside = Path(base.path).resolve().parent.relative_to(folder.resolve())
    except ValueError:
        beside = Path()
    return (beside / f"{base.name}-tuned").as_posix()
