"""`manage.py cancel`: cancels a crawl."""

from __future__ import annotations

from crawler.crawls.actions import CANCEL
from crawler.management.base import command_of

Command = command_of(CANCEL, "Cancel a crawl: open pages close as cancelled; fetched pages are kept.")
