"""Error type of the palette; the palette does not import the simulator, so it carries the same five facts itself."""

from __future__ import annotations

__all__ = ["OpError"]


class OpError(ValueError):
    """An op, a pin or a setting that does not exist or does not fit.

    Parameters
    ----------
    problem
        One sentence saying what is wrong.
    where
        The op, and its pin where it is one pin's fault.
    given, allowed, hint
        What was found, what is allowed there, what to try.

    >>> print(OpError("below its bound", where="smooth.gain", given=-1, allowed="0.0 to 1.0"))
    smooth.gain: below its bound; given: -1; allowed: 0.0 to 1.0
    """

    def __init__(
        self,
        problem: str,
        *,
        where: str | None = None,
        given: object = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem, self.where, self.given, self.allowed, self.hint = problem, where, given, allowed, hint
        parts = [
            f"{where}: {problem}" if where else problem,
            "" if given is None else f"given: {given!r:.120}",
            f"allowed: {allowed}" if allowed else "",
            hint or "",
        ]
        super().__init__("; ".join(part for part in parts if part))
