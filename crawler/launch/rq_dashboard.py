"""RQ's own dashboard, for this machine alone: on loopback, with a password made on first use, and with what jobs and
their errors say shown as text."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from flask import Response, request
from jinja2.ext import Extension
from rq_dashboard.cli import main as dashboard  # type: ignore[import-untyped]  # it has no types
from rq_dashboard.web import blueprint  # type: ignore[import-untyped]  # the same

from crawler.web.headers import ALWAYS
from settings import environment

USER = "admin"

# Its scripts stand in its pages, and one makes functions of text. So this does not keep a script from running, but one
# that did would not get what it finds out to anybody.
HEADERS = {
    **ALWAYS,
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
}

_UNESCAPED = re.compile(r"<%=(?!.*\.html\(\) *%>)")  # those are escaped already


class Escaping(Extension):
    """Its templates for the browser (Underscore's) put values into the page as markup, the traceback of a job among
    them, in which a site may have written: "<%=" does so, "<%-" escapes (https://underscorejs.org/#template)."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _UNESCAPED.sub("<%-", source)


@blueprint.record_once  # type: ignore[untyped-decorator]
def _escape(setup: Any) -> None:
    setup.app.jinja_env.add_extension(Escaping)


@blueprint.after_request  # type: ignore[untyped-decorator]
def _guard(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers[name] = value
    return response


@blueprint.before_request  # type: ignore[untyped-decorator]
def _refuse_foreign() -> Response | None:
    """What a page of another site has a browser ask for is refused: the browser sends the password by itself. Browsers
    name the page's site, older ones its address alone; other programs neither, and they have no password by chance."""
    site, origin = request.headers.get("Sec-Fetch-Site", "none"), request.headers.get("Origin")
    is_ours = origin is None or origin.partition("://")[2] == request.host
    if site in {"same-origin", "none"} and is_ours:
        return None
    if request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate" and "/view/" in request.path:
        return None  # a link that leads here shows a page, and does nothing
    return Response("Another site asked for this, so it is not done.", 403)


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
