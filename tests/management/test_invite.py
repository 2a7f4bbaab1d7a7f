"""`manage.py invite`: a link on stdout, or a line that says what is wrong."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import a_group
from tests.management.calls import exit_code

pytestmark = pytest.mark.django_db


def test_it_prints_a_link_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    group = a_group("editors")
    words = ["ann@example.com", "--group", "editors", "--staff", "--base-url", "http://testserver/"]
    assert exit_code("invite", *words) == 0
    link = capsys.readouterr().out.strip()
    assert Client().get(link).status_code == 200
    account = User.objects.get(username="ann@example.com")
    assert (account.is_staff, account.is_superuser, list(account.groups.all())) == (True, False, [group])


def test_without_an_address_of_its_own_the_link_is_below_the_usual_one(
    capsys: pytest.CaptureFixture[str], settings: object
) -> None:
    settings.CRAWLER_BASE_URL = "https://crawler.example.com"  # type: ignore[attr-defined]  # has no types
    exit_code("invite", "ann@example.com")
    assert capsys.readouterr().out.startswith("https://crawler.example.com/invitation/")


@pytest.mark.parametrize("words", [["nobody"], ["ann@example.com", "--group", "nowhere"]])
def test_what_cannot_be_used_is_told_and_makes_nothing(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert exit_code("invite", *words) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not User.objects.exists()
