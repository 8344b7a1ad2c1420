"""Commands restarted in a sandbox to run code of another package. A failure there is an error with exit code 2.

If a process ends during a call, the call is reported as the cause. A process whose call exceeds its limit is ended, even
if the call holds the interpreter lock.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.sandbox import Child, EndedError
from malsim.base.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CODE = "from malsim.cli import main; sys.exit(main())"


def run_sandboxed(words: Sequence[str], *, given: str | None = None) -> int:
    """Run a command in a sandbox; its exit code. `given` is its input, where ours was read already.

    Raises
    ------
    AdapterError
        The code of another package ended the process, or did not return in time.
    """

    def done(seconds: float) -> bool:
        try:
            child.process.wait(seconds)
        except KeyboardInterrupt:  # passed on, as it has no terminal
            child.process.send_signal(signal.SIGINT)
        except subprocess.TimeoutExpired:
            pass
        return child.process.poll() is not None

    with _streams(given) as streams:
        child = Child(CODE, *words, **streams)
        try:
            child.wait(done)
            child.check_end()
        except EndedError as end:
            raise AdapterError(str(end), where=end.where or "code of another package", hint="ask its author") from None
        else:
            return int(child.process.returncode)
        finally:
            child.clear()


@contextmanager
def _streams(text: str | None) -> Iterator[dict[str, Any]]:
    """Yield our own streams if they are system files, else temporary files whose text is passed on at the end."""
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
