"""Signing in by django-allauth: second factor, passkeys, single sign-on, password reset. Loaded if it is switched on.

The first step, name and password, stays the page of `login` with its limits; here are the steps after it and the ways
around it. Wrong codes and passwords are counted as all others are (`accounts.logins`), for all processes together.
"""

from __future__ import annotations

from typing import Any

from allauth.account import views
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import ReauthenticateForm
from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.account.utils import perform_login
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as ReauthenticateByCodeForm
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from crawler import conf
from crawler.accounts import logins
from crawler.accounts.logins import TooManyTries
from crawler.web.middleware import client_address


def continue_login(request: HttpRequest, account: User, then: str) -> HttpResponse:
    """The step after a right password: the second factor if the account has one, else the login."""
    record_authentication(request, account, method="password")
    response: HttpResponse = perform_login(request, account, email_verification="none", redirect_url=then)
    return response


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # django-allauth has no types
    """Accounts as this project makes them: by invitation."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) or "unknown"

    def login(self, request: HttpRequest, user: User) -> None:
        ways = [str(record.get("type") or record["method"]) for record in get_authentication_records(request, user)]
        request.comes_by = " and ".join(dict.fromkeys(ways))  # type: ignore[attr-defined]  # for the audit log
        super().login(request, user)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # django-allauth has no types
    """Which account a user of the identity provider gets.

    An account is found by its name, which its user cannot change, and which is an e-mail address if it was made by
    invitation; and only if the provider says that the address is verified. The e-mail field of an account is not asked:
    its user may type any address there.
    """

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        if sociallogin.is_existing:
            return
        verified = [address.email for address in sociallogin.email_addresses if address.verified is True]
        named = [account for email in verified for account in User.objects.filter(username__iexact=email)]
        if len(named) == 1 and not (named[0].is_superuser or named[0].is_staff):
            sociallogin.connect(request, named[0])

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return conf.sso_makes_accounts()

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """A new account is named by its verified address, as an invited one is."""
        account: User = super().populate_user(request, sociallogin, data)
        if sociallogin.email_addresses and sociallogin.email_addresses[0].verified is True:
            account.username = sociallogin.email_addresses[0].email
        return account


class _LimitedForm(forms.Form):
    """A form whose failures count against the account's limit."""

    user: User

    def _clean_fields(self) -> None:
        try:
            attempt = logins.begin_change(self.user.pk)
        except TooManyTries as error:
            self.add_error(None, forms.ValidationError(str(error), code="throttled"))
            return
        super()._clean_fields()  # type: ignore[misc]
        if not self.errors:
            attempt.succeeded()


class CodeForm(_LimitedForm, AuthenticateForm):  # type: ignore[misc]  # django-allauth has no types
    """The second step: a code of the app, or a recovery code."""


class CodeAgainForm(_LimitedForm, ReauthenticateByCodeForm):  # type: ignore[misc]  # django-allauth has no types
    """A code before a change of how one signs in."""


class PasswordAgainForm(_LimitedForm, ReauthenticateForm):  # type: ignore[misc]  # django-allauth has no types
    """The password before a change of how one signs in."""


_to_login = RedirectView.as_view(pattern_name="login", query_string=True)

# What is not here does not exist: the first step, sign-up and the addresses of an account are this project's own.
urlpatterns = [
    path("login/", _to_login, name="account_login"),
    path("signup/", _to_login, name="account_signup"),
    path("logout/", RedirectView.as_view(pattern_name="account"), name="account_logout"),
    path("password/change/", RedirectView.as_view(pattern_name="account-password"), name="account_change_password"),
    path("password/set/", RedirectView.as_view(pattern_name="account-password"), name="account_set_password"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("reauthenticate/", views.reauthenticate, name="account_reauthenticate"),
    path("password/reset/", views.password_reset, name="account_reset_password"),
    path("password/reset/done/", views.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("password/reset/key/done/", views.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    path("2fa/", include("allauth.mfa.urls")),
    path("3rdparty/", include("allauth.socialaccount.urls")),
    path("", include("allauth.socialaccount.providers.openid_connect.urls")),
]
