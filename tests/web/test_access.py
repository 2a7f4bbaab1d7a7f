"""Every door, and who gets in: nobody, a stranger, a member of the group, one who may control, staff, the owner, a
superuser."""

from collections.abc import Iterable
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import URLPattern
from django.utils import timezone
from redis import Redis

from crawler.models import Crawl, Page, PageFacts, Schedule
from crawler.settings import urls as root_urls
from crawler.web import urls
from tests.content_storages import kept_in
from tests.factories import SITE, a_browser, a_finished_crawl, a_group, a_page, a_person, kept_text, undone
from tests.routes import PEOPLE, WEB, WebRoute

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
    assert sorted(str(pattern.name) for pattern in patterns()) == sorted(route.name for route in WEB)
    assert len(list(patterns())) == len(urls.urlpatterns), "what is included there, nobody has tried"


def test_no_door_is_anywhere_else() -> None:
    beside = {str(pattern.pattern) for pattern in root_urls.urlpatterns}
    assert beside == {
        *OF_THE_ADMIN,
        "api/v1/",
        "^api/",
        "",
    }  # with tests of their own: test_admin, test_rq_doors, tests/api


def test_who_gets_in(
    people: dict[str, User | None],
    shared: tuple[dict[str, Crawl], dict[str, Schedule]],
    real_redis: Redis,
) -> None:
    crawls, schedules = shared
    browsers = {who: a_browser(people[who]) for who in PEOPLE}
    cookies = {who: deepcopy(browser.cookies) for who, browser in browsers.items()}
    for route in WEB:
        found = {}
        with undone():
            for who, browser in browsers.items():
                browser.cookies = deepcopy(cookies[who])  # one door logs out
                kind = who if who in crawls else "usual"
                response = browser.generic(route.method, address_of(route, crawls[kind], schedules[kind]))
                found[who] = response.status_code
                if who == "nobody" and route.name.startswith(("crawl-", "page-", "schedule-", "account", "channel-")):
                    assert response["Location"].startswith("/login/")
        assert found == dict(zip(PEOPLE, route.statuses, strict=True)), route
        real_redis.flushall()


def address_of(route: WebRoute, crawl: Crawl, schedule: Schedule) -> str:
    path = next(str(pattern.pattern) for pattern in patterns() if pattern.name == route.name)
    first, _, second = route.sent.partition(" ")
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
        path = path.replace(place, str(value))
    return "/" + path.replace("<str:uidb64>", "MQ").replace("<str:token>", "abc-def")
