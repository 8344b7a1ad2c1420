"""User-written process: a generator function that is named in a scenario or passed from Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.adapters.foreign_code import LOADING, before_loading, noted
from malsim.adapters.load import load_factory
from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class UserProcess:
    """User-written process. `run` is `module:function`; `name` is the writer of its claims (default: the function's name).

    Code named in a scenario file runs only if `allowed` is set, which requires the user's consent.
    """

    run: str
    name: str = ""
    function: Callable[..., Any] | None = None
    allowed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.run.rpartition(":")[2])

    @classmethod
    def of(cls, given: object) -> UserProcess:
        """Create a process from a function or from a name `module:function`. Raise `UsageError` for anything else.

        >>> UserProcess.of("desks:night_shift").name
        'night_shift'
        """
        if isinstance(given, UserProcess):
            return given
        if isinstance(given, str) and ":" in given:
            return cls(run=given, allowed=True)
        if not callable(given):
            hint = "write def my_writer(env, desk): … yield env.timeout(1)"
            allowed = "a generator function, or its name as module:function"
            raise UsageError("not a process", where="processes", given=given, allowed=allowed, hint=hint)
        name = getattr(given, "__name__", type(given).__name__)
        return cls(run=f"{getattr(given, '__module__', '')}:{name}", function=given, allowed=True)

    def load(self) -> Callable[..., Any]:
        """Return the function. Raise `UsageError` if the code may not be run, or `AdapterError` if it does not exist."""
        if not self.allowed:
            problem, where = "this scenario would run Python code", f"process {self.name}"
            hint = "read that code, then add --allow-code (malsim run, test, compare), or run it from Python"
            raise UsageError(problem, where=where, given=self.run, hint=hint)
        if self.function:
            return self.function
        before_loading(self.run)
        with noted(f"process {self.run}", LOADING):
            return load_factory(self.run)
