"""Signing in: with a password, or with the one-time link that `bin/up` and `manage.py login-link` print."""

from __future__ import annotations

from django.contrib.auth import login, views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from crawler.accounts import make_link, redeem
from crawler.web.shell import public_page

__all__ = ["LoginPage", "LogoutDoor", "login_link", "make_link"]

BACKEND = "django.contrib.auth.backends.ModelBackend"


@method_decorator(public_page, name="dispatch")
class LoginPage(views.LoginView):
    """Name and password; somebody who is in already goes on to the crawls."""

    template_name = "crawler/login.html"
    redirect_authenticated_user = True


@method_decorator(public_page, name="dispatch")
class LogoutDoor(views.LogoutView):
    """Ends the session; by POST only, so that no link or picture elsewhere can do it."""


@never_cache
@require_GET
@public_page
def login_link(request: HttpRequest, uidb64: str, token: str) -> HttpResponse:
    """Log in by the link, once; then the link is dead."""
    account = redeem(uidb64, token)
    if account is None:
        return render(request, "crawler/link_dead.html", status=410)
    login(request, account, backend=BACKEND)
    return redirect("crawl-list")
