"""`gunicorn settings.wsgi`."""

from crawler.settings.wsgi import application

__all__ = ["application"]
