"""`manage.py rqworker crawl fetch`: django-rq's command, which first waits for Redis and the database."""

from __future__ import annotations

from typing import Any

from django_rq.management.commands import rqworker

from crawler.queueing.startup import wait_or_exit


class Command(rqworker.Command):
    """Run a stock RQ worker, or the one of --worker-class."""

    help = "Run a standard RQ worker with this project's settings, once Redis and the database respond."

    def handle(self, *args: Any, **options: Any) -> None:
        wait_or_exit()
        super().handle(*args, **options)  # type: ignore[no-untyped-call]  # django-rq gives it no types
