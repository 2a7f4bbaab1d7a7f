"""What `bin/bench collect` measures, and what it makes of it."""

from __future__ import annotations

import pytest

from crawler.models import Crawl, PageFacts, PageLinks
from tools.bench.arguments import parse
from tools.bench.collect import Cost, crawled


@pytest.mark.usefixtures("real_redis")
@pytest.mark.django_db(transaction=True)
def test_every_page_of_the_site_is_stored_with_its_links_and_metadata() -> None:
    cost = crawled(pages=30, batch=20)
    assert cost.pages == 30
    assert cost.statements > 0
    assert cost.links > 30
    assert cost.own_cpu > 0
    assert cost.wall > 0
    assert Crawl.objects.get().tallies.statuses == {"200": 30}
    assert (PageFacts.objects.count(), PageLinks.objects.count()) == (30, 30)


def test_costs_are_told_for_a_page() -> None:
    cost = Cost(pages=2000, links=60_000, statements=100, server_cpu=0.4, own_cpu=0.6, wall=1.0, locked=0.4)
    assert cost.line().split() == ["2,000", "30", "0.05", "0.200", "0.300", "0.500", "0.200", "2,000"]


def test_a_transaction_is_as_large_as_that_of_a_busy_manager_unless_said_otherwise() -> None:
    chosen = parse(["collect"])
    assert (chosen.pages, chosen.batch, chosen.postgres) == (5_000, 256, None)
