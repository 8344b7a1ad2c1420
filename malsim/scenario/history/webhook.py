"""Posts to a webhook, whose address is a secret: what is printed of it is scheme, host and port."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

WAIT = 10.0  # seconds
FINE = range(200, 300)
LONGEST_LABEL = 63  # letters between two dots of a name


@dataclass(frozen=True)
class Webhook:
    """Where to post; a user and a password in the address are sent as a header.

    A redirection is not followed: it would carry the message to another host.

    >>> Webhook.of("https://ann:pw@hooks.example:8443/services/T0/B0/secret").redacted
    'https://hooks.example:8443/…'
    """

    parts: SplitResult
    port: int | None

    @classmethod
    def of(cls, url: str) -> Webhook:
        """Read an address; raises `UsageError`, which repeats nothing of it, where it is none."""
        allowed = "http://HOST[:PORT]/PATH or https://…"
        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError:
            raise UsageError("not an address to post to", where="--webhook", allowed=allowed) from None
        host = (parts.hostname or "").removesuffix(".")
        whole = ":" in host or all(0 < len(label) <= LONGEST_LABEL for label in host.split("."))
        printable = url.strip().isprintable() and " " not in url.strip() and url.isascii()
        if parts.scheme not in ("http", "https") or not whole or not printable:
            raise UsageError("not an address to post to", where="--webhook", allowed=allowed)
        return cls(parts, port)

    @property
    def redacted(self) -> str:
        """The address as it may be repeated."""
        host = f"[{self.parts.hostname}]" if ":" in (self.parts.hostname or "") else self.parts.hostname
        port = f":{self.port}" if self.port else ""
        rest = "/…" if self.parts.path not in ("", "/") or self.parts.query else ""
        return f"{self.parts.scheme}://{host}{port}{rest}"

    def post(self, message: Mapping[str, object]) -> str:
        """Post as JSON; why that failed, in words that repeat nothing of the address, empty where it did not.

        The whole call ends after `WAIT` seconds: one that answers a letter a second is given up.
        """
        body = json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
        outcome: list[str] = []
        call = threading.Thread(target=lambda: outcome.append(self._post(body)), daemon=True)
        call.start()
        call.join(WAIT)
        return outcome[0] if outcome else f"no answer within {WAIT:g} s"

    def _post(self, body: bytes) -> str:
        connection = self._connection()
        path = (self.parts.path or "/") + (f"?{self.parts.query}" if self.parts.query else "")
        try:
            connection.request("POST", path, body, self._headers())
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as problem:
            return getattr(problem, "strerror", None) or type(problem).__name__
        finally:
            connection.close()
        return "" if status in FINE else f"it answered {status}"

    def _connection(self) -> http.client.HTTPConnection:
        host = self.parts.hostname or ""
        if self.parts.scheme == "https":
            return http.client.HTTPSConnection(host, self.port, timeout=WAIT, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, self.port, timeout=WAIT)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "malsim"}
        if self.parts.username is not None:
            pair = f"{unquote(self.parts.username)}:{unquote(self.parts.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        return headers
