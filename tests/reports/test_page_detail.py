"""All that is known of one page: how it was found, where it leads, what it said; and what is not known."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.html.page_metadata import PageMetadata
from crawler.core.options.catalogue import CrawlOptions
from crawler.models import Crawl, Page, Trap
from crawler.reports import page_detail
from crawler.reports.page_detail import page_report
from tests.factories import make_crawl, make_page
from tests.reports.pages import read_page
from tests.text_files import listed

pytestmark = pytest.mark.django_db
SITE = "http://site.test"
WHEN = datetime(2026, 11, 21, 20, 15, tzinfo=UTC)
REDIRECT = {"status": 1, "outcome": "3xx", "http_status": 301}


@pytest.fixture
def crawl() -> Crawl:
    return make_crawl()


def urls(found: list[dict[str, Any]]) -> list[str]:
    return [each["url"].removeprefix(SITE) for each in found]


def test_it_can_be_told_as_json(crawl: Crawl) -> None:
    page = read_page(crawl, f"{SITE}/", {f"{SITE}/a": "A"}, fetched_at=WHEN, elapsed_ms=30, bytes=500)
    report = json.loads(json.dumps(page_report(crawl, page)))
    assert (report["url"], report["http_status"], report["bytes"]) == (f"{SITE}/", 200, 500)
    assert (report["first_byte_ms"], report["elapsed_ms"]) == (12, 30)
    assert report["fetched_at"] == "2026-11-21T20:15:00.000+00:00"


def test_the_path_leads_from_the_start_to_its_parent(crawl: Crawl) -> None:
    sitemap = make_page(crawl, f"{SITE}/sitemap.xml", kind="sitemap")
    moved = make_page(crawl, f"{SITE}/old", parent_id=sitemap.pk, redirect_to=f"{SITE}/new")
    target = make_page(crawl, f"{SITE}/new", parent_id=moved.pk)
    page = make_page(crawl, f"{SITE}/deep", parent_id=target.pk)
    path = page_report(crawl, page)["path"]
    assert path["is_whole"]
    assert urls(path["steps"]) == ["/sitemap.xml", "/old", "/new"]
    assert [step["leads_by"] for step in path["steps"]] == ["sitemap", "redirect", "link"]


def test_of_a_long_path_the_near_end_is_told(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.reports.page_detail.MAX_STEPS", 2)
    page = make_page(crawl, f"{SITE}/0")
    for number in range(1, 5):
        page = make_page(crawl, f"{SITE}/{number}", parent_id=page.pk)
    path = page_report(crawl, page)["path"]
    assert (urls(path["steps"]), path["is_whole"]) == (["/2", "/3"], False)


def test_redirects_are_followed_both_ways(crawl: Crawl) -> None:
    make_page(crawl, f"{SITE}/1", redirect_to=f"{SITE}/2", **REDIRECT)
    make_page(crawl, f"{SITE}/also", redirect_to=f"{SITE}/2", **REDIRECT)
    second = make_page(crawl, f"{SITE}/2", redirect_to=f"{SITE}/3", **REDIRECT)
    make_page(crawl, f"{SITE}/3", redirect_to="http://elsewhere.test/", **REDIRECT)
    make_page(make_crawl(), f"{SITE}/x", redirect_to=f"{SITE}/2", **REDIRECT)
    redirects = page_report(crawl, second)["redirects"]
    assert [page_detail.answer(step) for step in redirects["onwards"]] == ["301", "not in this crawl"]
    assert (urls(redirects["sources"]), redirects["is_loop"]) == (["/1", "/also"], False)
    last = page_report(crawl, Page.objects.get(crawl=crawl, url=f"{SITE}/3"))["redirects"]
    assert [(source["url"].removeprefix(SITE), source["hops"]) for source in last["sources"]] == [
        ("/2", 1),
        ("/1", 2),
        ("/also", 2),
    ]


@pytest.mark.parametrize("ring", [["/1"], ["/1", "/2"], ["/1", "/2", "/3"]])
def test_a_circle_of_redirects_is_called_one(crawl: Crawl, ring: list[str]) -> None:
    for path, following in zip(ring, [*ring[1:], ring[0]], strict=True):
        make_page(crawl, f"{SITE}{path}", redirect_to=f"{SITE}{following}", **REDIRECT)
    redirects = page_report(crawl, Page.objects.get(crawl=crawl, url=f"{SITE}/1"))["redirects"]
    assert redirects["is_loop"]
    assert urls(redirects["onwards"]) == ring[1:]


def test_links_out_are_told_with_what_came_of_their_targets(crawl: Crawl) -> None:
    missing = make_page(crawl, f"{SITE}/missing", status=1, outcome="4xx", http_status=404)
    links = {missing.url: "gone", f"{SITE}/unknown": ""}
    page = read_page(crawl, f"{SITE}/", links, rels={missing.url: "nofollow"})
    out = page_report(crawl, page)["links_out"]
    assert out["number"] == 2
    gone, unknown = out["links"]
    assert (gone["text"], gone["rel"], gone["page"], page_detail.answer(gone)) == (
        "gone",
        "nofollow",
        missing.pk,
        "404",
    )
    assert (unknown["page"], page_detail.answer(unknown)) == (None, "not in this crawl")


def test_links_come_a_part_at_a_time(crawl: Crawl) -> None:
    target = make_page(crawl, f"{SITE}/target")
    for number in range(3):
        read_page(crawl, f"{SITE}/{number}", {target.url: f"words {number}"})
    page = read_page(crawl, f"{SITE}/", {f"{SITE}/{number}": "" for number in range(3)})
    report = page_report(crawl, page, out_at=2, links=2)
    assert (report["links_out"]["number"], urls(report["links_out"]["links"])) == (3, ["/2"])
    links_in = page_report(crawl, target, in_at=1, links=1)["links_in"]
    assert (links_in["number"], urls(links_in["links"]), links_in["links"][0]["text"]) == (3, ["/1"], "words 1")


def pages() -> Iterator[tuple[str, Page]]:
    """One of each kind of which there is something of its own to say."""
    crawl, looked = make_crawl(), make_crawl(options=CrawlOptions(sitemaps=True).to_plain())
    facts = PageMetadata(description="About", h1="Heading", h1_count=2, canonical=f"{SITE}/read", canonicals=1, words=7)
    trap = Trap.objects.create(crawl=crawl, key=b"1", reason="dates", pattern="/calendar/*")
    unread = {"status": 1, "outcome": "2xx", "http_status": 200, "content_type": "text/html"}
    yield "read", read_page(crawl, f"{SITE}/read", facts=facts, title="Start", directives="noindex")
    yield "not requested yet", make_page(crawl, f"{SITE}/open")
    yield "no answer", make_page(crawl, f"{SITE}/slow", status=1, outcome="timeout", error="no answer")
    yield "no host", make_page(crawl, f"{SITE}/dns", status=1, outcome="dns", error="no such host")
    yield "no metadata kept", make_page(crawl, f"{SITE}/old", **unread)
    yield "a picture", read_page(crawl, f"{SITE}/a.png", content_type="image/png")
    yield "a sitemap", read_page(crawl, f"{SITE}/sitemap", kind="sitemap")
    yield "an error", read_page(crawl, f"{SITE}/gone", outcome="4xx", http_status=404)
    yield "in a trap", make_page(crawl, f"{SITE}/calendar/1", status=1, outcome="trap", trap_id=trap.pk)
    yield "of a sitemap alone", make_page(looked, f"{SITE}/", in_sitemap=True, linked=False, lastmod="2026-01-02")


def told(report: dict[str, Any]) -> Iterator[str]:
    known = [*page_detail.answered(report), *page_detail.found(report), *page_detail.said(report)]
    yield from (f"{name}: {text}" for name, text in known)
    yield page_detail.unread(report) or "It was read."


def test_what_is_known_is_told_and_what_is_not_known_says_why(golden: SnapshotAssertion) -> None:
    assert listed({kind: told(page_report(page.crawl, page)) for kind, page in pages()}) == golden


def test_nothing_that_is_not_known_is_empty() -> None:
    assert not any(line.endswith(": ") for _, page in pages() for line in told(page_report(page.crawl, page)))
