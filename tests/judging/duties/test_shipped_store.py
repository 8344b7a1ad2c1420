"""The shipped store fulfils every duty under the preset `governed`."""

from __future__ import annotations

from malsim.adapters.store import governed
from malsim.judging.duties import check

test_shipped_store_keeps_every_duty = check(governed)
