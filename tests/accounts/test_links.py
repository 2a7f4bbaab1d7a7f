"""The first account and its one-time login link."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator

from crawler import clock
from crawler.accounts import login_links
from crawler.core.errors import CrawlerError

pytestmark = pytest.mark.django_db


def parts(link: str) -> tuple[str, str]:
    """The two secrets at the end of a link."""
    uidb64, token = link.rstrip("/").split("/")[-2:]
    return uidb64, token


def test_the_first_link_makes_a_superuser_without_a_password() -> None:
    link = login_links.make_link("http://127.0.0.1:8000/")
    assert link.startswith("http://127.0.0.1:8000/login/")
    admin = User.objects.get()
    assert (admin.username, admin.is_superuser, admin.is_staff, admin.has_usable_password()) == (
        "admin",
        True,
        True,
        False,
    )


def test_the_link_is_for_the_oldest_active_superuser() -> None:
    User.objects.create_user("ann")
    User.objects.create_superuser("gone", is_active=False)
    root = User.objects.create_superuser("root")
    User.objects.create_superuser("later")
    assert login_links.redeem(*parts(login_links.make_link("http://x"))) == root


def test_without_an_active_superuser_it_says_how_to_make_one() -> None:
    User.objects.create_user("ann")
    with pytest.raises(CrawlerError, match="createsuperuser"):
        login_links.make_link("http://x")


def test_of_two_at_the_same_moment_one_gets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    link = parts(login_links.make_link("http://x"))
    others: list[User | None] = []

    class Raced(login_links.LoginTokens):
        """The other one comes between the look at the link and its use."""

        def check_token(self, user: User | None, token: str | None) -> bool:
            good = super().check_token(user, token)
            monkeypatch.setattr(login_links, "_login_tokens", login_links.LoginTokens())
            others.append(login_links.redeem(*link))
            return good

    monkeypatch.setattr(login_links, "_login_tokens", Raced())
    assert login_links.redeem(*link) is None
    assert others == [User.objects.get()]


def test_looking_at_a_link_does_not_use_it_up() -> None:
    link = parts(login_links.make_link("http://x"))
    assert [login_links.link_account(*link) for _ in range(3)] == [User.objects.get()] * 3
    assert login_links.redeem(*link) is not None
    assert login_links.link_account(*link) is None


def test_two_links_are_both_dead_after_one_login() -> None:
    first, second = parts(login_links.make_link("http://x")), parts(login_links.make_link("http://x"))
    assert login_links.redeem(*second) is not None
    assert login_links.redeem(*first) is None


def test_a_link_made_right_after_a_login_works_once_too() -> None:
    assert login_links.redeem(*parts(login_links.make_link("http://x"))) is not None
    link = parts(login_links.make_link("http://x"))
    assert login_links.redeem(*link) is not None
    assert login_links.redeem(*link) is None


def test_an_account_that_was_closed_is_not_let_in() -> None:
    link = parts(login_links.make_link("http://x"))
    User.objects.update(is_active=False)
    assert login_links.redeem(*link) is None


def test_a_token_to_reset_a_password_is_no_login() -> None:
    uidb64, _ = parts(login_links.make_link("http://x"))
    assert login_links.redeem(uidb64, default_token_generator.make_token(User.objects.get())) is None


@pytest.mark.parametrize("uidb64", ["", "MQ", "____", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "AA=="])
@pytest.mark.parametrize("token", ["", "-", "abc-def", "zzzzzzzzzzzzzzzzzzzzzz-0"])
def test_a_made_up_link_is_refused(uidb64: str, token: str) -> None:
    login_links.first_account()
    assert login_links.redeem(uidb64, token) is None


@pytest.mark.parametrize(("age", "is_good"), [(59 * 60, True), (61 * 60, False)])
def test_a_link_lives_an_hour_by_the_clock_all_machines_share(
    monkeypatch: pytest.MonkeyPatch, age: float, is_good: bool
) -> None:
    uidb64, token = parts(login_links.make_link("http://x"))
    made_at = clock.epoch_seconds()
    monkeypatch.setattr(clock, "shared", SimpleNamespace(epoch_seconds=lambda: made_at + age))
    assert (login_links.redeem(uidb64, token) is not None) is is_good
