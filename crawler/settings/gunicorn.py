"""Configuration of gunicorn: `gunicorn -c python:crawler.settings.gunicorn crawler.settings.wsgi`."""

from __future__ import annotations

import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured

worker_class = "crawler.launch.web_worker.DeadlineWorker"
forwarded_allow_ips = ""  # whose X-Forwarded-Proto counts is for crawler/web/forwarded.py to say
worker_connections = 500  # of one process: below the 1,024 files that many systems allow it


def on_starting(server: object) -> None:
    """Wait for Redis and the database before it listens, so that the first requests get no error. Exits with a message
    for an invalid setting."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    from crawler.queueing.startup import wait_or_go_on  # needs Django's settings

    wait_or_go_on("The web pages are served")
