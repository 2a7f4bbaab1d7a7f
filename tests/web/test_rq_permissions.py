"""RQ's pages of the admin: staff look, superusers act, and it is noted."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern
from django_rq.urls import get_admin_urlpatterns
from redis import ConnectionError

from crawler.models import AuditEntry
from tests.factories import a_browser

ROOT = "/admin/django_rq/dashboard/"
VALUES = {"<int:queue_index>": "0", "<int:scheduler_index>": "0", "<int:connection_index>": "0"}


def address(pattern: URLPattern) -> str:
    route = str(pattern.pattern)
    for place, value in VALUES.items():
        route = route.replace(place, value)
    return ROOT + route.replace("<str:", "a").replace("<path:", "a").replace(">", "")


@pytest.fixture
def helper(db: None) -> Client:
    return a_browser(User.objects.create_user("helper", is_staff=True))


ADDRESSES = sorted(address(pattern) for pattern in get_admin_urlpatterns())


def test_nobody_and_no_usual_person_sees_any_of_it(client: Client, as_ann: Client) -> None:
    for path in ADDRESSES:
        for method in ("GET", "POST"):
            assert client.generic(method, path).status_code == 302, path
            assert as_ann.generic(method, path).status_code == (302 if method == "GET" else 403), path


def test_staff_change_nothing(helper: Client) -> None:
    for path in ADDRESSES:
        assert helper.post(path).status_code == 403, path


def test_while_redis_is_away_it_is_said(helper: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object, **more: object) -> None:
        raise ConnectionError("nobody listens")

    monkeypatch.setattr("redis.connection.Connection.connect", away)
    response = helper.get(ROOT + "queues/0/")
    assert response.status_code == 503
    assert "Redis does not respond" in response.content.decode()


def test_below_a_prefix_they_are_the_same_doors(helper: Client, as_root: Client, real_redis: object) -> None:
    assert helper.post(f"{ROOT}queues/0/empty/", SCRIPT_NAME="/x").status_code == 403
    assert as_root.post(f"{ROOT}queues/0/empty/", SCRIPT_NAME="/x").status_code == 302
    assert AuditEntry.objects.get(act="queue.changed").name == "dashboard/queues/0/empty/"


@pytest.mark.parametrize("path", ["stats.json", "metrics"])
def test_figures_are_for_staff(client: Client, helper: Client, as_ann: Client, real_redis: object, path: str) -> None:
    asked = [browser.get(ROOT + path).status_code for browser in (client, as_ann, helper)]
    assert asked == [401, 401, 200]


@pytest.mark.parametrize("token", ["abc", "ä", ""])
def test_no_token_in_an_address_opens_them(client: Client, db: None, token: str) -> None:
    assert client.get(f"{ROOT}stats.json/{token}").status_code == 404
