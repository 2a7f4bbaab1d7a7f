"""Every route as each kind of person with a token for everything; and as somebody who was let in until a moment ago."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from crawler.accounts.logins import BEGAN
from crawler.api.routes import progress
from crawler.core.access.permissions import Relation, Right, Scope, may
from crawler.models import ApiToken, Crawl, Schedule
from tests.api.calling import ROOT, Caller, a_token
from tests.api.test_routes import asked, queue_page, things_of
from tests.content_storages import kept_in
from tests.factories import a_crawl, a_group, an_allowance, undone
from tests.routes import API, ApiRoute

STANDINGS = {
    "stranger": Relation(),
    "member": Relation(is_member=True),
    "controller": Relation(is_member=True, members_control=True),
    "staff": Relation(is_staff=True),
    "root": Relation(is_superuser=True),
}

CONTROLLED = (
    "/pause",
    "/resume",
    "/cancel",
    "/finish",
    "/urls",
    "/retry-failed",
    "/traps/release",
    "/again",
    "/extract",
    "/forget",
)
OWNED = {("delete", "/crawls/{crawl_id}"), ("delete", "/schedules/{schedule_id}")}
OWNED |= {("post", "/crawls/{crawl_id}/share"), ("post", "/crawls/{crawl_id}/keep")}
PERSONAL = ("/channels/", "/tokens/")  # nobody sees another's, not even a superuser
OF_ONE = [route for route in API if route.of_one]


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path, settings: Any) -> None:
    kept_in(tmp_path, settings)


def right_for(route: ApiRoute) -> Right | None:
    """What the route takes; None = it is about what is one's own alone. A route that is not told of here fails."""
    if route.path.startswith(PERSONAL):
        return None
    if (route.method, route.path) in OWNED:
        return Right.OWN
    if route.method == "get":
        return Right.SEE
    is_cancel = (route.method, route.path) == ("delete", "/crawl/{crawl_id}")  # as Firecrawl has it
    is_change = (route.method, route.path) == ("patch", "/crawls/{crawl_id}")
    assert is_cancel or is_change or (route.method == "post" and route.path.endswith(CONTROLLED)), f"who may {route}?"
    return Right.CONTROL


def expected(route: ApiRoute, standing: Relation) -> int:
    right = right_for(route)
    if right is None or not may(standing, Right.SEE):
        return 404
    return route.status if may(standing, right) else 403


def shared(owner: User, group: Group, standing: Relation) -> dict[str, Any]:
    things = things_of(owner)
    for model in (Crawl, Schedule):
        model._default_manager.filter(owner=owner).update(group=group, group_controls=standing.members_control)
    return things


@pytest.mark.parametrize("who", STANDINGS)
def test_each_gets_as_far_as_their_standing(ann: User, real_redis: object, who: str) -> None:
    standing = STANDINGS[who]
    person = User.objects.create_user(who, is_staff=standing.is_staff, is_superuser=standing.is_superuser)
    group = a_group("editors", *([person] if standing.is_member else []))
    caller, things = Caller(a_token(person, *Scope)), shared(ann, group, standing)
    for route in OF_ONE:
        queue_page(things["crawl_id"], things["page_id"])
        with undone():
            response = asked(caller, route, things)
            found = response.status_code
            assert found == expected(route, standing), (route, response.content if found >= 400 else found)
            for close in response._resource_closers:  # not itself, which ends the database's connection, too
                close()


def test_lists_have_nothing_of_others(ann: User, by_bob: Caller, real_redis: object) -> None:
    things_of(ann)
    for path in ("/crawls", "/schedules", "/channels", "/crawl/active"):
        answer = by_bob.get(path).json()
        assert answer.get("items", answer.get("crawls")) == [], path
    assert by_bob.post("/map", {"url": "https://example.com/"}).status_code == 404


def test_what_belongs_to_another_crawl_is_not_below_mine(ann: User, bob: User, real_redis: object) -> None:
    """Whoever guesses the number of a page must not come to it by the address of a crawl of their own."""
    hers, mine = things_of(ann), things_of(bob)
    caller, browser = Caller(a_token(bob, *Scope)), Client()
    browser.force_login(bob)
    for part in ("page_id", "other_id", "delivery_id"):
        routes = [route for route in OF_ONE if f"{{{part}}}" in route.path]
        assert routes
        for route in routes:
            assert asked(caller, route, {**mine, part: hers[part]}).status_code == 404, route
    own = f"/crawls/{mine['crawl_id']}"
    page, other = hers["page_id"], hers["other_id"]
    for path in (f"/pages/{page}/", f"/pages/{page}/content/text", f"/compare/{other}/", f"/compare/{other}/new.csv"):
        assert browser.get(own + path).status_code == 404, path
    assert browser.post(f"{own}/notices/{hers['delivery_id']}/again").status_code == 404
    sent = caller.post(f"/crawls/{mine['crawl_id']}/retry-failed", {"pages": [page]})
    assert (sent.status_code, sent.json()["sent"]) == (200, 0)


def revoked(bob: User) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())


def run_out(bob: User) -> None:
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def closed(bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_active=False)


def left(bob: User) -> None:
    bob.groups.clear()


def gone(bob: User) -> None:
    bob.delete()


def degraded(bob: User) -> None:
    bob.groups.clear()
    User.objects.filter(pk=bob.pk).update(is_staff=False)


ENDS: dict[Callable[[User], None], int] = {revoked: 401, run_out: 401, closed: 401, left: 404, gone: 401, degraded: 404}


def looks(caller: Any, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """The pieces of a stream, which waits for nothing between two looks."""
    monkeypatch.setattr(progress, "POLL_INTERVAL_S", 0.0)
    response = caller.get(f"/crawls/{crawl.id}/events")
    assert response.status_code == 200
    return iter(response.streaming_content)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_a_caller_who_lost_access_is_refused_at_once_and_the_stream_ends(
    ann: User, real_redis: object, monkeypatch: pytest.MonkeyPatch, end: Callable[[User], None]
) -> None:
    bob = User.objects.create_user("bob", is_staff=end is degraded)
    crawl = a_crawl(ann, group=a_group("editors", bob))
    caller = Caller(a_token(bob, *Scope))
    stream = looks(caller, crawl, monkeypatch)
    assert b"retry" in next(stream)
    assert b"event: state" in next(stream)
    end(bob)
    assert caller.get(f"/crawls/{crawl.id}").status_code == ENDS[end]
    rest = b"".join(stream)
    assert b"deleted" in rest
    assert b"progress" not in rest.partition(b"deleted")[2]


def logged_out(browser: Client, ann: User) -> None:
    browser.post("/logout/")


def shut_out(browser: Client, ann: User) -> None:
    closed(ann)


def given_another_password(browser: Client, ann: User) -> None:
    """Elsewhere: this browser's session is still there."""
    ann.set_password("another")
    ann.save()


def idle_for_too_long(browser: Client, ann: User) -> None:
    Session.objects.update(expire_date=timezone.now())


def busy_for_too_long(browser: Client, ann: User) -> None:
    session = browser.session
    session[BEGAN] = 0.0
    session.save()


def somebody_else_by_now(browser: Client, ann: User) -> None:
    session = browser.session
    bob = User.objects.create_superuser("bob")
    session.update({SESSION_KEY: str(bob.pk), HASH_SESSION_KEY: bob.get_session_auth_hash()})
    session.save()


LOGIN_ENDS = [logged_out, shut_out, given_another_password, idle_for_too_long, busy_for_too_long, somebody_else_by_now]


@pytest.mark.parametrize("end", LOGIN_ENDS, ids=lambda end: end.__name__)
def test_a_stream_ends_with_the_login_it_was_opened_by(
    ann: User, real_redis: object, monkeypatch: pytest.MonkeyPatch, end: Callable[[Client, User], None]
) -> None:
    browser, crawl = Client(), a_crawl(ann)
    browser.force_login(ann)
    monkeypatch.setattr(progress, "POLL_INTERVAL_S", 0.0)
    stream = iter(browser.get(f"{ROOT}/crawls/{crawl.id}/events").streaming_content)  # type: ignore[attr-defined]
    next(stream)
    next(stream)
    end(browser, ann)
    assert b"deleted" in b"".join(stream)


STARTS = [
    ("/crawls", {"start_urls": ["http://127.0.0.1:8/"], "allow_private": True}),
    ("/crawls", {"start_urls": ["http://127.0.0.1:8/"], "allow_private": True, "schedule": "every 6h"}),
    ("/crawl", {"url": "http://1.1.1.1/"}),
]


@pytest.mark.parametrize(("path", "body"), STARTS)
def test_a_start_past_the_quota_gets_a_retry_after(
    root: User, by_root: Caller, real_redis: object, path: str, body: dict[str, Any]
) -> None:
    an_allowance(root, active_crawls=1)
    a_crawl(root)
    response = by_root.post(path, body)
    assert (response.status_code, response["Retry-After"]) == (429, "60"), response.content
    assert Crawl.objects.count() == 1
    assert not Schedule.objects.exists()


def test_so_is_a_list(root: User, by_root: Caller, real_redis: object) -> None:
    an_allowance(root, active_crawls=1)
    a_crawl(root)
    sent = {"list": SimpleUploadedFile("urls.txt", b"http://127.0.0.1:8/"), "options": '{"allow_private": true}'}
    response = by_root.send("/crawls/list", sent)
    assert (response.status_code, response["Retry-After"]) == (429, "60"), response.content
    assert Crawl.objects.count() == 1
