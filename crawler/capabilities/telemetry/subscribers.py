"""The span of a crawl, from its start to its end, when it is over."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.capabilities.telemetry import conf, tracing
from crawler.core.errors import TransportError
from crawler.core.options.events import ENDS, Event
from crawler.models import Delivery
from crawler.notices.subscribers import Subscriber

TRANSPORT = "trace"
ADDRESS = "otlp"


def _addresses(event: Event) -> Iterable[str]:
    return (ADDRESS,) if event in ENDS and conf.sends_traces() else ()


def _send(delivery: Delivery) -> str:
    if not conf.sends_traces():
        raise TransportError("this worker sends no traces", permanent=True)
    crawl = delivery.notice.crawl
    ended = (crawl.finished_at or delivery.notice.created_at).timestamp()
    attributes: dict[str, tracing.Value] = {
        "crawl.id": str(crawl.pk),
        "crawl.site": crawl.site,
        "crawl.state": crawl.state,
        "crawl.discovered": crawl.discovered,
    }
    tracing.note("crawl", str(crawl.pk), crawl.created_at.timestamp(), ended, name=str(crawl.pk), attributes=attributes)
    tracing.flush()
    return "the span of the crawl was sent"


def _left(address: str) -> str:
    return "The span of the crawl is left; the next worker sends it."


SUBSCRIBERS = (Subscriber(TRANSPORT, _addresses, _send, _left),)
