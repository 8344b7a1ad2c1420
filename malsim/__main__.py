"""`python -m malsim` is `malsim`."""

import sys

from malsim.cli import main

sys.exit(main())
