"""docs/notices.md: its examples are what is really sent, and its way to check a signature works."""

import json
import re
import time
from typing import Any

import pytest

from crawler.core.channels import webhook
from crawler.core.channels.kind import Message, SigningContext
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import OF_PAGES, Event
from crawler.exports.rows import KEYS
from crawler.models import Crawl, Delivery, Notice, PageFacts, PageLoad
from crawler.notices.delivery import message_of
from crawler.reports.receipt import receipt_of
from tests.factories import a_crawl, a_finished_crawl, a_page
from tests.stack import ROOT

TEXT = (ROOT / "docs" / "notices.md").read_text()
EXAMPLES = {event: json.loads(body) for event, body in re.findall(r"```json (\S+)\n(.*?)```", TEXT, re.DOTALL)}


def sent(crawl: Crawl, event: Event, **fields: Any) -> dict[str, Any]:
    """What a webhook would get."""
    notice = Notice.objects.create(crawl=crawl, event=event, **fields)
    delivery = Delivery.objects.create(notice=notice, transport="webhook", address="https://example.com/hook")
    if event is not Event.PAGE:
        notice.receipt = receipt_of(crawl)
    body: dict[str, Any] = json.loads(json.dumps(webhook.content(message_of(delivery))))
    return body


def shape(value: Any) -> Any:
    """Names and types, without the values; what has names of its own making counts as it is."""
    match value:
        case {"id": _, "state": _}:
            return {name: type(part).__name__ for name, part in value.items()}
        case dict():
            return {name: shape(part) for name, part in value.items()}
        case list():
            return [shape(part) for part in value]
        case _:
            return type(value).__name__


@pytest.mark.django_db
def test_the_example_of_an_end_is_what_is_sent() -> None:
    assert shape(sent(a_finished_crawl(), Event.FINISHED)) == shape(EXAMPLES["crawl.finished"])


@pytest.mark.django_db
def test_the_example_of_a_start_is_what_is_sent() -> None:
    assert shape(sent(a_crawl(), Event.STARTED)) == shape(EXAMPLES["crawl.started"])


@pytest.mark.django_db
def test_the_example_of_pages_is_what_is_sent() -> None:
    crawl = a_finished_crawl(options=CrawlOptions(render="auto"))
    start = a_page(crawl, "https://example.com/")
    page = a_page(crawl, "https://example.com/docs/", attempts=1, parent_id=start.id, meta={"customer": "4711"})
    PageFacts.objects.create(page_id=page.id, crawl=crawl, canonical=page.url, words=412)
    PageLoad.objects.create(page_id=page.id, crawl=crawl, lcp_ms=812, cls=0.02, resource_bytes=184_220)
    assert shape(sent(crawl, Event.PAGE, pages=[page.id])) == shape(EXAMPLES["crawl.page"])
    assert tuple(EXAMPLES["crawl.page"]["pages"][0]) == KEYS


def test_each_example_says_what_it_is_of() -> None:
    assert {event: example["event"] for event, example in EXAMPLES.items()} == {event: event for event in EXAMPLES}


@pytest.mark.parametrize("event", OF_PAGES)
def test_every_event_is_documented(event: Event) -> None:
    assert f"| `{event}` |" in TEXT


def test_the_way_to_check_a_signature_works() -> None:
    (source,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 (our own document)
    is_genuine, body, secret = names["is_genuine"], b'{"id": "1"}', webhook.secret_of(b"k" * 32)
    signed = signed_at(time.time(), secret, body)
    assert is_genuine(secret, signed, body)
    assert not is_genuine(secret, signed, body + b" ")
    assert not is_genuine(webhook.secret_of(b"o" * 32), signed, body)
    assert not is_genuine(secret, {**signed, "webhook-id": "2"}, body)
    assert not is_genuine(secret, signed_at(time.time() - 600, secret, body), body)


def signed_at(now: float, secret: str, body: bytes) -> dict[str, str]:
    message = Message(id="1", event="crawl.finished", crawl="", receipt={}, subject="", text="")
    return webhook.headers(message, body, SigningContext("", now, (secret,)))
