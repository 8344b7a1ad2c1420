"""Parts of the board's page under its table: places and groups, where an order turns, a plan's verdicts, odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.showing.pages.page_parts import text

if TYPE_CHECKING:
    from collections.abc import Mapping


def ranking_section(data: Mapping[str, Any]) -> str:
    """By column: those not told apart as one line, the best first."""
    parts = []
    for name, one in data["standing"].items():
        groups = "".join(f"<li>{text(', '.join(group))}</li>" for group in one["groups"])
        about = f"{one['n']} paired replications, all differences at once {one['level']:.0%}"
        about += "; a line holds memories of which no two are told apart."
        parts.append(f"<h3>{text(name)}</h3><p>{about}</p><ol>{groups}</ol>")
    return f"<h2>Who is told apart from whom</h2>{''.join(parts)}" if parts else ""


def noise_section(data: Mapping[str, Any]) -> str:
    """Orders that hold on the grid of noise, and where one turns."""
    noise = data.get("noise") or {}
    if not noise.get("counts"):
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{text(name)}</th><td class='words'>{text(', '.join(below))}</td></tr>"
        for name, below in noise["counts"].items()
    )
    turns = "".join(
        f"<li>{text(one)} is shown better than {text(other)} in {text('; '.join(here))}; the other way round in "
        f"{text('; '.join(there))}</li>"
        for one, other, here, there in noise["turns"]
    )
    return (
        "<h2>Orders that hold when noise changes</h2><p>An order by accuracy counts where it is shown at three noise rates "
        "of four in both populations.</p><details><summary>who is better than whom</summary><div class='wide'><table>"
        "<thead><tr><th scope='col'>memory</th><th scope='col'>better than</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div></details>"
        f"<h3>Where an order turns</h3>{f'<ul>{turns}</ul>' if turns else '<p>Nowhere is an order shown both ways.</p>'}"
    )


def plan_section(data: Mapping[str, Any]) -> str:
    """What a plan expected, and what came."""
    plan = data.get("plan")
    if not plan:
        return ""
    rows = "".join(
        f"<tr><td class='words'>{text(each['expected'])}</td><td>{text(each['verdict'])}</td>"
        f"<td class='words'>{text(each['why'])}</td></tr>"
        for each in plan["verdicts"]
    )
    return (
        f"<h2>What was expected beforehand</h2><p>Plan {text(plan['hash'])}; its seed {plan['seed']} was drawn from that "
        "hash.</p><table><thead><tr><th scope='col'>expected</th><th scope='col'>verdict</th><th scope='col'>why</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )


def odds_section(data: Mapping[str, Any]) -> str:
    """What running a tenth again can find, said for rows that came as bundles."""
    if not data.get("bundles"):
        return ""
    rows = "".join(
        f"<tr><th scope='row'>{text(each['row'])}</th><td class='words'>{text(each['checked'])}</td>"
        f"<td class='words'>{text(each['odds'])}</td></tr>"
        for each in data["bundles"]
    )
    return (
        "<h2>Rows from outside</h2><table><thead><tr><th scope='col'>row</th><th scope='col'>run again</th>"
        f"<th scope='col'>what a forged cell risks</th></tr></thead><tbody>{rows}</tbody></table>"
    )
