"""What a fetch job notes of suspects, so that a death is counted against nobody else."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.messages import Batch
from crawler.crawls.start import start_crawl
from crawler.fetcher.loop import fetch
from crawler.frontier.leases import CurrentSuspect, Leases
from crawler.models import Page
from tests.bench import Bench
from tests.site import Reply, page

SITE = {"/": page(), "/other": page()}
pytestmark = pytest.mark.site(SITE)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """What was noted in the lease, in order: a page's id, or None when no page was in hand any more."""
    take_in_hand, noted = Leases.note_suspect, list[int | None]()

    def watched(leases: Leases, batch: str, token: str, suspect: CurrentSuspect | None) -> bool:
        noted.append(suspect.page if suspect is not None else None)
        return take_in_hand(leases, batch, token, suspect)

    monkeypatch.setattr(Leases, "note_suspect", watched)
    return noted


def handed_out(bench: Bench, *, suspects: bool, **options: Any) -> Batch:
    """The one batch of a crawl with two start pages, whose worker may have died before."""
    urls = [f"{bench.site.url}{path}" for path in SITE]
    bench.crawl = start_crawl(urls, CrawlOptions(**options), allow_private=True)
    Page.objects.update(died_with="a lease" if suspects else "")
    bench.work("crawl", at_most=1)
    (batch,) = bench.batches()
    return batch


def test_of_pages_that_are_no_suspects_nothing_is_noted(bench: Bench, noted: list[int | None]) -> None:
    fetch(handed_out(bench, suspects=False))
    assert bench.site.hits["/other"] == 1
    assert noted == []


def test_each_suspect_is_noted_before_it_is_asked_for(bench: Bench) -> None:
    batch = handed_out(bench, suspects=True, obey_robots=False)
    seen = list[CurrentSuspect | None]()

    def look(before: int) -> Reply:
        lease = bench.context.frontier.leases.get(batch.id)
        seen.append(lease.suspect if lease is not None else None)
        return Reply(page())

    bench.site.pages = {"/": look, "/other": look}
    fetch(batch)
    assert seen == [CurrentSuspect(task.id, 1) for task in batch.slices[0].pages]


def test_a_suspect_that_waits_for_its_host_slot_is_not_noted_meanwhile(bench: Bench, noted: list[int | None]) -> None:
    batch = handed_out(bench, suspects=True, delay=0.2, obey_robots=False)
    fetch(batch)
    first, second = (task.id for task in batch.slices[0].pages)
    assert bench.site.hits["/other"] == 1
    assert noted[:3] == [first, second, None]
    assert noted[-1] == second


def test_a_fetch_job_that_lost_its_lease_fetches_no_suspect(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = handed_out(bench, suspects=True, obey_robots=False)
    claim = Leases.claim

    def claimed_and_lost(leases: Leases, *given: Any) -> bool:
        answer = claim(leases, *given)
        bench.context.frontier.ready_queue.clear()
        return answer

    monkeypatch.setattr(Leases, "claim", claimed_and_lost)
    fetch(batch)
    assert bench.site.requests == []
