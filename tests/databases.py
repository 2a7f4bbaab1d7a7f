"""For tests that look at what only one of the databases does."""

import pytest
from django.conf import settings

from crawler.settings import environment

sqlite_plans = pytest.mark.skipif(
    settings.DATABASES["default"]["ENGINE"] != environment.SQLITE,
    reason="the test reads the plans of SQLite; PostgreSQL makes its own by what is in its tables",
)
