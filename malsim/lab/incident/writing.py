"""Incident written as a commented scenario whose check fails until the memory is fixed, and as a pytest file."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import tomli_w

from malsim.base.errors import ScenarioError, UsageError
from malsim.base.plain_text import one_line
from malsim.base.screen import withheld
from malsim.lab.incident.claim_log import STAND_IN
from malsim.lab.incident.incident import AGAIN, LAWS
from malsim.lab.incident.question import OTHERWISE, WrongAnswer
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.judge.judge import judge
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.adapters.engine.adapter import Adapter
    from malsim.lab.incident.incident import Incident
    from malsim.lab.incident.question import Question

UNREAD = ("majority", "last_write")  # laws that ignore stated confidence
TEST = '''"""Incident of {name}: the test fails until the memory is cured."""


def test_{stem}(malsim_file):
    malsim_file("{name}").check()
'''


def pytest_text(name: str) -> str:
    return TEST.format(name=name, stem=re.sub(r"\W", "_", name.removesuffix(".toml")))


def require_failure(text: str, memory: Adapter | None) -> None:
    """Raise `UsageError` unless the scenario's check fails (with `memory`: in at least one of ten replays)."""
    try:
        scenario = parse(text, where="incident.toml")
    except ScenarioError as error:
        raise UsageError(
            "a name in the log cannot be written in a check", given=str(error), hint="add --anonymise"
        ) from error
    scenario = scenario.replace(adapter=memory) if memory else scenario
    for _ in range(AGAIN if memory else 1):
        judged = judge(scenario)
        if judged.status == "fail":
            return
    problem = judged.error or "; ".join(outcome.message for outcome in judged.outcomes)
    raise UsageError("the reduced scenario does not fail", given=problem, hint="leave out --anonymise if it is given")


def scenario_text(incident: Incident, *, source: str, anonymise: bool = False) -> str:
    """Return an incident as the text of a scenario, which depends only on the log. `source` is the log's file name.

    With `anonymise`, writers, objects, values and handles are replaced by numbered names that sort like the originals.
    """
    part, base = incident.log.part(incident.rows), incident.player.base
    names = _stand_ins(part.to_dict(as_series=False)) if anonymise else {}
    question = _renamed(incident.question, names, set(part["title"]))
    memory = {"adapter": base.adapter.name} if base.adapter else {"law": base.law}
    lines = [*_comments(incident, question, "a log" if anonymise else source), *_table({"why": f"An incident: {question}."})]
    lines += _table({"days": int(base.days), "turn_every": f"{base.turn_every // DAY}d"}, "[run]")
    lines += _table(memory, "[memory]")
    for fact in question.facts:
        lines += _table({"name": fact.name, "values": list(fact.values), "start": "first"}, "[[facts]]")
    for claim in part.iter_rows(named=True):
        lines += _claim(claim, names, incident.log.unit)
    end = f"{base.days:g}d"
    check = {"name": f"not again: {question}", "property": f"always[{end}:] ({question.property})"}
    comment = "# This check fails today. Once it passes, it detects the incident if it comes back."
    return "\n".join([*lines, comment, *_table(check, "[[check]]")])


def _comments(incident: Incident, question: Question, source: str) -> list[str]:
    log, rows = incident.log, incident.rows
    share = f"{len(rows)} of {log.claims.height} claims decide it"
    lines = [f"An incident in {source}, made by `malsim new --template incident`: {share}."]
    if isinstance(question, WrongAnswer):
        others = f"give {question.rival}, taken as true here" if question.rival else f"give no answer: {OTHERWISE}"
        lines.append(f"The memory's answer: {question}{', in a tie' * question.tied}. The other claims {others}.")
        lines.append("If another value is true, put it first under [[facts]].")
    which = "" if incident.named else f", the first of {', '.join(LAWS)} with this answer on the whole log"
    lines.append(f"The memory is {incident.law}{which}.")
    if log.unstated:
        unread = ", which this law ignores" if incident.law in UNREAD else ""
        lines.append(f"{log.unstated} claims state no confidence; {STAND_IN} is used instead{unread}.")
    if incident.cures:
        lines.append(f"The check passes under {', '.join(incident.cures)} (--law), as on the whole log.")
    if incident.agreed < AGAIN:
        lines.append(f"This memory is not deterministic: {incident.agreed} of {AGAIN} replays of the whole log agreed.")
    objects = log.claims["object"]
    near = int(objects.is_in(objects.gather(rows).drop_nulls().implode()).sum()) - objects.gather(rows).count()
    rest = log.claims.height - len(rows) - near
    left_out = "; ".join([f"{near} claims about the same objects", f"{rest} other claims", *log.left_out])
    lines.append(f"Left out: {left_out}. The reduction took {incident.replays} replays under the same memory.")
    return [f"# {one_line(withheld(line))}" for line in lines]


def _claim(claim: dict[str, Any], names: Mapping[str, str], unit: str) -> list[str]:
    at = f"{claim['t'] / DAY:g}d"
    columns = ("writer", "handle", "kind", "object", "title", "confidence", "verification", "stability", "annexed")
    fields = {name: claim[name] for name in columns if claim[name] not in (None, False)}
    if claim["handle"].startswith(f"{claim['kind']}_"):
        del fields["kind"]
    if claim["stability"] == "stable":
        del fields["stability"]
    fields |= {name: names.get(text, withheld(text)) for name, text in fields.items() if isinstance(text, str)}
    lines = _table({"at": at if round(float(at[:-1]) * DAY) == claim["t"] else f"{claim['t']}ms", **fields}, "[[claim]]")
    lines[0] += f"   # {unit} {claim['line']} of the source"
    edges = [
        f"""  {{ relation = "{edge["relation"]}", target = {_quoted(names.get(edge["target"], edge["target"]))}"""
        + (f", weight = {edge['weight']!r}" if edge["weight"] is not None else "")
        + ", mutual = true" * edge["mutual"]
        + " },"
        for edge in claim["edges"] or []
    ]
    return [*lines[:-1], "edges = [", *edges, "]", ""] if edges else lines


def _stand_ins(part: dict[str, list[Any]]) -> dict[str, str]:
    """Map each title, object and writer (sorted), and each handle (in log order), to a numbered name."""
    names = dict[str, str]()
    for column, word in (("title", "value"), ("object", "object"), ("writer", "writer")):
        texts = sorted({text for text in part[column] if text is not None})
        names |= {text: f"{word}-{number:0{len(str(len(texts)))}}" for number, text in enumerate(texts, 1)}
    pairs = enumerate(zip(part["handle"], part["kind"], strict=True), 1)
    return names | {handle: f"{kind}_{number:06}" for number, (handle, kind) in pairs}


def _renamed(question: Question, names: Mapping[str, str], titles: set[str]) -> Question:
    """Return the question with every name replaced by its numbered name."""
    if not isinstance(question, WrongAnswer):
        return replace(question, handle=names.get(question.handle, question.handle))
    object_, wrong, rival = (names.get(text, text) for text in (question.object, question.wrong, question.rival))
    values = tuple(names.get(text, text) for text in question.values if text in titles)
    return replace(question, object=object_, wrong=wrong, rival=rival, values=values)


def _table(fields: Mapping[str, Any], header: str = "") -> list[str]:
    return [*([header] if header else []), *(f"{name} = {_quoted(value)}" for name, value in fields.items()), ""]


def _quoted(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]"
    return tomli_w.dumps({"k": value}).removeprefix("k = ").rstrip("\n")
