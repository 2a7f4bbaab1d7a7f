"""Settings for the tests: temporary data, no mail is sent, no real secrets."""

from __future__ import annotations

import os
import tempfile

os.environ.setdefault("CRAWLER_DATA_DIR", tempfile.mkdtemp(prefix="crawler-test-"))

from crawler.settings import environment
from crawler.settings.base import *  # noqa: F403
from crawler.settings.base import DATA_DIR, DATABASES

DEBUG = False
SECRET_KEY = "only-for-tests"  # noqa: S105
ALLOWED_HOSTS = ["*"]
CRAWLER_PROXY = None
CRAWLER_ACTIVE_CRAWLS = CRAWLER_PAGES_A_DAY = CRAWLER_STORED_PAGES = CRAWLER_STORED_MB = CRAWLER_KEEP_DAYS = 0
CRAWLER_METRICS_TOKEN = ""
CRAWLER_LOGIN_TRIES = 0
SECRET_KEY_FALLBACKS = []
CRAWLER_WEBHOOK_SECRET = "only-for-tests"  # noqa: S105
WHITENOISE_AUTOREFRESH = True  # finds files on request; listing them costs each test client 0.05 s
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
if DATABASES["default"]["ENGINE"] == environment.SQLITE:
    # A file, not memory: SQLite's shared memory has no lock timeout, and some tests race threads.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
