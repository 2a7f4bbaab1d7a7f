"""The gallery shows the screenshots of a crawl, to those who may see it, and says how to get some."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from crawler.core.options.catalogue import CrawlOptions
from crawler.models import Crawl, Page, PageFacts
from crawler.web.crawl import gallery
from tests.factories import a_crawl, a_finished_crawl, a_page

PICTURED = CrawlOptions(keep=("screenshot",), render="always")
PLACE = ["object", 0, 10]
NOT_KEPT = "not kept: it was not ready after 20 s"


def a_rendered_page(crawl: Crawl, path: str, answer: Any = 200, *, kept: Any = PLACE, **fields: Any) -> Page:
    page = a_page(crawl, f"https://example.com{path}", answer, **fields)
    PageFacts.objects.create(page_id=page.pk, crawl=crawl, kept={"screenshot": kept} if kept else {})
    return page


def shown(browser: Client, crawl: Crawl, query: str = "") -> LexborHTMLParser:
    response = browser.get(f"/crawls/{crawl.pk}/gallery/{query}")
    assert response.status_code == 200
    return LexborHTMLParser(response.content.decode())


def words(page: LexborHTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(selector)]


def tabs(browser: Client, crawl: Crawl) -> list[str]:
    return words(LexborHTMLParser(browser.get(f"/crawls/{crawl.pk}/").content.decode()), ".tabs a")


def test_each_screenshot_leads_to_its_page(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann, options=PICTURED)
    home = a_rendered_page(crawl, "/", title="Home <b>")
    untitled = a_rendered_page(crawl, "/untitled", title="")
    a_rendered_page(crawl, "/late", kept=NOT_KEPT)
    a_rendered_page(crawl, "/other-forms", kept=None)
    a_page(crawl, "https://example.com/gone", 404)
    found = shown(as_ann, crawl)
    below = f"/crawls/{crawl.pk}/pages"
    assert [link.attrs["href"] for link in found.css(".gallery a")] == [
        f"{below}/{home.pk}/",
        f"{below}/{untitled.pk}/",
    ]
    images = found.css(".gallery img")
    assert [image.attrs["src"] for image in images] == [
        f"{below}/{page.pk}/content/screenshot" for page in (home, untitled)
    ]
    assert {image.attrs["loading"] for image in images} == {"lazy"}
    assert words(found, ".gallery li") == [
        "Home <b> 200 https://example.com/",
        "https://example.com/untitled 200 https://example.com/untitled",
    ]
    assert words(found, "h2") == ["2 screenshots"]


def test_many_are_shown_on_several_pages(as_ann: Client, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "THUMBNAILS_PER_PAGE", 2)
    crawl = a_finished_crawl(ann, options=PICTURED)
    for number in range(5):
        a_rendered_page(crawl, f"/{number}", title=f"Page {number}")
    assert words(shown(as_ann, crawl, "?page=2"), ".gallery strong") == ["Page 2", "Page 3"]
    assert words(shown(as_ann, crawl), ".pager span") == ["Page 1 of 3"]


def test_a_crawl_leads_to_its_gallery_when_there_are_screenshots(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann, options=PICTURED)
    a_rendered_page(crawl, "/late", kept=NOT_KEPT)
    assert "Gallery" not in tabs(as_ann, crawl)
    a_rendered_page(crawl, "/")
    assert "Gallery" in tabs(as_ann, crawl)


@pytest.mark.parametrize(
    ("options", "state", "said"),
    [
        (CrawlOptions(), "finished", "--render always --keep screenshot"),
        (PICTURED, "running", "No screenshots yet."),
        (PICTURED, "finished", "Open a page to see why it has none."),
        (CrawlOptions(keep=("screenshot",), render="auto"), "finished", "no page needed a browser"),
    ],
)
def test_an_empty_gallery_says_how_to_get_some(
    as_ann: Client, ann: User, options: CrawlOptions, state: str, said: str
) -> None:
    crawl = (a_crawl if state == "running" else a_finished_crawl)(ann, options=options)
    a_page(crawl)
    assert said in " ".join(words(shown(as_ann, crawl), ".empty"))


def test_a_pages_own_view_shows_its_screenshot(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann, options=PICTURED)
    for page, number in ((a_rendered_page(crawl, "/"), 1), (a_rendered_page(crawl, "/late", kept=NOT_KEPT), 0)):
        html = as_ann.get(f"/crawls/{crawl.pk}/pages/{page.pk}/").content.decode()
        images = LexborHTMLParser(html).css("img.screenshot")
        assert len(images) == number
    assert f"screenshot: {NOT_KEPT}" in html
