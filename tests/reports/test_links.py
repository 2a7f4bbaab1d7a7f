"""Who links to a page is answered from what was kept of all links, on either database."""

import pytest

from crawler.core.html import link_codec
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page
from crawler.reports.links import Inlink, inlinks
from crawler.storage import sql
from tests.factories import make_crawl, make_page

pytestmark = pytest.mark.django_db
SITE = "http://site.test"
BROKEN = f"{SITE}/broken"


def keep(page: Page, links: dict[str, str], **rels: str) -> None:
    packed = link_codec.packed(list(links), link_codec.Occurrences.once([*links], [*links.values()], rels), page.url)
    result = PageResult(
        id=page.id, attempt=1, outcome=Outcome.SUCCESS, link_keys=link_codec.keys(list(links)), linkage=packed
    )
    sql.store_links(page.crawl_id, [result])


@pytest.fixture
def crawl() -> Crawl:
    return make_crawl()


def test_each_link_is_told_with_its_page_and_its_words(crawl: Crawl) -> None:
    keep(make_page(crawl, f"{SITE}/"), {f"{SITE}/a": "A", BROKEN: "the old news"})
    keep(make_page(crawl, f"{SITE}/a"), {f"{SITE}/": "Home"})
    keep(make_page(crawl, f"{SITE}/b"), {BROKEN: ""}, **{BROKEN: "nofollow"})
    assert inlinks(crawl, BROKEN) == [Inlink(f"{SITE}/", "the old news", ""), Inlink(f"{SITE}/b", "", "nofollow")]


def test_the_links_of_another_crawl_are_not_told(crawl: Crawl) -> None:
    keep(make_page(make_crawl(), f"{SITE}/"), {BROKEN: "elsewhere"})
    assert inlinks(crawl, BROKEN) == []


def test_no_more_are_told_than_are_wanted(crawl: Crawl) -> None:
    for number in range(5):
        keep(make_page(crawl, f"{SITE}/{number}"), {BROKEN: str(number)})
    assert [link.text for link in inlinks(crawl, BROKEN, 2)] == ["0", "1"]


def test_the_links_of_a_page_that_was_asked_for_again_are_the_last_ones(crawl: Crawl) -> None:
    page = make_page(crawl, f"{SITE}/")
    keep(page, {BROKEN: "before"})
    keep(page, {BROKEN: "after"})
    assert [link.text for link in inlinks(crawl, BROKEN)] == ["after"]
