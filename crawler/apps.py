"""What is to be in place once Django knows the tables: checks of the settings, who notes changes of accounts,
the limits of connections, and which tables are not migrated."""

from __future__ import annotations

from django.apps import AppConfig


class CrawlerConfig(AppConfig):
    name = "crawler"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from crawler import checks
        from crawler.accounts import account_changes
        from crawler.storage import database  # these want the tables

        checks.register_all()
        account_changes.watch()
        database.apply_session_limits()
        database.watch()
