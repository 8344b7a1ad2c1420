"""Client that posts alarms to a webhook. Since the address may contain secrets, only scheme, host and port are printed."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

WAIT = 10.0  # time limit for a post, in seconds
SUCCESS = range(200, 300)
LONGEST_LABEL = 63  # maximum length of a label in a host name (RFC 1035)


@dataclass(frozen=True)
class Webhook:
    """Address to which alarms are posted. User and password are sent as a header; redirects are not followed.

    >>> Webhook.of("https://ann:pw@hooks.example:8443/services/T0/B0/secret").redacted
    'https://hooks.example:8443/…'
    """

    parts: SplitResult

    @classmethod
    def of(cls, url: str) -> Webhook:
        """Parse an address. Raise `UsageError`, which does not quote the address, if it is invalid."""
        allowed = "http://HOST[:PORT]/PATH or https://…"
        try:
            parts = urlsplit(url.strip())
            _ = parts.port
        except ValueError:
            raise UsageError("not a valid URL", where="--webhook", allowed=allowed) from None
        host = (parts.hostname or "").removesuffix(".")
        valid_host = ":" in host or all(0 < len(label) <= LONGEST_LABEL for label in host.split("."))
        printable = url.strip().isprintable() and " " not in url.strip() and url.isascii()
        if parts.scheme not in ("http", "https") or not valid_host or not printable:
            raise UsageError("not a valid URL", where="--webhook", allowed=allowed)
        return cls(parts)

    @property
    def redacted(self) -> str:
        host = f"[{self.parts.hostname}]" if ":" in (self.parts.hostname or "") else self.parts.hostname
        rest = "/…" if self.parts.path not in ("", "/") or self.parts.query else ""
        return f"{self.parts.scheme}://{host}{f':{self.parts.port}' if self.parts.port else ''}{rest}"

    def post(self, message: Mapping[str, object]) -> str:
        """Post `message` as JSON. Return "" on success, otherwise an error message that does not contain the address.

        The call times out after `WAIT` seconds, even if the server sends its answer byte by byte.
        """
        outcome: list[str] = []
        body = json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
        call = threading.Thread(target=lambda: outcome.append(self._post(body)), daemon=True)
        call.start()
        call.join(WAIT)
        return outcome[0] if outcome else f"no answer within {WAIT:g} s"

    def _post(self, body: bytes) -> str:
        connect = http.client.HTTPSConnection if self.parts.scheme == "https" else http.client.HTTPConnection
        connection = connect(self.parts.hostname or "", self.parts.port, timeout=WAIT)
        headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "malsim"}
        if self.parts.username is not None:
            pair = f"{unquote(self.parts.username)}:{unquote(self.parts.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        query = f"?{self.parts.query}" if self.parts.query else ""
        try:
            connection.request("POST", (self.parts.path or "/") + query, body, headers)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as problem:
            return getattr(problem, "strerror", None) or type(problem).__name__
        finally:
            connection.close()
        return "" if status in SUCCESS else f"the server answered {status}"
