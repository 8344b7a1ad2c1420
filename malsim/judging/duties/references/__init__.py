"""Reference memories that the suite itself is tested on: it must tell these four apart."""

from malsim.judging.duties.references.governed import Governed
from malsim.judging.duties.references.plain import Append, Nothing, Overwrite

__all__ = ["REFERENCES", "Append", "Governed", "Nothing", "Overwrite"]

REFERENCES = {"nothing": Nothing, "append": Append, "overwrite": Overwrite, "governed": Governed}
