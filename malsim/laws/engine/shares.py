"""Scopes of a graph in a run: an object is of one scope, and shown within it, or within one that it is shared with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Bools, Ints


class SharesObjects:
    """A plant that keeps scopes; its state has a `vocabulary`, and in `shared` pairs of an object and a scope."""

    def share(self, state: Any, object_: Ints, scope: str, now: float, *, shared: bool) -> tuple[Any, bool]:  # noqa: ARG002
        pairs = {(index, scope) for index in object_.tolist()}
        return replace(state, shared=state.shared | pairs if shared else state.shared - pairs), True

    def shows(self, state: Any, object_: Ints, scope: str, now: float) -> Bools:
        """Mark the objects with a living item that may be read within a scope; shape (objects, replications)."""
        view, scopes = self.view(state, now), state.vocabulary.scopes  # type: ignore[attr-defined]  # a plant's
        rows = np.flatnonzero(view.active & (view.object >= 0))
        stands = np.zeros((len(state.vocabulary.objects), state.replications), dtype=bool)
        stands[view.object[rows], view.rep[rows]] = True
        may_read = [
            not scopes or scopes[about] in ("", scope) or (about, scope) in state.shared for about in object_.tolist()
        ]
        readable: Bools = stands[object_] & np.array(may_read, dtype=bool)[:, None]
        return readable
