"""The API's addresses, all of them behind the gate."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path
from django.views.decorators.http import require_safe

from crawler.api.gate import behind_the_gate, not_there
from crawler.api.reference import docs
from crawler.api.v1 import api


def _guarded(pattern: URLPattern) -> URLPattern:
    door = pattern.callback
    if pattern.name == "openapi-json":  # django-ninja gives it to every method
        door = require_safe(door)
    return URLPattern(pattern.pattern, behind_the_gate(door), pattern.default_args, pattern.name)


_doors, _, _namespace = api.urls
app_name = _namespace
urlpatterns = [
    path("docs", behind_the_gate(docs), name="docs"),
    *(_guarded(door) for door in _doors if isinstance(door, URLPattern)),
    re_path("", behind_the_gate(not_there)),
]
