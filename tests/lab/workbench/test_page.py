"""Tests for the live page in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import malsim as ms
from tests.lab.workbench.conftest import ROOT, serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    Visit = Callable[..., Page]

MOVE = "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }"
WALK = """((root, words) => {
  const walk = (root) => {
    for (const part of root.querySelectorAll("*")) {
      if (part.matches(words)) return part;
      const inside = part.shadowRoot && walk(part.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  return walk(root);
})"""
LINES = """name => {
  const { Bokeh } = window; const lines = [];
  for (const doc of Bokeh.documents) for (const model of doc._all_models.values())
    if (model.type === "ColumnDataSource" && model.data.xs && model.data.width)
      lines.push([...model.data.ys].map((y) => [...y]));
  return lines;
}"""


def slider(page: Page, name: str) -> Locator:
    return page.locator(f'.setting[data-name="{name}"] input[type=range]')


def settled(page: Page) -> None:
    """Wait until the page shows a result."""
    page.get_by_text("checks hold").wait_for(timeout=30_000)


def lines(page: Page) -> Any:
    """Return the values of all drawn lines, grouped by panel."""
    return page.evaluate(LINES, "")


def changed(page: Page, before: Any) -> Any:
    """Wait until a line differs from `before`, then return all lines."""
    for _ in range(200):
        if (now := lines(page)) != before:
            return now
        page.wait_for_timeout(50)
    raise AssertionError("no line changed within ten seconds")


def tap(page: Page, fraction: float, *, down: int = 60) -> None:
    """Click in the first figure, at a fraction of its width and `down` pixels below its top."""
    page.locator("canvas").first.scroll_into_view_if_needed()
    box = page.locator("canvas").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 58 + fraction * (box["width"] - 66), box["y"] + down)


@pytest.fixture
def tripwire(gallery: str, visit: Visit) -> Page:
    page = visit(f"{gallery}?scenario=tripwire")
    settled(page)
    return page


def test_slider_changes_traces_and_margins(gallery: str, visit: Visit) -> None:
    page = visit(f"{gallery}?scenario=mutual_dispute")
    settled(page)
    before = lines(page)
    assert page.locator("td.number.good").first.text_content() == "+0.05"
    slider(page, "rules.challenge_ceiling").evaluate(MOVE, "200")
    changed(page, before)
    page.locator("td.number.bad").first.wait_for()
    assert page.locator(".checks").text_content() != "4 of 4 checks hold"


def test_held_figure_keeps_its_settings(tripwire: Page) -> None:
    tripwire.get_by_role("button", name="Hold").click()
    tripwire.get_by_text("held: as in the file").wait_for()
    before = lines(tripwire)
    slider(tripwire, "rules.challenge_ceiling").evaluate(MOVE, "300")
    changed(tripwire, before)
    tripwire.get_by_role("button", name="Hold").click()
    tripwire.get_by_text("held: challenge_ceiling 0.3").wait_for()
    tripwire.get_by_role("button", name="Let go of as in the file").click()
    tripwire.get_by_text("held: as in the file").wait_for(state="detached")


def test_click_explains_a_value_and_cursor_shows_all_values(tripwire: Page) -> None:
    tap(tripwire, 12.6 / 45, down=165)
    tripwire.get_by_text("Why obs_9c1f is").wait_for()
    tripwire.get_by_text("Overturned by").first.wait_for()
    tripwire.get_by_text(re.compile(r"^Why obs_9c1f is [0-9.]+ on day 1[1-5]$")).wait_for()
    box = tripwire.locator("canvas").first.bounding_box()
    assert box is not None
    tripwire.mouse.move(box["x"] + 58 + (40 / 45) * (box["width"] - 66), box["y"] + 50)
    tripwire.locator('.trace[data-name="tripped"] .value').filter(has_text="1").wait_for()
    slider(tripwire, "rules.challenge_ceiling").evaluate(MOVE, "100")
    tripwire.get_by_text("Why obs_9c1f is 0.2").wait_for()  # the explanation is updated with the setting


def test_diagram_draws_every_wire_with_its_value(tripwire: Page) -> None:
    tripwire.locator("svg.net path").nth(7).wait_for(state="attached")
    assert tripwire.locator("svg.net path").count() == 8
    values = tripwire.locator("svg.net .value").evaluate_all(
        "all => Object.fromEntries(all.map((v) => [v.dataset.signal, v.textContent]))"
    )
    assert values == {"low": "0.70", "old": "0.30", "is-weak": "0", "is-stale": "1", "bad": "1", "ack": "0", "tripped": "1"}


def test_error_in_a_netlist_is_shown(tripwire: Page) -> None:
    editor = tripwire.get_by_role("textbox", name="Netlist")
    text, before = editor.input_value(), lines(tripwire)
    line = f"line {text[: text.index('setp weak.level')].count(chr(10)) + 1}:"
    editor.fill(text.replace("setp weak.level 0.5", "setp weak.level nosuch"))
    tripwire.locator(".wb-error", has_text=line).wait_for()
    assert lines(tripwire) == before
    editor.fill(text.replace("setp weak.level 0.5", "setp weak.level 0.1"))
    tripwire.locator(".wb-error", has_text=line).wait_for(state="detached")
    assert changed(tripwire, before) != before


def test_invalid_number_shows_a_message_next_to_its_field(tripwire: Page) -> None:
    before = lines(tripwire)
    number = tripwire.get_by_label("challenge_ceiling", exact=True)
    number.fill("1.5")
    number.press("Enter")
    tripwire.locator('.setting[data-name="rules.challenge_ceiling"] .wb-error', has_text="allowed: 0 to 1").wait_for()
    assert lines(tripwire) == before
    number.fill("0.2")
    number.press("Enter")
    assert changed(tripwire, before) != before


def test_settings_can_be_searched_filtered_and_reset(tripwire: Page) -> None:
    slider(tripwire, "rules.damping").evaluate(MOVE, "500")
    tripwire.locator('.setting.changed[data-name="rules.damping"]').wait_for()
    tripwire.get_by_label("changed only").check()
    assert tripwire.locator(".setting:visible").count() == 1
    tripwire.get_by_role("button", name="Reset all").click()
    tripwire.locator(".setting.changed").wait_for(state="detached")
    tripwire.get_by_label("changed only").uncheck()
    tripwire.get_by_label("Search settings").fill("tau volatile")
    assert tripwire.locator(".setting:visible").count() == 1


def test_added_check_is_judged_and_saved(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes((ROOT / "scenarios/mutual_dispute.toml").read_bytes())
    with serving("mine.toml", folder=tmp_path) as address:
        page = visit(address)
        settled(page)
        slider(page, "rules.challenge_ceiling").evaluate(MOVE, "300")
        page.locator("td.number.bad").first.wait_for()
        tap(page, 0.8)
        page.get_by_text("Why obs").first.wait_for()
        page.get_by_label("name", exact=True).fill("calm in the end")
        page.get_by_role("button", name="Keep as check").click()
        page.get_by_text("calm in the end").wait_for()
        page.get_by_text("Save", exact=True).click()
        page.get_by_role("button", name="Save to folder").click()
        page.get_by_text("Saved").wait_for()
        page.get_by_role("button", name="Save to folder").click()
        page.get_by_text("Press Save to folder again").wait_for()
        saved = ms.read(tmp_path / "mine-tuned.toml")
        link = page.url
        assert saved.rules.challenge_ceiling == 0.3
        assert [check.name for check in saved.checks][-1] == "calm in the end"
        again = visit(link)
        settled(again)
        again.get_by_text("calm in the end").wait_for()
        again.locator('.setting.changed[data-name="rules.challenge_ceiling"]').wait_for()


def test_page_can_find_days_step_ticks_and_set_inputs(tripwire: Page) -> None:
    tripwire.get_by_text("Find", exact=True).click()
    tripwire.get_by_label("condition").fill("eff(dec_a3ee) < 0.5")
    tripwire.get_by_role("button", name="find ▶").click()
    tripwire.get_by_text("1 of 5: day 10").wait_for()
    tripwire.get_by_label("condition").fill("eff(")
    tripwire.get_by_role("button", name="find ▶").click()
    tripwire.locator(".wb-error:visible").first.wait_for()
    tripwire.get_by_text("Step", exact=True).click()
    tripwire.get_by_text("changes in the tick of day 10").wait_for()
    tripwire.get_by_role("button", name="tick ▶").click()
    tripwire.get_by_text("changes in the tick of day 11").wait_for()
    before = lines(tripwire)
    tripwire.get_by_text("Inputs", exact=True).click()
    tripwire.get_by_label("input").select_option("reviewer.ack")
    tripwire.get_by_role("button", name="Set at next click").click()
    tripwire.get_by_text("Click on a figure").wait_for()
    tap(tripwire, 40 / 45)
    changed(tripwire, before)
    tripwire.get_by_text("click to remove").wait_for()


@pytest.mark.parametrize("kind", ["figure as PNG", "figure as SVG", "traces as CSV", "traces as VCD", "netlist", "rules"])
def test_every_kind_of_file_can_be_downloaded(tripwire: Page, kind: str) -> None:
    tripwire.get_by_text("Save", exact=True).click()
    tripwire.get_by_label("save").select_option(kind)
    with tripwire.expect_download() as download:
        tripwire.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename.startswith("tripwire-tuned")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
def test_page_is_readable_at_every_width_and_colour_scheme(gallery: str, visit: Visit, width: int, scheme: str) -> None:
    page = visit(f"{gallery}?scenario=tripwire", width=width, scheme=scheme)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink, paper = page.evaluate(
        """() => {
          const box = document.createElement("canvas").getContext("2d");
          const light = (colour) => {
            box.fillStyle = colour; box.fillRect(0, 0, 1, 1);
            const [r, g, b] = box.getImageData(0, 0, 1, 1).data;
            return (r + g + b) / 765;
          };
          const name = WALK(document, ".setting .name");
          return [light(getComputedStyle(name).color), light(getComputedStyle(document.body).backgroundColor)];
        }""".replace("WALK", WALK)
    )
    assert abs(ink - paper) > 0.5
    assert (paper > 0.5) == (scheme == "light")


def test_gallery_links_to_eight_examples(gallery: str, visit: Visit) -> None:
    page = visit(gallery, ready=".cards a")
    assert page.locator(".cards a").count() == 8
    page.get_by_text("worked_example").click()
    settled(page)


@pytest.mark.parametrize("query", ["scenario=../../etc/passwd", "scenario=nosuch", "scenario=%00"])
def test_invalid_scenario_in_an_address_shows_an_error(gallery: str, visit: Visit, query: str) -> None:
    page = visit(f"{gallery}?{query}", ready=".wb-error")
    assert page.locator(".wb-error").first.text_content()


def test_invalid_setting_in_an_address_shows_an_error(gallery: str, visit: Visit) -> None:
    page = visit(f"{gallery}?scenario=tripwire&rules.damping=7")
    page.get_by_text("rules.damping").first.wait_for()
    settled(page)


def test_html_in_titles_is_shown_as_text(visit: Visit, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=window.hurt=1><script>window.hurt=1</script>"
    text = f"""why = "{hostile}"
[run]
days = 5
[[claim]]
at = "0d"
writer = "{hostile}"
handle = "obs_a1a1"
object = "{hostile}"
title = "{hostile}"
confidence = 0.5
[[check]]
name = "{hostile}"
property = "always (eff(obs_a1a1) >= 0)"
"""
    (tmp_path / "hostile.toml").write_text(text, encoding="utf-8")
    with serving("hostile.toml", folder=tmp_path) as address:
        page = visit(address)
        settled(page)
        tap(page, 0.5)
        page.get_by_text("Why obs_a1a1").wait_for()
        page.get_by_text("Step", exact=True).click()
        page.get_by_text("changes in the tick").wait_for()
        assert page.evaluate("window.hurt") is None


def test_foreign_origin_or_missing_token_is_refused(visit: Visit) -> None:
    with serving("scenarios/tripwire.toml", "--host", "127.0.0.1") as address:
        assert "token=" in address
        page = visit(address.partition("?")[0], ready="p")
        page.get_by_text("needs the token").wait_for()
        settled(visit(address))
