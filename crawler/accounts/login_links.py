"""One-time links: a login link (one hour), and an invitation to choose a password (three days)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes, force_str
from django.utils.http import base36_to_int, urlsafe_base64_decode, urlsafe_base64_encode

from crawler import clock
from crawler.accounts import audit
from crawler.core.errors import BadInput, CrawlerError

FIRST_NAME = "admin"
LOGIN_LINK_LIFETIME_S = 3600


def _naive_now() -> datetime:
    """Django computes the age of a token in naive local time."""
    return timezone.make_naive(clock.now(), timezone.get_default_timezone())


class LoginTokens(PasswordResetTokenGenerator):
    """Tokens that the next login invalidates (Django's stay valid for a second login within the same second)."""

    key_salt = "crawler.accounts.login"
    lifetime = LOGIN_LINK_LIFETIME_S

    def __init__(self, now: Callable[[], datetime] = _naive_now) -> None:
        super().__init__()
        self._now = now  # type: ignore[method-assign]  # tests pass their own

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        return f"{user.pk}:{user.password}:{user.last_login and user.last_login.isoformat()}:{timestamp}"

    def check_token(self, user: User | None, token: str | None) -> bool:
        return super().check_token(user, token) and self._age(token or "") <= self.lifetime

    def _age(self, token: str) -> int:
        made_at = base36_to_int(token.partition("-")[0])
        return int(self._num_seconds(self._now()) - made_at)


_login_tokens = LoginTokens()


def first_account() -> User:
    """The oldest active superuser; created without a password if there is no account."""
    if not User.objects.exists():
        return _create_first()
    account = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if account is None:
        raise CrawlerError("There is no active superuser to log in. Create one: python manage.py createsuperuser")
    return account


def _create_first() -> User:
    account, made = User.objects.get_or_create(
        username=FIRST_NAME, defaults={"is_superuser": True, "is_staff": True, "is_active": True}
    )
    if made:
        account.set_unusable_password()
        account.save(update_fields=["password"])
    return account


def account_named(name: str) -> User:
    """An active account; CrawlerError if there is none of this name."""
    account = User.objects.filter(username=name, is_active=True).first()
    if account is None:
        raise CrawlerError(f"There is no active account {name!r}. Create one: python manage.py invite EMAIL")
    return account


def make_link(base_url: str, account: User | None = None) -> str:
    """A URL below `base_url` that logs an account in (default: the first one): once, within an hour."""
    account = account or first_account()
    audit.note("login_link.made", account)
    return _address(base_url, "login-link", account, _login_tokens)


def link_account(uidb64: str, token: str) -> User | None:
    """The account this link would log in, or None if it was used, has expired or is invalid. Does not use it up."""
    account = _account(uidb64)
    good = account is not None and account.is_active and _login_tokens.check_token(account, token)
    return account if good else None


def redeem(uidb64: str, token: str) -> User | None:
    """Use the link up; returns its account, or None if it was used, has expired or is invalid.

    Of two concurrent requests with one link only one changes the row that the token is made from.
    """
    account = link_account(uidb64, token)
    if account is None:
        return None
    if _unchanged(account).update(last_login=clock.now()) != 1:
        return None
    account.refresh_from_db()
    return account


def _address(base_url: str, view: str, account: User, tokens: LoginTokens) -> str:
    where = [urlsafe_base64_encode(force_bytes(account.pk)), tokens.make_token(account)]
    return base_url.rstrip("/") + reverse(view, args=where)


def _unchanged(account: User) -> QuerySet[User]:
    """Its row, unless what tokens are made from is another by now."""
    return User.objects.filter(pk=account.pk, password=account.password, last_login=account.last_login)


def _account(uidb64: str) -> User | None:
    try:
        return User.objects.filter(pk=int(force_str(urlsafe_base64_decode(uidb64)))).first()
    except (ValueError, OverflowError):
        return None


INVITATION_LIFETIME_S = 3 * 24 * 3600  # at most Django's PASSWORD_RESET_TIMEOUT


class InvitationTokens(LoginTokens):
    """Tokens that the choice of a password, and the next login, invalidate: they are made from both."""

    key_salt = "crawler.accounts.invitation"
    lifetime = INVITATION_LIFETIME_S


_invitation_tokens = InvitationTokens()


def invite(email: str, groups: Sequence[str] = (), *, staff: bool = False) -> User:
    """The account for an invitation, created if there is none, with the e-mail address as its name. BadInput for an
    invalid address, an account in use, or an unknown group; then nothing was created."""
    address = _checked(email)
    known = [_group(name) for name in groups]
    if not User.objects.exists():
        first_account()  # else the login link would find an account, but no superuser
    with transaction.atomic():
        account = User.objects.filter(username__iexact=address).first() or _create(address)
        if account.has_usable_password() or not account.is_active:
            raise BadInput("email", f"The account {address} already exists. Change it in the admin.")
        if staff and not account.is_staff:
            account.is_staff = True
            account.save(update_fields=["is_staff"])
        account.groups.add(*known)
    return account


def link_for(account: User, base_url: str) -> str:
    """A URL below `base_url` where the account's user chooses a password: once, within three days. BadInput for an
    account that has one, or is not active."""
    if account.has_usable_password():
        raise BadInput("user", f"{account.get_username()} already has a password and needs no invitation.")
    if not account.is_active:
        raise BadInput("user", f"{account.get_username()} is not active; activate it first.")
    audit.note("invitation.made", account)
    return _address(base_url, "invitation", account, _invitation_tokens)


def invited(uidb64: str, token: str) -> User | None:
    """The account of this link, or None if it was used, has expired or is invalid."""
    account = _account(uidb64)
    if account is None or not account.is_active or account.has_usable_password():
        return None
    return account if _invitation_tokens.check_token(account, token) else None


def accept(account: User, password: str) -> bool:
    """Set the account's password; True if this call did. Of two concurrent requests with one link only one changes the
    row that the link is made from."""
    with transaction.atomic():
        if _unchanged(account).update(password=make_password(password)) != 1:
            return False
        audit.note("invitation.accepted", account, by=account, after={"password": "another"})
    account.refresh_from_db()
    return True


def _checked(email: str) -> str:
    address = email.strip()
    try:
        validate_email(address)
        User.username_validator(address)
    except ValidationError:
        raise BadInput("email", f"{email!r} is not an e-mail address; enter one such as ann@example.com.") from None
    if len(address) > 150:
        raise BadInput("email", "The address is longer than 150 characters, the limit for user names.")
    return address


def _create(address: str) -> User:
    account = User(username=address, email=address)
    account.set_unusable_password()
    account.save()
    return account


def _group(name: str) -> Group:
    group = Group.objects.filter(name=name).first()
    if group is None:
        raise BadInput("group", f"There is no group {name!r}. Create groups in the admin.")
    return group
