"""The simulator: the only part that knows time, chance and SimPy.

`bench` makes a run of `settings`; `engine` holds who writes, `agent` who reads, `record` what is kept, `why` its causes.
Modules that stood here before they were sorted into these folders are found under their old names for one more release.
"""

from malsim.moved import moved

MOVED = {
    "claim_files": "replay.claim_files", "disputes": "replay.disputes", "steady": "replay.endings",
    "script": "settings.scenario", "populations": "settings.population", "reader": "settings.reader",
    "beginning": "settings.initial_memory", "wires": "settings.netlist_config", "timing": "settings.timing",
    "occasion": "engine.claim_context", "drafts": "engine.claim_batch", "scripted": "engine.scripted",
    "faults": "settings.claim_faults",
    "reviewers": "settings.reviewers", "hooks": "agent.hooks", "happenings": "record.event_kinds",
    "gauges": "record.observables", "metrics": "record.metrics", "scoring": "record.scoring", "manifest": "record.manifest",
    "bands": "record.bands", "recorder": "record.recorder", "wired": "why.scope_channels", "readers": "why.cell_readers",
    "causes": "why.cell_cause", "because": "why.signal_cause",
}  # fmt: skip


moved({f"{__name__}.{old}": f"{__name__}.{new}" for old, new in MOVED.items()})
