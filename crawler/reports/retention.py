"""When a crawl will be deleted because it was kept for long enough."""

from __future__ import annotations

from datetime import datetime

from crawler import conf
from crawler.core import retention
from crawler.models import Crawl


def deleted_on(crawl: Crawl) -> datetime | None:
    """None = never; of a crawl that is not over, nobody knows yet."""
    finished_at = crawl.finished_at if crawl.is_over else None
    return retention.deleted_on(finished_at, conf.keep_days(), is_kept=crawl.keep)
