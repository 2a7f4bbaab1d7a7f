"""Every page of a crawl that is unlike others - empty, failed at its start, of one page, with what nobody expects in an
address or a title - is shown, and so is everything it leads to."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, reverse
from redis import Redis

from crawler.core.html.page_metadata import PageMetadata
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.exports.formats import FORMATS
from crawler.models import Crawl
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.comparison import CHANGES
from crawler.web import urls
from crawler.web.tables.page_table import FILES
from tests.factories import SITE, a_crawl, a_delivery, a_finished_crawl, a_page
from tests.reports.pages import read_page

MARKUP = "<script>alert(1)</script>"
ODD = (
    f"\N{RIGHT-TO-LEFT OVERRIDE}שלום \N{PILE OF POO}\N{ZERO WIDTH JOINER} {MARKUP} {{{{ x }}}} %s \\ \" ' & "
    + "ß" * 500
)
LONG = f"{SITE}{'a' * 1000}?q={'%F0%9F%92%A9' * 80}&x={'b' * 40}"


def nothing(owner: User) -> Crawl:
    """No page is known: it has just begun, or what was known is gone."""
    return a_crawl(owner, discovered=0)


def failed_at_its_start(owner: User) -> Crawl:
    crawl = a_finished_crawl(owner, discovered=1, outcomes={"dns": 1}, statuses={})
    a_page(crawl, SITE, Outcome.DNS, given_up=True, attempts=3, error="nothing of the name example.com is known")
    a_delivery(crawl)
    return crawl


def of_one_page(owner: User) -> Crawl:
    crawl = a_finished_crawl(owner, discovered=1, outcomes={"2xx": 1}, statuses={"200": 1})
    read_page(crawl, SITE)
    return crawl


def odd(owner: User) -> Crawl:
    """Everything a stranger may write is as odd as can be."""
    options = CrawlOptions(fields=(), near_duplicates=True, sitemaps=True, externals="record", obey_noindex=False)
    crawl = a_finished_crawl(owner, options=options, start_urls=[LONG], outcomes={"2xx": 2, "5xx": 1})
    facts = PageMetadata(description=ODD, h1=ODD, h1_count=2, canonical=LONG, canonicals=2, insecure=(LONG,), words=1)
    more = {
        "content_type": f"text/html; {ODD}"[:100],
        "headers": f"X-Odd: {ODD}",
        "kept": {"text": ODD},
        "facts": facts,
    }
    first = read_page(crawl, LONG, {f"{LONG}c": ODD, "javascript:alert(1)": ODD}, title=ODD, error=ODD, **more)
    read_page(crawl, f"{LONG}c", {LONG: ""}, title=ODD, parent_id=first.pk, depth=10**6, elapsed_ms=2**31 - 1)
    a_page(crawl, f"{LONG}d", 500, given_up=True, redirect_to=LONG, rel=ODD[:40], parent_id=first.pk, error=ODD)
    a_page(crawl, f"https://{'x' * 60}.test/", Outcome.EXTERNAL, kind="external", fetched_at=None)
    a_delivery(crawl, address=f"{'x' * 200}@example.com", error=ODD)
    return crawl


EDGES = [nothing, failed_at_its_start, of_one_page, odd]
NOT_BY_GET = re.compile(
    r"/(pause|resume|cancel|finish|add|change|delete|share|keep|retry-failed|release-traps|again|extract)$"
)


def addresses(crawl: Crawl, other: Crawl) -> Iterator[str]:
    """Every address below the crawl that can be made without knowing more."""
    values = {"<uuid:crawl_id>": [crawl.pk], "<uuid:other_id>": [other.pk]}
    formats = [key for key, made in FORMATS.items() if not made.form]
    for pattern in urls.urlpatterns:
        route = f"/{pattern.pattern}"
        if not isinstance(pattern, URLPattern) or "<uuid:crawl_id>" not in route or NOT_BY_GET.search(route):
            continue
        slugs = [change.slug for change in CHANGES] if "other_id" in route else [report.slug for report in REPORTS]
        files = FILES if "/pages/" in route else formats
        known = {**values, "<str:export_format>": files, "<slug:slug>": slugs, "<slug:export_format>": ["csv"]}
        found = [route]
        for place, those in known.items():
            found = [made.replace(place, str(value)) for made in found for value in (those if place in made else [""])]
        yield from (made for made in found if "<" not in made)


def links_in(answer: HttpResponseBase, crawl: Crawl, at: str) -> Iterator[str]:
    """What the page leads to below the same crawl."""
    if not answer["Content-Type"].startswith("text/html") or answer.streaming:
        return
    for link in re.findall(r'(?:href|hx-get)="([^"]+)', answer.content.decode()):  # type: ignore[attr-defined]
        target = unescape(link).partition("#")[0]
        target = f"{urlsplit(at).path}{target}" if target.startswith("?") else target
        if target.startswith(f"/crawls/{crawl.pk}/") and not NOT_BY_GET.search(urlsplit(target).path):
            yield target


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.__name__)
def test_every_page_of_it_is_shown(as_ann: Client, ann: User, real_redis: Redis, edge: Any) -> None:
    crawl, other = edge(ann), a_finished_crawl(ann)
    waiting, seen, trouble = [reverse("crawl-list"), *addresses(crawl, other)], set(), {}
    while waiting:
        address = waiting.pop()
        if (path := urlsplit(address).path) in seen:
            continue
        seen.add(path)
        answer = as_ann.get(address)
        text = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
        if answer.status_code != 200:
            trouble[address] = answer.status_code
        if answer["Content-Type"].startswith("text/html"):
            assert MARKUP.encode() not in text, address
        waiting += links_in(answer, crawl, address)
    assert trouble == {}
    assert len(seen) > 80
