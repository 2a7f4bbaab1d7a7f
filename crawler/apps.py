"""The app configuration: loads what reads pages, and registers system checks, the audit of account changes,
database session limits and the migration check; guards RQ's jobs."""

from __future__ import annotations

from django.apps import AppConfig


class CrawlerConfig(AppConfig):
    name = "crawler"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from crawler import checks
        from crawler.accounts import account_changes
        from crawler.core.protocol.page_readers import reader_names
        from crawler.queueing import job_guard
        from crawler.storage import database  # they need the models

        job_guard.install()
        reader_names()  # one that cannot be loaded stops the start
        checks.register_all()
        account_changes.watch()
        database.apply_session_limits()
        database.watch()
