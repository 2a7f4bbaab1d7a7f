"""Checks of the settings of an installation that others can reach: `manage.py check --deploy`."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register

from crawler import conf
from crawler.core.deployment import troubles


def register_all() -> None:
    """Have Django ask for them with `--deploy`."""
    register(deployment, Tags.security, deploy=True)


def deployment(app_configs: Any = None, **more: Any) -> list[CheckMessage]:
    """A line for each thing that is missing, with what to do."""
    return [
        (Error if trouble.is_error else Warning)(
            trouble.what, hint=trouble.to_do, id=f"crawler.{'E' if trouble.is_error else 'W'}{trouble.number:03}"
        )
        for trouble in troubles(conf.setup())
    ]
