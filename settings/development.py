"""`DJANGO_SETTINGS_MODULE=settings.development`."""

from crawler.settings.development import *  # noqa: F403
