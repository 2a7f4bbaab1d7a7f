"""Every door, and who gets in: nobody, a stranger, a member of the group, one who may control, staff, the owner, a
superuser."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone

from crawler.content.shelf import Shelf, named
from crawler.content.storage import packed
from crawler.models import Crawl, Page, PageFacts, Schedule
from crawler.web import urls
from settings import urls as root_urls
from tests.content.storages import kept_in
from tests.factories import SITE, a_finished_crawl, a_group, a_page, a_person

PEOPLE = ("nobody", "stranger", "member", "controller", "staff", "owner", "root")

LOOK = (302, 404, 200, 200, 200, 200, 200)  # by GET
CONTROL = (302, 404, 403, 302, 403, 302, 302)  # by POST; 302 is where a button leads
OWN = (302, 404, 403, 403, 403, 302, 302)
EVERYBODY = (302, 200, 200, 200, 200, 200, 200)  # who is logged in
PUBLIC = (200,) * 7

TABLE: dict[str, tuple[str, str, tuple[int, ...]]] = {
    # name of the address: method, what is sent or asked for, statuses in the order of PEOPLE
    "crawl-list": ("GET", "", EVERYBODY),
    "crawl-create": ("POST", "", (302, *[400] * 6)),
    "crawl-detail": ("GET", "", LOOK),
    "crawl-status": ("GET", "", LOOK),
    "crawl-export": ("GET", "csv", LOOK),
    "crawl-exports": ("GET", "", LOOK),
    "crawl-graph": ("GET", "", LOOK),
    "crawl-graph-data": ("GET", "", LOOK),
    "crawl-figures": ("GET", "", LOOK),
    "crawl-check": ("POST", "", (302, *[404] * 6)),  # no field is named
    "extraction-preview": ("POST", "", (302, *[400] * 6)),  # no page is named
    "page-content": ("GET", "text", LOOK),
    "crawl-pages": ("GET", "", LOOK),
    "crawl-pages-export": ("GET", "csv", LOOK),
    "page-detail": ("GET", "", LOOK),
    "crawl-reports": ("GET", "", LOOK),
    "crawl-report": ("GET", "statuses", LOOK),
    "crawl-report-export": ("GET", "csv statuses", LOOK),
    "crawl-report-part": ("GET", "2xx-200 statuses", LOOK),
    "crawl-compare": ("GET", "", LOOK),
    "crawl-comparison": ("GET", "", LOOK),
    "crawl-comparison-change": ("GET", "new", LOOK),
    "crawl-comparison-export": ("GET", "csv new", LOOK),
    "crawl-why": ("GET", "", LOOK),
    "crawl-host-forget": ("POST", "example.com", CONTROL),
    "crawl-dead-letters": ("GET", "", LOOK),
    "crawl-orphans": ("GET", "", LOOK),
    "crawl-traps": ("GET", "", LOOK),
    "crawl-release-traps": ("POST", "", CONTROL),
    "crawl-pause": ("POST", "", CONTROL),
    "crawl-resume": ("POST", "", CONTROL),
    "crawl-cancel": ("POST", "", CONTROL),
    "crawl-retry-failed": ("POST", "", CONTROL),
    "crawl-delete": ("POST", "", OWN),
    "crawl-share": ("POST", "", OWN),
    "crawl-keep": ("POST", "", OWN),
    "schedule-list": ("GET", "", EVERYBODY),
    "schedule-pause": ("POST", "", CONTROL),
    "schedule-resume": ("POST", "", CONTROL),
    "schedule-remove": ("POST", "", OWN),
    "account": ("GET", "", EVERYBODY),
    "account-password": ("GET", "", EVERYBODY),
    "token-list": ("GET", "", EVERYBODY),
    "crawl-notices": ("GET", "", LOOK),
    "notice-again": ("POST", "", (302, 404, 403, 404, 403, 404, 404)),  # there is no such delivery
    "channel-list": ("GET", "", EVERYBODY),
    "channel-add": ("POST", "", (302, *[400] * 6)),
    "channel-change": ("POST", "", (302, *[404] * 6)),
    "channel-switch": ("POST", "", (302, *[404] * 6)),
    "channel-remove": ("POST", "", (302,) * 7),  # it is gone already
    "channel-test": ("POST", "", (302, *[404] * 6)),
    "token-revoke": ("POST", "1", (302,) * 7),
    "account-log-out-everywhere": ("POST", "", (302,) * 7),
    "invitation": ("GET", "", (410,) * 7),
    "login": ("GET", "", (200, *[302] * 6)),
    "login-link": ("GET", "", (410,) * 7),
    "logout": ("POST", "", (302,) * 7),
    "healthz": ("GET", "", PUBLIC),
    "readyz": ("GET", "", PUBLIC),
    "metrics": ("GET", "", (401, 401, 401, 401, 200, 401, 200)),
}


OF_THE_ADMIN = {"admin/", "admin/django_rq/", "admin/login/", "admin/password_change/"}


def patterns() -> Iterable[URLPattern]:
    return [pattern for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)]


@pytest.fixture
def people(db: None) -> dict[str, User | None]:
    found: dict[str, User | None] = {name: a_person(name) for name in PEOPLE[1:4]}
    found |= {"nobody": None, "owner": a_person("owner"), "root": a_person("root", superuser=True)}
    found["staff"] = User.objects.create_user("staff", password="secret", is_staff=True)
    return found


@pytest.fixture
def shared(people: dict[str, User], tmp_path: Path, settings: Any) -> tuple[dict[str, Crawl], dict[str, Schedule]]:
    """A crawl and a schedule for those who look, and others for those who may control them."""
    kept_in(tmp_path, settings)
    readers, controllers = a_group("readers", people["member"]), a_group("controllers", people["controller"])
    rule = {"start_urls": [SITE], "rule": "every 6h", "next_at": timezone.now() + timedelta(hours=6)}
    crawls, schedules = {}, {}
    for name, group, controls in (("usual", readers, False), ("controller", controllers, True)):
        crawls[name] = a_finished_crawl(people["owner"], group=group, group_controls=controls)
        page = a_page(crawls[name])
        kept = {"text": kept_text(str(crawls[name].pk))}
        PageFacts.objects.create(page_id=page.pk, crawl=crawls[name], kept=kept)
        a_finished_crawl(people["owner"], group=group, group_controls=controls)  # to compare it with
        schedules[name] = Schedule.objects.create(owner=people["owner"], group=group, group_controls=controls, **rule)
    return crawls, schedules


def test_the_table_has_every_door() -> None:
    assert {pattern.name for pattern in patterns()} == set(TABLE)
    assert len(list(patterns())) == len(urls.urlpatterns), "what is included there, nobody has tried"


def test_no_door_is_anywhere_else() -> None:
    beside = {str(pattern.pattern) for pattern in root_urls.urlpatterns}
    assert beside == {
        *OF_THE_ADMIN,
        "api/v1/",
        "^api/",
        "",
    }  # with tests of their own: test_admin, test_rq_doors, tests/api


@pytest.mark.parametrize("name", TABLE)
def test_who_gets_in(
    people: dict[str, User | None],
    shared: tuple[dict[str, Crawl], dict[str, Schedule]],
    real_redis: object,
    name: str,
) -> None:
    method, sent, statuses = TABLE[name]
    crawls, schedules = shared
    found = {}
    for who in PEOPLE:
        kind = who if who in crawls else "usual"
        response = a_browser(people[who]).generic(method, _address(name, crawls[kind], schedules[kind], sent))
        found[who] = response.status_code
        if who == "nobody" and name.startswith(("crawl-", "schedule-", "account")):
            assert response["Location"].startswith("/login/")
    assert found == dict(zip(PEOPLE, statuses, strict=True))


def kept_text(crawl: str) -> list[object]:
    shelf = Shelf(crawl, "batch")
    places = shelf.put({"text": packed(b"Hello")})
    return list(named(places, shelf.clear())["text"])


def a_browser(person: User | None) -> Client:
    browser = Client()
    if person is not None:
        browser.force_login(person)
    return browser


def _address(name: str, crawl: Crawl, schedule: Schedule, sent: str) -> str:
    route = next(str(pattern.pattern) for pattern in patterns() if pattern.name == name)
    first, _, second = sent.partition(" ")
    other = Crawl.objects.filter(group=crawl.group).exclude(pk=crawl.pk).get()
    values = {
        "<uuid:crawl_id>": crawl.pk,
        "<uuid:other_id>": other.pk,
        "<int:page_id>": Page.objects.filter(crawl_id=crawl.pk).values_list("pk", flat=True).first(),
        "<uuid:schedule_id>": schedule.pk,
        "<str:export_format>": first,
        "<str:form>": first,
        "<uuid:delivery_id>": crawl.pk,
        "<uuid:channel_id>": crawl.pk,
        "<slug:export_format>": first,
        "<path:key>": first,
        "<slug:slug>": second or first,
        "<int:token_id>": first,
        "<str:host>": first,
    }
    for place, value in values.items():
        route = route.replace(place, str(value))
    return "/" + route.replace("<str:uidb64>", "MQ").replace("<str:token>", "abc-def")
