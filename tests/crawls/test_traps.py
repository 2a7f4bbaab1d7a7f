"""A trap ends by itself and is released on a person's word; its crawl then goes on, or finishes once more."""

import pytest

from crawler.capabilities.traps import bounds, page_filters
from crawler.core.protocol.counters import adds_up
from crawler.crawls import control, reconcile
from crawler.crawls.control import cancel, pause
from crawler.crawls.retry import ReleasedTraps, release
from crawler.models import Crawl, Disagreement, Notice, Page, Trap
from crawler.reports.receipt import receipt_of
from tests.bench import Bench, Died, die
from tests.site import Reply, page

SEGMENTS = 4
"""That a path may have here. Each is a round of the crawl, and there would be as many as `test_bounds.py` looks at."""

DEEP = "/" + "docs/" * (SEGMENTS + 1)
"""The first path that is too deep."""

LOOP = {
    "/": page("/a", "/docs/"),
    "/a": page(),
    **{"/" + "docs/" * number: page("docs/") for number in range(1, SEGMENTS + 3)},
    DEEP: page("docs/", "/found"),
    "/found": page(),
}
pytestmark = pytest.mark.site(LOOP)

BUSY = {
    **LOOP,
    "/" + "docs/" * SEGMENTS: page("docs/", "/busy"),
    "/busy": lambda before: Reply(page(), status=200 if before else 503),
}
"""The trap is found while a page is still waited for."""


@pytest.fixture(autouse=True)
def _short_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_SEGMENTS", SEGMENTS)


def paths(bench: Bench, **facts: object) -> list[str]:
    return sorted(
        url.removeprefix(bench.site.url) for url in bench.crawl.pages.filter(**facts).values_list("url", flat=True)
    )


@pytest.fixture
def trapped(bench: Bench) -> Bench:
    bench.run()
    assert bench.state() == "finished"
    return bench


def test_it_ends_by_itself_and_is_reported(trapped: Bench) -> None:
    assert paths(trapped, outcome="trap") == [DEEP]
    receipt = receipt_of(trapped.crawl)
    assert receipt["skipped"] == {"trap": 1}
    assert adds_up(receipt)
    assert DEEP not in trapped.site.hits


def test_a_crawl_that_wants_no_quarantine_goes_to_the_end(bench: Bench) -> None:
    bench.run(traps=False)
    assert not Trap.objects.exists()
    assert f"{DEEP}docs/" in bench.site.hits


def test_released_a_finished_crawl_goes_on_and_finishes_once_more(trapped: Bench) -> None:
    [trap] = Trap.objects.all()
    assert release(trapped.crawl.id, [trap.id]) == ReleasedTraps(traps=1, pages=1, left_out=0)
    assert trapped.state() == "running"
    trapped.work()
    assert trapped.state() == "finished"
    assert "/found" in trapped.site.hits
    assert not paths(trapped, outcome="trap")
    assert adds_up(receipt_of(trapped.crawl))
    assert [notice.round for notice in Notice.objects.order_by("round")] == [1, 2]
    assert not Disagreement.objects.exists()


def test_released_twice_it_was_released_once(trapped: Bench) -> None:
    release(trapped.crawl.id)
    trapped.work()
    assert release(trapped.crawl.id) == ReleasedTraps(0, 0, 0)
    assert trapped.state() == "finished"


def test_another_crawls_trap_is_not_released_by_its_id(trapped: Bench) -> None:
    [trap] = Trap.objects.all()
    other = Crawl.objects.create(start_urls=[trapped.site.url], state="finished")
    assert release(other.id, [trap.id]) == ReleasedTraps(0, 0, 0)
    trap.refresh_from_db()
    assert not trap.released


@pytest.mark.site(BUSY)
def test_of_a_paused_crawl_its_pages_wait_until_it_is_resumed(bench: Bench) -> None:
    bench.start()
    while not paths(bench, outcome="trap"):
        bench.work(at_most=1)
    pause(bench.crawl.id)
    assert release(bench.crawl.id).pages == 1
    assert bench.state() == "paused"


@pytest.mark.site(BUSY)
def test_a_cancelled_crawl_is_opened_again_for_its_pages_only(bench: Bench) -> None:
    bench.start()
    while not paths(bench, outcome="trap"):
        bench.work(at_most=1)
    cancel(bench.crawl.id)
    before = paths(bench, outcome="cancelled")
    release(bench.crawl.id)
    bench.work()
    assert bench.state() == "finished"
    assert paths(bench, outcome="cancelled") == before


@pytest.mark.site(BUSY)
def test_while_the_crawl_runs_what_was_quarantined_flows_in_behind_the_cursor(bench: Bench) -> None:
    bench.start()
    while not paths(bench, outcome="trap"):
        bench.work(at_most=1)
    assert release(bench.crawl.id).pages == 1
    bench.work()
    assert bench.state() == "finished"
    assert "/found" in bench.site.hits
    assert Notice.objects.count() == 1


def test_if_the_process_dies_after_the_commit_reconcile_goes_on(
    trapped: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(control, "wake", die)
        with pytest.raises(Died):
            release(trapped.crawl.id)
    assert reconcile.scan().woken == 1
    trapped.work()
    assert trapped.state() == "finished"
    assert "/found" in trapped.site.hits


FOLDERS = "/" + "img/" * SEGMENTS

WIDE = {
    "/": page("/late", *(f"{FOLDERS}{number}" for number in range(5))),
    "/late": lambda before: Reply(page(f"{FOLDERS}4"), status=200 if before else 500),
    **{f"{FOLDERS}{number}": page() for number in range(5)},
}


@pytest.mark.long
@pytest.mark.site(WIDE)
def test_what_had_no_row_comes_back_where_it_is_found_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that was given up, and is sent again after the release, links to one of those that were left out."""
    monkeypatch.setattr(page_filters, "MAX_QUARANTINED", 2)
    bench.start()
    while not Trap.objects.filter(left_out=3).exists():
        bench.work(at_most=1)
    assert release(bench.crawl.id) == ReleasedTraps(traps=1, pages=2, left_out=3)
    Page.objects.filter(url__endswith="/late").update(due_at=0)
    bench.work()
    assert bench.state() == "finished"
    assert [path for path in sorted(bench.site.hits) if "img" in path] == [f"{FOLDERS}{n}" for n in (0, 1, 4)]
