"""Notebook execution: `python -m tests.notebooks.execution` runs every notebook and stores its outputs."""

from __future__ import annotations

import base64
import io
import re
import sys
from pathlib import Path
from typing import Any

from PIL import Image

FOLDER = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
SLOWEST = 120
TIME = re.compile(r"\b\d+\.\d+ s\b")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def notebook(name: str) -> Any:
    import nbformat  # imported late because the import takes three seconds

    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]


def execute(parts: dict[str, list[Any]]) -> None:
    """Run lists of cells in one kernel, which is reset before each list. Outputs are stored in the cells."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    every = []
    for cells in parts.values():
        every += [new_code_cell("%reset -f"), *cells]  # type: ignore[no-untyped-call]
    whole = new_notebook(cells=every)  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(whole, kernel_name="python3", timeout=SLOWEST, resources=where, allow_errors=True).execute()


def shown(cell: Any) -> str:
    """Return a code cell's text output without times and memory addresses."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream" and output.name == "stdout":
            parts.append(output.text)
        elif "text/plain" in output.get("data", {}):
            parts.append(output.data["text/plain"])
    return ADDRESS.sub("", TIME.sub("… s", "".join(parts)))


def tidy(cells: list[Any]) -> None:
    """Remove progress bars and times from the outputs, shrink images, and number the code cells from 1."""
    count = 0
    for cell in cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    output.data["image/png"] = smaller(output.data["image/png"])
                if output.output_type == "execute_result":
                    output.execution_count = count
                if output.output_type == "stream":
                    output.text = TIME.sub("… s", output.text)


def smaller(picture: str) -> str:
    """Reduce a base64-encoded PNG to 128 colours, which makes the file about a third as large."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        image.convert("RGB").quantize(128).save(buffer, format="png", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


def main() -> None:
    """Run every notebook and store its outputs."""
    import nbformat

    stored = {name: notebook(name) for name in NAMES}
    execute({name: whole.cells for name, whole in stored.items()})
    for name, whole in stored.items():
        tidy(whole.cells)
        whole.metadata = {key: whole.metadata[key] for key in ("kernelspec", "language_info", "malsim")}
        nbformat.write(whole, FOLDER / f"{name}.ipynb")  # type: ignore[no-untyped-call]
        sys.stdout.write(f"{name}: {(FOLDER / f'{name}.ipynb').stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    main()
