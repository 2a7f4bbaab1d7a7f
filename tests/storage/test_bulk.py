"""Statements that take many rows at once store the same on both databases."""

from typing import Any

import pytest
from django.db import DataError

from crawler import models
from crawler.capabilities.browser.page_load import PageLoad, Resource
from crawler.core.html.page_metadata import MalformedHref, PageMetadata
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.core.url_lists.entries import Entry
from crawler.models import Crawl, Page, PageFacts, PageLinks
from crawler.storage import bulk, writer
from crawler.storage.writer import Retry
from tests.postgresql import PostgresStack

NOW = 1_800_000_000.25
START = "http://site.test/"
ODD = 'O\'Reilly \\ "100 %s" {page} \N{SNOWMAN}\0 \ud800 \x1f\u2028 </a>'


def stored() -> list[dict[str, Any]]:
    """The rows after a bit of everything was written, without what differs from run to run."""
    crawl = Crawl.objects.create(start_urls=[START], options=CrawlOptions(sitemaps=True).to_plain())
    writer.open_start_pages(crawl, [START, f"{START}b", f"{START}c"], NOW)
    listed = [
        Entry(1, f"{START}listed", 7),
        Entry(2, START, 9),
        Entry(3, f"{START}f", 2, 60.0, NOW + 9, {"n": 1, ODD: ODD}),
    ]
    writer.open_listed_pages(crawl.id, listed, NOW)
    first, second, third = Page.objects.filter(crawl=crawl).order_by("id").values_list("id", flat=True)[:3]
    facts = PageMetadata(
        description=ODD,
        h1=ODD,
        h1_count=2,
        canonical=START,
        canonicals=1,
        digest=bytes(range(16)),
        words=9,
        insecure=(ODD,),
        fields={"price": 1.5, "names": [ODD, None, True], "none": None},
        notes={"price": ODD},
        malformed=(MalformedHref(ODD, 1),),
        malformed_number=1,
    )
    answered = PageResult(
        id=first,
        attempt=1,
        outcome=Outcome.SUCCESS,
        http_status=200,
        content_type="text/html",
        title=ODD,
        links=(f"{START}d",),
        link_keys=b"\0\xff'\\%s",
        linkage=bytes(range(256)),
        bytes=2**40,
        elapsed_ms=7,
        requests=1,
        fetched_at=NOW,
        headers=f"A: {ODD}\nB: 2",
        facts=facts,
        kept={"html": ["object", 0, 5]},
        load=PageLoad(cls=0.125, resource_bytes=2**40, console=(ODD,), requests=(Resource(ODD, "fetch", error=ODD),)),
    )
    failed = PageResult(id=second, attempt=1, outcome=Outcome.TIMEOUT, error=ODD)
    again = PageResult(id=third, attempt=1, outcome=Outcome.SUCCESS, http_status=503)
    found = [
        Discovery(f"{START}d", 1, 0, first, rel="ugc"),
        Discovery(START, 1, 0, first, in_sitemap=True, linked=False, lastmod="2026-11-23"),
        Discovery(f"{START}e", 1, 0, first, Outcome.LIMIT, "deeper", in_sitemap=True, linked=False),
        Discovery(f"{START}e", 1, 0, first),
    ]
    writer.apply(crawl.id, [answered, failed], [Retry(again, NOW + 0.1, 503)], found, NOW)
    rows = list(Page.objects.filter(crawl=crawl).order_by("id").values())
    for row in rows:
        page = row.pop("id")
        row["facts"] = PageFacts.objects.filter(page_id=page).values().first()
        row["load"] = models.PageLoad.objects.filter(page_id=page).values().first()
        row["links"] = PageLinks.objects.filter(page_id=page).values().first()
    return [_plain(row, first) for row in rows]


def _plain(value: Any, first: int) -> Any:
    """The same with ids that count from the first page, without the crawl's, and with bytes of one type."""
    match value:
        case dict():
            plain = {name: _plain(part, first) for name, part in value.items() if name != "crawl_id"}
            return {
                name: part - first if name in ("parent_id", "page_id") and part else part
                for name, part in plain.items()
            }
        case memoryview():
            return bytes(value)
        case _:
            return value


@pytest.mark.django_db
def test_both_databases_store_the_same(postgres_stack: PostgresStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "ROWS_PER_STATEMENT", 2)  # the third page begins another statement
    rows = stored()
    assert postgres_stack.within(stored) == rows
    assert [row["url"].removeprefix(START) for row in rows] == ["", "b", "c", "listed", "f", "d", "e"]
    assert [(row["status"], row["attempts"]) for row in rows] == [(1, 1), (1, 1), (0, 1), *[(0, 0)] * 4]
    shown = ODD.replace("\0", "").replace("\ud800", "?")
    assert [row["meta"] for row in rows] == [None, None, None, None, {"n": 1, shown: shown}, None, None]
    assert (rows[4]["due_at"], rows[4]["expires_at"]) == (NOW + 9, NOW + 60)
    assert (rows[0]["title"], rows[0]["in_sitemap"], rows[0]["lastmod"]) == (shown, True, "2026-11-23")
    assert rows[0]["facts"]["fields"] == {"price": 1.5, "names": [shown, None, True], "none": None}
    assert rows[0]["links"]["packed"] == bytes(range(256))
    assert (rows[0]["load"]["cls"], rows[0]["load"]["lcp_ms"], rows[0]["load"]["console"]) == (0.125, None, [shown])
    assert rows[0]["load"]["requests"] == [{"url": shown, "kind": "fetch", "error": shown}]
    assert (rows[2]["due_at"], rows[2]["put_off"]) == (NOW + 0.1, 503)


def test_postgresql_refuses_a_value_without_storing_the_others(postgres_stack: PostgresStack) -> None:
    def closed() -> int:
        crawl = Crawl.objects.create(start_urls=[START], options={})
        writer.open_start_pages(crawl, [START, f"{START}b"], NOW)
        pages = Page.objects.filter(crawl=crawl).order_by("id").values_list("id", flat=True)
        results = [
            PageResult(id=page, attempt=1, outcome=Outcome.SUCCESS, bytes=2**62 << place)
            for place, page in enumerate(pages)
        ]
        with pytest.raises(DataError):
            writer.apply(crawl.id, results, [], [], NOW)
        return Page.objects.filter(crawl=crawl, status=Page.CLOSED).count()

    assert postgres_stack.within(closed) == 0
