"""The dead letters of all crawls that a user may see: a page with filters, and the action that retries them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse

from crawler import clock
from crawler.accounts.permissions import AnyUser, controlled_crawls, visible_crawls
from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import ERRORS, Outcome
from crawler.core.text.quantities import seconds_of
from crawler.crawls.retry import retry_chosen
from crawler.models import Page
from crawler.reports import dead_letters, text
from crawler.reports.text import Reply
from crawler.storage.bulk import is_among
from crawler.web.crawl.control import answered, page_ids, redirect_with
from crawler.web.decorators import page_to_post, page_to_read
from crawler.web.forms.fields import select_of
from crawler.web.forms.queue import first_error
from crawler.web.tables.rows import dead_letter_row

ROWS_PER_PAGE = 100
FILTERS = ("outcome", "host", "crawl", "since")
SINCE = {"": "Any time", "1h": "The last hour", "24h": "The last day", "7d": "The last week"}
POSSIBLE = (*ERRORS, Outcome.ROBOTS)  # the last if robots.txt could not be read
LONGEST_SITE = 60  # characters of a crawl's name in the select


class LettersForm(forms.Form):
    """The filters. The fields are plain text; `reports.dead_letters.checked` validates them."""

    outcome = forms.CharField(required=False, label="Error")
    host = forms.CharField(required=False, label="Host")
    crawl = forms.CharField(required=False, label="Crawl")
    since = forms.CharField(required=False, label="Failed in")

    def __init__(self, given: QueryDict, user: AnyUser) -> None:
        super().__init__(given, use_required_attribute=False)
        self.chosen: dead_letters.LetterFilter | None = None  # None unless the form is valid
        typed = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off", "placeholder": "example.com"}
        self.fields["host"].widget = forms.TextInput(typed)
        crawls = dead_letters.crawls_with(visible_crawls(user))
        of_crawls = [(str(crawl.pk), crawl.site[:LONGEST_SITE]) for crawl in crawls]
        self._offer("outcome", [("", "Any"), *((outcome.value, outcome.label) for outcome in POSSIBLE)])
        self._offer("crawl", [("", "All crawls"), *of_crawls])
        self._offer("since", list(SINCE.items()))

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].widget = select_of(choices, self.data.get(name, ""))

    def clean(self) -> dict[str, Any]:
        typed = self.cleaned_data
        try:
            self.chosen = dead_letters.checked(
                typed["outcome"], typed["host"], _crawl(typed["crawl"]), _since(typed["since"])
            )
        except BadInput as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
        return typed

    @property
    def query(self) -> dict[str, str]:
        """The filters that are set, as in the query string."""
        return {name: self.data[name] for name in FILTERS if self.data.get(name)}


def _crawl(typed: str) -> UUID | None:
    try:
        return UUID(typed) if typed else None
    except ValueError:
        raise BadInput("crawl", f"{typed!r} is not the id of a crawl.") from None


def _since(typed: str) -> float | None:
    seconds = seconds_of(typed) if typed else None
    if typed and (seconds is None or seconds < 0):
        raise BadInput("since", f"{typed!r} is not a duration such as 2h.")
    return None if seconds is None else clock.epoch_seconds() - seconds


@page_to_read
def letter_list(request: HttpRequest) -> HttpResponse:
    """The newest ones, or those before or after a cursor, with the numbers of each error."""
    form = LettersForm(request.GET, request.user)
    context: dict[str, Any] = {"form": form, "query": urlencode(form.query)}
    try:
        if form.is_valid() and form.chosen is not None:
            context |= _shown(request, form, form.chosen)
    except BadInput as error:
        form.add_error(None, error.message)
    return render(request, "crawler/letters.html", context, status=400 if form.errors else 200)


def _shown(request: HttpRequest, form: LettersForm, chosen: dead_letters.LetterFilter) -> dict[str, Any]:
    crawls = visible_crawls(request.user)
    letters = dead_letters.letters_of(crawls, chosen)
    after, before = request.GET.get("after"), request.GET.get("before")
    found = dead_letters.ids_before(letters, before, ROWS_PER_PAGE + 1) if before else []
    if len(found) > ROWS_PER_PAGE:
        found, is_first, is_last = found[1:], False, False
    else:  # also if few are left before the cursor
        found = dead_letters.ids_from(letters, None if before else after or None, ROWS_PER_PAGE + 1)
        is_first, is_last = bool(before) or not after, len(found) <= ROWS_PER_PAGE
        found = found[:ROWS_PER_PAGE]
    outcomes = dead_letters.counts(dead_letters.letters_of(crawls, replace(chosen, outcome="")))
    may = dead_letters.counts(dead_letters.letters_of(controlled_crawls(request.user), chosen))
    pages = dead_letters.read(found)
    controlled = set(controlled_crawls(request.user).filter(pk__in={page.crawl_id for page in pages}).values_list("pk"))
    return {
        "narrowed": chosen.is_narrowed,
        "counts": [_count_row(form, outcome, number) for outcome, number in outcomes.items()],
        "count": text.counted(outcomes.get(chosen.outcome, 0) if chosen.outcome else sum(outcomes.values()), "page"),
        "may_retry": sum(may.values()),
        "rows": [_row(page, locked=(page.crawl_id,) not in controlled) for page in pages],
        "newer": "" if is_first or not found else _address(form, before=dead_letters.cursor_behind(*found[0])),
        "older": "" if is_last or not found else _address(form, after=dead_letters.cursor_behind(*found[-1])),
    }


def _row(page: Page, *, locked: bool) -> dict[str, Any]:
    at = datetime.fromtimestamp(page.given_up_at, UTC) if page.given_up_at else page.fetched_at
    return {**dead_letter_row(page), "crawl": page.crawl, "at": at, "locked": locked}


def _count_row(form: LettersForm, outcome: str, number: int) -> dict[str, Any]:
    """How many of an error, with the address of these alone."""
    return {
        "label": text.outcome(outcome),
        "number": text.count(number),
        "tone": text.tone(outcome),
        "address": _address(form, outcome=outcome),
        "is_here": form.query.get("outcome") == outcome,
    }


def _address(form: LettersForm, **more: str) -> str:
    return f"?{urlencode(form.query | more)}"


@page_to_post
def letters_retry(request: HttpRequest) -> HttpResponse:
    """Retry the dead letters named by `page` (ids), or with `all` those that pass the filters."""
    form = LettersForm(request.POST, request.user)
    where = f"{reverse('dead-letters')}?{urlencode(form.query)}".removesuffix("?")
    if not form.is_valid() or form.chosen is None:
        return redirect_with(request, Reply(first_error(form), is_so=False), reverse("dead-letters"))
    letters = dead_letters.letters_of(controlled_crawls(request.user), form.chosen)
    if "all" not in request.POST:
        letters = letters.filter(is_among("crawler_page.id", page_ids(request.POST.getlist("page"))))
    return answered(request, where, lambda: _retried(letters))


def _retried(letters: QuerySet[Page]) -> Reply:
    done = retry_chosen(letters, clock.epoch_seconds())
    return text.to_retry_chosen(done.pages, done.crawls, has_more=done.has_more)
