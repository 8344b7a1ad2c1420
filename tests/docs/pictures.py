"""Figures for README, gallery and manual. `python -m tests.docs.pictures [NAME …]` draws them from shipped scenarios."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import malsim as ms
from malsim.examples import examples
from malsim.scenario.judge.judge import judge
from malsim.scenario.picture import picture
from malsim.showing.plots.runs.checked import checked
from malsim.showing.plots.runs.signal_lanes import stairs
from malsim.showing.plots.style import COLOURS, DASHES, GREY, dress, sheet

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from malsim.showing.plots.style import Sheet

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
MOST_REPLICATIONS = 20
DPI = 80
CHANGE = 40.0  # day on which the challenge ceiling is lowered


def ceiling_moved() -> Sheet:
    """Draw the README's first figure: a fork of `liar_from_day_20` whose challenge ceiling changes to 0.3 on day 40."""
    run = ms.run(SCENARIOS / "liar_from_day_20.toml").at(day=CHANGE).fork(rules={"challenge_ceiling": 0.3})
    figure = sheet(9.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.6, 1.4])
    for name, colour, dash in (("confidence", COLOURS[0], "-"), ("currency", COLOURS[1], DASHES[1])):
        label = "effective confidence" if name == "confidence" else name
        above.plot(*_steps(run.signals, name), color=colour, linestyle=dash, label=label, linewidth=1.6)
    above.axhline(0.15, color=GREY, linewidth=0.8, linestyle=":")
    above.text(0.6, 0.165, "level of the watch: 0.15", fontsize=8, color=GREY)
    above.set_ylim(0, 1.12)
    for day, text in ((20.0, "a liar denies it"), (CHANGE, "challenge ceiling 0.60 → 0.30")):
        for axes in (above, below):
            axes.axvline(day, color=COLOURS[5], linewidth=1.0, linestyle=(0, (2, 2)))
        above.text(day + 0.5, 1.04, text, fontsize=9, color=COLOURS[5])
    above.legend(frameon=False, fontsize=9, loc="upper right", bbox_to_anchor=(1.0, 0.92))
    dress(above, x="", y="one claim (0 to 1)")
    lanes = {"acknowledged": "a reviewer acknowledges", "tripped": "the latch holds", "is-weak": "the watch trips"}
    for lane, (name, colour) in enumerate(zip(lanes, (COLOURS[2], COLOURS[6], COLOURS[3]), strict=True)):
        days, values = _steps(run.signals, name)
        high = [lane + 0.7 * (value or 0.0) for value in values]
        below.plot(days, high, color=colour, linewidth=1.2)
        below.fill_between(days, lane, high, color=colour, alpha=0.25, linewidth=0)
    below.set_yticks([lane + 0.35 for lane in range(len(lanes))], list(lanes.values()), fontsize=9)
    dress(below, x="time (days)", y="")
    below.grid(visible=False, axis="y")
    return figure


def _steps(signals: pl.DataFrame, name: str) -> tuple[list[float], list[float | None]]:
    line = signals.filter(signal=name).sort("t")
    days = line["t"].to_list()
    return stairs(days, line["value"].to_list(), until=days[-1] + 1.0)


def checks() -> Sheet | None:
    """Draw the worked example's checks as `malsim test --html` does."""
    data = picture(judge(ms.read(SCENARIOS / "worked_example.toml")))
    return checked(data.lines, data.regions, data.bands, data.events, data.witnesses) if data else None


def of_scenario(path: Path) -> Sheet:
    """Draw a scenario's signals if it has a netlist, its answers if it has facts, and otherwise effective confidence."""
    scenario = ms.read(path)
    run = ms.run(scenario.replace(replications=min(scenario.replications, MOST_REPLICATIONS)))
    return run.plot.signals() if scenario.netlist else run.plot.answers() if scenario.facts else run.plot.effective()


def pictures() -> dict[str, Callable[[], Sheet | None]]:
    """Map each figure's path, relative to `scenarios/`, to the function that draws the figure."""
    dispute, ceilings, hal = SCENARIOS / "mutual_dispute.toml", [0.3, 0.45, 0.6], SCENARIOS / "hal"
    front: dict[str, Callable[[], Sheet | None]] = {
        "ceiling_moved": ceiling_moved, "checks": checks,
        "tune": lambda: ms.family(dispute, "rules.challenge_ceiling", ceilings).plot(),
        "teach": lambda: ms.hal(hal / "machine.hal").draw(beside=ms.hal(hal / "memory.malnet")),
    }  # fmt: skip
    named = {f"pictures/{name}.png": draw for name, draw in front.items()}
    for example in examples():
        if example.use and example.path.suffix == ".toml":
            named.setdefault(f"pictures/{example.path.stem}.png", partial(of_scenario, example.path))
    return named


def main(names: list[str]) -> None:
    """Draw the named figures, or all figures if `names` is empty."""
    for name, draw in pictures().items():
        if not names or Path(name).stem in names:
            (SCENARIOS / name).parent.mkdir(exist_ok=True)
            if (figure := draw()) is not None:
                figure.savefig(SCENARIOS / name, dpi=DPI)
                sys.stdout.write(f"{SCENARIOS / name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
