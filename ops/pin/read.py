"""Reader for op modules, which checks the declarations of each op against the arguments of its function."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ops.pin.declare import In, Out, Param, Size, Tick
from ops.pin.errors import OpError
from ops.pin.sheet import Sheet, size_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from ops.pin.declare import Array

__all__ = ["read"]


def read(name: str, module: ModuleType) -> Sheet:
    """Return the data sheet of an op, given its module.

    Raises
    ------
    OpError
        If the module has no function or no docstring, or the arguments of the function do not match the declarations.
    """
    names = vars(module)
    function = names.get("function")
    if not callable(function) or not (module.__doc__ or "").strip():
        raise OpError("an op must be a module with a docstring and a function", where=name)
    ins: dict[str, In] = _of_kind(names, In)
    outs: dict[str, Out] = _of_kind(names, Out)
    params: dict[str, Param] = _of_kind(names, Param)
    tick: Tick | None = _of_kind(names, Tick).get("tick")
    sizes = _of_kind(names, Size) | {
        size_name(pin): Size(2, "number of pins", high=pin.many)
        for pin in (*ins.values(), *outs.values())
        if isinstance(pin.many, int) and pin.many
    }
    settings = {*params, "tick"} if tick else set(params)
    state, size_arguments = _arguments(name, function, (set(ins), set(outs), settings, set(sizes)))
    counts = {key: size.start for key, size in sizes.items()}
    text = inspect.cleandoc(module.__doc__ or "")
    return Sheet(name, text, function, ins, outs, params, sizes, tick, state, size_arguments, counts)


def _of_kind(names: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {key: value for key, value in names.items() if isinstance(value, kind)}


def _arguments(
    name: str, function: Callable[..., dict[str, Array]], declared: tuple[set[str], set[str], set[str], set[str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the outputs and sizes that are arguments of the function."""
    ins, outs, settings, sizes = declared
    arguments = inspect.signature(function).parameters.values()
    positional = [argument.name for argument in arguments if argument.kind is argument.POSITIONAL_OR_KEYWORD]
    keyword = {argument.name for argument in arguments if argument.kind is argument.KEYWORD_ONLY}
    plain = len(positional) + len(keyword) == len(arguments)
    if not plain or not settings <= keyword <= settings | sizes or not ins <= set(positional) <= ins | outs:
        allowed = f"({', '.join(sorted(ins))}, state outs, *, {', '.join(sorted(settings))})"
        raise OpError("the arguments of the function do not match the declarations", where=name, allowed=allowed)
    return tuple(argument for argument in positional if argument in outs), tuple(sorted(keyword - settings))
