"""Tests that incidents with known deciding claims are found and reduced, fail before their cure, and pass after it."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from malsim.cli import main
from malsim.judging.shrink import smallest_part
from malsim.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

TRUE, LIE = "web1", "web2"
Said = tuple[str, str]  # a claim about `host`: (writer, value)

LOUD = '''
import random


class Loud:
    """Memory that counts every claim, so that a repetition is another vote."""

    def __init__(self):
        self.votes = {}

    def write(self, claims, now):
        for claim in claims:
            self.votes[claim.object, claim.value] = self.votes.get((claim.object, claim.value), 0) + 1

    def tick(self, now):
        pass

    def read(self, query, now, limit):
        return self.peek(query, now, limit)

    def peek(self, query, now, limit):
        about = [(key, votes) for key, votes in self.votes.items() if key[0] == query.object]
        return [{"id": "-".join(key), "object": key[0], "value": key[1], "rank": votes} for key, votes in about]


class Dice(Loud):
    """Memory that answers at random, with the lie in two of three cases."""

    def peek(self, query, now, limit):
        items = super().peek(query, now, limit)
        return [item | {"rank": random.random() + 0.17 * (item["value"] == "web2")} for item in items]
'''


@dataclass(frozen=True)
class Drawn:
    """Log with a wrong answer about `host`. At least `least` claims are needed to show both the error and a cure."""

    claims: list[Said]
    form: str
    options: tuple[str, ...]
    cure: tuple[str, ...]
    least: int


DRAWN = {
    "last_write": Drawn(
        [*((f"w{n}", TRUE) for n in range(6)), ("liar", LIE)], "csv", ("--law", "last_write"), ("--law", "majority"), 3
    ),
    "sequential": Drawn(
        [("liar", LIE), *((f"w{n}", TRUE) for n in range(6))], "csv", ("--law", "sequential"), ("--law", "majority"), 3
    ),
    "echo": Drawn(
        [*((f"w{n}", TRUE) for n in range(3)), *[("liar", LIE)] * 6],
        "jsonl", ("--memory", "loud:Loud"), ("--law", "majority"), 5,
    ),
}  # fmt: skip


def _stream(drawn: Drawn, seed: int, total: int) -> list[tuple[str, str, str]]:
    """Return (writer, object, value) rows with the deciding claims in order, mixed with claims about other objects."""
    draw = random.Random(seed)  # noqa: S311  # a random log is not a secret
    indices = set(draw.sample(range(total), len(drawn.claims)))
    deciding = iter((writer, "host", value) for writer, value in drawn.claims)

    def other() -> tuple[str, str, str]:
        return f"w{draw.randrange(30)}", f"object{draw.randrange(40)}", draw.choice("abc")

    return [next(deciding) if number in indices else other() for number in range(total)]


def _log(drawn: Drawn, seed: int, total: int = 300) -> Path:
    rows = _stream(drawn, seed, total)
    if drawn.form == "csv":
        path = Path("log.csv")
        lines = ["time,writer,object,value", *(f"{n / 20},{','.join(row)}" for n, row in enumerate(rows))]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path
    path = Path("log.jsonl")
    entries = [
        {"t": n / 20, "event": "write", "item": f"m{n}", "writer": writer, "object": object_, "value": value}
        for n, (writer, object_, value) in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loud.py").write_text(LOUD, encoding="utf-8")


def _new(path: str, *options: str) -> str:
    assert main(["new", path, "--template", "incident", *options]) == 0
    return Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DRAWN)
def test_incident_is_found_and_fails_until_it_is_cured(name: str) -> None:
    drawn = DRAWN[name]
    log = _log(drawn, seed=len(name))
    text = _new("one.toml", "--from", str(log), "--answer", f"host={LIE}", *drawn.options)
    assert drawn.least <= text.count("[[claim]]") <= 2 * drawn.least
    assert text.count('object = "host"') == text.count("[[claim]]")
    code = ("--allow-code",) if "--memory" in drawn.options else ()
    assert main(["test", "one.toml", *code]) == 1
    assert main(["test", "one.toml", *drawn.cure]) == 0


def test_same_log_gives_the_same_file_byte_for_byte() -> None:
    options = ("--from", str(_log(DRAWN["sequential"], seed=4)), "--answer", f"host={LIE}", "--law", "sequential")
    assert _new("one.toml", *options) == _new("two.toml", *options)


def _store(*more: dict[str, object]) -> str:
    common = {"confidence": 0.9, "verification": "external"}
    rest = [
        {"handle": f"obs_cc{n:02}", "writer": f"cyd{n % 4}", "object": f"x{n % 3}", "title": f"say {n}", "t": 3 + n / 10}
        for n in range(30)
    ]
    first = {"handle": "dec_a3ee", "writer": "ann", "object": "db", "title": "use SQLite", "t": 0.0}
    with Store("memory.sqlite") as store:
        for claim in sorted([first, *more, *rest], key=lambda claim: float(str(claim["t"]))):
            store.admit([{**common, **claim}])
        store.tick(8.0)
        store.tick(9.0)
    return "memory.sqlite"


def _dispute(number: int) -> dict[str, object]:
    edges = [{"relation": "contradicts", "target": "dec_a3ee"}]
    claim = {"handle": f"obs_bb0{number}", "writer": f"bob{number}", "object": "db", "title": f"it locks {number}"}
    return {**claim, "t": 1.0 + number, "edges": edges}


def test_lowered_confidence_is_found_and_cured_by_a_rule() -> None:
    text = _new("one.toml", "--from", _store(*map(_dispute, range(4))), "--cell", "dec_a3ee")
    assert 2 <= text.count("[[claim]]") <= 4
    assert 'handle = "dec_a3ee"' in text
    assert main(["test", "one.toml"]) == 1
    assert main(["test", "one.toml", "--set", "rules.challenge_ceiling=0.1"]) == 0


def test_superseded_cell_is_found_and_cured_by_a_rule() -> None:
    takeover = {"handle": "dec_beef", "writer": "eve", "object": "db", "title": "use flat files", "t": 2.0}
    takeover |= {"edges": [{"relation": "supersedes", "target": "dec_a3ee"}]}
    text = _new("one.toml", "--from", _store(takeover, _dispute(5)), "--cell", "dec_a3ee")
    assert text.count("[[claim]]") == 2
    assert main(["test", "one.toml"]) == 1
    assert main(["test", "one.toml", "--set", "rules.supersede_by=own"]) == 0


def test_store_state_on_a_given_day_is_used() -> None:
    late = _dispute(6) | {"t": 7.5}
    text = _new("one.toml", "--from", _store(_dispute(1), late), "--cell", "dec_a3ee", "--at", "5")
    assert "obs_bb06" not in text


def test_anonymised_incident_still_fails_and_contains_no_names() -> None:
    log = _log(DRAWN["last_write"], seed=1)
    text = _new("one.toml", "--from", str(log), "--answer", f"host={LIE}", "--law", "last_write", "--anonymise")
    assert not any(word in text for word in ("liar", LIE, TRUE, "host", '"w0', '"w1'))
    assert main(["test", "one.toml"]) == 1


def test_file_lists_omitted_claims_and_assumed_values() -> None:
    text = _new(
        "one.toml", "--from", str(_log(DRAWN["last_write"], seed=1)), "--answer", f"host={LIE}", "--law", "last_write"
    )
    assert "4 claims about the same objects; 293 other claims" in text
    assert "300 claims state no confidence; 0.7 is used instead, which this law ignores." in text
    stated = _new("two.toml", "--from", "log.csv", "--answer", f"host={LIE}", "--law", "last_write", "--confidence", "0.6")
    assert "confidence = 0.6" in stated
    assert "state no confidence" not in stated


def test_nondeterministic_memory_is_reported() -> None:
    drawn = Drawn([("ann", TRUE), *[("liar", LIE)] * 4], "csv", (), (), 2)
    text = _new("one.toml", "--from", str(_log(drawn, 2, 30)), "--answer", f"host={LIE}", "--memory", "loud:Dice")
    assert "not deterministic" in text


def test_claim_comments_name_the_source_line_or_cell() -> None:
    text = _new(
        "one.toml", "--from", str(_log(DRAWN["last_write"], seed=1)), "--answer", f"host={LIE}", "--law", "last_write"
    )
    rows = Path("log.csv").read_text(encoding="utf-8").splitlines()
    for line, writer in re.findall(r'# line (\d+) of the source\nat = .*\nwriter = "(.+)"', text):
        assert rows[int(line) - 1].split(",")[1] == writer
    assert text.count("[[claim]]   # line ") == text.count("[[claim]]")
    text = _new("two.toml", "--from", _store(_dispute(1)), "--cell", "dec_a3ee")
    assert text.count("[[claim]]   # cell ") == text.count("[[claim]]")


def test_option_cell_accepts_an_item_id_from_the_log() -> None:
    log = _log(DRAWN["echo"], seed=2, total=40)
    log.write_text(log.read_text(encoding="utf-8").replace('"host"', '"db host"'), encoding="utf-8")
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    item = next(entry["item"] for entry in reversed(entries) if entry["value"] == LIE)
    text = _new("one.toml", "--from", str(log), "--cell", item, "--law", "average")
    assert 'right(\\"db host\\")' in text
    assert main(["test", "one.toml"]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--answer", "host=web9"], "majority: answers web1"),
        (["--answer", "hots=web2"], "did you mean host"),
        (["--cell", "obs_999999"], "no such cell"),
        ([], "either --answer or --cell"),
    ],
)
def test_incident_without_a_matching_answer_is_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = _log(DRAWN["last_write"], seed=1)
    assert main(["new", "one.toml", "--template", "incident", "--from", str(log), *options]) == 2
    assert message in capsys.readouterr().err
    assert not Path("one.toml").exists()


def test_generated_test_reproduces_the_failure_in_pytest() -> None:
    log = _log(DRAWN["last_write"], seed=1)
    _new("one.toml", "--from", str(log), "--answer", f"host={LIE}", "--law", "last_write")
    text = Path("test_one.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) == 5
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_one.py"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "expected right(host) == 1" in result.stdout


@pytest.mark.parametrize("wanted", [{3, 70}, {0}, {5, 6, 7, 8, 99}])
def test_reduction_keeps_only_the_needed_rows(wanted: set[int]) -> None:
    assert set(smallest_part(list(range(100)), lambda part: wanted <= set(part))) == wanted


def test_reduction_can_remove_rows_in_pairs() -> None:
    passes: Callable[[list[int]], bool] = lambda part: len(part) % 2 == 1  # noqa: E731  # only removals in pairs keep the parity
    assert len(smallest_part(list(range(11)), passes)) == 1
