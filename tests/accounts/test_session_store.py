"""How long a login lasts, and that its key is another one after each login, logout and change of the password."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from crawler import clock
from crawler.accounts import logins
from crawler.accounts.login_links import make_link
from tests.factories import a_browser, a_person

pytestmark = pytest.mark.django_db
NEW = "correct horse battery"


@pytest.fixture
def ann() -> User:
    return a_person()


@pytest.fixture
def browser(ann: User) -> Client:
    """In which ann has just logged in."""
    client = Client()
    client.post("/login/", {"username": "ann", "password": "secret"})
    return client


def key(browser: Client) -> str:
    return browser.cookies[configured.SESSION_COOKIE_NAME].value


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    now = clock.epoch_seconds() + seconds
    monkeypatch.setattr(clock, "shared", SimpleNamespace(epoch_seconds=lambda: now))


@pytest.mark.parametrize("way", ["password", "link"])
def test_a_login_takes_no_key_that_was_there_before(ann: User, way: str) -> None:
    planted = logins.SessionStore()
    planted["anything"] = 1
    planted.save()
    browser = Client()
    browser.cookies[configured.SESSION_COOKIE_NAME] = planted.session_key  # somebody else may know it
    if way == "link":
        browser.post(make_link("", ann))
    else:
        browser.post("/login/", {"username": "ann", "password": "secret"})
    assert key(browser) != planted.session_key
    assert browser.get("/").status_code == 200
    assert not Session.objects.filter(pk=logins.session_row(planted.session_key)).exists()


def test_another_password_is_another_key_and_ends_the_other_logins(ann: User, browser: Client) -> None:
    other, before = Client(), key(browser)
    other.post("/login/", {"username": "ann", "password": "secret"})
    typed = {"old_password": "secret", "new_password1": NEW, "new_password2": NEW}
    assert browser.post("/account/password/", typed).status_code == 302
    assert key(browser) != before
    assert [browser.get("/").status_code, other.get("/").status_code] == [200, 302]
    assert not Session.objects.filter(pk=logins.session_row(before)).exists()


def test_after_a_logout_the_key_opens_nothing(browser: Client) -> None:
    stolen = Client()
    stolen_key = stolen.cookies[configured.SESSION_COOKIE_NAME] = key(browser)
    assert stolen.get("/").status_code == 200
    browser.post("/logout/")
    assert stolen.get("/").status_code == 302
    assert not Session.objects.filter(pk=logins.session_row(stolen_key)).exists()


def test_all_browsers_of_one_person_are_logged_out_and_no_others(ann: User) -> None:
    browsers = [a_browser(ann), a_browser(ann), a_browser(a_person("bob"))]
    assert logins.end_sessions(ann) == 2
    assert [each.get("/").status_code for each in browsers] == [302, 302, 200]


def test_sessions_that_have_run_out_are_forgotten(browser: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    a_browser(a_person("bob"))
    assert logins.forget_expired() == 1
    assert Session.objects.count() == 1


def test_a_password_given_by_the_admin_ends_the_logins(ann: User, browser: Client) -> None:
    ann.set_password(NEW)
    ann.save()
    assert browser.get("/").status_code == 302


def test_an_account_that_is_closed_is_out_at_once(ann: User, browser: Client) -> None:
    User.objects.update(is_active=False)
    assert browser.get("/").status_code == 302


def test_however_busy_a_login_ends(browser: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CRAWLER_SESSION_DAYS = 2
    for hours in (20, 7):
        later(monkeypatch, hours * 3600)
        assert browser.get("/").status_code == 200
    later(monkeypatch, 22 * 3600)
    assert browser.get("/").status_code == 302


def test_a_user_who_does_something_stays_logged_in(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Session.objects.get().expire_date
    browser.get("/")
    assert Session.objects.get().expire_date == before  # it was written to a moment ago
    Session.objects.update(expire_date=timezone.now() + timezone.timedelta(minutes=1))
    later(monkeypatch, 301)
    browser.get("/")
    assert Session.objects.get().expire_date > before


def test_a_page_that_polls_does_not_extend_the_session(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    soon = timezone.now() + timezone.timedelta(minutes=1)
    Session.objects.update(expire_date=soon)
    later(monkeypatch, 301)
    assert browser.get("/", headers={"Sec-Fetch-Mode": "cors", "HX-Request": "true"}).status_code == 200
    assert Session.objects.get().expire_date == soon


def test_cookies_are_out_of_reach_of_scripts_and_of_other_sites(browser: Client) -> None:
    for name in (configured.SESSION_COOKIE_NAME, "known-browser"):
        cookie = browser.cookies[name]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")


@pytest.mark.parametrize("trouble", [OperationalError("the disk is full"), UpdateError()])
def test_pages_are_shown_though_the_session_cannot_be_written(
    browser: Client, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    def cannot(*args: Any, **more: Any) -> None:
        raise trouble

    later(monkeypatch, 301)
    monkeypatch.setattr(logins.SessionStore, "save", cannot)
    assert browser.get("/").status_code == 200


def test_the_table_has_no_key_with_which_one_could_log_in(browser: Client) -> None:
    row = Session.objects.get()
    assert row.pk == logins.session_row(key(browser))
    thief = Client()
    thief.cookies[configured.SESSION_COOKIE_NAME] = row.pk
    assert thief.get("/").status_code == 302
    assert browser.get("/").status_code == 200


def test_a_session_of_the_version_before_goes_on_and_gets_its_digest(browser: Client) -> None:
    Session.objects.update(session_key=key(browser))
    assert browser.get("/").status_code == 200
    assert Session.objects.get().pk == logins.session_row(key(browser))
