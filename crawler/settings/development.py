"""Settings for a single machine: everything on loopback, secrets generated on first use and stored in the data
folder."""

from __future__ import annotations

from crawler.settings import environment
from crawler.settings.base import *  # noqa: F403

DEBUG = environment.switch("DEBUG", False)
SECRET_KEY = environment.secret_key(DATA_DIR)  # noqa: F405
ALLOWED_HOSTS = environment.allowed_hosts(["127.0.0.1", "localhost", "[::1]"])
CRAWLER_WEBHOOK_SECRET = CRAWLER_WEBHOOK_SECRET or environment.kept_secret(DATA_DIR / "webhook_secret")  # noqa: F405
