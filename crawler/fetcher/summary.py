"""The return value of a fetch job, which a dashboard shows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from crawler import conf
from crawler.fetcher.result_buffer import MAX_SUMMARY_LINKS
from crawler.fetcher.session import FetchSession

MAX_LINK_CHARACTERS = 150
MAX_CRAWLS_SHOWN = 4  # a job may work on batches of several


class Summary:
    """RQ keeps it for a minute, so it says what was done and where the links went; the links themselves travel in the
    results list (rule R3)."""

    def __init__(self) -> None:
        self._outcomes = Counter[str]()
        self._links = 0
        self._first_links: list[str] = []
        self._places = dict[str, tuple[str, ...]]()  # crawl -> where its links are, in short lines

    def add(self, session: FetchSession) -> None:
        """Count a batch that is over."""
        self._outcomes += session.result_buffer.outcomes
        self._links += session.result_buffer.links
        self._first_links += session.result_buffer.first_links
        keys = session.frontier.keys
        self._places[keys.crawl] = (
            f"Redis list {keys.results}",
            "once the manager has written them to the table:",
            f"{conf.base_url()}/crawls/{keys.crawl}/pages/",
        )

    def to_plain(self) -> dict[str, Any]:
        """Two kilobytes at most. The keys are in alphabetical order, in which rq-dashboard shows them."""
        return {
            "links": self._links,
            "links_first": [_shortened(link) for link in self._first_links[:MAX_SUMMARY_LINKS]],
            "links_where": [line for place in list(self._places.values())[:MAX_CRAWLS_SHOWN] for line in place],
            "outcomes": dict(sorted(self._outcomes.items())),
            "pages": self._outcomes.total(),
        }


def _shortened(url: str) -> str:
    return url if len(url) <= MAX_LINK_CHARACTERS else f"{url[: MAX_LINK_CHARACTERS - 1]}…"
