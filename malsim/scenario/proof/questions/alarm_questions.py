"""The ready-made questions about one alarm: it comes up, stays, is cleared, and has the right polarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.netlist.language.address import Pin
from malsim.netlist.language.lexicon import ALARMS
from malsim.scenario.proof.questions.answer import SafetyAnswer
from malsim.scenario.proof.questions.cones import (
    acknowledgements,
    before,
    inputs_of,
    line_of,
    op_of,
    scores_of,
    wired,
)
from malsim.scenario.proof.ticks.cut import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.questions.asking import Asking

LONGEST_DELAY = 12
LONGEST_PULSE = 3  # ticks that an acknowledgement may take to its reset
BEST = {"eff": 1.0, "curr": 1.0, "conf": 1.0, "unc": 0.0, "concern": 0.0}


def of_alarm(asking: Asking, name: str) -> Iterator[SafetyAnswer]:
    """Ask what an alarm should do."""
    net = asking.net
    instance, _, op = op_of(net, net.signals[name])
    on = wired(net, instance) if instance else {}
    cause = on.get("set") if op == "latch" else None
    reset = on.get("reset") if op in ALARMS else None
    line = line_of(net, name)
    of_cause = line_of(net, cause, f"{instance}.set") if cause else line
    yield asking.can(f"{name} can come up", f"always not {name}", of_cause)
    yield asking.can(f"{name} can be cleared", f"always (prev({name}) == 1 implies {name})", line)
    yield from _stays(asking, name, instance, reset)
    if reset and op == "latch":
        clear = f" and not {cause}" if cause else ""
        question, hand = f"no acknowledgement of {name} is lost", root(net, reset)
        of_reset = line_of(net, reset, f"{instance}.reset")
        yield asking.keeps(question, f"always ({hand}{clear} implies not {name})", of_reset)
    if cause:
        yield asking.keeps(f"{name} is up only after {cause}", f"always ({name} implies once {cause})", line)
        yield _delayed(asking, name, root(net, cause), f" and not {reset}" if reset else "", of_cause)
        yield from _not_set_by_hand(net, name, cause, of_cause)
    yield from _polarity(asking, name)


def _stays(asking: Asking, name: str, instance: str, reset: str | None) -> Iterator[SafetyAnswer]:
    """Ask whether the alarm, once up, stays until its reset, and whether only an acknowledgement resets it."""
    net, acks = asking.net, acknowledgements(asking.net)
    free = f" and not {reset}" if reset else ""
    enable = inputs_of(net, instance).get("enable") if instance else None
    is_op = bool(instance) and op_of(net, net.signals[name])[2] in ALARMS
    if is_op and enable:
        free += f" and not once[0:1] (rise({enable}) or fall({enable}))"
    elif not is_op and acks:
        free = f" and not ({' or '.join(acks)})"
    question = f"{name}, once up, stays until acknowledged"
    yield asking.keeps(question, f"always (prev({name}) == 1{free} implies {name})", line_of(net, name))
    if not (is_op and reset):
        return
    line = line_of(net, reset, f"{instance}.reset")
    question = f"only an acknowledgement clears {name}"
    given = [item for item in acks if item in before(net, [reset], through=False)]
    if not given:
        reason = f"no reviewer.ack and no bit from outside reaches {instance}.reset"
        yield SafetyAnswer(question, None, False, line, reason)
        return
    text = f"always (prev({name}) == 1 and not once[0:{{0}}] ({' or '.join(given)}) implies {name})"
    yield asking.within(question, text, LONGEST_PULSE, line)


def _not_set_by_hand(net: Net, name: str, cause: str, line: int) -> Iterator[SafetyAnswer]:
    hands = [signal.name for signal in net.signals.values()
             if signal.writer and str(signal.writer.address).startswith("reviewer.") and signal.type == "bit"]  # fmt: skip
    for hand in hands:
        if hand in before(net, [cause], through=False):
            reason = f"{hand} is wired to what sets it"
            yield SafetyAnswer(f"the acknowledgement {hand} does not raise {name}", None, False, line_of(net, hand), reason)
        elif line:
            yield SafetyAnswer(f"the acknowledgement {hand} does not raise {name}", None, True, line, "by its wiring")


def _delayed(asking: Asking, name: str, cause: str, free: str, line: int) -> SafetyAnswer:
    for delay in range(LONGEST_DELAY + 1):
        text = f"always (always[0:{delay}] ({cause}{free}) implies eventually[{delay}:{delay}] {name})"
        lasts = f"after {delay + 1} tick{'s' if delay else ''} of {cause}"
        answer = asking.keeps(f"{name} is not silent {lasts}", text, line)
        if not answer.flaw:
            return answer
    return SafetyAnswer(f"{name} is not silent while {cause} lasts", answer.proof, False, line)


def root(net: Net, name: str) -> str:
    """Return the bit that a signal follows through ops with one wired input: timers, delays, debouncers."""
    while True:
        writer = net.signals[name].writer
        pin = writer.address if writer else None
        if not isinstance(pin, Pin) or pin.instance not in net.instances or pin.name in {"out-not", "fell"}:
            return name
        inputs = list(inputs_of(net, pin.instance).values())
        if len(inputs) != 1 or net.signals[inputs[0]].type != "bit" or net.instances[pin.instance].sheet.name == "not":
            return name
        (name,) = inputs


def _polarity(asking: Asking, name: str) -> Iterator[SafetyAnswer]:
    """Ask whether the alarm stays down while every score is at its best, and can come up while all are at their worst."""
    net = asking.net
    inputs = [item for item in cut(net).inputs if item.type != "bit" and item.name in before(net, [name])]
    best = scores_of(inputs, BEST)
    readers = {net.instances[link.pin.instance].sheet.name for item in inputs for link in net.signals[item.name].readers
               if link.pin and link.pin.instance in net.instances}  # fmt: skip
    good, bad = f"{name} stays down while all scores are at their best", f"{name} can come up while all are at their worst"
    if not inputs or len(best) < len(inputs) or readers - {"watch"}:
        reason = "not every number that moves it is a score read by a watch"
        yield SafetyAnswer(good, None, None, 0, reason)
        return
    fine = asking.keeps(good, f"always not {name}", assume=[f"always ({item} == {value:g})" for item, value in best.items()])
    yield _blamed(net, fine, best) if fine.flaw else fine
    worst = [f"always ({item} == {1 - value:g})" for item, value in best.items()]
    poor = asking.can(bad, f"always not {name}", assume=worst)
    yield _asleep(asking, poor, best, worst) if poor.flaw else poor


def _blamed(net: Net, answer: SafetyAnswer, best: dict[str, float]) -> SafetyAnswer:
    """Return the answer with the line of the watch that fires while all is well."""
    trace = answer.proof.trace if answer.proof else None
    for item in _watched(net, best):
        if trace is not None and bool(trace[item][-1]):
            return SafetyAnswer(answer.question, answer.proof, False, line_of(net, item))
    return answer


def _asleep(asking: Asking, answer: SafetyAnswer, best: dict[str, float], worst: list[str]) -> SafetyAnswer:
    for item in _watched(asking.net, best):
        if asking.can(item, f"always not {item}", assume=worst).flaw:
            return SafetyAnswer(answer.question, answer.proof, False, line_of(asking.net, item))
    return answer


def _watched(net: Net, inputs: dict[str, float]) -> list[str]:
    """Return the bits that watches of these inputs write."""
    firsts = {link.pin.instance for name in inputs for link in net.signals[name].readers if link.pin}
    return [name for name, signal in net.signals.items() if op_of(net, signal)[0] in firsts and signal.type == "bit"]
