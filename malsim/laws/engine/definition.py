"""Law declarations, which are read from law modules and checked."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from malsim.base.errors import LawError
from malsim.base.parameters import Param
from malsim.laws.engine.items import COMMON, ItemField

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from malsim.adapters.calls import Calls
    from malsim.memory.port import Plant

# For each function, the number of arguments that are not law parameters.
FUNCTIONS = {"write": 2, "tick": 2, "read": 2, "rank": 2, "belief": 2, "explain": 3}
SCOPES = ("object", "replication")
OPTIONS = ("scope", "uses", "ordered", "aliases", "believes", "pools")


@dataclass(frozen=True)
class Law:
    """Registered law: its name, its module, and the options that the module sets.

    A claim or a use reads the items in its `scope`: the object or the whole replication. A read uses the best `uses`
    items. In an `ordered` law, the order of claims within one instant matters. In a law that `pools`, evidence about
    one object affects other objects through writer records. `calls` makes the calls to a law from another package.
    """

    name: str
    module: ModuleType
    calls: Calls | None = field(default=None, compare=False, repr=False)
    scope: str = "object"
    uses: int = 5
    ordered: bool = False
    aliases: tuple[str, ...] = ()
    believes: bool = False
    pools: bool = False

    @property
    def path(self) -> str:
        return self.module.__file__ or self.name

    @cached_property
    def _parts(self) -> list[str]:
        text = inspect.cleandoc(self.module.__doc__ or "")
        return [part for part in re.split(r"\n\s*\n|\n(?=Source:|Left out:|Proven:|>>>)", text) if part.strip()]

    @property
    def sentence(self) -> str:
        return " ".join(self._parts[0].split()) if self._parts else ""

    @property
    def equation(self) -> str:
        equations = [part for part in self._parts[1:] if part.startswith("    ")]
        return "\n".join(inspect.cleandoc("\n" + part) for part in equations)

    @property
    def source(self) -> str:
        return self._paragraph("Source:")

    @property
    def left_out(self) -> str:
        return self._paragraph("Left out:")

    @property
    def proven(self) -> str:
        """Result of comparing the law with its pinned source: "equal …" or a description of the differences."""
        return self._paragraph("Proven:")

    @property
    def equal(self) -> bool:
        """True if the law models another project and gave the same results as that project's code in the comparison."""
        return self.proven.startswith("equal")

    def _paragraph(self, head: str) -> str:
        paragraph = next((part for part in self._parts[1:] if part.startswith(head)), "")
        return " ".join(paragraph.removeprefix(head).split())

    @property
    def notes(self) -> str:
        heads = ("    ", "Source:", "Left out:", "Proven:", ">>>")
        return "\n".join(" ".join(part.split()) for part in self._parts[1:] if not part.startswith(heads))

    @cached_property
    def params(self) -> dict[str, Param]:
        return {name: value for name, value in vars(self.module).items() if isinstance(value, Param)}

    @cached_property
    def state(self) -> dict[str, ItemField]:
        return {name: value for name, value in vars(self.module).items() if isinstance(value, ItemField)}

    @cached_property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """Functions listed in `FUNCTIONS` that the law's module defines, keyed by name."""
        return {name: vars(self.module)[name] for name in FUNCTIONS if name in vars(self.module)}

    @property
    def belief(self) -> bool:
        return self.believes or "belief" in self.functions

    @property
    def factory(self) -> Callable[..., Plant[Any]] | None:
        """Function that creates the memory from the law's parameters; None for an item-based law."""
        return getattr(self.module, "plant", None)

    def asks(self, function: str) -> list[str]:
        return list(inspect.signature(self.functions[function]).parameters)[FUNCTIONS[function] :]


def load_law(name: str, module: ModuleType) -> Law:
    """Read a law from its module. Raise `LawError` with file and line if the declaration is invalid."""
    options = {option: getattr(module, option) for option in OPTIONS if hasattr(module, option)}
    law = Law(name, module, **{"pools": hasattr(module, "plant")} | options)
    if not law.sentence or not law.equation:
        hint = "start the docstring with a sentence, then add the equation, indented by four spaces"
        raise LawError("the law has no equation", where=f"{law.path}:1", hint=hint)
    if law.factory:
        return law
    if not law.functions:
        raise LawError("the law defines no function", where=f"{law.path}:1", allowed=", ".join(FUNCTIONS))
    if law.scope not in SCOPES:
        where = f"{law.path}:{_line(law, 'scope')}"
        raise LawError("no such scope", where=where, given=law.scope, allowed=", ".join(SCOPES))
    for column, state in law.state.items():
        starts = not isinstance(state.start, str) or state.start in ("time", "stated")
        if column in (*COMMON, "alive", "number") or not starts:
            allowed = "an unused name, and a start value that is a number, 'time' or 'stated'"
            raise LawError(
                "not a valid state column", where=f"{law.path}:{_line(law, column)}", given=column, allowed=allowed
            )
    for function, code in law.functions.items():
        for param in law.asks(function):
            if param not in law.params:
                raise LawError(
                    "the function has an undeclared parameter",
                    where=f"{law.path}:{inspect.getsourcelines(code)[1]}", given=param,
                    allowed=", ".join(law.params) or "none",
                    hint=f"write {param} = Param(default, unit, meaning, low, high)",
                )  # fmt: skip
    return law


def _line(law: Law, name: str) -> int:
    lines = inspect.getsource(law.module).splitlines()
    return next((number for number, line in enumerate(lines, 1) if re.match(rf"{name}\s*[:=]", line)), 1)
