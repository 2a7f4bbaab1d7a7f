"""Permissions of RQ's pages in the admin: as with crawls, staff may view, superusers may change."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from redis import RedisError

from crawler.accounts import audit

ROOT = "/admin/django_rq/"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class RqPermissions:
    """Restricts changes to superusers; django-rq itself would let all staff empty a queue."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *more: object) -> None:
        """Check permissions before the view and its CSRF check; the view itself redirects anonymous users to the
        login."""
        if not request.path_info.startswith(ROOT):
            return
        if "stats.json/" in request.path_info:  # takes a token in the URL, which is not configured
            raise Http404
        if request.method not in SAFE and request.user.is_authenticated:
            if not request.user.is_superuser:
                raise PermissionDenied("You may view RQ's queues, but not change them.")
            audit.note("queue.changed", kind="queue", name=request.path_info.removeprefix(ROOT))

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """django-rq does not handle errors of Redis."""
        if isinstance(error, RedisError) and request.path_info.startswith(ROOT):
            page = render_to_string("crawler/503.html", {"message": "Redis does not respond."})
            return HttpResponse(page, status=503)
        return None
