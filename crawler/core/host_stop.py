"""For how long a whole host is not asked, because its server said so: a 429 or 503 with Retry-After (RFC 9110, 10.2.3).

The stop follows the evidence, so that one page cannot shut a site:

1. A 503 speaks of its page. The host is stopped once PAGES different pages said so within WINDOW_S, with no other
   response in between.
2. A 429 speaks of the client (RFC 6585, 4) and stops the host at once; while one page alone says so, for FIRST_S at
   most. One that was refused before and says so again while no other page does stops nothing.
3. After a stop one page is tried, alone (`frontier.gate`). Any other response ends the stop. Should this page be
   another than the one that led to the stop, and ask to wait, too, the next stop lasts as long as it says.
4. No stop is longer than the operator allows (CRAWLER_MAX_HOST_STOP).

The page itself waits for its own time, see `core.retries`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

PAGES = 3
WINDOW_S = 30.0
FIRST_S = 10.0
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True)
class Refusal:
    """A response that asks to wait."""

    page: str  # a short digest of its URL
    status: int  # 429 or 503
    wait: float  # seconds
    is_repeat: bool = False  # the page was refused before in this crawl
    others_answered: bool = False  # other pages were answered since the last refusal, as far as its slice knows


@dataclass(frozen=True)
class HostStop:
    """What is remembered of a host. Moments are epoch seconds."""

    until: float = 0.0  # it is not asked before
    status: int | None = None  # the last refusal's; None = it is not stopped, nor on trial
    stops: int = 0  # in a row; as long as there are any, pages are tried one at a time
    page: str = ""  # that led to the last stop
    refusals: tuple[tuple[str, float], ...] = ()  # the last pages that were refused, and when


def after_refusal(known: HostStop, refusal: Refusal, now: float, longest: float) -> HostStop:
    """`longest`: seconds a stop may last."""
    recent = {} if refusal.others_answered else {page: at for page, at in known.refusals if at > now - WINDOW_S}
    others = recent.keys() - {refusal.page}
    recent[refusal.page] = now
    noted = replace(known, refusals=tuple(sorted(recent.items(), key=lambda item: item[1]))[-PAGES:])
    on_trial = known.stops > 0 and now >= known.until
    is_confirmed = len(recent) >= PAGES or (on_trial and refusal.page != known.page)
    is_first = refusal.status == TOO_MANY_REQUESTS and not refusal.is_repeat and not on_trial
    if not (is_confirmed or is_first or (refusal.status == TOO_MANY_REQUESTS and others)):
        return noted
    seconds = min(refusal.wait, longest, longest if is_confirmed else FIRST_S)
    return replace(
        noted,
        until=max(known.until, now + seconds),
        status=refusal.status,
        stops=known.stops + (now >= known.until),
        page=refusal.page,
    )
