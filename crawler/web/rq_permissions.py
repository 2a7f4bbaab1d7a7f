"""Who may do what in RQ's pages of the admin: as with crawls, staff look, and superusers act."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from redis import RedisError

from crawler.accounts import audit

ROOT = "/admin/django_rq/"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class RqDoors:
    """Those pages ask for staff alone, and let them empty a queue as well."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *more: object) -> None:
        """Before the page, and before it is said whether the form was one of ours; who is not in is sent to the login
        by the page itself."""
        if not request.path_info.startswith(ROOT):
            return
        if "stats.json/" in request.path_info:  # with a token in the address, which we have none of
            raise Http404
        if request.method not in SAFE and request.user.is_authenticated:
            if not request.user.is_superuser:
                raise PermissionDenied("You may look at RQ's queues, but not change them.")
            audit.note("queue.changed", kind="queue", name=request.path_info.removeprefix(ROOT))

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """They take it for certain that Redis answers."""
        if isinstance(error, RedisError) and request.path_info.startswith(ROOT):
            return HttpResponse(render_to_string("503.html", {"message": "Redis does not answer."}), status=503)
        return None
