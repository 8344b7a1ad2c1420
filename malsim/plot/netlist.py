"""The old place of `malsim.plot.wiring.netlist`, kept for one release."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    """What the new module holds, with a warning that names it."""
    import warnings

    from malsim.plot.wiring import netlist as moved

    if name not in moved.__all__:
        raise AttributeError(name)
    warnings.warn("malsim.plot.netlist is now malsim.plot.wiring.netlist", DeprecationWarning, stacklevel=2)
    return getattr(moved, name)
