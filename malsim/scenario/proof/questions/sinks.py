"""The ready-made questions about each sink: a signal that leaves the net for a flag, a webhook, a budget or a read-out."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from malsim.netlist.language.lexicon import ALARMS, LOOP_READS
from malsim.scenario.proof.questions.answer import SafetyAnswer
from malsim.scenario.proof.questions.cones import acknowledgements, before, line_of, op_of
from malsim.scenario.proof.same_outputs import leaving
from malsim.scenario.proof.ticks.cut import cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.questions.asking import Asking

LATE = 3  # ticks that a sink may lag behind its alarm
CHATTER_TICKS = 12  # of the runs in which chatter is looked for
NOISE = 1 / 128  # most that a number moves in a tick while chatter is asked about
RANKS = (
    "info notice note",
    "mild minor light-1 level-1",
    "warning warn team moderate medium light-2 level-2",
    "major grave light-3 level-3",
    "severe page light-4 level-4",
    "dire critical light-5 level-5",
    "fatal emergency",
)


def of_sinks(asking: Asking, alarms: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Ask of every sink: does it follow the alarm, return after it, get stuck, chatter; and can two disagree."""
    net = asking.net
    follows: dict[str, list[str]] = {name: [] for name in alarms}
    sinks = [name for name in leaving(net) if name not in alarms]
    for sink in sinks:
        yield from _of_sink(asking, sink, alarms, follows)
    for alarm, names in follows.items():
        outputs = [name for name in sinks if acts(net, name) and net.signals[name].type == "bit"
                  and alarm in before(net, [name])]  # fmt: skip
        if outputs and not names and not acts(net, alarm):
            reason = f"none of {' '.join(outputs)} comes up whenever {alarm} does"
            yield SafetyAnswer(
                f"{alarm} reaches a flag, webhook or escalation", None, False, line_of(net, outputs[0]), reason
            )
    yield from _agreements(asking, alarms)
    yield from _severities(asking, sinks)
    yield from _chatter(asking, [*alarms, *sinks])


def _of_sink(asking: Asking, sink: str, alarms: Sequence[str], follows: dict[str, list[str]]) -> Iterator[SafetyAnswer]:
    net, line = asking.net, line_of(asking.net, sink)
    label = sink + _targets(net, sink)
    upstream = before(net, [sink])
    mine = [name for name in alarms if name in upstream]
    if net.signals[sink].type != "bit":
        yield SafetyAnswer(f"{label} follows the alarm, returns after it and does not chatter", None, None, line, "a number")
        return
    yield asking.can(f"{sink} can come up", f"always not {sink}", line)
    yield asking.can(f"{sink} can go down again", f"always (prev({sink}) == 1 implies {sink})", line)
    if not mine:
        yield SafetyAnswer(f"{label} follows the alarm and returns after it", None, None, line, "no alarm feeds it")
        return
    for alarm in mine:
        text = f"always (rise({alarm}) and always[0:{{0}}] {alarm} implies eventually[0:{{0}}] {sink})"
        answer = asking.within(f"{label} comes up with {alarm}", text, LATE, line)
        if answer.sound:
            follows[alarm].append(sink)
            yield answer
        elif answer.status == "not decided":
            yield answer
        else:
            yield SafetyAnswer(f"{label} comes up with every {alarm}", None, None, line, "by its wiring only with some")
    either = " or ".join(mine)
    text = f"always ({sink} implies once[0:{{0}}] ({either}))"
    yield asking.within(f"{label} returns when {either} is cleared", text, LATE, line)


def _targets(net: Net, name: str) -> str:
    readers = net.signals[name].readers
    ends = [str(link.address) for link in readers if link.pin is None or link.pin.instance not in net.instances]
    return f" ({', '.join(ends)})" if ends else ""


def acts(net: Net, name: str) -> bool:
    """Return whether a signal moves a flag or a pin of the loop; a read-out does not."""
    heads = tuple(LOOP_READS)
    return any(("-flags-" in end or end.startswith(heads)) for end in re.findall(r"[^ (),]+", _targets(net, name)))


def _agreements(asking: Asking, alarms: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Ask whether two alarms of the same cause agree; two of the same inputs and other levels must not contradict."""
    net = asking.net
    acks = set(acknowledgements(net))
    free = {item.name for item in cut(net).inputs} - acks
    for item, other in combinations(alarms, 2):
        line = line_of(net, other)
        causes = [_cause(net, name) for name in (item, other)]
        sources = [before(net, [name]) & free for name in (item, other)]
        question = f"{item} and {other} agree"
        if causes[0] and causes[0] == causes[1]:
            yield asking.keeps(question, f"always ({item} == {other})", line)
        elif sources[0] and sources[0] == sources[1]:
            nested = [asking.keeps(f"{question}: {a} is never up without {b}", f"always ({a} implies {b})", line)
                      for a, b in ((item, other), (other, item))]  # fmt: skip
            sound = [answer for answer in nested if answer.sound]
            yield sound[0] if sound else nested[0]
        else:
            yield SafetyAnswer(question, None, None, line, "they have other causes")


def _cause(net: Net, alarm: str) -> str:
    instance = op_of(net, net.signals[alarm])[0]
    return net.pins.get(f"{instance}.set", "")


def _severities(asking: Asking, sinks: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Ask whether a severity, as its name ranks it, comes up without a graver one that comes up without it."""
    net = asking.net
    ranked = {name: rank for name in sinks if net.signals[name].type == "bit" and (rank := _rank(net, name)) is not None}
    for item, other in combinations(sorted(ranked, key=lambda name: ranked[name]), 2):
        if ranked[item] < ranked[other]:
            milder = asking.keeps(f"{item} stands below {other}", f"always ({item} implies {other})", line_of(net, other))
            if milder.sound:
                yield asking.keeps(f"{item} stands below {other}", f"always ({other} implies {item})", line_of(net, other))
            elif milder.flaw:
                yield SafetyAnswer(f"{item} stands below {other}", milder.proof, sound=True)


def _rank(net: Net, name: str) -> int | None:
    words = {word for text in (name, _targets(net, name)) for word in re.findall(r"[a-z]+(?:-\d)?", text)}
    words |= {part for word in words for part in word.split("-")}
    return next((rank for rank, group in enumerate(RANKS) if words & set(group.split())), None)


def _chatter(asking: Asking, names: Sequence[str]) -> Iterator[SafetyAnswer]:
    """Ask whether numbers that move by less than a hundredth a tick, and bits at rest, turn a sink on, off and on."""
    net = asking.net
    acks, inputs = acknowledgements(net), cut(net).inputs
    still = [f"always not {name}" for name in acks]
    rests = [item.name for item in inputs if item.type != "float" and item.name not in acks]
    still += [f"always ({item} == prev({item}))" for item in rests]
    still += [f"always (abs({item.name} - prev({item.name})) <= {NOISE})" for item in inputs if item.type == "float"]
    for name in names:
        signal = net.signals[name]
        if signal.type != "bit":
            continue
        upstream = before(net, [name], through=False)
        watches = [item for item in upstream if op_of(net, net.signals[item])[2] in {"watch", "wcomp"}]
        line = line_of(net, min(watches)) if watches and op_of(net, signal)[2] not in ALARMS else line_of(net, name)
        text = f"always (rise({name}) implies not once[1:3] fall({name}))"
        question = f"{name} does not chatter while numbers move by less than 0.01 a tick"
        yield asking.keeps(question, text, line, assume=still, ticks=CHATTER_TICKS)
