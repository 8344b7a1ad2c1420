"""The ten cells that every graph begins with."""

from malsim.memory.bootstrap.ten_cells import MAP, WRITER, bootstrap, prime, ten_cells

__all__ = ["MAP", "WRITER", "bootstrap", "prime", "ten_cells"]
