"""User-defined formula for effective confidence: function, bounded parameters, source, and consent to run it."""

from __future__ import annotations

import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from malsim.base.errors import RulesError
from malsim.base.files.text_files import read_text

INPUTS = ("stated", "calibration", "support", "challenge")
Function = Callable[..., Any]


@dataclass(frozen=True)
class UserFormula:
    """User-defined formula: effective = function(stated, calibration, support, challenge, **values).

    Each argument is an array with one number per cell; the result is an array of numbers in [0, 1]. The keyword-only
    arguments of the function are its parameters: `values` holds the parameter values, `bounds` the lowest and highest value
    for tuning. `source` is Python code that may use `np`. A formula from a rules file runs only if it is `allowed`.
    """

    name: str
    source: str
    values: tuple[tuple[str, float], ...] = ()
    bounds: tuple[tuple[str, float, float], ...] = ()
    allowed: bool = True
    function: Function | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, function: Function, bounds: Mapping[str, tuple[float, float]] | None = None) -> UserFormula:
        """Build a formula from a Python function. Raises `RulesError` for wrong arguments or unknown parameters.

        >>> def half(stated, calibration, support, challenge, *, share=0.5):
        ...     return share * stated
        >>> UserFormula.of(half, {"share": (0.0, 1.0)}).values
        (('share', 0.5),)
        """
        arguments = list(inspect.signature(function).parameters.values())
        inputs = [argument.name for argument in arguments if argument.kind is not argument.KEYWORD_ONLY]
        params = {argument.name: argument.default for argument in arguments if argument.kind is argument.KEYWORD_ONLY}
        where, name = "formula", getattr(function, "__name__", "formula")
        if len(inputs) != len(INPUTS):
            raise RulesError(
                "a formula must take exactly four arrays", where=where, given=", ".join(inputs), allowed=", ".join(INPUTS)
            )
        for key, value in params.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise RulesError("a parameter must have a number as its default", where=f"{where}: {key}", given=value)
        unknown = [key for key in bounds or {} if key not in params]
        if unknown:
            raise RulesError("no such parameter", where=where, given=unknown[0], allowed=", ".join(params) or "none")
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            source = ""
        ends = tuple((key, float(low), float(high)) for key, (low, high) in (bounds or {}).items())
        return cls(name, source, tuple((key, float(value)) for key, value in params.items()), ends, function=function)

    @classmethod
    def load(cls, text: str) -> UserFormula:
        """Run FILE.py, given as `FILE.py:NAME`, and return its function NAME as a formula.

        `BOUNDS = {"share": (0, 1)}` in that file sets bounds.
        """
        path, _, name = text.rpartition(":")
        if not Path(path).is_file():
            raise RulesError("no such file", where="formula", given=path, allowed="FILE.py:NAME")
        import runpy

        names = runpy.run_path(path)
        if not callable(names.get(name)):
            allowed = ", ".join(key for key, value in names.items() if inspect.isfunction(value))
            raise RulesError("no such function", where=path, given=name, allowed=allowed)
        params = inspect.signature(names[name]).parameters
        bounds = {key: ends for key, ends in names.get("BOUNDS", {}).items() if key in params}
        formula = cls.of(names[name], bounds)
        return formula if formula.source else replace(formula, source=_source_in(Path(path), name))

    @classmethod
    def of_table(cls, table: Mapping[str, Any], *, allowed: bool = False) -> UserFormula:
        """Build a formula from the table `[rules.formula]` of a rules file. The formula can be run only if `allowed`."""
        try:
            values = tuple((str(key), float(value)) for key, value in table.get("values", {}).items())
            bounds = tuple((str(key), float(low), float(high)) for key, (low, high) in table.get("bounds", {}).items())
            name, source, sha = str(table["name"]), str(table["source"]), str(table["sha256"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            allowed_keys = "name, source, sha256, values, bounds"
            raise RulesError("not a valid formula", where="rules.formula", given=str(error), allowed=allowed_keys) from error
        if hashlib.sha256(source.encode()).hexdigest() != sha:
            hint, where = "export it again, or write the new hash after you have read the source", "rules.formula.sha256"
            raise RulesError("the formula's source has changed since the export", where=where, given=sha, hint=hint)
        return cls(name, source, values, bounds, allowed=allowed)

    def replace_values(self, **values: float) -> UserFormula:
        return replace(self, values=tuple((key, float(values.get(key, value))) for key, value in self.values))

    def __call__(self, stated: Any, calibration: Any, support: Any, challenge: Any) -> Any:
        """Return the effective confidence of each cell.

        Raises `RulesError` if the formula comes from a file and was not allowed to run.
        """
        if not self.allowed:
            hint = "read its source, then use --allow-code or Rules.read(path, allow_code=True)"
            raise RulesError("this rules file would run Python code", where="rules.formula",
                             given=self.name, hint=hint)  # fmt: skip
        function = self.function
        if function is None:
            names: dict[str, Any] = {"np": np}
            exec(compile(self.source, f"<formula {self.name}>", "exec"), names)  # noqa: S102  # the user allowed it
            function = names[self.name]
            object.__setattr__(self, "function", function)
        return function(stated, calibration, support, challenge, **dict(self.values))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling. The function is left out because another process compiles the source itself."""
        return self.__dict__ | {"function": None if self.source else self.function}

    @property
    def __name__(self) -> str:
        values = ", ".join(f"{key} {value:g}" for key, value in self.values)
        return f"{self.name}({values})" if values else self.name

    def toml(self) -> str:
        """Return the formula as the TOML tables of a rules file.

        Raises `RulesError` if the source code is not available or uses names that it does not define.
        """
        if not self.source:
            raise RulesError(
                "the formula's source code is not available",
                where="formula",
                given=self.name,
                hint="write the function in a file or notebook cell",
            )
        array = np.full(1, 0.5)
        try:
            replace(self, function=None, allowed=True)(array, array, array, array)
        except NameError as error:
            hint = "use only np and names that the source defines"
            raise RulesError(str(error), where=f"formula {self.name}", hint=hint) from error
        sha = hashlib.sha256(self.source.encode()).hexdigest()
        lines = ["[rules.formula]", f"name = {json.dumps(self.name)}", f"sha256 = {json.dumps(sha)}"]
        lines += [f"source = {json.dumps(self.source)}"]
        lines += ["[rules.formula.values]", *(f"{key} = {value!r}" for key, value in self.values)] if self.values else []
        ends = [f"{key} = [{low!r}, {high!r}]" for key, low, high in self.bounds]
        return "\n".join([*lines, *(["[rules.formula.bounds]", *ends] if ends else [])]) + "\n"


def _source_in(path: Path, name: str) -> str:
    import ast

    text = read_text(path)
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return ast.get_source_segment(text, nodes[0]) or "" if nodes else ""
