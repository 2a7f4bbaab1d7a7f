"""Logging a person out everywhere."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from crawler.accounts.logins import end_sessions, forget_expired
from tests.factories import a_browser, a_person

pytestmark = pytest.mark.django_db


def test_all_browsers_of_one_person_are_logged_out_and_no_others() -> None:
    ann, bob = a_person("ann"), a_person("bob")
    browsers = [a_browser(ann), a_browser(ann), a_browser(bob)]
    assert end_sessions(ann) == 2
    assert [browser.get("/").status_code for browser in browsers] == [302, 302, 200]


def test_sessions_that_have_run_out_are_forgotten() -> None:
    a_browser(a_person("ann"))
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    a_browser(a_person("bob"))
    assert forget_expired() == 1
    assert Session.objects.count() == 1
