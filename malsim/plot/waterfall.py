"""The old place of `malsim.plot.runs.waterfall`, kept for one release."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    """What the new module holds, with a warning that names it."""
    import warnings

    from malsim.plot.runs import waterfall as moved

    if name not in moved.__all__:
        raise AttributeError(name)
    warnings.warn("malsim.plot.waterfall is now malsim.plot.runs.waterfall", DeprecationWarning, stacklevel=2)
    return getattr(moved, name)
