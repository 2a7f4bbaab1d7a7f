"""Signing in: with a password, or with the one-time link that `bin/up` and `manage.py login-link` print."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from crawler import conf
from crawler.accounts import audit, logins
from crawler.accounts.login_links import link_account, make_link, redeem
from crawler.accounts.logins import Attempt, TooManyTries
from crawler.web.decorators import public_page
from crawler.web.middleware import client_address

__all__ = ["LoginPage", "LogoutPage", "admin_login", "login_link", "make_link", "refused"]

BACKEND = "django.contrib.auth.backends.ModelBackend"
KNOWN_BROWSER = "known-browser"  # the cookie by which a browser is known again


class LoginForm(AuthenticationForm):
    """Django's own; no password is looked at when too many were wrong."""

    request: HttpRequest
    trouble: TooManyTries | None = None

    def clean(self) -> dict[str, Any]:
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if name is None or not password:
            return super().clean()
        try:
            attempt = logins.begin(name, client_address(self.request), known_browser(self.request))
        except TooManyTries as error:
            self.trouble = error
            raise ValidationError(str(error), code="throttled") from None
        try:
            cleaned = super().clean()
        except ValidationError:
            _note_failure(name, attempt)
            raise
        attempt.succeeded()
        return cleaned


@method_decorator(public_page, name="dispatch")
class LoginPage(views.LoginView):
    """Name and password; a logged-in user is redirected to the crawls."""

    template_name = "crawler/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        return refused(response, form.trouble) if form.trouble is not None else response

    def form_valid(self, form: Any) -> HttpResponse:
        account = form.get_user()
        if not conf.uses_allauth():
            return remembered(self.request, super().form_valid(form), account)
        from crawler.web.account.sign_in import continue_login  # an optional package

        return remembered(self.request, continue_login(self.request, account, self.get_success_url()), account)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            **kwargs, uses_allauth=conf.uses_allauth(), sso_name=conf.sso_name() if conf.uses_allauth() else ""
        )


@method_decorator(public_page, name="dispatch")
class LogoutPage(views.LogoutView):
    """Ends the session; by POST only, so that no link or picture elsewhere can do it."""


@never_cache
@require_http_methods(["GET", "POST"])
@public_page
def login_link(request: HttpRequest, uidb64: str, token: str) -> HttpResponse:
    """A button, by which one logs in, once; then the link is dead. Looking at it does not use it up: programs that read
    mails look at all links in them."""
    if request.method != "POST":
        account = link_account(uidb64, token)
        if account is not None:
            return render(request, "crawler/link.html", {"account": account})
    else:
        account = redeem(uidb64, token)
        if account is not None:
            request.comes_by = "link"  # type: ignore[attr-defined]  # for the audit log
            login(request, account, backend=BACKEND)
            return remembered(request, redirect("crawl-list"), account)
    return dead_link(request, "crawler/link_dead.html")


@never_cache
@public_page
def admin_login(request: HttpRequest) -> HttpResponse:
    """The admin has no login of its own: all logins use one rate limit."""
    if request.user.is_authenticated:
        if isinstance(request.user, User) and request.user.is_staff:
            return redirect("admin:index")
        raise PermissionDenied("The admin is for staff.")
    return redirect_to(request)


def redirect_to(request: HttpRequest) -> HttpResponse:
    """The login, and from there to where the admin would have led."""
    response = redirect("login")
    asked = request.META.get("QUERY_STRING", "")
    if asked:
        response["Location"] += f"?{asked}"
    return response


def dead_link(request: HttpRequest, template: str) -> HttpResponse:
    """What a link leads to that is used, too old or made up. It is not logged: the log would have the link in it."""
    try:
        logins.failed(logins.Kind.LINK, client_address(request))
        response = render(request, template, status=410)
    except TooManyTries as error:
        messages.warning(request, str(error))
        response = refused(render(request, template), error)
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
    return response


def refused(response: HttpResponse, error: TooManyTries) -> HttpResponse:
    """The response with status 429."""
    response.status_code = 429
    response["Retry-After"] = str(error.wait)
    return response


def known_browser(request: HttpRequest) -> str:
    """The mark of the browser, if it has one."""
    return request.COOKIES.get(conf.cookie_prefix() + KNOWN_BROWSER, "")


def remembered(request: HttpRequest, response: HttpResponse, account: Any) -> HttpResponse:
    """The answer to a login, after which this browser is known for this account."""
    response.set_cookie(
        conf.cookie_prefix() + KNOWN_BROWSER,
        logins.mark_of(account.get_username(), known_browser(request)),
        max_age=logins.BROWSER_MARK_TTL_S,
        secure=conf.cookies_are_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response


def _note_failure(name: str, attempt: Attempt) -> None:
    """In the audit log: the account, if there is one. What was typed as a name may be a password."""
    if attempt.is_audited:
        account = User.objects.filter(username=name).first()
        audit.note("login.failed", account, kind="account", after={"tries": attempt.made})
