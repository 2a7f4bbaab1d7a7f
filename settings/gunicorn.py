"""Configuration of gunicorn: `gunicorn -c python:settings.gunicorn settings.wsgi`."""

from __future__ import annotations

import os

import django


def on_starting(server: object) -> None:
    """Wait for Redis and the database before it listens, so that the first requests get no error."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings.development")
    django.setup()
    from crawler.queueing.startup import wait_or_go_on  # needs Django's settings

    wait_or_go_on("The web pages are served")
