"""What a page of another site can have somebody's browser do here, and where ours lead: nothing, and nowhere else."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver

from crawler.accounts.login_links import invite, link_for
from crawler.models import AuditEntry
from crawler.web.account.login import make_link
from tests.factories import a_browser
from tests.routes import WEB
from tests.web.test_access import address_of, people, shared

__all__ = ["people", "shared"]  # fixtures


@pytest.fixture
def strict() -> Client:
    return Client(enforce_csrf_checks=True)


def test_nothing_is_done_by_a_form_that_is_not_ours(
    people: dict[str, Any], shared: Any, strict: Client, settings: Any
) -> None:
    """Every address of the map, with the session of somebody who may do everything."""
    strict.force_login(people["root"])
    before = AuditEntry.objects.count()
    crawls, schedules = shared
    for route in WEB:
        response = strict.post(address_of(route, crawls["usual"], schedules["usual"]))
        assert response.status_code == 403, route
    assert AuditEntry.objects.count() == before


def test_the_admin_takes_none_either(strict: Client, root: User) -> None:
    strict.force_login(root)
    names = [name for name in get_resolver().namespace_dict["admin"][1].reverse_dict if isinstance(name, str)]
    assert "crawler_crawl_changelist" in names
    for path in ("login/", "logout/", "auth/user/add/", f"auth/user/{root.pk}/password/", "crawler/crawl/"):
        assert strict.post(f"/admin/{path}").status_code == 403, path


@pytest.mark.parametrize("path", ["/login/", "link", "invitation"])
def test_nor_does_anybody_come_in_by_one(strict: Client, root: User, path: str) -> None:
    """Else somebody could be logged in as somebody else, and do their work in the wrong account."""
    typed = {"username": "root", "password": "secret", "new_password1": "correct horse"}
    where = {"link": make_link(""), "invitation": link_for(invite("bob@example.com"), "")}
    assert strict.post(where.get(path, path), typed).status_code == 403
    assert strict.get("/").status_code == 302


def test_nothing_is_done_by_looking(people: dict[str, Any], shared: Any, real_redis: object) -> None:
    """A picture's address is asked for by GET: only doors that show something answer."""
    browser = a_browser(people["root"])
    crawls, schedules = shared
    shows_its_form = "channel-change"
    for route in WEB:
        if route.method == "POST" and route.name != shows_its_form:
            response = browser.get(address_of(route, crawls["usual"], schedules["usual"]))
            assert response.status_code == 405, route


ELSEWHERE = [
    "https://evil.example/",
    "//evil.example/",
    "///evil.example/",
    "/\\evil.example/",
    "\\\\evil.example/",
    "https:evil.example",
    "http:///evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    " //evil.example/",
    "\t//evil.example/",
    "//user@evil.example:80/",
    "http://testserver@evil.example/",
    "http://testserver.evil.example/",
]


@pytest.mark.parametrize("where", ELSEWHERE)
def test_the_login_leads_to_no_other_site(client: Client, ann: User, where: str) -> None:
    typed = {"username": "ann", "password": "secret"}
    assert client.post("/login/", {**typed, "next": where})["Location"] == "/"
    client.post("/logout/")
    assert client.post(f"/login/?next={where}", typed)["Location"] in {"/", "/login/"}
    assert client.get("/login/", {"next": where})["Location"] == "/"
    assert client.post("/logout/", {"next": where})["Location"] == "/login/"


def test_a_page_that_says_where_it_is_leads_nowhere_else(client: Client, db: None) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "https://evil.example//evil.example/"}
    text = client.get("/", headers=headers).content.decode()
    assert 'href="/login/?next=//evil.example/"' in text  # which the login does not follow, as above
    assert "https://evil" not in text


def test_a_name_that_is_not_ours_gets_no_page(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["crawler.example.com"]
    assert client.get("/login/", headers={"Host": "evil.example"}).status_code == 400
    assert client.get("/login/", headers={"Host": "crawler.example.com"}).status_code == 200


def test_links_in_invitations_have_the_name_that_is_set(client: Client, root: User, settings: Any) -> None:
    """Not the one a request has: whoever asks for a page by another name must not get links sent that lead there."""
    settings.CRAWLER_BASE_URL = "https://crawler.example.com"
    client.force_login(root)
    typed = {"action": "invite", "_selected_action": [invite("bob@example.com").pk]}
    page = client.post("/admin/auth/user/", typed, follow=True, headers={"Host": "evil.example"}).content.decode()
    assert "https://crawler.example.com/invitation/" in page
    assert "evil.example" not in page
