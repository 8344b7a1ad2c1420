"""A command whose whole work is done in a sandbox, as it runs code of another package: what that ends is an error, exit 2.

The sandbox says that the command is done by a file with its exit code. A process that ends without having said so was
ended by the code that it called last; one whose call goes on for too long, a held interpreter lock included, is ended.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.child import FOLDER, GRACE, Child
from malsim.adapters.engine.sandbox_cleaner import MARK
from malsim.adapters.foreign_code import CallNote, notes_in
from malsim.base.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CODE = "from malsim.cli import main; from malsim.adapters.engine.sandboxed_command import work; work(main)"
DONE, LOOK = "done", 0.25  # a file's name; seconds between two looks at what goes on
OTHERS = CallNote(0, 0.0, "code of another package")


def work(command: Callable[[], int]) -> None:
    """In the sandbox: do the command's work, say that it is done, and end, whatever threads are left."""
    for kind, most in ((resource.RLIMIT_FSIZE, FOLDER), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))
    process, code = os.getpid(), command()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    if os.getpid() == process:
        Path(os.environ[MARK], DONE).write_text(str(code), encoding="ascii")
    os._exit(code)


def run_sandboxed(words: Sequence[str], *, given: str | None = None) -> int:
    """Run a command in a sandbox; its exit code. `given` is its input, where ours was read already.

    Raises
    ------
    AdapterError
        The code of another package ended the process, did not return in time, or wrote too much.
    """
    with _streams(given) as streams:
        child = Child(CODE, *words, **streams)
        try:
            _wait(child)
            with suppress(OSError, ValueError):
                return int(Path(child.folder, DONE).read_text(encoding="ascii"))
            raise AdapterError(child.end(), where=next(iter(_calls(child)), OTHERS).where, hint="ask its author")
        finally:
            child.clear()


def _wait(child: Child) -> None:
    """Until the process has ended; an interrupt is passed on, as it has no terminal."""
    since: dict[CallNote, float] = {}
    while child.process.poll() is None:
        try:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(LOOK)
        except KeyboardInterrupt:
            child.process.send_signal(signal.SIGINT)
        now = time.monotonic()
        since = {note: since.get(note, now) for note in _calls(child)}
        for note, first in since.items():
            if now - first > note.limit + GRACE:
                raise AdapterError(f"did not return within {note.limit:g} s", where=note.where, hint="ask its author")
        if too_large := child.too_large:
            raise AdapterError(too_large, where=OTHERS.where)


def _calls(child: Child) -> list[CallNote]:
    """The calls that are being made."""
    return [note for note in notes_in(child.folder) if note.steps % 2]


@contextmanager
def _streams(text: str | None) -> Iterator[dict[str, Any]]:
    """Ours, where they are files of the system; else files, whose text is passed on at the end."""
    with ExitStack() as files:
        source: Any = sys.stdin if _is_file(sys.stdin) else subprocess.DEVNULL
        if text is not None:
            source = files.enter_context(tempfile.TemporaryFile())
            source.write(text.encode("utf-8", "replace"))
            source.seek(0)
        given: dict[str, Any] = {"stdin": source}
        for name in ("stdout", "stderr"):
            stream = given[name] = getattr(sys, name)
            if _is_file(stream):
                stream.flush()
            else:
                given[name] = files.enter_context(tempfile.TemporaryFile())
                files.callback(_pass_on, given[name], stream)
        yield given


def _is_file(stream: Any) -> bool:
    try:
        return bool(stream.fileno() >= 0)
    except (AttributeError, OSError, ValueError):
        return False


def _pass_on(file: Any, stream: Any) -> None:
    file.seek(0)
    stream.write(file.read().decode("utf-8", "replace"))
