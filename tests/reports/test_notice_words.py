"""What a notice says to people."""

from __future__ import annotations

import pytest

from crawler.core.events import Event
from crawler.reports.notice_words import EVENTS, SENTENCES, event_word, sentence
from tests.web.factories import a_finished_crawl, a_page


def test_there_are_words_for_every_event() -> None:
    assert set(EVENTS) == set(SENTENCES) == set(Event)


def test_an_event_of_an_older_version_is_shown_as_it_is() -> None:
    assert event_word("finished") == "finished"


@pytest.mark.django_db
def test_a_failure_says_why() -> None:
    crawl = a_finished_crawl()
    a_page(crawl, answer=404)
    assert sentence(crawl, Event.FAILED) == (
        "The crawl came to nothing. The start URL https://example.com/ answered 404, so there was nothing to follow."
    )
