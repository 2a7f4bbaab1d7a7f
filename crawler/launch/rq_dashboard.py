"""RQ's dashboard on loopback, with a generated password, escaped job data and security headers."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from crawler.extras import DASHBOARD

if __name__ == "__main__" and DASHBOARD.missing:  # before the imports that would fail
    sys.exit(DASHBOARD.missing)

from flask import Response, request
from jinja2.ext import Extension
from rq_dashboard import web  # type: ignore[import-untyped]  # it has no types
from rq_dashboard.cli import main as dashboard  # type: ignore[import-untyped]  # the same

from crawler.queueing import job_guard
from crawler.redis_client import RedisClient
from crawler.settings import environment
from crawler.web.headers import ALWAYS

USER = "admin"
VERSION = "0.9.0"  # of rq-dashboard

# The dashboard needs inline scripts and eval, so this policy cannot stop an injected script; but it could send nothing
# to another server.
HEADERS = {
    **ALWAYS,
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
}


def connect(url: str, **_defaults: Any) -> tuple[None, RedisClient]:
    """In the place of the dashboard's own: that takes neither a user name nor TLS with sentinels, nor a password with
    escaped characters."""
    return None, RedisClient.from_url(url)


web.from_url = connect
job_guard.install()

_UNESCAPED = re.compile(r"<%=(?!.*\.html\(\) *%>)")  # those are escaped already


class EscapeExtension(Extension):
    """Escapes values in the dashboard's Underscore templates, such as the traceback of a job, which may quote a crawled
    site: "<%=" inserts markup, "<%-" escapes (https://underscorejs.org/#template)."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _UNESCAPED.sub("<%-", source)


@web.blueprint.record_once  # type: ignore[untyped-decorator]
def _escape(setup: Any) -> None:
    setup.app.jinja_env.add_extension(EscapeExtension)


@web.blueprint.after_request  # type: ignore[untyped-decorator]
def _guard(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers[name] = value
    return response


@web.blueprint.before_request  # type: ignore[untyped-decorator]
def _refuse_foreign() -> Response | None:
    """Refuse cross-site requests, since the browser adds the password by itself. Browsers send Sec-Fetch-Site, older
    ones only Origin; other programs send neither, and have no stored password."""
    site, origin = request.headers.get("Sec-Fetch-Site", "none"), request.headers.get("Origin")
    is_ours = origin is None or origin.partition("://")[2] == request.host
    if site in {"same-origin", "none"} and is_ours:
        return None
    if request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate" and "/view/" in request.path:
        return None  # following a link only shows a page
    return Response("Cross-site request refused.", 403)


@web.blueprint.errorhandler(job_guard.JobRefused)  # type: ignore[untyped-decorator]
def _refuse_job(error: job_guard.JobRefused) -> Response:
    return Response(f"This job cannot be shown. {error}", 422, mimetype="text/plain")


def check_version(found: str) -> None:
    """Raises ImproperlyConfigured unless `EscapeExtension` was written for the templates of this version: another
    version may insert values in another way."""
    if found != VERSION:
        raise ImproperlyConfigured(
            f"rq-dashboard {found} is installed, but only version {VERSION} is known to escape its pages. Install "
            f"it: pip install rq-dashboard=={VERSION}."
        )


def variables() -> dict[str, str]:
    """What the dashboard reads of its environment; other users can read its command line. Generates its password.
    Raises ImproperlyConfigured for another version of the dashboard."""
    check_version(version("rq-dashboard"))
    return {
        "RQ_DASHBOARD_BIND": "127.0.0.1",
        "RQ_DASHBOARD_REDIS_URL": environment.redis_url(),
        "RQ_DASHBOARD_USERNAME": USER,
        "RQ_DASHBOARD_PASSWORD": environment.kept_secret(_password_file()),
    }


def _password_file() -> Path:
    return environment.data_dir() / "dashboard_password"


def main() -> None:
    os.environ.update({**variables(), "RQ_DASHBOARD_BIND": os.environ.get("RQ_DASHBOARD_BIND", "127.0.0.1")})
    print(f"user {USER}, password in {_password_file()}", flush=True)
    sys.argv[1:] = []
    dashboard()


if __name__ == "__main__":
    try:
        main()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
