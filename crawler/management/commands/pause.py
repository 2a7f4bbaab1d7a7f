"""`manage.py pause`: pauses a crawl."""

from __future__ import annotations

from crawler.crawls.actions import PAUSE
from crawler.management.base import command_of

Command = command_of(PAUSE, "Pause a crawl: results of running jobs are stored, no new pages are requested.")
