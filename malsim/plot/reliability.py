"""The old place of `malsim.plot.runs.reliability`, kept for one release."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    """What the new module holds, with a warning that names it."""
    import warnings

    from malsim.plot.runs import reliability as moved

    if name not in moved.__all__:
        raise AttributeError(name)
    warnings.warn("malsim.plot.reliability is now malsim.plot.runs.reliability", DeprecationWarning, stacklevel=2)
    return getattr(moved, name)
