"""Begins both in a process: Sentry at once, traces with the first span."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.models.signals import post_save

from crawler import __version__, clock
from crawler.capabilities.telemetry import conf, tracing
from crawler.extras import SENTRY, TELEMETRY, Extra
from crawler.models import Crawl
from crawler.queueing.processes import StartUp


def _begin() -> None:
    if conf.sends_traces():
        _require(TELEMETRY, "An address for traces is set")
        post_save.connect(_note_start, Crawl, dispatch_uid="crawler.telemetry")
    if conf.sentry_dsn():
        _begin_sentry()


def _note_start(instance: Crawl, created: bool, **more: Any) -> None:
    """The start of a crawl, in the trace of the crawl: by a request, a command, or the run of a schedule."""
    if created:
        now = clock.epoch_seconds()
        attributes = {"crawl.id": str(instance.pk), "crawl.site": instance.site}
        tracing.note("start", str(instance.pk), now, now, below=str(instance.pk), attributes=attributes)


def _begin_sentry() -> None:
    _require(SENTRY, "SENTRY_DSN is set")
    import sentry_sdk
    from sentry_sdk.integrations.rq import RqIntegration

    sentry_sdk.init(
        conf.sentry_dsn(),
        release=f"site-crawler@{__version__}",
        disabled_integrations=[RqIntegration()],  # it sends the arguments of jobs; their errors are logged as well
        include_local_variables=False,  # they may be passwords, or pages of a crawled site
        max_request_body_size="never",
        send_default_pii=False,
    )


def _require(extra: Extra, what: str) -> None:
    if extra.missing:
        raise ImproperlyConfigured(f"{what}. {extra.missing}")


START_UP = (StartUp(_begin),)
