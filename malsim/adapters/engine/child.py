"""A process for the code of others, with a group and a folder of its own; its children and its files go when it goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine import sandbox_cleaner
from malsim.base.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GRACE = 1.0  # seconds beyond a call's limit, after which its process is ended
FOLDER = 2**32  # bytes of all in its folder
TAIL = 500  # characters of what it printed, in an error
START = "import sys; sys.path[:] = {path!r}; {code}"


class Child:
    """A line of code in an interpreter like this one; what it prints goes into its folder, or where told.

    `clear` ends it, with all that it started, and empties its folder; before that it calls `first`.
    """

    def __init__(
        self, code: str, *words: str, pass_fds: Sequence[int] = (), first: Callable[[], object] = bool, **streams: Any
    ) -> None:
        self.folder = tempfile.mkdtemp(prefix="malsim-")
        command = [sys.executable, "-c", START.format(path=sys.path, code=code), *words]
        with Path(self.folder, "output").open("wb") as output:
            given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output} | streams
            self.process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  # this interpreter
                command, env=self._environment(), start_new_session=True, pass_fds=tuple(pass_fds), **given
            )
        self.clear = weakref.finalize(self, _clear, self.process, self.folder, first)
        _tell_cleaner("+", self.process.pid, self.folder)

    def _environment(self) -> dict[str, str]:
        """The user's own, but for the place of temporary files; the order of a set is the same in every run."""
        own = dict.fromkeys(("TMPDIR", "TMP", "TEMP", sandbox_cleaner.MARK), self.folder)
        return {"PYTHONHASHSEED": "0"} | os.environ | own

    def end(self) -> str:
        """How the process ended, and the last that it printed."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)
        code = self.process.poll()
        how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
        text = ""
        with suppress(OSError), Path(self.folder, "output").open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - 4 * TAIL, 0))
            text = one_line(file.read(4 * TAIL).decode("utf-8", "replace")[-TAIL:].strip())
        return f"its process ended ({how})" + (f"; it printed: {text}" if text else "")

    @property
    def too_large(self) -> str:
        """What to say where its folder holds more than it may."""
        if sum(_size(Path(path, name)) for path, _, names in os.walk(self.folder) for name in names) > FOLDER:
            return f"wrote more than {FOLDER} bytes into its folder"
        return ""


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.lstat().st_blocks * 512
    return 0


def _clear(process: subprocess.Popen[bytes], folder: str, first: Callable[[], object]) -> None:
    first()
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.2)  # it may end by itself, and flushes nothing
    sandbox_cleaner.clear(process.pid, folder)
    process.wait()
    _tell_cleaner("-", process.pid, folder)


_cleaner: dict[int, int] = {}  # where to tell it, by the process that started it: a fork has none of its own


def _tell_cleaner(sign: str, group: int, folder: str) -> None:
    """Start the cleaner where there is none; without one, a bench that is killed leaves its folders."""
    here = os.getpid()
    if here not in _cleaner:
        theirs, ours = os.pipe()
        command = [sys.executable, "-I", "-S", sandbox_cleaner.__file__]
        actions = [(os.POSIX_SPAWN_DUP2, theirs, 0)]
        os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setpgroup=0)
        os.close(theirs)
        _cleaner.clear()
        _cleaner[here] = ours
    with suppress(OSError):
        os.write(_cleaner[here], f"{sign} {group} {folder}\n".encode())
