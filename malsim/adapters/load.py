"""Loading of memory factories by name, and passing of arguments to a memory's calls."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from malsim.adapters.calls import text_of
from malsim.adapters.contract import UserMemory
from malsim.base.errors import AdapterError

CALLS = ("write", "tick", "read", "peek")


def load_factory(name: str) -> Callable[[], UserMemory]:
    """Load a memory's factory by name, which runs the named code. For `mcp:COMMAND`, the factory starts COMMAND.

    Modules in the current folder can be named. A reader and a judge may precede the name, as in
    `newest/miss=0.2/package.module:factory`. Raises `AdapterError` for a module or name that is missing or not callable.
    """
    module, _, attribute = name.partition(":")
    if "/" in module:
        from malsim.adapters.readers import read_by

        reader, _, rest = name.partition("/")
        if "=" in reader:
            from malsim.adapters.judges import judged_by

            return judged_by(load_factory(rest), reader, rest)
        return read_by(load_factory(rest), reader)
    if module == "mcp" and attribute.strip():
        from malsim.adapters.mcp import McpServer

        return partial(McpServer, attribute)
    if not module or not attribute:
        raise AdapterError("not the name of a memory", given=name, allowed="package.module:factory, or mcp:COMMAND")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        factory: Any = importlib.import_module(module)
        for part in attribute.split("."):
            factory = getattr(factory, part)
    except (Exception, SystemExit) as problem:
        hint = "check that the module is in this folder and can be imported"
        if isinstance(problem, ModuleNotFoundError) and problem.name == module:
            hint = f"run the command in the module's folder, or create it with `malsim new {module}.py --template memory`"
        raise AdapterError(
            f"the memory cannot be imported: {text_of(problem).removeprefix('raised ')}", where=name, hint=hint
        ) from problem
    if not callable(factory):
        raise AdapterError(
            "not a memory factory", where=name, given=type(factory).__name__, hint="name a class or a function"
        )
    return factory  # type: ignore[no-any-return]  # `make_memory` checks the result


def make_memory(factory: Callable[[], UserMemory], name: str) -> UserMemory:
    """Return a new memory. Raises `AdapterError` if the factory fails or one of the four required calls is missing."""
    try:
        memory = factory()
    except (Exception, SystemExit) as problem:
        raise AdapterError(f"the factory failed: {text_of(problem).removeprefix('raised ')}", where=name) from problem
    missing = [call for call in CALLS if not callable(getattr(memory, call, None))]
    if missing:
        raise AdapterError("a required method is missing", where=name, hint=f"define {', '.join(missing)}")
    return memory


def arguments_of(call: Callable[..., Any], arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Split a call's arguments into positional and keyword arguments; all are positional if the signature allows.

    >>> def forget(thing, value, now, by, scope=""): ...
    >>> arguments_of(forget, {"object": "x", "value": None, "now": 1.0, "by": "ann", "scope": ""})
    (('x', None, 1.0, 'ann', ''), {})
    """
    try:
        inspect.signature(call).bind(*arguments.values())
    except TypeError:
        return (), arguments
    except ValueError:  # raised for some builtins, which have no signature
        pass
    return tuple(arguments.values()), {}
