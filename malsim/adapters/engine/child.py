"""A Python process with a process group and a temporary folder of its own; both are cleared when the process is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.adapters.foreign_code import MARK, calls_in
from malsim.base.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GRACE = 1.0  # seconds beyond a call's limit, after which its process is ended
LOOK = 0.25  # seconds between two looks at what goes on
TAIL = 500  # characters of what it printed, in an error


class EndedError(Exception):
    """Process that ended, or was given up, in the call noted as `where`; the text gives the reason."""

    def __init__(self, problem: str, where: str) -> None:
        super().__init__(problem)
        self.where = where


class Child:
    """Child interpreter, like this one, that runs a line of code. Its output goes into its folder, or to `streams`."""

    def __init__(self, code: str, *words: str, pass_fds: Sequence[int] = (), **streams: Any) -> None:
        self.folder = tempfile.mkdtemp(prefix="malsim-")
        command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}", *words]
        environment = {"PYTHONHASHSEED": "0"} | os.environ | dict.fromkeys(("TMPDIR", MARK), self.folder)
        with Path(self.folder, "output").open("wb") as output:
            given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output} | streams
            self.process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  # this interpreter
                command, env=environment, start_new_session=True, pass_fds=tuple(pass_fds), **given
            )
        self.clear = weakref.finalize(self, _clear, self.process, self.folder)

    def wait(self, ready: Callable[[float], bool]) -> None:
        """Wait until `ready`, called with a time-out in seconds, is true. Raises `EndedError` if a call takes too long."""
        while not ready(LOOK):
            for note in calls_in(self.folder):
                if time.monotonic() > note.deadline + GRACE:
                    raise EndedError(f"did not return within {note.limit:g} s", note.where)

    def check_end(self) -> None:
        if self.process.returncode < 0 or calls_in(self.folder):
            raise self.ended()

    def ended(self) -> EndedError:
        """Return how the process ended, in which call, and the last that it printed."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)
        code = self.process.poll()
        how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
        text = one_line(Path(self.folder, "output").read_bytes()[-4 * TAIL :].decode("utf-8", "replace")[-TAIL:].strip())
        where = next((note.where for note in calls_in(self.folder)), "")
        return EndedError(f"its process ended ({how})" + (f"; it printed: {text}" if text else ""), where)


def _clear(process: subprocess.Popen[bytes], folder: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
