"""Serialisation of a net's state as arrays and JSON, so that loading a state never runs code."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import DataError
from malsim.netlist.engine.engine import State
from malsim.netlist.engine.rows import NO_TOPICS
from malsim.netlist.programs import program_cells
from malsim.netlist.programs.operations import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory import Memory
    from malsim.netlist.engine.engine import Engine
    from ops.pin.state import State as OpState

_ARRAY, _WORDS, _TREE = "array", "words", "tree"


def saved(state: State, engine: Engine) -> bytes:
    """Serialise the state of a net after a scan. Values that the next scan reads from the memory are left out."""
    of_run = {name for name, signal in engine.net.signals.items() if signal.domain == "run"}
    signals = {name: value for name, value in state.signals.items() if name not in engine.readers or name in of_run}
    outputs = {slot: {"values": output.values, "witness": output.witness, "state": output.state}
               for slot, output in state.program_outputs.items()}  # fmt: skip
    tree = {
        "ticks": state.ticks, "ops": state.ops, "signals": signals, "drives": state.drives, "outputs": outputs,
        "heights": state.heights, "topics": state.topics.rows(), "search_from": state.search_from,
        "programs": [[program.key, program.slot] for program in state.programs],
    }  # fmt: skip
    arrays: list[np.ndarray[Any, Any]] = []
    text = json.dumps(_packed(tree, arrays))
    file = BytesIO()
    columns = {f"{_ARRAY}{index}": array for index, array in enumerate(arrays)}
    np.savez_compressed(file, allow_pickle=False, **{_TREE: np.frombuffer(text.encode(), dtype=np.uint8)}, **columns)
    return file.getvalue()


def restored(data: bytes, engine: Engine, memory: Memory, *, first: int) -> State:
    """Deserialise the state of a net. Parts added to the net since the state was saved start fresh.

    Raise `DataError` if the data is damaged.
    """
    if not data:
        return engine.start(memory)
    try:
        with np.load(BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        tree = _unpacked(json.loads(arrays.pop(_TREE).tobytes()), arrays)
        heights = {domain: int(tree["heights"].get(domain, 0)) for domain in engine.domains}
        outputs = {
            slot: Output(output["values"], output["witness"], {}, output["state"])
            for slot, output in tree["outputs"].items()
        }
        topics = pl.DataFrame(tree["topics"], schema=NO_TOPICS.schema, orient="row")
        state = State(
            ticks=tree["ticks"], ops=_ops(tree["ops"], engine, heights), signals=tree["signals"], drives=tree["drives"],
            program_outputs=outputs, heights=heights | {"": 0}, topics=topics, search_from=tree["search_from"],
        )  # fmt: skip
        slot_of = {(key, slot.split(" ")[-2]): slot for key, slot in tree["programs"]}
        cells = program_cells(memory, after=0, upto=state.search_from, tick=state.ticks, first=first)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError("the state of this store's netlist is damaged", hint="restore a backup") from error
    programs = (program for cell in cells for program in cell.programs)
    slotted = (replace(program, slot=slot_of.get((program.key, program.operation), program.slot)) for program in programs)
    return replace(state, programs=tuple(slotted))


def _ops(ops: Mapping[str, OpState], engine: Engine, heights: Mapping[str, int]) -> dict[str, OpState]:
    states = {}
    for name, step in engine.steps.items():
        fresh = step.start(heights[step.domain])
        states[name] = ops[name] if name in ops and ops[name].keys() == fresh.keys() else fresh
    return states


def _packed(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays.append(value)
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, np.ndarray):
        return {_WORDS: value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "items"):
        return {_TREE: {name: _packed(part, arrays) for name, part in value.items()}}
    return [_packed(part, arrays) for part in value] if isinstance(value, (list, tuple)) else value


def _unpacked(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, list):
        return [_unpacked(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[f"{_ARRAY}{value[_ARRAY]}"]
    if _WORDS in value:
        return np.array(value[_WORDS])
    return {name: _unpacked(part, arrays) for name, part in value[_TREE].items()}
