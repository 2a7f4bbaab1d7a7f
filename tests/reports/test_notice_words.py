"""What a notice says to people."""

from __future__ import annotations

import pytest

from crawler.core.crawl.notices import Event
from crawler.core.crawl.options import CrawlOptions
from crawler.models import Crawl
from crawler.reports.receipt import receipt_of
from crawler.reports.text import EVENTS, SENTENCES, event_word, figures, sentence
from tests.factories import a_finished_crawl, a_page


def test_there_are_words_for_every_event() -> None:
    assert set(EVENTS) == set(SENTENCES) == set(Event)


def test_an_event_of_an_older_version_is_shown_as_it_is() -> None:
    assert event_word("finished") == "finished"


@pytest.mark.django_db
def test_the_end_of_a_crawl_that_is_not_complete_says_what_is_missing() -> None:
    crawl = a_finished_crawl(outcomes={"2xx": 1, "limit": 2}, limits={"pages": 2}, options=CrawlOptions(max_pages=1))
    receipt = receipt_of(crawl)
    assert sentence(crawl, Event.FINISHED, receipt) == (
        "The crawl is finished. Limit reached: 1 page at most (2 pages were not requested)."
    )
    assert ("Ended", "limit reached (pages)") in figures(receipt)
    assert sentence(crawl, Event.FINISHED, receipt_of(a_finished_crawl())) == "The crawl is finished."


def test_a_notice_of_an_earlier_version_can_still_be_sent() -> None:
    told = {"discovered": 3, "fetched": 3, "failed": 0, "skipped": {}, "seconds": 12.0, "bytes": 9}
    assert sentence(Crawl(), Event.FINISHED, told) == "The crawl is finished."
    assert [name for name, _ in figures(told)] == ["Discovered", "Fetched", "Failed", "Skipped", "Time", "Received"]


@pytest.mark.django_db
def test_a_failure_says_why() -> None:
    crawl = a_finished_crawl()
    a_page(crawl, answer=404)
    assert sentence(crawl, Event.FAILED) == (
        "The crawl came to nothing. The start URL https://example.com/ answered 404, so there was nothing to follow."
    )
