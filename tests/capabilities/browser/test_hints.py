"""A site that needs its scripts says so in a crawl that renders none, and its pages are noted as such."""

import pytest

from crawler.models import Crawl, Page, ScriptPage
from crawler.reports.hints import hints_of
from crawler.storage import page_rows
from tests.bench import Bench
from tests.reports.catalogue.factories import SITE, crawl_with, make
from tests.reports.test_hints import ended, many, told
from tests.site import page

SHELL = '<!doctype html><title>App</title><div id="root"></div><script src="/app.js"></script>'
MENU = "".join(f'<a href="/{name}">{name}</a>' for name in "abcdefghijkl")


def need_scripts(crawl: Crawl, number: int) -> None:
    for at in range(number):
        ScriptPage.objects.create(page=make(crawl, f"/app-{at}", 200), crawl=crawl, reason="root")


@pytest.mark.django_db
@pytest.mark.parametrize(("shells", "others", "is_told"), [(3, 27, True), (3, 28, False), (2, 1, False)])
def test_it_is_told_of_a_tenth_of_the_pages_and_three_at_least(shells: int, others: int, is_told: bool) -> None:
    crawl = crawl_with()
    need_scripts(crawl, shells)
    many(crawl, others, 200)
    assert told(crawl) == ({"scripts": (shells, shells + others, f"{SITE}/app-0")} if is_told else {})


@pytest.mark.django_db
def test_a_crawl_that_renders_is_told_nothing() -> None:
    crawl = crawl_with(render="auto")
    need_scripts(crawl, 10)
    assert hints_of(ended(crawl)) == []


@pytest.mark.site({"/": SHELL})
def test_a_start_page_without_a_word_is_noted_and_told(bench: Bench) -> None:
    bench.start()
    bench.work()
    bench.crawl.refresh_from_db()
    (hint,) = hints_of(bench.crawl)
    assert (hint["hint"], hint["pages"], hint["of"], hint["example"]) == ("scripts", 1, 1, f"{bench.site.url}/")


@pytest.mark.site({"/": page("/a"), "/a": SHELL + MENU})
def test_a_page_with_many_links_is_none(bench: Bench) -> None:
    bench.start()
    bench.work()
    assert not ScriptPage.objects.exists()


@pytest.mark.site({"/": SHELL})
def test_a_crawl_that_renders_notes_none(bench: Bench) -> None:
    bench.start(render="auto")
    for queue in ("crawl", "fetch", "crawl"):
        bench.work(queue, at_most=1)
    assert not ScriptPage.objects.exists()


@pytest.mark.site({"/": SHELL})
def test_the_note_goes_with_its_page(bench: Bench) -> None:
    bench.start()
    bench.work()
    noted = ScriptPage.objects.get()
    page_rows.delete(bench.crawl.id, [noted.page_id], of_results_only=True)
    assert Page.objects.filter(pk=noted.page_id).exists()
    assert not ScriptPage.objects.exists()
