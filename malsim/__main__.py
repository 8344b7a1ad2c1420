"""Entry point for `python -m malsim`."""

import sys

from malsim.cli import main

sys.exit(main())
