"""Old names of modules, classes and attributes: they work for a release, with a warning that names the new one."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

__all__ = ["moved", "renamed"]


class _Finder(MetaPathFinder, Loader):
    """Finds a moved module by its old name and fills it with what the new one holds."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = dict(modules)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module that has moved; none for any other."""
        del path, target
        return ModuleSpec(name, self) if name in self.modules else None

    def exec_module(self, module: ModuleType) -> None:
        """Warn, and give the old module every public name of the new one."""
        new = self.modules[module.__name__]
        warnings.warn(f"{module.__name__} has moved to {new}", DeprecationWarning, stacklevel=2)
        names = vars(import_module(new))
        module.__dict__.update({name: value for name, value in names.items() if not name.startswith("__")})


def moved(modules: Mapping[str, str]) -> None:
    """Let these old module names import as the new ones for a release.

    >>> moved({"malsim.old_errors": "malsim.errors"})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     from malsim.old_errors import MalsimError
    >>> MalsimError.__module__
    'malsim.errors'
    """
    sys.meta_path.append(_Finder(modules))


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__` that finds what it holds under older names too, for a release.

    >>> find = renamed("malsim.errors", {"MalError": "MalsimError"})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     find("MalError").__name__
    'MalsimError'
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is {names[name]} now", DeprecationWarning, stacklevel=2)
        return getattr(import_module(module), names[name])

    return find
