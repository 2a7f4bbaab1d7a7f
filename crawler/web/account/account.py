"""The user's account: name, e-mail, password, groups, quota, invitations, and logging out everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.auth import logout, views
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from crawler import clock, conf
from crawler.accounts import logins, quotas
from crawler.accounts.logins import TooManyTries
from crawler.core.access.quotas import BYTES_PER_MB
from crawler.core.text.quantities import count
from crawler.web.account.login import refused
from crawler.web.decorators import page, page_to_post, person

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[User]
else:
    ModelForm = forms.ModelForm
from django.contrib.auth import login

from crawler.accounts.login_links import accept, invited
from crawler.web.account.login import BACKEND, dead_link, remembered
from crawler.web.decorators import public_page


class AccountForm(ModelForm):
    """The fields of an account that its user may change."""

    class Meta:
        model = User
        fields = ("first_name", "last_name", "email")

    def __init__(self, data: Any, person: User) -> None:
        super().__init__(data, instance=person, label_suffix="")
        for name, purpose in {"first_name": "given-name", "last_name": "family-name", "email": "email"}.items():
            self.fields[name].widget.attrs["autocomplete"] = purpose


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@page
def account(request: HttpRequest) -> HttpResponse:
    """Who I am and what I may have; by POST, who I am from now on."""
    who = person(request)
    form = AccountForm(request.POST if request.method == "POST" else None, who)
    if form.is_bound and form.is_valid():
        with transaction.atomic():
            form.save()
        messages.success(request, "Saved.")
        return redirect("account")
    who.refresh_from_db()  # the form has put what was typed into it
    context = {
        "form": form,
        "groups": who.groups.order_by("name"),
        "quotas": quota_lines(who),
        "uses_allauth": conf.uses_allauth(),
    }
    return render(request, "crawler/account.html", context, status=400 if form.is_bound else 200)


class PasswordForm(PasswordChangeForm):
    """Django's form, with a limit of attempts: another user of this browser cannot guess the password."""

    trouble: TooManyTries | None = None

    def clean_old_password(self) -> str:
        try:
            attempt = logins.begin_change(self.user.pk)
        except TooManyTries as error:
            self.trouble = error
            raise forms.ValidationError(str(error), code="throttled") from None
        old: str = super().clean_old_password()
        attempt.succeeded()
        return old


@method_decorator([sensitive_post_parameters(), never_cache, page], name="dispatch")
class PasswordPage(views.PasswordChangeView):
    """Change the password, or set the first one of a user who logged in by a link."""

    template_name = "crawler/password.html"
    success_url = reverse_lazy("account")

    def get_form_class(self) -> Any:
        return PasswordForm if person(self.request).has_usable_password() else SetPasswordForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"label_suffix": ""}

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Password changed. Other browsers are logged out.")
        with transaction.atomic():
            return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        trouble = getattr(form, "trouble", None)
        response = super().form_invalid(form)
        return refused(response, trouble) if trouble is not None else response


@page_to_post
def log_out_everywhere(request: HttpRequest) -> HttpResponse:
    """End all sessions of this user, including this one."""
    logins.end_sessions(person(request))
    logout(request)
    messages.success(request, "You are logged out everywhere.")
    return redirect("login")


def quota_lines(who: User) -> list[str]:
    """The user's quota and usage, in lines."""
    now = clock.now()
    may, has = quotas.quota(who.pk), quotas.used(who.pk, now)
    return [
        f"Active crawls: {count(has.active_crawls)} ({_limit(may.active_crawls)})",
        f"Pages requested today, in UTC: {count(has.pages_today)} ({_limit(may.pages_a_day)})",
        f"Pages your crawls store: {count(has.stored.pages)} ({_limit(may.stored_pages)})",
        f"Content your crawls keep: {count(has.stored.bytes // BYTES_PER_MB)} MB ({_limit(may.stored_mb, ' MB')})",
    ]


def _limit(number: int, unit: str = "") -> str:
    return f"at most {count(number)}{unit}" if number else "no limit"


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
@public_page
def invitation(request: HttpRequest, uidb64: str, token: str) -> HttpResponse:
    """The form; by POST, log in with the password that was chosen. Looking at it does not use the link up."""
    account = invited(uidb64, token)
    if account is None:
        return dead_link(request, "crawler/invitation_dead.html")
    form = SetPasswordForm(account, request.POST if request.method == "POST" else None, label_suffix="")
    if not form.is_bound or not form.is_valid():
        context = {"form": form, "account": account}
        return render(request, "crawler/invitation.html", context, status=400 if form.is_bound else 200)
    if not accept(account, form.cleaned_data["new_password1"]):
        return render(request, "crawler/invitation_dead.html", status=410)
    request.comes_by = "invitation"  # type: ignore[attr-defined]  # for the audit log
    login(request, account, backend=BACKEND)
    return remembered(request, redirect("crawl-list"), account)
