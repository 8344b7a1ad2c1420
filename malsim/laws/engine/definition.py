"""A law as its file declares it."""

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

FUNCTIONS = {
    "write": 2,
    "tick": 2,
    "read": 2,
    "rank": 2,
    "belief": 2,
    "explain": 3,
}  # name, and how many arguments are no parameters
SCOPES = ("object", "replication")


@dataclass(frozen=True)
class Law:
    """A registered law: its name, its module, and what the module declares; `calls` makes those of another's code."""

    name: str
    module: ModuleType
    calls: Calls | None = field(default=None, compare=False, repr=False)

    @property
    def shipped(self) -> bool:
        return self.module.__name__.startswith("malsim.laws.")

    @property
    def path(self) -> str:
        return self.module.__file__ or self.name

    @cached_property
    def _parts(self) -> list[str]:
        return [
            part
            for part in re.split(r"\n\s*\n|\n(?=Source:|Left out:|Proven:|>>>)", inspect.cleandoc(self.module.__doc__ or ""))
            if part.strip()
        ]

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
        """Return the result of the comparison with the pinned source: "equal …", or where it differs."""
        return self._paragraph("Proven:")

    @property
    def equal(self) -> bool:
        """Return whether the law models another project and equals its source in the comparison."""
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
        """Return the functions of the law's file that `FUNCTIONS` lists, by name."""
        return {name: vars(self.module)[name] for name in FUNCTIONS if name in vars(self.module)}

    @property
    def belief(self) -> bool:
        return "belief" in self.functions or bool(getattr(self.module, "believes", False))

    @property
    def scope(self) -> str:
        """Return which items a claim or a use reads: those of its object, or all of its replication."""
        return str(getattr(self.module, "scope", "object"))

    @property
    def uses(self) -> int:
        return int(getattr(self.module, "uses", 5))

    @property
    def ordered(self) -> bool:
        return bool(getattr(self.module, "ordered", False))

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(getattr(self.module, "aliases", ()))

    @property
    def pools(self) -> bool:
        """Return whether evidence about one object affects another, because the law keeps records of writers."""
        return bool(getattr(self.module, "pools", self.factory is not None))

    @property
    def factory(self) -> Callable[..., Plant[Any]] | None:
        """Return the function that makes the memory from the parameters, if it is not a plant of items."""
        return getattr(self.module, "plant", None)

    def asks(self, function: str) -> list[str]:
        return list(inspect.signature(self.functions[function]).parameters)[FUNCTIONS[function] :]


def load_law(name: str, module: ModuleType) -> Law:
    """Return a module as a law; raise `LawError` with file and line if it does not declare one."""
    law = Law(name, module)
    if not law.sentence or not law.equation:
        raise LawError(
            "a law without an equation", where=f"{law.path}:1",
            hint="the docstring says a sentence, then the equation, indented by four",
        )  # fmt: skip
    if law.factory:
        return law
    if not law.functions:
        raise LawError("a law without a function", where=f"{law.path}:1", allowed=", ".join(FUNCTIONS))
    if law.scope not in SCOPES:
        raise LawError(
            "unknown scope", where=f"{law.path}:{_line(law, 'scope')}", given=law.scope, allowed=", ".join(SCOPES)
        )
    for column, state in law.state.items():
        if column in (*COMMON, "alive", "number") or (
            isinstance(state.start, str) and state.start not in ("time", "stated")
        ):
            raise LawError(
                "not a column of state", where=f"{law.path}:{_line(law, column)}", given=column,
                allowed="a name of its own, that starts from a number, time or stated",
            )  # fmt: skip
    for function, code in law.functions.items():
        for param in law.asks(function):
            if param not in law.params:
                line = inspect.getsourcelines(code)[1]
                raise LawError(
                    "a function asks for a parameter that is not declared", where=f"{law.path}:{line}", given=param,
                    allowed=", ".join(law.params) or "none",
                    hint=f"write {param} = Param(default, unit, meaning, low, high)",
                )  # fmt: skip
    return law


def _line(law: Law, name: str) -> int:
    lines = inspect.getsource(law.module).splitlines()
    return next((number for number, line in enumerate(lines, 1) if re.match(rf"{name}\s*[:=]", line)), 1)
