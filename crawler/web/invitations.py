"""Where somebody who was invited chooses a password, and is in."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.forms import SetPasswordForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from crawler.accounts.invitations import accept, invited
from crawler.web.login import BACKEND, dead_link, remembered
from crawler.web.shell import public_page


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
