"""Ready-made questions about a tripwire: each a property, or two nets side by side, and the expected answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError
from malsim.netlist.language.address import Pin
from malsim.scenario.proof.prove import prove
from malsim.scenario.proof.same_outputs import beside, same, stuck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.netlist.wiring import Net, Signal
    from malsim.scenario.proof.proof import Proof
    from malsim.scenario.proof.ticks.cut import Cut

LONGEST_DELAY = 12


@dataclass(frozen=True)
class SafetyAnswer:
    """A question, its answer, and whether the answer is the one of a sound tripwire.

    Of some questions a refutation is the good answer: that a part can make no difference ought to be refuted.
    """

    question: str
    proof: Proof
    sound: bool

    @property
    def verdict(self) -> str:
        """The answer in a few words; where the refutation of its contrary is the good answer, a run shows it."""
        words = self.proof.verdict
        return words.replace("refuted", "shown by a run") if self.sound else f"FLAW, {words}"

    def __str__(self) -> str:
        detail = str(self.proof) if not self.sound else f"{self.proof.verdict}: {self.proof.text}"
        return f"{'sound' if self.sound else 'FLAW'}: {self.question}\n  " + detail.replace("\n", "\n  ")


def safety(net: Net, *, assume: Sequence[str] = (), ticks: int = 40, timeout: float = 60.0) -> tuple[SafetyAnswer, ...]:
    """Ask all of them.

    Parameters
    ----------
    timeout
        Seconds for all together.

    Raises
    ------
    UsageError
        Where no op of the net is an alarm.
    """
    alarms = [signal for signal in net.alarms if _op(net, signal) == "latch"]
    if not alarms:
        hint = "ask a property of your own: --prove 'always (…)'"
        raise UsageError("no latch of this net is wired to a signal, so it has no alarm", hint=hint)
    asking = _Asking(net, assume, ticks, time.monotonic() + timeout)
    answers = [each for alarm in alarms for each in asking.of_alarm(alarm)]
    return (*answers, *asking.of_parts(), *asking.of_order())


class _Asking:
    def __init__(self, net: Net, assume: Sequence[str], ticks: int, deadline: float) -> None:
        self.net, self.assume, self.ticks, self.deadline = net, assume, ticks, deadline

    def _prove(self, text: str, net: Net | Cut | None = None) -> Proof:
        left = max(0.001, self.deadline - time.monotonic())
        return prove(net or self.net, text, assume=self.assume, ticks=self.ticks, timeout=left)

    def _keeps(self, question: str, text: str, net: Any = None) -> SafetyAnswer:
        proof = self._prove(text, net)
        return SafetyAnswer(question, proof, proof.result.startswith("proved"))

    def _can(self, question: str, never: str, net: Any = None) -> SafetyAnswer:
        """Something that should be possible: that it never happens is refuted."""
        proof = self._prove(never, net)
        return SafetyAnswer(question, proof, proof.result == "refuted")

    def of_alarm(self, alarm: Signal) -> Iterator[SafetyAnswer]:
        """Ask what a latch should do."""
        name, on = alarm.name, self._pins(alarm)
        cause, acknowledged = on.get("set"), on.get("reset")
        free = f" and not {acknowledged}" if acknowledged else ""
        yield self._can(f"{name} can come up", f"always not {name}")
        yield self._can(f"{name} can be cleared", f"always (prev({name}) == 1 implies {name})")
        yield self._keeps(f"{name}, once up, stays until acknowledged", f"always (prev({name}) == 1{free} implies {name})")
        if acknowledged:
            clear = f" and not {cause}" if cause else ""
            question, hand = f"no acknowledgement of {name} is lost", self._root(acknowledged)
            yield self._keeps(question, f"always ({hand}{clear} implies not {name})")
        if cause:
            yield self._keeps(f"{name} is up only after {cause}", f"always ({name} implies once {cause})")
            yield self._delayed(name, self._root(cause), free)

    def _delayed(self, name: str, cause: str, free: str) -> SafetyAnswer:
        for delay in range(LONGEST_DELAY + 1):
            text = f"always (always[0:{delay}] ({cause}{free}) implies eventually[{delay}:{delay}] {name})"
            proof = self._prove(text)
            if proof.result != "refuted":
                break
        lasts = (
            f"after {delay + 1} tick{'s' if delay else ''} of {cause}"
            if proof.result != "refuted"
            else f"while {cause} lasts"
        )
        return SafetyAnswer(f"{name} is not silent {lasts}", proof, proof.result.startswith("proved"))

    def _root(self, name: str) -> str:
        """The bit that a signal follows through ops with one wired input alone: timers, delays, debouncers."""
        while True:
            writer = self.net.signals[name].writer
            pin = writer.address if writer else None
            if not isinstance(pin, Pin) or pin.instance not in self.net.instances or pin.name in {"out-not", "fell"}:
                return name
            sheet = self.net.instances[pin.instance].sheet
            inputs = [one for full, one in self.net.pins.items() if full.startswith(f"{pin.instance}.")
                      and sheet.slots[full.partition(".")[2]].key in sheet.ins]  # fmt: skip
            if len(inputs) != 1 or self.net.signals[inputs[0]].type != "bit" or sheet.name == "not":
                return name
            (name,) = inputs

    def _pins(self, alarm: Signal) -> dict[str, str]:
        pin = alarm.writer.address if alarm.writer else None
        head = f"{pin.instance}." if isinstance(pin, Pin) else ""
        return {full.removeprefix(head): name for full, name in self.net.pins.items() if full.startswith(head)}

    def of_parts(self) -> Iterator[SafetyAnswer]:
        """Ask whether each op, and each input, affects anything that leaves the net."""
        outputs: dict[str, list[str]] = {}
        for name, signal in self.net.signals.items():
            pin = signal.writer.address if signal.writer else None
            inside = isinstance(pin, Pin) and pin.instance in self.net.instances
            if inside or name not in self.net.initial:
                outputs.setdefault(pin.instance if inside and isinstance(pin, Pin) else name, []).append(name)
        for part, signals in outputs.items():
            other = stuck(self.net, signals)
            yield self._can(f"{part} matters", same(self.net, self.net), beside(self.net, other))

    def of_order(self) -> Iterator[SafetyAnswer]:
        """Ask whether reading a signal before it is written delays an output by one tick."""
        for place, thread in enumerate(self.net.threads):
            turn = {name: number for number, name in enumerate(thread.functions)}
            for writer, reader in _late(self.net, turn):
                rest = [name for name in thread.functions if name != reader]
                at = rest.index(writer) + 1
                functions = (*rest[:at], reader, *rest[at:])
                threads = (*self.net.threads[:place], replace(thread, functions=functions), *self.net.threads[place + 1 :])
                other = replace(self.net, threads=threads)
                question = f"it is all one whether {reader} runs before or after {writer}, which it reads"
                yield self._keeps(question, same(self.net, other), beside(self.net, other))


def _late(net: Net, turn: dict[str, int]) -> Iterator[tuple[str, str]]:
    pairs = set()
    for signal in net.signals.values():
        writer = signal.writer.pin.instance if signal.writer and signal.writer.pin else ""
        readers = {link.pin.instance for link in signal.readers if link.pin}
        pairs |= {(writer, one) for one in readers if writer in turn and one in turn and turn[one] < turn[writer]}
    yield from sorted(pairs)


def _op(net: Net, signal: Signal) -> str:
    pin = signal.writer.address if signal.writer else None
    return net.instances[pin.instance].sheet.name if isinstance(pin, Pin) else ""
