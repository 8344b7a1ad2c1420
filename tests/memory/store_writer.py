"""Process that reads lines "NAME WAIT DEEDS PATH" and for each line forks a process that makes DEEDS writes to a store.

It forks after the imports and before any thread runs, so a writer starts quickly. It prints "NAME is PID" at the start of a
writer, "NAME N" when its Nth write has returned, "NAME busy" for each refused write, and "NAME ended" at its end.
"""

from __future__ import annotations

import os
import sys
import threading

from malsim.base.errors import StoreError
from malsim.memory.store import Store


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def write(name: str, wait: float, deeds: int, path: str) -> None:
    with Store(path, wait=wait) as store:
        for deed in range(deeds):
            day = (store.day or 0.0) + 1.0
            title = f"{name} ({os.getpid()}) says {deed}"
            claim = {"writer": name, "kind": "obs", "title": title, "body": "x" * 300, "confidence": 0.6, "t": day}
            try:
                _ = store.tick(day) if deed % 2 else store.admit([claim])
            except StoreError as error:
                say(f"{name} {'busy' if 'busy' in str(error) else error}")
            else:
                say(f"{name} {deed}")


def buried(name: str, child: int) -> None:
    os.waitpid(child, 0)
    say(f"{name} ended")


def main() -> None:
    for line in sys.stdin:
        name, wait, deeds, path = line.rstrip("\n").split(" ", 3)
        child = os.fork()
        if not child:
            try:
                write(name, float(wait), int(deeds), path)
            except StoreError as error:
                say(f"{name} {'busy' if 'busy' in str(error) else error}")
            finally:
                os._exit(0)
        say(f"{name} is {child}")
        threading.Thread(target=buried, args=(name, child)).start()


if __name__ == "__main__":
    main()
