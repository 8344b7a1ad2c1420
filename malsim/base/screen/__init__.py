"""Detection of credentials and personal data in text, for the gate, error messages and reports."""

from malsim.base.screen.credentials import credentials, holds_secret, redacted, withheld
from malsim.base.screen.personal import personal_data

__all__ = ["credentials", "holds_secret", "personal_data", "redacted", "withheld"]
