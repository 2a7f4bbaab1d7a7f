"""The security headers of every answer, whoever made it; and that no address is forgotten."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from crawler.web.headers import ALWAYS, FILE_POLICY, PAGE_POLICY

PLACE = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)\??")
OF_SOME_KIND = {"crawl_id": "00000000-0000-0000-0000-000000000007", "object_id": "7", "format": "json"}

OF_RQ = "/admin/django_rq/"  # pages of a package that fail at a queue or a job that is not there

STATIC = ("/static/crawler/pages.js", "/static/crawler/pages.css", "/static/crawler/logo.svg", "/static/none.js")
ERRORS = ("/nothing-here", "/admin/nothing-here/", "/api/v1/nothing", "/crawls/7/", "/static/../settings.py")


def routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def addresses() -> list[str]:
    """All there are, of Django's admin, the queues' dashboard and the API, too; what stands in their places is not
    there, so that some of them answer with an error."""
    found = (re.sub(r"[\^$?]|\\Z", "", PLACE.sub(_placed, route)) for route in routes(get_resolver().url_patterns))
    return sorted({f"/{route}" for route in found})


def _placed(place: re.Match[str]) -> str:
    name = place[1] or place[2]
    default = OF_SOME_KIND["crawl_id"] if name.endswith("_id") and "uuid" in place[0] else "7"
    return OF_SOME_KIND.get(name, default)


def test_every_answer_has_all_of_them(root: User, real_redis: object) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(root)
    everywhere = [*addresses(), *STATIC, *ERRORS]
    assert len(everywhere) > 200
    answers = {address: browser.get(address) for address in everywhere}
    for answer in answers.values():
        answer.getvalue()  # to the end of what is streamed
    assert [fault for address, answer in answers.items() for fault in lacking(answer, address)] == []
    assert {answer.status_code for answer in answers.values()} >= {200, 302, 404, 405}
    broken = [address for address, answer in answers.items() if answer.status_code >= 500]
    assert [address for address in broken if not address.startswith(OF_RQ)] == []


RULES = ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action ")
"""All but the first are rules that it does not stand for."""


def lacking(answer: Any, address: str) -> list[str]:
    """What is missing or lax in an answer."""
    policy = answer.headers.get("Content-Security-Policy", "")
    found = [name for name in ALWAYS if not answer.headers.get(name)]
    found += [word for word in ("unsafe", "*", "http:", "https:", "blob:") if word in policy]
    found += ["data:"] if "data:" in policy and address != "/api/v1/docs" else []
    found += [rule for rule in RULES if rule not in policy]
    if "no-store" not in answer.headers["Cache-Control"] and not address.startswith("/static/"):
        found.append(answer.headers["Cache-Control"])
    return [f"{address} ({answer.status_code}): {fault}" for fault in found]


def test_so_have_those_to_nobody() -> None:
    for address in ("/login/", *ERRORS, *STATIC):
        answer = Client().get(address)
        answer.getvalue()
        assert lacking(answer, address) == []


def test_a_page_may_run_our_files_and_nothing_else_may_run_anything(as_root: Client) -> None:
    for page in ("/", "/nothing", "/admin/", "/admin/crawler/page/", "/admin/logout/"):
        assert as_root.get(page)["Content-Security-Policy"] == PAGE_POLICY
    for answer in ("/healthz", "/readyz", "/metrics", "/admin/jsi18n/"):
        assert as_root.get(answer)["Content-Security-Policy"] == FILE_POLICY


def test_a_site_does_not_learn_where_somebody_came_from(as_root: Client) -> None:
    assert as_root.get("/")["Referrer-Policy"] == "same-origin"


def test_our_files_may_be_kept(as_root: Client) -> None:
    response = as_root.get("/static/crawler/pages.js")
    assert "public" in response["Cache-Control"]
    assert response.getvalue()


def test_what_is_refused_has_them_too(as_root: Client) -> None:
    large = {"data": b" " * 3_000_000, "content_type": "application/json"}
    refused = {
        400: as_root.get("/", headers={"Host": "evil.test:x"}),
        403: Client(enforce_csrf_checks=True).post("/logout/"),
        413: as_root.post("/api/v1/crawls", **large),
    }
    for status, answer in refused.items():
        assert (answer.status_code, lacking(answer, "/")) == (status, [])


def test_an_error_of_ours_has_them_too(root: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(root)
    monkeypatch.setattr("crawler.web.crawl.crawls.list_of", lambda *_: 1 // 0)
    answer = browser.get("/")
    assert (answer.status_code, lacking(answer, "/")) == (500, [])
