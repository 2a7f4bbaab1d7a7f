"""The link by which somebody who was invited chooses a password: good for three days, dead once it was used."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes, force_str
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from crawler import audit
from crawler.accounts.links import LoginTokens, first_account
from crawler.core.errors import BadInput

LIFETIME = 3 * 24 * 3600  # seconds a link can be used; Django's PASSWORD_RESET_TIMEOUT is no longer


class InvitationTokens(LoginTokens):
    """Die when a password is chosen, and with the next login: they are made from both."""

    key_salt = "crawler.accounts.invitation"
    lifetime = LIFETIME


_tokens = InvitationTokens()


def invite(email: str, groups: Sequence[str] = (), *, staff: bool = False) -> User:
    """The account an invitation is for, made when there is none, with its e-mail address as its name. BadInput for what
    is no address, an account in use, or a group that does not exist; then nothing was made."""
    address = _checked(email)
    known = [_group(name) for name in groups]
    if not User.objects.exists():
        first_account()  # else the login link would find an account, and none that may do everything
    with transaction.atomic():
        account = User.objects.filter(username__iexact=address).first() or _made(address)
        if account.has_usable_password() or not account.is_active:
            raise BadInput("email", f"There is an account {address} already. Change it in the admin.")
        if staff and not account.is_staff:
            account.is_staff = True
            account.save(update_fields=["is_staff"])
        account.groups.add(*known)
    return account


def link_for(account: User, base_url: str) -> str:
    """An address below `base_url` where this account's owner chooses a password: once, within three days. BadInput for
    an account that has one, or was closed."""
    if account.has_usable_password():
        raise BadInput("user", f"{account.get_username()} has a password already, so there is nothing to invite to.")
    if not account.is_active:
        raise BadInput("user", f"{account.get_username()} is not active; make it so first.")
    audit.note("invitation.made", account)
    where = [urlsafe_base64_encode(force_bytes(account.pk)), _tokens.make_token(account)]
    return base_url.rstrip("/") + reverse("invitation", args=where)


def invited(uidb64: str, token: str) -> User | None:
    """The account this link is for, or None when it was used, is too old or made up."""
    try:
        account = User.objects.filter(pk=int(force_str(urlsafe_base64_decode(uidb64)))).first()
    except (ValueError, OverflowError):
        return None
    if account is None or not account.is_active or account.has_usable_password():
        return None
    return account if _tokens.check_token(account, token) else None


def accept(account: User, password: str) -> bool:
    """Give the account its password; whether it was this call that did. Of two that use one link at the same moment
    only one changes the row the link is made from."""
    unchanged = User.objects.filter(pk=account.pk, password=account.password, last_login=account.last_login)
    with transaction.atomic():
        if unchanged.update(password=make_password(password)) != 1:
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
        raise BadInput("email", f"{email!r} is no e-mail address; give one such as ann@example.com.") from None
    if len(address) > 150:
        raise BadInput("email", "The address is longer than 150 characters, which no account's name may be.")
    return address


def _made(address: str) -> User:
    account = User(username=address, email=address)
    account.set_unusable_password()
    account.save()
    return account


def _group(name: str) -> Group:
    group = Group.objects.filter(name=name).first()
    if group is None:
        raise BadInput("group", f"There is no group {name!r}. Groups are made in the admin.")
    return group
