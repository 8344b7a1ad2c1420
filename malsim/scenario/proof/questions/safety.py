"""The ready-made questions about a tripwire: its alarms, its sinks, its parts and the order on its threads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.scenario.proof.questions.alarm_questions import of_alarm
from malsim.scenario.proof.questions.asking import Asking
from malsim.scenario.proof.questions.sinks import of_sinks
from malsim.scenario.proof.questions.wiring_questions import of_order, of_parts, of_wiring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.questions.answer import SafetyAnswer


def safety(
    net: Net, *, alarm: str = "", assume: Sequence[str] = (), ticks: int = 40, timeout: float = 60.0
) -> tuple[SafetyAnswer, ...]:
    """Ask all safety questions of a net.

    Parameters
    ----------
    alarm
        A bit that is an alarm although no latch or watchdog holds it.
    timeout
        Seconds for all together.

    Raises
    ------
    UsageError
        Where no op of the net holds an alarm and none is named.
    """
    alarms = list(dict.fromkeys([*(signal.name for signal in net.alarms), *([alarm] if alarm else [])]))
    if not alarms:
        hint = "name it: --alarm SIGNAL; or ask a property of your own: --prove 'always (…)'"
        raise UsageError("no latch or watchdog of this net is wired to a signal, so it has no alarm", hint=hint)
    asking = Asking(net, assume, ticks, time.monotonic() + timeout)
    answers = [item for name in alarms for item in of_alarm(asking, name)]
    return (*answers, *of_sinks(asking, alarms), *of_wiring(net), *of_parts(asking), *of_order(asking))
