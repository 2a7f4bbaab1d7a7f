"""Typed access to the settings of hooks."""

from __future__ import annotations

from django.conf import settings


def hooks() -> tuple[str, ...]:
    """The dotted names of the operator's hooks."""
    return tuple(settings.CRAWLER_HOOKS)


def hook_seconds() -> float:
    """The time limit of one call of a hook."""
    return float(settings.CRAWLER_HOOK_SECONDS)
