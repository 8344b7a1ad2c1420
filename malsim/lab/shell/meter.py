"""The sessions that a meter reads, one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.shell.files import SessionFile
    from malsim.lab.shell.session import Session


def sessions(target: SessionFile) -> Iterator[Session]:
    """A session for each reading: a store as it stands by then, of anything else one tick further each time."""
    session, home = target.session, target.home
    if home is None or home.suffix == ".malnet":
        while True:
            yield session
            session = session.stepped()
    with Store(home, write=False) as store:
        while True:
            memory = store.within(store.memory)
            if memory is not session.memory:
                session = replace(session, memory=memory, day=store.day or 0.0)
            yield session
