"""Options: which pages and crawls come first, and when a page is acknowledged."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.options.kinds import Choice, OptionGroup, Texts, WholeNumber, option
from crawler.core.politeness.priorities import check_priorities
from crawler.core.politeness.shares import MOST_WEIGHT, USUAL_WEIGHT

QUEUE = OptionGroup("Queue", "which pages come first, shares of the workers", "queue", 90)

LATE, EARLY = "late", "early"
ACK = Choice(
    EARLY,
    LATE,
    {
        LATE: "Late: pages of a crashed worker are retried",
        EARLY: "Early: pages of a crashed worker are lost",
    },
)


class QueueOptions(Part):
    """The order of pages, and a crawl's share of the workers."""

    priorities: tuple[str, ...] = option(
        Texts("/news/=9", check_priorities, "RE=N"),
        QUEUE,
        "Priorities",
        "Fetch matching URLs sooner or later. A rule is a regular expression, = and 0 (last) to 10 (first); other "
        "pages have 5. The first match counts, unless a list or a sitemap sets the priority.",
        flag="--priority",
    )
    weight: int = option(
        WholeNumber("8", most=MOST_WEIGHT, default=USUAL_WEIGHT),
        QUEUE,
        "Weight",
        "Share of the workers, 1 to 10. A crawl with 6 gets three times as many batches as one with 2 that runs at the "
        "same time.",
    )
    ack: str = option(
        ACK,
        QUEUE,
        "Acknowledge",
        "Acknowledge pages late or early. Late, when they are done: if a worker crashes, its pages are retried. "
        "Early, when a worker receives them: if it crashes, its open pages close as lost, and are retried only on "
        "demand.",
    )
