"""What gunicorn does beside what its command line says: `gunicorn -c python:settings.gunicorn settings.wsgi`."""

from __future__ import annotations

import os

import django


def on_starting(server: object) -> None:
    """Before it listens: wait for Redis and the database, so that the first visitors get no error."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings.development")
    django.setup()
    from crawler.queueing.startup import wait_or_go_on  # wants Django's settings

    wait_or_go_on("The web pages are served")
