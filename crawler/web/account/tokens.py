"""The views of API tokens: list, create, revoke. A secret is shown only in the response that creates it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from crawler import clock
from crawler.accounts.tokens import make_token, revoke, tokens_of
from crawler.core.access.permissions import DEFAULT_SCOPES, Scope, held
from crawler.core.errors import BadInput
from crawler.core.pages.page_query import MAX_KEY
from crawler.models import ApiToken
from crawler.web.decorators import page, page_to_post, person

MEANINGS: dict[Scope, str] = {
    Scope.CRAWLS_READ: "See crawls, their pages, reports and exports",
    Scope.CRAWLS_WRITE: "Start, control, share and keep crawls, retry pages and notices, release traps",
    Scope.CRAWLS_DELETE: "Delete crawls with all their pages",
    Scope.SCHEDULES_READ: "See schedules",
    Scope.SCHEDULES_WRITE: "Create, pause, resume and remove schedules",
    Scope.CHANNELS_READ: "See your notice channels",
    Scope.CHANNELS_WRITE: "Add, change, test and remove your notice channels",
    Scope.TOKENS_READ: "List tokens",
    Scope.TOKENS_WRITE: "Revoke tokens",
    Scope.SCALE_READ: "See how many workers are needed",
}
"""Each scope in a few words, for the user who creates a token."""

LIVES = {"30": "30 days", "90": "90 days", "365": "a year", "": "never, until revoked"}


class TokenForm(forms.Form):
    """What a token is called, what it may do, and for how long. `make_token` judges it."""

    name = forms.CharField(
        label="Name",
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "nightly build"}),
        help_text="The program that uses it, so that you know which token to revoke.",
    )
    scopes = forms.MultipleChoiceField(
        label="Permissions",
        required=False,
        choices=[(scope.value, meaning) for scope, meaning in MEANINGS.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=[scope.value for scope in DEFAULT_SCOPES],
    )
    expires_at = forms.ChoiceField(label="Expires after", required=False, choices=list(LIVES.items()), initial="90")

    def expiry(self, now: datetime) -> datetime | None:
        days: str = self.cleaned_data["expires_at"]
        return now + timedelta(days=int(days)) if days else None


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@page
def token_list(request: HttpRequest) -> HttpResponse:
    """The tokens, and the form for a new one. By POST one is made, and its secret shown this once."""
    if request.method != "POST":
        return _list_page(request, TokenForm(label_suffix=""))
    form, now = TokenForm(request.POST, label_suffix=""), clock.now()
    if not form.is_valid():
        return _list_page(request, form, status=400)
    typed = form.cleaned_data
    try:
        token, secret = make_token(
            person(request), typed["name"], typed["scopes"], now=now, expires_at=form.expiry(now)
        )
    except BadInput as error:
        form.add_error(error.field, error.message)
        return _list_page(request, form, status=400)
    return _list_page(request, TokenForm(label_suffix=""), made=token, secret=secret)


@page_to_post
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token."""
    if token_id <= MAX_KEY and revoke(person(request), token_id, clock.now()):
        messages.success(request, "Revoked: the token no longer works.")
    else:
        messages.warning(request, "That token was already revoked.")
    return redirect("token-list")


def _list_page(request: HttpRequest, form: TokenForm, *, status: int = 200, **more: Any) -> HttpResponse:
    now = clock.now()
    rows = [_row_of(token, now) for token in tokens_of(person(request))]
    return render(request, "crawler/tokens.html", {"form": form, "rows": rows, **more}, status=status)


def _row_of(token: ApiToken, now: datetime) -> dict[str, Any]:
    scopes = held(token.scopes)
    return {
        "token": token,
        "may": [meaning for scope, meaning in MEANINGS.items() if scope in scopes],
        "is_over": token.expires_at is not None and token.expires_at <= now,
    }
