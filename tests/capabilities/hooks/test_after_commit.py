"""`on_closed` and `on_finished` are called after the commit, at least once; what fails or dies stops no other."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from crawler.capabilities.hooks import calls, subscribers
from crawler.crawls import control
from crawler.hooks import CrawlFinished, PageClosed
from crawler.models import Delivery, HookCalls, Page
from crawler.notices.delivery import deliver_due
from crawler.reports.receipt import receipt_of
from tests.bench import Bench, Died
from tests.capabilities.hooks import samples
from tests.capabilities.hooks.samples import name_of
from tests.site import Reply, page

PAGES = {"/": page("/a", "/b", "/gone"), "/a": page(title="A"), "/b": page()}
pytestmark = pytest.mark.site(PAGES)


class Remembering:
    """What it was called with; `fault` is called with each page first."""

    pages: list[PageClosed] = []
    crawls: list[CrawlFinished] = []

    @staticmethod
    def fault(page: PageClosed) -> None: ...

    def on_closed(self, page: PageClosed) -> None:
        self.fault(page)
        self.pages.append(page)

    def on_finished(self, crawl: CrawlFinished) -> None:
        self.crawls.append(crawl)


@pytest.fixture(autouse=True)
def hook(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Remembering]]:
    monkeypatch.setattr(Remembering, "pages", [])
    monkeypatch.setattr(Remembering, "crawls", [])
    settings.CRAWLER_HOOKS = [name_of(Remembering)]
    settings.CRAWLER_HOOK_SECONDS = 0.3
    yield Remembering
    samples.Hanging.released.set()
    while calls._left_behind.total():
        threading.Event().wait(0.01)


def run(bench: Bench, **options: Any) -> None:
    bench.run(**options)
    deliver_what_is_left()


def run_up_to_the_calls(bench: Bench, hook: type[Remembering]) -> None:
    """Finished, with no call made yet."""
    run(bench)
    Delivery.objects.update(state=Delivery.PENDING, due_at="2000-01-01T00:00Z", attempts=0, place=0, tries=0)
    HookCalls.objects.all().delete()
    hook.pages.clear()
    hook.crawls.clear()


def deliver_what_is_left() -> None:
    """As often as there is anything; pages are gathered for a moment first."""
    while Delivery.objects.filter(state=Delivery.PENDING).exists():
        Delivery.objects.filter(state=Delivery.PENDING).update(due_at="2000-01-01T00:00Z")
        deliver_due()


def paths(bench: Bench, pages: list[PageClosed]) -> list[str]:
    return sorted(page.url.removeprefix(bench.site.url) for page in pages)


def test_they_are_told_of_every_page_that_was_requested_and_of_the_end(bench: Bench, hook: type[Remembering]) -> None:
    run(bench)
    assert paths(bench, hook.pages) == ["/", "/a", "/b", "/gone"]
    (gone,) = (page for page in hook.pages if page.url.endswith("/gone"))
    row = Page.objects.get(id=gone.id)
    assert (gone.crawl, gone.outcome, gone.http_status, gone.depth) == (str(bench.crawl.id), "4xx", 404, 1)
    assert gone.fetched_at == pytest.approx(row.fetched_at.timestamp())  # type: ignore[union-attr]
    (end,) = hook.crawls
    assert (end.id, end.state, end.round) == (str(bench.crawl.id), "finished", 1)
    assert end.receipt["fetched"] == 4
    found = HookCalls.objects.filter(crawl=bench.crawl).values_list("method", "calls", "errors")
    assert set(found) == {("on_closed", 4, 0), ("on_finished", 1, 0)}


@pytest.mark.site({"/": "<h1>Home</h1>"})
def test_on_closed_gets_what_on_page_found(bench: Bench, hook: type[Remembering], settings: Any) -> None:
    settings.CRAWLER_HOOKS = [name_of(samples.Counting), name_of(Remembering)]
    run(bench)
    assert {page.fields.get("letters") for page in hook.pages if page.outcome == "2xx"} == {len("<h1>Home</h1>")}


@pytest.mark.site({"/": Reply(after=0.0, status=500)})
def test_the_end_of_a_crawl_that_failed_or_was_cancelled_is_told_as_such(
    bench: Bench, hook: type[Remembering], settings: Any
) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1
    run(bench)
    bench.start()
    control.cancel(bench.crawl.id)
    deliver_what_is_left()
    assert [end.state for end in hook.crawls] == ["failed", "cancelled"]


def test_receivers_of_notices_are_shown_without_hooks(bench: Bench) -> None:
    run(bench)
    assert receipt_of(bench.crawl)["notifications"] == []
    assert Delivery.objects.filter(transport="hook", state=Delivery.DELIVERED).count() == 2


def test_a_call_that_raises_or_hangs_is_counted_and_not_repeated(
    bench: Bench, hook: type[Remembering], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples.Hanging.released = threading.Event()

    def fault(page: PageClosed) -> None:
        if page.url.endswith("/a"):
            raise ValueError("no")
        if page.url.endswith("/b"):
            samples.Hanging.released.wait(60)

    monkeypatch.setattr(hook, "fault", staticmethod(fault))
    run(bench)
    assert paths(bench, hook.pages) == ["/", "/gone"]
    assert len(hook.crawls) == 1
    row = HookCalls.objects.get(method="on_closed")
    assert (row.calls, row.errors, row.timeouts) == (4, 1, 1)


def test_a_page_on_which_workers_die_is_left_out_after_three_and_the_others_are_not(
    bench: Bench, hook: type[Remembering], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_up_to_the_calls(bench, hook)
    deaths, real = list[str](), subscribers.call

    def dying(of: Any, method: str, read: Any, given: Any) -> Any:
        if isinstance(given, PageClosed) and given.url.endswith("/a"):
            deaths.append(given.url)
            raise Died
        return real(of, method, read, given)

    monkeypatch.setattr(subscribers, "call", dying)
    for _ in range(subscribers.MAX_TRIES):
        with pytest.raises(Died):
            deliver_what_is_left()
    deliver_what_is_left()
    assert len(deaths) == subscribers.MAX_TRIES
    assert paths(bench, hook.pages) == ["/", "/b", "/gone"]
    assert HookCalls.objects.get(method="on_closed").last_error == "its worker died 3 times during this call"


def test_many_calls_are_made_in_several_attempts(
    bench: Bench, hook: type[Remembering], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscribers, "ATTEMPT_S", 0.0)
    run(bench)
    assert paths(bench, hook.pages) == ["/", "/a", "/b", "/gone"]
    assert Delivery.objects.filter(notice__event="crawl.page").get().attempts == 4
    assert HookCalls.objects.get(method="on_closed").calls == 4


def test_a_worker_whose_settings_do_not_name_the_hook_leaves_it_to_others(
    bench: Bench, hook: type[Remembering], settings: Any
) -> None:
    run_up_to_the_calls(bench, hook)
    settings.CRAWLER_HOOKS = []
    deliver_due()
    errors = {row.error for row in Delivery.objects.filter(state=Delivery.PENDING)}
    assert errors == {f"CRAWLER_HOOKS of this worker does not name {name_of(hook)}"}
    settings.CRAWLER_HOOKS = [name_of(hook)]
    deliver_what_is_left()
    assert (len(hook.pages), len(hook.crawls)) == (4, 1)
