"""A process that ends what a bench started and clears its folder, should the bench end without doing so itself.

It is run as a file, so that it imports nothing of malsim and is there in a few milliseconds. Its input has a line a sandbox:
`+` with the process group and the folder when one begins, `-` when it has been cleared. At the end of its input it clears
what is left.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

MARK = "MALSIM_SANDBOX"  # in the environment of whatever runs in a sandbox; its value is the folder


def clear(group: int, folder: str) -> None:
    """End the process group, what has left it since, and the folder with all that is in it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    _end_marked(folder)
    for path, _, _ in os.walk(folder):  # a folder that was closed to its owner cannot be emptied
        with suppress(OSError):
            Path(path).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _end_marked(folder: str) -> None:
    """End every process that carries the mark of the folder, or of one in it, until none is left; they may start others."""
    mark = f"{MARK}={folder}/".encode()
    for _ in range(20):
        ended = 0
        for place in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if any((each + b"/").startswith(mark) for each in place.read_bytes().split(b"\0")):
                    os.kill(int(place.parent.name), signal.SIGKILL)
                    ended += 1
        if not ended:
            return


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    left: dict[str, int] = {}
    for line in sys.stdin:
        sign, group, folder = line.rstrip("\n").split(" ", 2)
        if sign == "+":
            left[folder] = int(group)
        else:
            left.pop(folder, None)
    for folder, group in left.items():
        clear(group, folder)


if __name__ == "__main__":
    _main()
