"""The list of crawls: filters, and the list alone for a page that is open."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.protocol.completion import State
from crawler.web.crawl.crawls import CRAWLS_PER_PAGE, LATER, SOON
from tests.factories import a_crawl, a_finished_crawl, a_person

PART = {"HTTP_HX_REQUEST": "true"}


def sites(browser: Client, query: str = "") -> list[str]:
    return [summary["crawl"].site for summary in browser.get(f"/?{query}").context["summaries"]]


@pytest.fixture
def three(ann: User) -> None:
    a_crawl(ann, start_urls=["https://one.example/docs/"])
    a_crawl(ann, start_urls=["https://two.example/"], state=State.PAUSED)
    a_finished_crawl(ann, start_urls=["https://three.example/"], source="urls.csv")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["urls.csv (3 URLs)", "two.example", "one.example/docs"]),
        ("state=going", ["two.example", "one.example/docs"]),
        ("state=nonsense", ["urls.csv (3 URLs)", "two.example", "one.example/docs"]),
        ("q=DOCS", ["one.example/docs"]),
        ("q=%25", []),
    ],
)
def test_a_filter_keeps_what_is_like_it(as_ann: Client, three: None, query: str, found: list[str]) -> None:
    assert sorted(sites(as_ann, query)) == sorted(found)


def test_where_nothing_is_like_the_filter_there_is_a_way_back(as_ann: Client, three: None) -> None:
    html = as_ann.get("/?q=nothing").content.decode()
    assert 'No crawl matches. <a href="/">Show all</a>' in html
    assert 'value="nothing"' in html


def test_an_open_page_gets_the_list_alone(as_ann: Client, three: None) -> None:
    html = as_ann.get("/?state=paused", **PART).content.decode()
    assert html.lstrip().startswith('<div id="crawl-rows" hx-get="/?state=paused&amp;page=1"')
    assert "two.example" in html
    assert "<form" not in html


def test_it_asks_again_soon_only_while_a_crawl_goes_on(as_ann: Client, ann: User) -> None:
    a_finished_crawl(ann)
    assert f"every {LATER}" in as_ann.get("/", **PART).content.decode()
    a_crawl(ann)
    assert f"every {SOON}" in as_ann.get("/", **PART).content.decode()


def test_the_next_page_keeps_the_filter(as_ann: Client, ann: User) -> None:
    for _ in range(CRAWLS_PER_PAGE + 1):
        a_crawl(ann, state=State.PAUSED)
    assert 'href="/?state=paused&amp;page=2"' in as_ann.get("/?state=paused").content.decode()


def test_those_who_see_the_crawls_of_others_can_choose_whose(as_root: Client, ann: User) -> None:
    a_crawl(ann, start_urls=["https://hers.example/"])
    a_crawl(a_person("bob"), start_urls=["https://his.example/"])
    assert as_root.get("/").context["owners"] == ["ann", "bob"]
    assert sites(as_root, "owner=bob") == ["his.example"]


def test_the_owner_filter_shows_nobody_the_crawls_of_others(as_ann: Client) -> None:
    a_crawl(a_person("bob"))
    response = as_ann.get("/?owner=bob")
    assert (response.context["owners"], response.context["summaries"]) == ([], [])


def test_a_crawl_that_got_no_page_does_not_look_well(as_ann: Client, ann: User) -> None:
    a_finished_crawl(ann)
    assert 'data-tone="bad"' not in as_ann.get("/", **PART).content.decode()
    a_finished_crawl(ann, outcomes={"connect": 1}, statuses={})
    assert 'data-state="finished" data-tone="bad">Finished' in as_ann.get("/", **PART).content.decode()
