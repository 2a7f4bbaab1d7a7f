"""`gunicorn -c python:settings.gunicorn settings.wsgi`."""

from crawler.settings.gunicorn import *  # noqa: F403
