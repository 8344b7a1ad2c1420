"""`[[proof]]` of a scenario file: a property of its netlist, proved for all inputs and judged with its checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError
from malsim.scenario.checks.kind import KindCheck, parse_at
from malsim.scenario.proof.prove import assumption_of, prove
from malsim.scenario.properties.parse import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.scenario.proof.proof import Proof
    from malsim.scenario.properties import Trace
    from malsim.sim.run import Run


@dataclass(frozen=True)
class ProofVerdict:
    """Proof as the outcome of a check."""

    proof: Proof

    @property
    def passed(self) -> bool:
        return self.proof.result.startswith("proved")

    def __str__(self) -> str:
        trace = self.proof.trace
        if trace is None:
            return self.proof.verdict
        inputs = (f"{item.name} {' '.join(f'{value:g}' for value in trace[item.name])}" for item in self.proof.inputs)
        return f"{self.proof.verdict}: {'; '.join(inputs)}"


@dataclass(frozen=True, kw_only=True)
class ProofCheck(KindCheck):
    """Property of the scenario's netlist, for all inputs within their bounds that meet the assumptions."""

    assume: tuple[str, ...] = ()
    ticks: int = 40
    timeout: float = 60.0

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> ProofCheck:
        parse_at(parse, given["property"], f"{where}.property")
        for text in given.get("assume", ()):
            parse_at(assumption_of, text, f"{where}.assume")
        return cls(**{**given, "assume": tuple(given.get("assume", ()))}, line=line)

    def result(self, run: Run, trace: Trace) -> ProofVerdict:
        del trace
        config = run.scenario.netlist
        if config is None:
            raise ScenarioError("a proof is about a netlist, and this scenario has none", hint="add [netlist] file = …")
        proof = prove(
            config.net,
            self.property,
            assume=self.assume,
            ticks=self.ticks,
            timeout=self.timeout,
            tick=run.scenario.turn_every,
        )
        if proof.result == "not decided":
            raise ScenarioError("not decided in time", given=f"{self.timeout:g} s", hint="a longer timeout, or fewer ticks")
        return ProofVerdict(proof)
