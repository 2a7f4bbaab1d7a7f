"""`manage.py resume`: resumes a paused crawl."""

from __future__ import annotations

from crawler.crawls.actions import RESUME
from crawler.management.base import command_of

Command = command_of(RESUME, "Resume a paused crawl. The command does not wait for it; bin/crawl --resume ID does.")
