"""Pages that may have killed their worker, and how few of them share a batch.

A worker that dies says nothing about which of its pages was to blame. So its pages become suspects, and are handed out
in small company first and alone at last: only a page that died alone is closed as crashed.

A host's suspects wait in a lane of their own beside the host's other pages: "host|16" for batches of sixteen, "host|1"
for batches of one. No host name holds a "|" (WHATWG URL, forbidden host code points).
"""

from __future__ import annotations

SMALL_COMPANY = 16  # suspects in a batch, while they have more than one attempt left: the root of a batch's 256 pages


def lane_of(host: str, *, deaths: int, attempts: int, max_attempts: int) -> str:
    """The lane a page waits in: the host itself unless a worker died with the page in hand."""
    if deaths == 0:
        return host
    is_last_attempt = attempts + 1 >= max_attempts
    return f"{host}|{1 if is_last_attempt else SMALL_COMPANY}"


def lanes_of(host: str) -> list[str]:
    """Every lane that pages of a host may wait in."""
    return [host, f"{host}|{SMALL_COMPANY}", f"{host}|1"]


def host_of(lane: str) -> str:
    return lane.partition("|")[0]


def company(lane: str) -> int | None:
    """Pages of this lane that may share a batch; None when its pages are not suspects."""
    _, _, pages = lane.partition("|")
    return int(pages) if pages else None
