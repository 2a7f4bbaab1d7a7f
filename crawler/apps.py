"""The app configuration: completes the settings of another Django project, loads what reads pages, registers system
checks, the audit of account changes, database session limits and the migration check; guards RQ's jobs."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings

from crawler import embedding


class CrawlerConfig(AppConfig):
    name = "crawler"
    default_auto_field = "django.db.models.BigAutoField"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        embedding.complete(settings)

    def ready(self) -> None:
        from crawler import checks, conf
        from crawler.accounts import account_changes
        from crawler.core.protocol.page_readers import reader_names
        from crawler.queueing import job_guard, processes
        from crawler.storage import database  # they need the models

        if not conf.is_embedded():  # there, other jobs run in the same processes
            job_guard.install()
            database.apply_session_limits()
        reader_names()  # one that cannot be loaded stops the start
        checks.register_all()
        account_changes.watch()
        database.watch()
        processes.begin()
