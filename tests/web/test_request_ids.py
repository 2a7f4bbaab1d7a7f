"""Each response names its request, and so do the lines logged meanwhile."""

import logging

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from crawler.logs import Context
from crawler.web.headers import RequestIds


def test_a_response_has_one_of_its_own(client: Client) -> None:
    first, second = (client.get("/healthz").headers["X-Request-ID"] for _ in range(2))
    assert len(first) == 16
    assert first != second


def test_that_of_the_proxy_is_kept(client: Client) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": "proxy-4711"}).headers["X-Request-ID"] == "proxy-4711"


@pytest.mark.parametrize("given", ["x" * 65, "a b", "ü", ""])
def test_one_that_could_forge_a_line_is_not(client: Client, given: str) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"] != given


def test_lines_logged_meanwhile_name_it() -> None:
    record = logging.makeLogRecord({})

    def view(request: object) -> HttpResponse:
        Context().filter(record)
        return HttpResponse()

    RequestIds(view)(RequestFactory().get("/", headers={"X-Request-ID": "proxy-4711"}))
    assert record.request_id == "proxy-4711"  # type: ignore[attr-defined]  # the filter adds it
