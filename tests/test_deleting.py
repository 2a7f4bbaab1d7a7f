"""Every way to delete a crawl leaves nothing of it: no rows, no keys in Redis, no kept content. Others stay whole."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from redis import Redis

from crawler.core.access.permissions import Scope
from crawler.crawls import delete
from crawler.models import Crawl
from tests.api.calling import Caller, a_token
from tests.content_storages import kept_in
from tests.everywhere import NOTHING, a_crawl_everywhere, left_of
from tests.factories import a_browser, a_person
from tests.management.calls import exit_code

Door = Callable[[User, Crawl], Any]


def by_its_page(user: User, crawl: Crawl) -> None:
    assert a_browser(user).post(f"/crawls/{crawl.pk}/delete").status_code == 302


def by_the_api(user: User, crawl: Crawl) -> None:
    assert Caller(a_token(user, Scope.CRAWLS_DELETE)).delete(f"/crawls/{crawl.pk}").status_code == 204


def by_the_command(user: User, crawl: Crawl) -> None:
    assert exit_code("delete", str(crawl.pk), "--yes") == 0


def by_retention(user: User, crawl: Crawl) -> None:
    Crawl.objects.filter(pk=crawl.pk).update(finished_at=timezone.now() - timedelta(days=31))
    assert delete.delete_past_retention(timezone.now()) == 1


def by_the_admin(user: User, crawl: Crawl) -> None:
    answer = a_browser(user).post(f"/admin/crawler/crawl/{crawl.pk}/delete/", {"post": "yes"}, follow=True)
    assert "Successfully deleted 1 crawl." in answer.content.decode()


def by_the_admins_list(user: User, crawl: Crawl) -> None:
    """With another one."""
    chosen = [crawl.pk, a_crawl_everywhere().pk]
    ticked = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    answer = a_browser(user).post("/admin/crawler/crawl/", ticked, follow=True)
    assert "Successfully deleted 2 crawls." in answer.content.decode()


DOORS = [by_its_page, by_the_api, by_the_command, by_retention, by_the_admin, by_the_admins_list]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_nothing_is_left(door: Door, real_redis: Redis, tmp_path: Path, settings: Any) -> None:
    kept_in(tmp_path, settings)
    settings.CRAWLER_KEEP_DAYS = 30
    root = a_person("root", superuser=True)
    crawl, stays = a_crawl_everywhere(root), a_crawl_everywhere(root)
    before = left_of(stays, real_redis, tmp_path)
    assert all(before.values()), "a crawl that has left nothing proves nothing"
    door(root, crawl)
    assert list(Crawl.objects.all()) == [stays]
    assert left_of(crawl, real_redis, tmp_path) == NOTHING
    assert left_of(stays, real_redis, tmp_path) == before
