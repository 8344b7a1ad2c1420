"""Other memories' data, read as it stands and never written."""

from malsim.moved import moved

_READING, _BUILDING = "malsim.importers.reading", "malsim.importers.building"
moved(
    {
        f"{_READING}.bring": f"{_BUILDING}.bring",
        f"{_READING}.build": f"{_BUILDING}.assemble",
        f"{_READING}.stream": f"{_BUILDING}.claim_stream",
        f"{_READING}.write": f"{_BUILDING}.save",
    }
)
