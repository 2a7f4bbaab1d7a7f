"""What begins in a process: errors go to Sentry without what may be secret, and a missing package is said."""

import gzip
import subprocess
import sys
from typing import Any

import brotli
import pytest
from django.core.exceptions import ImproperlyConfigured

from crawler import extras
from crawler.capabilities.telemetry import start_up
from tests.site import Reply, Request, Server
from tests.stack import ROOT, Stack

SCRIPT = """
import logging, django, sentry_sdk
django.setup()
def fail():
    password = "-".join(["s3cret", "of", "a", "variable"])
    raise ValueError("it broke")
try:
    fail()
except ValueError:
    logging.getLogger("crawler.fetcher").exception("a page could not be read")
sentry_sdk.flush(5)
"""


class Sentry(Server):
    """Takes envelopes, see https://develop.sentry.dev/sdk/foundations/transport/envelopes/."""

    received = b""

    def answer(self, request: Request) -> Reply:
        opened = {"br": brotli.decompress, "gzip": gzip.decompress}[request.headers["Content-Encoding"]]
        self.received += opened(request.body)
        return Reply("{}", headers={"Content-Type": "application/json"})


def test_an_error_is_sent_without_the_values_of_variables(stack: Stack) -> None:
    with Sentry().serving() as sentry:
        env = {**stack.env, "SENTRY_DSN": sentry.url.replace("//", "//key@") + "/1", "PYTHONPATH": str(ROOT)}
        env["DJANGO_SETTINGS_MODULE"] = "crawler.settings.development"
        subprocess.run([sys.executable, "-c", SCRIPT], env=env, check=True, timeout=60, capture_output=True)
    assert b"it broke" in sentry.received
    assert b"site-crawler@" in sentry.received
    assert b"s3cret-of-a-variable" not in sentry.received


@pytest.mark.parametrize(
    ("setting", "value", "extra"),
    [("CRAWLER_TRACES", True, "TELEMETRY"), ("SENTRY_DSN", "http://key@a.test/1", "SENTRY")],
)
def test_without_the_package_the_start_ends_with_the_line_to_type(
    setting: str, value: Any, extra: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    setattr(settings, setting, value)
    absent = extras.Extra(extra.lower(), "It needs", ("package",), ("no_such_module",), "requirements-telemetry.txt")
    monkeypatch.setattr(start_up, extra, absent)
    with pytest.raises(ImproperlyConfigured, match=r"pip install -r requirements-telemetry\.txt"):
        start_up.START_UP[0].begin()
