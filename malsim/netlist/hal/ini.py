"""Variables of a machine's INI file, as `.hal` text refers to them."""

from __future__ import annotations

import re

_SECTION = re.compile(r"\s*\[([^\]]+)\]")
_SETTING = re.compile(r"\s*([^=#;\s][^=]*?)\s*=\s*(.*?)\s*$")


def ini_variables(text: str) -> dict[str, str]:
    r"""Map `SECTION.NAME` to its value.

    Names repeat in machines' files; the first one counts, as in LinuxCNC. Lines that are no setting are skipped.

    >>> ini_variables("[JOINT_0]\n# steps per mm\nSCALE = 200\nSCALE = 1\n")
    {'JOINT_0.SCALE': '200'}
    """
    variables: dict[str, str] = {}
    section = ""
    for line in text.removeprefix("\ufeff").splitlines():
        if match := _SECTION.match(line):
            section = match[1].strip()
        elif (match := _SETTING.match(line)) and section and not line.lstrip().startswith(("#", ";")):
            variables.setdefault(f"{section}.{match[1]}", match[2])
    return variables
