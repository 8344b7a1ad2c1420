"""The one way in which a check spells a value: `eff(dec_a3ee)`, and in quotes the address that has no function."""

from __future__ import annotations

import re

from malsim.base.errors import AddressError, ScenarioError
from malsim.netlist.language.address import Path, Row, address, spelled

FIELDS = {name: f"-scores-{name}" for name in ("eff", "curr", "conf", "sal")} | {"status": "-status"}
FUNCTIONS = {ending[1:]: name for name, ending in FIELDS.items()} | {
    "effective": "eff", "scores-effective": "eff", "currency": "curr", "stated": "conf", "salience": "sal",
}  # fmt: skip


def canonical(text: str) -> str:
    """Return an address as a check has it.

    >>> canonical("dec_a3ee-scores-eff"), canonical("mean(dec_a3ee.~supports.*-scores-eff)"), canonical("low")
    ('eff(dec_a3ee)', 'mean(eff(dec_a3ee.~supports.*))', 'low')
    >>> canonical("writer(ann)-claims"), canonical("count(cell-flags-locked)")
    ('"writer(ann)-claims"', 'count("cell-flags-locked")')
    """
    if re.search(r"\(.*[\s,].*\)", text) and "~" not in text:
        return re.sub(r"\((.*)\)$", r'("\1")', text)
    reducer, _, inner = text.partition("(") if text.endswith(")") else ("", "", text)
    if reducer and (own := canonical(inner.removesuffix(")"))) != inner.removesuffix(")"):
        return f"{reducer}({own})"
    for function, ending in FIELDS.items():
        if text.endswith(ending) and "-" not in text.removesuffix(ending):
            return f"{function}({text.removesuffix(ending)})"
    fields = fields_of(text)
    if not fields:
        return text
    if fields in FUNCTIONS:
        return f"{FUNCTIONS[fields]}({text.removesuffix(f'-{fields}')})"
    return f'"{text}"'


def fields_of(text: str) -> str:
    """Return the fields at the end of an address of a cell or a row, joined by hyphens; "" where it has none.

    >>> fields_of("dec_a3ee@v2-scores-eff"), fields_of("light-2"), fields_of("right(pump)")
    ('scores-eff', '', '')
    """
    try:
        point = address(text)
    except AddressError:
        return ""
    return "-".join(point.fields) if isinstance(point, Path | Row) else ""


def read_of(text: str, *, quoted: bool) -> str | None:
    """Return the address that a word or a quoted text of a check names; None for a quoted text that is no address.

    Raises
    ------
    ScenarioError
        For a spelling that a check does not have; the hint is the right one.
    """
    if '("' in text:
        return text.replace('("', "(").replace('")', ")")
    plain = spelled(text)
    right = canonical(plain)
    if quoted and right == plain:
        return None
    if plain != text or right != (f'"{plain}"' if quoted else plain):
        raise ScenarioError("a check spells this value otherwise", hint=f"write {right}")
    return plain
