"""The kinds of events of a run, each with the meaning of its `cause`."""

from __future__ import annotations

CLAIM = "claim N of WRITER: the writer's own count"
TURN = "turn N"
PROGRAM = "the handle of the prg cell that asks for it"
SIGNAL = "the signal that drives it, with its row if it has rows: low(dec_a3ee)"
LATCH = f"the pin of the latch, with its row if it has rows; the operation of a standing program; or {PROGRAM}"

KINDS = {
    "admitted": CLAIM,
    "rejected": CLAIM,
    "deduplicated": CLAIM,
    "attenuated": CLAIM,
    "superseded": "the handle of the cell that took its place",
    "bootstrapped": "the graph was empty",
    "oriented": "a session begins",
    "caught_up": "a gap of N turns",
    "pushed": "task: FACT",
    "surfaced": SIGNAL,
    "expanded": "turn N, or turn N was blocked",
    "nudged": TURN,
    "wired": TURN,
    "blocked": "the handle of a row never opened; the FACT of a lesson never written; turn N, where its work broke off;"
    " claim N of reader, where the gate refused the lesson",
    "withheld": "turn N was blocked",
    "acted": TURN,
    "declined": TURN,
    "written_back": TURN,
    "updated": f"{TURN}; of a store, who rewrote it",
    "compacted": "compact_every N",
    "reanchored": "reanchor_every N",
    "changed": "the world",
    "flipped": "noise on POPULATION",
    "perturbed": "noise on POPULATION",
    "lost": "noise on POPULATION",
    "doubled": "noise on POPULATION",
    "delayed": "noise on POPULATION",
    "reordered": "noise on POPULATION",
    "misled": "bad on POPULATION",
    "escalated": "the handle of the cell that disputes it, or the signal that rose",
    "tripped": LATCH,
    "cleared": LATCH,
    "webhook": SIGNAL,
    "annexed": SIGNAL,
    "reinstated": SIGNAL,
    "locked": SIGNAL,
    "unlocked": SIGNAL,
    "pinned": SIGNAL,
    "unpinned": SIGNAL,
    "flagged": SIGNAL,
    "unflagged": SIGNAL,
    "conflict": SIGNAL,
    "refused": f"{SIGNAL}; {PROGRAM}; turn N, of an op that a reader may not wire;"
    " who asked for a correction and had no say",
    "scheduled": PROGRAM,
    "corrected": "who took it back",
    "forgotten": "who had it erased",
    "shared": "who let another scope read it",
    "unshared": "who took that back",
}
