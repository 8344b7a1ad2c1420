"""Error type of the palette, with the same five parts as malsim's errors but independent of malsim."""

from __future__ import annotations

__all__ = ["OpError"]


class OpError(ValueError):
    """Error for an op, pin or setting that does not exist or is not valid.

    Parameters
    ----------
    problem
        Description of the fault in one sentence.
    where
        Op, or op and pin.
    given, allowed, hint
        Value found, values allowed, and advice.

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
