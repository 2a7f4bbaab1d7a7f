"""Typed access to the settings of traces and errors."""

from __future__ import annotations

from django.conf import settings


def sends_traces() -> bool:
    """Whether an address for traces is set."""
    return bool(settings.CRAWLER_TRACES)


def sentry_dsn() -> str:
    """Where errors are sent; "" = nowhere."""
    return str(settings.SENTRY_DSN)
