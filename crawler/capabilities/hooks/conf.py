"""Typed access to the settings of hooks."""

from __future__ import annotations

from django.conf import settings

from crawler import signals


def hooks() -> tuple[str, ...]:
    """The dotted names of the operator's hooks, and of those that send the connected signals."""
    return (*settings.CRAWLER_HOOKS, *signals.connected())


def hook_seconds() -> float:
    """The time limit of one call of a hook."""
    return float(settings.CRAWLER_HOOK_SECONDS)
