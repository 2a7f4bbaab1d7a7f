"""A page's own view: all that is known of it, with nothing of a stranger's run or opened."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from syrupy.assertion import SnapshotAssertion

from crawler.capabilities.browser.page_load import BLOCKED, FAILED, PageLoad, Resource
from crawler.core.html.page_metadata import MalformedHref, PageMetadata
from crawler.core.options.catalogue import CrawlOptions
from crawler.models import Crawl, Page
from crawler.web.crawl import pages
from tests.factories import a_finished_crawl, a_page, a_person
from tests.reports.pages import read_page
from tests.web.reading import words_of

SITE = "https://example.com"


def html_of(browser: Client, page: Page, query_string: str = "") -> str:
    response = browser.get(f"/crawls/{page.crawl_id}/pages/{page.pk}/{query_string}")
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def crawl(ann: User) -> Crawl:
    return a_finished_crawl(ann)


def test_everything_is_told(as_ann: Client, crawl: Crawl, golden: SnapshotAssertion) -> None:
    facts = PageMetadata(
        description="About it",
        h1="Heading",
        h1_count=1,
        insecure=("http://example.com/x.png",),
        malformed=(MalformedHref("htp:/x<b>", "a typo", "", "unknown scheme htp"),),
        malformed_number=7,
        fields={"price": 9.5, "weight": None},
        notes={"weight": "it is no number: <b>"},
    )
    target = a_page(crawl, f"{SITE}/target", 404)
    page = read_page(
        crawl,
        f"{SITE}/",
        {target.url: "a dead link"},
        title="Start",
        facts=facts,
        headers="Server: test\nX-Evil: <script>",
        kept={"html": ["name", 0, 5], "text": "the disk is full"},
    )
    html = html_of(as_ann, page)
    assert "\n".join(words_of(html)) == golden
    for told in ("htp:/x&lt;b&gt;", "(it is no number: &lt;b&gt;)", "X-Evil: &lt;script&gt;"):
        assert told in html
    assert f'<a href="/crawls/{crawl.id}/pages/{target.pk}/">{target.url}</a>' in html
    assert f'<li><a href="/crawls/{crawl.id}/pages/{page.pk}/content/html">html</a></li>' in html


def test_how_it_loaded_in_the_browser_is_told(as_ann: Client, crawl: Crawl, golden: SnapshotAssertion) -> None:
    requests = (
        Resource(f"{SITE}/gone.js", "script", 404, 120, 1031, problem=FAILED),
        Resource("wss://example.com/live", "websocket"),
        Resource("javascript:<b>", "image", error="blocked: image", problem=BLOCKED),
    )
    load = PageLoad(
        lcp_ms=2600,
        cls=0.3,
        console_errors=3,
        failed_requests=1,
        blocked_requests=1,
        resources=2,
        resource_bytes=120,
        console=("Uncaught <b>",),
        requests=requests,
    )
    html = html_of(as_ann, read_page(crawl, f"{SITE}/", lane_reason="always", load=load))
    part = html.partition('id="browser-title">')[2].partition("</section>")[0]
    assert "\n".join(words_of(f"<main>{part}</main>")) == golden
    assert "Uncaught &lt;b&gt;" in part
    assert 'href="javascript:' not in part
    assert html_of(as_ann, read_page(crawl, f"{SITE}/crashed", lane_reason="always")).count("In the browser") == 1
    assert "In the browser" not in html_of(as_ann, read_page(crawl, f"{SITE}/plain"))


def test_a_page_of_which_nothing_is_kept_says_why(as_ann: Client, ann: User) -> None:
    page = a_page(a_finished_crawl(ann, options=CrawlOptions(keep=("text",))), answer=404)
    assert "No content of this page is stored. " in html_of(as_ann, page)


def test_a_dead_letter_can_be_asked_for_again_and_leads_back(as_ann: Client, crawl: Crawl) -> None:
    letter = a_page(crawl, f"{SITE}/gone", 503, given_up=True)
    html = html_of(as_ann, letter)
    assert f'<button name="page" value="{letter.pk}" class="primary">Retry</button>' in html
    assert "Retry" not in html_of(as_ann, a_page(crawl, f"{SITE}/fine"))
    response = as_ann.post(f"/crawls/{crawl.id}/retry-failed", {"page": letter.pk, "back": "page"})
    assert response["Location"] == f"/crawls/{crawl.id}/pages/{letter.pk}/"


def test_links_are_leafed_through_and_the_other_list_stays(
    as_ann: Client, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LINKS", 2)
    page = read_page(crawl, f"{SITE}/", {f"{SITE}/{number}": f"words {number}" for number in range(5)})
    html = html_of(as_ann, page, "?out=2&in=3")
    assert re.findall(r"words \d", html) == ["words 2", "words 3"]
    assert 'href="?out=1&amp;in=3#links-out"' in html
    assert 'href="?out=3&amp;in=3#links-out"' in html
    assert "No more links" in html_of(as_ann, page, "?out=9")
    assert "words 0" in html_of(as_ann, page, "?out=-1&in=x")


def test_a_page_of_another_crawl_or_person_is_not_there(as_ann: Client, crawl: Crawl) -> None:
    page, theirs = a_page(crawl), a_page(a_finished_crawl(a_person("bob")))
    for crawl_id, page_id in [
        (crawl.id, theirs.pk),
        (theirs.crawl_id, theirs.pk),
        (theirs.crawl_id, page.pk),
        (crawl.id, "9" * 30),
    ]:
        assert as_ann.get(f"/crawls/{crawl_id}/pages/{page_id}/").status_code == 404
