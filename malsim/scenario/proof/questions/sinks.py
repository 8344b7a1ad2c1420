"""Safety questions about sinks: signals that leave the net for a flag, a webhook, a budget or a readout."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from malsim.netlist.language.lexicon import ALARMS, LOOP_READS
from malsim.scenario.proof.questions.answer import SafetyAnswer, acknowledgements, line_of, op_of, upstream
from malsim.scenario.proof.ticks.cut import cut, leaving

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.questions.answer import Inquiry

LATE = 3  # maximum number of ticks by which a sink may lag behind its alarm
CHATTER_TICKS = 12  # length, in ticks, of the runs that are searched for chatter
NOISE = 1 / 128  # maximum change of a number per tick in the search for chatter
RANKS = (
    "info notice note",
    "mild minor light-1 level-1",
    "warning warn team moderate medium light-2 level-2",
    "major grave light-3 level-3",
    "severe page light-4 level-4",
    "dire critical light-5 level-5",
    "fatal emergency",
)


def of_sinks(inquiry: Inquiry, alarms: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Answer the questions about sinks: whether they follow their alarms, stick or chatter, and whether alarms disagree."""
    net = inquiry.net
    follows: dict[str, list[str]] = {name: [] for name in alarms}
    sinks = [name for name in leaving(net) if name not in alarms]
    for sink in sinks:
        yield from _of_sink(inquiry, sink, alarms, follows)
    for alarm, names in follows.items():
        outputs = [name for name in sinks if acts(net, name) and net.signals[name].type == "bit"
                  and alarm in upstream(net, [name])]  # fmt: skip
        if outputs and not names and not acts(net, alarm):
            reason = f"none of {' '.join(outputs)} comes up whenever {alarm} does"
            question = f"{alarm} reaches a flag, webhook or escalation"
            yield SafetyAnswer(question, None, False, line_of(net, outputs[0]), reason)
    yield from _agreements(inquiry, alarms)
    yield from _severities(inquiry, sinks)
    yield from _chatter(inquiry, [*alarms, *sinks])


def _of_sink(inquiry: Inquiry, sink: str, alarms: Sequence[str], follows: dict[str, list[str]]) -> Iterator[SafetyAnswer]:
    """Answer the questions about one sink. Add the sink to `follows` of each alarm that it follows."""
    net, line = inquiry.net, line_of(inquiry.net, sink)
    label = sink + _targets(net, sink)
    cone = upstream(net, [sink])
    causes = [name for name in alarms if name in cone]
    if net.signals[sink].type != "bit":
        yield SafetyAnswer(f"{label} follows the alarm, returns after it and does not chatter", None, None, line, "a number")
        return
    yield inquiry.possible(f"{sink} can come up", f"always not {sink}", line)
    yield inquiry.possible(f"{sink} can go down again", f"always (prev({sink}) == 1 implies {sink})", line)
    if not causes:
        yield SafetyAnswer(f"{label} follows the alarm and returns after it", None, None, line, "no alarm feeds it")
        return
    for alarm in causes:
        text = f"always (rise({alarm}) and always[0:{{0}}] {alarm} implies eventually[0:{{0}}] {sink})"
        answer = inquiry.within(f"{label} comes up with {alarm}", text, LATE, line)
        if answer.sound or answer.status == "not decided":
            follows[alarm] += [sink] if answer.sound else []
            yield answer
        else:
            yield SafetyAnswer(f"{label} comes up with every {alarm}", None, None, line, "by its wiring only with some")
    either = " or ".join(causes)
    text = f"always ({sink} implies once[0:{{0}}] ({either}))"
    yield inquiry.within(f"{label} returns when {either} is cleared", text, LATE, line)


def _targets(net: Net, name: str) -> str:
    """Return the addresses outside the net that read a signal, in parentheses, or "" if there are none."""
    readers = net.signals[name].readers
    ends = [str(link.address) for link in readers if link.pin is None or link.pin.instance not in net.instances]
    return f" ({', '.join(ends)})" if ends else ""


def acts(net: Net, name: str) -> bool:
    """Return whether a signal sets a flag or a pin of the loop, rather than only being displayed."""
    heads = tuple(LOOP_READS)
    return any(("-flags-" in end or end.startswith(heads)) for end in re.findall(r"[^ (),]+", _targets(net, name)))


def _agreements(inquiry: Inquiry, alarms: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Check that alarms with the same cause are equal, and that alarms with the same inputs do not contradict each other.

    If two alarms have the same inputs but different causes, one must imply the other.
    """
    net = inquiry.net
    free = {signal.name for signal in cut(net).inputs} - set(acknowledgements(net))
    for first, second in combinations(alarms, 2):
        line = line_of(net, second)
        causes = [net.pins.get(f"{op_of(net, net.signals[name])[0]}.set", "") for name in (first, second)]
        sources = [upstream(net, [name]) & free for name in (first, second)]
        question = f"{first} and {second} agree"
        if causes[0] and causes[0] == causes[1]:
            yield inquiry.always(question, f"always ({first} == {second})", line)
        elif sources[0] and sources[0] == sources[1]:
            nested = [inquiry.always(f"{question}: {a} is never up without {b}", f"always ({a} implies {b})", line)
                      for a, b in ((first, second), (second, first))]  # fmt: skip
            yield next((answer for answer in nested if answer.sound), nested[0])
        else:
            yield SafetyAnswer(question, None, None, line, "they have different causes")


def _severities(inquiry: Inquiry, sinks: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Check, for each pair of severities, that the milder can be on without the other, or that both are always equal."""
    net = inquiry.net
    ranked = {name: rank for name in sinks if net.signals[name].type == "bit" and (rank := _rank(net, name)) is not None}
    for mild, severe in combinations(sorted(ranked, key=lambda name: ranked[name]), 2):
        if ranked[mild] < ranked[severe]:
            question, line = f"{mild} ranks below {severe}", line_of(net, severe)
            answer = inquiry.always(question, f"always ({mild} implies {severe})", line)
            if answer.sound:
                yield inquiry.always(question, f"always ({severe} implies {mild})", line)
            elif answer.flaw:
                yield SafetyAnswer(question, answer.proof, sound=True)


def _rank(net: Net, name: str) -> int | None:
    """Return a severity's rank, judged by the words in its name and targets, or None if no word matches."""
    words = {word for text in (name, _targets(net, name)) for word in re.findall(r"[a-z]+(?:-\d)?", text)}
    words |= {part for word in words for part in word.split("-")}
    return next((rank for rank, group in enumerate(RANKS) if words & set(group.split())), None)


def _chatter(inquiry: Inquiry, names: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Check that no alarm or sink rises within 3 ticks of a fall while bits are constant and numbers barely change."""
    net = inquiry.net
    acks, inputs = acknowledgements(net), cut(net).inputs
    still = [f"always not {name}" for name in acks]
    constant = [signal.name for signal in inputs if signal.type != "float" and signal.name not in acks]
    still += [f"always ({name} == prev({name}))" for name in constant]
    numbers = [signal.name for signal in inputs if signal.type == "float"]
    still += [f"always (abs({name} - prev({name})) <= {NOISE})" for name in numbers]
    for name in names:
        signal = net.signals[name]
        if signal.type != "bit":
            continue
        cone = upstream(net, [name], through=False)
        watches = [source for source in cone if op_of(net, net.signals[source])[2] in {"watch", "wcomp"}]
        line = line_of(net, min(watches)) if watches and op_of(net, signal)[2] not in ALARMS else line_of(net, name)
        text = f"always (rise({name}) implies not once[1:3] fall({name}))"
        question = f"{name} does not chatter while numbers move by less than 0.01 a tick"
        yield inquiry.always(question, text, line, assume=still, ticks=CHATTER_TICKS)
