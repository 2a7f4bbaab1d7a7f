"""RQ's own dashboard, for this machine alone: on loopback, with a password made on first use."""

from __future__ import annotations

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from rq_dashboard.cli import main as dashboard  # type: ignore[import-untyped]  # it has no types

from settings import environment

USER = "admin"


def main() -> None:
    """Everything is handed over by environment variables, because a command line can be read by everybody."""
    password_file = environment.data_dir() / "dashboard_password"
    os.environ.setdefault("RQ_DASHBOARD_BIND", "127.0.0.1")
    os.environ["RQ_DASHBOARD_REDIS_URL"] = environment.redis_url()
    os.environ["RQ_DASHBOARD_USERNAME"] = USER
    os.environ["RQ_DASHBOARD_PASSWORD"] = environment.kept_secret(password_file)
    print(f"user {USER}, password in {password_file}", flush=True)
    sys.argv[1:] = []
    dashboard()


if __name__ == "__main__":
    try:
        main()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
