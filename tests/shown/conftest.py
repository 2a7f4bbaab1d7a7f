"""Two crawls of a site that attacks, and people who look at them."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.core.pages.outcomes import Outcome
from crawler.core.urls.normalise import origin_of
from crawler.frontier.robots import RobotsCache, RobotsEntry
from crawler.models import Crawl, Page
from crawler.queueing import queues
from tests.content_storages import kept_in
from tests.evil import SITE, TEXTS, an_evil_crawl
from tests.web.conftest import as_root, root

__all__ = ["as_root", "root"]


@pytest.fixture
def crawl(root: User, tmp_path: Path, settings: Any, real_redis: object) -> Crawl:
    kept_in(tmp_path, settings)
    text = TEXTS["html"] + TEXTS["terminal"]
    memo = RobotsEntry(status=None, outcome=Outcome.TLS, body=text.encode(), oddity=text, error=text)
    RobotsCache(queues.connection()).put(origin_of(SITE), memo, reachable=True)
    return an_evil_crawl(root)


@pytest.fixture
def other(root: User, crawl: Crawl) -> Crawl:
    """A crawl of the same site that still runs, and knows fewer pages."""
    before = an_evil_crawl(root, state="running", finished_at=None)
    pages = Page.objects.filter(crawl=before).values_list("pk", flat=True)
    Page.objects.filter(pk__in=pages[::3]).delete()
    Page.objects.filter(pk__in=pages[::4]).update(status=Page.OPEN, outcome="", given_up=False)
    return before
