"""Simulated judge that stands in for a product's language model and rules on pairs of facts with given error rates.

`RATES/NAME` names a memory with a judge: `miss=0.2,invention=0.05/malsim.adapters.mem0:pipeline`. The factory accepts a
`judge`. Every error is drawn from a hash of seed, sentences and days, so that repeated runs have the same errors.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from malsim.base.errors import AdapterError

SAME, CONTRADICTS, NEW = "same", "contradicts", "new"
INVENTED = "something else"
WORDINGS = ("plain", "varied")
RATES = ("miss", "false_alarm", "invention")


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Simulated judge that stands in for a language model, with given error rates (0 for no errors).

    `miss` is the share of equal or contradicting facts mistaken for new facts, `false_alarm` the share of unrelated
    pairs of facts mistaken for contradictions, and `invention` the share of claims read as a value that no writer
    claimed. With `wording="plain"`, all claims of a value have the same wording; with "varied", wordings differ. `seed`
    is the seed of the draws. Raises `AdapterError` for a rate outside 0 to 1 and for an unknown wording.
    """

    miss: float = 0.0
    false_alarm: float = 0.0
    invention: float = 0.0
    wording: str = WORDINGS[0]
    seed: int = 0

    def __post_init__(self) -> None:
        for name in RATES:
            rate = getattr(self, name)
            if not 0.0 <= rate <= 1.0:
                hint = "give the share of verdicts that are wrong"
                raise AdapterError("out of bounds", where=f"judge: {name}", given=rate, allowed="0 to 1", hint=hint)
        if self.wording not in WORDINGS:
            raise AdapterError("no such wording", where="judge: wording", given=self.wording, allowed=", ".join(WORDINGS))

    @classmethod
    def read(cls, text: str) -> Judge:
        """Parse judge settings such as `miss=0.2,wording=varied`.

        Raises `AdapterError` for an unknown name or invalid number.

        >>> Judge.read("miss=0.2,seed=3")
        Judge(miss=0.2, false_alarm=0.0, invention=0.0, wording='plain', seed=3)
        """
        kinds: dict[str, Any] = {field.name: type(field.default) for field in fields(cls)}
        settings: dict[str, Any] = {}
        for part in text.split(","):
            name, _, value = (word.strip() for word in part.partition("="))
            if name not in kinds:
                raise AdapterError("no such setting", where="judge", given=name, allowed=", ".join(kinds))
            try:
                settings[name] = kinds[name](value)
            except ValueError as problem:
                allowed = "0 to 1" if name in RATES else "a whole number"
                raise AdapterError("not a number", where=f"judge: {name}", given=value, allowed=allowed) from problem
        return cls(**settings)

    def verdict(self, truly: str, *about: object) -> str:
        if truly == NEW:
            return CONTRADICTS if self._errs("false_alarm", *about) else NEW
        return NEW if self._errs("miss", *about) else truly

    def hears(self, value: str, *about: object) -> str:
        return INVENTED if self._errs("invention", value, *about) else value

    def words(self, text: str, *about: object) -> str:
        return text if self.wording == WORDINGS[0] else f"{text} ({self._address('wording', *about).hex()[:6]})"

    def _errs(self, rate: str, *about: object) -> bool:
        share: float = getattr(self, rate)
        return int.from_bytes(self._address(rate, *about), "big") < share * 2.0**64

    def _address(self, *about: object) -> bytes:
        text = "\x1f".join(map(str, (self.seed, *about)))
        return hashlib.blake2b(text.encode(), digest_size=8).digest()


def judged_by(factory: Callable[..., Any], text: str, name: str) -> Callable[[], Any]:
    """Return a factory of memories that use this judge. Raises `AdapterError` if the factory does not accept a judge."""
    judge = Judge.read(text)
    try:
        takes_judge = "judge" in inspect.signature(factory).parameters
    except (TypeError, ValueError):
        takes_judge = False
    if not takes_judge:
        hint = "add a parameter `judge` to its factory"
        raise AdapterError("this memory does not use a judge", where=name, given=text, hint=hint)
    return partial(factory, judge=judge)
