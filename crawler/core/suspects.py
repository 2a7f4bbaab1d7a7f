"""Pages that may have killed their worker, and how few of them share a batch.

A worker that dies says nothing about which of its pages was to blame, and most of them it had not asked for yet. So the
open pages of its batch become suspects, and nothing is counted against them. A suspect is noted in the lease before it
is asked for: a worker that dies then counts against this one page. From its first death on a page goes alone.

A host's suspects wait in a lane of their own beside the host's other pages: "host|16" for batches of sixteen, "host|1"
for batches of one. No host name holds a "|" (WHATWG URL, forbidden host code points).
"""

from __future__ import annotations

SMALL_COMPANY = 16  # suspects in a batch, until a worker dies over one: the root of a batch's 256 pages


def lane_of(host: str, *, is_suspect: bool, deaths: int) -> str:
    """The lane a page waits in: the host itself unless a worker died with the page in its batch. `deaths`: workers that
    died over this page."""
    if not is_suspect:
        return host
    return f"{host}|{1 if deaths else SMALL_COMPANY}"


def lanes_of(host: str) -> list[str]:
    """Every lane that pages of a host may wait in."""
    return [host, f"{host}|{SMALL_COMPANY}", f"{host}|1"]


def host_of(lane: str) -> str:
    return lane.partition("|")[0]


def company(lane: str) -> int | None:
    """Pages of this lane that may share a batch; None when its pages are not suspects."""
    _, _, pages = lane.partition("|")
    return int(pages) if pages else None
