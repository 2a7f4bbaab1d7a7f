"""One's own page: who one is, the password, and logging out everywhere."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from crawler.storage import sql
from tests.factories import a_browser, a_crawl, a_group


def test_it_shows_who_one_is_and_what_one_may(as_ann: Client, ann: User, settings: Any) -> None:
    settings.CRAWLER_ACTIVE_CRAWLS, settings.CRAWLER_PAGES_A_DAY = 3, 5000
    a_group("editors", ann)
    a_crawl(ann)
    sql.add(ann.pk, 1234, timezone.now().timestamp())
    text = as_ann.get("/account/").content.decode()
    assert "Active crawls: 1 (at most 3)" in text
    assert "Pages requested today, in UTC: 1,234 (at most 5,000)" in text
    assert "editors" in text


def test_name_and_address_can_be_changed_and_nothing_else(as_ann: Client, ann: User) -> None:
    typed = {"first_name": "Ann", "last_name": "Lee", "email": "ann@example.com", "is_superuser": "on", "username": "x"}
    assert as_ann.post("/account/", typed)["Location"] == "/account/"
    ann.refresh_from_db()
    assert (ann.get_full_name(), ann.email, ann.username, ann.is_superuser) == (
        "Ann Lee",
        "ann@example.com",
        "ann",
        False,
    )


def test_an_address_that_is_none_is_told(as_ann: Client, ann: User) -> None:
    response = as_ann.post("/account/", {"email": "nowhere", "first_name": "A"})
    assert response.status_code == 400
    assert "valid email address" in response.content.decode()
    ann.refresh_from_db()
    assert (ann.email, ann.first_name) == ("", "")


def test_the_password_is_changed_by_who_knows_the_old_one(as_ann: Client, ann: User) -> None:
    other = a_browser(ann)
    new = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    assert as_ann.post("/account/password/", {"old_password": "wrong", **new}).status_code == 200
    assert as_ann.post("/account/password/", {"old_password": "secret", **new})["Location"] == "/account/"
    ann.refresh_from_db()
    assert ann.check_password("correct horse battery")
    assert [browser.get("/").status_code for browser in (as_ann, other)] == [200, 302]


@pytest.mark.parametrize("password", ["short", "password123", "annannann"])
def test_a_weak_password_is_refused(as_ann: Client, ann: User, password: str) -> None:
    User.objects.update(username="annannann")
    typed = {"old_password": "secret", "new_password1": password, "new_password2": password}
    assert as_ann.post("/account/password/", typed).status_code == 200
    ann.refresh_from_db()
    assert ann.check_password("secret")


def test_who_came_in_by_a_link_sets_the_first_password(as_root: Client, root: User) -> None:
    root.set_unusable_password()
    root.save()
    as_root.force_login(root)
    assert "old_password" not in as_root.get("/account/password/").content.decode()
    new = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    assert as_root.post("/account/password/", new)["Location"] == "/account/"
    root.refresh_from_db()
    assert root.has_usable_password()


def test_one_logs_out_everywhere(as_ann: Client, ann: User) -> None:
    other = a_browser(ann)
    response = as_ann.post("/account/log-out-everywhere", follow=True)
    assert "You are logged out everywhere." in response.content.decode()
    assert [browser.get("/").status_code for browser in (as_ann, other)] == [302, 302]
