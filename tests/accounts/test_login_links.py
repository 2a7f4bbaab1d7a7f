"""Inviting somebody: an account, and a link to choose its password by."""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User

from crawler.accounts import login_links
from crawler.accounts.login_links import InvitationTokens, accept, invite, invited, link_for, make_link, redeem
from crawler.core.errors import BadInput
from tests.accounts.test_links import parts
from tests.factories import a_group

pytestmark = pytest.mark.django_db

ADDRESS = "ann@example.com"


@pytest.fixture(autouse=True)
def root(db: None) -> User:
    """Whoever invites."""
    return User.objects.create_superuser("root")


def test_the_account_is_named_by_its_address_and_has_no_password() -> None:
    editors = a_group("editors")
    account = invite(f" {ADDRESS} ", ["editors"])
    assert (account.username, account.email, account.is_staff) == (ADDRESS, ADDRESS, False)
    assert not account.has_usable_password()
    assert list(account.groups.all()) == [editors]


def test_on_a_new_installation_the_first_account_is_not_the_one_invited() -> None:
    User.objects.all().delete()
    assert not invite(ADDRESS).is_superuser
    assert redeem(*parts(make_link("http://x"))) == User.objects.get(username="admin")


def test_inviting_again_makes_no_second_account() -> None:
    assert invite(ADDRESS) == invite(ADDRESS.upper(), staff=True)
    assert User.objects.get(username=ADDRESS).is_staff


@pytest.mark.parametrize(
    "address", ["", "ann", "ann@", "ann@example.com\nBcc: x@example.com", "a" * 150 + "@example.com"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput) as refused:
        invite(address)
    assert refused.value.field == "email"
    assert User.objects.count() == 1


def test_a_group_that_does_not_exist_is_refused_and_nothing_is_made() -> None:
    with pytest.raises(BadInput, match="no group 'editors'"):
        invite(ADDRESS, ["editors"])
    assert User.objects.count() == 1


def test_an_account_in_use_is_not_invited() -> None:
    User.objects.create_user(ADDRESS, password="secret")
    with pytest.raises(BadInput, match=r"account ann@example\.com already exists"):
        invite(ADDRESS, staff=True)
    assert not User.objects.get(username=ADDRESS).is_staff


def test_a_link_works_until_a_password_is_chosen() -> None:
    account = invite(ADDRESS)
    link, other = parts(link_for(account, "http://x/")), parts(link_for(account, "http://x"))
    assert invited(*link) == invited(*link) == account
    assert accept(account, "correct horse")
    assert (invited(*link), invited(*other)) == (None, None)
    assert User.objects.get(username=ADDRESS).check_password("correct horse")


def test_of_two_at_the_same_moment_one_gets_in() -> None:
    invite(ADDRESS)
    first, second = (User.objects.get(username=ADDRESS) for _ in range(2))
    assert accept(first, "correct horse")
    assert not accept(second, "battery staple")
    assert User.objects.get(username=ADDRESS).check_password("correct horse")


@pytest.mark.parametrize(("age", "works"), [(timedelta(days=2, hours=23), True), (timedelta(days=3, hours=1), False)])
def test_a_link_lives_three_days(age: timedelta, works: bool) -> None:
    account = invite(ADDRESS)
    tokens = InvitationTokens(now=lambda: datetime.now() - age)  # noqa: DTZ005 (Django's tokens count local time)
    uidb64, _ = parts(link_for(account, "http://x"))
    assert (invited(uidb64, tokens.make_token(account)) is not None) is works


def test_an_invitation_is_no_login_link_and_the_other_way_round() -> None:
    account = invite(ADDRESS)
    assert redeem(*parts(link_for(account, "http://x"))) is None
    assert invited(*parts(make_link("http://x"))) is None


def test_no_invitation_to_an_account_with_a_password_or_a_closed_one() -> None:
    account = invite(ADDRESS)
    link = parts(link_for(account, "http://x"))
    User.objects.update(is_active=False)
    account.refresh_from_db()
    assert invited(*link) is None
    with pytest.raises(BadInput, match="not active"):
        link_for(account, "http://x")
    with pytest.raises(BadInput, match="already has a password"):
        link_for(User.objects.create_user("bob", password="secret"), "http://x")


@pytest.mark.parametrize("uidb64", ["", "MQ", "____", "AA=="])
def test_a_made_up_link_is_refused(uidb64: str) -> None:
    invite(ADDRESS)
    assert invited(uidb64, "abc-def") is None


def test_its_life_is_not_longer_than_django_lets_it_be(settings: object) -> None:
    assert login_links.INVITATION_LIFETIME_S <= settings.PASSWORD_RESET_TIMEOUT  # type: ignore[attr-defined]  # has no types
