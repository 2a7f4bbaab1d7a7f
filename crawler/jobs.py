"""RQ job entry points. Importing this module sets up Django, which a stock `rq worker crawl fetch` does not do.

A stock worker forks and imports everything for each job, so each entry point imports only what its job needs: a tick
starts in two thirds of the time without the HTTP libraries.
"""

from __future__ import annotations

import logging
import os
from typing import Any
from uuid import UUID

import django
from django.apps import apps

from crawler import conf
from crawler.logs import EscapeRqErrors
from crawler.queueing.installation import of_this_installation

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
if not apps.ready:
    django.setup()
if conf.is_embedded():  # in other processes of that project, its sessions of the database are its own
    from crawler.storage import database

    database.apply_session_limits()
logging.getLogger("rq.worker").addFilter(EscapeRqErrors())


@of_this_installation
def manage(crawl_id: str, collector: int = 0) -> str:
    """One tick of a crawl's manager, or of one of its other collectors."""
    from crawler.manager.tick import manage as manage_crawl

    return manage_crawl(UUID(crawl_id), collector)


@of_this_installation
def fetch(batch: dict[str, Any]) -> dict[str, Any] | str:
    """Fetch the pages of one batch, or hand it back."""
    from crawler.fetcher.hand_back import leave_to_others, read_batch
    from crawler.fetcher.loop import fetch as fetch_batch

    understood = read_batch(batch)
    return fetch_batch(understood) if understood is not None else leave_to_others()


@of_this_installation
def watch() -> str:
    """Poll while workers are idle, until something is due."""
    from crawler.manager.idle_poller import poll_while_idle as watch_crawls

    return watch_crawls()


@of_this_installation
def extract_kept(crawl_id: str) -> str:
    """Extract fields from some more of a crawl's kept HTML."""
    from crawler.crawls.kept_extraction import job
    from crawler.fetcher.xpath.evaluator import evaluate

    return job(UUID(crawl_id), evaluate)


@of_this_installation
def notify() -> str:
    """Deliver the notices that are due."""
    from crawler.notices.delivery import deliver_due

    return deliver_due()
