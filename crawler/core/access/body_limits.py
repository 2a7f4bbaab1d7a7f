"""How large the body of a request may be, decided before any of it is read."""

from __future__ import annotations

ANONYMOUS_BYTES = 64 * 1024  # of a client that is not logged in: the login form, an invitation


def body_limit(*, is_known: bool, takes_file: bool, form_bytes: int, upload_bytes: int) -> int:
    """In bytes. `is_known`: the client is logged in, or sent a valid token; `takes_file`: the address takes a file."""
    if not is_known:
        return ANONYMOUS_BYTES
    return upload_bytes if takes_file else form_bytes
