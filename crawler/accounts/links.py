"""The first account, and the link that lets its owner in once without a password."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes, force_str
from django.utils.http import base36_to_int, urlsafe_base64_decode, urlsafe_base64_encode

from crawler import audit, clock
from crawler.core.errors import CrawlerError

FIRST_NAME = "admin"
LIFETIME = 3600  # seconds a link can be used


def _naive_now() -> datetime:
    """Django counts the age of a token in naive local time."""
    return timezone.make_naive(clock.now(), timezone.get_default_timezone())


class LoginTokens(PasswordResetTokenGenerator):
    """Tokens that die with the next login (Django's would survive a second one within the same second)."""

    key_salt = "crawler.accounts.login"
    lifetime = LIFETIME

    def __init__(self, now: Callable[[], datetime] = _naive_now) -> None:
        super().__init__()
        self._now = now  # type: ignore[method-assign]  # tests give their own

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        return f"{user.pk}:{user.password}:{user.last_login and user.last_login.isoformat()}:{timestamp}"

    def check_token(self, user: User | None, token: str | None) -> bool:
        return super().check_token(user, token) and self._age(token or "") <= self.lifetime

    def _age(self, token: str) -> int:
        made_at = base36_to_int(token.partition("-")[0])
        return int(self._num_seconds(self._now()) - made_at)


_tokens = LoginTokens()


def first_account() -> User:
    """The account the link is for: the oldest active superuser, made without a password where there is no account."""
    if not User.objects.exists():
        return _made_first()
    account = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if account is None:
        raise CrawlerError(
            "No account is an active superuser, so there is none to log in. Make one: python manage.py createsuperuser"
        )
    return account


def _made_first() -> User:
    account, made = User.objects.get_or_create(
        username=FIRST_NAME, defaults={"is_superuser": True, "is_staff": True, "is_active": True}
    )
    if made:
        account.set_unusable_password()
        account.save(update_fields=["password"])
    return account


def account_named(name: str) -> User:
    """An active account; CrawlerError when there is none of this name."""
    account = User.objects.filter(username=name, is_active=True).first()
    if account is None:
        raise CrawlerError(f"There is no active account {name!r}. Make one: python manage.py invite EMAIL")
    return account


def make_link(base_url: str, account: User | None = None) -> str:
    """An address below `base_url` that logs an account in, the first one when none is given: once, within an hour."""
    account = account or first_account()
    audit.note("login_link.made", account)
    where = reverse(
        "login-link",
        args=[urlsafe_base64_encode(force_bytes(account.pk)), _tokens.make_token(account)],
    )
    return base_url.rstrip("/") + where


def link_account(uidb64: str, token: str) -> User | None:
    """The account this link would let in, or None when it is used, too old or made up. Asking does not use it up."""
    account = _account(uidb64)
    good = account is not None and account.is_active and _tokens.check_token(account, token)
    return account if good else None


def redeem(uidb64: str, token: str) -> User | None:
    """The account this link is for, or None when it is used, too old or made up.

    Of two requests with one link only one changes the row that the token is made from, so only one gets in.
    """
    account = link_account(uidb64, token)
    if account is None:
        return None
    unchanged = User.objects.filter(pk=account.pk, password=account.password, last_login=account.last_login)
    if unchanged.update(last_login=clock.now()) != 1:
        return None
    account.refresh_from_db()
    return account


def _account(uidb64: str) -> User | None:
    try:
        return User.objects.filter(pk=int(force_str(urlsafe_base64_decode(uidb64)))).first()
    except (ValueError, OverflowError):
        return None
