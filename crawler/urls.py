"""The pages and the API in another Django project: `path("crawls/", include("crawler.urls"))`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from importlib import import_module
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, include, path
from django.urls.resolvers import URLResolver

from crawler.accounts.audit import API, WEB
from crawler.web.middleware import RecordActor


def recorded(module: str, via: str) -> Any:
    """The routes of this module, to be included. The audit log gets the actor of their requests, which the middleware
    of an installation of its own does there."""
    for pattern in _flat(import_module(module).urlpatterns):
        pattern.callback = _recorded(pattern.callback, via)
    return include(module)


def _flat(patterns: Sequence[URLPattern | URLResolver]) -> list[URLPattern]:
    found = list[URLPattern]()
    for pattern in patterns:
        found += [pattern] if isinstance(pattern, URLPattern) else _flat(pattern.url_patterns)
    return found


def _recorded(view: Any, via: str) -> Any:
    @wraps(view)
    def with_actor(request: HttpRequest, *given: Any, **named: Any) -> HttpResponse:
        return RecordActor(lambda request: view(request, *given, **named)).answer(request, via)

    return with_actor


urlpatterns = [
    path("api/v1/", recorded("crawler.api.v1", API)),
    path("", recorded("crawler.web.urls", WEB)),
]
