"""A notice as a person reads it, for each event of a crawl."""

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import Event
from crawler.models import Crawl, Delivery, Notice
from crawler.notices.delivery import message_of
from crawler.reports.receipt import receipt_of
from tests.factories import a_finished_crawl, a_page
from tests.golden.masking import masked


def mail_about(crawl: Crawl, event: Event) -> str:
    """Subject and text of the mail, and the figures of messages to Slack and Discord."""
    notice = Notice.objects.create(crawl=crawl, event=event, receipt=receipt_of(crawl))
    message = message_of(Delivery.objects.create(notice=notice, transport="email", address="me@example.com"))
    figures = " | ".join(f"{name}: {value}" for name, value in message.figures)
    return masked(f"{message.subject}\n\n{message.text}\n({figures})\n", {str(crawl.id): "CRAWL"})


@pytest.mark.parametrize("event", [event for event in Event if event not in {Event.PAGE, Event.TEST}])
def test_a_mail_about(event: Event, golden: SnapshotAssertion) -> None:
    crawl = a_finished_crawl()
    a_page(crawl, answer=404 if event is Event.FAILED else 200)
    assert mail_about(crawl, event) == golden


def test_a_mail_about_a_crawl_that_is_not_complete(golden: SnapshotAssertion) -> None:
    limited = a_finished_crawl(outcomes={"2xx": 1, "limit": 2}, limits={"pages": 2}, options=CrawlOptions(max_pages=1))
    assert mail_about(limited, Event.FINISHED) == golden
