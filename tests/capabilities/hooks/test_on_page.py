"""`on_page`: its fields stand beside each page and in exports, its links are crawled, and its faults cost no page."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from crawler.capabilities.hooks import calls
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.cache_policy import cache_partition
from crawler.exports.rows import columns_of, rows
from crawler.hooks import Found
from crawler.models import HookCalls, Page, PageFacts
from tests.bench import Bench
from tests.capabilities.hooks import samples
from tests.capabilities.hooks.samples import name_of
from tests.site import Reply, page

PAGES = {
    "/": page("/a", "/text", title="Home"),
    "/a": page("/b", title="A"),
    "/b": page("/"),
    "/text": Reply("plain", headers={"Content-Type": "text/plain"}),
    "/hidden": "<p>Only a hook knows this one.</p>",
}
pytestmark = pytest.mark.site(PAGES)
EXPECTED = {"/", "/a", "/b", "/text"}


@pytest.fixture(autouse=True)
def _quick(settings: Any) -> Iterator[None]:
    """What hangs is given up at once; its threads are let go at the end."""
    settings.CRAWLER_HOOK_SECONDS = 0.2
    samples.Hanging.released = threading.Event()
    calls._failed.clear()
    yield
    samples.Hanging.released.set()
    while calls._left_behind.total():
        threading.Event().wait(0.01)


def run(bench: Bench, settings: Any, *hooks: type, **options: Any) -> dict[str, str]:
    """Path -> outcome, of a crawl with these hooks."""
    settings.CRAWLER_HOOKS = [name_of(hook) for hook in hooks]
    bench.run(**options)
    assert bench.state() == "finished"
    pages = Page.objects.filter(crawl=bench.crawl).values_list("url", "outcome")
    return {url.removeprefix(bench.site.url): outcome for url, outcome in pages}


def counts(bench: Bench) -> dict[str, tuple[int, int, int]]:
    found = HookCalls.objects.filter(crawl=bench.crawl)
    return {row.hook.rpartition(".")[2]: (row.calls, row.errors, row.timeouts) for row in found}


def test_its_fields_and_links_become_those_of_the_page(bench: Bench, settings: Any) -> None:
    pages = run(bench, settings, samples.Counting)
    assert set(pages) == {*EXPECTED, "/hidden"}
    home, text = (Page.objects.get(crawl=bench.crawl, url=f"{bench.site.url}{path}").id for path in ("/", "/text"))
    assert PageFacts.objects.get(page_id=home).fields == {
        "letters": len(str(PAGES["/"])),
        "path": "",
        "seen": "2026-11-23",
        "is_home": True,
        "both": [1, "a"],
    }
    assert PageFacts.objects.get(page_id=text).fields == {}
    assert counts(bench) == {"Counting": (4, 0, 0)}


def test_its_fields_are_columns_of_exports_with_their_types(bench: Bench, settings: Any) -> None:
    run(bench, settings, samples.Counting, fields=(FieldRule(name="heading", selector="h1"),))
    types = {column.name: column.type.value for column in columns_of(bench.crawl)}
    assert list(types)[-7:] == ["heading", "both", "is_home", "letters", "path", "seen", "field_notes"]
    (home,) = (row for row in rows(bench.crawl) if row["url"] == f"{bench.site.url}/")
    assert (home["heading"], home["is_home"], home["both"]) == (None, True, [1, "a"])
    assert list(home) == list(types)


def test_a_page_that_is_skipped_is_stored_and_its_links_are_not_followed(bench: Bench, settings: Any) -> None:
    assert set(run(bench, settings, samples.Skipping)) == EXPECTED - {"/b"}


@pytest.mark.parametrize(
    ("hook", "error"),
    [
        (samples.Raising, "ValueError: no price on http://"),
        (samples.Exiting, "SystemExit: 3"),
        (samples.Unmakeable, "OSError: no file"),
        (samples.Misnaming, "ValueError: 'a name' is not a field name"),
    ],
)
def test_a_hook_that_fails_costs_no_page_and_no_other_hook(bench: Bench, settings: Any, hook: type, error: str) -> None:
    pages = run(bench, settings, hook, samples.Counting)
    assert set(pages) == {*EXPECTED, "/hidden"}
    assert set(pages.values()) == {"2xx"}
    assert counts(bench) == {hook.__name__: (4, 4, 0), "Counting": (4, 0, 0)}
    assert HookCalls.objects.get(hook=name_of(hook)).last_error.startswith(error)


def test_a_call_that_hangs_is_left_behind_and_its_page_goes_on(bench: Bench, settings: Any) -> None:
    pages = run(bench, settings, samples.HangingOnce, samples.Counting)
    assert set(pages) == {*EXPECTED, "/hidden"}
    assert counts(bench) == {"HangingOnce": (4, 0, 1), "Counting": (4, 0, 0)}
    assert HookCalls.objects.get(hook=name_of(samples.HangingOnce)).last_error == "it took longer than 0.2 s"


@pytest.mark.site({"/": page(*(f"/{number}" for number in range(9))), **{f"/{n}": page() for n in range(9)}})
def test_a_hook_that_always_hangs_is_not_called_any_more(bench: Bench, settings: Any) -> None:
    run(bench, settings, samples.Hanging)
    assert calls._left_behind[name_of(samples.Hanging)] == calls.MAX_LEFT_BEHIND
    assert counts(bench) == {"Hanging": (10, 0, 10)}
    assert HookCalls.objects.get().last_error == "not called: 4 earlier calls have not ended in this worker"


@pytest.mark.site({"/": page("/a"), "/a": page()})
@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"price": 1}, "TypeError: on_page returned dict; return None, SKIP or Found(...)"),
        (Found({"price": object()}), "TypeError: Encoding objects of type object is unsupported"),
        (Found({"price": 2**70}), "OverflowError: "),
        (Found({"price": "\ud800"}), "UnicodeEncodeError: "),
        (Found({"text": "a" * 200_001}), "ValueError: its fields take 200,012 bytes as JSON"),
        (Found({f"f{number}": 1 for number in range(51)}), "ValueError: it found 51 fields"),
        (Found(links="/a"), "TypeError: the links that on_page returns must be a list of texts"),
        (Found(links=[None]), "TypeError: the links that on_page returns must be a list of texts"),  # type: ignore[list-item]
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(bench: Bench, settings: Any, value: Any, error: str) -> None:
    samples.Returning.value = value
    assert set(run(bench, settings, samples.Returning)) == {"/", "/a"}
    row = HookCalls.objects.get()
    assert (row.calls, row.errors) == (2, 2)
    assert row.last_error.startswith(error)


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_cached_responses_keep_what_hooks_found_and_are_shared_with_the_same_hooks_alone(
    bench: Bench, settings: Any
) -> None:
    for hooks in ([samples.Counting], [samples.Counting], []):
        run(bench, settings, *hooks, response_ttl=600.0)
        if bench.site.hits["/a"] == 1 and Page.objects.filter(crawl=bench.crawl, reused=True).exists():
            assert counts(bench) == {"Counting": (0, 0, 0)}
            assert "letters" in {column.name for column in columns_of(bench.crawl)}
    assert bench.site.hits["/a"] == 2


def test_crawls_without_hooks_share_answers_as_they_did() -> None:
    assert cache_partition(CrawlOptions(), b"", ()) == b""
    assert cache_partition(CrawlOptions(), b"", ("a.B",)) not in (b"", cache_partition(CrawlOptions(), b"", ("a.C",)))
