"""Trying extraction rules on one page, from the form that starts a crawl."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from crawler.accounts.slow_calls import slow_call
from crawler.core.errors import BadInput, TooBusy
from crawler.core.urls.normalise import parse_user_url
from crawler.fetcher.preview import Preview, preview
from crawler.web.crawl.crawls import crawl_named
from crawler.web.decorators import page_to_post, person
from crawler.web.forms.crawl_form import CrawlForm
from crawler.web.forms.fields import SECRETS

MAX_VALUE_CHARACTERS = 500  # characters of a value


@never_cache
@sensitive_post_parameters(*SECRETS)
@page_to_post
def extraction_preview(request: HttpRequest) -> HttpResponse:
    """What the rules in the form find on one page; or what to correct in the form first."""
    like = crawl_named(request, request.POST.get("again", ""))
    form = CrawlForm(request.POST, user=request.user, like=like)
    form.fields["start_urls"].required = False  # another page may be tried, while a list is chosen
    form.full_clean()
    tried = None
    if form.is_valid():
        try:
            with slow_call(person(request).pk):
                tried = _tried(form)
        except BadInput as error:
            form.refuse(error)
        except TooBusy as error:
            response = render(
                request, "crawler/extraction_preview.html", {"errors": [("", str(error))], "rows": []}, status=429
            )
            response["Retry-After"] = str(error.retry_after)
            return response
    context = {"errors": _errors(form), "tried": tried, "rows": _rows(tried) if tried else []}
    return render(request, "crawler/extraction_preview.html", context, status=400 if context["errors"] else 200)


def _tried(form: CrawlForm) -> Preview:
    urls = form.cleaned_data["start_urls"]
    typed = form.cleaned_data["try_url"] or (urls[0] if urls else "")
    if not typed:
        raise BadInput("try_url", "Type the address of a page to try the rules on.")
    return preview(
        typed,
        form.options(),
        start_urls=[parse_user_url(url) for url in urls],
        allow_private=form.private_allowed,
        sealed=form.sealed(),
    )


def _errors(form: CrawlForm) -> list[tuple[str, str]]:
    """Label and message of each."""
    return [
        (str(form[name].label) if name in form.fields else "", str(message))
        for name, messages in form.errors.items()
        for message in messages
    ]


def _rows(tried: Preview) -> list[dict[str, Any]]:
    return [{"name": row.name, "values": _shown(row.value), "note": row.note} for row in tried.rows]


def _shown(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [_cut({True: "true", False: "false"}[each] if isinstance(each, bool) else str(each)) for each in values]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[: MAX_VALUE_CHARACTERS - 1]}…"
