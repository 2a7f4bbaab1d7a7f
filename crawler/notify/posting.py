"""What the transports that post have in common: by what they post, and what the receiver's answer means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from crawler.core.outcomes import Outcome
from crawler.notify.transport import TransportError

_TRY_AGAIN = frozenset({408, 425, 429})  # the 4xx that mean "not now"


class Answer(Protocol):
    """What a receiver said."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def http_status(self) -> int | None: ...
    @property
    def error(self) -> str: ...


class Poster(Protocol):
    """Posts through the guard, within limits, and follows no redirect: the fetcher for HTTP is one."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer: ...


def post_json(poster: Poster, url: str, content: Mapping[str, Any]) -> str:
    """Post this as JSON; what the receiver said, or TransportError unless it took it."""
    return judge(poster.post(url, json.dumps(content).encode(), {"Content-Type": "application/json"}))


def judge(answer: Answer) -> str:
    """What the receiver said when it took the message; TransportError when it did not."""
    status = answer.http_status
    if status is not None and 200 <= status <= 299:  # taken, whatever became of the answer's body
        return f"the receiver answered {status}"
    if status is None:
        raise TransportError(answer.error, permanent=answer.outcome is Outcome.PRIVATE_ADDRESS)
    redirected = "; redirects are not followed" if 300 <= status <= 399 else ""
    refused = 400 <= status <= 499 and status not in _TRY_AGAIN
    raise TransportError(f"the receiver answered {status}{redirected}", permanent=refused)
