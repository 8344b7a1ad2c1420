"""Safety questions about one alarm: whether it trips, stays on, can be cleared, and has the right polarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.netlist.language.address import Pin
from malsim.netlist.language.lexicon import ALARMS
from malsim.scenario.proof.questions.answer import (
    SafetyAnswer,
    acknowledgements,
    inputs_of,
    line_of,
    op_of,
    scores_of,
    upstream,
    wired,
)
from malsim.scenario.proof.ticks.cut import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.questions.answer import Inquiry

LONGEST_DELAY = 12
LONGEST_PULSE = 3  # maximum number of ticks that an acknowledgement may take to reach its reset
BEST = {"eff": 1.0, "curr": 1.0, "conf": 1.0, "unc": 0.0, "concern": 0.0}


def of_alarm(inquiry: Inquiry, name: str) -> Iterator[SafetyAnswer]:
    """Answer all safety questions about one alarm."""
    net = inquiry.net
    instance, _, op = op_of(net, net.signals[name])
    pins = wired(net, instance) if instance else {}
    cause = pins.get("set") if op == "latch" else None
    reset = pins.get("reset") if op in ALARMS else None
    line = line_of(net, name)
    cause_line = line_of(net, cause, f"{instance}.set") if cause else line
    yield inquiry.possible(f"{name} can come up", f"always not {name}", cause_line)
    yield inquiry.possible(f"{name} can be cleared", f"always (prev({name}) == 1 implies {name})", line)
    yield from _stays(inquiry, name, instance, reset)
    if reset and op == "latch":
        clear = f" and not {cause}" if cause else ""
        question, text = f"no acknowledgement of {name} is lost", f"always ({root(net, reset)}{clear} implies not {name})"
        yield inquiry.always(question, text, line_of(net, reset, f"{instance}.reset"))
    if cause:
        yield inquiry.always(f"{name} is up only after {cause}", f"always ({name} implies once {cause})", line)
        yield _delayed(inquiry, name, root(net, cause), f" and not {reset}" if reset else "", cause_line)
        yield from _not_set_by_hand(net, name, cause, cause_line)
    yield from _polarity(inquiry, name)


def _stays(inquiry: Inquiry, name: str, instance: str, reset: str | None) -> Iterator[SafetyAnswer]:
    """Check that the alarm stays on until its reset, and that only an acknowledgement resets it."""
    net, acks = inquiry.net, acknowledgements(inquiry.net)
    free = f" and not {reset}" if reset else ""
    enable = inputs_of(net, instance).get("enable") if instance else None
    is_op = bool(instance) and op_of(net, net.signals[name])[2] in ALARMS
    if is_op and enable:
        free += f" and not once[0:1] (rise({enable}) or fall({enable}))"
    elif not is_op and acks:
        free = f" and not ({' or '.join(acks)})"
    question = f"{name}, once up, stays until acknowledged"
    yield inquiry.always(question, f"always (prev({name}) == 1{free} implies {name})", line_of(net, name))
    if not (is_op and reset):
        return
    line = line_of(net, reset, f"{instance}.reset")
    question = f"only an acknowledgement clears {name}"
    reaching = [ack for ack in acks if ack in upstream(net, [reset], through=False)]
    if not reaching:
        reason = f"no reviewer.ack and no bit from outside reaches {instance}.reset"
        yield SafetyAnswer(question, None, False, line, reason)
        return
    text = f"always (prev({name}) == 1 and not once[0:{{0}}] ({' or '.join(reaching)}) implies {name})"
    yield inquiry.within(question, text, LONGEST_PULSE, line)


def _not_set_by_hand(net: Net, name: str, cause: str, line: int) -> Iterator[SafetyAnswer]:
    """Check that no acknowledgement feeds into the alarm's cause."""
    acks = [signal.name for signal in net.signals.values()
            if signal.writer and str(signal.writer.address).startswith("reviewer.") and signal.type == "bit"]  # fmt: skip
    for ack in acks:
        question = f"the acknowledgement {ack} does not raise {name}"
        if ack in upstream(net, [cause], through=False):
            yield SafetyAnswer(question, None, False, line_of(net, ack), f"{ack} is wired to {cause}, which sets it")
        elif line:
            yield SafetyAnswer(question, None, True, line, "by its wiring")


def _delayed(inquiry: Inquiry, name: str, cause: str, free: str, line: int) -> SafetyAnswer:
    """Find how many ticks the cause must last before the alarm is guaranteed to be on."""
    for delay in range(LONGEST_DELAY + 1):
        text = f"always (always[0:{delay}] ({cause}{free}) implies eventually[{delay}:{delay}] {name})"
        lasts = f"after {delay + 1} tick{'s' if delay else ''} of {cause}"
        answer = inquiry.always(f"{name} is not silent {lasts}", text, line)
        if not answer.flaw:
            return answer
    return SafetyAnswer(f"{name} is not silent while {cause} lasts", answer.proof, False, line)


def root(net: Net, name: str) -> str:
    """Follow a bit back through ops with one wired input, such as timers and delays, and return the original bit."""
    while True:
        writer = net.signals[name].writer
        pin = writer.address if writer else None
        if not isinstance(pin, Pin) or pin.instance not in net.instances or pin.name in {"out-not", "fell"}:
            return name
        inputs = list(inputs_of(net, pin.instance).values())
        if len(inputs) != 1 or net.signals[inputs[0]].type != "bit" or net.instances[pin.instance].sheet.name == "not":
            return name
        (name,) = inputs


def _polarity(inquiry: Inquiry, name: str) -> Iterator[SafetyAnswer]:
    """Check that the alarm stays off while all scores are at their best, and can trip while all are at their worst."""
    net = inquiry.net
    cone = upstream(net, [name])
    inputs = [signal for signal in cut(net).inputs if signal.type != "bit" and signal.name in cone]
    best = scores_of(inputs, BEST)
    readers = {net.instances[link.pin.instance].sheet.name for signal in inputs for link in net.signals[signal.name].readers
               if link.pin and link.pin.instance in net.instances}  # fmt: skip
    good, bad = f"{name} stays down while all scores are at their best", f"{name} can come up while all are at their worst"
    if not inputs or len(best) < len(inputs) or readers - {"watch"}:
        reason = "not every number that moves it is a score read by a watch"
        yield SafetyAnswer(good, None, None, 0, reason)
        return
    watches = {link.pin.instance for score in best for link in net.signals[score].readers if link.pin}
    bits = [bit for bit, signal in net.signals.items() if op_of(net, signal)[0] in watches and signal.type == "bit"]
    at_best = [f"always ({score} == {value:g})" for score, value in best.items()]
    answer = inquiry.always(good, f"always not {name}", assume=at_best)
    trace = answer.proof.trace if answer.flaw and answer.proof else None
    firing = (bit for bit in bits if trace is not None and bool(trace[bit][-1]))
    yield _blaming(net, answer, next(firing, None))
    worst = [f"always ({score} == {1 - value:g})" for score, value in best.items()]
    answer = inquiry.possible(bad, f"always not {name}", assume=worst)
    silent = (bit for bit in bits if answer.flaw and inquiry.possible(bit, f"always not {bit}", assume=worst).flaw)
    yield _blaming(net, answer, next(silent, None))


def _blaming(net: Net, answer: SafetyAnswer, bit: str | None) -> SafetyAnswer:
    """Return the answer or, if `bit` is given, a flaw at the netlist line that writes `bit`."""
    return SafetyAnswer(answer.question, answer.proof, False, line_of(net, bit)) if bit else answer
