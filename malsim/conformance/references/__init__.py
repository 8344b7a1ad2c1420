"""Memories that the suite itself is tried on: it must tell these four apart."""

from malsim.conformance.references.governed import Governed
from malsim.conformance.references.plain import Append, Nothing, Overwrite

__all__ = ["REFERENCES", "Append", "Governed", "Nothing", "Overwrite"]

REFERENCES = {"nothing": Nothing, "append": Append, "overwrite": Overwrite, "governed": Governed}
