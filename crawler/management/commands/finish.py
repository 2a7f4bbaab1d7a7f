"""`manage.py finish`: finishes a crawl that is kept open."""

from __future__ import annotations

from crawler.crawls.actions import FINISH
from crawler.management.base import command_of

Command = command_of(
    FINISH, "Finish a crawl that is kept open (--stay-open): once all open pages are done, with receipt and notice."
)
