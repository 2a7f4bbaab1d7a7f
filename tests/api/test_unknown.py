"""Addresses below /api/ that lead nowhere, and errors before and behind the calls: each is a problem, never a page."""

from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.access.permissions import Scope
from tests.api.calling import ROOT, a_token
from tests.factories import a_crawl

ID = "00000000-0000-0000-0000-000000000007"
NOWHERE = [
    "/api/",
    "/api/v1",
    "/api/v1/",
    "/api/v2/crawls",
    "/api/v10/crawls",
    "/api//v1/crawls",
    "/%61pi/v2/crawls",
    f"{ROOT}/crawls/",
    f"{ROOT}//crawls",
    f"{ROOT}/crawls/7",
    f"{ROOT}/crawls/{ID}/",
    f"{ROOT}/crawls/{ID}/nothing",
    f"{ROOT}/crawls/{ID}/pages/",
    f"{ROOT}/docs/",
    f"{ROOT}/openapi.json/",
    f"{ROOT}/%",
    f"{ROOT}/%zz",
    f"{ROOT}/%ff",
    f"{ROOT}/crawls/%e2%28%a1",
    f"{ROOT}/%0d%0a",
    f"{ROOT}/<script>alert(1)</script>",
]
METHODS = ["get", "post", "put", "patch", "delete", "options"]

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[False, True], ids=["", "debug"])
def browser(request: pytest.FixtureRequest, settings: Any, ann: User) -> Client:
    """Somebody with a token, on a server that shows tracebacks and on one that does not."""
    settings.DEBUG = request.param
    headers = {"Authorization": f"Bearer {a_token(ann, *Scope)}", "Accept": "text/html"}
    return Client(headers=headers, raise_request_exception=False)


def faults(response: Any, status: int) -> dict[str, Any]:
    """What of the answer is not as a problem with this status is."""
    said = response.json() if response["Content-Type"] == "application/problem+json" else {}
    due = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "success": False}
    found = {name: said.get(name) for name, value in due.items() if said.get(name) != value}
    if response.status_code != status:
        found["status code"] = response.status_code
    if not str(said.get("detail", "")).endswith((".", "`.")) or "<" in str(said):
        found["detail"] = said.get("detail", response["Content-Type"])
    return found


@pytest.mark.parametrize("address", NOWHERE)
def test_an_unknown_address_is_a_problem_whatever_is_done_there(browser: Client, address: str) -> None:
    answers = {method: getattr(browser, method)(address) for method in METHODS}
    assert {method: faults(answer, 404) for method, answer in answers.items()} == {method: {} for method in METHODS}


def test_so_it_is_to_nobody_and_to_a_browser_that_is_logged_in(ann: User) -> None:
    logged_in = Client()
    logged_in.force_login(ann)
    for address in NOWHERE:
        assert faults(Client().get(address), 404) == {}
        assert faults(logged_in.get(address), 404) == {}


def test_the_end_of_the_api_is_not_taken_for_an_address_of_it(browser: Client) -> None:
    assert browser.get("/apiary")["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [
        ("put", "/crawls", {"GET", "HEAD", "POST"}),
        ("post", f"/crawls/{ID}", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("get", "/map", {"POST"}),
        ("post", "/openapi.json", {"GET", "HEAD"}),
        ("post", "/docs", {"GET", "HEAD"}),
        ("options", "/me", {"GET", "HEAD"}),
    ],
)
def test_a_known_address_says_which_methods_it_has(
    browser: Client, method: str, address: str, allowed: set[str]
) -> None:
    response = getattr(browser, method)(ROOT + address)
    assert faults(response, 405) == {}
    assert set(response["Allow"].split(", ")) == allowed


def test_what_django_refuses_before_any_view_is_a_problem(browser: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["crawler.example"]
    for address in (f"{ROOT}/me", "/api/v2/", f"{ROOT}/docs"):
        assert faults(browser.get(address, headers={"Host": "evil.test"}), 400) == {}
    assert browser.get("/", headers={"Host": "evil.test"})["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    "where",
    [
        "crawler.api.middleware.caller_of",  # before the call
        "crawler.api.schemas.crawl.line_of",  # in it
        "crawler.web.middleware.client_address",  # in a middleware
    ],
)
def test_an_error_of_ours_is_a_problem_that_tells_nothing_of_it(
    browser: Client, monkeypatch: pytest.MonkeyPatch, ann: User, where: str
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("the secret of the house")

    a_crawl(ann)
    monkeypatch.setattr(where, fails)
    response = browser.get(f"{ROOT}/crawls")
    assert faults(response, 500) == {}
    assert b"secret" not in response.content
