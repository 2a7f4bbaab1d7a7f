"""What the descriptions of the doors share: examples, and what any of them may answer besides."""

from __future__ import annotations

from typing import Any

JSON = "application/json"
FORM = "multipart/form-data"
CRAWL_ID = "0b7c1c1e-9a53-4b62-9d55-1f0a3f2f8a11"
SCHEDULE_ID = "5e0c7f6e-2f0a-4f0e-8a53-3d1f3a1b2c3d"


def described(
    answer: Any = None, *, status: int = 200, sends: Any = None, media_type: str = JSON, sends_as: str = JSON
) -> dict[str, Any]:
    """Examples of what is sent and answered, for `openapi_extra`."""
    response: dict[str, Any] = {} if answer is None else {"content": {media_type: {"example": answer}}}
    extra: dict[str, Any] = {"responses": {status: response}}
    if sends is not None:
        extra["requestBody"] = {"content": {sends_as: {"example": sends}}}
    return extra
