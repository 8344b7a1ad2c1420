"""Why a number of a run is what it is."""
