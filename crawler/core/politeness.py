"""How much of one host may be handed out at a time, so that its delay is kept without holding a worker."""

from __future__ import annotations

SLICE_PAGES = 64  # pages of one host handed out at a time when it asks for no delay
SLICE_SECONDS = 5.0  # a slice that keeps a delay should last no longer than this
PATIENCE = 2.5  # seconds a fetch job waits for its turn at a host before it hands the page back
LONGEST_DELAY = 60.0  # seconds; a robots.txt that asks for more gets this


def host_delay(chosen: float, crawl_delay: float | None) -> float:
    """The delay to keep at a host: the user's, or robots.txt's Crawl-delay when that is longer."""
    return max(chosen, min(crawl_delay or 0.0, LONGEST_DELAY))


def slice_pages(delay: float) -> int:
    """Pages to hand out at a time to a host with this delay, in seconds; one by one when a fetch job would not wait
    for the second."""
    if delay <= 0:
        return SLICE_PAGES
    if delay > PATIENCE:
        return 1
    return max(1, min(SLICE_PAGES, int(SLICE_SECONDS / delay)))


def slices_at_once(delay: float, concurrency: int) -> int:
    """Slices of one host that may be out at a time. A delay of half a second or more leaves nothing for a second
    connection to do but wait."""
    return 1 if delay >= 0.5 else concurrency
