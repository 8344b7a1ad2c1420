"""Detection of credentials and personal data: recall, kinds, false alarms, and a comparison with detect-secrets."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.plain_text import block
from malsim.base.screen import credentials, holds_secret, personal_data, redacted, withheld
from malsim.base.screen.credentials import IDENTIFIER, formats, stand_in, views
from malsim.memory import Memory, admit
from tests.base.screen.corpus import assigned_texts, benign_texts, format_texts, other_texts, personal_texts
from tests.base.screen.held_out import MADE_UP, harmless_texts, made_up_texts

SEED = 25


def share(texts: list[str]) -> float:
    return sum(map(holds_secret, texts)) / len(texts)


def test_known_formats_are_found_and_usually_identified() -> None:
    texts = format_texts(random.Random(SEED), 6)
    assert share([text for _, text in texts]) >= 0.99
    named = sum(kind in {credential.kind for credential in credentials(text)} for kind, text in texts)
    assert named / len(texts) >= 0.9


def test_every_format_matches_its_example() -> None:
    for kind, (word, pattern, _) in formats().items():
        assert word in stand_in(kind).lower(), kind
        assert pattern.search(stand_in(kind)), kind


@given(st.from_regex(re.compile(IDENTIFIER, re.ASCII), fullmatch=True))
def test_bare_hash_or_uuid_is_not_reported(text: str) -> None:
    assert not credentials(text)


def test_no_credential_format_matches_a_bare_hash_or_uuid() -> None:
    assert not [kind for kind in formats() if re.search(IDENTIFIER, stand_in(kind))]


def test_secrets_in_assignments_headers_and_urls_are_found() -> None:
    draw = random.Random(SEED)
    assert share(assigned_texts(draw, 1_000)) >= 0.95
    assert share(other_texts(draw, 440)) >= 0.95


def test_harmless_texts_rarely_cause_false_alarms() -> None:
    assert share(benign_texts(random.Random(SEED), 1_500)) <= 0.01


def test_source_code_rarely_causes_false_alarms() -> None:
    sources = (Path(__file__).parents[3] / "malsim").rglob("*.py")
    lines = [line for path in sources for line in path.read_text("utf-8").splitlines()]
    assert share(lines) <= 0.001


def test_redacted_text_names_the_kind_but_withheld_text_does_not() -> None:
    draw = random.Random(SEED)
    for text in (*(text for _, text in format_texts(draw, 1)), *assigned_texts(draw, 100), *other_texts(draw, 44)):
        kinds = {credential.kind for credential in credentials(text)}
        assert {credential.kind for credential in credentials(redacted(text))} == kinds, text
        assert not credentials(withheld(text)), withheld(text)


def test_personal_data_is_found_and_identified() -> None:
    texts = personal_texts(random.Random(SEED), 700)
    for kind in {kind for kind, _ in texts}:
        of_kind = [text for name, text in texts if name == kind]
        missed = [text for text in of_kind if kind not in {name for name, _, _ in personal_data(text)}]
        assert len(missed) <= 0.05 * len(of_kind), (kind, missed[:5])
    benign = benign_texts(random.Random(SEED), 1_500)
    assert sum(any(personal_data(text)) for text in benign) / len(benign) <= 0.01


def test_held_out_credential_formats_are_found() -> None:
    draw = random.Random(SEED)
    for kind in MADE_UP:
        assert share([made_up_texts(kind, draw) for _ in range(400)]) >= 0.99, kind
    assert share([harmless_texts(draw) for _ in range(800)]) <= 0.01


def test_screen_outperforms_detect_secrets() -> None:
    scan = pytest.importorskip("detect_secrets.core.scan")
    settings = pytest.importorskip("detect_secrets.settings")
    draw = random.Random(SEED)
    positive, benign = assigned_texts(draw, 150) + [text for _, text in format_texts(draw, 1)], benign_texts(draw, 300)
    with settings.default_settings():
        hits = [
            sum(any(any(scan.scan_line(line)) for line in text.splitlines()) for text in texts) / len(texts)
            for texts in (positive, benign)
        ]
    assert share(positive) >= hits[0]
    assert share(benign) < hits[1]


TOKEN = "gh" + "p_aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
DRESSES: dict[str, Callable[[str], str]] = {
    "invisible letters": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "full width": lambda text: "".join(chr(ord(letter) + 0xFEE0) for letter in text),
    "mathematical letters": lambda text: "".join(
        chr(ord(letter) + (0x1D5BA - 97 if letter.islower() else 0x1D5A0 - 65)) if letter.isalpha() else letter
        for letter in text
    ),
    "broken lines": lambda text: f"{text[:12]}\n    {text[12:24]}\n{text[24:]}",
    "quoted pieces": lambda text: f'"{text[:12]}"\n  "{text[12:]}"',
    "percent signs": lambda text: "".join(f"%{ord(letter):02x}" for letter in text),
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "escapes": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "escapes of eight digits": lambda text: "".join(f"\\U{ord(letter):08x}" for letter in text),
    "escapes in braces": lambda text: "".join(f"\\u{{{ord(letter):x}}}" for letter in text),
    "tag characters": lambda text: "".join(chr(0xE0000 + ord(letter)) for letter in text),
    "tags between": "\U000e0041".join,
    "base64": lambda text: base64.b64encode(f"token {text}".encode()).decode(),
}


@pytest.mark.quick
@pytest.mark.parametrize("dress", DRESSES)
def test_disguised_credential_is_found_and_fully_withheld(dress: str) -> None:
    text = DRESSES[dress](TOKEN)
    assert [credential.kind for credential in credentials(f"use {text} at once")] == ["GitHub token"]
    assert withheld(f"use {text} at once").replace('"', "") == "use (withheld: GitHub token) at once"
    assert holds_secret(redacted(f"use {text} at once"))


@pytest.mark.parametrize("count", [1, 100])
@pytest.mark.parametrize("dress", DRESSES)
def test_gate_refuses_a_disguised_credential(dress: str, count: int) -> None:
    """The gate checks a few texts one by one, and many texts in one query."""
    titles = [f"claim {index}" for index in range(count - 1)] + [f"use {DRESSES[dress](TOKEN)} at once"]
    claims = [{"kind": "obs", "writer": "ann", "title": title, "confidence": 0.5} for title in titles]
    assert admit(Memory.empty(), claims).verdicts["verdict"].to_list() == ["admitted"] * (count - 1) + ["refused"]


KEY = "MIIEpAIBAAKCAQEA7Rk2xZcQwq0VjZ8yT1nUoPmL3sDfGhJk"
KEYS = {
    "RSA": f"-----BEGIN RSA PRIVATE KEY-----\n{KEY}\n{KEY}=\n-----END RSA PRIVATE KEY-----",
    "PGP": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{KEY}\n-----END PGP PRIVATE KEY BLOCK-----",
    "PuTTY": f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{KEY}\nPrivate-MAC: 11aa",
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n"])
def test_private_key_is_fully_withheld(kind: str, line_end: str) -> None:
    text = KEYS[kind].replace("\n", line_end)
    assert re.fullmatch(r"a \(withheld: (PuTTY )?private key\) b", withheld(f"a {text} b"))
    assert KEY[20:] not in withheld(text[: text.rindex("END" if kind != "PuTTY" else "Private-MAC")])
    assert re.fullmatch(r"  \| \(withheld: (PuTTY )?private key\)", block(text))


@given(st.text(max_size=200))
def test_decoded_characters_map_to_positions_in_the_text(text: str) -> None:
    for reading in views(text):
        assert len(reading.text) == len(reading.starts) == len(reading.ends)
        assert all(0 <= start < end <= len(text) for start, end in zip(reading.starts, reading.ends, strict=True))
    withheld(text)
