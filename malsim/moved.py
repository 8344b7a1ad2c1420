"""Old names of modules, classes and attributes: they work for a release, with a warning that names the new one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar

__all__ = ["moved", "old_names", "renamed"]

T = TypeVar("T")


class _Finder(MetaPathFinder, Loader):
    """Finds a moved module by its old name: the very module that has the new one."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = dict(modules)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module that has moved; none for any other."""
        del path, target
        return ModuleSpec(name, self) if name in self.modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Warn, and give the module under its new name."""
        new = self.modules[spec.name]
        warnings.warn(f"{spec.name} is {new} now", DeprecationWarning, stacklevel=2)
        module = import_module(new)
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It has run under its own name, which it keeps."""
        module.__spec__ = self._own


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


def old_names(**names: str) -> Callable[[type[T]], type[T]]:
    """A class whose attributes are found under older names too, for a release: `@old_names(old="new")`.

    >>> @old_names(lenght="length")
    ... class Rope:
    ...     length = 3.0
    >>> with warnings.catch_warnings(action="ignore"):
    ...     Rope().lenght
    3.0
    """

    def decorate(cls: type[T]) -> type[T]:
        for old, new in names.items():
            setattr(cls, old, property(partial(_warned, f"{cls.__name__}.{old} is {new} now", new)))
        return cls

    return decorate


def _warned(message: str, new: str, holder: object) -> Any:
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return getattr(holder, new)
