"""`DJANGO_SETTINGS_MODULE=settings.production`."""

from crawler.settings.production import *  # noqa: F403
