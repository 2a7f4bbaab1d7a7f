"""The crawls that are made up to be looked at can be, every door to them opens, and nothing of them is left behind."""

from __future__ import annotations

import pytest

from crawler.models import Crawl, Page, PageFacts, PageLinks
from tools.bench import doors
from tools.bench.arguments import parse
from tools.bench.reports import Timed, all_timed, crawls, line

pytestmark = pytest.mark.django_db


@pytest.mark.long
def test_doors_to_a_made_up_crawl_open(monkeypatch: pytest.MonkeyPatch, settings: object) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]  # nobody listens: pages open nonetheless
    every = doors.doors
    monkeypatch.setattr(doors, "doors", lambda *crawls: list(every(*crawls))[::6])
    with crawls(pages=300, links=4, seed=6) as (older, newer):
        timed = list(all_timed(newer, older, times=1))
    assert {one.status for one in timed} == {200}
    assert {one.group for one in timed} == {"table", "page", "crawl", "export", "report", "compare", "api"}
    assert not any(table.objects.exists() for table in (Crawl, Page, PageFacts, PageLinks))


@pytest.mark.parametrize(
    ("status", "first", "times", "trouble"),
    [
        (200, 900.0, [100.0, 299.0, 4000.0], ""),
        (200, 900.0, [100.0, 301.0, 310.0], "TOO SLOW"),
        (200, 9000.0, [100.0, 100.0, 100.0], "TOO SLOW AT FIRST"),
        (500, 1.0, [1.0, 1.0, 1.0], "STATUS 500"),
    ],
)
def test_a_door_is_judged_by_the_middle_of_its_times(
    status: int, first: float, times: list[float], trouble: str
) -> None:
    timed = Timed("table", "first rows", 300, status, first, times, 50.0)
    assert timed.trouble == trouble
    assert line(timed).endswith(trouble)


def test_the_size_is_that_of_a_large_site_unless_said_otherwise() -> None:
    chosen = parse(["reports"])
    assert (chosen.pages, chosen.links, chosen.times, chosen.postgres) == (100_000, 15, 5, None)
    assert parse(["reports", "--postgres"]).postgres == "own"
